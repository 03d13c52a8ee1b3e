"""The command as a process, forked from one that has imported it already: an interpreter of its own takes a second.

What such a process has of its own is all that a test asks of one: its arguments, environment, folder, standard
streams, signals, and exit code. What happens while an interpreter starts or ends needs ``python -m jury_adapters.cli``.
"""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from multiprocessing import context, forkserver, get_context, reduction
from pathlib import Path
from typing import Any
from unittest.mock import patch

from jury_adapters.cli import main


class _Inherited:
    """File descriptor that the process inherits."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __reduce__(self) -> tuple[Callable[..., int], tuple[Any]]:
        return _detached, (reduction.DupFd(self._descriptor),)


def _detached(duplicate: Any) -> int:
    return int(duplicate.detach())


@cache
def _forked() -> context.ForkServerContext:
    forked = get_context("forkserver")
    forked.set_forkserver_preload(["tests.support.warm_command"])
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))):
        forkserver.ensure_running()
    return forked


class Command:
    """``jury`` with these arguments.

    Args:
        *arguments: its arguments.
        streams: the file descriptors of its standard input, output and error.
        environment: its environment.
        folder: where it runs; where the test does by default.
        largest_file: the bytes that a file may have which it writes.
    """

    def __init__(
        self,
        *arguments: object,
        streams: Sequence[int],
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        largest_file: int | None = None,
    ) -> None:
        environment = dict(os.environ if environment is None else environment)
        command = ([*map(str, arguments)], environment, folder or Path.cwd(), largest_file)
        self._process = _forked().Process(target=_run, args=(*command, *map(_Inherited, streams)), daemon=True)
        self._process.start()

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout: float = 60) -> int:
        self._process.join(timeout)
        if (code := self._process.exitcode) is None:
            self.kill()
        assert code is not None, "the command does not end"
        self._process.close()
        return code


def run_command(
    *arguments: object,
    typed: str | bytes = "",
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    largest_file: int | None = None,
    out: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end.

    Args:
        *arguments: its arguments.
        typed: all of its standard input, at most what a pipe holds.
        environment: its environment.
        folder: where it runs; where the test does by default.
        largest_file: the bytes that a file may have which it writes.
        out: its standard output, where that is not to be read.
    """
    (reading, writing), (out_end, output), (error_end, errors) = (os.pipe() for _ in range(3))
    os.write(writing, typed.encode() if isinstance(typed, str) else typed)
    os.close(writing)
    streams = (reading, output if out is None else out, errors)
    command = Command(*arguments, streams=streams, environment=environment, folder=folder, largest_file=largest_file)
    for theirs in (reading, output, errors):
        os.close(theirs)
    with ThreadPoolExecutor(2) as readers:
        texts = readers.map(_rest, (out_end, error_end))
        code = command.wait()
        return subprocess.CompletedProcess(arguments, code, *texts)


def on_a_terminal(arguments: Sequence[object], environment: Mapping[str, str], folder: Path | None = None) -> str:
    """Return the output of the command on a terminal, from its start to its end; it must end well."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = Command(*arguments, streams=(theirs, theirs, theirs), environment=environment, folder=folder)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # how Linux says that the other side is closed
        while chunk := os.read(ours, 65536):
            shown += chunk
    os.close(ours)
    assert command.wait() == 0, shown.decode()
    return shown.decode()


def _rest(descriptor: int) -> str:
    with os.fdopen(descriptor, encoding="utf-8") as stream:
        return stream.read()


def _run(
    arguments: list[str],
    environment: dict[str, str],
    folder: Path,
    largest_file: int | None,
    *streams: int,
) -> None:
    """Be the command, in the process."""
    for standard, stream in enumerate(streams):
        os.dup2(stream, standard)
        os.close(stream)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["jury", *arguments]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    if largest_file is not None:
        sys.dont_write_bytecode = True  # a file of bytecode that is cut off would break every later import
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    main()
