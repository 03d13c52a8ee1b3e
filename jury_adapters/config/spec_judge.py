"""Judges of a jury file: the base of all specs, and the single registry of the kinds of judges.

A *spec* is one judge as the file describes it: a pydantic model that validates the keys, contributes to the JSON
schema, and builds the judge. A judge is a mapping with exactly one of the keys of :data:`KINDS`. ``rubric`` beside the
key of a jury is for the critics inside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import CoreSchema, no_info_plain_validator_function

from jury_adapters.config.misnamed_keys import advice_on, unknown_key
from jury_adapters.config.permissions import NO_PERMISSIONS, Permissions
from jury_adapters.config.problems import in_a_file, problem, problem_at, shown
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.yaml_files import Source, Where

if TYPE_CHECKING:
    from jury_adapters.critic.given_rubric import AnswerOptions
    from jury_adapters.critic.recorded import Votes

REFERENCE = "x-jury-adapters-reference"
"""Key in a model's JSON schema that refers to a definition of :mod:`.schema`, which builds the whole schema."""


def _no_answers() -> AnswerOptions:
    return {}


@dataclass(frozen=True, slots=True)
class Place:
    """Place in the file of the judge that is being built, for messages and relative paths.

    Attributes:
        source: the file.
        permissions: the permissions that the user grants the file.
        where: the path inside the file.
        replay: whether critics serve recorded votes instead of asking a model.
        question: the nearest `rubric:`, which applies to critics without one of their own.
        answers: the nearest `labels:` or `scale:` that is not next to a `rubric:`, as the argument of a critic.
    """

    source: Source
    permissions: Permissions = NO_PERMISSIONS
    where: Where = ()
    replay: bool = False
    question: Question | None = None
    answers: AnswerOptions = field(default_factory=_no_answers)
    _votes: dict[Path, dict[str, Votes]] = field(default_factory=dict)

    def at(self, *steps: str | int) -> Place:
        """Return a place inside this one."""
        return replace(self, where=(*self.where, *steps))

    def judging(self, question: Question) -> Place:
        """Return the place with another question for the critics inside it."""
        return replace(self, question=question)

    def answering(self, answers: AnswerOptions) -> Place:
        """Return the place with other answers for the critics inside it, also for those that inherit the question."""
        question = self.question and replace(self.question, answers=answers)
        return replace(self, answers=answers, question=question)

    def votes(self, path: str) -> dict[str, Votes]:
        """Return recorded votes; a file that several jurors share is read once."""
        from jury_adapters.critic.recorded import read_votes

        file = self.source.folder / path
        if file not in self._votes:
            self._votes[file] = read_votes(file)
        return self._votes[file]

    @contextmanager
    def named(self) -> Iterator[None]:
        """Add the place in the file to errors of the core that are raised inside."""
        try:
            yield
        except ConfigurationError as error:
            raise type(error)(self.source.problem(self.where, in_a_file(str(error)))) from error


@dataclass(frozen=True, slots=True)
class Question:
    """Question of critics, its place in the file, and the answers given with it.

    Attributes:
        rubric: the rubric as the file names it, or the sentence.
        place: its place in the file.
        answers: the answers given beside it.
        is_sentence: whether it is one sentence.
    """

    rubric: str
    place: Place
    answers: AnswerOptions = field(default_factory=_no_answers)
    is_sentence: bool = False


class Spec(BaseModel):
    """Mapping of the file: every key is checked, and no value is silently converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    @classmethod
    def keys(cls) -> list[str]:
        """Return the known keys."""
        return [info.alias or name for name, info in cls.model_fields.items()]

    @model_validator(mode="before")
    @classmethod
    def _knows_every_key(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            raise problem(f"expected a mapping with the keys {', '.join(cls.keys())}; not {shown(given)}")
        found = unknown_key(given, cls.keys())
        if found is not None:
            raise found
        return given


@dataclass(frozen=True, slots=True, eq=False)
class ReadBy:
    """Annotation of a field that a function of this package reads, with the JSON schema of its input."""

    read: Callable[[object], object]
    schema: dict[str, object]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        return self.schema


def read_judge(given: object) -> JudgeSpec:
    """Read a judge of the file: its key determines the kind, and the spec of that kind validates it.

    Raises:
        PydanticCustomError: it has no kind, two kinds, or an unknown name of a kind.
        ValidationError: the options of that kind are invalid.
    """
    return spec_for(given).model_validate(given)


def _list_of_fallbacks(given: object) -> object:
    if not isinstance(given, list) or not given:
        raise problem(f"fallbacks is a list of judges, such as [{{check: not_empty}}], not {shown(given)}")
    return given


Fallbacks: TypeAlias = (
    "Annotated[list[Annotated[JudgeSpec, ReadBy(read_judge, {REFERENCE: 'any.lone_judge'})]], "
    "BeforeValidator(_list_of_fallbacks)]"
)


class JudgeSpec(Spec, ABC):
    """Judge as the file describes it."""

    name: str = Field("", description="How the judge is called in verdicts; in a mapping of judges, its key.")
    weight: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Of a juror: how much its vote counts under a rule with weights; 1 by default. Of a criterion: how "
        "much its score counts; without a weight it is only reported.",
    )
    required: bool = Field(
        False,
        description="Of a juror in `jurors:`: without its vote the verdict is ABSTAIN, or FAIL if it broke and errors "
        "count as FAIL.",
    )
    timeout: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds one case may take; then the judgment is ERROR timeout, and fallbacks are asked.",
    )
    fallbacks: Fallbacks = Field(
        default_factory=lambda: [],  # pydantic reads the signature of a factory, which takes long for builtins
        min_length=1,
        description="Judges that are asked in order if it breaks; the first answer has its name.",
    )

    def build_judge(self, place: Place, *, beside: Container[str] = ()) -> Judge:
        """Return the judge, with its ``timeout`` and its ``fallbacks`` if it has any.

        Args:
            place: the place of the judge in the file.
            beside: the keys that the place allows beside its judges: ``weight``, ``required``.

        Raises:
            ConfigurationError: it has one of these keys elsewhere, or as for :meth:`build`.
        """
        for key, why in _OF_JURORS.items():
            given = getattr(self, key)
            if given is not None and given is not False and key not in beside:
                with place.at(key).named():
                    raise ConfigurationError(why)
        judge = self.build(place)
        if self.timeout is not None:
            with place.at("timeout").named():
                judge = judge.with_timeout(self.timeout)
        if not self.fallbacks:
            return judge
        inside = self.place_of_fallbacks(place)
        others = [spec.build_judge(inside.at("fallbacks", index)) for index, spec in enumerate(self.fallbacks)]
        from jury_adapters.critic.replayed import ReplayedCritic, ReplayedFallbackJudge

        if isinstance(judge, ReplayedCritic):
            return ReplayedFallbackJudge(judge, others)
        return judge.with_fallbacks(others)

    def place_of_fallbacks(self, place: Place) -> Place:
        """Return the place for the fallbacks: those of a critic inherit its question."""
        return place

    def called(self, name: str) -> Self:
        """Return the spec of the same judge with its key in a mapping of judges as its name."""
        return self.model_copy(update={"name": name})

    @abstractmethod
    def build(self, place: Place) -> Judge:
        """Build the judge.

        Raises:
            ConfigurationError: the options are invalid; the message names the place.
        """


_OF_JURORS = {
    "weight": "`weight:` belongs to a juror in `jurors:` or to a criterion of a scorecard; a judge here decides alone",
    "required": "`required: true` belongs to a juror in `jurors:`, whose vote it requires; there is no vote here",
}

Kind: TypeAlias = "type[JudgeSpec] | Mapping[str, type[JudgeSpec]]"
KINDS: dict[str, Kind] = {}
"""Kinds of judges by the key that announces them; :mod:`.grammar` registers those of this package."""


def read_named(given: object) -> JudgeSpec:
    """Read a judge of a mapping of judges, whose name is its key."""
    if not isinstance(given, Mapping):
        raise problem(f"a name and its judge are needed, such as text: {{check: not_empty}}; not {shown(given)}")
    judge = read_judge(given)
    if "name" in judge.model_fields_set:
        raise problem_at("name", "a judge in a mapping is named by its key; leave `name:` out")
    return judge


class NoEmptyName:
    """Annotation that makes the JSON schema of a mapping refuse an empty key.

    pydantic 2.7, the oldest that is allowed, writes no ``propertyNames`` of its own, whatever the type of the keys is.
    """

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        return {**handler(core), "propertyNames": {"type": "string", "minLength": 1}}


AnyJudge = Annotated[JudgeSpec, ReadBy(read_judge, {REFERENCE: "any.judge"})]
LoneJudge = Annotated[JudgeSpec, ReadBy(read_judge, {REFERENCE: "any.lone_judge"})]
NamedJudge = Annotated[JudgeSpec, ReadBy(read_named, {REFERENCE: "any.named_judge"})]
Criterion = Annotated[JudgeSpec, ReadBy(read_named, {REFERENCE: "any.criterion"})]


def spec_for(given: object) -> type[JudgeSpec]:
    """Return the spec of the judge that a mapping describes."""
    if not isinstance(given, Mapping):
        raise problem(f"a judge is a mapping such as {{check: not_empty}}, not {shown(given)}")
    found = kinds_of(given)
    if len(found) > 1:
        keys = " and ".join(f"`{key}:`" for key in found)
        raise problem_at(found[-1], f"{keys} are side by side; one judge has one of them")
    if not found:
        raise _no_kind(given)
    kind = KINDS[found[0]]
    if isinstance(kind, type):
        known = kind.keys()
        if "rubric" in given and "rubric" not in known:
            raise problem_at("rubric", f"`rubric:` and `{found[0]}:` are side by side; one judge has one of them")
        return kind
    name = given[found[0]]
    if not isinstance(name, str) or name not in kind:
        raise problem_at(found[0], unknown(found[0], name, kind))
    return kind[name]


def kinds_of(given: Mapping[str, object]) -> list[str]:
    """Return the keys of a mapping that announce a kind of judge.

    A critic may leave out ``rubric:`` where a question is given above it. Beside the key of another kind, ``rubric:``
    is an option of that kind, and so is ``criterion:`` beside ``jurors:`` or ``tiers:``.
    """
    others = [key for key in KINDS if key in given and key != "rubric"]
    if any(key in ("jurors", "tiers") for key in others):
        others = [key for key in others if key != "criterion"]
    if others:
        return others
    if "model" in given:
        return ["rubric"]
    misspelt = any(get_close_matches(key, KINDS, n=1, cutoff=0.75) for key in given if key != "rubric")
    return ["rubric"] if "rubric" in given and not misspelt else []


def _no_kind(given: Mapping[str, object]) -> PydanticCustomError:
    """Return the problem of a mapping that has none of the keys that announce a kind."""
    known = [*KINDS, "model"]
    for key in given:
        if (advised := advice_on(key)) is not None:
            return advised
        if key not in known and get_close_matches(key, known, n=1, cutoff=0.75):
            return problem_at(key, unknown("key", key, known))
    names, hidden = list(given)[:_MOST_SHOWN], len(given) - _MOST_SHOWN
    more = f" and {hidden} more" if hidden > 0 else ""
    return problem(
        f"a judge has one of the keys {', '.join(KINDS)}; the keys here are: {', '.join(names) or 'none'}{more}"
    )


_MOST_SHOWN = 20  # keys in a message
