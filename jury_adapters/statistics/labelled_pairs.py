"""Test of whether the pairs of cases with labels of both answers can be a random sample of all pairs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Self, TypeAlias

from jury_adapters.core.formatting import counted

Opinions: TypeAlias = list[bool | None]
"""Verdicts of the cases of a run: True for PASS, False for FAIL, None for neither."""

NO_SAMPLE = (
    "are not a random sample; label both answers of a random part of the cases (jury review --sample N, on the results "
    "of both systems)"
)


def why_selected_by_verdicts(
    labelled: Sequence[bool], verdicts: tuple[Opinions, Opinions], groups: Sequence[Hashable] = ()
) -> str:
    """Return why the labelled pairs are not a random sample of all; empty if the verdicts do not show it.

    Three facts are tested, each by :func:`jury_adapters.calibration.random_samples.random_sample_p_value`, at p <
    0.001: the verdicts of a pair differ, that of a is PASS, that of b is PASS. A random sample has about the same share
    of each as the other pairs. Labels of the cases that changed, or of those that failed, have another. The reason
    names the fact with the smallest p value. A random sample is refused with a probability of 0.003 at most
    (Bonferroni).

    Args:
        labelled: whether each pair has labels of both answers.
        verdicts: the verdicts of the pairs, those of a and those of b.
        groups: the group of each pair; empty for independent ones. Labels may be those of random pairs, or of random
            groups.

    Source: R. A. Fisher (1935), *The Design of Experiments*, chapter II, for the exact test.
    """
    from jury_adapters.calibration.random_samples import NOT_RANDOM, random_sample_p_value

    facts = {
        "the verdicts differ": [a != b for a, b in zip(*verdicts, strict=True)],
        "the verdict of a is PASS": [verdict is True for verdict in verdicts[0]],
        "the verdict of b is PASS": [verdict is True for verdict in verdicts[1]],
    }
    p_values = {fact: random_sample_p_value(labelled, holds, groups) for fact, holds in facts.items()}
    clearest = min(facts, key=lambda fact: p_values[fact])
    if p_values[clearest] >= NOT_RANDOM:
        return ""
    return LabelledShares.of(labelled, facts[clearest]).sentence(clearest)


class LabelledShares(NamedTuple):
    """Numbers of labelled pairs and of the others, and of those for which a fact holds."""

    hits: int
    n: int
    other_hits: int
    others: int

    @classmethod
    def of(cls, labelled: Sequence[bool], holds: Sequence[bool]) -> Self:
        """Count the pairs."""
        n, hits = sum(labelled), sum(map(all, zip(labelled, holds, strict=True)))
        return cls(hits, n, sum(holds) - hits, len(labelled) - n)

    def sentence(self, fact: str, by_one: int = 0) -> str:
        """Return the reason why the labelled pairs are not a random sample.

        Args:
            fact: what holds of these pairs.
            by_one: the number of labelled pairs in which one label is that of both answers, if that matters.
        """
        shared = f" (one label is that of both answers in {by_one:,} of them)" if by_one else ""
        return (
            f"{fact} in {self.hits:,} of {counted(self.n, 'case')} with both labels{shared}, and in "
            f"{self.other_hits:,} of the {self.others:,} others, so the labelled cases {NO_SAMPLE}"
        )
