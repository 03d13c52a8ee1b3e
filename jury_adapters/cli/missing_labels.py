"""Messages about cases without a human label and files without cases, which name the cause."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from jury_adapters.core.column_checks import is_verdict
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import human_label
from jury_adapters.core.results_file import cases_named_in, is_result
from jury_adapters.core.row_files import first_row, read_rows


class UnreadRows(NamedTuple):
    """Rows of a file that could not be read, so that their labels are unknown.

    Attributes:
        number: the number of these rows.
        first: the line and the problem of the first; empty without any.
    """

    number: int = 0
    first: str = ""

    @classmethod
    def of(cls, file: Path) -> UnreadRows:
        """Return the rows of a file that are not even rows, such as those in another encoding.

        Raises:
            InputError: the file cannot be read as a whole.
        """
        problems = [f"{row.unit} {row.line}: {row.error}" for row in read_rows(file) if row.values is None]
        return cls(len(problems), problems[0] if problems else "")

    @property
    def note(self) -> str:
        """The end of a message which says that these rows may be the cause; empty without any."""
        if not self.number:
            return ""
        return f"; {counted(self.number, 'row')} could not be read, the first of them: {self.first}"


def refuse_results(file: Path) -> None:
    """Refuse results where labelled cases are expected, and name the file that was judged.

    Raises:
        InputError: the file holds results.
    """
    row = first_row(file)
    if is_result(row) and row is not None and is_verdict((row.values or {}).get("verdict")):
        judged = cases_named_in(file)
        raise InputError(
            f"{file} holds results, which keep labels and no texts; give the cases that were judged"
            + ("" if judged is None else f": {judged}")
        )


def no_such_labels(column: str, columns: Iterable[str]) -> str:
    """Return the message for a column of labels that is not there, with the columns that there are."""
    names = sorted(columns)
    close = get_close_matches(column, names, n=1, cutoff=0.7)
    hint = f". Did you mean {plain_repr(close[0])}?" if close else "; name it with --label-column."
    listed = ", ".join(names[:10]) or "none"
    return f"no case has a label in the column {plain_repr(column)}{hint} There are: {listed}"


def why_no_labels(file: Path, column: str, columns: Iterable[str], unread: UnreadRows) -> str:
    """Return the message for a column of a file without labels, with the cause.

    Args:
        file: the file.
        column: the name of the column.
        columns: the columns that there are, for a name that no row has.
        unread: the rows that could not be read.

    Raises:
        InputError: the file cannot be read as a whole.
    """
    name, found = plain_repr(column), False
    for row in read_rows(file):
        found = found or column in (row.values or ()) or column in row.empty
        if not unread.number and human_label((row.values or {}).get(column)) is not None:
            return (
                f"{file}: the column {name} is read as a field of the cases, such as their answer or reference, and "
                "not as their labels; give it a name that no field has, such as 'gold'"
            )
    if not found:
        return f"{file}: {no_such_labels(column, columns)}{unread.note}"
    if unread.number:
        return f"{file}: no case that could be read has a label in the column {name}{unread.note}"
    return f"{file}: no case has a label in the column {name}, which is empty in every row"
