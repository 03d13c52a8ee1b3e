"""Statistics of counts: intervals of shares and their differences, McNemar's test, accuracy, and Cohen's kappa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import exp, lgamma, log, sqrt
from statistics import NormalDist
from typing import TypeVar

Opinion = TypeVar("Opinion", bound=Hashable)

Z95 = NormalDist().inv_cdf(0.975)
"""Number of standard errors to either side in a 95 % interval."""


def wilson(hits: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a share, which is accurate for few cases and for shares near 0 and 1.

    Args:
        hits: number of hits.
        n: number of cases; without cases the interval is 0 to 1.
        confidence: the probability that the interval has the true share, between 0 and 1.

    Source: E. B. Wilson (1927), *Probable inference, the law of succession, and statistical inference*, JASA 22.

    >>> [round(bound, 3) for bound in wilson(9, 10)]
    [0.596, 0.982]
    """
    if n <= 0:
        return 0.0, 1.0
    z = Z95 if confidence == 0.95 else NormalDist().inv_cdf((1 + confidence) / 2)
    share, z2 = hits / n, z**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def paired_interval(kept: float, lost: float, won: float, missed: float) -> tuple[float, float]:
    """Return the 95 % interval of the difference between two paired shares, second minus first.

    R. G. Newcombe (1998), *Improved confidence intervals for the difference between binomial proportions based on
    paired data*, method 10: the Wilson intervals of both shares, squared and added, with their correlation. It is
    accurate for few cases and for shares near 0 and 1, for which the usual formula is not.

    Args:
        kept: number of cases that pass both times.
        lost: number of cases that pass only the first time.
        won: number of cases that pass only the second time.
        missed: number of cases that fail both times.

    >>> [round(limit, 4) for limit in paired_interval(36, 2, 12, 0)]
    [0.0569, 0.3404]
    """
    n = kept + lost + won + missed
    first, second = (kept + lost) / n, (kept + won) / n
    (low1, high1), (low2, high2) = wilson(kept + lost, n), wilson(kept + won, n)
    margins = (kept + lost) * (won + missed) * (kept + won) * (lost + missed)
    product = kept * missed - lost * won
    if product > 0:
        product = max(product - n / 2, 0.0)
    phi = product / sqrt(margins) if margins else 0.0
    down2, up2, down1, up1 = second - low2, high2 - second, first - low1, high1 - first
    below = sqrt(max(0.0, down2**2 - 2 * phi * down2 * up1 + up1**2))
    above = sqrt(max(0.0, up2**2 - 2 * phi * up2 * down1 + down1**2))
    return max(-1.0, second - first - below), min(1.0, second - first + above)


def unpaired_interval(passed1: int, n1: int, passed2: int, n2: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference between two independent shares, second minus first.

    It combines the Wilson intervals of both shares. If a sample is empty, its share may be anything from 0 to 1.

    Args:
        passed1: number of cases of the first sample that pass.
        n1: number of cases of the first sample.
        passed2: number of cases of the second sample that pass.
        n2: number of cases of the second sample.

    Source: R. G. Newcombe (1998), *Interval estimation for the difference between independent proportions: comparison
    of eleven methods*, Statistics in Medicine 17, method 10.

    >>> [round(limit, 4) for limit in unpaired_interval(48, 80, 56, 70)]
    [0.0524, 0.3339]
    """
    return combined_interval((passed1, n1), wilson(passed1, n1), (passed2, n2), wilson(passed2, n2))


def combined_interval(
    counts1: tuple[int, int], interval1: tuple[float, float], counts2: tuple[int, int], interval2: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of the difference between two independent shares, second minus first, from their intervals.

    The source is that of :func:`unpaired_interval`.

    Args:
        counts1: number of cases of the first sample that pass, and number of its cases.
        interval1: interval of this share.
        counts2: the same for the second sample.
        interval2: interval of this share.
    """
    (passed1, n1), (passed2, n2), (low1, high1), (low2, high2) = counts1, counts2, interval1, interval2
    first = passed1 / n1 if n1 else (low1 + high1) / 2
    second = passed2 / n2 if n2 else (low2 + high2) / 2
    below, above = sqrt((second - low2) ** 2 + (high1 - first) ** 2), sqrt((high2 - second) ** 2 + (first - low1) ** 2)
    return max(-1.0, second - first - below), min(1.0, second - first + above)


def mcnemar_exact(lost: int, won: int) -> float:
    """Return the two-sided p value of the exact McNemar test of whether two paired shares are equal.

    Only the cases that pass one time and fail the other count. If the shares are equal, each of these cases goes either
    way with probability 1/2.

    Args:
        lost: number of cases that pass only the first time.
        won: number of cases that pass only the second time.

    Source: Q. McNemar (1947), *Note on the sampling error of the difference between correlated proportions or
    percentages*, Psychometrika 12; with the binomial distribution, as for a sign test.

    >>> round(mcnemar_exact(2, 12), 4), mcnemar_exact(0, 0)
    (0.0129, 1.0)
    """
    fewer, n = min(lost, won), lost + won
    if lost == won:
        return 1.0
    term = total = 1.0
    for k in range(fewer, 0, -1):  # from the largest term down, relative to it
        term *= k / (n - k + 1)
        total += term
    largest = lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2)
    return min(1.0, 2 * total * exp(largest))


def fisher_less(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Return the one-sided p value of Fisher's exact test: the first share is not lower than the second.

    Args:
        hits: number of hits of the first sample.
        n: number of cases of the first sample.
        other_hits: number of hits of the second sample.
        other_n: number of cases of the second sample.

    Source: R. A. Fisher (1934), *Statistical Methods for Research Workers*, fifth edition, section 21.02.

    >>> round(fisher_less(1, 10, 9, 10), 6)
    0.000547
    """
    total, all_hits = n + other_n, hits + other_hits
    lowest = max(0, all_hits - other_n)
    return min(1.0, sum(hypergeometric(k, n, all_hits, total) for k in range(lowest, hits + 1)))


def cohen_kappa(pairs: Mapping[tuple[Opinion, Opinion], int]) -> float | None:
    """Return Cohen's kappa of two raters: agreement beyond chance.

    It is None if chance explains all agreement, and for fewer than two items: on one item kappa is 0 or undefined by
    algebra.

    Args:
        pairs: the number of items by pair of opinions, with the opinion of the first rater first.

    Source: J. Cohen (1960), *A coefficient of agreement for nominal scales*, Educational and Psychological Measurement
    20.

    >>> cohen_kappa({("PASS", "PASS"): 20, ("PASS", "FAIL"): 5, ("FAIL", "PASS"): 10, ("FAIL", "FAIL"): 15})
    0.4
    """
    n = sum(pairs.values())
    one: Counter[Opinion] = Counter()
    other: Counter[Opinion] = Counter()
    for (a, b), times in pairs.items():
        one[a] += times
        other[b] += times
    by_chance = sum(one[label] * other[label] for label in one)
    if n < 2 or by_chance == n * n:
        return None
    observed = sum(times for (a, b), times in pairs.items() if a == b)
    return (n * observed - by_chance) / (n * n - by_chance)


@dataclass(slots=True)
class Score:
    """Counts of verdicts against human labels.

    All shares except ``coverage`` are computed over the decided cases. Verdicts without a decision (ABSTAIN, ERROR)
    lower only the ``coverage``, as in selective prediction, so read coverage and the other shares together.

    Attributes:
        pairs: number of cases by human label (first) and verdict (second; None without a decision).
    """

    pairs: Counter[tuple[Hashable, Hashable]] = field(default_factory=Counter)

    def add(self, truth: Hashable, said: Hashable) -> None:
        """Count one case.

        Args:
            truth: the human label.
            said: the verdict; None without a decision.
        """
        self.pairs[truth, said] += 1

    @property
    def cases(self) -> int:
        """Number of cases with a human label."""
        return self.pairs.total()

    @property
    def decided(self) -> int:
        """Number of cases with a human label that the verdict decided."""
        return sum(count for (_, said), count in self.pairs.items() if said is not None)

    @property
    def right(self) -> int:
        """Number of decided cases whose verdict agrees with the human label."""
        return sum(count for (truth, said), count in self.pairs.items() if truth == said)

    @property
    def coverage(self) -> float | None:
        """Share of the cases with a human label that the verdict decided; None without cases."""
        return self.decided / self.cases if self.cases else None

    @property
    def accuracy(self) -> float | None:
        """Share of right verdicts among the decided cases (selective accuracy); None without decided cases."""
        return self.right / self.decided if self.decided else None

    @property
    def accuracy_interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of the accuracy."""
        return wilson(self.right, self.decided) if self.decided else None

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean of the recalls of the human labels of decided cases; 1/2 for a constant verdict with two labels.

        None if the decided cases have fewer than two labels: a constant verdict would have 1.
        """
        recalls = [self.recall(truth) for truth in dict.fromkeys(truth for truth, _ in self.pairs)]
        known = [recall for recall in recalls if recall is not None]
        return sum(known) / len(known) if len(known) > 1 else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa over the decided cases: agreement beyond chance (Cohen 1960); None if it is undefined."""
        return cohen_kappa(self.decided_pairs)

    @property
    def decided_pairs(self) -> dict[tuple[Hashable, Hashable], int]:
        """Number of decided cases by human label (first) and verdict (second)."""
        return {(truth, said): count for (truth, said), count in self.pairs.items() if said is not None}

    def recall(self, truth: Hashable) -> float | None:
        """Return the share of right verdicts among decided cases with this human label; None without such cases."""
        total = sum(count for (label, said), count in self.pairs.items() if label == truth and said is not None)
        return self.pairs[truth, truth] / total if total else None


def hypergeometric(k: int, n: int, hits: int, total: int) -> float:
    """Return the probability of k hits among n cases drawn from ``total`` cases with ``hits`` hits."""
    return exp(_log_choose(hits, k) + _log_choose(total - hits, n - k) - _log_choose(total, n))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
