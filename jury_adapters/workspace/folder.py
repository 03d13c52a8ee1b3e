"""Reading of a folder with untrusted content, and of nothing outside it; and the base of the checks that do so.

An agent may leave anything in its workspace: links that lead out, pipes on which a reader would wait forever, files
without end. :class:`Folder` opens regular files inside the folder only, never waits, and reads no more than its limit.
A path is opened one step at a time, so that a folder which becomes a link meanwhile is noticed as well. A hard link
cannot be told from a file.
"""

import os
import stat
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import AfterValidator, Field

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Returned
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.judges.options import DeclaredCheck, declared

MOST_BYTES = 10_000_000  # of one file
_MOST_ENTRIES = 100_000  # of one folder with all that is inside
_STEP = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
Kind = Literal["file", "directory"]


class Unreadable(Exception):
    """Reason that a file cannot be read, which is the fault of the agent."""


class Missing(Exception):
    """Reason to abstain: something is missing that the check needs."""


def _inside(path: str) -> str:
    if not path or "\0" in path or PurePath(path).anchor or ".." in PurePath(path).parts:
        raise ValueError("a path in the workspace is relative, without '..'")
    return path


InnerPath = Annotated[str, AfterValidator(_inside)]
"""The path of a file in the workspace, relative to it."""
Patterns = tuple[Annotated[str, Field(strict=True, min_length=1)], ...]
"""Patterns of paths: ``*.log`` and ``build`` match any part of a path, ``docs/*.md`` a whole one and what is in it."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Folder that can be read without leaving it.

    Attributes:
        root: its real path, without links.
    """

    root: Path

    @classmethod
    def at(cls, path: Any, what: str) -> Self:
        """Return the folder at a path.

        Raises:
            Missing: there is no path, or no folder there.
        """
        if not isinstance(path, str | Path):
            raise Missing(f"there is no {what}")
        try:
            root = Path(os.path.realpath(path, strict=True))
        except (OSError, ValueError):
            raise Missing(f"the {what} {str(path)!r} does not exist") from None
        if not root.is_dir():
            raise Missing(f"the {what} {str(path)!r} is not a folder")
        return cls(root)

    def find(self, path: str, kind: Kind = "file") -> Path:
        """Return the real path of a regular file, or of a folder, inside.

        Raises:
            Unreadable: it does not exist, leads out, or is something else, such as a pipe.
        """
        try:
            found = Path(os.path.realpath(self.root / _inside(path), strict=True))
            mode = found.lstat().st_mode
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it leads out of the workspace"
            raise Unreadable(f"{path!r} does not exist: {reason}") from None
        if not found.is_relative_to(self.root):
            raise Unreadable(f"{path!r} is a link that leads out of the workspace")
        if not (stat.S_ISREG(mode) if kind == "file" else stat.S_ISDIR(mode)):
            raise Unreadable(f"{path!r} is not a {kind}")
        return found

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            Unreadable: see :meth:`find`, or the file is too large, or cannot be opened.
        """
        steps = self.find(path).relative_to(self.root).parts
        try:
            with os.fdopen(_opened(self.root, steps), "rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise Unreadable(f"{path!r} cannot be read: {error.strerror or error}") from None
        if len(content) > MOST_BYTES:
            raise Unreadable(f"{path!r} is larger than {MOST_BYTES:,} bytes")
        return content

    def read_text(self, path: str) -> str:
        """Return the content of a text file in UTF-8.

        Raises:
            Unreadable: see :meth:`read`, or it is not text.
        """
        try:
            return self.read(path).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Unreadable(f"{path!r} is not text in UTF-8") from None

    def files(self, exclude: Sequence[str] = ()) -> list[str]:
        """Return the relative paths of all that is not a folder, links and pipes included. Links are not followed.

        Raises:
            Unreadable: a folder cannot be read, or there are too many entries.
        """
        found: list[str] = []
        seen = 0
        try:
            for folder, folders, names in os.walk(self.root, onerror=_raised):
                base = Path(folder)
                links = [name for name in folders if (base / name).is_symlink()]
                paths = [(base / name).relative_to(self.root).as_posix() for name in sorted([*names, *links])]
                found += [path for path in paths if not matches_any(path, exclude)]
                inner = {name: (base / name).relative_to(self.root).as_posix() for name in folders if name not in links}
                folders[:] = sorted(name for name, path in inner.items() if not matches_any(path, exclude))
                seen += len(paths) + len(inner)
                if seen > _MOST_ENTRIES:
                    raise Unreadable(f"the folder holds more than {_MOST_ENTRIES:,} files and folders; exclude some")
        except (OSError, RecursionError) as error:  # os.walk is recursive before Python 3.12
            raise Unreadable(f"a folder cannot be read: {getattr(error, 'strerror', None) or error}") from None
        return found


@declared
class WorkspaceCheck(DeclaredCheck):
    """Base of checks of ``case.workspace``. They run in a thread of their own, and abstain without a workspace."""

    def assess(self, case: Case) -> Returned:
        """Judge one case by :meth:`check`."""
        return self.check(case)

    def check(self, case: Case) -> Returned:
        """Judge the workspace of a case."""
        try:
            return self.inspect(case, Folder.at(case.workspace, "workspace"))
        except Missing as reason:
            return abstain(str(reason))

    @abstractmethod
    def inspect(self, case: Case, folder: Folder) -> Judgment:
        """Judge the workspace."""


def matches_any(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a relative path matches one of these patterns.

    >>> [matches_any(path, ["*.log", "docs/*.md"]) for path in ("a/b.log", "docs/a.md", "x/docs/a.md")]
    [True, True, False]
    """
    for pattern in patterns:
        whole = pattern.strip("/")
        if "/" in whole and (fnmatchcase(path, whole) or fnmatchcase(path, f"{whole}/*")):
            return True
        if "/" not in whole and any(fnmatchcase(part, whole) for part in path.split("/")):
            return True
    return False


def _raised(error: OSError) -> NoReturn:
    raise error


def _opened(root: Path, steps: Sequence[str]) -> int:
    """Return a descriptor of a regular file that is reached without following any link."""
    folder = os.open(root, _STEP)
    try:
        for step in steps[:-1]:
            inner = os.open(step, _STEP, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open(steps[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError("it is not a regular file any more")
    return file
