"""Prints of files that are read more than once, which show that a file was replaced in between."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jury_adapters.core.errors import InputError
from jury_adapters.core.input_files import refuse_pipe


class FilePrint:
    """Size, beginning and end of a file, by which it is recognised as long as rows are only appended to it.

    Args:
        path: the file.

    Raises:
        InputError: it is a pipe or a device.
        OSError: it cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        refuse_pipe(self._path)
        self._size = self._path.stat().st_size
        self._ends = self._read()

    def check(self) -> None:
        """Check that the file still begins with what it had.

        Raises:
            InputError: it does not.
            OSError: it cannot be read.
        """
        if self._path.stat().st_size < self._size or self._read() != self._ends:
            raise InputError(
                f"{self._path}: the file has changed since it was read; read it again, and give each run a file of its "
                "own to compare it with another"
            )

    def _read(self) -> tuple[bytes, bytes]:
        with self._path.open("rb") as file:
            begin = file.read(min(_PART, self._size))
            file.seek(max(0, self._size - _PART))
            return begin, file.read(min(_PART, self._size))


_PART: Final = 1 << 12
