"""Single jurors in a jury file: ready-made judges with their options, and recorded votes.

A *spec* is one judge as the file describes it: a pydantic model that validates the keys, feeds the JSON schema, and
builds the judge. The options of ready-made judges are the parameters of their constructors, so a new one is a new key
in the file, without a line here.
"""

from __future__ import annotations

import collections.abc
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Self, TypeAlias, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    create_model,
    model_validator,
)
from pydantic_core.core_schema import CoreSchema, no_info_plain_validator_function

from jury_adapters.config.permissions import NO_PERMISSIONS, Permissions, how_to_allow
from jury_adapters.config.problems import in_a_file, problem, shown, unknown_key
from jury_adapters.config.source import Source, Where
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.critic.recorded import RecordedCritic, Votes, read_votes

REFERENCE = "x-jury-adapters-reference"
"""Stands in a model's JSON schema for a definition of :mod:`.schema`, which puts the whole together."""

Timeout = Annotated[float | None, Field(description="Seconds one case may take; then the judgment is ERROR timeout.")]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the file a judge is being built, for messages and relative paths."""

    source: Source
    permissions: Permissions = NO_PERMISSIONS
    where: Where = ()
    _votes: dict[Path, dict[str, Votes]] = field(default_factory=dict)

    def at(self, *steps: str | int) -> Place:
        """A place inside this one."""
        return replace(self, where=(*self.where, *steps))

    def votes(self, path: str) -> dict[str, Votes]:
        """Recorded votes; a file that several jurors share is read once."""
        file = self.source.folder / path
        if file not in self._votes:
            self._votes[file] = read_votes(file)
        return self._votes[file]

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors of the core, raised inside, say where in the file they belong."""
        try:
            yield
        except ConfigurationError as error:
            raise type(error)(self.source.problem(self.where, in_a_file(str(error)))) from error


class Spec(BaseModel):
    """A mapping of the file: every key is known, and no value is converted on the quiet."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def keys(cls) -> list[str]:
        """The keys it knows."""
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
    """Annotates a field that a function of ours reads, with the JSON schema of what it reads."""

    read: Callable[[object], object]
    schema: dict[str, object]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        return self.schema


def _read_stand_in(given: object) -> object:
    """A judge like any other; the registry of all kinds knows this module, so it is looked up late."""
    from jury_adapters.config.grammar import read_judge

    return read_judge(given)


YamlStandIn: TypeAlias = "Annotated[JudgeSpec | None, ReadBy(_read_stand_in, {REFERENCE: 'any.judge'})]"


class JudgeSpec(Spec, ABC):
    """One judge as the file describes it."""

    name: str = Field("", description="How the judge is called in verdicts.")
    stand_in: YamlStandIn = Field(None, description="A judge, asked in its place when it breaks; its seat is the same.")

    def seat(self, place: Place) -> Judge:
        """The judge, with its stand-in where it has one.

        Raises:
            ConfigurationError: as for :meth:`build`.
        """
        judge = self.build(place)
        return judge if self.stand_in is None else judge.backed_by(self.stand_in.seat(place.at("stand_in")))

    @abstractmethod
    def build(self, place: Place) -> Judge:
        """The judge.

        Raises:
            ConfigurationError: the options do not make one; the message names the place.
        """


class ReadyMadeSpec(JudgeSpec):
    """A judge with options of its own. :meth:`of` makes the subclass for one judge."""

    make: ClassVar[Callable[..., Judge]]  # its constructor; each has its own options
    paths: ClassVar[frozenset[str]]  # its options that are paths outside the workspace
    runs_programs: ClassVar[bool] = False

    timeout: Timeout = None

    def build(self, place: Place) -> Judge:
        options = {
            attribute.removeprefix(_OPTION): getattr(self, attribute)
            for attribute in self.model_fields_set
            if attribute.startswith(_OPTION)
        }
        for option in self.paths & options.keys():
            if options[option] is not None:
                options[option] = place.source.folder / options[option]
        with place.named():
            if self.runs_programs and not place.permissions.commands:
                raise ConfigurationError(
                    f"{type(self).make.__name__} runs programs, and a jury file may come from anyone; "
                    + how_to_allow("commands")
                )
            judge = type(self).make(**options)
            return _finished(judge, self.name, self.timeout)

    @classmethod
    def of(cls, key: str, name: str, make: Callable[..., Judge], *, runs_programs: bool = False) -> type[Self]:
        """The spec of one ready-made judge, written ``<key>: <name>`` in the file.

        Args:
            key: the key that announces the kind of judge, such as ``check``.
            name: the judge's name in the file.
            make: the judge's class.
            runs_programs: whether the reader of the file must have allowed it.
        """
        definitions: dict[str, Any] = {_OPTION + option: spec for option, spec in _options_of(make).items()}
        definitions[key] = (str, Field(json_schema_extra={"const": name}))
        first_line = (make.__doc__ or "").strip().partition("\n")[0]
        made = create_model(f"{key}_{name}", __base__=cls, __doc__=first_line, **definitions)
        made.make = make
        made.paths = frozenset(option for option, hint in _hints(make) if Path in get_args(hint))
        made.runs_programs = runs_programs
        return made


class RecordedSpec(JudgeSpec):
    """The votes that a real judge once cast."""

    recorded: str = Field(description="The name under which the judge's votes were recorded.")
    votes: str | None = Field(
        None, description="The file of recorded votes, relative to this file. Without it each case brings its own."
    )
    pass_labels: list[str | int] = Field([], description="Labels that mean PASS; every other label then means FAIL.")
    abstain_labels: list[str | int] = Field([], description="Labels that are no vote, such as a tie.")
    threshold: float = Field(0.5, ge=0, le=1, description="Where a vote has only a score, PASS from here on.")
    cost: float = Field(0.0, ge=0, description="US dollars per vote, roughly; a frugal jury asks the cheapest first.")
    timeout: Timeout = None

    def build(self, place: Place) -> Judge:
        with place.named():
            critic = RecordedCritic(
                self.recorded,
                None if self.votes is None else place.votes(self.votes),
                pass_labels=[str(label) for label in self.pass_labels],
                abstain_labels=[str(label) for label in self.abstain_labels],
                threshold=self.threshold,
                cost=self.cost,
            )
            return _finished(critic, self.name, self.timeout)


# A judge's option may be called like something that pydantic's models have themselves (``schema``).
_OPTION = "option_"


def _options_of(make: Callable[..., Judge]) -> dict[str, tuple[object, object]]:
    """The parameters of a judge's constructor as pydantic's field definitions."""
    meanings = _meanings(make)
    definitions: dict[str, tuple[object, object]] = {}
    parameters = inspect.signature(make, eval_str=True).parameters
    factories = _factories(make)
    for name, hint in _hints(make):
        default = parameters[name].default
        described: dict[str, Any] = {"alias": name, "description": meanings.get(name)}
        if name in factories:
            info = Field(default_factory=factories[name], **described)
        else:
            info = Field(... if default is inspect.Parameter.empty else default, **described)
        definitions[name] = (_plain(hint), info)
    return definitions


def _factories(make: Callable[..., Judge]) -> dict[str, Callable[[], Any]]:
    """What makes the defaults of a dataclass's fields; its signature has only a placeholder for them."""
    if not is_dataclass(make):
        return {}
    return {one.name: one.default_factory for one in fields(make) if one.default_factory is not MISSING}


def _hints(make: Callable[..., Judge]) -> Iterator[tuple[str, object]]:
    """The parameters that a file can give, with their types: a function stands in no file."""
    for name, parameter in inspect.signature(make, eval_str=True).parameters.items():
        hint = parameter.annotation
        function = any(get_origin(part) is collections.abc.Callable for part in (hint, *get_args(hint)))
        if name not in ("name", "timeout", "cost") and not function:
            yield name, hint


def _meanings(make: Callable[..., Judge]) -> dict[str, str]:
    """What the docstring says of each parameter; editors show it."""
    section = (inspect.getdoc(make) or "").partition("Args:\n")[2].partition("\n\n")[0]
    found = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def _plain(hint: object) -> object:
    """The type as a file can hold it: lists for all collections, and what is in a mapping is left to the judge."""
    if get_origin(hint) is Mapping:
        return dict[str, object]
    if get_origin(hint) in (tuple, frozenset, Collection, Sequence):
        return list[get_args(hint)[0]]  # type: ignore[misc]  # the item's type is known at run time
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_plain(part) for part in get_args(hint) if part is not Path)]  # noqa: UP007  the parts are known at run time
    return hint


def _finished(judge: Judge, name: str, timeout: float | None) -> Judge:
    """The judge under the name and with the time limit that the file gives it."""
    if name:
        judge = judge.named(name)
    return judge if timeout is None else judge.with_timeout(timeout)
