"""Registry of the voting rules, one in each file of ``rules/``.

Names, options, the schema of jury files, messages and the tables of the documentation are derived from
:data:`STRATEGIES` and :func:`options_of`. A strategy that is defined elsewhere is not registered; pass it to a jury as
an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Any, get_type_hints

from jury_adapters.core.docstrings import entries_of
from jury_adapters.core.errors import plain_repr
from jury_adapters.core.voting.base import VotingStrategy

RULES = "jury_adapters.core.voting.rules"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a voting rule: a field of its class.

    Attributes:
        name: the keyword.
        type: its type, with bounds as metadata of ``Annotated``.
        default: its default; ``dataclasses.MISSING`` if it is required.
        about: its meaning, from the docstring of the class.
    """

    name: str
    type: Any
    default: Any
    about: str

    @property
    def required(self) -> bool:
        """Whether the option has no default."""
        return self.default is MISSING


@cache
def options_of(kind: type[VotingStrategy]) -> Mapping[str, Option]:
    """Return the options of a rule by name, those of its base classes first."""
    hints = get_type_hints(kind, include_extras=True)
    about: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        about |= entries_of(one.__dict__.get("__doc__"), "Attributes")
    return MappingProxyType({
        field.name: Option(field.name, hints[field.name], _default_of(field), about.get(field.name, ""))
        for field in fields(kind)
        if field.init
    })  # fmt: skip


def normal_name(name: str) -> str:
    """Return the name of a rule in the spelling of the registry.

    >>> normal_name(" K-Veto")
    'k_veto'
    """
    return name.strip().lower().replace("-", "_")


def _default_of(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _found() -> Mapping[str, type[VotingStrategy]]:
    """Return the rules of the package by name, in the order of their files."""
    found: dict[str, type[VotingStrategy]] = {}
    for module in iter_modules(import_module(RULES).__path__):
        kind = _rule_of(import_module(f"{RULES}.{module.name}"))
        for name in (kind.name, *kind.also_called):
            if name in found:
                raise TypeError(f"{kind.__qualname__} and {found[name].__qualname__} have one name: {plain_repr(name)}")
            found[name] = kind
    return MappingProxyType(found)


def _rule_of(module: ModuleType) -> type[VotingStrategy]:
    """Return the voting strategy of the module whose ``name`` equals the name of the file."""
    name = module.__name__.rpartition(".")[2]
    own = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
    for kind in own:
        if issubclass(kind, VotingStrategy) and kind.name == name:
            return kind
    raise TypeError(f"{module.__name__} holds no voting strategy with name = {plain_repr(name)}")


STRATEGIES: Mapping[str, type[VotingStrategy]] = _found()
"""Voting rules by name; a rule with several names is listed under each."""
