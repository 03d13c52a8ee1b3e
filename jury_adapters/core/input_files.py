"""Checks of input files: pipes and devices, missing files and empty files."""

from __future__ import annotations

import gzip
import itertools
import stat
from difflib import get_close_matches
from pathlib import Path

from jury_adapters.core.errors import InputError
from jury_adapters.core.secrets import without_passwords

_HANDED_OVER = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
_HEAD = 4096  # bytes; a file is blank if these are white space


def refuse_pipe(path: str | Path) -> None:
    """Refuse a named pipe, a device or a socket, because opening one may block forever.

    Standard input (``/dev/stdin``) and process substitutions of the shell (``<(...)``) are accepted, because they have
    a writer.

    Raises:
        InputError: the path is such a file; the message suggests alternatives.
    """
    try:
        kind = Path(path).stat().st_mode
    except (OSError, ValueError):  # opening the file will report the error
        return
    if stat.S_ISREG(kind) or stat.S_ISDIR(kind) or str(path).startswith(_HANDED_OVER):
        return
    what = "a named pipe" if stat.S_ISFIFO(kind) else "a socket" if stat.S_ISSOCK(kind) else "a device"
    raise InputError(f"{path}: {what}, not a regular file; give a file, or pipe into standard input (- or /dev/stdin)")


def no_such_file(path: str | Path) -> str:
    """Return the message for a file that does not exist, with the closest name in its folder."""
    file = Path(path)
    if not file.parent.is_dir():
        return without_passwords(f"{file}: there is no such folder as {file.parent}")
    found = [one for one in itertools.islice(file.parent.iterdir(), 10_000) if one.is_file()]
    # Without the endings, which are alike in many names; of two files, the one with the same ending comes last.
    by_stem = {one.stem: one for one in sorted(found, key=lambda one: one.suffix == file.suffix)}
    close = get_close_matches(file.stem, by_stem, n=1, cutoff=0.6)
    return f"{file}: No such file or directory." + (f" Did you mean {by_stem[close[0]]}?" if close else "")


def is_blank(path: Path) -> bool:
    """Whether a file, gzipped or not, begins with 4096 bytes of white space, or has only white space."""
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stored:
            return not stored.read(_HEAD).removeprefix(b"\xef\xbb\xbf").strip()
    except (OSError, EOFError):
        return False
