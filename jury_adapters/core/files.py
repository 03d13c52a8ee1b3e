"""Files: only regular ones are opened, and one is replaced as a whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EFBIG, EINVAL
from pathlib import Path
from secrets import token_hex
from typing import IO, AnyStr, BinaryIO

LONGEST_LINE = 2**28
"""Characters or bytes of the longest line that is read: a small packed file may hold a line that fills the memory."""


def check_regular(path: str | os.PathLike[str]) -> None:
    """Refuse what is there and no regular file, such as a pipe, on which a reader would wait, or an endless device.

    Raises:
        OSError: it is none.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - of any kind of path
        raise OSError(EINVAL, "it is not a regular file")


def lines_of(file: IO[AnyStr]) -> Iterator[AnyStr]:
    """Yield the lines of a file.

    Raises:
        OSError: a line is too long.
    """
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise OSError(EFBIG, f"a line is longer than {LONGEST_LINE // 10**6} MB")
        yield line


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file beside a path, which takes its place, with its permissions, when the block ends well.

    Raises:
        OSError: it cannot be written, or what is at the path is no regular file.
    """
    check_regular(path)
    fresh = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        with fresh.open("xb") as new:
            yield new
        if path.exists():
            shutil.copymode(path, fresh)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
