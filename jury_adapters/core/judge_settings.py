"""Checks of the settings that every judge has: name, time limit, cost, and how it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field
from typing import Any

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.functions import takes, yields
from jury_adapters.core.values import is_amount, no_amount, positive_timeout


def checked_name(name: object) -> str:
    """Return the name of a judge after checking it.

    Raises:
        ConfigurationError: it is not a text.
    """
    if isinstance(name, str):
        return name
    raise ConfigurationError(f"the name of a judge is a text, not {plain_repr(name)}")


def checked_cost(cost: float) -> float:
    """Return the approximate cost of one judgment after checking it.

    Raises:
        ConfigurationError: it is not an amount of US dollars.
    """
    if is_amount(cost) and not isinstance(cost, bool):
        return cost
    raise no_amount(cost, "cost, in US dollars for one judgment,")


def checked_blocking(blocking: bool) -> bool:
    """Return whether a judge is blocking after checking it.

    Raises:
        ConfigurationError: it is neither True nor False.
    """
    if isinstance(blocking, bool):
        return blocking
    raise ConfigurationError(f"blocking is True or False, not {plain_repr(blocking)}")


def check_settings(judge: object) -> None:
    """Check the settings of a judge, which its class may take from anywhere.

    Raises:
        ConfigurationError: a setting is invalid; the message names the class.
    """
    for setting, check in _CHECKS.items():
        _check(type(judge), check, getattr(judge, setting, None))


def check_class(judge: type) -> None:
    """Check a new class of judges: its ``assess``, and the settings in its body.

    Raises:
        ConfigurationError: ``assess`` has ``yield`` in it or does not take one case, or a setting is invalid.
    """
    assess = judge.__dict__.get("assess")
    if yields(assess):
        raise ConfigurationError(f"{judge.__name__}.assess has `yield` in it; return one outcome for the case instead")
    if inspect.isfunction(assess) and not takes(assess, 2):
        raise ConfigurationError(
            f"{judge.__name__}.assess is called with one Case, as in `def assess(self, case)`; "
            f"it takes {inspect.signature(assess)}"
        )
    for setting, check in _CHECKS.items():
        value = judge.__dict__.get(setting, _INHERITED)
        if value is not _INHERITED and not isinstance(value, Field) and not hasattr(type(value), "__get__"):
            _check(judge, check, value)


def _check(judge: type, check: Callable[[Any], object], value: object) -> None:
    try:
        check(value)
    except ConfigurationError as error:
        raise ConfigurationError(f"{judge.__name__}: {error}") from None


_INHERITED = object()
_CHECKS: Mapping[str, Callable[[Any], object]] = {
    "name": checked_name, "timeout": positive_timeout, "cost": checked_cost, "blocking": checked_blocking,
}  # fmt: skip
