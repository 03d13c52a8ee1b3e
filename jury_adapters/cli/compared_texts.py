"""Comparison of labels that name no answer with the cases that they are matched with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from jury_adapters.cli.case_columns import TEXTS, Columns, columns_of_row, shown_apart
from jury_adapters.cli.streams import Messages
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.field_names import FIELD_NAMES
from jury_adapters.core.formatting import counted
from jury_adapters.core.unnamed_answer import names_an_answer


class _Case(NamedTuple):
    """Case of a label: its name, its columns, and its answer (empty without one, None if unknown)."""

    name: str
    columns: Columns
    answer: str | None


@dataclass
class _Column:
    """Column of labels with texts that are no known field.

    Attributes:
        name: its name.
        is_text: whether a value has several words.
        same: the number of labels for which it is the judged answer.
        differing: the line of each label for which it is another text.
    """

    name: str
    is_text: bool
    same: int
    differing: list[int]


class ComparedTexts:
    """Texts in the rows of labels that name no answer, and the texts of the cases that have these labels.

    Args:
        file: the file of labels.
        rows: its rows by line; None for an unreadable row.
        column: the column with the labels.
    """

    def __init__(self, file: Path, rows: Mapping[int, Columns | None], column: str) -> None:
        self._file, self._rows, self._label_column = file, rows, column
        self._cases: dict[int, _Case] = {}

    def add(self, line: int, name: str, case: Columns, answer: str | None) -> None:
        """Add the case of a label.

        Args:
            line: the line of the label.
            name: the name of the case.
            case: its columns; see :func:`jury_adapters.cli.case_columns.columns_of_case`.
            answer: its answer; an empty text without one, and None if it is unknown.
        """
        self._cases.setdefault(line, _Case(name, case, answer))

    def check(self, matched_by: str, messages: Messages | None) -> None:
        """Refuse labels of other answers, and report texts that differ or could not be compared.

        Args:
            matched_by: the words for what the labels are matched by.
            messages: prints the reports.

        Raises:
            InputError: a column whose name is one for answers has other texts than the answers that were judged.
        """
        columns = list(self._columns())
        for column in columns:
            if column.differing and _holds_answers(column):
                self._refuse(column)
        if messages is None:
            return
        self._report_questions(messages)
        self._report_answers([column for column in columns if column.is_text], matched_by, messages)

    def _columns(self) -> Iterator[_Column]:
        """Yield the columns with texts that are neither a known field nor a column of the cases."""
        rows = {line: columns_of_row(self._rows.get(line) or {}, self._label_column) for line in self._cases}
        theirs = {name for case in self._cases.values() for name in case.columns}
        for name in dict.fromkeys(name for row in rows.values() for name in row):
            if name in TEXTS or name in theirs:
                continue
            texts = {line: row[name] for line, row in rows.items() if isinstance(row.get(name), str)}
            judged = {line: answer for line in texts if (answer := self._cases[line].answer)}
            differing = [line for line, answer in judged.items() if not _alike(texts[line], answer)]
            several = any(len(text.split()) > 1 for text in texts.values())
            yield _Column(name, several, len(judged) - len(differing), differing)

    def _refuse(self, column: _Column) -> None:
        line = column.differing[0]
        name, _, answer = self._cases[line]
        ours, theirs = shown_apart((self._rows[line] or {})[column.name], answer)
        raise InputError(
            f"{self._file}, line {line}: the column {plain_repr(column.name)} is {ours}, and the judged answer of "
            f"{name} is {theirs}; they differ for {self._share(len(column.differing))}. A label belongs to an answer. "
            "If the column holds the answers, call it `answer`, and labels of other answers do not count; if not, give "
            "it another name"
        )

    def _report_answers(self, columns: list[_Column], matched_by: str, messages: Messages) -> None:
        """Report that answers were not compared, unless a column has all of them or no column could have them."""
        if not columns or any(column.same and not column.differing for column in columns):
            return
        head = f"{self._file}: labels are matched by {matched_by} alone; "
        some = next((column for column in columns if column.same), None)
        if some is not None:
            messages.info(
                f"{head}the column {plain_repr(some.name)} is the judged answer for {self._share(some.same)}, and "
                f"another text for {len(some.differing):,}; if it holds the answers, call it `answer`, and labels of "
                "other answers do not count",
                "yellow",
            )
        elif any(case.answer for case in self._cases.values()):
            names = ", ".join(plain_repr(column.name) for column in columns[:_MOST_NAMED])
            messages.info(f"{head}answers are not compared, because no column is known to hold them (there is {names})")
        elif any(case.answer is None for case in self._cases.values()):
            messages.info(
                f"{head}answers are not compared, because those that were judged are not known; give the cases: "
                "--cases CASES"
            )

    def _report_questions(self, messages: Messages) -> None:
        """Report the questions of labels that are not those of their cases."""
        differing = [
            case.name
            for line, case in self._cases.items()
            if (theirs := case.columns.get("question"))
            and (ours := columns_of_row(self._rows.get(line) or {}, self._label_column).get("question"))
            and not _alike(ours, theirs)
        ]
        if differing:
            messages.info(
                f"{self._file}: the question of {self._share(len(differing))} is not that of the case with the same "
                f"id, such as that of {differing[0]}",
                "yellow",
            )

    def _share(self, labels: int) -> str:
        return f"{labels:,} of {counted(len(self._cases), 'label')}"


def _holds_answers(column: _Column) -> bool:
    """Whether a column is named like answers, and has texts; `comment_text` needs a judged answer."""
    ambiguous = column.name.casefold().endswith(FIELD_NAMES["answer"].in_part)
    return names_an_answer(column.name) and (column.same > 0 or (column.is_text and not ambiguous))


def _alike(one: object, other: object) -> bool:
    """Whether two texts have the same words."""
    return str(one).split() == str(other).split()


_MOST_NAMED = 5
