"""Human labels of a file, and the cases that they belong to.

A label belongs to an answer. Answers of two systems to the same questions often have the same ids, so an id alone does
not tell whose answer was labelled: a label whose row has an answer counts for that answer only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jury_adapters.cli.case_columns import Columns, columns_of_row
from jury_adapters.cli.compared_texts import ComparedTexts
from jury_adapters.cli.label_file import Said, said_in, said_of
from jury_adapters.cli.label_order import Matching, find_matching
from jury_adapters.cli.missing_labels import UnreadRows, why_no_labels
from jury_adapters.cli.reviewer_conflicts import contradictions, describe_left_out, final_labels, latest
from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import EMPTY_KEY, Case, item_id_in
from jury_adapters.core.case_files import columns_in
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import GOLD, human_label
from jury_adapters.core.row_files import first_row, read_rows
from jury_adapters.core.rows import Row


class _Row(NamedTuple):
    """Label with what its row says of the case: the name, the hash of the content, and the answer.

    Attributes:
        label: the label; None for a case on which reviewers contradict each other.
        line: its line, from 1; None for what `jury review` wrote.
        said: the labels of these reviewers.
        chosen: how reviewers chose the case.
    """

    label: str | None
    name: str
    has_id: bool
    key: str | None
    answer: str | None
    line: int | None = None
    said: tuple[Said, ...] = ()
    chosen: frozenset[str] = frozenset()


class GivenLabels:
    """Human labels of a file; :meth:`of` finds the label of a case.

    Args:
        file: what `jury review` wrote, or rows with a column of labels.
        column: the name of this column; for a file of `jury review` always ``gold``.
        field_map: the field map of the cases, for the rows in which its paths exist.

    Raises:
        InputError: the file cannot be read, no row has a label, or rows of one case have different labels.
    """

    def __init__(self, file: Path, column: str = GOLD, field_map: FieldMap | None = None) -> None:
        self._file, self._column = file, column
        first = first_row(file)
        reviewed = first is not None and first.values is not None and said_of(first.values) is not None
        if reviewed and column != GOLD:
            raise InputError(
                f"{file}: jury review wrote its labels into the column {plain_repr(GOLD)}; leave out --label-column"
            )
        self._lines: dict[int, Columns | None] = {}
        if not reviewed:
            paths = None if field_map is None else paths_in(file, field_map)
            self._lines = _columns_of_file(file, paths, column)
        self._matching: Matching | None = None
        self._compared = ComparedTexts(file, self._lines, column)
        self._set(_reviewed(file) if reviewed else _labelled_rows(file, column, self._lines))

    def _set(self, rows: Iterable[_Row]) -> None:
        """Keep the rows, and find them by name and by content."""
        unique: dict[_Row, _Row] = {}
        for row in rows:
            unique.setdefault(row._replace(line=None), row)
        self._rows = list(unique.values())
        self._by_name: dict[str, list[_Row]] = {}
        self._by_key: dict[str, list[_Row]] = {}
        self._used: set[_Row] = set()
        self._content_of: dict[_Row, str | None] = {}  # of the case that a row without an answer belongs to
        self._of_several: set[str] = set()
        self._under_other_id: set[_Row] = set()  # labels whose content a case has under another id
        self._of_unknown_answers = 0  # labels with an answer whose case has an answer that is not known
        self._ids: dict[str | None, None] = {}  # of the cases, in order
        for row in self._rows:
            self._by_name.setdefault(row.name, []).append(row)
            if row.key is not None:
                self._by_key.setdefault(row.key, []).append(row)

    def match(self, cases: Iterable[tuple[int | None, Columns]], judged: object) -> None:
        """Find out how labels that name neither an id nor an answer belong to the cases; call it before :meth:`of`.

        Args:
            cases: the line and the columns of each case; see :func:`jury_adapters.cli.case_columns.columns_of_case`.
            judged: the file of the cases, for messages.

        Raises:
            InputError: neither a column nor the order of the rows tells it.
        """
        if not any(not row.has_id and row.answer is None for row in self._rows):
            return
        self._matching = find_matching(self._file, self._lines, self._column, list(cases), judged)
        self._set(_labelled_rows(self._file, self._column, self._lines, self._matching.column))

    def of(
        self,
        *,
        item_id: str | None,
        line: int | None,
        key: str | None,
        answer: str | None,
        columns: Columns | None = None,
    ) -> str | None:
        """Return the label of a case; None without one.

        A label is found by the content of the case, and by its id if both have one: the same content under two ids is
        two items. If the content differs, because the labels lack a field of the cases, it is found by the id (else the
        line) and the answer. A row of labels without an answer is found by the id or the line alone, or as
        :meth:`match` found out.

        Args:
            item_id: the id of the case, or None.
            line: its line in its file, from 1, or None.
            key: the hash of its content, or None.
            answer: its answer; None if it is unknown.
            columns: its columns, as for :meth:`match`.
        """
        self._ids.setdefault(item_id)
        if self._matching is not None and self._matching.column is not None:
            item_id = human_label((columns or {}).get(self._matching.column))
        elif self._matching is not None and line is not None and line in self._matching.lines:
            item_id, line = None, self._matching.lines[line]
        name, same = _name(item_id, line), self._by_key.get(key or "", ())
        found = [row for row in same if row.name == name or item_id is None or not row.has_id]
        self._under_other_id.update(row for row in same if row not in found)
        found = found or list(self._by_name_and_answer(name, answer, key))
        if len({row.label for row in found}) != 1:
            return None
        self._used.update(found)
        for row in found:
            if row.answer is not None:
                continue
            if self._content_of.setdefault(row, key) != key:
                self._of_several.add(row.name)
            if row.line is not None and (answer is not None or key not in (None, EMPTY_KEY)):
                self._compared.add(row.line, name, columns or {}, answer)
        return found[0].label

    def of_row(self, row: Mapping[str, Any]) -> str | None:
        """Return the label of a row of recorded votes; None without one."""
        key, answer = _content(row)
        return self.of(item_id=item_id_in(row), line=None, key=key, answer=answer, columns=row)

    @property
    def contradicting(self) -> dict[Identity, Sequence[Said]]:
        """The cases among those asked about on which reviewers contradict each other, with the label of each."""
        return {row.said[0].identity: row.said for row in self._rows if row.said and row in self._used}

    @property
    def selected(self) -> set[str]:
        """Selections by which the labelled cases among those asked about were chosen; none if at random."""
        return {chosen for row in self._used for chosen in row.chosen} - {"all"}

    def check(
        self,
        judged: object,
        messages: Messages | None = None,
        *,
        compared: tuple[object, Callable[[], GivenLabels]] | None = None,
    ) -> None:
        """Check that some case has one of the labels, and report those that do not count.

        Args:
            judged: the file of the cases, for messages.
            messages: prints the number of labels that belong to no case, and of cases with contradicting labels.
            compared: another run and a function that returns these labels after finding those of its cases, if labels
                may be of its cases, too. It is called only where some belong to no case of the first run.

        Raises:
            InputError: no case has one, or a label without an answer belongs to cases with different content.
        """
        unused = [row for row in self._rows if row not in self._used]
        if not self._used:
            why = _GIVE_CASES if self._of_unknown_answers else self._ids_of_both()
            raise InputError(f"{self._file}: none of its labels is of a case of {judged}; {why}")
        if self._of_several:
            raise InputError(
                f"{self._file}: the label of {min(self._of_several)!r} belongs to several cases of {judged}, which "
                "differ in content; add the answer to the row of the label, or give each case its own id"
            )
        if self._matching is not None and messages is not None:
            messages.info(self._matching.described(self._file))
        self._compared.check("id" if self._matching is None else self._matching.by, messages)
        split = self.contradicting
        if all(row.label is None for row in self._used):
            raise InputError(f"{self._file}: {describe_left_out(split)}; no other case of {judged} has a label")
        if split and messages is not None:
            messages.info(f"{self._file}: {describe_left_out(split)}", "yellow")
        if messages is not None and None in self._lines.values():
            messages.info(f"{self._file}: labels may be missing{UnreadRows.of(self._file).note}", "yellow")
        if unused and messages is not None and compared is not None:
            run, find = compared
            elsewhere = find()._used
            judged, unused = f"{judged} and none of {run}", [row for row in unused if row not in elsewhere]
        if unused and messages is not None:
            labels, belong = counted(len(self._rows), "label"), "belongs" if len(unused) == 1 else "belong"
            why = _OTHER_ID if unused[0] in self._under_other_id else _NOT_THERE
            messages.info(
                f"{len(unused):,} of {labels} of {self._file} {belong} to no case of {judged}, such as that of "
                f"{unused[0].name}: {_GIVE_CASES if self._of_unknown_answers else why}",
                "yellow",
            )

    def _ids_of_both(self) -> str:
        """Return an example of the ids of the labels, with their column, and one of the cases."""
        ours = next((row.name for row in self._rows if row.has_id), None)
        theirs = next((name for name in self._ids if name is not None), None)
        if ours is None:
            label = "the labels have no id"
        else:
            columns = next((row for row in self._lines.values() if row and item_id_in(row) == ours), {})
            column = next((name for name in columns if str(columns[name]) == ours and item_id_in({name: ours})), None)
            of = "" if column is None else f" (column {plain_repr(column)})"
            label = f"an id of the labels{of} is {plain_repr(ours)}"
        case = "the cases have no id" if theirs is None else f"one of the cases is {plain_repr(theirs)}"
        fix = "" if theirs is not None else " (judge them with a column `id`, or with --map id=COLUMN)"
        answers = (
            ", and the answers differ" if theirs is not None and theirs in {row.name for row in self._rows} else ""
        )
        return f"{label}, {case}{fix}{f'; {_OTHER_ID}' if self._under_other_id else answers}"

    def _by_name_and_answer(self, name: str, answer: str | None, key: str | None) -> Iterator[_Row]:
        rows = self._by_name.get(name, [])
        if answer is None:
            # Of a case with content, the hash alone does not tell whether this answer was labelled.
            self._of_unknown_answers += sum(row.answer is not None and key not in (None, EMPTY_KEY) for row in rows)
            known = [row for row in rows if row.answer is None or key in (None, EMPTY_KEY)]
            yield from known if len(known) == 1 else ()
            return
        same = [row for row in rows if row.answer is not None and row.answer.strip() == answer.strip()]
        yield from same or [row for row in rows if row.answer is None]


_NOT_THERE = "no case has its id or content, or it is of another answer"
_OTHER_ID = (
    "a case has the same content under another id, which is another item; give the labels the ids of the cases, or none"
)
_GIVE_CASES = "which answers were judged is not known; give the cases: --cases CASES"


def wrote_review(file: Path) -> bool:
    """Return whether `jury review` wrote a file.

    Raises:
        InputError: the file cannot be read.
    """
    first = first_row(file)
    return first is not None and first.values is not None and said_of(first.values) is not None


def _reviewed(file: Path) -> Iterator[_Row]:
    """Yield the final label of each case of a file of reviews, and the cases with contradicting labels."""
    answers = {}
    for row in read_rows(file):
        said = None if row.values is None else said_of(row.values)
        if said is not None and row.values is not None:
            answers[said.identity] = _content(row.values)[1]
    said_rows = said_in(file)
    lines = {one.identity: one.line for one in said_rows}
    split = contradictions(said_rows)
    chosen: dict[Identity, set[str]] = {}
    for one in latest(said_rows).values():
        chosen.setdefault(one.identity, set()).add(one.chosen)
    for identity, label in final_labels(said_rows).items():
        if label is not None or identity in split:
            key, item_id = identity
            name, reviewers = _name(item_id, lines[identity]), tuple(split.get(identity, ()))
            yield _Row(label, name, item_id is not None, key, answers.get(identity), said=reviewers,
                       chosen=frozenset(chosen[identity]))  # fmt: skip


def paths_in(file: Path, field_map: FieldMap) -> FieldMap | None:
    """Return a field map with the paths that exist in a row of a file of labels; None without any.

    Labels may be of the rows that were judged, with their columns, or have the names of the fields, as in what `jury
    review` wrote.

    Raises:
        InputError: the file cannot be read.
    """
    if wrote_review(file):
        return None
    rows = [row.values for row in read_rows(file) if row.values is not None]
    paths = {field: path for row in rows for field, path in field_map.known_in(row).paths.items()}
    return FieldMap(paths) if paths else None


def _columns_of_file(file: Path, field_map: FieldMap | None, label_column: str) -> dict[int, Columns | None]:
    """Return the columns of each row by line, under our names where a field map has them; None for an unreadable row.

    An empty cell is an empty answer, as where cases are read, unless no row has an answer. A label may be in the
    metadata of a row, as in the cases that ``Report.write_results`` wrote.
    """
    rows = {row.line: _with_label(_row_with(field_map, row), label_column) for row in read_rows(file)}
    if not any(columns and _content(columns)[1] for columns in rows.values()):
        return {
            line: columns and {name: value for name, value in columns.items() if value != ""}
            for line, columns in rows.items()
        }
    return rows


def _row_with(field_map: FieldMap | None, row: Row) -> Columns | None:
    if row.values is None:
        return None
    values = {name: value for name, value in columns_in(row, field_map).items() if value is not None}
    if field_map is None:
        return values
    return field_map.known_in(values).apply(values)


def _metadata_of(row: Columns) -> Columns:
    own = row.get("metadata")
    return own if isinstance(own, Mapping) else {}


def _with_label(row: Columns | None, label_column: str) -> Columns | None:
    """Return a row with a label of its metadata as a column."""
    own = _metadata_of(row or {})
    if row is None or label_column in row or label_column not in own:
        return row
    rest = {name: value for name, value in own.items() if name != label_column}
    return {**row, "metadata": rest, label_column: own[label_column]}


def _labelled_rows(
    file: Path, column: str, rows: Mapping[int, Columns | None], id_column: str | None = None
) -> Iterator[_Row]:
    columns: set[str] = set()
    seen: dict[tuple[str, str | None], str] = {}
    for line, row in rows.items():
        values = row or {}
        columns |= set(map(str, (*values, *_metadata_of(values))))
        label = human_label(values.get(column))
        if label is None:
            continue
        item_id = (
            item_id_in(values) if id_column is None else human_label(columns_of_row(values, column).get(id_column))
        )
        name = _name(item_id, line)
        key, answer = _content({known: value for known, value in values.items() if known != column})
        if seen.setdefault((name, key), label) != label:
            raise InputError(
                f"{file}, line {line}: {name} has the labels {seen[name, key]} and {label}; an answer has one "
                "label. Of several reviewers, take that of most, and leave out the cases without a majority"
            )
        yield _Row(label, name, item_id is not None, key, answer, line)
    if not seen:
        raise InputError(why_no_labels(file, column, columns, UnreadRows.of(file)))


def _content(values: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the hash of the content of a row and its answer; None for what it does not have."""
    try:
        case = Case.from_row(values)
    except ConfigurationError:
        return None, None
    return (None if case.content_hash == EMPTY_KEY else case.content_hash), case.answer


def _name(item_id: str | None, line: int | None) -> str:
    """Return the name of a case: its id, else its line."""
    return f"line {line}" if item_id is None else item_id
