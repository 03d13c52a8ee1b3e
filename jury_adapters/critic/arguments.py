"""Checks of the arguments of critics. The error of each check names the argument and says what to write instead."""

from __future__ import annotations

from math import inf
from os import PathLike

from jury_adapters.core.cache import JudgmentCache, open_cache
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.values import unit_interval


def checked_name(name: object) -> str:
    """Return the name. An empty name means the default."""
    if isinstance(name, str) and (not name or name.strip()):
        return name
    raise ConfigurationError(f"name is text, such as 'truth', or left out for '<rubric> <model>'; not {name!r}")


def checked_prompt(text: object, what: str) -> str | None:
    """Return the text of a prompt, or None if there is none."""
    if text is None or isinstance(text, str):
        return text
    raise ConfigurationError(f"{what}: it is text, not {text!r}")


def checked_whole(number: object, what: str) -> int:
    """Return a whole number from 1."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ConfigurationError(f"{what} is a whole number from 1, not {number!r}")
    return number


def checked_temperature(temperature: object) -> float | None:
    """Return a finite number from 0, or None for the vendor's default."""
    if temperature is None:
        return None
    if isinstance(temperature, int | float) and not isinstance(temperature, bool) and 0 <= temperature < inf:
        return temperature
    raise ConfigurationError(
        f"temperature is a number from 0 (the most likely answer), or None for the vendor's own; not {temperature!r}"
    )


def checked_threshold(threshold: float | None) -> float | None:
    """Return a score from 0 to 1, or None for the rubric's own rule."""
    if threshold is None:
        return None
    if isinstance(threshold, bool):
        raise ConfigurationError(f"threshold is a score from 0 to 1, such as 0.7; not {threshold!r}")
    return unit_interval(threshold, "threshold")


def checked_flag(flag: object, what: str) -> bool:
    """Return True or False. Values that are only truthy or falsy are refused."""
    if isinstance(flag, bool):
        return flag
    raise ConfigurationError(f"{what} is True or False, not {flag!r}")


def checked_store(store: JudgmentCache | str | PathLike[str] | None) -> JudgmentCache | None:
    """Return the store, opened if a path is given."""
    if store is None or isinstance(store, str | PathLike | JudgmentCache):
        return open_cache(store)
    raise ConfigurationError(f"store is a Store, or the path of one, such as 'runs.db'; not {store!r}")
