"""Regular expressions for hostile patterns and texts, with limits on time and size.

They run in the ``regex`` library (a superset of ``re``), which has a time limit. ``re`` has none, and a
pattern that explodes there blocks the whole process, including Ctrl-C.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.installation import needs_extra

if TYPE_CHECKING:
    import regex

LONGEST_S = 60
"""Maximum time limit of a pattern in seconds."""
_LARGEST = 100_000  # single characters, sets and groups in a pattern with its repetitions written out


def compile_pattern(pattern: str, what: str, *, ignore_case: bool = False) -> regex.Pattern[str]:
    """Compile a pattern. Match it with ``timeout=``, which raises TimeoutError.

    Args:
        pattern: the regular expression.
        what: the name of the user of the pattern, for the error message when ``regex`` is not installed.
        ignore_case: match without regard to upper and lower case.

    Raises:
        ConfigurationError: the pattern is not valid or too large when its repetitions are written out, or ``regex`` is
            not installed.
    """
    if not isinstance(pattern, str):
        raise ConfigurationError(f"a regular expression is text, not {plain_repr(pattern)}")
    try:
        import regex  # noqa: F401  a pattern that was compiled before needs it, too
    except ImportError as error:
        raise ConfigurationError(needs_extra(what, "the package regex", "checks")) from error
    return _compiled(pattern, ignore_case)


def check_pattern_timeout(seconds: object) -> None:
    """Check the time limit of a pattern, which is mandatory because Ctrl-C does not stop a pattern.

    Raises:
        ConfigurationError: the limit is not a number of seconds, or too large.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_S:
        raise ConfigurationError(
            f"timeout_s is a positive number of seconds, {LONGEST_S} at most; not {plain_repr(seconds)}"
        )


@lru_cache(maxsize=512)
def _compiled(pattern: str, ignore_case: bool) -> regex.Pattern[str]:
    import regex

    if _size(pattern) > _LARGEST:
        raise ConfigurationError(
            f"the regular expression {plain_repr(pattern[:60])} is too large: its repetitions stand for more than "
            f"{_LARGEST:,} characters; repeat less"
        )
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError) as error:
        raise ConfigurationError(f"{plain_repr(pattern[:200])} is not a regular expression: {error}") from error


_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<times>\d{1,9})(?:,\d*)?\}|.", re.DOTALL)


def _size(pattern: str) -> int:
    """Return the size of a pattern with its repetitions written out, as the compiler does.

    >>> _size("ab"), _size("(ab){10}c"), _size("((a{100}){100}){100}") > 1_000_000
    (2, 31, True)
    """
    sizes = [0]  # of the open groups
    last = 0
    for token in _TOKEN.finditer(pattern):
        text, times = token[0], token["times"]
        if times is not None:
            sizes[-1] += last * (max(int(times), 1) - 1)
            last *= max(int(times), 1)
        elif text == "(":
            sizes.append(1)
        elif text == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)
