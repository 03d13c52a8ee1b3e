"""Words for the model calls of a run, and for the votes whose calls are unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jury_adapters.core.formatting import calls_and_cost, clip, counted

if TYPE_CHECKING:
    from jury_adapters.report.summary import Summary

_MOST_NAMED = 5


def model_calls(summary: Summary, shown: Callable[[str], str] | None = None) -> str:
    """Return the number and the cost of the model calls; an empty text if there were none.

    A result of another package's evaluator does not say what it cost. Such votes are named, so that the total is not
    mistaken for the whole.

    Args:
        summary: the figures of the run.
        shown: the function that makes the name of a juror safe to show; by default it is cut.
    """
    known = calls_and_cost(summary.usage) if summary.usage.total.calls else ""
    unknown = uncounted_votes(summary, shown)
    return f"{known}; calls {unknown}" if known and unknown else known or unknown


def uncounted_votes(summary: Summary, shown: Callable[[str], str] | None = None) -> str:
    """Return words for the votes whose calls are unknown: ``unknown in 4 of 4 votes of theirs``; empty without any."""
    write = shown or (lambda name: clip(name, 60))
    parts = [
        f"{juror.uncounted:,} of {counted(juror.asked, 'vote')} of {write(' / '.join(path)) or 'the judge itself'}"
        for path, juror in {**summary.single, **summary.jurors}.items()
        if juror.uncounted
    ]
    more = [f"{len(parts) - _MOST_NAMED} other jurors"] if len(parts) > _MOST_NAMED else []
    return f"unknown in {', '.join([*parts[:_MOST_NAMED], *more])}" if parts else ""
