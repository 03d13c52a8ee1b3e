"""Locks of files that one process writes at a time; the system releases them when the process ends or is killed."""

from __future__ import annotations

import errno
import os
import sys
import time
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _BYTE = 1 << 40  # far behind the content: the byte that is locked cannot be read by others

    def _change(descriptor: int, mode: int) -> None:
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, mode, 1)
        finally:
            os.lseek(descriptor, position, os.SEEK_SET)

    def _lock(descriptor: int) -> None:
        _change(descriptor, msvcrt.LK_NBLCK)

    def _unlock(descriptor: int) -> None:
        _change(descriptor, msvcrt.LK_UNLCK)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


_PATIENCE_S = 0.1
_TAKEN = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})


class FileInUse(Exception):
    """Signal that another process has locked a file, or another part of this one."""


def lock_file(descriptor: int) -> bool:
    """Lock an open file until it is unlocked or closed.

    The lock is advisory: it stops those who lock the file too. Another lock is waited for a tenth of a second, because
    :func:`is_in_use` takes one for a moment.

    Args:
        descriptor: the descriptor of the file, which is open for writing.

    Returns:
        True if the file is locked; False if its file system has no locks.

    Raises:
        FileInUse: the file is locked already.
    """
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno not in _TAKEN:
                return False
            if time.monotonic() > until:
                raise FileInUse from None
            time.sleep(_PATIENCE_S / 5)
        else:
            return True


def unlock_file(descriptor: int) -> None:
    """Release the lock of :func:`lock_file`; nothing happens without one."""
    try:
        _unlock(descriptor)
    except OSError:  # no locks, or none to release
        return


def is_in_use(path: Path) -> bool:
    """Whether a file is locked by its writer. A file that does not exist or cannot be opened is not."""
    if not path.is_file():
        return False
    try:
        with path.open("r+b") as file:
            lock_file(file.fileno())
            unlock_file(file.fileno())
    except FileInUse:
        return True
    except OSError:
        return False
    return False
