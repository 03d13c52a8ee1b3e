"""Facts about the texts of judged cases, which results do not hold: who wrote an answer, and how long it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import row_of_case
from jury_adapters.core.errors import InputError
from jury_adapters.core.judged_file import JudgedFile
from jury_adapters.core.results_file import cases_named_in

_PAIR = 2


class TextFacts(NamedTuple):
    """Facts about the answer of a case.

    Attributes:
        generator: the model that wrote it, or None.
        length: its length in characters; for a pair, the length of the first minus that of the second. None without an
            answer.
    """

    generator: str | None = None
    length: float | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> TextFacts:
        """Return the facts about a row of our names."""
        return cls(_generator_in(row), _length_in(row))

    @classmethod
    def of_case(cls, case: Case) -> TextFacts:
        """Return the facts about a case."""
        return cls.of_row(row_of_case(case))


NO_FACTS = TextFacts()


class JudgedTexts:
    """Facts about the answers of a results file, from the file that was judged.

    Args:
        results: the results.
        cases: the file that was judged; None for the one that the results name, if it can be read.

    Raises:
        InputError: a given file cannot be read.
    """

    def __init__(self, results: str | Path, cases: str | Path | None) -> None:
        self._given = cases is not None
        self._file: JudgedFile[TextFacts] | None = None
        source = cases_named_in(Path(results)) if cases is None else cases
        if source is not None:
            with suppress(*(() if self._given else (InputError,))):
                self._file = JudgedFile(results, source, TextFacts.of_case)

    def of(self, key: str | None, line: int | None) -> TextFacts | None:
        """Return the facts about an answer; None if it is unknown, so that other sources may have them.

        Args:
            key: the hash of the content of the case, or None.
            line: the line of the case in the file that was judged, or None.
        """
        found = None if self._file is None else self._file.of(key, line)
        changed = self._given and key is not None
        return NO_FACTS if found is None and changed else found


def _generator_in(row: Mapping[str, Any]) -> str | None:
    meta = row.get("meta")
    found = row.get("generator") or (meta.get("generator") if isinstance(meta, Mapping) else None)
    return str(found) if found else None


def _length_in(row: Mapping[str, Any]) -> float | None:
    pair = row.get("answers") or row.get("candidates")
    if isinstance(pair, Sequence) and len(pair) == _PAIR and all(isinstance(text, str) for text in pair):
        return float(len(pair[0]) - len(pair[1]))
    answer = row.get("answer")
    return float(len(answer)) if isinstance(answer, str) else None
