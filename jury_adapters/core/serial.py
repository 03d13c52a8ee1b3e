"""Lossless conversion of judgments to JSON values and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from sys import intern
from typing import Any, TypeVar

from jury_adapters.core.claims import Claim
from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Finding, Judgment, Status, evolve
from jury_adapters.core.tally import Tally
from jury_adapters.core.usage import Usage
from jury_adapters.core.usual_judgments import DERIVED, UsualReader
from jury_adapters.core.values import FrozenDict, JsonValue, stated
from jury_adapters.core.verdict import TierResult, Verdict

J = TypeVar("J", bound=Judgment)

_SCALARS = frozenset({str, int, float, bool, type(None)})

_DERIVED_NAMES = frozenset(DERIVED)
_NAMES = ("critic", "model", "family", "label", "voting", "stopped_at")
_NO_REASON = "no reason was recorded"
_NEEDED: Mapping[str, str] = {Status.ABSTAIN: "reasoning", Status.ERROR: "error"}
_VOLATILE = frozenset({"elapsed_s", "request_id", "request_ids", "case_id", "case_metadata"})


def to_dict(judgment: Judgment) -> dict[str, JsonValue]:
    """Return the JSON values of a judgment, without fields that have their default value."""
    data = _plain(judgment)
    assert isinstance(data, dict)
    return data


def judgment_from_dict(data: Mapping[str, Any]) -> Judgment:
    """Read the output of :func:`to_dict`; a verdict is returned as a verdict.

    Raises:
        InputError: a field is unknown, or has an invalid value.
    """
    try:
        return _read_judgment(data)
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as error:
        raise InputError(f"not a judgment written by this package: {error}") from error


def from_json(text: str | bytes, kind: type[J]) -> J:
    """Read one JSON object as a judgment of this class or a subclass.

    Raises:
        InputError: the text is not such a judgment.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"expected one JSON object, not {type(data).__name__}")
    judgment = judgment_from_dict(data)
    if not isinstance(judgment, kind):
        raise InputError(f"expected a {kind.__name__}, found a {type(judgment).__name__}")
    return judgment


def canonical_json(judgment: Judgment) -> str:
    """Return JSON with sorted keys, without times, ids and the metadata of the case.

    A judgment from a store gives the same text as when it was recorded, because recorded calls count in its usage.
    """
    return json.dumps(
        _without_volatile(to_dict(_with_total_usage(judgment))), sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def _is_nothing(derived: object) -> bool:
    """Whether a derived value is left out: None, False or empty, but not an agreement of 0.0, which equals False."""
    return derived is None or derived is False or derived == {}


def _plain(value: object) -> JsonValue:
    if value.__class__ in _SCALARS:  # the most frequent case
        return value  # type: ignore[return-value]
    if isinstance(value, tuple):
        return [item if item.__class__ in _SCALARS else _plain(item) for item in value]
    if isinstance(value, FrozenDict):
        return {key: item if item.__class__ in _SCALARS else _plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return str(value)  # a Status is a subclass of str
    if isinstance(value, Judgment):
        data = _set_fields(value)
        if not isinstance(value, Verdict):
            return data
        derived = {name: found for name in DERIVED if not _is_nothing(found := getattr(value, name))}
        return {"kind": "verdict", **data, **derived}
    if isinstance(value, Usage | Finding | Claim | Tally | TierResult):
        return _set_fields(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} cannot stand in a judgment")


def _set_fields(value: Any) -> dict[str, JsonValue]:
    data = {}
    for name, default in _defaults(value.__class__):
        content = getattr(value, name)
        if content is not default and content != default:
            data[name] = content if content.__class__ in _SCALARS else _plain(content)
    return data


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return the fields of a class with their defaults; ``MISSING``, which equals no value, for a field without one."""
    return tuple((field.name, field.default) for field in fields(kind))


def _read_judgment(data: Mapping[str, Any]) -> Judgment:
    usual = _USUAL.read(data)
    return _read_any(data) if usual is None else usual


def _read_any(data: Mapping[str, Any]) -> Judgment:
    """Read a judgment with any values; the constructors check them."""
    values = dict(data)
    kind: type[Judgment] = Verdict if values.pop("kind", None) == "verdict" else Judgment
    if not _DERIVED_NAMES.isdisjoint(values):
        for name in _DERIVED_NAMES & values.keys():
            del values[name]
    if "usage" in values:
        values["usage"] = _read_usage(values["usage"])
    if "findings" in values:
        values["findings"] = tuple(Finding(**finding) for finding in values["findings"])
    if "claims" in values:
        values["claims"] = tuple(Claim(**claim) for claim in values["claims"])
    if kind is Verdict:
        _read_parts(values)
    for name in _NAMES:
        if name in values:
            values[name] = _once(values[name])
    # Older results files may have no reason, or a blank one.
    status = values.get("status")
    needed = _NEEDED.get(status) if isinstance(status, str) else None
    if needed is not None and isinstance(text := values.get(needed) or "", str):
        values[needed] = stated(text, _NO_REASON)
    return kind(**values)


def _read_parts(values: dict[str, Any]) -> None:
    """Replace the fields that only verdicts have by the objects that they describe."""
    if "tally" in values:
        tally = values["tally"]
        values["tally"] = Tally(**{**tally, "ballots": tuple(map(_once, tally.get("ballots", ())))})
    if "judgments" in values:
        values["judgments"] = tuple(_read_judgment(item) for item in values["judgments"])
    if "tiers" in values:
        values["tiers"] = tuple(
            TierResult(**{**tier, "judgment": _read_judgment(tier["judgment"])}) for tier in values["tiers"]
        )
    for name in ("weights", "skipped"):
        if name in values:
            values[name] = tuple(values[name])


def _once(value: Any) -> Any:
    """Return the one object that all equal texts share, since the same names are in all results of a file."""
    return intern(value) if value.__class__ is str else value


def _read_usage(data: Mapping[str, Any]) -> Usage:
    recorded = data.get("recorded")
    return Usage(**data) if recorded is None else Usage(**{**data, "recorded": _read_usage(recorded)})


def _with_total_usage(judgment: J) -> J:
    """Return the judgment with one usage that sums up the calls that were made and the calls that were recorded."""
    changes: dict[str, Any] = {"usage": judgment.usage.total}
    if isinstance(judgment, Verdict):
        changes["judgments"] = tuple(map(_with_total_usage, judgment.judgments))
        changes["tiers"] = tuple(replace(tier, judgment=_with_total_usage(tier.judgment)) for tier in judgment.tiers)
    return evolve(judgment, **changes)


def _without_volatile(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {key: _without_volatile(item) for key, item in value.items() if key not in _VOLATILE}
    if isinstance(value, list):
        return [_without_volatile(item) for item in value]
    return value


_USUAL = UsualReader(_read_judgment)
