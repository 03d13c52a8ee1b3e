"""Sentence on the agreement of juries that stop early, for reports and summaries."""

from __future__ import annotations


def early_stops_note(stopped: int) -> str:
    """Return words for the verdicts behind a mean agreement that were stopped early; empty without any.

    >>> early_stops_note(2)
    '2 stopped early: some jurors were asked only where the votes before were open, so the agreement is biased'
    """
    if not stopped:
        return ""
    return (
        f"{stopped:,} stopped early: some jurors were asked only where the votes before were open, so the agreement is "
        "biased"
    )
