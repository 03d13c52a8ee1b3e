"""Corrections by labelled items that are not quite a random sample, because reviewers contradicted each other."""

from __future__ import annotations

from dataclasses import replace

from jury_adapters.calibration.estimates import Estimate, undefined
from jury_adapters.calibration.types import Floats
from jury_adapters.core.formatting import counted, percent

MOST_CONTRADICTED = 0.05
"""Share of contradicted items among the labelled ones above which labels do not correct a rate."""

NOT_CORRECTED = "Human labels do not correct the pass rate"
"""Words before the reason why labelled items are not a random sample."""


def withheld(found: Estimate, why: str) -> Estimate:
    """Return an estimate without a value, with the reason why the labels do not correct it."""
    return replace(undefined(found.name, found.n, why), sentence=f"{NOT_CORRECTED}: {why}.")


def allow_for_contradicted(found: Estimate, contradicted: int, labels: Floats, verdicts: Floats) -> Estimate:
    """Return a corrected rate that allows for items which are left out because reviewers contradict each other.

    Reviewers contradict each other on some items rather than others, such as bad answers that a careless reviewer
    passes. So the items on which they agree are not a random sample, although all items that they labelled are one. Let
    p be the share of contradicted items among these, and e the mean of ``label - lam * verdict`` of the others. That of
    the contradicted ones is somewhere in -lam..1, so the estimate is too high by at most ``p * (e + lam)`` and too low
    by at most ``p * (1 - e)``. The interval widens by both.

    Above :data:`MOST_CONTRADICTED` (5 %) the rate has no value. The interval would be 5 to 10 percentage points wider,
    about as wide as that of 300 labels alone, and the estimate itself may be wrong by as much.

    Args:
        found: the rate, from the items that have a label.
        contradicted: the number of items that are left out.
        labels: the labels of the others, as 1 and 0.
        verdicts: the verdicts on these.

    Source: C. F. Manski (1989), *Anatomy of the selection problem*, Journal of Human Resources 24, for bounds without
    an assumption about values that are missing.
    """
    if not contradicted or found.value is None:
        return found
    drawn = len(labels) + contradicted
    share = contradicted / drawn
    if share > MOST_CONTRADICTED:
        return withheld(
            found,
            f"reviewers contradict each other on {contradicted:,} of the {counted(drawn, 'labelled item')} "
            f"({percent(share)}), and the {len(labels):,} on which they agree are not a random sample; let one more "
            "reviewer settle the others",
        )
    lam = found.details.get("lam", 0.0)
    assert isinstance(lam, float)
    residual = float((labels - lam * verdicts).mean())
    low, high = found.interval or (0.0, 1.0)
    interval = max(0.0, low - share * (residual + lam)), min(1.0, high + share * (1 - residual))
    return replace(found, interval=interval, warnings=(*found.warnings, left_out(contradicted, bounded=True)))


def left_out(contradicted: int, *, bounded: bool) -> str:
    """Return the warning that contradicted items are left out, without a full stop.

    Args:
        contradicted: their number.
        bounded: whether the interval allows for any label of them.
    """
    are, them = ("is", "it") if contradicted == 1 else ("are", "them")
    then = f"the interval allows for any label of {them}" if bounded else f"the rate takes no account of {them}"
    what = counted(contradicted, "labelled item")
    return f"{what} on which reviewers contradict each other {are} left out; {then}"
