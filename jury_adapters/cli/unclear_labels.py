"""Hint that human labels have no known meaning, before a run is paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from jury_adapters.cli.labelled_cases import NAME_PASS_LABELS
from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import Case
from jury_adapters.core.human_labels import LabelMeanings, human_label, tally


def report_unclear_labels(cases: Iterable[Case], column: str, file: Path, messages: Messages) -> None:
    """Report human labels that mean neither PASS nor FAIL by themselves; a jury with these labels gives them a meaning.

    Args:
        cases: the cases to judge, without ``--pass-label``.
        column: the column with the labels.
        file: the file of the cases, for the message.
        messages: prints it.
    """
    labels = (human_label(case.metadata.get(column)) for case in cases)
    found = Counter(label for label in labels if label is not None)
    meanings = LabelMeanings({}, only=False)
    if any(meanings.status_of(label) is None for label in found):
        messages.info(
            f"{file}: human labels are {tally(found)}. Unless the jury gives the same labels, {NAME_PASS_LABELS}; "
            "otherwise the figures against human labels are missing"
        )
