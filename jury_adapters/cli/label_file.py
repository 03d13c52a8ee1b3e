"""The file of labels: human labels of cases, with the labeller and the time; one durable line each.

A line is the case itself with the column ``gold``, as ``jury calibrate`` and every other command reads cases, and with
``review``: the labeller, the time, the duration, and the verdict. Lines are only appended: a later label of the same
reviewer and case is a new line, and replaces the earlier one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from jury_adapters.core.case import Case
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.row_files import read_rows
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict

Seen = Literal["before", "after", "never"]

UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Label:
    """Label of one case by one reviewer.

    Attributes:
        case: the case.
        line: its line in its own file, or None.
        item_id: its own id, or None.
        said: ``PASS``, ``FAIL``, a label of the jury, or :data:`UNSURE`.
        by: the reviewer who labelled it.
        at: the time, in UTC (ISO 8601).
        seconds: the time that the reviewer took, in seconds.
        note: the reviewer's note.
        judgment: the jury's judgment.
        verdict_seen: whether the reviewer saw the judgment ``"before"`` the answer, ``"after"`` it, or ``"never"``.
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
                "key": self.case.content_hash, "item_id": self.item_id, "line": self.line, "verdict": verdict,
                "verdict_seen": self.verdict_seen, "chosen": self.chosen,
            },
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """Contents of a line of the file: the label of a case, and the reviewer; see :class:`Label`."""

    identity: Identity
    line: int | None
    said: str
    by: str
    verdict_seen: str
    chosen: str


def fingerprint(judgment: Judgment) -> str:
    """Return a short hash of a verdict, without its times, which identifies the verdict that a reviewer saw."""
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
            raise InputError(f"{path}, line {row.line}: no line that jury review wrote; give another --labels")
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


class LabelFile:
    """Writer that appends labels to a file; each one is on disk before :meth:`add` returns.

    Several reviewers may write to one file at the same time. A line that a crash cut off is terminated, and stays
    unreadable.

    Args:
        path: the file; created if it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Open the file, so that an error is reported before a reviewer is asked.

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
