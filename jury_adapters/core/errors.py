"""The exceptions of this package, one tree::

    JuryError
    ├── ConfigurationError      something was built wrongly; also a ValueError
    │   └── InputError          a file or row of input cannot be read
    └── GateFailed              a verdict does not meet what `require` asked; also an AssertionError

A judge never raises for a case: whatever goes wrong while judging becomes a judgment with status ERROR.
These exceptions are for wrong construction and for gates, and each message says what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class JuryError(Exception):
    """Base of every exception this package raises on purpose."""


class ConfigurationError(JuryError, ValueError):
    """Something was built wrongly; the message says how to build it."""


class InputError(ConfigurationError):
    """A file, or a row of one, cannot be read as cases, votes or results."""


class GateFailed(JuryError, AssertionError):
    """A verdict misses a condition of :meth:`Verdict.require`.

    Attributes:
        unmet: one sentence per condition that was not met.
    """

    def __init__(self, unmet: Iterable[str]) -> None:
        self.unmet = tuple(unmet)
        super().__init__("the verdict does not meet its gates:\n" + "\n".join(f"  - {line}" for line in self.unmet))

    def __reduce__(self) -> tuple[type[GateFailed], tuple[tuple[str, ...]]]:
        return (GateFailed, (self.unmet,))


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Say that ``name`` is not known, what is, and which one was probably meant."""
    names = sorted(known)
    close = get_close_matches(str(name).lower(), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"unknown {what} {name!r}.{hint} Known: {', '.join(names) or 'none'}."
