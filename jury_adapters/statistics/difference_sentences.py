"""Sentences about the difference of two pass rates, for a reader without statistics. Every difference is b minus a."""

from __future__ import annotations

from math import ceil, log10
from statistics import NormalDist

from jury_adapters.calibration.estimates import FEW_ITEMS, Interval
from jury_adapters.core.formatting import counted
from jury_adapters.core.statistics import Z95
from jury_adapters.core.tolerance import equal, exceeds


def better(interval: Interval, p: float | None = None) -> str | None:
    """Return which of a and b has the higher rate; None where that is not certain.

    The interval must exclude 0, and where there is an exact test, it must reject that the rates are equal.
    """
    if p is not None and p >= _SIGNIFICANT:
        return None
    if exceeds(interval[0], 0):
        return "b"
    return "a" if exceeds(0, interval[1]) else None


def why_no_difference(interval: Interval, p: float | None, test: str) -> str:
    """Return why no difference is shown where interval and test disagree, which must both show it; empty elsewhere.

    Args:
        interval: the 95 % interval of the difference.
        p: the p value of the test, or None without one.
        test: the name of the test, such as ``exact``.
    """
    excludes = exceeds(interval[0], 0) or exceeds(0, interval[1])
    if p is None or excludes == (p < _SIGNIFICANT):
        return ""
    if excludes:
        return f"The interval excludes 0, but the {test} test does not rule out chance"
    return f"The {test} test alone would rule out chance, but the interval includes 0, and it takes both"


def difference_sentence(
    value: float,
    interval: Interval,
    n: int,
    *,
    p: float | None = None,
    groups: int | None = None,
    labelled: int | None = None,
    same_answers: bool = False,
) -> str:
    """Return what a difference means, for a reader without statistics.

    Args:
        value: the difference, b minus a, in -1..1.
        interval: its 95 % interval.
        n: number of cases.
        p: the p value of a test, or None.
        groups: number of groups of the cases; None where they do not come in groups.
        labelled: number of cases whose labels corrected the difference, or None.
        same_answers: whether a and b are verdicts of the same answers.

    >>> difference_sentence(0.05, (0.012, 0.07), 200)
    'b passes 5.0 percentage points more cases than a (b minus a, 95 % interval 1.2 to 7.0): b is better, judging by \
these verdicts.'
    """
    decimals = max(_decimals(100 * number, 0, 1) for number in (value, *interval))
    low, high = (f"{_rounded(100 * end, decimals):.{decimals}f}" for end in interval)
    test = "exact McNemar test" if groups is None else "sign-flip test of groups"
    tested = "" if p is None else f"; {test}, {p_value_in_words(p)}"
    of_groups = "" if groups is None else f", {counted(groups, 'group')}:"
    head = f"{_more_or_fewer(value, decimals)} a (b minus a, 95 % interval{of_groups} {low} to {high}{tested})"
    if (winner := better(interval, p)) is not None:
        by = "" if labelled is not None or same_answers else ", judging by these verdicts"
        return f"{head}: {winner} is {'the more lenient jury' if same_answers else 'better'}{by}."
    reason = why_no_difference(interval, p, "exact" if groups is None else "sign-flip") or "The interval includes 0"
    these = f"these {n:,} cases do" if n != 1 else "this case does"
    what = "which jury passes more" if same_answers else "which is better"
    if p is not None and groups is not None and groups < _FEWEST_GROUPS:
        return f"{head}. {reason}: {these} not tell {what}{_too_few(groups)}."
    return f"{head}. {reason}: {these} not tell {what}{_enough(value, interval, n, groups, labelled)}."


def cases_needed(value: float, interval: Interval, n: int) -> int | None:
    """Return about how many cases show a difference of this size with a power of 80 %.

    The standard error is that of the interval's side towards 0, and shrinks with the root of the number of cases. Cases
    in groups need as many more groups, because more cases of the same groups say little. The number is None for no
    difference, and for fewer than 30 cases, whose interval says little about that of many.

    Args:
        value: the difference.
        interval: its 95 % interval.
        n: number of cases that it comes from.
    """
    if equal(value, 0) or n < FEW_ITEMS:
        return None
    margin = value - interval[0] if value > 0 else interval[1] - value
    power = (Z95 + NormalDist().inv_cdf(0.8)) / Z95
    return _two_digits(n * (power * margin / value) ** 2)


def p_value_in_words(p: float) -> str:
    """Return a p value that stays on its side of 0.05: ``p = 0.250``, or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.{_decimals(p, _SIGNIFICANT, 3)}f}"


_SIGNIFICANT = 0.05
_FEWEST_GROUPS = 6  # 2 / 2 ** 6 is the first p value of a sign-flip test that is below _SIGNIFICANT
_MOST_CASES = 1_000_000  # more are not worth naming


def _more_or_fewer(value: float, decimals: int) -> str:
    if equal(value, 0):
        return "b passes as many cases as"
    return f"b passes {100 * abs(value):.{decimals}f} percentage points {'more' if value > 0 else 'fewer'} cases than"


def _too_few(groups: int) -> str:
    """Return that the sign-flip test cannot reject with so few groups: two of its 2 ** groups ways are as extreme."""
    lowest = f"{2 / 2**groups:.2g}"
    return (
        f", and no number of cases of {'this group' if groups == 1 else 'these groups'} would: the test of "
        f"{counted(groups, 'group')} has p = {lowest} at best, so it takes {_FEWEST_GROUPS} groups or more"
    )


def _enough(value: float, interval: Interval, n: int, groups: int | None, labelled: int | None) -> str:
    needed = cases_needed(value, interval, n)
    if needed is None or needed <= n:  # as many, where only the exact test is not sure
        return ""
    if needed > _MOST_CASES:
        return f"; a difference of this size would take more than {_MOST_CASES:,} cases"
    parts = [] if groups is None else [f"from {_two_digits(needed * groups / n):,} groups like these"]
    of_them = "of them" if groups is None else "of the cases"
    parts += [] if labelled is None else [f"{_two_digits(needed * labelled / n):,} {of_them} labelled"]
    which = f", {', '.join(parts)}," if parts else ""
    return f"; about {needed:,}{which} would show a difference of this size with a power of 80 %"


def _two_digits(number: float) -> int:
    """Return a number rounded up to two significant digits."""
    unit: int = 10 ** max(0, int(log10(max(number, 1.0))) - 1)
    return ceil(number / unit) * unit


def _decimals(number: float, limit: float, fewest: int) -> int:
    """Return with how many decimals a number stays on its side of a limit."""
    decimals = fewest
    while not equal(number, limit) and float(f"{number:.{decimals}f}") == limit:
        decimals += 1
    return decimals


def _rounded(number: float, decimals: int) -> float:
    """Return a rounded number, without the sign of a zero."""
    return round(number, decimals) + 0.0
