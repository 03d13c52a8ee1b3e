"""``jury report``: the results of a run, as a page, as Markdown, or in the terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jury_adapters.calibration import DRAWS
from jury_adapters.cli.agreement import AgreementOptions, agreement_of
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.labelled_cases import (
    HumanLabels,
    check_pass_labels_of,
    field_map_for_store,
    labels_for_store,
    refuse_review_labels,
    report_pass_labels,
)
from jury_adapters.cli.labelled_comparison import compare_reported, labels_of_compared
from jury_adapters.cli.labelled_reports import with_given_labels
from jury_adapters.cli.options import (
    AsJson,
    Force,
    GroupOfRun,
    LabelColumn,
    Labels,
    Map,
    PassLabels,
    Quiet,
    file_argument,
    file_option,
    number_option,
)
from jury_adapters.cli.places import PAGE, check_place
from jury_adapters.cli.report_page import write_page
from jury_adapters.cli.report_sources import group_of_file, named_cases, report_group, report_store
from jury_adapters.cli.streams import Messages, show, write, write_json
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import GOLD
from jury_adapters.core.judged_file import cases_for_group
from jury_adapters.core.results_file import field_map_named_in
from jury_adapters.critic.recorded import is_store
from jury_adapters.store import is_url

if TYPE_CHECKING:
    from jury_adapters.calibration.report import AgreementReport
    from jury_adapters.core.field_map import FieldMap
    from jury_adapters.report import Comparison, PassRates, Report


def report(
    file: Annotated[
        str,
        file_argument(
            "What `jury judge --out` wrote, or a store (.db); with --agreement also recorded votes (item_id, "
            "votes, gold), what `jury review` wrote, and the URL of a store."
        ),
    ],
    *,
    html: Annotated[Path | None, file_option("Write one self-contained HTML file.")] = None,
    cases: Annotated[
        Path | None,
        file_option("The cases that were judged, for their texts and human labels."),
    ] = None,
    map_: Map = None,
    compare: Annotated[
        Path | None, file_option("The results of another run: adds what `jury compare` says of that run and this one.")
    ] = None,
    group: GroupOfRun = None,
    by: Annotated[
        str, typer.Option(help="Only the pass rate for each value of this field, such as meta.ward.", metavar="FIELD")
    ] = "",
    title: Annotated[str, typer.Option(help="The heading.", show_default="the jury's name, or the file's")] = "",
    labels: Labels = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    force: Force = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Measure the agreement among jurors, and with human labels.")
    ] = False,
    juror: Annotated[
        list[str] | None, typer.Option(help="With --agreement: only these jurors; may be given several times.")
    ] = None,
    abstain_label: Annotated[
        list[str] | None,
        typer.Option(
            help="With --agreement: a label of recorded votes that is not a vote, such as tie.", metavar="LABEL"
        ),
    ] = None,
    on: Annotated[
        Literal["label", "status", "score"] | None,
        typer.Option(help="With --agreement: what of a judgment is its vote.", show_default="what the jury voted on"),
    ] = None,
    draws: Annotated[
        int | None, number_option(f"With --agreement: bootstrap draws of each interval; {DRAWS} unless given.", 100)
    ] = None,
    picked_labels: Annotated[
        bool,
        typer.Option(
            "--picked-labels",
            help="With --agreement or --html: the labelled cases were picked by their labels, such as as many bad as "
            "good ones. The jury's error rates alone then correct the pass rate.",
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what a run found: pass rate, tiers, jurors, agreement, and the most contested cases first.

    Where cases have a human label (column `gold`, or what --label-column names), the jury against human labels comes
    first; --labels replaces the labels of the cases. With labels of the answers of both runs, it also corrects the
    difference of --compare. --pass-label names the labels that mean PASS; what `jury judge`
    was given counts without it.

    Prints a summary; with --html also writes the page. An earlier page is replaced, other files only with --force.

    With --agreement it prints the agreement among the jurors instead, and with human labels where there are any.
    Each figure comes with its interval and a sentence that says what it means, and with a warning where it misleads.
    Confidences and scores are compared with the labels, and repeated answers with each other.

    With --by it prints the pass rates of the cases with each value of a field instead, such as a language or a ward.

    Exit code: 0, or 2 for bad input. The page needs the extra `report`, --agreement the extra `stats`.
    """
    messages = Messages(quiet=quiet)
    options = AgreementOptions(juror or (), abstain_label or (), on, draws)
    try:
        people = HumanLabels(labels, label_column, pass_label or (), field_map_for_store(map_, file), picked_labels)
        if is_store(file):
            people = labels_for_store(people, cases)
        if agreement:
            others = {"--html": html, "--compare": compare, "--title": title, "--force": force}
            _refuse_beside("--agreement", others | {"--markdown": markdown, "--by": by})
            measured = agreement_of(
                file,
                cases,
                options,
                people,
                messages,
                group=group_of_file(file, cases, messages) if group is None else group,
            )
            if as_json or not quiet:
                _print_figures(measured, f"{measured}\n", as_json=as_json)
            return
        if is_url(file):
            raise InputError(f"{file}: of a database, give --agreement, or let a jury vote on it: jury replay")
        _refuse_without_agreement(options, people, html)
        if markdown and as_json:
            raise ConfigurationError("--markdown and --json both say what is printed; give one of them")
        if by:
            _refuse_beside("--by", {"--html": html, "--compare": compare, "--title": title, "--force": force})
            if cases is None and not is_store(file):
                cases = cases_for_group(file, by)
        found, compared = _found(
            Path(file), cases, compare, html, messages, title=title, group=group, force=force,
            people=people,
        )  # fmt: skip
        if html is not None:
            write_page(html, found, compared)
            _report_no_texts(html, Path(file), cases, group, messages)
        rates = _pass_rates(found, by) if by else None
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if rates is not None:
        _print_figures(rates, rates.to_markdown() if markdown else f"{rates}\n", as_json=as_json)
    else:
        _print(found, compared, messages, markdown=markdown, as_json=as_json, quiet=quiet)


def _print_figures(figures: AgreementReport | PassRates, as_text: str, *, as_json: bool) -> None:
    if as_json:
        write_json(figures.to_dict())
    else:
        write(as_text)


def _print(
    found: Report, compared: Comparison | None, messages: Messages, *, markdown: bool, as_json: bool, quiet: bool
) -> None:
    if markdown:
        write(found.to_markdown(compared=compared))
    elif as_json:
        document = {"title": found.title, **found.figures.summary.to_dict()}
        write_json(document | ({} if compared is None else {"compared": compared.to_dict()}))
    elif not quiet:
        show(found.summary)
        if compared is not None:
            write(f"\n{compared}\n")
            said = compared.same_answers or compared.unused_labels  # by the comparison itself
            if found.label_comparison.cases and compared.corrected is None and not said:
                messages.info("the human labels do not correct this difference; jury compare --labels does")


def _refuse_beside(option: str, others: Mapping[str, object]) -> None:
    """Refuse options that have no meaning with another one, ``--agreement`` or ``--by``.

    Raises:
        ConfigurationError: one of them is given.
    """
    for name, value in others.items():
        if value:
            raise ConfigurationError(f"{name} has no meaning with {option}, which prints figures only")


def _refuse_without_agreement(options: AgreementOptions, people: HumanLabels, html: Path | None) -> None:
    """Refuse options about figures that only ``--agreement``, or it and the page, show.

    Raises:
        ConfigurationError: one of them is given.
    """
    if options.given:
        raise ConfigurationError(f"{options.given} belongs to --agreement; give both")
    if people.picked and html is None:
        raise ConfigurationError("--picked-labels belongs to --agreement or --html; give one of them")


def _pass_rates(report: Report, field: str) -> PassRates:
    from jury_adapters.report import pass_rates_by

    return pass_rates_by(report, field)


def _found(
    file: Path,
    cases: Path | None,
    compare: Path | None,
    html: Path | None,
    messages: Messages,
    *,
    title: str,
    people: HumanLabels,
    group: str | None,
    force: bool,
) -> tuple[Report, Comparison | None]:
    """Return the report of the results, and the comparison with another run if one is given.

    Raises:
        ConfigurationError: a file cannot be read, or the page must not be written.
    """
    from jury_adapters.report import Report

    if html is not None:
        sources = (file, cases, compare, named_cases(file), named_cases(compare))
        check_place(html, sources=sources, ours=PAGE, force=force)
    refuse_review_labels(cases)
    found = Report.read(
        file, cases=cases, title=title, pass_labels=people.pass_labels or None, group=group,
        prepare_page=html is not None and compare is None and people[:2] == (None, GOLD),
    )  # fmt: skip
    if is_store(file):
        report_store(found.entries, file, messages)
    if group is None:
        report_group(found, file, messages)
    other_run = None if compare is None else labels_of_compared(compare, people)
    found = with_given_labels(found, file, people, messages, compared=other_run)
    found.unreadable, found.unread = _unread_in(
        cases or named_cases(file), people.field_map if is_store(file) else field_map_named_in(file)
    )
    found.label_comparison.picked = people.picked
    if people.pass_labels:
        check_pass_labels_of(found.label_comparison, people.file or file)
        report_pass_labels(found.label_comparison, people.file or file, messages)
    if cases is not None:
        _check_texts(found, file, cases, messages)
    compared = None
    if compare is not None:
        compared = compare_reported(compare, file, people, cases=cases, group=group, messages=messages)
    return found, compared


def _report_no_texts(page: Path, results: Path, cases: Path | None, group: str | None, messages: Messages) -> None:
    """Say that a page is without texts, which results do not hold and a store does, or whence it has them."""
    if cases is not None or is_store(results):
        return
    if (read := cases_for_group(results, group)) is not None:
        messages.info(f"{page} has the texts of the cases: {read} was read for the group")
    else:
        judged = named_cases(results) or "CASES"
        messages.info(
            f"{page} is without the texts of the cases, which results do not hold; add them: --cases {judged}"
        )


def _unread_in(cases: Path | None, field_map: FieldMap | None) -> tuple[int, tuple[str, ...]]:
    """Return the unreadable rows of the cases, and their number; results only contain the readable ones.

    Args:
        cases: the file that was judged, if it is known.
        field_map: the field map with which it was judged; None without one.
    """
    file = None if cases is None else CaseFile(cases, lambda _: None, field_map=field_map)
    try:
        deque(file or (), maxlen=0)
    except InputError:  # a store, or a file that no longer exists
        return 0, ()
    return (0, ()) if file is None else (file.unreadable, tuple(file.problems))


def _check_texts(found: Report, file: Path, cases: Path, messages: Messages) -> None:
    """Check that the given file of cases is the one that was judged."""
    without = sum(entry.case is None for entry in found.entries)
    if without == len(found.entries):
        raise InputError(
            f"{cases}: no case of {file} is in it; give the file that was judged, as it was: --cases CASES"
        )
    if without:
        messages.info(
            f"{cases}: {counted(without, 'case')} of {file} cannot be found in it as judged; shown without texts"
        )
