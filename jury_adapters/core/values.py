"""What may enter a result: frozen mappings, clean text, finite numbers.

Results are shared between jurors, threads and stores, so nothing in them can be changed later and everything in them
can be written as JSON. The functions here are the one gate through which values come in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, NoReturn, TypeAlias

from jury_adapters.core.errors import ConfigurationError

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


class FrozenDict(dict[str, JsonValue]):
    """A dict that refuses to change, so that it can be shared and hashed.

    It stays a real ``dict``: ``json.dumps``, ``isinstance(x, dict)`` and equality with plain dicts all work.
    """

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a result cannot be changed; copy it with dict(...) first")

    __setitem__ = __delitem__ = _refuse
    update = setdefault = pop = popitem = clear = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, JsonValue]]]:
        return (FrozenDict, (dict(self),))

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


EMPTY: FrozenDict = FrozenDict()


def freeze(value: object) -> JsonValue:
    """Turn any value into an immutable JSON value.

    Mappings become :class:`FrozenDict` (keys as text), lists, tuples and sets become tuples, NaN and infinity become
    ``None`` (JSON has no word for them), and an object that JSON does not know becomes its ``str()``.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, FrozenDict):
        return value
    if isinstance(value, Mapping):
        return freeze_mapping(value)
    if isinstance(value, Set):
        return tuple(sorted((freeze(item) for item in value), key=repr))
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return tuple(freeze(item) for item in value)
    return clean_text(str(value))


def freeze_mapping(values: Mapping[Any, object]) -> FrozenDict:
    """Freeze a mapping; the empty one is shared."""
    if isinstance(values, FrozenDict):
        return values
    if not values:
        return EMPTY
    return FrozenDict({clean_text(str(key)): freeze(value) for key, value in values.items()})


def clean_text(text: str) -> str:
    """Replace lone surrogates by U+FFFD: no vendor, file or terminal can take them, so they stop at the door."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def unit_interval(value: float, what: str) -> float:
    """Return ``value`` as a float in 0..1, or say what is wrong with it."""
    if isinstance(value, int | float) and 0.0 <= value <= 1.0:
        return float(value)
    raise ConfigurationError(
        f"{what} must be a number from 0 to 1, not {value!r}; see normalise_score() for other scales"
    )


def normalise_score(value: float, minimum: float = 0.0, maximum: float = 1.0) -> float:
    """Map a score on the scale ``minimum..maximum`` to 0..1.

    Raises:
        ConfigurationError: the value is NaN or infinite, is outside the scale, or the scale is empty.

    >>> normalise_score(3.5, 0, 5)
    0.7
    """
    if not (math.isfinite(minimum) and math.isfinite(maximum) and minimum < maximum):
        raise ConfigurationError(f"a scale needs finite minimum < maximum, not {minimum!r}..{maximum!r}")
    if not isinstance(value, int | float) or not minimum <= value <= maximum:
        raise ConfigurationError(f"score {value!r} is outside its scale {minimum!r}..{maximum!r}")
    return (value - minimum) / (maximum - minimum)
