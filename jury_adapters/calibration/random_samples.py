"""Test of whether the items with human labels can be a random sample of all items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from jury_adapters.calibration.types import Bools, Ints
from jury_adapters.core.formatting import counted
from jury_adapters.core.statistics import hypergeometric

NOT_RANDOM = 0.001  # p value below which labelled items are not taken for a random sample


def why_not_random(labelled: Bools, facts: dict[str, Bools], groups: Ints, *, items: str = "item") -> str:
    """Return why the labelled items are not a random sample of all; empty if no fact shows it.

    Args:
        labelled: whether each item has a label.
        facts: by description, whether a fact holds of each item. A random sample has about the same share of them.
        groups: the group of each item. Whole groups may be labelled, so the items of a group are compared with each
            other only; if each item is a group of its own, all items are compared.
        items: the noun for an item.
    """
    alone = len(np.unique(groups)) == len(groups)
    p_values = {fact: association_p_value(labelled, holds, () if alone else groups) for fact, holds in facts.items()}
    clearest = min(facts, key=lambda fact: p_values[fact])
    if p_values[clearest] >= NOT_RANDOM:
        return ""
    holds, n = facts[clearest], int(labelled.sum())
    return (
        f"{clearest} in {int((labelled & holds).sum()):,} of the {counted(n, items)} with a label and in "
        f"{int((~labelled & holds).sum()):,} of the {len(labelled) - n:,} others, so the labelled {items}s are not a "
        f"random sample; label a random part of all {items}s"
    )


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
    places: dict[Hashable, int] = {}
    of = np.array([places.setdefault(group, len(places)) for group in groups], dtype=np.int64)
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
