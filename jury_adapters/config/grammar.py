"""Juries in a jury file, and the kinds of judges of this package.

A file is a judge, with ``gates:`` and ``guarantee:`` beside its keys. To add a kind of judge, add an entry at the end:
its key, and the spec that reads and builds it. The checks are imported where a file names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, TypeAdapter, create_model, field_validator, model_validator

from jury_adapters.config.critics import CriterionSpec, CriticSpec
from jury_adapters.config.gates import GatesSpec
from jury_adapters.config.guarantee import GuaranteeSpec
from jury_adapters.config.jurors import ReadyMadeSpec, RecordedSpec
from jury_adapters.config.misnamed_keys import unknown_key
from jury_adapters.config.on_use import OnUse
from jury_adapters.config.problems import problem, problem_at, shown
from jury_adapters.config.questions import QuestionSpec
from jury_adapters.config.scorecards import ScorecardSpec
from jury_adapters.config.spec_judge import (
    KINDS,
    REFERENCE,
    AnyJudge,
    JudgeSpec,
    Kind,
    LoneJudge,
    NamedJudge,
    NoEmptyName,
    Place,
    ReadBy,
    Spec,
    kinds_of,
    spec_for,
)
from jury_adapters.config.voting_options import PREFIX, voting_fields
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.jury import Jury
from jury_adapters.core.scheduling import Schedule
from jury_adapters.core.tier_policies import THRESHOLD_POLICIES, Policy, TierPolicy, policy_of
from jury_adapters.core.values import unit_interval
from jury_adapters.core.verdict import BandOn
from jury_adapters.core.voting import STRATEGIES, options_of
from jury_adapters.core.voting.registry import normal_name


class PeersSpec(QuestionSpec):
    """Jury of peers that vote; :data:`EnsembleSpec` is this class with the options of the voting rules."""

    jurors: (
        Annotated[list[AnyJudge], Field(min_length=1)]
        | Annotated[dict[str, NamedJudge], Field(min_length=1), NoEmptyName()]
    ) = Field(description="The jurors, in order: a mapping of names to judges, or a list. A juror may be a jury.")
    voting: str = Field(
        "majority",
        json_schema_extra={"enum": list(STRATEGIES)},
        description="How they vote; the default is weighted where a juror has a `weight:`.",
    )
    schedule: Schedule = Field("parallel", description="early_stop asks only as many as could change the outcome.")
    juror_timeout: float | None = Field(
        None, gt=0, description="Seconds each juror may take; then it counts as ERROR timeout."
    )
    band_on: BandOn = Field("pairs", description="What the agreement band is made of.")

    @field_validator("voting")
    @classmethod
    def _known_strategy(cls, name: str) -> str:
        if normal_name(name) not in STRATEGIES:
            raise ValueError(unknown("voting strategy", name, STRATEGIES))
        return name

    @model_validator(mode="after")
    def _options_of_the_strategy(self) -> Self:
        by_default = "voting" not in self.model_fields_set and self._weights() is not None
        rule = "weighted" if by_default else self.voting
        known = options_of(STRATEGIES[normal_name(rule)])
        for option in self._voting_options():
            if option not in known:
                raise problem_at(option, unknown(f"option of {rule}", option, known))
        return self

    def build(self, place: Place) -> Ensemble:
        place = self.place_of_jurors(place)
        jurors = [
            spec.build_judge(place.at("jurors", key), beside=("weight", "required")) for key, spec in self._specs()
        ]
        self.check_critics(place, jurors)
        required = [position for position, (_, spec) in enumerate(self._specs()) if spec.required]
        own = {key: getattr(self, key) for key in self.model_fields_set & _OF_ENSEMBLES}
        own |= {"required": required, "weights": self._weights()}
        named = dict(zip(self.jurors, jurors, strict=True)) if isinstance(self.jurors, dict) else jurors
        with place.named():
            return Ensemble(named, **cast(EnsembleOptions, {**own, **self._voting_options()}))

    def _specs(self) -> list[tuple[str | int, JudgeSpec]]:
        """Return the jurors with their keys in the file: names or positions."""
        if isinstance(self.jurors, dict):
            return [(name, spec.called(name)) for name, spec in self.jurors.items()]
        return list(enumerate(self.jurors))

    def _weights(self) -> list[float] | None:
        """Return the weights in juror order; None if no juror has one."""
        given = [spec.weight for _, spec in self._specs()]
        return None if set(given) == {None} else [1.0 if weight is None else weight for weight in given]

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


def read_policy(given: object) -> TierPolicy:
    """Read a policy: its name, or ``{escalate_below: 0.8}`` for a policy with a threshold."""
    if isinstance(given, str):
        written = _IN_PYTHON.fullmatch(given.strip().lower())
        if written is not None:
            policy = written["name"]
            raise problem(
                f"{policy} needs its threshold as a mapping: policy: {{{policy}: {written['threshold'] or 0.8}}}"
            )
        return policy_of(given)
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, threshold),) = given.items()
        if name in THRESHOLD_POLICIES and isinstance(threshold, int | float) and not isinstance(threshold, bool):
            return TierPolicy(Policy(name), unit_interval(threshold, name))
    thresholds = " or ".join(f"{{{name}: 0.8}}" for name in THRESHOLD_POLICIES)
    raise problem(f"a policy is a name ({', '.join(_BY_NAME)}) or {thresholds}, not {shown(given)}")


# escalate_below, escalate_below 0.8, and escalate_below(0.8) as a program writes it
_IN_PYTHON = re.compile(rf"(?P<name>{'|'.join(THRESHOLD_POLICIES)})[\s(:=]*(?P<threshold>[0-9.]*)[\s)]*")


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
    """Tier: its name, its policy and its judge."""

    name: str = Field(min_length=1, description="How the tier is called in verdicts.")
    policy: YamlPolicy = Field(
        default_factory=lambda: TierPolicy(Policy.FINAL),
        description="When the cascade stops here; the last is final.",
        json_schema_extra={"default": "final"},
    )
    if_broken: Literal["escalate", "reject"] = Field(
        "escalate", description="What a broken judge of a reject tier means."
    )
    judge: LoneJudge = Field(description="The judge of the tier; often a jury.")

    def build(self, place: Place) -> Tier:
        judge = self.judge.build_judge(place.at("judge"))
        with place.named():
            return Tier(self.name, judge, self.policy, if_broken=self.if_broken)


def read_tier(given: object) -> TierSpec:
    """Read a tier of the file."""
    if not isinstance(given, Mapping):
        raise problem(f"a tier is a mapping such as {_TIER}, not {shown(given)}")
    of_judges = {*KINDS, *CriticSpec.model_fields} - TierSpec.model_fields.keys()
    outside = [key for key in given if key in of_judges]
    policy = given.get("policy")
    if "threshold" in outside and policy in THRESHOLD_POLICIES:
        raise problem_at(
            "threshold", f"{policy} has its threshold in a mapping: policy: {{{policy}: {shown(given['threshold'])}}}"
        )
    if outside and "judge" in given:
        raise problem_at(outside[0], f"belongs to the judge; write it inside `judge:`, as in {_TIER}")
    if outside:
        raise problem_at(outside[0], f"the judge of a tier has a key of its own: {_TIER}")
    return TierSpec.model_validate(given)


_TIER = "{name: screen, policy: reject_on_any_fail, judge: {check: not_empty}}"
AnyTier = Annotated[TierSpec, ReadBy(read_tier, {REFERENCE: "tier"})]


class CascadeSpec(QuestionSpec):
    """A jury of tiers, cheap to costly; the first that can decide a case decides it."""

    tiers: list[AnyTier] = Field(min_length=1, description="The tiers in order; the last, and only the last, is final.")

    def build(self, place: Place) -> CascadedJury:
        place = self.place_of_jurors(place)
        tiers = [tier.build(place.at("tiers", position)) for position, tier in enumerate(self.tiers)]
        self.check_critics(place, [tier.judge for tier in tiers])
        with place.at("tiers").named():
            return CascadedJury(tiers, name=self.name)


FileGates = Annotated[GatesSpec, ReadBy(GatesSpec.model_validate, {REFERENCE: "gates"})]
FileGuarantee = Annotated[GuaranteeSpec, ReadBy(GuaranteeSpec.model_validate, {REFERENCE: "guarantee"})]


class FileSpec(Spec):
    """Whole file: a judge, the conditions for its verdicts, and its guarantee."""

    gates: FileGates | None = Field(None, description="The conditions that every verdict of the jury should meet.")
    guarantee: FileGuarantee | None = Field(
        None, description="What the jury guarantees, as `jury calibrate` wrote it; it sets the tiers' thresholds."
    )
    judge: LoneJudge

    def build(self, place: Place, *, calibrated: bool = True) -> Jury:
        """Return the jury of the file; a judge that is not a jury becomes the only juror of one."""
        if self.judge.fallbacks and isinstance(self.judge, PeersSpec | ScorecardSpec | CascadeSpec):
            with place.at("fallbacks").named():
                raise ConfigurationError("a jury has fallbacks where it is a juror or tier, beside its other keys")
        judge = self.judge.build_judge(place)
        with place.named():
            jury = judge if isinstance(judge, Jury) else Ensemble([judge], name=self.judge.name)
        if self.guarantee is not None and calibrated:
            with place.at("guarantee").named():
                jury = self.guarantee.applied_to(jury)
        return jury if self.gates is None else jury.with_gates(**self.gates.conditions())


def read_file(given: object) -> FileSpec:
    """Read a whole file; keys that are not the file's own belong to its judge."""
    if not isinstance(given, Mapping):
        raise problem(
            f"a jury file is a mapping such as {{jurors: {{text: {{check: not_empty}}}}}}, not {shown(given)}"
        )
    own = {key: given[key] for key in FILE_KEYS if key in given}
    rest = {key: given[key] for key in given if key not in FILE_KEYS}
    if len(kinds_of(rest)) == 1:
        misspelt = unknown_key(rest, {*FILE_KEYS, *spec_for(rest).keys()})
        if misspelt is not None:
            raise misspelt
    return FileSpec.model_validate({**own, "judge": rest})


FILE_KEYS = ("gates", "guarantee")
JURY_FILE: TypeAdapter[FileSpec] = TypeAdapter(Annotated[FileSpec, ReadBy(read_file, {REFERENCE: "any.file"})])


class GroundingSpec(JudgeSpec):
    """Offline grounding screen: flags what is new, accepts what is verbatim, and passes on the rest."""

    check: str = Field(json_schema_extra={"const": "grounding_screen"})
    final: LoneJudge | None = Field(None, description="The judge of what the screen cannot decide; ABSTAIN without it.")

    def build(self, place: Place) -> CascadedJury:
        from jury_adapters.grounding.screen import grounding_screen

        final = None if self.final is None else self.final.build_judge(place.at("final"))
        screen = grounding_screen(final)
        return screen.named(self.name) if self.name else screen


def _judges_in(homes: Mapping[str, Mapping[str, str]]) -> Mapping[str, type[Judge]]:
    """Return the judges by name; the module of each is imported when the judge is used.

    Args:
        homes: for each module, the classes of its judges by name.
    """
    return OnUse(
        {
            name: partial(_class_in, f"jury_adapters.{module}", of_class)
            for module, judges in homes.items()
            for name, of_class in judges.items()
        }
    )


def _class_in(module: str, name: str) -> type[Judge]:
    found: type[Judge] = getattr(import_module(module), name)
    return found


CHECKS = _judges_in(
    {
        "judges.text": {
            "not_empty": "NotEmpty",
            "contains": "Contains",
            "matches": "Matches",
            "equals": "Equals",
            "valid_json": "ValidJSON",
            "length_between": "LengthBetween",
        },
        "judges.refusal_check": {"refusal_check": "RefusalCheck"},
        "workspace.files": {
            "file_exists": "FileExists",
            "file_content": "FileContent",
            "directory_superset": "DirectorySuperset",
            "files_match": "FilesMatch",
        },
        "workspace.coverage": {"coverage_kept": "CoverageKept", "coverage_improved": "CoverageImproved"},
        "judges.trajectory": {
            "tool_calls": "ToolCalls",
            "forbidden_tools": "ForbiddenTools",
            "step_limit": "StepLimit",
            "cost_limit": "CostLimit",
            "no_tool_errors": "NoToolErrors",
            "final_answer": "FinalAnswer",
        },
    }
)
GROUNDING = _judges_in(
    {
        "grounding.screen": {
            "names_and_numbers": "NamesAndNumbers",
            "sentence_alignment": "SentenceAlignment",
            "sentence_support": "SentenceSupport",
            "context_relevance": "ContextRelevance",
            "undecided": "Undecided",
        }
    }
)
RETRIEVAL = _judges_in({"retrieval": {"retrieval": "RetrievalMeasure"}})
COMMANDS = _judges_in(
    {"workspace.commands": {"command": "Command", "tests_pass": "TestsPass", "build_passes": "BuildPasses"}}
)


def _ready_made(judges: Mapping[str, type[Judge]], name: str) -> type[JudgeSpec]:
    return ReadyMadeSpec.of(name, judges[name], runs_programs=judges is COMMANDS)


_OF_THIS_PACKAGE: dict[str, Kind] = {
    "check": OnUse(
        {
            **{
                name: partial(_ready_made, judges, name)
                for judges in (CHECKS, GROUNDING, RETRIEVAL, COMMANDS)
                for name in judges
            },
            "grounding_screen": lambda: GroundingSpec,
        }
    ),
    "rubric": CriticSpec,
    "criterion": CriterionSpec,
    "recorded": RecordedSpec,
    "jurors": EnsembleSpec,
    "scorecard": ScorecardSpec,
    "tiers": CascadeSpec,
}
KINDS.update(_OF_THIS_PACKAGE)
