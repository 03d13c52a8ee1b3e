"""Juries in a jury file, and the kinds of judges of this package.

To add a kind of judge, add an entry at the end: its key, and the spec that reads and builds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import Field, TypeAdapter, create_model, field_validator, model_validator
from pydantic_core import PydanticCustomError

from jury_adapters.config.critics import CriteriaSpec, CriticSpec
from jury_adapters.config.gates import GatesSpec
from jury_adapters.config.guarantee import GuaranteeSpec
from jury_adapters.config.jurors import ReadyMadeSpec, RecordedSpec
from jury_adapters.config.problems import problem, problem_at, shown, unknown_key
from jury_adapters.config.questions import QuestionSpec
from jury_adapters.config.scorecards import ScorecardSpec
from jury_adapters.config.spec_judge import (
    KINDS,
    REFERENCE,
    AnyJudge,
    JudgeSpec,
    Kind,
    Place,
    ReadBy,
    Spec,
    no_kind,
    spec_for,
)
from jury_adapters.config.voting_options import PREFIX, voting_fields
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import unknown
from jury_adapters.core.escalation import THRESHOLD_POLICIES, Policy, TierPolicy, policy_of
from jury_adapters.core.jury import Jury
from jury_adapters.core.scheduling import Schedule
from jury_adapters.core.values import unit_interval
from jury_adapters.core.verdict import BandOn
from jury_adapters.core.voting import STRATEGIES, options_of
from jury_adapters.core.voting.registry import normal_name
from jury_adapters.judges import commands, coverage, files, rag, text, trajectory


def read_jury(given: object) -> JurySpec:
    """Read a jury of the file; see :func:`jury_adapters.config.spec_judge.read_judge`."""
    if not isinstance(given, Mapping):
        raise problem(f"a jury is a mapping with {_SAID}, not {shown(given)}")
    if "stand_in" in given:
        raise problem_at("stand_in", "a jury has a stand-in where it sits as a juror or tier, beside its other keys")
    found = [key for key in juries() if key in given]
    if not found:
        raise _no_jury(given)
    if len(found) > 1:
        keys = " and ".join(f"`{key}:`" for key in found)
        raise problem_at(found[-1], f"{keys} stand side by side; a jury has one of them: {_SAID}")
    return juries()[found[0]].model_validate(given)


class PeersSpec(QuestionSpec):
    """Jury of peers that vote; :data:`EnsembleSpec` is this class with the options of the voting rules."""

    jurors: list[AnyJudge] = Field(min_length=1, description="The jurors, in order; a juror may be a jury.")
    voting: str = Field(
        "majority",
        json_schema_extra={"enum": list(STRATEGIES)},
        description="How they vote; weighted where only weights are given.",
    )
    weights: list[float] | dict[str, float] | None = Field(None, description="Per juror, in order or by name.")
    schedule: Schedule = Field("parallel", description="early_stop asks only as many as could change the outcome.")
    timeout: float | None = Field(None, description="Seconds each juror may take; then it counts as ERROR timeout.")
    band_on: BandOn = Field("pairs", description="What the confidence band is made of.")

    @field_validator("voting")
    @classmethod
    def _known_strategy(cls, name: str) -> str:
        if normal_name(name) not in STRATEGIES:
            raise ValueError(unknown("voting strategy", name, STRATEGIES))
        return name

    @model_validator(mode="after")
    def _options_of_the_strategy(self) -> Self:
        by_default = "voting" not in self.model_fields_set and self.weights is not None
        rule = "weighted" if by_default else self.voting
        known = options_of(STRATEGIES[normal_name(rule)])
        for option in self._voting_options():
            if option not in known:
                raise problem_at(option, unknown(f"option of {rule}", option, known))
        return self

    def build(self, place: Place) -> Ensemble:
        place = self.asking(place)
        jurors = [
            juror.seat(place.at("jurors", position), in_jurors=True) for position, juror in enumerate(self.jurors)
        ]
        self.check_asked(place, jurors)
        required = [position for position, juror in enumerate(self.jurors) if juror.required]
        own = {key: getattr(self, key) for key in self.model_fields_set & _OF_ENSEMBLES} | {"required": required}
        with place.named():
            return Ensemble(jurors, **cast(EnsembleOptions, {**own, **self._voting_options()}))

    def _voting_options(self) -> dict[str, object]:
        """Return the options of the voting rule that the file has."""
        given = [attribute for attribute in type(self).model_fields if attribute in self.model_fields_set]
        return {name.removeprefix(PREFIX): getattr(self, name) for name in given if name.startswith(PREFIX)}


_OF_ENSEMBLES = PeersSpec.model_fields.keys() - QuestionSpec.model_fields.keys() - {"jurors"} | {"name"}
EnsembleSpec: type[PeersSpec] = create_model(
    "EnsembleSpec",
    __base__=PeersSpec,
    __doc__="A jury of peers that vote. The options of the voting rule are keys beside its name.",
    **cast(Any, voting_fields()),
)


_SAID = "`jurors:` (they vote), `scorecard:` (a judge for each criterion) or `tiers:` (cheap to costly)"


def juries() -> dict[str, type[JurySpec]]:
    """Return the kinds of juries by the key that announces them."""
    return {"jurors": EnsembleSpec, "scorecard": ScorecardSpec, "tiers": CascadeSpec}


def read_policy(given: object) -> TierPolicy:
    """Read a policy: its name, or ``{escalate_below: 0.8}`` for a policy with a threshold."""
    if isinstance(given, str):
        return policy_of(given)
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, threshold),) = given.items()
        if name in THRESHOLD_POLICIES and isinstance(threshold, int | float) and not isinstance(threshold, bool):
            return TierPolicy(Policy(name), unit_interval(threshold, name))
    thresholds = " or ".join(f"{{{name}: 0.8}}" for name in THRESHOLD_POLICIES)
    raise problem(f"a policy is a name ({', '.join(Policy)}) or {thresholds}, not {shown(given)}")


def _with_threshold(policy: str) -> dict[str, object]:
    """Return the JSON schema of a policy with its threshold."""
    return {
        "type": "object",
        "properties": {policy: {"type": "number", "minimum": 0, "maximum": 1}},
        "required": [policy],
        "additionalProperties": False,
    }


_BY_NAME = [policy.value for policy in Policy if policy not in THRESHOLD_POLICIES]
YamlPolicy = Annotated[
    TierPolicy, ReadBy(read_policy, {"oneOf": [{"enum": _BY_NAME}, *map(_with_threshold, THRESHOLD_POLICIES)]})
]


class TierSpec(Spec):
    """Tier: its name, its policy, and the keys of its judge."""

    name: str = Field(min_length=1, description="How the tier is called in verdicts.")
    policy: YamlPolicy = Field(
        default_factory=lambda: TierPolicy(Policy.FINAL),
        description="When the cascade stops here; the last is final.",
        json_schema_extra={"default": "final"},
    )
    on_error: Literal["escalate", "reject"] = Field(
        "escalate", description="What a broken guard of a reject tier means."
    )
    judge: AnyJudge

    def build(self, place: Place) -> Tier:
        judge = self.judge.seat(place)
        with place.named():
            return Tier(self.name, judge, self.policy, on_error=self.on_error)


def read_tier(given: object) -> TierSpec:
    """Read a tier of the file; keys that are not the tier's own belong to its judge."""
    if not isinstance(given, Mapping):
        raise problem(f"a tier is a mapping such as {{name: guard, policy: final, jurors: [...]}}, not {shown(given)}")
    own = {key: given[key] for key in TIER_KEYS if key in given}
    rest = {key: given[key] for key in given if key not in TIER_KEYS}
    misspelt = unknown_key(rest, {*TIER_KEYS, *spec_for(rest).keys()})
    if misspelt is not None:
        raise misspelt
    return TierSpec.model_validate({**own, "judge": rest})


TIER_KEYS = ("name", "policy", "on_error")
AnyTier = Annotated[TierSpec, ReadBy(read_tier, {REFERENCE: "any.tier"})]


class CascadeSpec(QuestionSpec):
    """A jury of tiers, cheap to costly; the first that can decide a case decides it."""

    tiers: list[AnyTier] = Field(min_length=1, description="The tiers in order; the last, and only the last, is final.")

    def build(self, place: Place) -> CascadedJury:
        place = self.asking(place)
        tiers = [tier.build(place.at("tiers", position)) for position, tier in enumerate(self.tiers)]
        self.check_asked(place, [tier.judge for tier in tiers])
        with place.at("tiers").named():
            return CascadedJury(tiers, name=self.name)


JurySpec: TypeAlias = PeersSpec | ScorecardSpec | CascadeSpec
AnyJury = Annotated[JurySpec, ReadBy(read_jury, {REFERENCE: "any.jury"})]


FileGates = Annotated[GatesSpec, ReadBy(GatesSpec.model_validate, {REFERENCE: "gates"})]
FileGuarantee = Annotated[GuaranteeSpec, ReadBy(GuaranteeSpec.model_validate, {REFERENCE: "guarantee"})]


class FileSpec(Spec):
    """Whole file: a jury, the conditions for its verdicts, and its guarantee."""

    gates: FileGates | None = Field(None, description="The conditions that every verdict of the jury should meet.")
    guarantee: FileGuarantee | None = Field(
        None, description="What the jury promises, as `jury calibrate` wrote it; it sets the tiers' thresholds."
    )
    jury: AnyJury

    def build(self, place: Place, *, calibrated: bool = True) -> Jury:
        jury = cast(Jury, self.jury.seat(place))
        if self.guarantee is not None and calibrated:
            with place.at("guarantee").named():
                jury = self.guarantee.applied_to(jury)
        return jury if self.gates is None else jury.with_gates(**self.gates.conditions())


def read_file(given: object) -> FileSpec:
    """Read a whole file; keys that are not the file's own belong to its jury."""
    if not isinstance(given, Mapping):
        return FileSpec.model_validate({"jury": given})
    own = {key: given[key] for key in FILE_KEYS if key in given}
    rest = {key: given[key] for key in given if key not in FILE_KEYS}
    if len(juries().keys() & rest.keys()) == 1:
        misspelt = unknown_key(rest, {*FILE_KEYS, *spec_for(rest).keys()})
        if misspelt is not None:
            raise misspelt
    elif not {*juries(), "stand_in"} & rest.keys():
        raise _no_jury(rest, FILE_KEYS)
    return FileSpec.model_validate({**own, "jury": rest})


FILE_KEYS = ("gates", "guarantee")
JURY_FILE: TypeAdapter[FileSpec] = TypeAdapter(Annotated[FileSpec, ReadBy(read_file, {REFERENCE: "any.file"})])


class NestedSpec(JudgeSpec):
    """A jury as a juror or tier, in a mapping of its own."""

    jury: AnyJury = Field(description="`jurors:`, `scorecard:` or `tiers:`, as at the top of the file.")

    def build(self, place: Place) -> Jury:
        jury = self.jury.build(place.at("jury"))
        return jury.named(self.name) if self.name else jury


class GroundingSpec(JudgeSpec):
    """Offline grounding screen: flags what is new, accepts what is verbatim, and passes on the rest."""

    screen: str = Field(json_schema_extra={"const": "grounding"})
    final: AnyJudge | None = Field(None, description="Who decides what words cannot; without it, nobody.")

    def build(self, place: Place) -> CascadedJury:
        final = None if self.final is None else self.final.seat(place.at("final"))
        screen = rag.grounding_screen(final)
        return screen.named(self.name) if self.name else screen


CHECKS = {
    "not_empty": text.NotEmpty,
    "contains": text.Contains,
    "matches": text.Matches,
    "equals": text.Equals,
    "valid_json": text.ValidJSON,
    "length_between": text.LengthBetween,
    "refusal_check": text.RefusalCheck,
    "file_exists": files.FileExists,
    "file_content": files.FileContent,
    "directory_superset": files.DirectorySuperset,
    "files_match": files.FilesMatch,
    "coverage_kept": coverage.CoverageKept,
    "coverage_improved": coverage.CoverageImproved,
    "tool_calls": trajectory.ToolCalls,
    "forbidden_tools": trajectory.ForbiddenTools,
    "step_limit": trajectory.StepLimit,
    "cost_limit": trajectory.CostLimit,
    "no_tool_errors": trajectory.NoToolErrors,
    "final_answer": trajectory.FinalAnswer,
}
COMMANDS = {
    "command": commands.Command,
    "tests_pass": commands.TestsPass,
    "build_passes": commands.BuildPasses,
}
SCREENS = {
    "names_and_numbers": rag.NamesAndNumbers,
    "sentence_alignment": rag.SentenceAlignment,
    "sentence_support": rag.SentenceSupport,
    "context_relevance": rag.ContextRelevance,
    "undecided": rag.Undecided,
}
_OF_THIS_PACKAGE: dict[str, Kind] = {
    "check": {
        **{name: ReadyMadeSpec.of("check", name, make) for name, make in CHECKS.items()},
        **{name: ReadyMadeSpec.of("check", name, make, runs_programs=True) for name, make in COMMANDS.items()},
    },
    "screen": {
        "grounding": GroundingSpec,
        **{name: ReadyMadeSpec.of("screen", name, make) for name, make in SCREENS.items()},
    },
    "recorded": RecordedSpec,
    "critic": CriticSpec,
    "criteria": CriteriaSpec,
    **juries(),
    "jury": NestedSpec,
}
KINDS.update(_OF_THIS_PACKAGE)


def _no_jury(given: Mapping[str, object], also: Iterable[str] = ()) -> PydanticCustomError:
    """Return the problem of a mapping without jurors where a jury is expected; it may also have the keys ``also``."""
    beside = {*also, *chain.from_iterable(spec.keys() for spec in juries().values())} - {"stand_in"}
    return no_kind(given, juries(), f"a jury has {_SAID}", beside)
