"""Message of ``jury report --agreement`` about a bias that cannot be measured, because the answers are not known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.cli.streams import Messages
from jury_adapters.core.results_file import keeps_answer_facts

if TYPE_CHECKING:
    from jury_adapters.calibration.votes import Votes


def report_unknown_lengths(votes: Votes, results: Path, messages: Messages) -> None:
    """Say that there is no verbosity bias where the results do not hold the lengths of the answers."""
    import numpy as np

    from jury_adapters.calibration.estimates import FEW_ITEMS

    pairwise = {"A", "B"} <= set(votes.labels)
    comparable = votes.numeric or votes.pass_code is not None or pairwise
    if len(votes.items) < FEW_ITEMS or not comparable or int(np.isfinite(votes.lengths).sum()) >= FEW_ITEMS:
        return
    if not keeps_answer_facts(results):
        messages.info(
            f"no verbosity bias is measured, because {results} does not hold the lengths of the answers; give the file "
            "that was judged: --cases CASES"
        )
