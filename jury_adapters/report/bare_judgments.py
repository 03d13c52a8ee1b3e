"""Judgments that do not say which case they are about."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import Status
from jury_adapters.core.verdict import Verdict
from jury_adapters.report.entries import Entry

_log = logging.getLogger(__name__)


def warn_of_bare_judgments(entries: Iterable[Entry]) -> None:
    """Log the number of judgments of which no case is known.

    The verdict of a jury keeps the id and the metadata of its case, and the judgment of a single judge does not. A row
    that could not be read has no case either; its judgment is an ERROR.
    """
    bare = sum(
        entry.case is None
        and entry.run is None
        and not isinstance(entry.judgment, Verdict)
        and entry.judgment.status is not Status.ERROR
        for entry in entries
    )
    if bare:
        _log.warning(
            "%s no case: the report has no id, text, group or human label for %s. A single judge keeps none in its "
            "judgment; judge_pairs() yields each case with its judgment",
            counted(bare, "judgment has", "judgments have"), "it" if bare == 1 else "them",
        )  # fmt: skip
