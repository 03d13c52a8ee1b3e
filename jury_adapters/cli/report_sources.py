"""Files that a report is made from: results, and the cases that they name."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.cli.given_labels import wrote_review
from jury_adapters.cli.reviewers_as_jurors import (
    REVIEWED_ID,
    describe_ids_of_several_answers,
    ids_of_several_answers,
)
from jury_adapters.cli.streams import Messages
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import counted, visible
from jury_adapters.core.judged_file import cases_for_group
from jury_adapters.core.opinions import votes_in
from jury_adapters.core.results_file import (
    cases_named_in,
    group_named_in,
    is_result,
    label_column_named_in,
    planned_in,
)
from jury_adapters.core.row_files import first_row
from jury_adapters.critic.recorded import is_store
from jury_adapters.report.jury_facts import RUBRIC

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from jury_adapters.core.case import Case
    from jury_adapters.report import Comparison, Entry, Report


def compare_files(
    a: Path,
    b: Path,
    *,
    cases: Path | None = None,
    labels: Iterable[tuple[Case, str | bool]] | None = None,
    pass_labels: Collection[str] = (),
    group: str | None = "",
    messages: Messages | None = None,
    most_flips: int | None = None,
    noted: Collection[Path] = (),
) -> Comparison:
    """Compare the results of two systems, with distinct titles.

    Args:
        a: the results of the first.
        b: the results of the second.
        cases: the cases of the second; by default those that its results name, as for the first.
        labels: cases with human labels, as for :meth:`jury_adapters.report.Report.compare`.
        pass_labels: the labels that mean PASS.
        group: the field that identifies the group of a case; empty for independent cases; None for what the results
            name.
        messages: prints that the results name a group that is not known, and that verdicts of a store are new votes.
        most_flips: the maximum number of changed cases in the result; None for all.
        noted: stores of which that was said before.

    Raises:
        ConfigurationError: one of them cannot be read, or as in :meth:`jury_adapters.report.Report.compare`.
    """
    from jury_adapters.report.comparison import compare
    from jury_adapters.report.entries import FileEntries, decision_of, known_group, recorded_of

    titles = (a.name, b.name) if a.name != b.name else (str(a), str(b))
    if empty := [path for path in (a, b) if not is_store(path) and first_row(path) is None]:
        raise InputError(f"{empty[0]}: there are no results in it")
    sources = ((a, named_cases(a)), (b, cases or named_cases(b)))
    first, second = (recorded_of(file) if is_store(file) else FileEntries(file, of) for file, of in sources)
    for (file, _), run in zip(sources, (first, second), strict=True):
        if messages is not None and is_store(file) and file not in noted:
            report_store(run, file, messages)
    kept = ""
    if group is None:
        read = (
            (file, run) for (file, _), run in zip(sources[::-1], (second, first), strict=True) if not is_store(file)
        )
        kept = next(filter(None, (known_group(file, run) for file, run in read)), "")
        grouped = [(file, group_named_in(file)) for file in (b, a) if not kept and not is_store(file)]
        for file, named in grouped:
            if named and messages is not None:
                _report_unknown_group(file, named, "put the file that was judged where the results name it", messages)
    planned = [None if is_store(file) else planned_in(file) for file, _ in sources]
    decided = [None if is_store(file) else decision_of(file) for file, _ in sources]
    return compare(
        first, second, titles=titles, labels=labels, pass_labels=pass_labels, group=group or kept,
        needs_groups=bool(group), by_id=group is None, gates=(decided[0], decided[1]), planned=(planned[0], planned[1]),
        use_labels=_how_to_use_labels(a, b), most_flips=most_flips,
    )  # fmt: skip


def _how_to_use_labels(a: Path, b: Path) -> str:
    """Return the command that corrects a difference by the human labels of the cases that both results name."""
    columns = {"" if is_store(file) else label_column_named_in(file) for file in (a, b)}
    sources = [named_cases(file) for file in (a, b)]
    if len(columns) > 1 or None in sources:
        return "jury compare --labels CASES corrects it, where CASES are the judged cases of both"
    options = [part for source in dict.fromkeys(sources) for part in ("--labels", str(source))]
    column = ["--label-column", *columns] if columns != {""} else []
    return f"to correct it: {visible(shlex.join(['jury', 'compare', str(a), str(b), *options, *column]))}"


def report_group(found: Report, file: Path, messages: Messages) -> None:
    """Say that the cases of a report are grouped as the run was, or why they are not."""
    named = "" if is_store(file) else group_named_in(file)
    if found.group:
        messages.info(
            f"cases are grouped by {visible(found.group)}, as in the run; --group '' takes them as independent"
        )
    elif named:
        _report_unknown_group(file, named, _GIVE_CASES, messages)


def _report_unknown_group(results: Path, named: str, fix: str, messages: Messages) -> None:
    messages.info(
        f"{results}: the run was grouped by {visible(named)}, which is not in the results, so the intervals take no "
        f"account of it and may be too narrow; {fix}",
        "yellow",
    )


_GIVE_CASES = "give the file that was judged: --cases CASES"


def report_store(entries: Iterable[Entry], store: Path, messages: Messages) -> None:
    """Say that the verdicts of a store are new votes, and warn if its critics answer different questions."""
    votes = [vote for entry in entries for _, vote in votes_in(entry.judgment)]
    critics = len({vote.critic for vote in votes})
    rubrics = len({vote.metadata.get(RUBRIC) for vote in votes})
    vote = f"{store}: a store keeps no verdicts, so these are majority votes of its {counted(critics, 'critic')}"
    if rubrics > 1:
        messages.info(
            f"{vote}, which answer {rubrics} different rubrics: the pass rate is that of no run. Of one run, report "
            "its results (jury judge --out), or let its jury vote again (jury replay)",
            "yellow",
        )
    else:
        messages.info(f"{vote}; jury replay lets another jury vote")


def group_of_file(file: str, cases: Path | None, messages: Messages) -> str:
    """Return the field that groups the cases according to results; empty for other files, and if it is unknown.

    A group that the results name and that is unknown is reported. In labels of reviewers, the answers under one id are
    a group, which is reported too.
    """
    from jury_adapters.report.entries import FileEntries, known_group

    path = Path(file)
    if is_store(file) or not path.is_file():
        return ""
    if wrote_review(path):
        if ids := ids_of_several_answers(path):
            messages.info(describe_ids_of_several_answers(path, ids))
        return REVIEWED_ID if ids else ""
    if not is_result(first_row(path)):
        return ""
    group = known_group(path, FileEntries(path, cases or cases_for_group(path, None)))
    if not group and (named := group_named_in(path)):
        _report_unknown_group(path, named, _GIVE_CASES, messages)
    return group


def named_cases(file: Path | None) -> Path | None:
    """Return the file of cases that results name; None for a store, which names none, and for unreadable results.

    The error of unreadable results is raised when the verdicts are read.
    """
    try:
        return None if file is None or is_store(file) else cases_named_in(file)
    except InputError:
        return None


def refuse_store(results: Path) -> None:
    """Refuse a store where only a file of results can be read.

    Raises:
        InputError: the path names a store.
    """
    if is_store(str(results)):
        raise InputError(
            f"{results} is a store, and this command reads results: those of jury judge --out, or in Python "
            f"Report.read({str(results)!r}).write_results('results.jsonl', cases='cases.jsonl'). Of runs of an "
            "application, give Report.from_results what on_verdict= got"
        )
