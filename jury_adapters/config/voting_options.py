"""Options of the voting rules as keys of a jury file, derived from the registry of the rules."""

from __future__ import annotations

from typing import Any, Union, cast

from pydantic import Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from jury_adapters.config.plain_types import plain_type
from jury_adapters.core.voting import STRATEGIES, options_of
from jury_adapters.core.voting.registry import Option

PREFIX = "option_"
"""Prefix of the attributes of the options, because an option may have the name of an attribute of pydantic's models."""


def voting_fields() -> dict[str, tuple[Any, FieldInfo]]:
    """Return the pydantic field definitions for every option of every rule."""
    kinds = list(dict.fromkeys(STRATEGIES.values()))
    names = dict.fromkeys(name for kind in kinds for name in options_of(kind))
    by_rule = {
        name: {kind.name: options_of(kind)[name] for kind in kinds if name in options_of(kind)} for name in names
    }
    return {PREFIX + name: _field(name, options) for name, options in by_rule.items()}


def _field(name: str, by_rule: dict[str, Option]) -> tuple[Any, FieldInfo]:
    """Return one option, combined from all rules that take it."""
    options = list(by_rule.values())
    types = [plain_type(option.type) for option in options]
    known = [one for position, one in enumerate(types) if one not in types[:position]]
    # Every rule has its own default; a rule only gets the keys that the file has.
    default, *others = [option.default for option in options]
    shown = not options[0].required and all(other == default for other in others)
    info = Field(
        default=default if shown else None,
        alias=name,
        description=_about(by_rule),
        json_schema_extra=None if shown else _without_default,
    )
    return Union[tuple(known)], cast(FieldInfo, info)  # noqa: UP007  the parts are known at run time


def _without_default(schema: JsonDict) -> None:
    schema.pop("default", None)


def _about(by_rule: dict[str, Option]) -> str:
    """Return the meaning of an option, with the names of the rules unless all rules share it."""
    rules: dict[str, list[str]] = {}
    for rule, option in by_rule.items():
        rules.setdefault(option.about, []).append(rule)
    if len(rules) == 1 and len(by_rule) == len(set(STRATEGIES.values())):
        return next(iter(rules))
    return " ".join(f"{', '.join(names)}: {about}" for about, names in rules.items())
