"""``jury report``: the results of a run, as a page, as Markdown, or in the terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jury_adapters.cli.compare import named_cases, two_reports
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.human_labels import check_pass_labels_of, report_pass_labels, with_review_labels
from jury_adapters.cli.options import AsJson, Force, Group, PassLabels, Quiet, file_argument, file_option
from jury_adapters.cli.places import PAGE, check_place
from jury_adapters.cli.streams import News, show, write
from jury_adapters.core.batch import Judged
from jury_adapters.core.case_files import CaseFile, Place
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.formatting import counted
from jury_adapters.core.gates import GateResult
from jury_adapters.core.results_file import field_map_named_in
from jury_adapters.core.sequential_gate import GateDecision
from jury_adapters.critic.recorded import is_store

if TYPE_CHECKING:
    from jury_adapters.report import Comparison, Entry, Report


def report(
    file: Annotated[Path, file_argument("What `jury judge --out` wrote, or a store (.db).")],
    *,
    html: Annotated[Path | None, file_option("Write one self-contained HTML file.")] = None,
    cases: Annotated[
        Path | None,
        file_option("The cases that were judged, for their texts and human labels; or what `jury review` wrote."),
    ] = None,
    compare: Annotated[
        Path | None, file_option("The results of another run: adds what `jury compare` says of that run and this one.")
    ] = None,
    group: Group = "",
    title: Annotated[str, typer.Option(help="The heading.", show_default="the jury's name, or the file's")] = "",
    pass_label: PassLabels = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what a run found: pass rate, tiers, jurors, agreement, and the most contested cases first.

    Where cases have a human label (column `gold`), the jury against people comes first. --pass-label names the labels
    that mean PASS; what `jury judge` was given counts without it.

    Prints a summary; with --html also writes the page. An earlier page is replaced, other files only with --force.

    Exit code: 0, or 2 for bad input. The page needs the extra `report`.
    """
    news = News(quiet=quiet)
    try:
        if markdown and as_json:
            raise ConfigurationError("--markdown and --json both say what is printed; give one of them")
        from jury_adapters.report import Report

        if html is not None:
            sources = (file, cases, compare, named_cases(file), named_cases(compare))
            check_place(html, sources=sources, ours=PAGE, force=force)
        found = Report.read(file, cases=cases, title=title, pass_labels=pass_label, group=group)
        if cases is not None:
            found = with_review_labels(found, cases, pass_label or ())
        if pass_label:
            check_pass_labels_of(found.against_people, file)
            report_pass_labels(found.against_people, file, news)
        if cases is not None:
            _check_texts(found, file, cases, news)
        found.unreadable, found.unread = _unread_in(cases or named_cases(file), file)
        compared = None if compare is None else Report.compare(*two_reports(compare, file, cases=cases), group=group)
        if html is not None:
            _write(html, found, compared)
    except ConfigurationError as error:
        news.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if markdown:
        write(found.to_markdown(compared=compared))
    elif as_json:
        told = {"title": found.title, **found.figures.summary.to_dict()}
        write(dumps(told | ({} if compared is None else {"compared": compared.to_dict()}), indent=2) + "\n")
    elif not quiet:
        show(found.summary)
        if compared is not None:
            write(f"\n{compared}\n")


class ReportPage:
    """Page of a run in progress, which collects the cases and is written at the end.

    Anything that would make the page impossible is detected before the first case is paid for.

    Args:
        path: the page; None to collect and write nothing.
        title: its heading.
        sources: files that it must not replace.
        force: whether it may replace a file that is not a report page.
        pass_labels: the human labels that mean PASS.
        group: the field that identifies the group of a case; empty for independent cases.

    Raises:
        ConfigurationError: the page would replace one of the sources or another file, or Jinja2 is missing.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        title: str,
        sources: Sequence[Path | None],
        force: bool = False,
        pass_labels: Collection[str] = (),
        group: str = "",
    ) -> None:
        self._path = path
        self._pass_labels = pass_labels
        self._group = group
        self._title = title
        self._entries: list[Entry] = []
        if path is not None:
            from jury_adapters.report import page  # noqa: F401  it needs Jinja2

            check_place(path, sources=sources, ours=PAGE, force=force)

    def add(self, judged: Judged, place: Place, unmet: Sequence[GateResult]) -> None:
        """Add one case with its verdict and the gates that it misses."""
        if self._path is not None:
            from jury_adapters.report.entries import entry_of

            notes = [gate.note for gate in unmet]
            self._entries.append(entry_of(judged, line=place.line, unit=place.unit, unmet=notes))

    def write(self, unreadable: int = 0, unread: Sequence[str] = (), decision: GateDecision | None = None) -> None:
        """Write the page of the cases judged so far.

        Args:
            unreadable: the number of rows that could not be read, which the page shows.
            unread: the first of these rows, with the reasons.
            decision: that of a gate which may have ended the run early.

        Raises:
            InputError: the page cannot be written.
        """
        if self._path is not None and self._entries:
            from jury_adapters.report import Report

            found = Report(
                self._entries,
                title=self._title,
                unread=unread,
                unreadable=unreadable,
                decision=decision,
                pass_labels=self._pass_labels,
                group=self._group,
            )
            _write(self._path, found)


def _unread_in(cases: Path | None, results: Path) -> tuple[int, tuple[str, ...]]:
    """Return the unreadable rows of the cases, and their number; results only contain the readable ones."""
    field_map = None if cases is None or is_store(results) else field_map_named_in(results)
    file = None if cases is None else CaseFile(cases, lambda _: None, field_map=field_map)
    try:
        deque(file or (), maxlen=0)
    except InputError:  # a store, or a file that no longer exists
        return 0, ()
    return (0, ()) if file is None else (file.unreadable, tuple(file.problems))


def _check_texts(found: Report, file: Path, cases: Path, news: News) -> None:
    """Check that the given file of cases is the one that was judged."""
    without = sum(entry.case is None for entry in found.entries)
    if without == len(found.entries):
        raise InputError(
            f"{cases}: no case of {file} is in it; give the file that was judged, as it was: --cases CASES"
        )
    if without:
        news.tell(f"{cases}: {counted(without, 'case')} of {file} cannot be found in it as judged; shown without texts")


def _write(html: Path, found: Report, compared: Comparison | None = None) -> None:
    try:
        found.to_html(html, compared=compared)
    except OSError as error:
        raise InputError(f"{html}: {error.strerror or error}") from error
