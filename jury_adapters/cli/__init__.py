"""The ``jury`` command.

``jury judge`` judges a file of cases, ``jury review`` asks for human labels of the contested ones, ``jury calibrate``
learns from human labels, and ``jury doctor`` shows the setup; ``jury --help`` lists all commands.
Importing this package loads neither typer nor rich; :func:`main` does.
"""

from __future__ import annotations

import io
import sys

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.core.installation import needs_extra

__all__ = ["main"]


def main() -> None:
    """Run the ``jury`` command and exit with its :class:`~jury_adapters.cli.exit_codes.ExitCode`."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that cannot be decoded or shown must not stop the run
            stream.reconfigure(errors="backslashreplace")
    try:
        from jury_adapters.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "click"):
            raise
        print(needs_extra("the jury command", "typer and rich", "cli"), file=sys.stderr)
        sys.exit(ExitCode.BAD_INPUT)
    try:
        sys.exit(run())
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    finally:
        _close_quietly()


def _close_quietly() -> None:
    """Flush standard output here, where an error because of a closed pipe can still be ignored."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from jury_adapters.cli.streams import silence

        silence()
