"""Execution of one program: no keys in its environment, bounded output, and nothing that it started is left behind."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

_MOST_OUTPUT = 20_000  # bytes that are kept, from the end
_LARGEST_OUTPUT = 100_000_000  # bytes on disk, after which the program is ended
_TICK_S = 0.1
# Full names only: a program may read variables such as LC_API_KEY.
_HARMLESS = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "JAVA_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "CARGO_HOME", "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN", "NVM_DIR", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ended:
    """Result of a program.

    Attributes:
        exit_code: 128 + n for a program that the signal n ended; None if it was ended here.
        output: the end of its standard output and standard error, together.
        why: why it was ended here.
    """

    exit_code: int | None
    output: str
    why: str = ""


def environment(passed: Sequence[str], added: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that programs need to run, so that no key of this process reaches them.

    Args:
        passed: the names of further variables to pass on; ``CI_*`` means all that begin so.
        added: variables to set.
    """
    wanted = (*_HARMLESS, *passed)
    kept = {name: value for name, value in os.environ.items() if any(fnmatchcase(name, one) for one in wanted)}
    return {"PATH": os.defpath, **kept, "NO_COLOR": "1", "TERM": "dumb", **added}


async def run(argv: Sequence[str], folder: Path, variables: Mapping[str, str], time_limit: float) -> Ended:
    """Run a program and wait for it. When it has ended, or this is cancelled, its process group is killed.

    Args:
        argv: the program and its arguments. A name without a slash is looked for on the PATH, and beside the Python
            that runs this, but never in the folder.
        folder: the working directory.
        variables: its whole environment.
        time_limit: the seconds it may take.

    Raises:
        OSError: the program cannot be started.
    """
    path = os.pathsep.join([variables.get("PATH", ""), str(Path(sys.executable).parent)])
    name = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=path)
    if name is None or not (program := (folder if "/" in argv[0] else Path.cwd()) / name).exists():
        raise FileNotFoundError(f"there is no program {argv[0]!r}")
    with tempfile.TemporaryFile() as output:  # a pipe that a daemon keeps open would make this wait
        process = await asyncio.create_subprocess_exec(
            program, *argv[1:], cwd=folder, env=dict(variables), stdin=asyncio.subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
        try:
            why = await _ended(process, output, time_limit)
        finally:  # also when judging is cancelled
            with suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies
                os.killpg(process.pid, signal.SIGKILL)
            code = await process.wait()
        output.seek(max(0, output.seek(0, os.SEEK_END) - _MOST_OUTPUT))
        text = output.read(_MOST_OUTPUT).decode(errors="replace")
    return Ended(None if why else 128 - code if code < 0 else code, text, why)


async def _ended(process: asyncio.subprocess.Process, output: IO[bytes], time_limit: float) -> str:
    """Wait for the end of a program; return why it has to be ended, if it has."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + time_limit
    while process.returncode is None:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), min(_TICK_S, max(0.0, deadline - clock())))
        if os.fstat(output.fileno()).st_size > _LARGEST_OUTPUT:
            return f"output: more than {_LARGEST_OUTPUT:,} bytes"
        if process.returncode is None and clock() >= deadline:
            return f"timeout: no end within {time_limit:g} s"
    return ""
