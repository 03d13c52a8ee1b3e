"""Labelled cases of a comparison that are not a random sample of all, and labels that cannot tell two systems apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeAlias

from jury_adapters.core.formatting import counted
from jury_adapters.report.answer_labels import PairLabels

Opinions: TypeAlias = list[bool | None]
"""Verdicts of the cases of a run: True for PASS, False for FAIL, None for neither."""


def why_selected(
    labels: PairLabels,
    one_answer: Sequence[bool],
    verdicts: tuple[Opinions, Opinions],
    groups: Sequence[Hashable] = (),
) -> str:
    """Return why the pairs with both labels say nothing about all pairs; empty if nothing shows it.

    The label of an answer is also that of an equal answer. So labels of one system's answers label both answers of
    the pairs in which these are equal, and of no others. The two labels of such a pair never differ. Other selections
    show in the verdicts: labels of the cases that changed, or of those that failed.

    Args:
        labels: the human labels of the pairs.
        one_answer: for each pair, whether both answers are the same.
        verdicts: the verdicts of the pairs, those of the first run and those of the second.
        groups: the group of each pair; empty for independent ones. Labels may be those of random pairs, or of random
            groups.
    """
    from jury_adapters.calibration.random_samples import NOT_RANDOM, random_sample_p_value

    labelled, shares = labels.complete, _Shares.of(labels.complete, one_answer)
    if not shares.n:
        return ""
    once = labels.once
    if shares.hits == shares.n and shares.other_hits < shares.others:
        return shares.sentence(_SAME)
    if shares.hits > 0 and once > shares.n - shares.hits:  # pairs with equal answers never have one label only
        return (
            f"of the cases with different answers, {once:,} have a label of one answer only and "
            f"{shares.n - shares.hits:,} of both; where both answers are the same, one label is that of both "
            f"({counted(shares.hits, 'case')}), so the cases with both labels {_NO_SAMPLE}"
        )
    facts = {
        _SAME: one_answer,
        "the verdicts differ": [a != b for a, b in zip(*verdicts, strict=True)],
        "the verdict of a is PASS": [verdict is True for verdict in verdicts[0]],
        "the verdict of b is PASS": [verdict is True for verdict in verdicts[1]],
    }
    p_values = {fact: random_sample_p_value(labelled, holds, groups) for fact, holds in facts.items()}
    clearest = _SAME if p_values[_SAME] < NOT_RANDOM else min(facts, key=lambda fact: p_values[fact])
    if p_values[clearest] < NOT_RANDOM:
        by_one = sum(map(all, zip(labelled, labels.shared, strict=True))) if clearest is _SAME and once else 0
        return _Shares.of(labelled, facts[clearest]).sentence(clearest, by_one)
    if shares.n == sum(map(all, zip(labelled, labels.shared, strict=True))):
        return (
            f"in each of the {counted(shares.n, 'case')} with both labels, one label is that of both answers, which "
            "are the same, so the labels pass as many answers of a as of b"
        )
    return ""


class _Shares(NamedTuple):
    """Numbers of labelled pairs and of the others, and of those for which a fact holds."""

    hits: int
    n: int
    other_hits: int
    others: int

    @classmethod
    def of(cls, labelled: Sequence[bool], holds: Sequence[bool]) -> _Shares:
        n, hits = sum(labelled), sum(map(all, zip(labelled, holds, strict=True)))
        return cls(hits, n, sum(holds) - hits, len(labelled) - n)

    def sentence(self, fact: str, by_one: int = 0) -> str:
        shared = f" (one label is that of both answers in {by_one:,} of them)" if by_one else ""
        return (
            f"{fact} in {self.hits:,} of {counted(self.n, 'case')} with both labels{shared}, and in "
            f"{self.other_hits:,} of the {self.others:,} others, so the labelled cases {_NO_SAMPLE}"
        )


_SAME = "both answers are the same"
_NO_SAMPLE = (
    "are not a random sample; label both answers of a random part of the cases (jury review --sample N, on the results "
    "of both systems)"
)
