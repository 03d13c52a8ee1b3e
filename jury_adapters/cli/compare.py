"""``jury compare``: the difference of the pass rates of two systems, and the cases that changed."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.given_labels import paths_in
from jury_adapters.cli.labelled_cases import NAME_PASS_LABELS, LabelledCases, labelled_cases
from jury_adapters.cli.options import (
    AsJson,
    GroupOfRun,
    LabelColumn,
    PassLabels,
    file_argument,
    file_option,
    flag_option,
)
from jury_adapters.cli.report_sources import compare_files
from jury_adapters.cli.streams import Messages, write
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.duplicates import ContradictingLabels
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.human_labels import GOLD, UnclearLabels
from jury_adapters.core.results_file import field_map_named_in
from jury_adapters.critic.recorded import is_store

if TYPE_CHECKING:
    from jury_adapters.report import Comparison


def compare(
    a: Annotated[Path, file_argument("The results of the first system: what `jury judge --out` wrote, or a store.")],
    b: Annotated[Path, file_argument("The results of the second system.")],
    *,
    labels: Annotated[
        Path | None,
        file_option("Answers of both systems with human labels: what `jury review` wrote, or JSONL, JSON or CSV."),
    ] = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    group: GroupOfRun = None,
    markdown: Annotated[bool, flag_option("--markdown", help="Print Markdown, for a pull request.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the pass rates of two systems: the difference (b minus a), its interval, and the cases that changed.

    Cases are matched by id, else by question if each case has its own, else by content, and compared as pairs. Where no
    case is in both files, or questions repeat and there are no ids, the rates are compared as those of independent
    samples.

    With --labels, human labels correct the difference for what the jury gets wrong, which may be more for one system
    than for the other. A label belongs to an answer: label both answers of a random part of the cases.

    `jury report B --compare A` adds the same comparison, without labels, to a report.

    Exit code: 0, or 2 for bad input. --labels and --group need the extra `stats`.
    """
    messages = Messages()
    try:
        if markdown and as_json:
            raise ConfigurationError("--markdown and --json both say what is printed; give one of them")
        if labels is None and (pass_label or label_column != GOLD):
            raise ConfigurationError("--pass-label and --label-column are about --labels; give that file too")
        human = None if labels is None else _HumanLabels(labels, label_column, pass_label or [])
        found = _compared(a, b, human, group, messages)
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if as_json:
        write(dumps(found.to_dict(), indent=2) + "\n")
    elif markdown:
        from jury_adapters.report.markdown import comparison_markdown

        write(comparison_markdown(found))
    else:
        write(f"{found}\n")


class _HumanLabels(NamedTuple):
    """File of labels, and the options for reading it."""

    file: Path
    column: str
    pass_labels: list[str]


def _compared(a: Path, b: Path, human: _HumanLabels | None, group: str | None, messages: Messages) -> Comparison:
    if human is None:
        return compare_files(a, b, group=group)
    labels, places, _ = _labels(human, a, messages)
    try:
        return compare_files(a, b, labels=labels, pass_labels=human.pass_labels, group=group)
    except ContradictingLabels as error:
        raise InputError(f"{human.file}: {error.describe([places[at] for at, _ in error.labels])}") from None
    except UnclearLabels as error:
        raise InputError(f"{human.file}: {error.what}; {NAME_PASS_LABELS}") from None


def _labels(human: _HumanLabels, results: Path, messages: Messages) -> LabelledCases:
    """Read the labels with the field map of the results where its paths exist: the content of the cases is the same."""
    field_map = None if is_store(results) else field_map_named_in(results)
    return labelled_cases(
        CaseFile(human.file, messages.info, field_map=field_map and paths_in(human.file, field_map)),
        human.column,
        messages,
        holds="the corrected difference holds",
    )
