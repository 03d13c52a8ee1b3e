"""Difference of two pass rates, corrected by human labels of the answers of both runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import TypeAlias

from jury_adapters.calibration.estimates import Estimate, undefined
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted
from jury_adapters.core.statistics import fisher_less
from jury_adapters.report.answer_labels import AnswerLabels, PairLabels
from jury_adapters.report.matching import Matching
from jury_adapters.statistics.differences import CORRECTED

Opinions: TypeAlias = list[bool | None]
"""Verdicts of the cases of a run: True for PASS, False for FAIL, None for neither."""


def corrected_difference(
    verdicts: tuple[Opinions, Opinions],
    labels: PairLabels,
    known: AnswerLabels,
    groups: Sequence[Hashable],
    matching: Matching,
) -> Estimate:
    """Return the difference corrected by human labels.

    Args:
        verdicts: the verdicts of the pairs, those of the first run and those of the second.
        labels: the human labels of the pairs.
        known: all human labels.
        groups: the group of each pair; empty for independent ones.
        matching: the pairs.

    Raises:
        ConfigurationError: there are no pairs, the runs judged the same answers, or no label belongs to any of them.
    """
    if not matching.pairs:
        raise ConfigurationError(
            "labels correct the difference of cases that are in both runs, and "
            f"{matching.why_unpaired or 'no case is'}; give both answers to a question the same id"
        )
    if matching.same_answers:
        raise ConfigurationError(
            "both runs judged the same answers, so human labels pass as many of the one as of the other, and labels "
            "cannot correct the difference; which jury agrees more with human labels: jury replay"
        )
    from jury_adapters import statistics

    if not any(label is not None for label in chain(labels.a, labels.b)):
        why = "labels are found by the content of the case, else by its id with the text of the answer"
        if known.under_other_ids:
            why = (
                "an answer has the content of a label under another id, which is another item; give the labels the ids "
                "of the compared cases, or none"
            )
        raise ConfigurationError(f"none of the {counted(known.unmatched, 'label')} belongs to a compared answer; {why}")
    selected = _why_selected(labels, matching.one_answer)
    if selected:
        return undefined(CORRECTED, len(labels.a), selected)
    return statistics.compare(*verdicts, labels_a=labels.a, labels_b=labels.b, groups=groups)


def _why_selected(labels: PairLabels, one_answer: Sequence[bool]) -> str:
    """Return why the pairs with both labels say nothing about all pairs; empty if nothing shows it.

    The label of an answer is also that of an equal answer. So labels of one system's answers label both answers of
    the pairs in which these are equal, and of no others. The two labels of such a pair never differ.
    """
    labelled = labels.complete
    n, others = sum(labelled), len(labelled) - sum(labelled)
    same = sum(map(all, zip(labelled, one_answer, strict=True)))
    rest = sum(one_answer) - same
    p = 2 * min(fisher_less(same, n, rest, others), fisher_less(rest, others, same, n))
    once = sum((a is None) != (b is None) for a, b in zip(labels.a, labels.b, strict=True))
    lopsided = same and once > n - same  # most pairs with different answers are left out, but none with equal ones
    if n and (p < _NOT_RANDOM or lopsided or (same == n and rest < others)):
        return (
            f"both answers are the same in {same:,} of {counted(n, 'case')} with both labels, and in {rest:,} of the "
            f"{others:,} others, so the labelled cases are not a random sample; label both answers of a random part of "
            "the cases"
        )
    if n and n == sum(map(all, zip(labelled, labels.shared, strict=True))):
        return (
            f"in each of the {counted(n, 'case')} with both labels, one label is that of both answers, which are the "
            "same, so the labels pass as many answers of a as of b"
        )
    return ""


_NOT_RANDOM = 0.001  # p value below which labelled cases are not taken for a random sample
