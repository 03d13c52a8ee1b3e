"""The file of labels: human labels of cases, with the labeller and the time; one durable line each.

A line is the case itself with the column ``gold``, as ``jury calibrate`` and every other command reads cases, and with
``review``: the labeller, the time, the duration, and the verdict. Lines are only appended: a later label of the same
person and case is a new line, and replaces the earlier one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from jury_adapters.cli.streams import News
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import counted, visible
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.rows import first_row, read_rows
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict

Seen = Literal["before", "after", "never"]

UNSURE = "unsure"
_MOST_CONTRADICTIONS = 3


@dataclass(frozen=True, slots=True)
class Label:
    """Label of one case by one person.

    Attributes:
        case: the case.
        line: its line in its own file, or None.
        item_id: its own id, or None.
        said: ``PASS``, ``FAIL``, a label of the jury, or :data:`UNSURE`.
        by: the person who labelled it.
        at: the time, in UTC (ISO 8601).
        seconds: the time that the person took, in seconds.
        note: the person's note.
        judgment: the jury's judgment.
        verdict_seen: whether the person saw the judgment ``"before"`` the answer, ``"after"`` it, or ``"never"``.
        chosen: the selection of cases to ask about (``"all"``, ``"contested"``, ``"escalated"``).
    """

    case: Case
    line: int | None
    item_id: str | None
    said: str
    by: str
    at: str
    seconds: float
    note: str
    judgment: Judgment
    verdict_seen: Seen
    chosen: str

    def to_row(self) -> dict[str, JsonValue]:
        """Return the label as a line of the file."""
        agreement = self.judgment.agreement if isinstance(self.judgment, Verdict) else None
        verdict: dict[str, JsonValue] = {
            "status": None if self.judgment.status is None else str(self.judgment.status),
            "label": self.judgment.label,
            "agreement": agreement,
            "fingerprint": fingerprint(self.judgment),
        }
        content: dict[str, Any] = self.case.model_dump(mode="json", exclude_defaults=True)
        metadata = content.pop("metadata", {})
        return {
            **metadata,
            **content,
            "gold": None if self.said == UNSURE else self.said,
            "review": {
                "said": self.said, "by": self.by, "at": self.at, "seconds": round(self.seconds, 1), "note": self.note,
                "key": self.case.key, "item_id": self.item_id, "line": self.line, "verdict": verdict,
                "verdict_seen": self.verdict_seen, "chosen": self.chosen,
            },
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """Contents of a line of the file: the label of a case, and the person; see :class:`Label`."""

    identity: Identity
    line: int | None
    said: str
    by: str
    verdict_seen: str
    chosen: str


def fingerprint(judgment: Judgment) -> str:
    """Return a short hash of a verdict, without its times, which identifies the verdict that a person saw."""
    return sha256(judgment.canonical_json().encode()).hexdigest()[:16]


def said_in(path: Path) -> list[Said]:
    """Return every label in order; a line cut off by a crash is skipped.

    Raises:
        InputError: the file is not a file of labels, or cannot be read.
    """
    found = []
    for row in read_rows(path):
        if row.values is None:
            continue
        said = said_of(row.values)
        if said is None:
            raise InputError(f"{path}, line {row.line}: no line that jury review wrote; give another --out")
        found.append(said)
    return found


def said_of(row: Mapping[str, Any]) -> Said | None:
    """Return the label in a row, or in the metadata of its case; None if ``jury review`` did not write it."""
    review = row.get("review")
    if not isinstance(review, Mapping) or not all(isinstance(review.get(name), str) for name in ("said", "by", "key")):
        return None
    item, line = review.get("item_id"), review.get("line")
    return Said(
        (review["key"], None if item is None else str(item)),
        line if isinstance(line, int) else None,
        review["said"],
        review["by"],
        str(review.get("verdict_seen")),
        str(review.get("chosen")),
    )


def latest(said: Iterable[Said]) -> dict[tuple[Identity, str], Said]:
    """Return the last label of each person for each case."""
    return {(one.identity, one.by): one for one in said}


def settled(said: Iterable[Said]) -> dict[Identity, str | None]:
    """Return the final label of each case: that of most people; None if they are split, or if all are unsure."""
    ballots: dict[Identity, Counter[str]] = {}
    for (identity, _), one in latest(said).items():
        votes = ballots.setdefault(identity, Counter())
        if one.said != UNSURE:
            votes[one.said] += 1
    return {identity: _most(votes) for identity, votes in ballots.items()}


def contradictions(said: Iterable[Said]) -> dict[Identity, list[Said]]:
    """Return the cases on which people are split, each with the last label of every person who was sure."""
    told = list(said)
    agreed = settled(told)
    sure: dict[Identity, list[Said]] = {}
    for (identity, _), one in latest(told).items():
        if agreed[identity] is None and one.said != UNSURE:
            sure.setdefault(identity, []).append(one)
    return sure


def told_contradictions(split: Mapping[Identity, Sequence[Said]]) -> str:
    """Return how many cases have contradicting labels, and the first of them with the label of each person."""
    shown = [
        f"{_name(said[0])}: {', '.join(f'{visible(one.by)} {visible(one.said)}' for one in said)}"
        for said in islice(split.values(), _MOST_CONTRADICTIONS)
    ]
    more = [f"{len(split) - len(shown):,} more"] if len(split) > len(shown) else []
    have = "has" if len(split) == 1 else "have"
    return f"{counted(len(split), 'case')} {have} contradicting labels ({'; '.join([*shown, *more])})"


def one_per_case(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the cases of a file of labels once each, with their final labels; other cases are unchanged.

    Otherwise, a case with labels of three people would count as three independent cases.
    """
    read = [(case, said_of(case.metadata)) for case in cases]
    agreed = settled(said for _, said in read if said is not None)
    done: set[Identity] = set()
    for case, said in read:
        if said is None:
            yield case
        elif said.identity not in done:
            done.add(said.identity)
            rest = {name: value for name, value in case.metadata.items() if name != "gold"}
            truth = agreed[said.identity]
            yield case.model_copy(update={"metadata": rest if truth is None else {**rest, "gold": truth}})


def labelled_cases(
    cases: CaseFile, column: str, news: News, *, option: str = "--gold", holds: str
) -> tuple[list[tuple[Case, str | bool]], list[str]]:
    """Return the labelled cases with their labels, and the line of each; report the cases that are left out.

    Args:
        cases: the file.
        column: the column with the labels.
        news: receives the messages.
        option: the option that names the column.
        holds: the words for what holds only for cases like the labelled ones, with a verb.

    Raises:
        InputError: no case has a label.
    """
    rows = list(cases)
    lines = {id(case): cases.place_of(index) for index, case in enumerate(rows)}
    places: list[str] = []
    read = list(one_per_case(rows))
    labelled: list[tuple[Case, str | bool]] = []
    for case in read:
        label = case.metadata.get(column)
        if label is not None and label != "":
            labelled.append((case, label if isinstance(label, bool) else str(label)))
            place = lines.get(id(case))
            places.append("what jury review wrote" if place is None else f"{place.unit} {place.line}")
    if not read:
        raise InputError(f"{cases.path}: no row could be read as a case")
    if not labelled:
        said = [one for case in read if (one := said_of(case.metadata)) is not None]
        if said:
            raise InputError(f"{cases.path}: of no case do the people who reviewed it agree on a label")
        columns = ", ".join(sorted({str(name) for case in read for name in case.metadata})[:10])
        raise InputError(
            f"{cases.path}: no case has a label in the column {column!r}; name it with {option}. "
            f"There are, beside the case itself: {columns or 'none'}"
        )
    reviewed = (one for case in rows if (one := said_of(case.metadata)) is not None)
    split = contradictions(reviewed) if column == "gold" else {}  # another column does not come from reviews
    if split:
        news.tell(
            f"{told_contradictions(split)} and {'is' if len(split) == 1 else 'are'} left out; a third person settles "
            "it: jury review RESULTS --only all --by NAME"
        )
    left = len(read) - len(labelled) - len(split)
    if left:
        news.tell(f"{left:,} of {counted(len(read), 'case')} {'has' if left == 1 else 'have'} no label and "
                  f"{'is' if left == 1 else 'are'} left out")  # fmt: skip
    chosen = {one.chosen for case, _ in labelled if (one := said_of(case.metadata)) is not None} - {"all"}
    if chosen:
        news.tell(
            f"labels of {' and '.join(sorted(chosen))} cases are no fair sample, and {holds} for cases "
            "chosen alike; for all cases label with: jury review --only all",
            "yellow",
        )
    return labelled, places


def gold_of(path: Path) -> dict[str, str] | None:
    """Return the final labels, by the item's id, else by its line (``line 3``), as results are named.

    Returns:
        None for a file of cases that is not a file of labels.

    Raises:
        InputError: the file cannot be read.
    """
    first = first_row(path)
    if first is None or first.values is None or said_of(first.values) is None:
        return None
    said = said_in(path)
    agreed = settled(said)
    names = {one.identity: f"line {one.line}" if one.identity[1] is None else one.identity[1] for one in said}
    return {names[identity]: truth for identity, truth in agreed.items() if truth is not None}


class LabelFile:
    """Writer that appends labels to a file; each one is on disk before :meth:`add` returns.

    Several people may write to one file at the same time. A line that a crash cut off is terminated, and stays
    unreadable.

    Args:
        path: the file; created if it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Open the file, so that an error is reported before a person is asked.

        Raises:
            InputError: the file cannot be written.
        """
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            size = os.fstat(self._descriptor).st_size
            if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
                self._write(b"\n")
            _sync_folder(self._path.resolve().parent)
        except OSError as error:
            raise InputError(f"{self._path}: {error.strerror or error}") from error
        return self

    def add(self, label: Label) -> None:
        """Write one label.

        Raises:
            InputError: the label cannot be written to disk.
        """
        try:
            self._write(json.dumps(label.to_row(), allow_nan=False).encode("ascii") + b"\n")
        except OSError as error:
            raise InputError(f"{self._path}: {error.strerror or error}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, content: bytes) -> None:
        if self._descriptor is None:
            raise InputError(f"{self._path}: open it first, with `with`")
        while content:  # a disk that is nearly full accepts only a part
            content = content[os.write(self._descriptor, content) :]
        os.fsync(self._descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable too; not every system supports this."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _most(votes: Counter[str]) -> str | None:
    first, second = (*votes.most_common(2), ("", 0), ("", 0))[:2]
    return first[0] if first[1] > second[1] else None


def _name(said: Said) -> str:
    """Return the name of a case: its own id, else its line."""
    return f"line {said.line}" if said.identity[1] is None else visible(said.identity[1])
