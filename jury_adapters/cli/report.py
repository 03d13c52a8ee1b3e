"""``jury report``: what a run found, as a page, as Markdown, or in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jury_adapters.cli.options import AsJson, Quiet, file_argument, file_option
from jury_adapters.cli.streams import News, show, write
from jury_adapters.core.batch import Judged
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.gates import GateResult

if TYPE_CHECKING:
    from jury_adapters.report import Comparison, Entry, Report

_BAD_INPUT = 2


def report(
    file: Annotated[Path, file_argument("What `jury judge --out` wrote, or a store (.db).")],
    *,
    html: Annotated[Path | None, file_option("Write one self-contained HTML file.")] = None,
    cases: Annotated[
        Path | None, file_option("The cases that were judged: their questions, contexts and answers.")
    ] = None,
    compare: Annotated[
        Path | None, file_option("The results of an earlier run over the same cases: what changed since.")
    ] = None,
    title: Annotated[str, typer.Option(help="The heading.", show_default="the file's name")] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what a run found: pass rate, tiers, jurors, agreement, and the most contested cases first.

    Prints a summary; with --html also writes the page. An existing page is replaced.

    Exit code: 0, or 2 for bad input. The page needs the extra `report`.
    """
    news = News(quiet=quiet)
    try:
        if markdown and as_json:
            raise ConfigurationError("--markdown and --json both say what is printed; give one of them")
        from jury_adapters.report import Report

        found = Report.read(file, cases=cases, title=title)
        compared = Report.read(compare).compare(found) if compare is not None else None
        if html is not None:
            _check_place(html, [path for path in (file, cases, compare) if path is not None])
            _write(found, html, compared)
    except ConfigurationError as error:
        news.error(str(error))
        raise typer.Exit(_BAD_INPUT) from None
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
    """The page of a run that is being judged: keeps its cases, and writes them when they are all there.

    Whatever would make the page impossible is found before the first case is paid for.

    Args:
        path: the page; None to keep and write nothing.
        title: its heading.
        inputs: files that it must not replace.

    Raises:
        ConfigurationError: the page would replace one of the inputs, or Jinja2 is missing.
    """

    def __init__(self, path: Path | None, *, title: str, inputs: Sequence[Path]) -> None:
        self._path = path
        self._title = title
        self._entries: list[Entry] = []
        if path is not None:
            from jury_adapters.report import page  # noqa: F401  it needs Jinja2

            _check_place(path, inputs)

    def add(self, judged: Judged, line: int, unmet: Sequence[GateResult]) -> None:
        """Take in one case with its verdict and the gates that it misses."""
        if self._path is not None:
            from jury_adapters.report.entries import entry_of

            self._entries.append(entry_of(judged, line=line, unmet=[gate.note for gate in unmet]))

    def write(self) -> None:
        """Write the page of the cases judged so far.

        Raises:
            InputError: it cannot be written there.
        """
        if self._path is not None and self._entries:
            from jury_adapters.report import Report

            _write(Report(self._entries, title=self._title), self._path, None)


def _check_place(html: Path, inputs: Sequence[Path]) -> None:
    if any(html.exists() and path.exists() and html.samefile(path) for path in inputs):
        raise InputError(f"{html} is one of the files the report is made from; give the page another name")
    if not html.parent.is_dir():
        raise InputError(f"{html}: there is no such folder as {html.parent}")
    if html.is_dir():
        raise InputError(f"{html} is a folder; give the page a name in it")


def _write(found: Report, html: Path, compared: Comparison | None) -> None:
    try:
        found.to_html(html, compared=compared)
    except OSError as error:
        raise InputError(f"{html}: {error.strerror or error}") from error
