"""Juries in a jury file, and the kinds of judges of this package.

A new kind of judge is one more entry at the end: its key, and the spec that reads and builds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Literal, Self, TypeAlias, cast

from pydantic import BeforeValidator, Field, TypeAdapter, field_validator, model_validator
from pydantic_core import PydanticCustomError

from jury_adapters.config.critics import CriteriaSpec, CriticSpec
from jury_adapters.config.gates import GatesSpec
from jury_adapters.config.guarantee import GuaranteeSpec
from jury_adapters.config.jurors import ReadyMadeSpec, RecordedSpec
from jury_adapters.config.problems import problem, problem_at, shown, unknown_key
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
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import unknown
from jury_adapters.core.escalation import Policy, TierPolicy, escalate_below, policy_of
from jury_adapters.core.jury import Jury
from jury_adapters.core.schedule import Schedule
from jury_adapters.core.verdict import BandOn
from jury_adapters.core.voting import STRATEGIES, VotingOptions
from jury_adapters.core.voting.ballots import On, TiePolicy
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.judges import commands, coverage, files, rag, text, trajectory


def read_jury(given: object) -> EnsembleSpec | CascadeSpec:
    """A jury of the file: ``jurors:`` or ``tiers:``; see :func:`jury_adapters.config.spec_judge.read_judge`."""
    if isinstance(given, Mapping) and "stand_in" in given:
        raise problem_at("stand_in", "a jury has a stand-in where it sits as a juror or tier, beside its other keys")
    if isinstance(given, Mapping) and len({"jurors", "tiers"} & given.keys()) == 1:
        return EnsembleSpec.model_validate(given) if "jurors" in given else CascadeSpec.model_validate(given)
    if isinstance(given, Mapping) and "jurors" in given:
        raise problem_at("tiers", "`jurors:` and `tiers:` stand side by side; a jury votes or has tiers. Give one")
    if isinstance(given, Mapping):
        raise _no_jury(given)
    raise problem(f"a jury is a mapping with `jurors:` (they vote) or `tiers:` (cheap to costly), not {shown(given)}")


def _pair(given: object) -> object:
    """YAML has no tuples: ``[2, 3]`` is the share 2/3."""
    if isinstance(given, list) and len(given) == 2:
        return tuple(given)
    raise problem(f"expected a number, or two of them as in [2, 3]; not {shown(given)}")


YamlShare: TypeAlias = float | str | Annotated[tuple[int, int], BeforeValidator(_pair)]
YamlReliability: TypeAlias = float | Annotated[tuple[float, float], BeforeValidator(_pair)]


class EnsembleSpec(JudgeSpec):
    """A jury of peers that vote. Options of the voting strategy stand beside its name; each takes its own."""

    jurors: list[AnyJudge] = Field(min_length=1, description="The jurors, in order; a juror may be a jury.")
    voting: str = Field("majority", json_schema_extra={"enum": list(STRATEGIES)}, description="How they vote.")
    weights: list[float] | dict[str, float] | None = Field(None, description="Per juror, in order or by name.")
    schedule: Schedule = Field("parallel", description="frugal asks only as many as could change the outcome.")
    timeout: float | None = Field(None, description="Seconds each juror may take; then it counts as ERROR timeout.")
    band_on: BandOn = Field("pairs", description="What the confidence band is made of.")
    errors: ErrorPolicy | None = Field(None, description="What a juror that broke counts as.")
    min_valid: int = Field(1, ge=1, description="Fewer votes than this give ABSTAIN.")
    on: On = Field("auto", description="What votes: PASS and FAIL, or labels.")
    tie: TiePolicy | None = Field(None, description="What a tie means.")
    priority: list[str] = Field([], description="Labels that win a tie, best first.")
    min_share: YamlShare | None = Field(None, description='The share the winner needs, such as "2/3".')
    fallback: str | None = Field(None, description="The label of a verdict that comes to none.")
    disagree_label: str = Field(
        "DISAGREE", min_length=1, description="For first_disagreement: the label where two jurors differ."
    )
    error_label: str | None = Field(None, description="The label an ERROR votes for when labels vote.")
    on_split: Literal["fail", "abstain"] = Field("fail", description="What a split means where all must agree.")
    threshold: float = Field(0.5, ge=0, le=1, description="The score that passes.")
    quorum: YamlShare = Field(0.5, description='The share of jurors that must reach the threshold, such as "2/3".')
    use_confidence: bool = Field(True, description="Whether a vote counts weight x confidence, or weight alone.")
    reliabilities: list[YamlReliability] | dict[str, YamlReliability] | None = Field(
        None, description="For bayes, per juror: how often it is right, or [right on PASS, right on FAIL]."
    )
    prior: float = Field(0.5, gt=0, lt=1, description="For bayes: the probability of PASS before any vote.")
    k: int = Field(1, ge=1, description="For k_veto: how many objections fail a case.")

    @field_validator("voting")
    @classmethod
    def _known_strategy(cls, name: str) -> str:
        if _strategy_name(name) not in STRATEGIES:
            raise ValueError(unknown("voting strategy", name, STRATEGIES))
        return name

    @model_validator(mode="after")
    def _options_of_the_strategy(self) -> Self:
        strategy = STRATEGIES[_strategy_name(self.voting)]
        known = [option.name for option in fields(strategy) if option.init]
        for option in VotingOptions.__annotations__:
            if option in self.model_fields_set and option not in known:
                raise problem_at(option, unknown(f"option of {self.voting}", option, known))
        return self

    def build(self, place: Place) -> Ensemble:
        jurors = [juror.seat(place.at("jurors", position)) for position, juror in enumerate(self.jurors)]
        options = {key: getattr(self, key) for key in self.model_fields_set - {"jurors", "stand_in"}}
        with place.named():
            return Ensemble(jurors, **cast(EnsembleOptions, options))


def read_policy(given: object) -> TierPolicy:
    """A policy by name, or ``{escalate_below: 0.8}``."""
    if isinstance(given, str):
        return policy_of(given)
    threshold = given.get("escalate_below") if isinstance(given, Mapping) and len(given) == 1 else None
    if isinstance(threshold, int | float) and not isinstance(threshold, bool):
        return escalate_below(threshold)
    raise problem(f"a policy is a name ({', '.join(Policy)}) or {{escalate_below: 0.8}}, not {shown(given)}")


_POLICIES = [policy.value for policy in Policy if policy is not Policy.ESCALATE_BELOW]
YamlPolicy = Annotated[
    TierPolicy,
    ReadBy(
        read_policy,
        {
            "oneOf": [
                {"enum": _POLICIES},
                {
                    "type": "object",
                    "properties": {"escalate_below": {"type": "number", "minimum": 0, "maximum": 1}},
                    "required": ["escalate_below"],
                    "additionalProperties": False,
                },
            ]
        },
    ),
]


class TierSpec(Spec):
    """One tier: its name, when the cascade stops there, and beside them the keys of the judge who sits there."""

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
    """A tier of the file; what is not the tier's own belongs to its judge."""
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


class CascadeSpec(JudgeSpec):
    """A jury of tiers, cheap to costly; the first that can decide a case decides it."""

    tiers: list[AnyTier] = Field(min_length=1, description="The tiers in order; the last, and only the last, is final.")

    def build(self, place: Place) -> CascadedJury:
        tiers = [tier.build(place.at("tiers", position)) for position, tier in enumerate(self.tiers)]
        with place.at("tiers").named():
            return CascadedJury(tiers, name=self.name)


AnyJury = Annotated[EnsembleSpec | CascadeSpec, ReadBy(read_jury, {REFERENCE: "any.jury"})]


FileGates = Annotated[GatesSpec, ReadBy(GatesSpec.model_validate, {REFERENCE: "gates"})]
FileGuarantee = Annotated[GuaranteeSpec, ReadBy(GuaranteeSpec.model_validate, {REFERENCE: "guarantee"})]


class FileSpec(Spec):
    """A whole file: a jury, what its verdicts should meet, and what it promises."""

    gates: FileGates | None = Field(None, description="The conditions that every verdict of the jury should meet.")
    guarantee: FileGuarantee | None = Field(
        None, description="What the jury promises, as `jury calibrate` wrote it; it sets the tiers' thresholds."
    )
    jury: AnyJury

    def build(self, place: Place, *, calibrated: bool = True) -> Jury:
        jury: Jury = self.jury.build(place)
        if self.guarantee is not None and calibrated:
            with place.at("guarantee").named():
                jury = self.guarantee.applied_to(jury)
        return jury if self.gates is None else jury.with_gates(**self.gates.conditions())


def read_file(given: object) -> FileSpec:
    """A whole file; what is not the file's own belongs to its jury."""
    if not isinstance(given, Mapping):
        return FileSpec.model_validate({"jury": given})
    own = {key: given[key] for key in FILE_KEYS if key in given}
    rest = {key: given[key] for key in given if key not in FILE_KEYS}
    if len({"jurors", "tiers"} & rest.keys()) == 1:
        misspelt = unknown_key(rest, {*FILE_KEYS, *spec_for(rest).keys()})
        if misspelt is not None:
            raise misspelt
    elif not {"jurors", "tiers", "stand_in"} & rest.keys():
        raise _no_jury(rest, FILE_KEYS)
    return FileSpec.model_validate({**own, "jury": rest})


FILE_KEYS = ("gates", "guarantee")
JURY_FILE: TypeAdapter[FileSpec] = TypeAdapter(Annotated[FileSpec, ReadBy(read_file, {REFERENCE: "any.file"})])


class NestedSpec(JudgeSpec):
    """A jury as a juror or tier, in a mapping of its own."""

    jury: AnyJury = Field(description="`jurors:` or `tiers:`, as at the top of the file.")

    def build(self, place: Place) -> Jury:
        jury = self.jury.build(place.at("jury"))
        return jury.named(self.name) if self.name else jury


class GroundingSpec(JudgeSpec):
    """The offline grounding screen: flag what is new, accept what is verbatim, hand on the rest."""

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
    "jurors": EnsembleSpec,
    "tiers": CascadeSpec,
    "jury": NestedSpec,
}
KINDS.update(_OF_THIS_PACKAGE)


def _strategy_name(voting: str) -> str:
    return voting.strip().lower().replace("-", "_")


def _no_jury(given: Mapping[str, object], also: Iterable[str] = ()) -> PydanticCustomError:
    """The problem of a mapping that is to be a jury and has no jurors; ``also`` may stand in it too."""
    beside = {*also, *EnsembleSpec.keys(), *CascadeSpec.keys()} - {"stand_in"}
    told = "a jury has `jurors:` (they vote) or `tiers:` (cheap to costly)"
    return no_kind(given, ("jurors", "tiers"), told, beside)
