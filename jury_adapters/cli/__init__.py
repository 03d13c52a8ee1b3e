"""The ``jury`` command.

``jury judge`` judges a file of cases, ``jury review`` asks for human labels of the contested ones, ``jury calibrate``
learns from human labels, and ``jury doctor`` shows the setup; ``jury --help`` lists all commands.
Importing this package loads neither typer nor rich; :func:`main` does, except for ``jury --version``.
"""

from __future__ import annotations

import gc
import io
import sys
import warnings

from jury_adapters.cli.exit_codes import ExitCode

__all__ = ["main"]

_OBJECTS_BETWEEN_COLLECTIONS = 10_000  # the objects of imported modules are not garbage, so look for it less often


def main() -> None:
    """Run the ``jury`` command and exit with its :class:`~jury_adapters.cli.exit_codes.ExitCode`."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    warnings.formatwarning = _warning_of_command
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that cannot be decoded or shown must not stop the run
            stream.reconfigure(errors="backslashreplace")
    _, *arguments = sys.argv
    try:
        sys.exit(_run(arguments))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    finally:
        _close_quietly()


def _run(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    try:
        if arguments == ["--version"]:  # typer alone takes longer than all of this
            from jury_adapters.cli.version import print_version

            print_version()
            return ExitCode.OK
        from jury_adapters.cli.app import run

        return run()
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "click"):
            raise
        from jury_adapters.core.installation import needs_extra

        print(needs_extra("the jury command", "typer and rich", "cli"), file=sys.stderr)
        return ExitCode.BAD_INPUT
    except OSError as error:
        if error.filename is None:  # not about a given file, so not an error of the user
            raise
        from jury_adapters.cli.streams import Messages

        Messages().error(f"{error.filename}: {error.strerror}")
        return ExitCode.BAD_INPUT


def _close_quietly() -> None:
    """Flush standard output here, where an error because of a closed pipe can still be ignored."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from jury_adapters.cli.streams import silence

        silence()


def _warning_of_command(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Return a warning as the message of a command; only warnings to programmers name a line of code."""
    if category is UserWarning:
        from jury_adapters.core.formatting import visible

        return f"warning: {visible(str(message))}\n"
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"
