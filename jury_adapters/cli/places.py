"""Checks of output files: a command never replaces its inputs, and other files only with permission."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jury_adapters.core.errors import InputError

PAGE = b'name="generator" content="jury_adapters'
_SQLITE = b"SQLite format 3\0"
_HEAD = 4096  # bytes that contain the mark of a file of this package


def check_place(path: Path, *, sources: Iterable[Path | None] = (), ours: bytes = b"", force: bool = False) -> None:
    """Check that a file may be written, before anything is paid for.

    Args:
        path: the file.
        sources: files that are read, or written for another purpose; none of them is ever replaced.
        ours: a mark near the beginning of this package's files of this kind, which may be replaced, unlike others.
            Empty if the caller checks that.
        force: whether any other file may be replaced as well.

    Raises:
        InputError: it is one of the sources, a database, a file of another program, or a folder; or its folder does
            not exist.
    """
    for source in sources:
        if source is not None and _same(path, source):
            raise InputError(f"{path} is one of the files that this is made from; give another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no such folder as {path.parent}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a name in it")
    if path.is_file() and _is_database(path):
        raise InputError(
            f"{path} is a database, such as a store of judgments, and is never replaced; give another name"
        )
    if ours and not force and not _is_ours(path, ours):
        raise InputError(f"{path} exists, and jury did not write it; give another name, or --force to replace it")


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are of the same file, which may not exist yet."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def _is_database(path: Path) -> bool:
    with path.open("rb") as stored:
        return stored.read(len(_SQLITE)) == _SQLITE


def _is_ours(path: Path, mark: bytes) -> bool:
    if not path.is_file():
        return True  # nothing is lost; /dev/null and pipes accept everything
    with path.open("rb") as stored:
        head = stored.read(_HEAD)
    return not head or mark in head
