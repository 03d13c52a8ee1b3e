"""Exceptions, and the types that cases and judgments share."""

import os
import re
from collections.abc import Mapping
from math import inf, isfinite, isnan
from typing import Annotated, Any, ClassVar, NoReturn, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetPydanticSchema, ValidationError
from pydantic_core import core_schema, to_jsonable_python

from jury_adapters.core.text import visible


class JuryError(Exception):
    """Base of all exceptions that this package raises on purpose."""


class ConfigurationError(JuryError, ValueError):
    """Wrong construction or wrong arguments."""


class InputError(ConfigurationError):
    """A file, a row or a run that cannot be read."""


class GateFailed(JuryError, AssertionError):
    """A judgment misses a condition of :meth:`Judgment.require`."""


class Frozen(BaseModel):
    """Base of all values: immutable, without unknown fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        hide_input_in_errors=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )

    def but(self, **changes: Any) -> Self:
        """Return a copy with other values in some fields, which are checked."""
        return type(self).model_validate({**{name: getattr(self, name) for name in type(self).model_fields}, **changes})


class FrozenDict(dict[str, Any]):
    """Dict that a judge cannot change for the next one; lists in it are tuples."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("the data of a case or a judgment cannot be changed; copy it with dict(...)")

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


def check_word(name: str, value: object, *words: object) -> None:
    """Refuse the value of an option that is none of its words."""
    if value not in words:
        raise ConfigurationError(f"{name}= is {' or '.join(map(repr, words))}, not {value!r}")


def check_whole(name: str, value: object, least: int, most: float = inf) -> None:
    """Refuse the value of an option that is no whole number in this range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        end = "" if most == inf else f" to {most}"
        raise ConfigurationError(f"{name}= is a whole number from {least}{end}, not {value!r}")


def clean(text: Any) -> Any:
    """Replace lone surrogates, which vendors, files and terminals refuse."""
    if not isinstance(text, str) or text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _json(value: Any, depth: int = 0) -> Any:
    """Return a value as immutable JSON; what is not JSON, or nested more than 60 deep, becomes its text."""
    if depth > 60:  # readers of JSON refuse what is nested deeper than about 200
        return clean(str(value))
    if isinstance(value, Mapping):
        return FrozenDict({clean(str(key)): _json(inside, depth + 1) for key, inside in value.items()})
    if isinstance(value, list | tuple | set | frozenset):
        each = [_json(inside, depth + 1) for inside in value]
        return tuple(
            each if isinstance(value, list | tuple) else sorted(each, key=repr)
        )  # a set's order differs by run
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, bool | int | float):
        return value
    return _json(to_jsonable_python(value, fallback=str, bytes_mode="base64"), depth)


def _metadata(values: object) -> FrozenDict:
    if isinstance(values, FrozenDict):
        return values
    if not isinstance(values, Mapping):
        raise ValueError("Input should be a mapping")
    return cast(FrozenDict, _json(values))


Text = Annotated[str, BeforeValidator(clean)]
# Not by PlainValidator, with which pydantic calls Python for each value that it writes as JSON.
Metadata = Annotated[
    Mapping[str, Any],
    GetPydanticSchema(lambda *_: core_schema.no_info_before_validator_function(_metadata, core_schema.any_schema())),
]
Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
EMPTY = FrozenDict()
ROUNDING = 1e-9  # 0.7, 0.7 and 0.7 average to 0.6999999999999998, which reaches 0.7


def problems_of(error: ValidationError) -> str:
    """Return what pydantic found, as one line of places and messages, without the values."""
    found = [
        f"{'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}".removeprefix(": ")
        for one in error.errors()
    ]
    return visible("; ".join(found), 1000)


_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|tvly|lsv2|pplx)[-_][\w*-]{8,}|\bBearer\s+[\w.~+/=-]{8,}|\bAIza[\w-]{20,}|\bhf_\w{20,}|\bgh[pousr]_\w{20,}"
    r"|\bAKIA[A-Z0-9]{12,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)


def without_keys(text: str) -> str:
    """Redact API keys and passwords: what looks like one, and those in the environment of this process."""
    for name, value in os.environ.items():
        if name.endswith(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")) and len(value) >= 8:
            text = text.replace(value, "[key]")
    return _KEY.sub("[key]", text)


def error_text(error: BaseException) -> str:
    """Return the type and the message of an exception, and of those in a group, without keys."""
    inner = "; ".join(map(error_text, error.exceptions[:3])) if isinstance(error, BaseExceptionGroup) else ""
    try:
        message = problems_of(error) if isinstance(error, ValidationError) else str(error)
    except BaseException:  # a __str__ that raises, perhaps SystemExit
        message = ""
    return without_keys(f"{type(error).__name__}: {message}".removesuffix(": ") + (f" ({inner})" if inner else ""))
