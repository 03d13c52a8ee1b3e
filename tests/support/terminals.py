"""A terminal of our own, for programs that behave otherwise on one."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class Terminal:
    """A program on a terminal; what it shows can be read, and typed to.

    Args:
        command: the program and its arguments.
        environment: its environment.
        folder: where it runs; where the test does by default.

    >>> with Terminal(["bash", "-i"], os.environ) as bash:  # doctest: +SKIP
    ...     bash.wait_for("$ ")
    ...     bash.type("exit\\n")
    ...     text = bash.rest()
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        self._shown = b""

    def wait_for(self, text: str) -> None:
        """Read until it has shown this."""
        while text.encode() not in self._shown:
            self._shown += os.read(self._ours, 65536)

    def type(self, text: str) -> None:
        """Send keys."""
        os.write(self._ours, text.encode())

    def rest(self) -> str:
        """All that it has shown, once it has ended; it must end well."""
        with suppress(OSError):  # how Linux says that the other side is closed
            while chunk := os.read(self._ours, 65536):
                self._shown += chunk
        assert self._process.wait(timeout=60) == 0, self._shown.decode()
        return self._shown.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._ours)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def on_a_terminal(command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None) -> str:
    """Return the output of a program on a terminal, from its start to its end; it must end well."""
    with Terminal(command, environment, folder) as terminal:
        return terminal.rest()
