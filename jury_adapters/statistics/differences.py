"""Differences of two pass rates from counts, and the sentences about them. Every difference is b minus a."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import ceil, log10
from statistics import NormalDist
from typing import NamedTuple, Self

from jury_adapters.calibration.estimates import FEW_ITEMS, Estimate, Interval, few, undefined
from jury_adapters.core.clustered_shares import (
    GroupSum,
    PairCounts,
    clustered_paired_interval,
    clustered_unpaired_interval,
    intraclass_correlation,
    sign_flip_test,
)
from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.statistics import Z95, mcnemar_exact, paired_interval, unpaired_interval
from jury_adapters.core.tolerance import equal, exceeds
from jury_adapters.core.values import JsonValue

PAIRED = "difference of pass rates, b minus a (paired)"
UNPAIRED = "difference of pass rates, b minus a (independent samples)"
CORRECTED = "difference of pass rates, b minus a (PPI++)"


class PairedCounts(NamedTuple):
    """Cases that two systems share, by what became of them.

    Attributes:
        both: cases that pass in a and in b.
        a_only: cases that pass in a and fail in b.
        b_only: cases that fail in a and pass in b.
        neither: cases that fail in a and in b.
        decided_a: cases that pass or fail in a, whatever they do in b.
        decided_b: cases that pass or fail in b.
        cases: all cases.
    """

    both: int
    a_only: int
    b_only: int
    neither: int
    decided_a: int
    decided_b: int
    cases: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool | None, bool | None]]) -> Self:
        """Count pairs of verdicts, that of a first: True for PASS, False for FAIL, None for an abstention."""
        seen = Counter(pairs)
        return cls(
            both=seen[True, True],
            a_only=seen[True, False],
            b_only=seen[False, True],
            neither=seen[False, False],
            decided_a=sum(times for (a, _), times in seen.items() if a is not None),
            decided_b=sum(times for (_, b), times in seen.items() if b is not None),
            cases=seen.total(),
        )

    @property
    def decided(self) -> int:
        """Number of cases that are decided in a and in b."""
        return self.both + self.a_only + self.b_only + self.neither


def counts_by_group(pairs: Iterable[tuple[bool | None, bool | None]], groups: Sequence[Hashable]) -> list[PairCounts]:
    """Return the outcomes of the cases of each group that are decided in both.

    Args:
        pairs: verdicts of each case, as :meth:`PairedCounts.of` takes them.
        groups: the group of each case; empty where each case is a group of its own.

    Returns:
        Per group the cases that pass in both, in a only, in b only, and in neither. Empty without groups.
    """
    found: dict[Hashable, Counter[tuple[bool | None, bool | None]]] = {}
    for pair, group in zip(pairs, groups, strict=True) if groups else ():
        if None not in pair:
            found.setdefault(group, Counter())[pair] += 1
    return [(one[True, True], one[True, False], one[False, True], one[False, False]) for one in found.values()]


def paired_difference(
    counts: PairedCounts, *, by_group: Sequence[PairCounts] = (), same_answers: bool = False
) -> Estimate:
    """Return the difference of two pass rates over the same cases, with an interval and a test.

    It is that of the cases that are decided in both. The interval is Newcombe's and the test McNemar's exact test. For
    cases in groups, they are the interval of effective cases and the test that flips the signs of whole groups; see
    :mod:`jury_adapters.core.clustered_shares`.

    Args:
        counts: the cases.
        by_group: the outcomes of each group, by :func:`counts_by_group`; empty where each case is a group of its own.
        same_answers: whether a and b are verdicts of the same answers, so that neither system can be better.

    Returns:
        The difference. Details: ``both``, ``a_only``, ``b_only``, ``neither``, ``coverage_a``, ``coverage_b`` (share of
        the cases that are decided, in 0..1), ``p_value``, ``better`` (``"a"``, ``"b"`` or None), ``groups`` (their
        number, or None), and ``group_size`` and ``icc``: how far the differences of two cases of a group are alike (see
        :class:`~jury_adapters.core.clustered_shares.IntraclassCorrelation`), or None.
    """
    n = counts.decided
    if not n:
        return undefined(PAIRED, 0, "no case is decided in a and in b")
    value = (counts.b_only - counts.a_only) / n
    interval, p = interval_and_test(counts, by_group)
    groups = len(by_group) or None
    coverage = counts.decided_a / counts.cases, counts.decided_b / counts.cases
    alike = intraclass_correlation([GroupSum(sum(one), one[2] - one[1], one[1] + one[2]) for one in by_group])
    details: dict[str, JsonValue] = {
        "both": counts.both,
        "a_only": counts.a_only,
        "b_only": counts.b_only,
        "neither": counts.neither,
        "coverage_a": coverage[0],
        "coverage_b": coverage[1],
        "p_value": p,
        "better": better(interval, p),
        "groups": groups,
        "group_size": None if alike is None else alike.size,
        "icc": None if alike is None else alike.correlation,
    }
    sentence = difference_sentence(value, interval, n, p=p, groups=groups, same_answers=same_answers)
    compared = f"the {n:,} of {counted(counts.cases, 'case')} decided in both"
    warnings = (*_unlike_coverage(coverage, "the cases", compared), *few(n, groups))
    return Estimate(PAIRED, value, n, interval, sentence, warnings, details=details)


def interval_and_test(counts: PairedCounts, by_group: Sequence[PairCounts] = ()) -> tuple[Interval, float]:
    """Return the 95 % interval of a paired difference, and the p value of the test that there is none.

    Args:
        counts: the cases, of which one or more are decided in both.
        by_group: the outcomes of each group; empty where each case is a group of its own.
    """
    if by_group:
        return clustered_paired_interval(by_group), sign_flip_test(b - a for _, a, b, _ in by_group)
    interval = paired_interval(counts.both, counts.a_only, counts.b_only, counts.neither)
    return interval, mcnemar_exact(counts.a_only, counts.b_only)


def shares_by_group(verdicts: Iterable[bool | None], groups: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the number of cases of each group that pass, and the number of those that are decided.

    Args:
        verdicts: the verdict of each case: True for PASS, False for FAIL, None for an abstention.
        groups: the group of each case; empty where each case is a group of its own.

    Returns:
        The groups with decided cases; empty without groups.

    >>> shares_by_group([True, False, None, True], ["a", "a", "b", "c"])
    [(1, 2), (1, 1)]
    """
    found: dict[Hashable, Counter[bool]] = {}
    for passed, group in zip(verdicts, groups, strict=True) if groups else ():
        if passed is not None:
            found.setdefault(group, Counter())[passed] += 1
    return [(one[True], one.total()) for one in found.values()]


def shared_groups(
    first: Iterable[bool | None],
    groups_a: Iterable[Hashable],
    second: Iterable[bool | None],
    groups_b: Iterable[Hashable],
) -> int:
    """Return the number of groups with decided cases in two samples; the verdicts are those of :func:`shares_by_group`.

    >>> shared_groups([True, None, False], ["x", "y", "z"], [True, True], ["y", "z"])
    1
    """
    decided = [
        {group for passed, group in zip(verdicts, groups, strict=False) if passed is not None}
        for verdicts, groups in ((first, groups_a), (second, groups_b))
    ]
    return len(decided[0] & decided[1])


def unpaired_difference(
    passed_a: int,
    decided_a: int,
    passed_b: int,
    decided_b: int,
    *,
    groups_a: Sequence[tuple[int, int]] = (),
    groups_b: Sequence[tuple[int, int]] = (),
    shared: int = 0,
    cases: tuple[int, int] | None = None,
) -> Estimate:
    """Return the difference of the pass rates of two samples of different cases, with Newcombe's score interval.

    For cases in groups, it is the interval of the effective cases of each sample; see
    :mod:`jury_adapters.core.clustered_shares`.

    Args:
        passed_a: cases of a that pass.
        decided_a: cases of a that pass or fail.
        passed_b: cases of b that pass.
        decided_b: cases of b that pass or fail.
        groups_a: the decided cases of each group of a, by :func:`shares_by_group`; empty where each case is a group of
            its own, and then empty for b as well.
        groups_b: the same for b.
        shared: number of groups that are in both.
        cases: number of cases of a and of b, decided or not; None if all are decided.

    Returns:
        The difference. Details: the four counts, ``coverage_a`` and ``coverage_b`` (share of the cases that are
        decided, in 0..1), ``better`` (``"a"``, ``"b"`` or None), and ``groups`` (the number of different groups, or
        None).
    """
    n = decided_a + decided_b
    if not (decided_a and decided_b):
        return undefined(UNPAIRED, n, f"no case of {'b' if decided_a else 'a'} is decided")
    groups = len(groups_a) + len(groups_b) - shared or None
    of = cases or (decided_a, decided_b)
    coverage = decided_a / of[0], decided_b / of[1]
    if groups:
        interval = clustered_unpaired_interval(groups_a, groups_b)
    else:
        interval = unpaired_interval(passed_a, decided_a, passed_b, decided_b)
    value = passed_b / decided_b - passed_a / decided_a
    details: dict[str, JsonValue] = {
        "passed_a": passed_a,
        "decided_a": decided_a,
        "passed_b": passed_b,
        "decided_b": decided_b,
        "coverage_a": coverage[0],
        "coverage_b": coverage[1],
        "better": better(interval),
        "groups": groups,
    }
    sentence = difference_sentence(value, interval, n, groups=groups)
    warnings = (
        *_unlike_coverage(coverage, "its cases", "the decided cases"),
        *(few(min(decided_a, decided_b)) or _of_few_groups(len(groups_a), len(groups_b))),
        *_of_shared(shared),
    )
    return Estimate(UNPAIRED, value, n, interval, sentence, warnings, details=details)


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


def _of_few_groups(first: int, second: int) -> tuple[str, ...]:
    """Return the warning about few groups of two samples; none for cases without groups."""
    fewest, run = min((first, "a"), (second, "b"))
    if not 0 < fewest < FEW_ITEMS:
        return ()
    if first == second:
        return (f"the items of a and of b come from {counted(fewest, 'group')} each, so the interval is rough",)
    return (f"the items of {run} come from {counted(fewest, 'group')} only, so the interval is rough",)


def _of_shared(groups: int) -> tuple[str, ...]:
    """Return the warning about groups that are in both samples."""
    if not groups:
        return ()
    are = counted(groups, "group is", "groups are")
    return (f"{are} in a and in b, so the interval is wider than it needs to be",)


_SIGNIFICANT = 0.05
_FEWEST_GROUPS = 6  # 2 / 2 ** 6 is the first p value of a sign-flip test that is below _SIGNIFICANT
_UNLIKE = 0.05  # coverages that differ by more make the cases that are decided in both a selection
_MOST_CASES = 1_000_000  # more are not worth naming


def _unlike_coverage(coverage: tuple[float, float], of: str, compared: str) -> list[str]:
    """Return the warning about two runs of which different shares are decided.

    Args:
        coverage: the shares that are decided in a and in b.
        of: what these are shares of.
        compared: the cases that are compared.
    """
    if abs(coverage[0] - coverage[1]) <= _UNLIKE:
        return []
    return [
        f"a decides {percent(coverage[0])} of {of} and b {percent(coverage[1])}, and the difference is that of "
        f"{compared}; the others may differ more"
    ]


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


def p_value_in_words(p: float) -> str:
    """Return a p value that stays on its side of 0.05: ``p = 0.250``, or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.{_decimals(p, _SIGNIFICANT, 3)}f}"


def _decimals(number: float, limit: float, fewest: int) -> int:
    """Return with how many decimals a number stays on its side of a limit."""
    decimals = fewest
    while not equal(number, limit) and float(f"{number:.{decimals}f}") == limit:
        decimals += 1
    return decimals


def _rounded(number: float, decimals: int) -> float:
    """Return a rounded number, without the sign of a zero."""
    return round(number, decimals) + 0.0
