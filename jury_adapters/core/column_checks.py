"""Checks of the columns of a file of cases: misspelt, conflicting and unused ones, and answers under another name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache

from jury_adapters.core.case import Case
from jury_adapters.core.field_names import ALIASES, RELEVANT_IDS, RELEVANT_TEXTS, RETRIEVED_IDS
from jury_adapters.core.run_errors import RUN_ERROR
from jury_adapters.core.run_parts import REFERENCE_MESSAGES, RUN_MESSAGES
from jury_adapters.core.traces.trace_cases import TRACE_COLUMNS
from jury_adapters.core.unnamed_answer import names_an_answer

JUDGED = ("answer", "candidates", "messages", "trajectory", "workspace")
"""Fields of which a case has at least one if a jury is to judge what an application did."""
IDENTIFIED = ("votes", "item_id", *RELEVANT_IDS, *RELEVANT_TEXTS)
"""Entries of the metadata with which a recorded juror or a measure needs no answer."""

_NAMES = "question, answer, contexts; query, response, ..."
_MOST_REPORTED = 50
_LONGEST = 250
_SPELT = tuple(name for name in (*Case.model_fields, *ALIASES) if name != "metadata")
# Columns of the metadata that are known, and are not reported as unused.
_OWN = frozenset(
    {"id", "item_id", "gold", "meta", "ambiguous", "review", REFERENCE_MESSAGES, RUN_MESSAGES, *RETRIEVED_IDS}
    | {RUN_ERROR, *RELEVANT_IDS, *RELEVANT_TEXTS, *TRACE_COLUMNS}
)
_ALIKE = 0.8


class ColumnChecks:
    """Check of the columns of a file for misspelt, conflicting and unused ones; each finding is reported once.

    Args:
        tell: called with each finding.

    Attributes:
        likely_answer: the first unused column with texts whose name says that it holds the answers, or is similar to
            that of a field that does; empty if there is none.
        any_answer: whether a case has an answer, or something else that a jury judges.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._seen: dict[str, None] = {}
        self._cases = 0
        self.any_answer = self._hinted = False
        self._rivals: set[str] = set()
        self.likely_answer = ""

    def see(self, case: Case) -> None:
        """Check one case; a column that is probably a misspelt field is reported at once.

        A run of the application that failed has no answer in any column.
        """
        if case.run_error is not None:
            return
        self._cases += 1
        self.any_answer = self.any_answer or _is_judged(case)
        rivals = case.metadata.get("ambiguous")
        for rival in rivals if isinstance(rivals, tuple) else ():
            if isinstance(rival, str) and rival not in self._rivals and len(self._rivals) < _MOST_REPORTED:
                self._rivals.add(rival)
                self._tell(f"of two values for one field, {rival}")
        for name, value in case.metadata.items():
            if not self.any_answer and not self.likely_answer and _may_hold_answers(name, value):
                self.likely_answer = name
            if name in self._seen or name in _OWN or len(self._seen) == _MOST_REPORTED:
                continue
            self._seen[name] = None
            meant = meant_field(name)
            if meant and not has_field(case, ALIASES.get(meant, meant)):
                self._hinted = True
                self._tell(f"the column {name!r} means nothing here. Did you mean {meant!r}?")

    @property
    def lack_of_answers(self) -> str:
        """The message that no row has an answer, with the option that names the column; empty if one has an answer.

        It is also empty if a misspelt column of another field was reported, and without unused columns, because nothing
        is lost then.
        """
        unused = [name for name in self._seen if name.strip()]
        if not self._cases or not unused or self.any_answer or (self._hinted and not self.likely_answer):
            return ""
        if self.likely_answer:
            return (
                f"no row has an answer, and the column {self.likely_answer!r} is not used; if it holds the answers, "
                f"rename it or give --map {_quoted(f'answer={self.likely_answer}')}"
            )
        listed = clip(", ".join(map(repr, unused)))
        return (
            f"no row has an answer; the columns that are not used: {listed}; if one holds the answers, rename it or "
            "give --map answer=COLUMN"
        )

    def end(self) -> None:
        """Report that no row has an answer; see :attr:`lack_of_answers`."""
        lack = self.lack_of_answers
        if lack:
            self._tell(lack)


def _is_judged(case: Case) -> bool:
    """Whether a case has an answer, or something else that a jury judges."""
    return any(name in case.metadata for name in IDENTIFIED) or is_judged(case)


def is_judged(case: Case) -> bool:
    """Whether a case has a field that shows what an application did."""
    return any(has_field(case, name) for name in JUDGED)


def is_verdict(value: object) -> bool:
    """Whether a value is a verdict or a judgment of this package, as results have it."""
    return isinstance(value, Mapping) and "status" in value


def _may_hold_answers(name: str, value: object) -> bool:
    """Whether a value is a text in a column named as for answers, or of several words in one similarly named."""
    if name in _OWN or not isinstance(value, str):
        return False
    return names_an_answer(name) or (_is_text(value) and ALIASES.get(meant := meant_field(name), meant) == "answer")


def _is_text(value: object) -> bool:
    """Whether a value is text of several words, and not an id."""
    return isinstance(value, str) and len(value.split()) > 1


def has_field(case: Case, name: str) -> bool:
    """Whether a field of a case has a value."""
    return getattr(case, name) not in (None, ())


@lru_cache(maxsize=1000)
def meant_field(column: str) -> str:
    """Return the name of a field that is similar to a column; empty if there is none."""
    return next(iter(get_close_matches(column.strip().casefold(), _SPELT, n=1, cutoff=_ALIKE)), "")


def advise_on_columns(row: Mapping[str, object]) -> str:
    """Return advice for a row of which no column is known, or none of the known ones has a value."""
    for name, value in row.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            if all("role" in item for item in value):
                return f"{name!r} holds a conversation: call it 'messages', or give --map messages={name}"
            if all({"from", "value"} <= item.keys() for item in value):
                return f"{name!r} holds a conversation: call it 'messages', and its keys 'role' and 'content'"
            return f"{name!r} holds a list of rows: give each a line of its own, or the list a .json file"
    fields = [repr(name) for name in map(str, row) if name.strip().casefold() in _SPELT]
    if fields:
        return f"nothing is in {', '.join(fields)}"
    meant = [f"{name!r} as {meant_field(name)!r}" for name in map(str, row) if meant_field(name)]
    return f"did you mean {', '.join(meant)}?" if meant else f"rename them ({_NAMES}), or give --map answer=COLUMN"


def clip(columns: str) -> str:
    """Return a list of columns, cut if it is long."""
    return columns if len(columns) <= _LONGEST else f"{columns[:_LONGEST]}..."


def _quoted(argument: str) -> str:
    """Return an argument in quotes if a shell needs them."""
    return argument if re.fullmatch(r"[\w=.-]+", argument) else f'"{argument}"'
