"""Validation of the values of results: frozen mappings, clean text, finite numbers.

Results are shared between jurors, threads and stores, so their values must be immutable and representable as JSON. All
values of results pass through the functions of this module.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Real
from sys import intern
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


T = TypeVar("T")


class FrozenDict(dict[str, JsonValue]):
    """Immutable dict that can be shared and hashed.

    It is a real ``dict``: ``json.dumps``, ``isinstance(x, dict)`` and equality with plain dicts work.
    """

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("the data of a case or a result cannot be changed; copy it with dict(...) first")

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

# Python and json refuse to write integers with more than 4300 decimal digits.
_LONGEST_INT = 4299 * 3


# Deeper than any real value, and far below the recursion limits of Python and json.
_DEEPEST = 100


def freeze(value: object, depth: int = 0) -> JsonValue:
    """Convert any value to an immutable JSON value.

    Mappings become :class:`FrozenDict` with text keys. Lists, tuples and sets become tuples. NaN and infinity, which
    JSON cannot represent, become ``None``. NumPy scalars become plain scalars. An integer that is too long for decimal
    digits becomes its hexadecimal text, and any other object its ``str()``.

    Raises:
        ConfigurationError: the value is nested deeper than 100 levels, or contains itself.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _LONGEST_INT else hex(value)
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, FrozenDict):
        return value
    if depth > _DEEPEST:
        raise ConfigurationError(f"a value is nested deeper than {_DEEPEST} levels, or contains itself")
    if isinstance(value, Mapping):
        return freeze_mapping(value, depth)
    if isinstance(value, Set):
        return tuple(sorted((freeze(item, depth + 1) for item in value), key=repr))
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return tuple([freeze(item, depth + 1) for item in value])
    is_array = getattr(value, "shape", None) and hasattr(value, "tolist")  # or a column of a table
    plain = value.tolist() if is_array else plain_scalar(value)  # type: ignore[attr-defined]  # just tested
    return freeze(plain, depth + 1) if plain is not value else clean_text(shown(value))


def freeze_mapping(values: Mapping[Any, object] | None, depth: int = 0) -> FrozenDict:
    """Convert a mapping to an immutable one; None and an empty mapping give the shared :data:`EMPTY`.

    Raises:
        ConfigurationError: the value is not a mapping, is nested deeper than 100 levels, or contains itself.
    """
    if isinstance(values, FrozenDict):
        return values
    if values is None:
        return EMPTY
    if not isinstance(values, Mapping):
        raise ConfigurationError(f"expected a mapping of names to values, not {type(values).__name__}")
    if not values:
        return EMPTY
    return FrozenDict({intern(clean_text(shown(key))): freeze(value, depth + 1) for key, value in values.items()})


def is_missing(value: object) -> bool:
    """Whether a value is missing: None, or its equivalent in tables (NaN, and ``NA`` and ``NaT`` of pandas)."""
    if isinstance(value, Real):
        return value != value  # noqa: PLR0124 - NaN, of any kind of number
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def plain_scalar(value: object) -> object:
    """Convert a NumPy scalar, or another array without dimensions, to bool, int or float; return others unchanged."""
    if isinstance(value, str | bool | int | float) or getattr(value, "shape", None) != ():
        return value
    item = getattr(value, "item", None)
    return item() if callable(item) else value


def shown(value: object) -> str:
    """Return ``str(value)``, or a fallback text if the object's ``__str__`` raises an exception."""
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__} cannot be shown)"


def clean_text(text: str) -> str:
    """Replace lone surrogates with U+FFFD, because vendors, files and terminals cannot handle them."""
    if text.__class__ is not str:
        text = str.__str__(text)  # frameworks have subclasses with further data
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def stated(text: str | None, otherwise: str) -> str:
    """Return a text, or another one if it is missing or blank.

    >>> stated(" ", "no reason was given")
    'no reason was given'
    """
    return text if text and not text.isspace() else otherwise


def unit_interval(value: float, what: str) -> float:
    """Return ``value`` as a float in 0..1.

    Raises:
        ConfigurationError: the value is not a number in 0..1.
    """
    if value.__class__ is float and 0.0 <= value <= 1.0:
        return value + 0.0  # -0.0 becomes 0.0, so that equal judgments give equal bytes
    number = plain_scalar(value)
    if isinstance(number, int | float) and 0.0 <= number <= 1.0:
        return float(number) + 0.0
    raise ConfigurationError(
        f"{what} must be a number from 0 to 1, not {plain_repr(value)}; convert a score on another scale, "
        "such as 70 / 100"
    )


def normalise_score(value: float, minimum: float = 0.0, maximum: float = 1.0) -> float:
    """Map a score from the scale ``minimum..maximum`` to 0..1.

    Raises:
        ConfigurationError: the value is NaN or infinite, is outside the scale, or the scale is empty.

    >>> normalise_score(3.5, 0, 5)
    0.7
    """
    if not (math.isfinite(minimum) and math.isfinite(maximum) and minimum < maximum):
        raise ConfigurationError(
            f"a scale needs finite minimum < maximum, not {plain_repr(minimum)}..{plain_repr(maximum)}"
        )
    if not isinstance(value, int | float) or not minimum <= value <= maximum:
        raise ConfigurationError(
            f"score {plain_repr(value)} is outside its scale {plain_repr(minimum)}..{plain_repr(maximum)}"
        )
    return (value - minimum) / (maximum - minimum)


def is_amount(value: object) -> bool:
    """Whether a value is a number from 0 to :data:`LARGEST`."""
    return isinstance(value, _NUMBER) and 0 <= value <= LARGEST


def no_amount(value: object, what: str) -> ConfigurationError:
    """Return the error for a value that is not an amount; see :func:`is_amount`."""
    return ConfigurationError(f"{what} is a finite number >= 0, and at most {LARGEST:.2g}, not {plain_repr(value)}")


def positive_timeout(seconds: float | None) -> float | None:
    """Return a time limit in seconds after checking it.

    Raises:
        ConfigurationError: it is neither a positive number nor None.
    """
    if seconds is None or (isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0):
        return seconds
    raise ConfigurationError(
        f"timeout is a positive number of seconds, or None for no limit; not {plain_repr(seconds)}"
    )


def typed_tuple(values: Iterable[Any], kind: type[T], what: str) -> tuple[T, ...]:
    """Return the values as a tuple after checking their type.

    Raises:
        ConfigurationError: a value has another type, or the values cannot be iterated.
    """
    try:
        found = tuple(values)
    except TypeError:
        raise ConfigurationError(f"{what} is a sequence of {kind.__name__}, not {type(values).__name__}") from None
    for value in found:
        if not isinstance(value, kind):
            raise ConfigurationError(f"{what} holds {kind.__name__}, not {type(value).__name__}")
    return found


def check_word(word: object, known: tuple[str, ...], what: str) -> None:
    """Check that a word is of a fixed vocabulary, because results may come from a file.

    Raises:
        ConfigurationError: it is another word; the message lists the known ones.
    """
    if word not in known:
        raise ConfigurationError(unknown(what, word, known))


LARGEST: Final = sys.float_info.max
"""The largest amount and weight. An integer may be larger and is not infinite, but cannot be added to a float."""

_NUMBER = (int, float)  # created once, because every judgment is checked
