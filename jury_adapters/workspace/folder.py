"""Reading of a folder with untrusted content, and nothing outside it.

An agent may leave anything in its workspace: links that lead out, pipes on which a reader would wait forever,
infinite files. :class:`Folder` opens only regular files inside the folder, never waits, and reads no more than its
limit. Links are followed while they stay inside. The path to a file is opened one step at a time, so that a folder that
becomes a link in the meantime (the agent may still be running) is noticed as well. A hard link cannot be distinguished
from a file.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any, Literal, Self, TypeAlias

from jury_adapters.core import event_loop
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge, Outcome
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, Status, abstain

Kind: TypeAlias = Literal["file", "directory"]

MOST_BYTES = 10_000_000
"""Default of the maximum number of bytes that are read of a file."""


class Unreadable(Exception):
    """Reason that a file cannot be read.

    Attributes:
        exists: whether a regular file (or folder) inside the workspace exists anyway.
    """

    def __init__(self, reason: str, *, exists: bool = False) -> None:
        super().__init__(reason)
        self.exists = exists


class Missing(Exception):
    """Reason to abstain: something is missing that a judge needs."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Folder that can be read, without leaving it.

    Attributes:
        root: its real path, without links.
    """

    root: Path

    @classmethod
    def at(cls, path: str | Path | None, what: str) -> Self:
        """Return the folder at a path.

        Args:
            path: the path.
            what: the folder's name in messages.

        Raises:
            Missing: there is no path, or no folder there.
        """
        if path is None:
            raise Missing(f"there is no {what}")
        try:
            root = Path(os.path.realpath(path, strict=True))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise Missing(f"the {what} {path} does not exist") from None
        if not root.is_dir():
            raise Missing(f"the {what} {path} is not a folder")
        return cls(root)

    def locate(self, path: str) -> Path:
        """Return the real path of an existing file or folder inside.

        Args:
            path: relative to this folder.

        Raises:
            Unreadable: the path does not exist, or leads out of the folder.
        """
        if _outside(path):
            raise Unreadable(f"{plain_repr(path)} leads out of the workspace")
        try:
            found = Path(os.path.realpath(self.root / path, strict=True))
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise
            raise Unreadable(_NOT_THERE[error.errno].format(path)) from None
        if not found.is_relative_to(self.root):
            raise Unreadable(f"{plain_repr(path)} is a link that leads out of the workspace")
        return found

    def find(self, path: str, kind: Kind) -> Path:
        """Return the real path of a regular file, or of a folder, inside this one.

        Raises:
            Unreadable: the path does not exist (any more), leads out, or is of another kind (a pipe, a device).
        """
        found = self.locate(path)
        try:
            mode = found.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):  # the agent may still be running
            raise Unreadable(f"{plain_repr(path)} does not exist any more") from None
        if not (stat.S_ISREG(mode) if kind == "file" else stat.S_ISDIR(mode)):
            raise Unreadable(f"{plain_repr(path)} is a {_kind_name(mode)}, not a {kind}")
        return found

    def has(self, path: str, kind: Kind = "file") -> bool:
        """Return whether a regular file, or a folder, exists at the path."""
        try:
            self.find(path, kind)
        except Unreadable:
            return False
        return True

    def read(self, path: str, most: int = MOST_BYTES) -> bytes:
        """Return the content of a file.

        Args:
            path: relative to this folder.
            most: the maximum size in bytes.

        Raises:
            Unreadable: the file does not exist, is not regular, is too large, or cannot be opened.
        """
        steps = self.find(path, "file").relative_to(self.root).parts
        try:
            with open(_opened(self.root, steps), "rb") as file:
                content = file.read(most + 1)
        except OSError as error:
            raise Unreadable(f"{plain_repr(path)} cannot be read: {error.strerror or error}", exists=True) from None
        if len(content) > most:
            raise Unreadable(f"{plain_repr(path)} is larger than {most} bytes", exists=True)
        return content

    def read_text(self, path: str, most: int = MOST_BYTES, encoding: str = "utf-8") -> str:
        """Return the content of a text file.

        Raises:
            Unreadable: as :meth:`read`, and if the file is not text in this encoding.
        """
        content = self.read(path, most)
        try:
            return content.decode(encoding)
        except UnicodeError as error:
            raise Unreadable(f"{plain_repr(path)} is not {encoding} text: {error}", exists=True) from None

    def files(self, exclude: Sequence[str] = (), *, others: bool = False) -> Iterator[str]:
        """Yield the relative paths of regular files inside, and of links to them. Linked folders are not entered.

        Args:
            exclude: patterns of files and folders to leave out; see :func:`matches_any`.
            others: whether to yield all that is not a folder: also links that lead out, to a folder or to nothing, and
                pipes and devices.

        Raises:
            Unreadable: there are more than 100,000 entries, or a folder cannot be read.
        """
        folders, seen = [""], 0
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self.root / folder) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError as error:
                raise Unreadable(
                    f"the folder {plain_repr(folder or '.')} cannot be read: {error.strerror or error}"
                ) from None
            seen += len(entries)
            if seen > _MOST_ENTRIES:
                raise Unreadable(f"the workspace holds more than {_MOST_ENTRIES} files and folders; exclude some")
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if matches_any(path, exclude):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif others or entry.is_file(follow_symlinks=False) or (entry.is_symlink() and self.has(path)):
                    yield path


class WorkspaceJudge(Judge):
    """Base class of judges of ``case.workspace``; implement :meth:`inspect`.

    It abstains without a workspace, or when :class:`Missing` is raised. Inside an event loop it works in a thread, so
    that a slow disk never blocks the loop.
    """

    opinion_statuses = PASS_OR_FAIL

    @abstractmethod
    def inspect(self, case: Case, folder: Folder) -> Judgment:
        """Judge the workspace."""

    @property
    def inline(self) -> bool:
        return True

    def _judged(self, case: Case) -> Judgment:
        try:
            return self.inspect(case, Folder.at(case.workspace, "workspace"))
        except Missing as missing:
            return abstain(str(missing))

    async def assess(self, case: Case) -> Outcome:
        if event_loop.runs_inline():
            return self._judged(case)
        return await asyncio.to_thread(self._judged, case)


def inside(path: str, judge: str) -> str:
    """Check that a path stays in the workspace, when a judge is built.

    Raises:
        ConfigurationError: the path is empty or absolute, or contains ``..``.
    """
    if not isinstance(path, str) or not path or "\0" in path:
        raise ConfigurationError(f"{judge} needs the path of a file in the workspace, as text; not {plain_repr(path)}")
    if _outside(path):
        raise ConfigurationError(
            f"{judge}: {plain_repr(path)} leads out of the workspace; give a path relative to it, without '..'"
        )
    return path


def patterns(given: str | Sequence[str], judge: str, option: str) -> tuple[str, ...]:
    """Check the patterns of a judge, and return them; one text is a list of one."""
    found = listed(given)
    if found is None or not all(isinstance(pattern, str) and pattern.strip("/") for pattern in found):
        raise ConfigurationError(
            f"{judge}: {option} takes patterns such as '*.log' or 'build/', not {plain_repr(given)}"
        )
    return found


def listed(given: object) -> tuple[Any, ...] | None:
    """Return the entries of a list, or one text as a list of one; None if the value is not a list."""
    if isinstance(given, str):
        return (given,)
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, bytes | Mapping) else None


def matches_any(path: str, wanted: Sequence[str]) -> bool:
    """Return whether a relative path matches one of these patterns.

    A pattern without a slash (``*.log``, ``node_modules``) is compared with every part of the path. One with a slash
    (``docs/*.md``, ``build/``) is compared with the whole path, and matches the paths below it.
    """
    for pattern in wanted:
        if "/" in pattern.rstrip("/"):
            whole = pattern.strip("/")
            if fnmatchcase(path, whole) or fnmatchcase(path, f"{whole}/*"):
                return True
        elif any(fnmatchcase(part, pattern.rstrip("/")) for part in path.split("/")):
            return True
    return False


def status_of(passed: bool) -> Status:
    """Return PASS or FAIL."""
    return Status.PASS if passed else Status.FAIL


_MOST_ENTRIES = 100_000
_NOT_THERE = {
    errno.ENOENT: "{!r} does not exist",
    errno.ENOTDIR: "{!r} does not exist: a part of it is a file",
    errno.ELOOP: "{!r} is a link that leads in a circle",
    errno.ENAMETOOLONG: "{!r} does not exist: the name is too long",
    errno.EINVAL: "{!r} does not exist: it changed while it was looked at",  # a link that is one no more
}
_KIND_NAMES = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
)
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _outside(path: str) -> bool:
    found = PurePath(path)
    return bool(found.anchor) or ".." in found.parts


def _kind_name(mode: int) -> str:
    return next((name for is_kind, name in _KIND_NAMES if is_kind(mode)), "device")


def _opened(root: Path, steps: Sequence[str]) -> int:
    """Return a descriptor of a regular file, reached from the root without following any link."""
    if os.open not in os.supports_dir_fd:
        return _regular(os.open(root.joinpath(*steps), _FILE))
    folder = os.open(root, _STEP)
    try:
        for step in steps[:-1]:
            inner = os.open(step, _STEP, dir_fd=folder)
            os.close(folder)
            folder = inner
        # Opening a device may have an effect, so the kind is checked before, and again after opening.
        if not stat.S_ISREG(os.stat(steps[-1], dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.EINVAL, "not a regular file any more")
        return _regular(os.open(steps[-1], _FILE, dir_fd=folder))
    finally:
        os.close(folder)


def _regular(descriptor: int) -> int:
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file")
