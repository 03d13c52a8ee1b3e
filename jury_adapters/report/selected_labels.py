"""Labelled cases of a comparison that are selected by their answers, and labels that cannot tell two systems apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from jury_adapters.core.formatting import counted
from jury_adapters.report.answer_labels import PairLabels
from jury_adapters.statistics.labelled_pairs import NO_SAMPLE, LabelledShares


def why_selected(labels: PairLabels, one_answer: Sequence[bool], groups: Sequence[Hashable] = ()) -> str:
    """Return why the pairs with both labels say nothing about all pairs; empty if their answers do not show it.

    The label of an answer is also that of an equal answer. So labels of one system's answers label both answers of
    the pairs in which these are equal, and of no others. The two labels of such a pair never differ. Selections that
    show in the verdicts are found by
    :func:`~jury_adapters.statistics.labelled_pairs.why_selected_by_verdicts`.

    Args:
        labels: the human labels of the pairs.
        one_answer: for each pair, whether both answers are the same.
        groups: the group of each pair; empty for independent ones. Labels may be those of random pairs, or of random
            groups.
    """
    from jury_adapters.calibration.random_samples import NOT_RANDOM, random_sample_p_value

    labelled, shares = labels.complete, LabelledShares.of(labels.complete, one_answer)
    if not shares.n:
        return ""
    once = labels.once
    if shares.hits == shares.n and shares.other_hits < shares.others:
        return shares.sentence(_SAME)
    if shares.hits > 0 and once > shares.n - shares.hits:  # pairs with equal answers never have one label only
        return (
            f"of the cases with different answers, {once:,} have a label of one answer only and "
            f"{shares.n - shares.hits:,} of both; where both answers are the same, one label is that of both "
            f"({counted(shares.hits, 'case')}), so the cases with both labels {NO_SAMPLE}"
        )
    by_one = sum(map(all, zip(labelled, labels.shared, strict=True)))
    if random_sample_p_value(labelled, one_answer, groups) < NOT_RANDOM:
        return shares.sentence(_SAME, by_one if once else 0)
    if shares.n == by_one:
        return (
            f"in each of the {counted(shares.n, 'case')} with both labels, one label is that of both answers, which "
            "are the same, so the labels pass as many answers of a as of b"
        )
    return ""


_SAME = "both answers are the same"
