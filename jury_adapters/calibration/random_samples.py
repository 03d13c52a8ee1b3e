"""Test of whether the items with human labels can be a random sample of all items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil, floor

import numpy as np

from jury_adapters.calibration.types import Bools, Floats, Ints
from jury_adapters.core.clustered_shares import GroupSum, group_correlation
from jury_adapters.core.formatting import counted
from jury_adapters.core.statistics import hypergeometric

NOT_RANDOM = 0.001  # p value below which labelled items are not taken for a random sample


def why_not_random(labelled: Bools, facts: dict[str, Bools], groups: Ints, *, items: str = "item") -> str:
    """Return why the labelled items are not a random sample of all; empty if no fact shows it.

    Args:
        labelled: whether each item has a label.
        facts: by description, whether a fact holds of each item. A random sample has about the same share of them.
        groups: the group of each item. Labels may be those of random items, or of random groups.
        items: the noun for an item.
    """
    p_values = {fact: random_sample_p_value(labelled, holds, groups) for fact, holds in facts.items()}
    clearest = min(facts, key=lambda fact: p_values[fact])
    if p_values[clearest] >= NOT_RANDOM:
        return ""
    holds, n = facts[clearest], int(labelled.sum())
    return (
        f"{clearest} in {int((labelled & holds).sum()):,} of the {counted(n, items)} with a label and in "
        f"{int((~labelled & holds).sum()):,} of the {len(labelled) - n:,} others, so the labelled {items}s are not a "
        f"random sample; label a random part of all {items}s"
    )


def random_sample_p_value(
    labelled: Sequence[bool] | Bools, holds: Sequence[bool] | Bools, groups: Sequence[Hashable] | Ints = ()
) -> float:
    """Return the two-sided p value of the hypothesis that the labelled items are a random sample of all items.

    It is Fisher's exact test of all items. If items have groups, either whole groups or single items may have been
    drawn, or items of groups that were drawn before. There are two tests then, and the result is twice the smaller p
    value (Bonferroni):

    - Fisher's exact test of the *effective* numbers of items: the numbers of items divided by the design effect
      ``1 - r + r * sum(W_g^2) / sum(w_i^2)``, which is at least 1. r is
      :func:`~jury_adapters.core.clustered_shares.group_correlation` of the fact, w_i is 1 divided by the number of
      labelled items, or -1 divided by that of the others, and W_g is the sum of w_i over a group. It is large where
      whole groups have labels, and 1 where labelled items are as frequent in each group.
    - :func:`association_p_value` within groups, which compares the items of a group with each other only. It finds a
      choice within the groups that were drawn.

    Args:
        labelled: whether each item has a label.
        holds: whether the fact holds of each item.
        groups: the group of each item; without any, or if each item is a group of its own, items are independent.

    Sources: L. Kish (1965), *Survey Sampling*, for the design effect; J. N. K. Rao and A. J. Scott (1981), *The
    analysis of categorical data from complex sample surveys*, Journal of the American Statistical Association 76, for a
    test of counts divided by it. Simulated false alarms: ``tests/simulations/alarms_of_random_samples.py``.

    >>> labelled, passed = [True] * 10 + [False] * 20, [True] * 15 + [False] * 15
    >>> whole_groups = [item // 5 for item in range(30)]  # two of six groups have labels, and three groups pass
    >>> [round(random_sample_p_value(labelled, passed, groups), 4) for groups in ((), whole_groups)]
    [0.0002, 0.8]
    """
    chosen, found = np.asarray(labelled, dtype=np.bool_), np.asarray(holds, dtype=np.bool_)
    of = _numbered(groups)
    if len(of) == 0 or int(of.max()) + 1 == len(of):
        return association_p_value(chosen, found)
    overall = _fisher_of_effective(chosen, found, _design_effect(chosen, found.astype(np.float64), of))
    return min(1.0, 2 * min(overall, association_p_value(chosen, found, groups)))


def association_p_value(
    labelled: Sequence[bool] | Bools, holds: Sequence[bool] | Bools, groups: Sequence[Hashable] | Ints = ()
) -> float:
    """Return the two-sided p value of the hypothesis that a fact is as frequent among the labelled items as elsewhere.

    It is Fisher's exact test and, for several groups, that of the sum over groups, in each of which the numbers are
    fixed.

    Args:
        labelled: whether each item has a label.
        holds: whether the fact holds of each item.
        groups: the group of each item, within which items are compared; without any, all items are one group.

    Source: M. W. Birch (1964), *The detection of partial association*, Journal of the Royal Statistical Society B 26.

    >>> round(association_p_value([True] * 10 + [False] * 10, [True] + [False] * 9 + [True] * 9 + [False]), 6)
    0.001093
    """
    chosen, found = np.asarray(labelled, dtype=np.bool_), np.asarray(holds, dtype=np.bool_)
    of = _numbered(groups)
    of = of if len(of) else np.zeros(len(chosen), dtype=np.int64)
    sizes, labels, facts, both = (
        np.bincount(of, weights=part).astype(int)
        for part in (np.ones(len(of)), chosen.astype(float), found.astype(float), (chosen & found).astype(float))
    )
    least, most = np.maximum(0, facts - (sizes - labels)), np.minimum(facts, labels)
    chances, observed = np.ones(1), int((both - least).sum())
    for at in np.flatnonzero(least < most).tolist():
        numbers = int(labels[at]), int(facts[at]), int(sizes[at])
        of_group = [hypergeometric(hits, *numbers) for hits in range(int(least[at]), int(most[at]) + 1)]
        chances = np.convolve(chances, of_group)
    return min(1.0, 2 * float(min(chances[: observed + 1].sum(), chances[observed:].sum())))


def _numbered(groups: Sequence[Hashable] | Ints) -> Ints:
    """Return the groups as numbers from 0."""
    places: dict[Hashable, int] = {}
    return np.array([places.setdefault(group, len(places)) for group in groups], dtype=np.int64)


def _design_effect(labelled: Bools, holds: Floats, groups: Ints) -> float:
    """Return the variance of the difference between labelled and other items, relative to independent items."""
    n, others = int(labelled.sum()), int((~labelled).sum())
    if not n or not others:
        return 1.0
    weights = np.where(labelled, 1 / n, -1 / others)
    of_group = np.bincount(groups, weights=weights)
    sizes, hits = np.bincount(groups).tolist(), np.bincount(groups, weights=holds).tolist()
    correlation = group_correlation([GroupSum(*one) for one in zip(sizes, hits, hits, strict=True)])
    return max(1.0, 1 - correlation + correlation * float(of_group @ of_group) / float(weights @ weights))


def _fisher_of_effective(labelled: Bools, holds: Bools, design_effect: float) -> float:
    """Return the p value of Fisher's exact test of numbers divided by a design effect, rounded towards no effect."""
    hits, n = int((labelled & holds).sum()), int(labelled.sum())
    other_hits, others = int((~labelled & holds).sum()), int((~labelled).sum())
    if not n or not others:
        return 1.0
    few, many = max(1, round(n / design_effect)), max(1, round(others / design_effect))
    more = hits * others > other_hits * n
    of_few, of_many = hits / n * few, other_hits / others * many
    first, second = (floor(of_few + _ROUNDING), ceil(of_many - _ROUNDING)) if more else (
        ceil(of_few - _ROUNDING), floor(of_many + _ROUNDING))  # fmt: skip
    return _fisher(first, few, first + second, few + many)


def _fisher(hits: int, n: int, facts: int, total: int) -> float:
    least = max(0, facts - (total - n))
    chances = [hypergeometric(number, n, facts, total) for number in range(least, min(facts, n) + 1)]
    return min(1.0, 2 * min(sum(chances[: hits - least + 1]), sum(chances[hits - least :])))


_ROUNDING = 1e-9
