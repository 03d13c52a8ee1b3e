"""Differences between two texts: where JSON differs by value, and where other texts begin to differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from jury_adapters.core.strict_json import unique_keys

Form: TypeAlias = Callable[[str], str]
"""Function that returns the form of a text in which it is compared."""


def json_difference(expected: str, found: str, form: Form) -> str | None:
    """Return where two JSON objects or arrays differ by value; empty if they do not, and None for other texts.

    The order of keys does not matter, and 1840.0 equals 1840. An object with a duplicate key is not read as JSON.

    Args:
        expected: the expected text.
        found: the text to compare with it.
        form: the form in which keys and texts inside the JSON are compared.

    >>> json_difference('{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}', str)
    ''
    >>> json_difference('{"a": 1, "b": [2]}', '{"b": [2, 3], "a": true}', str)
    'a: expected 1, got true; b[1]: expected nothing, got 3'
    """
    wanted = _container(expected)
    given = None if wanted is None else _container(found)
    if given is None:
        return None
    try:
        places = list(_differences(wanted, given, form, ""))
    except RecursionError:
        return None
    more = f"; and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return "; ".join(places[:_MOST_PLACES]) + more


def text_difference(expected: str, found: str, *, ignore_case: bool = False) -> str:
    """Return both texts; of long ones, the part where they begin to differ.

    >>> text_difference("a" * 99 + "b", "a" * 99 + "c")
    "expected '...aaaaaaaaaaaaaaaaaaaab', got '...aaaaaaaaaaaaaaaaaaaac' (they differ from character 100 on)"
    """
    shorter, longer = sorted((len(expected), len(found)))
    at = shorter
    for place, (one, other) in enumerate(zip(expected, found, strict=False)):
        if one != other and not (ignore_case and one.casefold() == other.casefold()):
            at = place
            break
    where = f" (they differ from character {at + 1:,} on)" if longer > _SHORT else ""
    return f"expected {_around(expected, at)!r}, got {_around(found, at)!r}{where}"


def short(text: str) -> str:
    """Return a text for a reason, cut if it is long."""
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."


def not_json(constant: str) -> None:
    """Refuse NaN and Infinity, as ``json.loads(..., parse_constant=not_json)``.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{constant} is not allowed in JSON")


def _around(text: str, at: int) -> str:
    """Return a part of a text that shows the character at a position."""
    if len(text) <= _SHORT or at < _SHORT // 2:
        return short(text)
    return f"...{short(text[at - _SHORT // 3 :])}"


def _container(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the JSON object or array that a text consists of; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, parse_constant=not_json, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _differences(expected: object, found: object, form: Form, path: str) -> Iterator[str]:
    """Yield a clause for each place at which two values differ.

    Raises:
        RecursionError: the values are nested too deeply.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        wanted, given = _named(expected, form), _named(found, form)
        for name in dict.fromkeys((*wanted, *given)):
            place = f"{path}.{name}" if path else name
            yield from _differences(wanted.get(name, _NOTHING), given.get(name, _NOTHING), form, place)
    elif isinstance(expected, list) and isinstance(found, list):
        for index in range(max(len(expected), len(found))):
            one, other = (values[index] if index < len(values) else _NOTHING for values in (expected, found))
            yield from _differences(one, other, form, f"{path}[{index}]")
    elif not _same(expected, found, form):
        yield f"{f'{path}: ' if path else ''}expected {_shown(expected)}, got {_shown(found)}"


def _named(values: Mapping[str, object], form: Form) -> dict[str, object]:
    """Return an object with its keys in their form; unchanged if two keys have the same form."""
    named = {form(name): value for name, value in values.items()}
    return named if len(named) == len(values) else dict(values)


def _same(one: object, other: object, form: Form) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return form(one) == form(other)
    return isinstance(one, bool) is isinstance(other, bool) and one == other  # in Python, True == 1


def _shown(value: object) -> str:
    return "nothing" if value is _NOTHING else short(json.dumps(value, ensure_ascii=False))


_NOTHING: Final = object()
_SHORT: Final = 60  # characters of a text in a reason
_MOST_PLACES: Final = 3
