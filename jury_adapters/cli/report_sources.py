"""Files that a report is made from: results, and the cases that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.core.errors import InputError
from jury_adapters.core.results_file import cases_named_in
from jury_adapters.core.row_files import first_row
from jury_adapters.critic.recorded import is_store

if TYPE_CHECKING:
    from jury_adapters.report import Report


def two_reports(a: Path, b: Path, *, cases: Path | None = None) -> tuple[Report, Report]:
    """Read the results of two systems, with distinct titles.

    Args:
        a: the results of the first.
        b: the results of the second.
        cases: the cases of the second; by default those that its results name, as for the first.

    Raises:
        InputError: one of them cannot be read.
    """
    from jury_adapters.report import Report

    titles = (a.name, b.name) if a.name != b.name else (str(a), str(b))
    if empty := [path for path in (a, b) if not is_store(path) and first_row(path) is None]:
        raise InputError(f"{empty[0]}: there are no results in it")
    first = Report.read(a, cases=named_cases(a), title=titles[0])
    return first, Report.read(b, cases=cases or named_cases(b), title=titles[1])


def named_cases(file: Path | None) -> Path | None:
    """Return the file of cases that results name; None for a store, which names none, and for unreadable results.

    The error of unreadable results is raised when the verdicts are read.
    """
    try:
        return None if file is None or is_store(file) else cases_named_in(file)
    except InputError:
        return None
