"""Judges of a jury file: the base of all specs, and the single registry of the kinds of judges.

A *spec* is one judge as the file describes it: a pydantic model that validates the keys, contributes to the JSON
schema, and builds the judge. A judge is a mapping with exactly one of the keys of :data:`KINDS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import CoreSchema, no_info_plain_validator_function

from jury_adapters.config.permissions import NO_PERMISSIONS, Permissions
from jury_adapters.config.problems import in_a_file, problem, problem_at, shown, unknown_key
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.critic.given_rubric import AnswerOptions
from jury_adapters.critic.recorded import Votes, read_votes
from jury_adapters.critic.replayed import ReplayedCritic, ReplayedSeat
from jury_adapters.yaml_files import Source, Where

REFERENCE = "x-jury-adapters-reference"
"""Key in a model's JSON schema that refers to a definition of :mod:`.schema`, which builds the whole schema."""


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
    answers: AnswerOptions = field(default_factory=AnswerOptions)
    _votes: dict[Path, dict[str, Votes]] = field(default_factory=dict)

    def at(self, *steps: str | int) -> Place:
        """Return a place inside this one."""
        return replace(self, where=(*self.where, *steps))

    def judging(self, question: Question) -> Place:
        """Return the place with another question for the critics inside it."""
        return replace(self, question=question)

    def answering(self, answers: AnswerOptions) -> Place:
        """Return the place with other answers for the critics inside it."""
        return replace(self, answers=answers)

    def votes(self, path: str) -> dict[str, Votes]:
        """Return recorded votes; a file that several jurors share is read once."""
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
    """Rubric as the file names it, its place in the file, and the answers given with it."""

    rubric: str
    place: Place
    answers: AnswerOptions = field(default_factory=AnswerOptions)


class Spec(BaseModel):
    """Mapping of the file: every key is checked, and no value is silently converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

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


YamlStandIn: TypeAlias = "Annotated[JudgeSpec | None, ReadBy(read_judge, {REFERENCE: 'any.judge'})]"


class JudgeSpec(Spec, ABC):
    """Judge as the file describes it."""

    name: str = Field("", description="How the judge is called in verdicts.")
    required: bool = Field(
        False,
        description="Of a juror in `jurors:`: without its vote the verdict is ABSTAIN, or FAIL if it broke and errors "
        "count as FAIL.",
    )
    stand_in: YamlStandIn = Field(None, description="A judge, asked in its place when it breaks; its seat is the same.")

    def seat(self, place: Place, *, in_jurors: bool = False) -> Judge:
        """Return the judge, with its fallback (``stand_in``) if it has one.

        Args:
            place: the place of the judge in the file.
            in_jurors: whether it is a juror of `jurors:`, which may be required.

        Raises:
            ConfigurationError: it is required and not a juror, or as for :meth:`build`.
        """
        if self.required and not in_jurors:
            with place.at("required").named():
                raise ConfigurationError("`required: true` belongs to a juror in `jurors:`; a judge here decides alone")
        judge = self.build(place)
        if self.stand_in is None:
            return judge
        stand_in = self.stand_in.seat(place.at("stand_in"))
        return ReplayedSeat(judge, stand_in) if isinstance(judge, ReplayedCritic) else judge.backed_by(stand_in)

    @abstractmethod
    def build(self, place: Place) -> Judge:
        """Build the judge.

        Raises:
            ConfigurationError: the options are invalid; the message names the place.
        """


Kind: TypeAlias = "type[JudgeSpec] | Mapping[str, type[JudgeSpec]]"
KINDS: dict[str, Kind] = {}
"""Kinds of judges by the key that announces them; :mod:`.grammar` registers those of this package."""

AnyJudge = Annotated[JudgeSpec, ReadBy(read_judge, {REFERENCE: "any.judge"})]


def spec_for(given: object) -> type[JudgeSpec]:
    """Return the spec of the judge that a mapping describes."""
    if not isinstance(given, Mapping):
        raise problem(f"a judge is a mapping such as {{check: not_empty}}, not {shown(given)}")
    found = [key for key in KINDS if key in given] or (["critic"] if "model" in given else [])
    if len(found) > 1:
        raise problem(f"{' and '.join(found)} stand side by side; one judge is one of them")
    if not found:
        raise no_kind(given, KINDS, f"nothing says who judges; give one of {', '.join(KINDS)}")
    kind = KINDS[found[0]]
    if isinstance(kind, type):
        return kind
    name = given[found[0]]
    if not isinstance(name, str) or name not in kind:
        raise problem_at(found[0], unknown(found[0], name, kind))
    return kind[name]


def no_kind(
    given: Mapping[str, object], kinds: Iterable[str], otherwise: str, beside: Iterable[str] = ()
) -> PydanticCustomError:
    """Return the problem of a mapping that has none of the keys that announce a kind.

    Args:
        given: the mapping.
        kinds: the keys that announce a kind.
        otherwise: the message if no key is a misspelled one of them.
        beside: the other keys that it may have.
    """
    for key in given:
        if get_close_matches(key, kinds, n=1, cutoff=0.75):
            return problem_at(key, unknown("key", key, {*kinds, *beside}))
    shown, hidden = list(given)[:_MOST_SHOWN], len(given) - _MOST_SHOWN
    more = f" and {hidden} more" if hidden > 0 else ""
    return problem(f"{otherwise}; the keys here are: {', '.join(shown) or 'none'}{more}")


_MOST_SHOWN = 20  # keys in a message
