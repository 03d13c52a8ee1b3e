"""Writer of a results file: each verdict is on disk as soon as it is known, and one process writes at a time."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from jury_adapters.cli.places import check_place
from jury_adapters.core.answer_facts import AnswerFacts
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import STDIN, Place
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.file_lock import FileInUse, is_in_use, lock_file, unlock_file
from jury_adapters.core.gates import GateResult
from jury_adapters.core.human_labels import GOLD
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.results_file import Draw, Result


class Results:
    """Writer of ``{"line", "item_id", "key", "cases", "verdict"}`` per case; after a crash, complete lines are valid.

    ``cases`` is the path of the cases relative to the folder of the results, so that readers find the texts. If the
    jury has gates, ``"unmet"`` holds a sentence per gate that the verdict misses.

    The file is locked while it is written, so that a second run with the same ``--out`` is refused and changes nothing.

    Args:
        path: the file; None to write nothing.
        cases: the file that is judged.
        field_map: the paths of fields in its rows, which the results repeat for later readers of the texts.
        sources: other files that are read or written, and must not be replaced.
        force: whether an existing file may be replaced; an empty one always is, as a run leaves it that was stopped
            before its first verdict.
        pass_labels: the human labels that mean PASS, which the results repeat.
        group: the field that identifies the group of a case, which the results repeat.
        label_column: the column of the human labels, which the results repeat unless it is ``gold``.
        tell: called with a warning if the file system has no locks.

    Attributes:
        draw: for a run that may end early, its random order; None for other runs. Set before the first verdict.
        planned: number of cases that the run is to judge; None if it is unknown. Set before each verdict.

    Raises:
        InputError: the file already exists, is written by another process, or cannot be written.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        cases: Path,
        field_map: FieldMap | None = None,
        sources: Iterable[Path | None] = (),
        force: bool = False,
        pass_labels: Collection[str] = (),
        group: str = "",
        label_column: str = GOLD,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.draw: Draw | None = None
        self.planned: int | None = None
        self._path = path
        self.pass_labels = tuple(pass_labels)
        self._group = group
        self._label_column = "" if label_column == GOLD else label_column
        self._cases = "" if path is None or cases == STDIN else _from_folder(cases, path)
        self._paths = {} if field_map is None else field_map.paths
        self._file: IO[str] | None = None
        self._force = force
        self._mode = "w" if force or _is_empty(path) else "x"
        self._tell = tell
        if path is not None:
            check_place(path, sources=(cases, *sources))
            if path.suffix.lower() != ".jsonl" and (path.is_file() or not path.exists()):  # not a pipe or a device
                raise InputError(f"--out {path}: results are JSON lines, so give a name that ends in .jsonl")
            if is_in_use(path):
                raise _in_use(path)
            if path.exists() and self._mode == "x":
                raise _exists(path)

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._file = open(self._path, self._mode, encoding="ascii", opener=_kept)
                self._lock(self._file, self._path)
            except OSError as error:
                raise InputError(f"{self._path}: {error.strerror or error}") from error
        return self

    def _lock(self, file: IO[str], path: Path) -> None:
        """Lock the file, and empty it only then; a device or a pipe has no lock.

        Raises:
            InputError: another process writes the file, or has written it since it was found empty.
        """
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return
        try:
            if not lock_file(file.fileno()):
                self._tell(
                    f"{path}: its file system has no locks, so a second run with the same --out would not be refused; "
                    "start none before this one ends"
                )
        except FileInUse:
            file.close()
            self._file = None
            raise _in_use(path) from None
        if not self._force and os.fstat(file.fileno()).st_size:  # another process wrote it before it was locked
            file.close()
            self._file = None
            raise _exists(path)
        file.truncate(0)

    def write(
        self, case: Case | None, place: Place, judgment: Judgment, unmet: Sequence[GateResult] | None = None
    ) -> None:
        """Write one verdict.

        Args:
            case: the case; None if none could be built.
            place: its position in its file.
            judgment: the judgment on it.
            unmet: the gates that it misses; None if the jury has no gates.
        """
        if self._file is None:
            return
        key = None if case is None else case.content_hash
        notes = None if unmet is None else tuple(gate.note for gate in unmet)
        result = Result(
            judgment, line=place.line, item_id=place.item_id, key=key, cases=self._cases, unmet=notes,
            field_map=self._paths, draw=self.draw, pass_labels=self.pass_labels, group=self._group,
            label_column=self._label_column, planned=self.planned,
            answer=None if case is None else AnswerFacts.of_case(case),
        )  # fmt: skip
        try:
            self._file.write(_ENCODER.encode(result.to_row()) + "\n")
            self._file.flush()
        except OSError as error:
            raise InputError(f"{self._path}: {error.strerror or error}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        unlock_file(self._file.fileno())  # every line was flushed
        try:
            self._file.close()
        except OSError as problem:
            if not isinstance(error, InputError):  # otherwise, it repeats the error of the last write
                raise InputError(f"{self._path}: {problem.strerror or problem}") from problem


def _kept(path: str, flags: int) -> int:
    """Open a file without emptying it, because another process may write it; with default permissions."""
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


def _is_empty(path: Path | None) -> bool:
    """Whether there is a file at a path, and nothing in it."""
    return path is not None and path.is_file() and not path.stat().st_size


def _exists(path: Path) -> InputError:
    return InputError(f"{path} exists already; give another --out, or --force to replace it")


def _in_use(path: Path) -> InputError:
    return InputError(
        f"{path}: another process writes this file, such as a `jury judge` that still runs; wait until it ends, or "
        "give another --out"
    )


_ENCODER = json.JSONEncoder(allow_nan=False)


def _from_folder(cases: Path, results: Path) -> str:
    """Return the path of the cases relative to the folder of the results, so that both can be moved together."""
    try:
        return os.path.relpath(cases.absolute(), results.absolute().parent)
    except ValueError:  # on another drive
        return str(cases.absolute())
