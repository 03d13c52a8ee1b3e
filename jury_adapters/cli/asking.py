"""Questions to the reviewer: single keys on a terminal, lines if input is piped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Self

import typer
from rich.text import Text

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.streams import Messages
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import visible

BACK, MORE, NOTE, QUIT, SKIP = "back", "more", "note", "quit", "skip"
_ACTIONS = {"s": SKIP, "b": BACK, "n": NOTE, "m": MORE, "q": QUIT}
_HELP = ("h", "?", "help")
_ABOUT = {
    "u": "you cannot say; it counts as labelled, and for neither side",
    "s": "leave this case for another time",
    "b": "the case before this one, to say something else",
    "n": "write a note beside your label",
    "m": "show long texts to their end",
    "q": "stop; whatever you have said is kept",
    "h": "this list",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer that a reviewer may give.

    Attributes:
        key: the key for it.
        word: its name on the screen, and in typed lines.
        said: the recorded value.
    """

    key: str
    word: str
    said: str


def choices_of(labels: Sequence[str], unsure: str) -> list[Choice]:
    """Return the possible answers: pass, fail and unsure; or the jury's own labels, by number.

    Args:
        labels: the labels of a jury whose verdicts are neither PASS nor FAIL; empty for other juries.
        unsure: the recorded value for *unsure*.

    Raises:
        InputError: there are more labels than number keys.
    """
    if len(labels) > 9:
        raise InputError(f"this jury has {len(labels)} labels, and review asks for at most 9 by key")
    own = [Choice(str(number), label, label) for number, label in enumerate(labels, start=1)]
    return [*(own or [Choice("p", "pass", "PASS"), Choice("f", "fail", "FAIL")]), Choice("u", "unsure", unsure)]


class Asker:
    """Prompt for one of the choices, or for another action. Use it as a context manager.

    On a terminal, a single key is enough. Otherwise, each line is an answer: its key or its word, optionally followed
    by a note, such as ``fail the year is wrong``.

    Args:
        messages: prints the question and the answers to typing errors.
        choices: the possible answers.
    """

    def __init__(self, messages: Messages, choices: Sequence[Choice]) -> None:
        self._messages = messages
        self._choices = choices
        self._words = {choice.key: choice.said for choice in choices} | {c.word.lower(): c.said for c in choices}
        self._actions: Mapping[str, str] = _ACTIONS | {word: word for word in _ACTIONS.values()}
        self._keys = sys.stdin is not None and sys.stdin.isatty()  # None if it was closed (<&-)

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGTERM, _leave)  # the terminal mode must be restored while a key is read
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGTERM, self._before)

    def ask(self) -> tuple[str | None, str, str]:
        """Ask until there is an answer.

        Returns:
            The answer (or None), the other action (``skip``, ``back``, ``more``, ``quit``, ``note``; or empty),
            and the note.

        Raises:
            EOFError: there is no more input.
        """
        while True:
            self._messages.console.print(self._question(), end=" ", soft_wrap=True)
            given, note = (self._key(), "") if self._keys else self._line()
            if given in self._words:
                return self._words[given], "", note
            if given in self._actions:
                return None, self._actions[given], note
            if given in _HELP:
                self._explain()
            else:
                complaint = f"{given!r} is not an answer; type one of the keys in brackets, h for help"
                self._messages.info(complaint, "yellow")

    def _explain(self) -> None:
        """Print the meaning of each key."""
        for choice in self._choices:
            self._messages.info(
                f"  {choice.key}  {choice.word}: {_ABOUT.get(choice.key, 'what you say of the answer')}"
            )
        for key, word in (*_ACTIONS.items(), ("h", "help")):
            self._messages.info(f"  {key}  {word}: {_ABOUT[key]}")

    def note(self) -> str:
        """Read a line with a note; empty if there is none.

        Raises:
            EOFError: there is no more input, and no terminal.
        """
        self._messages.console.print("note:", end=" ")
        try:
            return _cleaned(_read_line())
        except EOFError:
            if not self._keys:
                raise
            self._messages.info("")
            return ""

    def _question(self) -> Text:
        parts = [_offered(choice.key, visible(choice.word)) for choice in self._choices]
        parts += [_offered(key, word) for key, word in (*_ACTIONS.items(), ("h", "help"))]
        return Text("  ".join(parts) + " >", style="bold")

    def _key(self) -> str:
        self._messages.console.file.flush()
        pressed = typer.getchar().lower()
        word = next(
            (choice.word for choice in self._choices if choice.key == pressed),
            self._actions.get(pressed, "help" if pressed in _HELP else ""),
        )
        self._messages.info(word)
        return pressed

    def _line(self) -> tuple[str, str]:
        line = _read_line()
        self._messages.info(line.rstrip("\n"))
        whole = line.strip().lower()
        if whole in self._words:  # a label of several words
            return whole, ""
        first, _, note = line.strip().partition(" ")
        return first.lower(), _cleaned(note)


def _offered(key: str, word: str) -> str:
    """Return ``[p]ass``; or ``[1] DROP`` if the word does not begin with the key."""
    return f"[{key}]{word[1:]}" if word.startswith(key) else f"[{key}] {word}"


def _read_line() -> str:
    line = "" if sys.stdin is None else sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _cleaned(note: str) -> str:
    return note.strip().encode(errors="backslashreplace").decode()


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(ExitCode.TERMINATED)
