"""Codes of letters and digits, such as part numbers: "MK-4711-08", "M12", and whether a source has them.

A code is compared as a whole, in any language, because codes are never spelled out, translated or rounded. Upper and
lower case, spaces and the marks between its groups do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from jury_adapters.grounding.east_asian import END, START
from jury_adapters.grounding.months import month_number
from jury_adapters.grounding.units import unit_named


@dataclass(frozen=True, slots=True)
class Code:
    """Code in a text, as written, and its place there."""

    text: str
    start: int
    end: int

    @property
    def has_groups(self) -> bool:
        """Return whether marks separate its groups."""
        return _MARK.search(self.text) is not None


def codes(line: str) -> Iterator[Code]:
    """Yield the codes of a tidied sentence.

    Measures ("24-V", "6-month", "230V/50Hz"), periods ("Q3-2020", "2020-21"), names with a number ("Covid-19",
    "GPT-4") and the words of a compound ("M12-Schraube" has the code "M12") are not among them.

    >>> [code.text for code in codes("The MK-4711-08 (2020-21) has M12-Schrauben, 24-V lamps and GPT-4.")]
    ['MK-4711-08', 'M12']
    """
    for match in _TOKEN.finditer(line):
        text = _WORDS.sub("", match[0])
        if text and _is_code(text):
            yield Code(text, match.start(), match.start() + len(text))


def _is_code(text: str) -> bool:
    groups = _MARK.split(text)
    digits = [part for part in _PIECE.findall(text) if part.isdigit()]
    if not digits or not all(map(_GROUP.fullmatch, groups)) or _PERIOD.match(text):
        return False
    if len(groups) == 1:
        return text[0].isupper()
    if sum(map(len, digits)) < 2 or any(group.isalpha() and _is_word(group) for group in groups):
        return False
    if not text[0].isdigit():
        return text[0].isupper() or (len(digits) > 1 and len(groups[0]) < 3)
    return len(digits) > 1 and any(group.isalpha() and group.isupper() and not unit_named(group) for group in groups)


def _is_word(group: str) -> bool:
    """Return whether a group of letters is a month, a day of the week, a currency or a word for "number"."""
    return group.upper() in _WORDLIKE or month_number(group) > 0


@dataclass(slots=True)
class CodeIndex:
    """Index of the runs of letters and digits of a source, which are read when the first code is looked up.

    >>> index = CodeIndex("Use the mk 4711/08, not M12.")
    >>> [index.has(code) for code in ("MK-4711-08", "MK4711-08", "MK-4711", "MK-4711-80", "M14")]
    [True, True, True, False, False]
    >>> index.lacks("M14"), index.lacks("A4")
    (True, False)
    """

    source: str
    _pieces: list[str] | None = None
    _runs: dict[int, set[str]] = field(default_factory=dict)

    def lacks(self, code: str) -> bool:
        """Return whether a code is new. A short one of one group, such as "A4", only if the source has one like it."""
        if self.has(code):
            return False
        first, *others = _PIECE.findall(code.casefold())
        if _MARK.search(code) or len(others[0]) > _SHORT:
            return True
        return any(run.startswith(first) and run[len(first) :].isdigit() for run in self._run(2))

    def has(self, code: str) -> bool:
        """Return whether the source has a code in any spelling, also as a part of a longer one."""
        pieces = _PIECE.findall(code.casefold())
        wanted = {"".join(pieces)}
        if len(pieces[-1]) == 1 and pieces[-1] in "s" and len(pieces) > 1:  # "F-16s"
            wanted.add("".join(pieces[:-1]))
        return any(not wanted.isdisjoint(self._run(number)) for number in range(1, len(pieces) + 2))

    def _run(self, length: int) -> set[str]:
        """Return all runs of so many pieces of letters or of digits, joined."""
        if self._pieces is None:
            self._pieces = _SOURCE_PIECE.findall(self.source.casefold())
        if length not in self._runs:
            pieces = (islice(self._pieces, start, None) for start in range(length))
            self._runs[length] = {"".join(run) for run in zip(*pieces, strict=False) if any(map(str.isdigit, run))}
        return self._runs[length]


_TOKEN = re.compile(
    rf"{START}(?<![-./,'$€£¥₹@#+])(?=[A-Za-z./-]{{0,24}}\d)[A-Za-z0-9]{{1,24}}(?:[-./][A-Za-z0-9]{{1,24}}){{0,8}}"
    rf"{END}(?!@|[-./][^\W_])"
)
_WORDS = re.compile(r"(?:-[A-Z]?[a-z]{2,})+$")  # the rest of a compound
_SHORT = 2  # digits
_MARK = re.compile("[-./]")
_GROUP = re.compile(r"[A-Z]{1,4}|[a-z]{1,2}|\d+[A-Z]{0,3}[a-z]?|[A-Z]{1,4}\d+(?:[A-Z]{1,3}\d*|[a-z]\d*)?")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_SOURCE_PIECE = re.compile(r"[^\W\d_]+|\d+|[^\w\s./-]")
_PERIOD = re.compile(r"(?:Q[1-4]|H[12]|FY|KW|CW|UTC|GMT|U)-?/?\d|\d{2,4}[-/](?:Q[1-4]|H[12])", re.IGNORECASE)
_WORDLIKE = frozenset(
    ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN", "EUR", "USD", "GBP", "CHF", "JPY", "INR", "NO", "NR", "ART",
     "ABS", "VOL", "CH", "FIG", "SEC", "AM", "PM")
)  # fmt: skip
