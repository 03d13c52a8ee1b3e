"""Single jurors in a jury file: built-in judges with their options, and recorded votes.

The options of built-in judges are the parameters of their constructors, so a new parameter becomes a new key in the
file without a change here.
"""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, get_args, get_origin

from pydantic import Field, create_model

from jury_adapters.config.permissions import how_to_allow
from jury_adapters.config.plain_types import plain_type
from jury_adapters.config.questions import Meaning
from jury_adapters.config.spec_judge import JudgeSpec, Place
from jury_adapters.core.docstrings import entries_of
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge


class ReadyMadeSpec(JudgeSpec):
    """Judge with options of its own. :meth:`of` creates the subclass for one judge."""

    make: ClassVar[Callable[..., Judge]]  # constructor of the judge, which has its own options
    paths: ClassVar[frozenset[str]]  # options that are paths outside the workspace
    runs_programs: ClassVar[bool] = False

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
            return judge.named(self.name) if self.name else judge

    @classmethod
    def of(cls, name: str, make: Callable[..., Judge], *, runs_programs: bool = False) -> type[Self]:
        """Return the spec of one built-in judge, written ``check: <name>`` in the file.

        Args:
            name: the judge's name in the file.
            make: the judge's class.
            runs_programs: whether the judge runs programs, which needs the permission of the user.
        """
        definitions: dict[str, Any] = {_OPTION + option: spec for option, spec in _options_of(make).items()}
        definitions["check"] = (str, Field(json_schema_extra={"const": name}))
        first_line = (make.__doc__ or "").strip().partition("\n")[0]
        made = create_model(f"check_{name}", __base__=cls, __doc__=first_line, **definitions)
        made.make = make
        made.paths = frozenset(option for option, hint in _hints(make) if Path in get_args(hint))
        made.runs_programs = runs_programs
        return made


class RecordedSpec(JudgeSpec):
    """Recorded votes of a real judge."""

    recorded: str = Field(description="The name under which the judge's votes were recorded.")
    votes: str | None = Field(
        None, description="The file of recorded votes, relative to this file. Without it each case brings its own."
    )
    labels: dict[str, Meaning] | None = Field(
        None,
        description="What each label means, or its score. By default only the words PASS and FAIL have a PASS/FAIL "
        "meaning, and with `votes` only if the judge votes nothing else.",
    )
    threshold: float = Field(0.5, ge=0, le=1, description="Where a vote has only a score, PASS from here on.")
    cost: float = Field(
        0.0, ge=0, description="US dollars per vote, roughly; an early-stopping jury asks the cheapest first."
    )

    def build(self, place: Place) -> Judge:
        from jury_adapters.critic.recorded import RecordedCritic

        with place.named():
            critic = RecordedCritic(
                self.recorded,
                None if self.votes is None else place.votes(self.votes),
                labels=self.labels,
                threshold=self.threshold,
                cost=self.cost,
            )
            return critic.named(self.name) if self.name else critic


# An option may have the name of an attribute of pydantic's models (``schema``).
_OPTION = "option_"


def _options_of(make: Callable[..., Judge]) -> dict[str, tuple[object, object]]:
    """Return the parameters of a judge's constructor as pydantic field definitions."""
    meanings = entries_of(make.__doc__, "Args")
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
        definitions[name] = (plain_type(hint), info)
    return definitions


def _factories(make: Callable[..., Judge]) -> dict[str, Callable[[], Any]]:
    """Return the factories of the defaults of a dataclass's fields; its signature has only placeholders for them."""
    if not is_dataclass(make):
        return {}
    return {one.name: one.default_factory for one in fields(make) if one.default_factory is not MISSING}


def _hints(make: Callable[..., Judge]) -> Iterator[tuple[str, object]]:
    """Yield the parameters that a file can give, with their types; a file cannot contain a function."""
    for name, parameter in inspect.signature(make, eval_str=True).parameters.items():
        hint = parameter.annotation
        function = any(get_origin(part) is collections.abc.Callable for part in (hint, *get_args(hint)))
        if name not in ("name", "timeout", "cost") and not function:
            yield name, hint
