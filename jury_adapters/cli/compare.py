"""``jury compare``: the difference of the pass rates of two systems, and the cases that changed."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.human_labels import NAME_PASS_LABELS
from jury_adapters.cli.labels import labelled_cases
from jury_adapters.cli.options import AsJson, Group, PassLabels, file_argument, file_option
from jury_adapters.cli.streams import News, write
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.duplicates import ContradictingLabels
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.human_labels import UnclearLabels
from jury_adapters.core.results_file import cases_named_in, field_map_named_in
from jury_adapters.core.rows import first_row
from jury_adapters.critic.recorded import is_store

if TYPE_CHECKING:
    from jury_adapters.report import Comparison, Report


def compare(
    a: Annotated[Path, file_argument("The results of the first system: what `jury judge --out` wrote, or a store.")],
    b: Annotated[Path, file_argument("The results of the second system.")],
    *,
    labels: Annotated[
        Path | None,
        file_option("Answers of both systems that people labelled: what `jury review` wrote, or JSONL, JSON or CSV."),
    ] = None,
    label_column: Annotated[
        str, typer.Option(help="The column of --labels with what people said.", metavar="COLUMN")
    ] = "gold",
    pass_label: PassLabels = None,
    group: Group = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the pass rates of two systems: the difference (b minus a), its interval, and the cases that changed.

    Cases are matched by id, else by content, else by line, and compared as pairs. Where no case is in both files, the
    rates are compared as those of independent samples.

    With --labels, people's labels correct the difference for what the jury gets wrong, which may be more for one system
    than for the other. A label belongs to an answer: label both answers of a random part of the cases.

    `jury report B --compare A` adds the same comparison, without labels, to a report.

    Exit code: 0, or 2 for bad input. --labels and --group need the extra `stats`.
    """
    news = News()
    try:
        if markdown and as_json:
            raise ConfigurationError("--markdown and --json both say what is printed; give one of them")
        if labels is None and (pass_label or label_column != "gold"):
            raise ConfigurationError("--pass-label and --label-column are about --labels; give that file too")
        people = None if labels is None else _People(labels, label_column, pass_label or [])
        found = _compared(a, b, people, group, news)
    except ConfigurationError as error:
        news.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if as_json:
        write(dumps(found.to_dict(), indent=2) + "\n")
    elif markdown:
        from jury_adapters.report.markdown import comparison_markdown

        write(comparison_markdown(found))
    else:
        write(f"{found}\n")


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


class _People(NamedTuple):
    """File of labels, and the options for reading it."""

    file: Path
    column: str
    pass_labels: list[str]


def _compared(a: Path, b: Path, people: _People | None, group: str, news: News) -> Comparison:
    first, second = two_reports(a, b)
    if people is None:
        return first.compare(second, group=group)
    labels, places = _labels(people, a, news)
    try:
        return first.compare(second, labels=labels, pass_labels=people.pass_labels, group=group)
    except ContradictingLabels as error:
        raise InputError(f"{people.file}: {error.told([places[at] for at, _ in error.labels])}") from None
    except UnclearLabels as error:
        raise InputError(f"{people.file}: {error.what}; {NAME_PASS_LABELS}") from None


def _labels(people: _People, results: Path, news: News) -> tuple[list[tuple[Case, str | bool]], list[str]]:
    """Read the labels with the field map of the results, so that the content of the cases is the same."""
    field_map = None if is_store(results) else field_map_named_in(results)
    return labelled_cases(
        CaseFile(people.file, news.tell, field_map=field_map),
        people.column,
        news,
        option="--label-column",
        holds="the corrected difference holds",
    )
