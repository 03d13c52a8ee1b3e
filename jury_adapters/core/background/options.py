"""Options of everything that judges in the background: their names, defaults and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Final, TypedDict, TypeGuard

from jury_adapters.core.budget import Budget
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.journal import Journal
from jury_adapters.core.runs import JudgedRun, Sink

EXIT_TIMEOUT: Final = 10.0
"""Seconds that the end of a process or of a block waits for pending runs by default."""
MAX_OPEN: Final = 5_000
"""Number of runs that may be under way at once by default."""


class DocketOptions(TypedDict, total=False):
    """The options of :class:`jury_adapters.core.background.docket.Docket`."""

    on_verdict: Sink | Sequence[Sink] | None
    on_error: Callable[[JudgedRun], object] | None
    sample: float
    max_pending: int
    max_concurrency: int
    store: Journal | str | PathLike[str] | None
    budget: Budget | None
    exit_timeout: float


class WatchOptions(DocketOptions, total=False):
    """The options of every handler that watches an application: those of its docket, and a bound.

    Attributes:
        max_open: how many runs may be under way at once; a further one makes the handler forget the oldest.
    """

    max_open: int


def check_ranges(*, sample: object, exit_timeout: object) -> None:
    """Check the share and the seconds among the options.

    Raises:
        ConfigurationError: one is out of its range.
    """
    if not _is_number(sample) or not 0 <= sample <= 1:
        raise ConfigurationError(f"sample is the share of runs to judge, 0 to 1, not {sample!r}")
    if not _is_number(exit_timeout) or not exit_timeout >= 0:
        raise ConfigurationError(f"exit_timeout is a number of seconds from 0, not {exit_timeout!r}")


def check_whole(**numbers: object) -> None:
    """Check options that are whole numbers from 1.

    Raises:
        ConfigurationError: one is not; the message has its name.
    """
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ConfigurationError(f"{name} is a whole number from 1, not {number!r}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
