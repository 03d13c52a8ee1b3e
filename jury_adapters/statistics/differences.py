"""Differences of two pass rates from counts, and the sentences about them. Every difference is b minus a."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
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
from jury_adapters.core.statistics import mcnemar_exact, paired_interval, unpaired_interval
from jury_adapters.core.values import JsonValue
from jury_adapters.statistics.difference_sentences import better, difference_sentence

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


def share(part: int, whole: int) -> float | None:
    """Return a part of a whole as a share; None of nothing."""
    return part / whole if whole else None


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


_UNLIKE = 0.05  # coverages that differ by more make the cases that are decided in both a selection


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
