"""Options of background judging: names, defaults and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Final, TypedDict, TypeGuard

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.runs import JudgedRun, Sink

EXIT_TIMEOUT: Final = 10.0
"""Default of the maximum time in seconds to wait for pending runs at the end of a process or of a block."""
MAX_OPEN: Final = 5_000
"""Default of the maximum number of open runs."""


class JudgeQueueOptions(TypedDict, total=False):
    """Options of :class:`jury_adapters.core.background.judge_queue.JudgeQueue`."""

    on_verdict: Sink | Sequence[Sink] | None
    on_error: Callable[[JudgedRun], object] | None
    sample: float
    max_pending: int
    max_concurrency: int
    store: JudgmentCache | str | PathLike[str] | None
    budget: Budget | None
    exit_timeout: float


class WatchOptions(JudgeQueueOptions, total=False):
    """Options of every handler that watches an application: those of its queue, and a limit.

    Attributes:
        max_open: the maximum number of open runs; the handler forgets the oldest one when a further run starts.
    """

    max_open: int


def check_ranges(*, sample: object, exit_timeout: object) -> None:
    """Check the options ``sample`` and ``exit_timeout``.

    Raises:
        ConfigurationError: one of them is out of its range.
    """
    if not _is_number(sample) or not 0 <= sample <= 1:
        raise ConfigurationError(f"sample is the share of runs to judge, 0 to 1, not {plain_repr(sample)}")
    if not _is_number(exit_timeout) or not exit_timeout >= 0:
        raise ConfigurationError(f"exit_timeout is a number of seconds from 0, not {plain_repr(exit_timeout)}")


def check_whole(**numbers: object) -> None:
    """Check options that are whole numbers from 1.

    Raises:
        ConfigurationError: one of them is not; the message has its name.
    """
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ConfigurationError(f"{name} is a whole number from 1, not {plain_repr(number)}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
