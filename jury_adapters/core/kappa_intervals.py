"""Confidence interval of Cohen's kappa between two raters with two labels, such as a jury and human labels."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from math import sqrt
from typing import TypeAlias

from jury_adapters.core.clustered_shares import GroupSum, effective_cases
from jury_adapters.core.statistics import Z95, cohen_kappa

Pairs: TypeAlias = Mapping[tuple[Hashable, Hashable], int]
"""Number of cases by pair of labels, with the label of the first rater first."""

_ADDED = 1  # cases added to each of the four pairs of labels


def kappa_interval(pairs: Pairs, groups: Collection[Pairs] = ()) -> tuple[float, float] | None:
    """Return the 95 % interval of Cohen's kappa; None if kappa is undefined or there are more than two labels.

    It is the large-sample interval with one case added to each of the four pairs of labels, extended to kappa itself.
    Without these cases it is far too narrow where one label is rare. ``docs/measured.md`` reports its coverage.

    For cases in groups, the counts are reduced to the number of :func:`effective_cases`: the smallest of those for the
    agreement, for the labels of the first rater and for those of the second.

    Args:
        pairs: the number of cases by pair of labels.
        groups: the same for each group of cases; empty for independent cases.

    Sources: J. L. Fleiss, J. Cohen and B. S. Everitt (1969), *Large sample standard errors of kappa and weighted
    kappa*, Psychological Bulletin 72; one case per cell as in A. Agresti and B. Caffo (2000), *Simple and effective
    confidence intervals for proportions and differences of proportions*, The American Statistician 54.

    >>> pairs = {("PASS", "PASS"): 20, ("PASS", "FAIL"): 5, ("FAIL", "PASS"): 10, ("FAIL", "FAIL"): 15}
    >>> cohen_kappa(pairs), [round(bound, 2) for bound in kappa_interval(pairs)]
    (0.4, [0.13, 0.61])
    """
    kappa = cohen_kappa(pairs)
    labels = sorted({label for pair, times in pairs.items() if times for label in pair}, key=str)
    if kappa is None or len(labels) != 2:
        return None
    shrunk = 1.0
    if groups:
        shrunk = _effective(groups, labels[0]) / sum(pairs.values())
    cells = [[pairs.get((one, other), 0) * shrunk + _ADDED for other in labels] for one in labels]
    middle, error = _with_error(cells)
    low, high = middle - Z95 * error, middle + Z95 * error
    return max(-1.0, min(low, kappa)), min(1.0, max(high, kappa))


def _effective(groups: Collection[Pairs], label: Hashable) -> float:
    """Return the smallest number of effective cases of the three shares on which kappa depends."""

    def effective(counts: Collection[tuple[int, int]]) -> float:
        return effective_cases([GroupSum(cases, hits, hits) for hits, cases in counts if cases])

    sizes = [sum(group.values()) for group in groups]
    shares = (
        [sum(times for (one, other), times in group.items() if one == other) for group in groups],
        [sum(times for (one, _), times in group.items() if one == label) for group in groups],
        [sum(times for (_, other), times in group.items() if other == label) for group in groups],
    )
    return min(effective(list(zip(hits, sizes, strict=True))) for hits in shares)


def _with_error(cells: list[list[float]]) -> tuple[float, float]:
    """Return kappa and its large-sample standard error for a table of two labels, with no empty cell."""
    n = sum(map(sum, cells))
    p = [[count / n for count in row] for row in cells]
    first = [p[0][0] + p[0][1], p[1][0] + p[1][1]]
    second = [p[0][0] + p[1][0], p[0][1] + p[1][1]]
    by_chance = first[0] * second[0] + first[1] * second[1]
    kappa = (p[0][0] + p[1][1] - by_chance) / (1 - by_chance)
    same = sum(p[i][i] * (1 - (first[i] + second[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    different = (1 - kappa) ** 2 * sum(p[i][1 - i] * (second[i] + first[1 - i]) ** 2 for i in (0, 1))
    variance = (same + different - (kappa - by_chance * (1 - kappa)) ** 2) / (n * (1 - by_chance) ** 2)
    return kappa, sqrt(max(0.0, variance))
