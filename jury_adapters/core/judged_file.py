"""File that a run judged, read as the run read it, with what is kept of each of its cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jury_adapters.core.case import Case
from jury_adapters.core.case_files import read_cases
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import InputError
from jury_adapters.core.results_file import cases_named_in, field_map_named_in, group_named_in, read_results


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


def cases_for_group(results: str | Path, group: str | None) -> Path | None:
    """Return the file of cases that results name, if the groups are in it and not in the results.

    Results keep the metadata of the cases. Other fields, such as the question, are in the file that was judged.

    Args:
        results: the results of the run.
        group: the field that identifies the group of a case; empty for independent cases, which need no file; None for
            what the results name.

    Raises:
        InputError: the results cannot be read.
    """
    group = group_named_in(results) if group is None else group
    first = next(read_results(results), None) if group else None
    if first is None:
        return None
    try:
        group_of_case(None, first.judgment, group, "")
    except InputError:
        return cases_named_in(Path(results))
    return None
