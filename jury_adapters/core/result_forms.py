"""Forms of the results in a file, for commands that need the texts of a few results only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from jury_adapters.core.answer_facts import AnswerFacts
from jury_adapters.core.form_reader import FormReader
from jury_adapters.core.forms import Form
from jury_adapters.core.results_file import answer_of, case_of, read_verdict, unit_of
from jury_adapters.core.row_files import read_whole_rows
from jury_adapters.core.values import JsonValue


class ResultForm(NamedTuple):
    """Form of one line of a results file, with what identifies its case.

    Attributes:
        form: the form of the judgment.
        metadata: the metadata of the case, as far as the judgment has them.
        line: the line of the case in its own file, from 1, or None.
        item_id: the item's own id, or None.
        key: the hash of the case's content, or None.
        unit: the unit of ``line``: lines, or items of a JSON list.
        answer: the length of the answer and the model that wrote it; None if they are unknown.
    """

    form: Form
    metadata: Mapping[str, JsonValue]
    line: int | None
    item_id: str | None
    key: str | None
    unit: str
    answer: AnswerFacts | None


def read_forms(path: str | Path) -> Iterator[ResultForm]:
    """Yield the forms of the results of a file in order, which takes half the time of reading the results.

    The values of the first result of each form are checked. Of others, only those are read that belong to the form.

    Raises:
        InputError: a line is not a result; the message names the line.
    """
    reader = FormReader()
    for at, values in read_whole_rows(path):
        form, metadata = read_verdict(path, at, values, reader.read)
        line, item_id, key, cases = case_of(values)
        yield ResultForm(form, metadata, line, item_id, key, unit_of(cases), answer_of(values))
