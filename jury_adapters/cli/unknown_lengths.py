"""Message of ``jury report --agreement`` about a bias that cannot be measured, because the answers are not known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.cli.streams import Messages
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import visible
from jury_adapters.core.results_file import cases_named_in, read_results
from jury_adapters.core.row_files import first_row

if TYPE_CHECKING:
    from jury_adapters.calibration.votes import Votes


def report_unknown_lengths(votes: Votes, results: Path, cases: Path | None, messages: Messages) -> None:
    """Say why there is no verbosity bias, where there would be one if the file that was judged were at hand.

    Args:
        votes: the votes of the results.
        results: the file of the results.
        cases: the file that was judged, if it was given.
        messages: prints the message.
    """
    import numpy as np

    from jury_adapters.calibration.estimates import FEW_ITEMS

    pairwise = {"A", "B"} <= set(votes.labels)
    comparable = votes.numeric or votes.pass_code is not None or pairwise
    if len(votes.items) < FEW_ITEMS or not comparable or int(np.isfinite(votes.lengths).sum()) >= FEW_ITEMS:
        return
    why = _why_unknown(results, cases)
    if why:
        messages.info(
            f"no verbosity bias is measured, because the lengths of the answers are not known: {why}: --cases CASES"
        )


def _why_unknown(results: Path, cases: Path | None) -> str:
    """Return what is missing, and what to give; empty if the cases are known and have no answers."""
    source = cases or cases_named_in(results)
    if source is not None:
        from jury_adapters.core.judged_file import JudgedFile

        try:
            judged: JudgedFile[bool] = JudgedFile(results, source, lambda _: True)
        except InputError as error:
            return f"{error}; give the file that was judged"
        found = [judged.of(result.key, result.line) for result in read_results(results)]
        if all(found):
            return ""
        return (
            f"only {found.count(True):,} of {len(found):,} cases are in {source} as they were judged; give the file "
            "that was judged, as it was"
        )
    first = first_row(results)
    name = first.values.get("cases") if first is not None and first.values is not None else ""
    what = f"names {visible(str(name))}, which is not there" if name else "names no file of cases"
    return f"{results} {what}; give the file that was judged"
