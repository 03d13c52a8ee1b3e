"""Types of Python options as a jury file can hold them: plain values, lists and mappings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BeforeValidator

from jury_adapters.config.problems import problem, shown


def plain_type(hint: Any) -> Any:
    """Return the type of an option as a file can hold it.

    All collections are lists, a pair is a list of two, and a mapping whose values are not plain is left to the
    constructor that takes it.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[plain_type(arguments[0]), *hint.__metadata__]
    if origin is Mapping:
        return dict[str, plain_type(arguments[1]) if _is_plain(arguments[1]) else object]  # type: ignore[misc]
    if origin is tuple and ... not in arguments:
        return Annotated[hint, BeforeValidator(_pair)]
    if origin in (tuple, frozenset, Collection, Sequence):
        return list[plain_type(arguments[0])]  # type: ignore[misc]
    if origin in (Union, UnionType):
        return Union[tuple(plain_type(part) for part in arguments if part not in (Path, Fraction))]  # noqa: UP007
    return hint


def _is_plain(hint: Any) -> bool:
    return hint in (str, int, float, bool) or (
        get_origin(hint) in (tuple, Union, UnionType) and all(map(_is_plain, get_args(hint)))
    )


def _pair(given: object) -> object:
    """Convert a list of two to a tuple, because YAML has no tuples: ``[2, 3]`` is the share 2/3."""
    if isinstance(given, list) and len(given) == 2:
        return tuple(given)
    raise problem(f"expected a number, or two of them as in [2, 3]; not {shown(given)}")
