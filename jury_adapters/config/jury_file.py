"""Jury files: a YAML mapping per judge, in which one key says the kind.

Each kind is a pydantic model, a *spec*, that validates its keys and builds its judge. So the classes below are the
whole format: :func:`load_jury` and :func:`jury_adapters.config.schema.jury_schema` both come from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError, to_json

from jury_adapters.calibrate.guarantee import Guarantee
from jury_adapters.checks import CHECKS
from jury_adapters.config.place import Place, Question, problems_in
from jury_adapters.core.cascade import CascadedJury, Policy, Tier
from jury_adapters.core.ensemble import Ensemble, Schedule, Scorecard
from jury_adapters.core.judge import Judge, named_judges
from jury_adapters.core.values import Amount, Share
from jury_adapters.core.votes import OTHER_NAMES, RULES, Errors, rule_of
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.critic.rubric import Rubric, rubric_of
from jury_adapters.critic.yaml import read_yaml
from jury_adapters.models.names import open_model
from jury_adapters.models.vendors import VENDORS

Name = Annotated[str, Field(min_length=1)]
EscalateBelow = Annotated[dict[Literal["escalate_below"], Share], Field(min_length=1)]
Meaning = Literal["pass", "fail", "abstain", "label"]
KINDS = ("check", "rubric", "criterion", "recorded", "jurors", "scorecard", "tiers")
VOTING = (*RULES, *OTHER_NAMES)
_DEEPEST = 60  # steps of a path; a jury in a jury takes two or three


def load_jury(
    source: str | Path | Mapping[str, Any], *, allow_commands: bool = False, allow_base_url: bool = False
) -> Judge:
    """Build the judge that a jury file describes. Nothing is sent, and no program runs.

    A file is data: it imports nothing, runs nothing, holds no key, and names no file outside its folder. It may still
    choose the models that see the judged texts.

    Args:
        source: the path of a YAML file, or the mapping that would be in it. Paths in it are relative to the file; those
            of a mapping to the working directory.
        allow_commands: whether it may have checks that run programs, like a script.
        allow_base_url: whether the judged texts may go to an address in the file (``base_url:``). Such an address gets
            no key in any case.

    Returns:
        The judge: an :class:`Ensemble`, a :class:`Scorecard`, a :class:`CascadedJury`, or a single judge.

    Raises:
        InputError: a file cannot be read, or is not a jury file; one line for each problem names file and place.
        ConfigurationError: its parts do not fit together, a permission is missing, or the jury is not the one for
            which its guarantee was given.

    >>> jury = load_jury({"jurors": {"text": {"check": "not_empty"}, "length": {"check": "length_between"}}})
    >>> jury.judge(answer="Yes.").status.value
    'PASS'
    """
    content, path = (
        (source, Path("the mapping")) if isinstance(source, Mapping) else (read_yaml(Path(source)), Path(source))
    )
    try:
        spec: JudgeSpec | CalibratedSpec = JURY_FILE.validate_python(content)
    except ValidationError as error:
        raise problems_in(path, content, error) from None
    return spec.make(Place(path, allow_commands, allow_base_url), beside=("name",))


class Spec(BaseModel):
    """Mapping of a file: every key is known, and no value is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, given: Any) -> Any:
        check = given.get("check", "") if isinstance(given, Mapping) and "check" in cls.model_fields else ""
        if isinstance(given, Mapping) and (not check or str(check) in CHECKS):
            known = {**cls.model_fields, **(options_of(check) if check else {})}
            if unknown := [key for key in given if key not in known]:
                said = {"unknown": ", ".join(map(repr, unknown)), "known": ", ".join(known)}
                raise PydanticCustomError("unknown_key", "unknown key {unknown}; allowed here: {known}", said)
        return given


class JudgeSpec(Spec):
    """Judge as a file describes it, with the keys that all kinds have."""

    name: str = Field("", description="The name in verdicts. A judge in a mapping has its key as its name.")
    weight: Amount | None = Field(
        None,
        description="Of a juror: how much its vote counts, 1 by default. Of a criterion: how much its score counts.",
    )
    required: bool = Field(False, description="Of a juror: whether the jury abstains without its vote.")
    timeout: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Seconds for one case; then the judgment is ERROR timeout."
    )
    fallbacks: list[AnyJudge] = Field([], description="Judges that are asked, in order, where it breaks.")

    def make(self, place: Place, *, beside: Iterable[str] = ()) -> Judge:
        """Return the judge with its name, its time limit and its fallbacks.

        Args:
            place: its place in the file.
            beside: which of ``name``, ``weight`` and ``required`` mean something at this place.
        """
        if len(place.steps) > _DEEPEST:
            raise place.refusal("juries are nested too deep")
        if misplaced := self.model_fields_set & {"name", "weight", "required"} - {*beside}:
            raise place.at(min(misplaced)).refusal(
                "not allowed here: `weight:` is for jurors and weighted criteria, `required:` for jurors, and `name:` "
                "for judges that are in no mapping of names"
            )
        judge = self.build(place)
        with place.named():
            judge = judge.named(self.name) if self.name else judge
            judge = judge if self.timeout is None else judge.with_timeout(self.timeout)
        if not self.fallbacks:
            return judge
        inside = place.at("fallbacks", question=self.question_of(place))
        others = [spec.make(inside.at(number), beside=("name",)) for number, spec in enumerate(self.fallbacks)]
        with inside.named():
            return judge.with_fallbacks(*others)

    def question_of(self, place: Place) -> Question:
        """Return what critics inside are asked."""
        return place.question

    def build(self, place: Place) -> Judge:
        """Return the judge without the keys that all kinds have."""
        raise NotImplementedError


class CheckSpec(JudgeSpec):
    """Check, a judge that asks no model. Its options are keys beside ``check``."""

    model_config = ConfigDict(extra="allow")
    check: Annotated[str, AfterValidator(lambda name: _one_of(name, CHECKS))]

    @model_validator(mode="after")
    def _has_options_of_its_check(self) -> Self:
        TypeAdapter(CHECKS[self.check]).validate_python(self.model_extra)
        return self

    def build(self, place: Place) -> Judge:
        """Return the check; its options that are paths are relative to the file."""
        if getattr(CHECKS[self.check], "runs_commands", True) and not place.allow_commands:
            raise place.at("check").refusal(
                f"{self.check} runs programs, and a jury file may come from anyone; if you trust this one, give "
                "allow_commands=True or --allow-commands"
            )
        options = dict(self.model_extra or {})
        for option, hint in options_of(self.check).items():
            if options.get(option) is not None and Path in (hint, *get_args(hint)):
                options[option] = place.at(option).path(options[option])
        with place.named():
            return CHECKS[self.check](**options)


class QuestionSpec(JudgeSpec):
    """Judge that may say what critics are asked: a critic, or a jury for the critics inside that do not say it."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [{"not": {"required": ["rubric", "criterion"]}}, {"not": {"required": ["labels", "scale"]}}]
        }
    )
    rubric: str = Field(
        "", min_length=1, description="The name of a rubric of the package, or the path of a YAML file."
    )
    criterion: str = Field("", min_length=1, description="One sentence that the answer must meet, instead of a rubric.")
    labels: dict[Name, Meaning | Share] = Field(
        {}, min_length=1, description="The answers instead of those of the rubric: what each means, or its score."
    )
    scale: ScaleSpec | None = Field(None, description="The answers as a number, instead of those of the rubric.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        for one, other in (("rubric", "criterion"), ("labels", "scale")):
            if {one, other} <= self.model_fields_set:
                raise ValueError(f"give `{one}:` or `{other}:`, not both")
        return self

    def question_of(self, place: Place) -> Question:
        """Return what critics inside are asked.

        Labels and scale beside a question belong to it. Alone, they replace the answers of every rubric inside. The
        model is then asked about a blank text too, because the answer of the rubric to it is gone.
        """
        answers = self.model_dump(include={"labels", "scale"}, exclude_unset=True, exclude_none=True)
        if not (self.rubric or self.criterion):
            return replace(place.question, answers=answers, answers_alone=answers) if answers else place.question
        given = place.at("rubric").path(self.rubric) if self.rubric.endswith((".yaml", ".yml")) else self.rubric
        with place.at("rubric" if self.rubric else "criterion").named():
            rubric = rubric_of(given) if given else Rubric.from_criteria(self.criterion)
        return Question(rubric, answers or place.question.answers_alone, place.question.answers_alone)


class CriticSpec(QuestionSpec):
    """Critic, a model that judges by a rubric or by one sentence, given here or above."""

    model: str = Field(min_length=1, description="'vendor:model', such as 'openai:gpt-4o-mini'.")
    base_url: str | None = Field(None, description="The address of a server that needs no key, such as vllm.")
    threshold: Share | None = Field(None, description="The lowest score that passes, instead of the rubric's own rule.")
    samples: int = Field(1, ge=1, le=100, description="How often the model is asked; a majority decides.")
    temperature: Amount | None = Field(0.0, description="0 for the most likely answer; null for the vendor's default.")
    max_tokens: int | None = Field(2000, ge=1, description="The largest number of output tokens, reasoning included.")
    logprobs: bool = Field(False, description="Whether the score is the expectation over the tokens of the answer.")
    image_urls: bool = Field(False, description="Whether the vendor may fetch images from their addresses.")
    request_timeout: float = Field(60.0, gt=0, allow_inf_nan=False, description="Seconds for one request.")

    def build(self, place: Place) -> Judge:
        """Return the critic, or a jury of its samples."""
        question = self.question_of(place)
        if question.rubric is None:
            raise place.refusal("nothing says what this model judges; give `rubric:` or `criterion:`, here or above")
        vendor = VENDORS.get(self.model.partition(":")[0].lower())
        if self.base_url is not None and vendor is not None and vendor.key_variable is not None:
            raise place.at("base_url").refusal(
                f"no address in a file gets a key, and {self.model} needs one; write 'vllm:...' for a server without "
                "keys, or set the address outside the file"
            )
        if self.base_url is not None and not place.allow_base_url:
            raise place.at("base_url").refusal(
                "this address would get the judged texts, and a jury file may come from anyone; if you trust this one, "
                "give allow_base_url=True or --allow-base-url"
            )
        with place.at("model").named():
            model = open_model(self.model, base_url=self.base_url, timeout=self.request_timeout)
        with place.named():
            critic = Critic(
                model,
                question.rubric.replace(**question.answers, **({"empty_answer": None} if question.answers else {})),
                threshold=self.threshold,
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                logprobs=self.logprobs,
                image_urls=self.image_urls,
            )
            return critic if self.samples == 1 else critic.with_samples(self.samples)


class RecordedSpec(JudgeSpec):
    """Recorded votes, which are in ``metadata["votes"]`` of each case."""

    recorded: str = Field(min_length=1, description="The name under which the votes were recorded.")
    labels: dict[Name, Meaning] | None = Field(None, description="What each label means.")
    threshold: Share = Field(0.5, description="The score from which a vote that is only a score passes.")

    def build(self, place: Place) -> Judge:
        """Return the judge that repeats the votes."""
        with place.named():
            return RecordedCritic(self.recorded, labels=self.labels, threshold=self.threshold)


class EnsembleSpec(QuestionSpec):
    """Jury whose jurors vote on one question."""

    jurors: Jurors = Field(description="The jurors: a mapping of names to judges, or a list of judges.")
    voting: Annotated[str, AfterValidator(lambda name: _one_of(name, VOTING)), WithJsonSchema({"enum": [*VOTING]})] = (
        Field("majority", description="The rule that counts the votes.")
    )
    options: dict[str, Any] = Field({}, validate_default=True, description="The options of the rule.")
    errors: Errors = Field("missing", description="What a juror that broke counts as.")
    min_votes: int = Field(1, ge=1, description="The number of votes below which the jury abstains.")
    on: Literal["status", "label"] | None = Field(None, description="What is counted; by default what jurors declare.")
    schedule: Schedule = Field("parallel", description="early_stop asks only as many as could change the outcome.")

    @field_validator("options")
    @classmethod
    def _are_options_of_the_rule(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        name = info.data.get("voting")
        if name is not None:
            RULES[OTHER_NAMES.get(name, name)].model_validate_json(to_json(options), strict=True)
        return options

    def build(self, place: Place) -> Judge:
        """Return the jury."""
        inside = place.at("jurors", question=self.question_of(place))
        specs: dict[Any, JudgeSpec] = dict(self.jurors if isinstance(self.jurors, dict) else enumerate(self.jurors))
        beside = ("weight", "required") if isinstance(self.jurors, dict) else ("name", "weight", "required")
        made = {key: spec.make(inside.at(key), beside=beside) for key, spec in specs.items()}
        with place.named():
            judges = named_judges(made.values() if "name" in beside else made)
            return Ensemble(
                judges,
                voting=rule_of(self.voting, **self.options),
                weights=[1.0 if spec.weight is None else spec.weight for spec in specs.values()],
                required=[name for name, spec in zip(judges, specs.values(), strict=True) if spec.required],
                errors=self.errors,
                min_votes=self.min_votes,
                on=self.on,
                schedule=self.schedule,
            )


class ScorecardSpec(JudgeSpec):
    """Jury that asks a different question with each criterion."""

    scorecard: dict[Name, AnyJudge] = Field(
        min_length=1, max_length=100, description="A judge for each criterion, by name."
    )
    pass_when: Literal["all", "any"] | Annotated[int, Field(ge=1)] | Annotated[list[str], Field(min_length=1)] = Field(
        "all", description="all, any, the number of criteria that must pass, or the names of those that must."
    )
    threshold: Share | None = Field(None, description="The weighted mean score that must be reached, with `weight:`.")

    def build(self, place: Place) -> Judge:
        """Return the scorecard."""
        weights = {name: spec.weight for name, spec in self.scorecard.items() if spec.weight is not None}
        inside = place.at("scorecard")
        criteria = {name: spec.make(inside.at(name), beside=("weight",)) for name, spec in self.scorecard.items()}
        with place.named():
            return Scorecard(criteria, pass_when=self.pass_when, weights=weights or None, threshold=self.threshold)


class TierSpec(Spec):
    """Tier of a cascade."""

    name: Name = Field(description="The name of the tier in verdicts.")
    policy: Policy | EscalateBelow = Field(
        "final", description="When the cascade stops here. The last tier, and only the last, is final."
    )
    if_broken: Literal["escalate", "reject"] = Field(
        "escalate", description="What a broken judge does in reject_on_any_fail."
    )
    judge: AnyJudge = Field(description="The judge of the tier, often a jury.")

    def build(self, place: Place) -> Tier:
        """Return the tier."""
        judge = self.judge.make(place.at("judge"), beside=("name",))
        with place.named():
            named = self.policy if isinstance(self.policy, dict) else {self.policy: Tier.confidence}
            return Tier(self.name, judge, *next(iter(named.items())), self.if_broken)


class CascadeSpec(QuestionSpec):
    """Jury of tiers, from cheap to costly, of which the first that can decide a case decides it."""

    tiers: list[TierSpec] = Field(min_length=1, max_length=100, description="The tiers in order.")

    def build(self, place: Place) -> Judge:
        """Return the cascade."""
        inside = place.at("tiers", question=self.question_of(place))
        tiers = [tier.build(inside.at(number)) for number, tier in enumerate(self.tiers)]
        with inside.named():
            return CascadedJury(tiers)


class CalibratedSpec(Spec):
    """Jury of another file, with the guarantee that ``jury calibrate`` found for it."""

    jury: str = Field(min_length=1, description="The path of the jury file that was calibrated.")
    guarantee: Guarantee = Field(description="What `jury calibrate` wrote; do not change it.")

    def make(self, place: Place, *, beside: Iterable[str] = ()) -> Judge:
        """Return the jury with its guarantee, which is void for any other jury."""
        path = place.at("jury").path(self.jury)
        with place.at("jury").named():
            content = read_yaml(path)
        if isinstance(content, dict) and "jury" in content:
            raise place.at("jury").refusal("that file is a calibrated jury itself; name the file that was calibrated")
        jury = load_jury(path, allow_commands=place.allow_commands, allow_base_url=place.allow_base_url)
        with place.at("guarantee").named():
            return self.guarantee.but(jury_file=self.jury).applied_to(jury)


class ScaleSpec(Spec):
    """Scale of answers that are numbers."""

    minimum: float = Field(allow_inf_nan=False, description="The worst rating.")
    maximum: float = Field(allow_inf_nan=False, description="The best rating.")
    pass_mark: float | None = Field(None, allow_inf_nan=False, description="The lowest rating that passes.")
    integer: bool | None = Field(None, description="Whether ratings are whole numbers.")


def _one_of(name: str, names: Iterable[str]) -> str:
    """Refuse a word that is not one of these."""
    if name not in names:
        raise ValueError(f"Input should be {', '.join(map(repr, names))}")
    return name


def _kind_of(given: Any) -> str | None:
    """Return the kind of a judge; None if it has no key, or two keys, that say it."""
    if not isinstance(given, Mapping):
        return None
    found = [f"<{kind}>" for kind in KINDS if kind in given and kind not in ("rubric", "criterion")]
    if not found and not {"rubric", "criterion", "model"}.isdisjoint(given):
        return "<critic>"
    return found[0] if len(found) == 1 else None


def options_of(check: str) -> dict[str, Any]:
    """Return the options of a check, with their types."""
    return {option: field.annotation for option, field in vars(CHECKS[check])["__pydantic_fields__"].items()}


AnyJudge = Annotated[
    Annotated[CheckSpec, Tag("<check>")]
    | Annotated[CriticSpec, Tag("<critic>")]
    | Annotated[RecordedSpec, Tag("<recorded>")]
    | Annotated[EnsembleSpec, Tag("<jurors>")]
    | Annotated[ScorecardSpec, Tag("<scorecard>")]
    | Annotated[CascadeSpec, Tag("<tiers>")],
    Discriminator(
        _kind_of,
        custom_error_type="kind",
        custom_error_message=f"a judge is a mapping with exactly one of the keys {', '.join(KINDS)}",
    ),
]
Jurors = Annotated[
    Annotated[dict[Name, AnyJudge], Field(min_length=1, max_length=100), Tag("<mapping>")]
    | Annotated[list[AnyJudge], Field(min_length=1, max_length=100), Tag("<list>")],
    Discriminator(lambda given: "<list>" if isinstance(given, list) else "<mapping>"),
]
JURY_FILE: TypeAdapter[Any] = TypeAdapter(
    Annotated[
        Annotated[CalibratedSpec, Tag("<jury>")] | Annotated[AnyJudge, Tag("<judge>")],
        Discriminator(lambda given: "<jury>" if isinstance(given, Mapping) and "jury" in given else "<judge>"),
    ]
)
"""A whole file: a judge, or a calibrated jury."""
