"""``jury compare``: the difference of the pass rates of two systems, and the cases that changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.given_labels import paths_in
from jury_adapters.cli.labelled_cases import NAME_PASS_LABELS, HumanLabels, labelled_cases
from jury_adapters.cli.options import (
    AsJson,
    GroupOfRun,
    LabelColumn,
    Map,
    PassLabels,
    file_argument,
    file_option,
)
from jury_adapters.cli.report_sources import compare_files
from jury_adapters.cli.streams import Messages, write
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD, UnclearLabels, human_label
from jury_adapters.core.results_file import field_map_named_in, pass_labels_named_in
from jury_adapters.critic.recorded import is_store

if TYPE_CHECKING:
    from jury_adapters.report import Comparison

Labelled: TypeAlias = "tuple[Case, str | bool]"


def compare(
    a: Annotated[Path, file_argument("The results of the first system: what `jury judge --out` wrote, or a store.")],
    b: Annotated[Path, file_argument("The results of the second system.")],
    *,
    labels: Annotated[
        list[Path] | None,
        file_option(
            "Answers of both systems with human labels: what `jury review` wrote, or JSONL, JSON or CSV; may be given "
            "several times."
        ),
    ] = None,
    map_: Map = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    group: GroupOfRun = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the pass rates of two systems: the difference (b minus a), its interval, and the cases that changed.

    Cases are matched by id, else by question if each case has its own, else by content, and compared as pairs. Where no
    case is in both files, or questions repeat and there are no ids, the rates are compared as those of independent
    samples.

    With --labels, human labels correct the difference for what the jury gets wrong, which may be more for one system
    than for the other. A label belongs to an answer: label both answers of a random part of the cases, as `jury review
    --sample N` on both files does.

    `jury report B --compare A` adds the same comparison to a report, with --labels also the correction.

    Exit code: 0, or 2 for bad input. --labels and --group need the extra `stats`.
    """
    messages = Messages()
    try:
        if markdown and as_json:
            raise ConfigurationError("--markdown and --json both say what is printed; give one of them")
        if not labels and (pass_label or map_ or label_column != GOLD):
            raise ConfigurationError("--pass-label, --label-column and --map are about --labels; give that file too")
        field_map = FieldMap.parse(map_) if map_ else None
        human = _HumanLabels(labels, label_column, pass_label or [], field_map) if labels else None
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
    """Files of labels, and the options for reading them."""

    files: list[Path]
    column: str
    pass_labels: list[str]
    field_map: FieldMap | None

    @property
    def named(self) -> str:
        """The names of the files, for messages."""
        return " and ".join(map(str, self.files))


def compare_reported(
    a: Path, b: Path, people: HumanLabels, *, cases: Path | None, group: str | None, messages: Messages
) -> Comparison:
    """Return the comparison of a report, corrected by the labels that it was given if these are of both systems.

    Args:
        a: the results of the other system.
        b: the results of the report.
        people: the options of the report for human labels.
        cases: the cases of the report; by default those that its results name.
        group: the field that identifies the group of a case; None for what the results name.
        messages: prints that the results name a group that is not known.

    Raises:
        ConfigurationError: one of the results cannot be read.
    """
    if people.file is not None:
        human = _HumanLabels([people.file], people.column, list(people.pass_labels), people.field_map)
        with suppress(ConfigurationError):  # labels of one system, or that name no answers: as without labels
            return _compared(a, b, human, group, Messages(quiet=True), cases=cases)
    return compare_files(a, b, cases=cases, group=group, messages=messages)


def _compared(
    a: Path,
    b: Path,
    human: _HumanLabels | None,
    group: str | None,
    messages: Messages,
    *,
    cases: Path | None = None,
) -> Comparison:
    if human is None:
        return compare_files(a, b, group=group, messages=messages)
    maps = (field_map_named_in(path) for path in (a, b) if not is_store(path))
    field_map = human.field_map or next(filter(None, maps), None)
    labels = [pair for file in human.files for pair in _labels(file, human.column, field_map, messages)]
    pass_labels = human.pass_labels or _pass_labels_of((a, b), labels)
    try:
        return compare_files(a, b, cases=cases, labels=labels, pass_labels=pass_labels, group=group, messages=messages)
    except UnclearLabels as error:
        raise InputError(f"{human.named}: {error.what}; {NAME_PASS_LABELS}") from None


def _labels(file: Path, column: str, field_map: FieldMap | None, messages: Messages) -> list[Labelled]:
    """Read the labels of a file with the field map of the results: the content of the cases is the same.

    Raises:
        InputError: the file cannot be read.
    """
    cases = CaseFile(file, messages.info, field_map=field_map and paths_in(file, field_map))
    try:
        found = labelled_cases(cases, column, messages, holds="the corrected difference holds")
    except InputError as error:
        if cases.problems and not list(CaseFile(file, lambda _: None, field_map=cases.field_map)):
            raise InputError(f"{error}; {_NEEDS_ANSWER}") from None
        raise
    return found.pairs


def _pass_labels_of(results: tuple[Path, Path], labels: list[Labelled]) -> Sequence[str]:
    """Return the labels that mean PASS according to the results, as far as the labelled answers have them."""
    used = [(human_label(label), ()) for _, label in labels]
    named = (pass_labels_named_in(path, used) for path in results if not is_store(path))
    return next(filter(None, named), ())


_NEEDS_ANSWER = (
    "under one id there are two answers here, one of each system, so a row of labels needs the answer that was labelled"
)
