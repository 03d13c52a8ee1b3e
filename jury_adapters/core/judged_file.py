"""File that a run judged, read as the run read it, with what is kept of each of its cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jury_adapters.core.case import Case
from jury_adapters.core.case_files import read_cases
from jury_adapters.core.results_file import field_map_named_in


class JudgedFile:
    """Cases of a file that was judged, found by their line and their content.

    The file is read with the field map of the results. Rows that have changed since they were judged are not found.

    Args:
        results: the results of the run.
        cases: the file that was judged.
        keep: returns what is kept of a case.

    Raises:
        InputError: a file cannot be read.
    """

    def __init__(self, results: str | Path, cases: str | Path, keep: Callable[[Case], Case]) -> None:
        self._by_key: dict[str, Case] = {}
        self._by_line: dict[int, tuple[str, Case]] = {}
        for row in read_cases(cases, field_map_named_in(results)):
            if row.case is not None:
                key, kept = row.case.content_hash, keep(row.case)
                self._by_key.setdefault(key, kept)
                self._by_line[row.line] = key, kept

    def of(self, key: str | None, line: int | None) -> Case | None:
        """Return what is kept of a case; None if the case is not in the file as it was judged.

        Args:
            key: the hash of its content, or None.
            line: its line in the file, from 1, or None.
        """
        at_line = None if line is None else self._by_line.get(line)
        if at_line is not None and key in (None, at_line[0]):
            return at_line[1]
        return None if key is None else self._by_key.get(key)
