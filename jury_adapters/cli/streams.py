"""Standard output and standard error of the command: results go to the former, messages to the latter.

rich is imported when something is printed with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from itertools import islice
from json import JSONEncoder
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from tqdm import tqdm

    from jury_adapters.cli.safe_console import SafeConsole

_PIECES = 1 << 12  # of JSON, written at once
_WIDTH = 120  # if there is no terminal and COLUMNS is not set


def show(render: Callable[[Console], None]) -> None:
    """Print to standard output. A closed pipe (``| head``) is not an error."""
    console = _console(stderr=False)
    with _to_stdout(), console.capture() as captured:
        render(console)
    send(captured.get())


def write(text: str) -> None:
    """Write text to standard output, even to a closed pipe; control characters except line breaks become visible."""
    from jury_adapters.core.formatting import visible_lines

    send(visible_lines(text))


def write_json(value: object) -> None:
    """Write a value to standard output as JSON, piece by piece, because it may have a hundred thousand cases."""
    from jury_adapters.core.formatting import visible_lines

    pieces = JSONEncoder(indent=2).iterencode(value)
    with _to_stdout():
        while block := "".join(islice(pieces, _PIECES)):
            sys.stdout.write(visible_lines(block))
        sys.stdout.write("\n")
        sys.stdout.flush()


def send(text: str) -> None:
    """Write text of this package to standard output as it is, even to a closed pipe."""
    with _to_stdout():
        sys.stdout.write(text)
        sys.stdout.flush()


def silence() -> None:
    """Discard any further output, so that the interpreter's last flush does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def _to_stdout() -> Iterator[None]:
    """Context manager for a block that writes to standard output; if the pipe is closed, the rest is discarded.

    Raises:
        OSError: the output cannot be written, for example to a full disk; the error names it.
    """
    try:
        yield
    except BrokenPipeError:
        silence()
    except OSError as error:
        silence()
        raise OSError(error.errno, error.strerror, "standard output") from None


class Messages:
    """Printer of messages for the user on standard error; control characters in them are shown, never executed.

    Args:
        quiet: whether only errors are printed.

    Attributes:
        quiet: the same.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._bar: tqdm[NoReturn] | None = None

    @cached_property
    def console(self) -> SafeConsole:
        """The console of standard error."""
        return _console(stderr=True)

    def info(self, message: str, style: str = "") -> None:
        """Print a message; line breaks are kept, other control characters are made visible."""
        if not self.quiet:
            self._print(message, style)

    def warn(self, message: str) -> None:
        """Print a warning even if only errors are printed, because some of the user's data was lost."""
        self._print(message, "yellow")

    def not_met(self, message: str) -> None:
        """Print why the exit code is 1, even if only errors are printed."""
        self._print(message, "")

    def error(self, message: str) -> None:
        """Print the reason why the command fails."""
        self._print(f"error: {message}", "red")

    @property
    def live(self) -> bool:
        """Whether a moving element such as a bar may be shown: standard error is a capable terminal, and not quiet."""
        return not self.quiet and sys.stderr.isatty() and self.console.is_terminal and not self.console.is_dumb_terminal

    @contextmanager
    def moving(self, bar: tqdm[NoReturn]) -> Iterator[tqdm[NoReturn]]:
        """Keep messages apart from a moving bar, and close the bar at the end."""
        with bar:
            self._bar = bar
            try:
                yield bar
            finally:
                self._bar = None

    def _print(self, message: str, style: str) -> None:
        from rich.text import Text

        from jury_adapters.core.formatting import visible_lines
        from jury_adapters.core.secrets import without_passwords

        message = without_passwords(message)
        with nullcontext() if self._bar is None else self._bar.external_write_mode(file=sys.stderr):
            self.console.print(Text(visible_lines(message), style=style), soft_wrap=True)


def _console(*, stderr: bool) -> SafeConsole:
    from jury_adapters.cli.safe_console import SafeConsole

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if terminal or os.environ.get("COLUMNS") else _WIDTH
    return SafeConsole(stderr=stderr, highlight=False, width=width)
