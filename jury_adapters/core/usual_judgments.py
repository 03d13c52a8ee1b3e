"""Fast reading of usual judgments, which are nearly all of those in a results file.

A usual judgment is PASS or FAIL, and each of its values has the very type that a judgment has. It passes every check of
the constructors, so its fields are set one by one. That takes half the time, and reading is the largest part of the
work on a results file. Everything else is read by :mod:`jury_adapters.core.serial`, which also says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from sys import intern
from typing import Any, Final, NamedTuple, TypeAlias

from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.tally import Tally
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import LARGEST, FrozenDict, clean_text, freeze_mapping
from jury_adapters.core.verdict import Verdict

Read: TypeAlias = Callable[[Any], Any]
Put: TypeAlias = Callable[[Any, Any], None]

DERIVED: Final = (
    "agreement", "disagreement", "agreement_band", "needs_review", "bias_warning", "panel_warning", "fallbacks_used",
)  # fmt: skip
"""Derived values of verdicts: written for human readers and other programs, and ignored when a file is read back."""


class UsualReader:
    """Reader of usual judgments.

    Args:
        read_judgment: reads a judgment inside a verdict, which need not be a usual one.
    """

    def __init__(self, read_judgment: Callable[[Any], Judgment]) -> None:
        def judgments(value: Any) -> tuple[Judgment, ...]:
            return tuple(map(read_judgment, _list(value)))

        def usage(value: Any) -> Usage:
            return self._build(Usage, value)  # type: ignore[no-any-return]

        def tally(value: Any) -> Tally:
            return self._build(Tally, value)  # type: ignore[no-any-return]

        of_judgments = {**_OF_JUDGMENTS, "usage": usage}
        self._readers: Mapping[type[Any], Mapping[str, Read]] = {
            Judgment: of_judgments,
            Verdict: {**of_judgments, **_OF_VERDICTS, "judgments": judgments, "tally": tally},
            Usage: {**_OF_USAGES, "recorded": usage},
            Tally: _OF_TALLIES,
        }
        self._layouts: dict[tuple[type[Any], tuple[str, ...]], _Layout | None] = {}

    def read(self, data: Mapping[str, Any]) -> Judgment | None:
        """Return the judgment in JSON values; None if it is not a usual one."""
        try:
            return self._build(  # type: ignore[no-any-return]
                Verdict if data.get("kind") == "verdict" else Judgment, data
            )
        except (_Unusual, KeyError, TypeError, AttributeError):
            return None

    def _build(self, kind: type[Any], data: Mapping[str, Any]) -> Any:
        if data.__class__ is not dict:
            raise _Unusual
        names = kind, tuple(data)
        layout: Any = self._layouts.get(names, _UNKNOWN)
        if layout is _UNKNOWN:
            if len(self._layouts) >= _MOST:
                self._layouts.clear()
            layout = self._layouts[names] = _layout(*names, self._readers[kind])
        if layout is None:
            raise _Unusual
        built = object.__new__(kind)
        for (put, read), value in zip(layout.fields, data.values()):  # noqa: B905  always as many
            put(built, read(value))
        for put, default in layout.defaults:
            put(built, default)
        return built


class _Unusual(Exception):
    """Error for a value that the fast way does not read; it never leaves this module."""


class _Layout(NamedTuple):
    """Way to build an object from values in a certain order.

    Attributes:
        fields: for each value, a function that sets its field, and one that checks and converts the value.
        defaults: functions that set the other fields, with their defaults.
    """

    fields: tuple[tuple[Put, Read], ...]
    defaults: tuple[tuple[Put, Any], ...]


def _layout(kind: type[Any], names: tuple[str, ...], readers: Mapping[str, Read]) -> _Layout | None:
    """Return the layout of values with these names; None if a value is missing, or has no reader."""
    own = {field.name: field.default for field in fields(kind)}
    left_out = {name: default for name, default in own.items() if name not in names}
    if not readers.keys() >= set(names) or MISSING in left_out.values():
        return None
    setters = {name: getattr(kind, name).__set__ for name in own}
    return _Layout(
        tuple((setters.get(name, _ignore), readers[name]) for name in names),
        tuple((setters[name], default) for name, default in left_out.items()),
    )


def _ignore(built: object, value: object) -> None:
    """Leave out a value that is derived from others."""


def _any(value: object) -> object:
    return value


def _share(value: Any) -> float:
    if value.__class__ is float and 0.0 <= value <= 1.0:
        return float(value) + 0.0  # -0.0 becomes 0.0, as in the constructor
    raise _Unusual


def _amount(value: Any) -> float:
    if (value.__class__ is float or value.__class__ is int) and 0 <= value <= LARGEST:
        return value
    raise _Unusual


def _count(value: Any) -> int:
    if value.__class__ is int and value >= 0:
        return value
    raise _Unusual


def _flag(value: Any) -> bool:
    if value.__class__ is bool:
        return value
    raise _Unusual


def _text(value: Any) -> str:
    if value.__class__ is not str:
        raise _Unusual
    return value if value.isascii() else clean_text(value)


def _name(value: Any) -> str:
    return intern(_text(value))


def _word(value: Any) -> str:
    if value.__class__ is not str:
        raise _Unusual
    return intern(value)


def _list(value: Any) -> list[Any]:
    if value.__class__ is not list:
        raise _Unusual
    return value


def _words(value: Any) -> tuple[str, ...]:
    return tuple(map(_word, _list(value)))


def _weights(value: Any) -> tuple[float, ...]:
    return tuple(map(_amount, _list(value)))


def _ballots(value: Any) -> tuple[Any, ...]:
    return tuple([intern(ballot) if ballot.__class__ is str else ballot for ballot in _list(value)])


def _mapping(value: Any) -> FrozenDict:
    if value.__class__ is not dict:
        raise _Unusual
    return freeze_mapping(value)


_MOST: Final = 1 << 8  # layouts that are kept, because a file may have any names
_UNKNOWN: Final = object()
_STATUS: Read = {"PASS": Status.PASS, "FAIL": Status.FAIL}.__getitem__
_ON: Read = {"status": "status", "label": "label", "score": "score"}.__getitem__
_OF_JUDGMENTS: Mapping[str, Read] = {
    "status": _STATUS, "score": _share, "label": _name, "confidence": _share, "reasoning": _text, "critic": _name,
    "model": _name, "family": _name, "elapsed_s": _amount, "raw_response": _text, "metadata": _mapping,
}  # fmt: skip
_OF_VERDICTS: Mapping[str, Read] = {
    "weights": _weights, "voting": _word, "same_family": _flag, "partial": _flag, "calls_saved": _count,
    "skipped": _words, "case_id": _word, "case_metadata": _mapping, **dict.fromkeys(("kind", *DERIVED), _any),
}  # fmt: skip
_OF_USAGES: Mapping[str, Read] = {
    **dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "calls"), _amount),
    "cost_usd": _amount, "cost_complete": _any,
}  # fmt: skip
_OF_TALLIES: Mapping[str, Read] = {
    "on": _ON, "ballots": _ballots,
    **dict.fromkeys(("eligible", "passed", "failed", "abstained", "errors", "ignored", "tied", "errors_decided"), _any),
}  # fmt: skip
