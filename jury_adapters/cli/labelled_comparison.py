"""Comparison of two systems that human labels correct, for the commands that show one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from jury_adapters.cli.given_labels import GivenLabels, paths_in
from jury_adapters.cli.labelled_cases import NAME_PASS_LABELS, HumanLabels, labelled_cases
from jury_adapters.cli.labelled_reports import field_map_of_run, labels_of_entries
from jury_adapters.cli.report_sources import compare_files
from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import UnclearLabels, human_label
from jury_adapters.core.results_file import cases_named_in, field_map_named_in, pass_labels_named_in
from jury_adapters.critic.recorded import is_store

if TYPE_CHECKING:
    from jury_adapters.report import Comparison

Labelled: TypeAlias = "tuple[Case, str | bool]"


class LabelFiles(NamedTuple):
    """Files of labels, and the options for reading them."""

    files: list[Path]
    column: str
    pass_labels: list[str]
    field_map: FieldMap | None

    @property
    def named(self) -> str:
        """The names of the files, for messages."""
        return " and ".join(map(str, self.files))


def labels_of_compared(run: Path, people: HumanLabels) -> tuple[object, Callable[[], GivenLabels]] | None:
    """Return the run that a report is compared with, and a function that finds the labels of its cases.

    Args:
        run: the results of the run.
        people: the options of the report for human labels; without a file of labels there is nothing to find.
    """

    def find() -> GivenLabels:
        from jury_adapters.report.entries import recorded_of, results_of

        assert people.file is not None
        labels = GivenLabels(people.file, people.column, people.field_map or field_map_of_run(run))
        with suppress(InputError):  # it is reported where the runs are compared
            labels_of_entries(labels, recorded_of(run) if is_store(run) else results_of(run, cases_named_in(run)), run)
        return labels

    return None if people.file is None else (run, find)


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
        human = LabelFiles([people.file], people.column, list(people.pass_labels), people.field_map)
        with suppress(ConfigurationError):  # labels of one system, or that name no answers: as without labels
            return compare_with_labels(a, b, human, group, Messages(quiet=True), cases=cases)
    return compare_files(a, b, cases=cases, group=group, messages=messages, noted=(b,))


def compare_with_labels(
    a: Path,
    b: Path,
    human: LabelFiles | None,
    group: str | None,
    messages: Messages,
    *,
    cases: Path | None = None,
    most_flips: int | None = None,
) -> Comparison:
    """Return the comparison of two results, corrected by human labels if there are any.

    It has at most so many changed cases, or all.

    Raises:
        ConfigurationError: one of the files cannot be read, or the labels cannot be compared with the verdicts.
    """
    if human is None:
        return compare_files(a, b, group=group, messages=messages, most_flips=most_flips)
    maps = (field_map_named_in(path) for path in (a, b) if not is_store(path))
    field_map = human.field_map or next(filter(None, maps), None)
    labels = [pair for file in human.files for pair in _labels(file, human.column, field_map, messages)]
    pass_labels = human.pass_labels or _pass_labels_of((a, b), labels)
    try:
        return compare_files(
            a, b, cases=cases, labels=labels, pass_labels=pass_labels, group=group, messages=messages,
            most_flips=most_flips,
        )  # fmt: skip
    except UnclearLabels as error:
        raise InputError(f"{human.named}: {error.what}; {NAME_PASS_LABELS}") from None


def _labels(file: Path, column: str, field_map: FieldMap | None, messages: Messages) -> list[Labelled]:
    """Read the labels of a file with the field map of the results: the content of the cases is the same.

    Raises:
        InputError: the file cannot be read.
    """
    cases = CaseFile(file, messages.info, field_map=field_map and paths_in(file, field_map))
    try:
        found = labelled_cases(
            cases,
            column,
            messages,
            holds="the corrected difference holds",
            unlabelled=(f"in {file}; its verdict counts, too", f"in {file}; their verdicts count, too"),
        )
    except InputError as error:
        if cases.problems and not list(CaseFile(file, lambda _: None, field_map=cases.field_map)):
            raise InputError(f"{error}; {_NEEDS_ANSWER}") from None
        raise
    split = [(case, label) for case in found.split for label in ("PASS", "FAIL")]  # the words of jury review
    return [*found.pairs, *split]


def _pass_labels_of(results: tuple[Path, Path], labels: list[Labelled]) -> Sequence[str]:
    """Return the labels that mean PASS according to the results, as far as the labelled answers have them."""
    used = [(human_label(label), ()) for _, label in labels]
    named = (pass_labels_named_in(path, used) for path in results if not is_store(path))
    return next(filter(None, named), ())


_NEEDS_ANSWER = (
    "under one id there are two answers here, one of each system, so a row of labels needs the answer that was labelled"
)
