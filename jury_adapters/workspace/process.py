"""Execution of one program in a workspace: no keys in its environment, bounded output, no processes left behind.

The work is done in a separate thread, because asyncio's way of waiting for child processes differs between Python
versions and event loops, and because that thread continues to its end when the waiting task is cancelled. The
program gets its own session. When it has ended, or its time is up, or the waiting task is cancelled, all processes
that it started are killed: those of its process group anywhere, and on Linux also those that moved into another
session, found by a mark in their environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import signal
import subprocess
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic, sleep
from typing import IO


@dataclass(frozen=True, slots=True)
class Job:
    """Program to run.

    Attributes:
        argv: the program and its arguments.
        folder: its working directory.
        environment: its whole environment; see :func:`clean_environment`.
        timeout_s: seconds it may take.
        max_output: bytes of its output to keep, the first half and the last.
    """

    argv: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    timeout_s: float
    max_output: int


@dataclass(frozen=True, slots=True)
class Ended:
    """Result of a program.

    Attributes:
        exit_code: as in the shell: 128 + the signal's number for a program that a signal ended; None if it was
            stopped because its time was up.
        output: its standard output and standard error, in order of arrival, shortened.
    """

    exit_code: int | None
    output: str


async def run_job(job: Job) -> Ended:
    """Run a program and wait for it, without blocking the event loop.

    When cancelled, it kills the program first.

    Raises:
        OSError: the program cannot be started.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    run = _Run(job)

    def work() -> None:
        run.to_its_end()
        with contextlib.suppress(RuntimeError):  # raised if the loop is closed, when nothing waits
            loop.call_soon_threadsafe(done.set_result, None)

    threading.Thread(target=work, name="jury-command", daemon=True).start()
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        run.stop.set()
        await asyncio.wait((done,), timeout=_GRACE_S + 2)
        raise
    return run.result()


def clean_environment(passed: Sequence[str], added: Mapping[str, str]) -> dict[str, str]:
    """Return an environment of the variables that programs need to run.

    It uses a list of names, so that no key or password of this process is passed on.

    Args:
        passed: names of further variables to pass on; ``CI_*`` means all that begin so.
        added: variables to set.
    """
    wanted = (*_HARMLESS, *passed)
    kept = {name: value for name, value in os.environ.items() if any(fnmatchcase(name, one) for one in wanted)}
    return {"PATH": os.defpath, **kept, "NO_COLOR": "1", "TERM": "dumb", **added}


# Full names only, because programs may read variables such as LC_API_KEY.
_HARMLESS = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "JAVA_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "CARGO_HOME", "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN", "NVM_DIR", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
    "LC_ADDRESS", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_NAME", "LC_PAPER", "LC_TELEPHONE",
)  # fmt: skip
_MARK = "JURY_ADAPTERS_COMMAND"
_GRACE_S = 1.0  # between SIGTERM and SIGKILL; a sandbox uses it to stop the programs inside
_MOST_SWEEPS = 100
_SWEEP_S = 0.003
_TICK_S = 0.05


@dataclass(eq=False)
class _Run:
    """Run of a job in a separate thread."""

    job: Job
    stop: threading.Event = field(default_factory=threading.Event)
    ended: Ended | None = None
    error: BaseException | None = None

    def result(self) -> Ended:
        if self.ended is None:
            raise self.error or ChildProcessError("the program was stopped")
        return self.ended

    def to_its_end(self) -> None:
        try:
            if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
                raise ChildProcessError("this process ignores SIGCHLD, so no exit code can be read")
            self.ended = self._run()
        except BaseException as error:  # raised again in the waiting task
            self.error = error

    def _run(self) -> Ended:
        mark = f"{_MARK}={uuid.uuid4().hex}"
        process = subprocess.Popen(
            list(self.job.argv),
            cwd=self.job.folder,
            env={**self.job.environment, _MARK: mark.partition("=")[2]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        output = _Output(self.job.max_output)
        assert process.stdout is not None
        with process.stdout as pipe:
            os.set_blocking(pipe.fileno(), False)
            try:
                ended = self._watch(process, pipe, output, monotonic() + self.job.timeout_s)
                if not ended:
                    _send(process.pid, signal.SIGTERM)
                    self._watch(process, pipe, output, monotonic() + _GRACE_S, patient=True)
            finally:
                _end_all(process, mark.encode())
            output.take(pipe)
        code = process.returncode
        return Ended((128 - code if code < 0 else code) if ended else None, output.text())

    def _watch(
        self, process: subprocess.Popen[bytes], pipe: IO[bytes], output: _Output, deadline: float, patient: bool = False
    ) -> bool:
        """Read the output until the program ends. Return False on timeout or, unless ``patient``, on ``stop``."""
        tick = 0.001
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while process.poll() is None:
                left = deadline - monotonic()
                if left <= 0 or (self.stop.is_set() and not patient):
                    return False
                tick = min(2 * tick, _TICK_S, left)
                if not selector.get_map():
                    sleep(tick)
                elif selector.select(tick) and not output.take(pipe):
                    selector.unregister(pipe)  # closed by all its writers; the program itself may still run
        return True


class _Output:
    """Beginning and end of a program's output."""

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def take(self, pipe: IO[bytes]) -> bool:
        """Read available output, up to a limit. Return False at its end."""
        for _ in range(64):
            try:
                chunk = os.read(pipe.fileno(), 65536)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            room = self._half - len(self._head)
            self._head += chunk[:room]
            self._tail += chunk[room:]
            excess = max(0, len(self._tail) - self._half)
            self._left_out += excess
            del self._tail[:excess]
        return True

    def text(self) -> str:
        if not self._left_out:
            return (self._head + self._tail).decode(errors="replace")
        gap = f"\n[... {self._left_out} bytes left out ...]\n"
        return self._head.decode(errors="replace") + gap + self._tail.decode(errors="replace")


def _end_all(process: subprocess.Popen[bytes], mark: bytes) -> None:
    """Kill the remaining processes of a program, and reap those that became children of this process."""
    orphans: set[int] = set()
    for _ in range(_MOST_SWEEPS):  # a process that forks in the meantime is found in the next round
        found = _marked(mark)
        _send(process.pid, signal.SIGKILL)  # all at once, so that no shell can report the end of its children
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        orphans |= found - {process.pid}
        if not found:
            break
        sleep(_SWEEP_S)
    with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel, for example on a disk that has failed
        process.wait(timeout=_GRACE_S)
    for pid in orphans:  # they become children of a container's first process, which may be this one
        _reap(pid)


def _reap(pid: int) -> None:
    until = monotonic() + _GRACE_S
    with contextlib.suppress(ChildProcessError):  # another process reaps it
        while os.waitpid(pid, os.WNOHANG) == (0, 0) and monotonic() < until:
            sleep(_SWEEP_S)


def _send(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # PermissionError: on macOS, for a group of zombies
        os.killpg(group, number)


def _marked(mark: bytes) -> set[int]:
    """Return the living processes that have the mark; none without /proc."""
    found = set()
    with contextlib.suppress(FileNotFoundError), os.scandir("/proc") as processes:
        for entry in processes:
            if entry.name.isdigit():
                with contextlib.suppress(OSError):  # it has ended, or belongs to another user
                    if mark in Path(entry.path, "environ").read_bytes().split(b"\0"):
                        found.add(int(entry.name))
    return found
