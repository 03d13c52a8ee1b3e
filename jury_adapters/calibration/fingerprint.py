"""Identity of a judge in plain values: equal for judges that judge alike, also in another process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass

from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judge import Judge
from jury_adapters.core.scorecard import Scorecard
from jury_adapters.core.values import JsonValue
from jury_adapters.models.fingerprint import digest

# Prices, limits and caches do not change a judgment; and environment variables may contain a key.
_IRRELEVANT = frozenset({"cost", "timeout", "inline", "blocking", "priced", "env"})


def identity_of(judge: Judge) -> JsonValue:
    """Return the judge's kind, name and settings; for a jury, its members and voting rule.

    A critic is identified by its fingerprint (model, parameters, rubric), and a function only by its name.
    """
    if judge.fingerprint is not None:
        return ["fingerprint", judge.fingerprint]
    kind = _name_of(type(judge))
    if isinstance(judge, CascadedJury):
        return [kind, [_tier(tier) for tier in judge.tiers]]
    if isinstance(judge, Ensemble):
        seats = [[name, identity_of(member)] for name, member in zip(judge.names, judge.members, strict=True)]
        required: list[JsonValue] = [["required", list(judge.required)]] if judge.required else []
        return [kind, seats, _plain(judge.strategy), _plain(judge.weights), *required]
    if isinstance(judge, Scorecard):
        criteria = [[name, identity_of(member)] for name, member in zip(judge.names, judge.members, strict=True)]
        return [kind, criteria, _plain(judge.pass_when), _plain(judge.weights), judge.threshold]
    if isinstance(judge, FunctionJudge):
        return [kind, judge.name, _plain(judge._function), judge.threshold]
    members: list[JsonValue] = [identity_of(member) for member in judge.members]
    return [kind, judge.name, _settings(judge), members]


def seal_of(values: Mapping[str, object]) -> str:
    """Return a short hash of values, which is the same after they were written to a YAML file and read again."""
    return digest({name: _as_read(value) for name, value in values.items()})[:8]


def _as_read(value: object) -> object:
    """Return a value in the form that it has after it was written to a file and read again."""
    if isinstance(value, Mapping):
        return [[str(name), _as_read(each)] for name, each in value.items()]
    if isinstance(value, list | tuple):
        return [_as_read(each) for each in value]
    return float(value) if isinstance(value, int | float) else value


def _tier(tier: Tier) -> list[JsonValue]:
    broken = [] if tier.if_broken == "escalate" else [tier.if_broken]
    return [tier.name, str(tier.policy), *broken, identity_of(tier.judge)]


def _settings(judge: Judge) -> JsonValue:
    """Return the init fields of a dataclass; for another class, the attributes that look like settings."""
    if is_dataclass(judge):
        held = {each.name: getattr(judge, each.name) for each in fields(judge) if each.init}
    else:
        held = {name: value for name, value in vars(judge).items() if _is_setting(value)}
    return {name: _plain(value) for name, value in held.items() if name not in _IRRELEVANT}


def _is_setting(value: object) -> bool:
    """Whether a value is plain or a short collection of plain values; data such as recorded votes are not settings."""
    if isinstance(value, tuple | list | set | frozenset):
        return all(_is_setting(item) for item in value)
    return value is None or isinstance(value, str | int | float | bool)


def _plain(value: object) -> JsonValue:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if is_dataclass(value) and not isinstance(value, type):  # a voting strategy, or an expected call
        options: dict[str, JsonValue] = {
            each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.compare
        }
        return [_name_of(type(value)), options]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(str(item) for item in value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return _name_of(value) if isinstance(value, type | Callable) else _name_of(type(value))


def _name_of(what: object) -> str:
    return f"{getattr(what, '__module__', '')}.{getattr(what, '__qualname__', type(what).__qualname__)}"
