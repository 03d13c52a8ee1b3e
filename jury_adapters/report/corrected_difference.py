"""Difference of two pass rates, corrected by human labels of the answers of both runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain

from jury_adapters.calibration.estimates import Estimate, undefined
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted
from jury_adapters.report.answer_labels import AnswerLabels, PairLabels
from jury_adapters.report.matching import Matching
from jury_adapters.report.selected_labels import Opinions, why_selected
from jury_adapters.statistics.differences import CORRECTED


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
            f"{matching.why_unpaired or 'no case is'}. If both runs answer the same questions, give both answers to a "
            "question the same id. If the questions are different ones, as of two months, correct each pass rate by "
            "its labels: jury report --agreement on each file"
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
    compare = statistics.compare  # says what is missing without NumPy
    selected = why_selected(labels, matching.one_answer, verdicts, groups)
    if selected:
        return undefined(CORRECTED, len(labels.a), selected)
    return compare(*verdicts, labels_a=labels.a, labels_b=labels.b, groups=groups)
