"""Atomic writing of files: a file is written as a whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfile, copymode
from typing import IO
from uuid import uuid4


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces an existing one if the block ends without an error; otherwise the old one is kept.

    The new file has the permissions and, if possible, the owner of the old one. A symbolic link keeps pointing to the
    file. Files other than regular ones (a device, a pipe) are written directly, as are a file in a folder without
    permission to create files, and a file that cannot be replaced by renaming, such as a mount.

    Raises:
        OSError: the file cannot be written; the error names ``path``.

    >>> with whole_file("/dev/null") as file:
    ...     _ = file.write(b"text")
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    scratch = target.with_name(f".{uuid4().hex}.tmp")
    try:
        file = scratch.open("xb")
    except PermissionError:
        if not target.exists():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path)) from None
        file = target.open("wb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with file:
            if scratch.exists() and target.exists():
                _take_after(target, scratch)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if scratch.exists():
            _move(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)


def write_whole(path: str | Path, text: str) -> None:
    """Write a text as UTF-8 atomically; see :func:`whole_file`.

    Raises:
        OSError: the file cannot be written.
    """
    with whole_file(path) as file:
        file.write(text.encode())


def _take_after(earlier: Path, new: Path) -> None:
    """Give a new file the owner and permissions of an existing one, before it has any content."""
    found = earlier.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(new, found.st_uid, found.st_gid)
    copymode(earlier, new)


def _move(new: Path, target: Path) -> None:
    try:
        new.replace(target)
    except OSError as error:
        if error.errno not in (errno.EBUSY, errno.EXDEV):
            raise
        copyfile(new, target)  # a single file mounted into a container
