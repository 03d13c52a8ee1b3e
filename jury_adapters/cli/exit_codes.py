"""Exit codes of the ``jury`` command."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit code of every command.

    Attributes:
        meaning: when a command ends with it, for the documentation.

    >>> ExitCode.BAD_INPUT, ExitCode(130).meaning
    (<ExitCode.BAD_INPUT: 2>, 'stopped by Ctrl-C; `judge` and `review` print the summary so far, if judging had begun')
    """

    meaning: str

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    OK = 0, "done, or passed"
    NOT_MET = (
        1,
        "the result is not what was asked for: below `--fail-under` (also if only because judges broke or a budget was "
        "spent), a gate of the jury file missed, most cases "
        "not decided because of errors, a model given up, a row unread with `--strict`; no guarantee that the labels "
        "allow (`calibrate`); a model or a store that does not answer (`doctor`)",
    )
    BAD_INPUT = 2, "bad input or usage, or an output that cannot be written; the message says what to do"
    INTERRUPTED = 130, "stopped by Ctrl-C; `judge` and `review` print the summary so far, if judging had begun"
    TERMINATED = 143, "ended by SIGTERM, which `review` catches to leave the terminal as it was"
