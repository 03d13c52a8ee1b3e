"""Difference of two pass rates, corrected by human labels of the answers of both runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from jury_adapters.calibration.estimates import Estimate, undefined
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted, percent
from jury_adapters.report.answer_labels import AnswerLabels, PairLabels
from jury_adapters.report.matching import Matching
from jury_adapters.report.selected_labels import why_selected
from jury_adapters.statistics.differences import CORRECTED
from jury_adapters.statistics.labelled_pairs import Opinions


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

    if not known.matched:
        why = "labels are found by the content of the case, else by its id with the text of the answer"
        if known.under_other_ids:
            why = (
                "an answer has the content of a label under another id, which is another item; give the labels the ids "
                "of the compared cases, or none"
            )
        raise ConfigurationError(f"none of the {counted(known.unmatched, 'label')} belongs to a compared answer; {why}")
    compare = statistics.compare  # says what is missing without NumPy
    selected = _why_contradicted(labels) or why_selected(labels, matching.one_answer, groups)
    if selected:
        return undefined(CORRECTED, len(labels.a), selected)
    known_a, known_b = (  # a label beside contradicting ones does not make a pair of which one answer was labelled
        [None if left_out else label for label, left_out in zip(one, labels.contradicted, strict=True)]
        for one in (labels.a, labels.b)
    )
    found = compare(*verdicts, labels_a=known_a, labels_b=known_b, groups=groups)
    return _allow_for_contradicted(found, verdicts, labels, groups)


def _why_contradicted(labels: PairLabels) -> str:
    """Return why contradicting labels leave no random sample; empty if there are few of them."""
    from jury_adapters.calibration.label_samples import MOST_CONTRADICTED

    count = sum(labels.contradicted)
    drawn = sum(labels.complete) + count
    if count <= MOST_CONTRADICTED * drawn:
        return ""
    return (
        f"human labels contradict each other on {count:,} of the {counted(drawn, 'case')} of which both answers were "
        f"labelled ({percent(count / drawn)}), and the others are not a random sample; let one more reviewer settle "
        "them"
    )


def _allow_for_contradicted(
    found: Estimate, verdicts: tuple[Opinions, Opinions], labels: PairLabels, groups: Sequence[Hashable]
) -> Estimate:
    """Return a corrected difference that allows for the cases which are left out because labels contradict each other.

    As for a pass rate (:func:`jury_adapters.calibration.label_samples.allow_for_contradicted`), the labelled cases are
    a random sample only with these. Let e be the mean of ``d - lam * f`` of the cases with both labels. That of the
    contradicted cases is known up to their labels, so the interval widens by their share of the labelled cases, times
    the distance of e to its lowest and its highest possible value.
    """
    from jury_adapters.statistics.comparing import widened

    count = sum(labels.contradicted)
    if not count or found.value is None:
        return found
    drawn = sum(labels.complete) + count
    lam = found.details["lam"]
    assert isinstance(lam, float)
    lowest = highest = known = 0.0
    rows = zip(*verdicts, labels.a, labels.b, labels.complete, labels.contradicted, strict=True)
    for a, b, of_a, of_b, complete, contradicted in rows:
        moved = lam * (_half(b) - _half(a))
        if complete:
            known += _half(of_b) - _half(of_a) - moved
        elif contradicted:
            lowest += float(of_b is True) - float(of_a is not False) - moved
            highest += float(of_b is not False) - float(of_a is True) - moved
    mean, share = known / (drawn - count), count / drawn
    it = "it" if count == 1 else "them"
    return widened(
        found,
        share * max(0.0, mean - lowest / count),
        share * max(0.0, highest / count - mean),
        groups=groups,
        warning=f"human labels contradict each other on {counted(count, 'case')} of which both answers were labelled; "
        f"the interval allows for any label of {it}",
    )


def _half(passed: bool | None) -> float:
    """Return a verdict or a label as a number; an abstention is half a pass."""
    return 0.5 if passed is None else float(passed)
