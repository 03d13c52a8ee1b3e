"""The options of a docket, which everything that judges in the background takes; and what may stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TypedDict, TypeGuard

from jury_adapters.core.budget import Budget
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.journal import Journal
from jury_adapters.core.runs import JudgedRun, Sink


class DocketOptions(TypedDict, total=False):
    """The options of :class:`jury_adapters.core.docket.Docket`."""

    on_verdict: Sink | Sequence[Sink] | None
    on_error: Callable[[JudgedRun], object] | None
    sample: float
    max_pending: int
    max_concurrency: int
    store: Journal | str | PathLike[str] | None
    budget: Budget | None
    exit_timeout: float


def check_names(given: Iterable[str], own: Iterable[str] = ()) -> None:
    """Check the names of options before they are handed on to a docket.

    Args:
        given: the names that were given.
        own: options that the caller has beside those of a docket; they are only named in the error.

    Raises:
        ConfigurationError: a docket has no such option; the message has the one that was probably meant.
    """
    strange = sorted(set(given) - DocketOptions.__annotations__.keys())
    if strange:
        raise ConfigurationError(unknown("option", strange[0], {*DocketOptions.__annotations__, *own}))


def check_ranges(*, sample: object, exit_timeout: object, **counts: object) -> None:
    """Check the numbers among the options.

    Args:
        sample: a share, 0..1.
        exit_timeout: seconds, from 0.
        **counts: whole numbers from 1, by the names of their options.

    Raises:
        ConfigurationError: one is out of its range.
    """
    if not _is_number(sample) or not 0 <= sample <= 1:
        raise ConfigurationError(f"sample is the share of runs to judge, 0 to 1, not {sample!r}")
    if not _is_number(exit_timeout) or not exit_timeout >= 0:
        raise ConfigurationError(f"exit_timeout is a number of seconds from 0, not {exit_timeout!r}")
    for name, number in counts.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ConfigurationError(f"{name} is a whole number from 1, not {number!r}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
