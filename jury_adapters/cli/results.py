"""The file of results: one JSON line per verdict, on disk as soon as the verdict is there."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from jury_adapters.cli.casefile import Place
from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment


class Results:
    """Writes ``{"line", "item_id", "key", "verdict"}`` per case; after a crash every whole line is valid.

    Args:
        path: the file; None to write nothing.
        force: whether an existing file may be replaced.

    Raises:
        InputError: the file is there already, or cannot be written.
    """

    def __init__(self, path: Path | None, *, force: bool = False) -> None:
        self._path = path
        self._file: IO[str] | None = None
        self._mode = "w" if force else "x"
        if path is not None and path.exists() and not force:
            raise InputError(f"{path} exists already; give another --out, or --force to replace it")

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._file = self._path.open(self._mode, encoding="ascii")
            except OSError as error:
                raise InputError(f"{self._path}: {error.strerror or error}") from error
        return self

    def write(self, case: Case | None, place: Place, judgment: Judgment) -> None:
        """Write one verdict."""
        if self._file is None:
            return
        key = None if case is None else case.key
        item = {"line": place.line, "item_id": place.item_id, "key": key, "verdict": judgment.to_dict()}
        try:
            self._file.write(json.dumps(item, allow_nan=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise InputError(f"{self._path}: {error.strerror or error}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
