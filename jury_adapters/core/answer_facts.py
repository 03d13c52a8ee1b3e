"""Facts about a judged answer, which results keep instead of its text: its length, and the model that wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import row_of_case

_PAIR = 2


class AnswerFacts(NamedTuple):
    """Facts about the answer of a case, on which biases rest.

    Attributes:
        generator: the model that wrote it, or None.
        length: its length in characters; for a pair, the length of the first minus that of the second. None without an
            answer.
    """

    generator: str | None = None
    length: int | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> AnswerFacts:
        """Return the facts about a row of our names.

        >>> AnswerFacts.of_row({"answer": "Paris.", "generator": "gpt-4o-mini"})
        AnswerFacts(generator='gpt-4o-mini', length=6)
        """
        return cls(_generator_in(row), _length_in(row))

    @classmethod
    def of_case(cls, case: Case) -> AnswerFacts:
        """Return the facts about a case."""
        return cls.of_row(row_of_case(case))


def _generator_in(row: Mapping[str, Any]) -> str | None:
    meta = row.get("meta")
    found = row.get("generator") or (meta.get("generator") if isinstance(meta, Mapping) else None)
    return str(found) if found else None


def _length_in(row: Mapping[str, Any]) -> int | None:
    pair = row.get("answers") or row.get("candidates")
    if isinstance(pair, Sequence) and len(pair) == _PAIR and all(isinstance(text, str) for text in pair):
        return len(pair[0]) - len(pair[1])
    answer = row.get("answer")
    return len(answer) if isinstance(answer, str) else None
