"""Comparison of votes with human labels, as ``jury judge`` and reports show it."""

from __future__ import annotations

from jury_adapters.calibration.types import MISSING, Value
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.label_comparison import LabelComparison

_MANY_VALUES = 20


def compare_with_labels(votes: Votes) -> LabelComparison | None:
    """Compare the jury and its jurors with human labels; for votes without verdicts, only the jurors.

    Args:
        votes: the batch.

    Returns:
        The figures; None without human labels, and for measured scores, which equal no label.

    >>> rows = [["good", "good"], ["good", "bad"], ["bad", "bad"]]
    >>> votes = Votes.from_rows(rows, jurors=["a", "b"], gold=["good", "bad", "bad"], pass_label="good")
    >>> [juror.false_passes.hits for juror in compare_with_labels(votes).jurors]
    [1, 0]
    """
    measured = votes.numeric and (not votes.has_gold or len(votes.labels) > _MANY_VALUES)
    found = _counted_again(votes) if votes.label_comparison is None else votes.label_comparison
    return found if found.cases and (len(votes.verdicts) or not measured) else None


def _counted_again(votes: Votes) -> LabelComparison:
    """Count the votes of a part of a batch, whose verdicts are unknown."""
    given = [label for label in votes.pass_labels if label in votes.labels] or [votes.pass_label or "PASS"]
    found = LabelComparison([label for label in given if label != "PASS"])
    groups = votes.groups.tolist() if votes.grouped else [None] * len(votes.items)
    for codes, gold, group in zip(votes.codes.tolist(), votes.gold.tolist(), groups, strict=True):
        cast = {name: _word(votes.labels, code) for name, code in zip(votes.jurors, codes, strict=True)}
        found.add_votes(_word(votes.labels, gold), cast, group)
    return found


def _word(labels: tuple[Value, ...], code: int) -> str | None:
    if code == MISSING:
        return None
    label = labels[code]
    return label if isinstance(label, str) else f"{label:g}"
