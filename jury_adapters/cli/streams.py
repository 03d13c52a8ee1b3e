"""Standard output and standard error of the command: results go to the one, news to the other."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from jury_adapters.core.render import visible_lines

if TYPE_CHECKING:
    from tqdm import tqdm

_WIDTH = 120  # where there is no terminal, and nobody has set COLUMNS


def show(render: Callable[[Console], None]) -> None:
    """Print to standard output. A reader that is gone (``| head``) is no reason to fail."""
    console = _console(stderr=False)
    with _to_stdout(), console.capture() as captured:
        render(console)
    _send(captured.get())


def write(text: str) -> None:
    """Write text to standard output, also when its reader is gone; only its line breaks stay as they are."""
    _send(visible_lines(text))


class SafeConsole(Console):
    """Console that makes control characters visible in whatever it prints, so that no text can steer a terminal.

    Tables measure a text before it is printed: what comes from files is made visible there already. This is the net
    below, for all texts of all commands.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as :class:`rich.console.Console` does, with safe texts; rich's own control codes stay."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible_lines(segment.text), segment.style)


def _send(text: str) -> None:
    with _to_stdout():
        sys.stdout.write(text)
        sys.stdout.flush()


def silence() -> None:
    """Send what is still to be written to nowhere, so that the interpreter's last flush does not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def _to_stdout() -> Iterator[None]:
    """A block that writes to standard output; where its reader is gone, the rest goes to nowhere.

    Raises:
        OSError: it takes no more, such as a file on a full disk; the error names it.
    """
    try:
        yield
    except BrokenPipeError:
        silence()
    except OSError as error:
        silence()
        raise OSError(error.errno, error.strerror, "standard output") from None


class News:
    """Messages for the person at the terminal, on standard error; text from files is shown, never obeyed.

    Args:
        quiet: whether only errors are told.

    Attributes:
        quiet: the same.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = _console(stderr=True)
        self.quiet = quiet
        self._bar: tqdm[NoReturn] | None = None

    def tell(self, message: str, style: str = "") -> None:
        """Print a message; line breaks stay, other control characters are made visible."""
        if not self.quiet:
            self._print(message, style)

    def insist(self, message: str) -> None:
        """Print a message also where only errors are told, because somebody's data are lost."""
        self._print(message, "yellow")

    def error(self, message: str) -> None:
        """Print why the command fails."""
        self._print(f"error: {message}", "red")

    @property
    def live(self) -> bool:
        """Whether something may move on the screen, such as a bar: a person watches, on a terminal that can do it."""
        return not self.quiet and sys.stderr.isatty() and self.console.is_terminal and not self.console.is_dumb_terminal

    @contextmanager
    def moving(self, bar: tqdm[NoReturn]) -> Iterator[tqdm[NoReturn]]:
        """Keep messages off a bar while it moves, and close the bar."""
        with bar:
            self._bar = bar
            try:
                yield bar
            finally:
                self._bar = None

    def _print(self, message: str, style: str) -> None:
        with nullcontext() if self._bar is None else self._bar.external_write_mode(file=sys.stderr):
            self.console.print(Text(visible_lines(message), style=style), soft_wrap=True)


def _console(*, stderr: bool) -> SafeConsole:
    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if terminal or os.environ.get("COLUMNS") else _WIDTH
    return SafeConsole(stderr=stderr, highlight=False, width=width)
