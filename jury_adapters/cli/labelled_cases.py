"""Human labels on the command line: their meaning, and those of `jury review`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from jury_adapters.cli.case_columns import columns_of_case
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.given_labels import GivenLabels, wrote_review
from jury_adapters.cli.label_file import said_of
from jury_adapters.cli.missing_labels import UnreadRows, refuse_results, why_no_labels
from jury_adapters.cli.reviewer_conflicts import contradictions, describe_left_out, one_per_case
from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import STDIN, CaseFile, Place
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import GOLD, UnclearLabels, check_pass_labels, human_label
from jury_adapters.core.label_comparison import LabelComparison
from jury_adapters.core.row_files import read_rows

NAME_PASS_LABELS = "name those that mean PASS: --pass-label LABEL"


class HumanLabels(NamedTuple):
    """Options for human labels.

    Attributes:
        file: the file of labels; None for the labels of the cases themselves.
        column: the column of labels, of that file or of the cases.
        pass_labels: the labels that mean PASS.
        field_map: the paths of fields in the rows of the file; None for those that the results name.
        picked: whether the labelled cases were picked by their labels, and are no random sample.
    """

    file: Path | None = None
    column: str = GOLD
    pass_labels: Sequence[str] = ()
    field_map: FieldMap | None = None
    picked: bool = False


def labels_for_store(people: HumanLabels, cases: Path | None) -> HumanLabels:
    """Return the options for human labels of a store, which keeps none: those of the given cases, if these have some.

    Raises:
        InputError: the cases cannot be read, or are what `jury review` wrote.
    """
    refuse_review_labels(cases)
    if people.file is not None or cases is None:
        return people
    labelled = any(human_label((row.values or {}).get(people.column)) for row in read_rows(cases))
    return people._replace(file=cases) if labelled or people.column != GOLD else people


class LabelledCases(NamedTuple):
    """Cases with human labels.

    Attributes:
        pairs: the cases with their labels.
        places: the line of each.
        contradicting: the number of cases that are left out because reviewers contradict each other.
        split: these cases, as far as they are those of `jury review`.
    """

    pairs: list[tuple[Case, str | bool]]
    places: list[str]
    contradicting: int
    split: Sequence[Case] = ()


def check_labels_of(
    cases: CaseFile,
    pass_labels: Collection[str],
    messages: Messages,
    *,
    column: str = GOLD,
    limit: int | None = None,
) -> Collection[str]:
    """Refuse a ``--label-column`` or ``--pass-label`` that no case of a file has; standard input is not read.

    Args:
        cases: all cases of the file, also those beyond the limit: the labels of a smoke test may begin after it.
        pass_labels: the labels that mean PASS.
        messages: prints that no case within the limit has a label.
        column: the column with the labels.
        limit: the number of cases to judge; None for all.

    Returns:
        The labels that were seen; empty if there is nothing to check, and if no row is a case, because the run then
        says why.

    Raises:
        InputError: no case has a label in the given column, or one of the labels that mean PASS; the message names
            the cause, or lists the columns or the human labels of the file.
    """
    if not (pass_labels or column != GOLD) or cases.path == STDIN:
        return ()
    columns: set[str] = set()
    found: Counter[str] = Counter()
    within = number = 0
    for number, case in enumerate(cases, start=1):
        columns |= {str(name) for name in case.metadata}
        label = human_label(case.metadata.get(column))
        if label is not None:
            found[label] += 1
        if limit is None or number <= limit:
            within = len(found)
        elif found and found.keys() >= set(pass_labels):
            break
    if not number:
        return ()
    unread = UnreadRows(cases.unreadable, cases.first_problem)
    if column != GOLD and not found:
        raise InputError(why_no_labels(cases.path, column, columns, unread))
    try:
        check_pass_labels(found, pass_labels)
    except UnclearLabels as error:
        raise InputError(f"{cases.path}: {error.what}; {NAME_PASS_LABELS}{unread.note}") from None
    if found and not within:
        messages.info(
            f"{cases.path}: no case within --limit {limit} has a human label (column {column}); later ones do"
        )
    return found


def check_pass_labels_of(against: LabelComparison, file: Path | str) -> None:
    """Refuse a ``--pass-label`` that no labelled case of a run has.

    Raises:
        InputError: there is such a label.
    """
    if against.unknown_pass_label:
        raise InputError(f"{file}: {against.unknown_pass_label}; {NAME_PASS_LABELS}")


def report_pass_labels(against: LabelComparison, file: Path | str, messages: Messages) -> ExitCode:
    """Report options of labels that no case of a run has, and return the exit code for a wrong ``--pass-label``."""
    given = [name for name, used in _options_of(against).items() if used]
    if given and not against.cases and not against.known_labels:
        effect = f"so {' and '.join(given)} {'has' if len(given) == 1 else 'have'} no effect"
        name = "standard input" if file == STDIN else file
        messages.info(f"{name}: no case has a human label (column {against.column}), {effect}")
    if not against.unknown_pass_label:
        return ExitCode.OK
    messages.error(f"{file}: {against.unknown_pass_label}; {NAME_PASS_LABELS}")
    return ExitCode.BAD_INPUT


def _options_of(against: LabelComparison) -> dict[str, bool]:
    """Return the options about human labels, and whether each was given."""
    return {"--label-column": against.column != GOLD, "--pass-label": bool(against.pass_labels)}


def refuse_review_labels(cases: Path | None) -> None:
    """Refuse a file of labels where the cases are expected.

    Raises:
        InputError: `jury review` wrote the file.
    """
    if cases is not None and wrote_review(cases):
        raise InputError(f"{cases} holds labels that jury review wrote; give it as --labels {cases}")


def field_map_for_store(paths: Sequence[str] | None, place: Path | str) -> FieldMap | None:
    """Return the field map of the cases that are given with a store, which keeps none; None without ``--map``.

    Args:
        paths: the values of ``--map``.
        place: the store, or another file of votes.

    Raises:
        ConfigurationError: it is not a store, or a value is not a path of a field.
    """
    from jury_adapters.critic.recorded import is_store

    if not paths:
        return None
    if not is_store(place):
        raise InputError(
            f"--map is for the cases that are given with a store; {place} is none, and results keep the --map of their "
            "run"
        )
    return FieldMap.parse(paths)


def labelled_cases(
    cases: CaseFile,
    column: str,
    messages: Messages,
    *,
    labels: Path | None = None,
    holds: str,
    unlabelled: tuple[str, str] = ("and is left out", "and are left out"),
) -> LabelledCases:
    """Read the labelled cases, and report how many others there are.

    Args:
        cases: the file.
        column: the column with the labels.
        messages: prints the messages.
        labels: a file of labels, which replace those of the cases; None for those of the cases.
        holds: the words for what holds only for cases like the labelled ones, with a verb.
        unlabelled: the words for what becomes of a case that has no label, and of several.

    Raises:
        InputError: no case has a label, or the file holds results.
    """
    refuse_results(cases.path)
    rows = list(cases)
    at = [cases.place_of(index) for index in range(len(rows))]
    elsewhere: Collection[Identity] = ()  # the cases that a file of labels leaves out
    if labels is not None:
        rows, given = _with_labels_of(labels, column, cases, rows, at)
        given.check(cases.path, messages)
        elsewhere = given.contradicting
    lines = {id(case): place for case, place in zip(rows, at, strict=True)}
    places: list[str] = []
    read = list(one_per_case(rows))
    labelled: list[tuple[Case, str | bool]] = []
    for case in read:
        label = case.metadata.get(column)
        if label is not None and label != "":
            labelled.append((case, label if isinstance(label, bool) else str(label)))
            place = lines.get(id(case))
            places.append("what jury review wrote" if place is None else f"{place.unit} {place.line}")
    if not read:
        raise InputError(f"{cases.path}: no row could be read as a case")
    if not labelled:
        said = [one for case in read if (one := said_of(case.metadata)) is not None]
        if said:
            raise InputError(f"{cases.path}: of no case do the people who reviewed it agree on a label")
        columns, unread = (
            {name for case in read for name in case.metadata},
            UnreadRows(cases.unreadable, cases.first_problem),
        )
        raise InputError(why_no_labels(cases.path, column, map(str, columns), unread))
    reviewed = (one for case in rows if (one := said_of(case.metadata)) is not None)
    split = contradictions(reviewed) if column == "gold" else {}  # another column does not come from reviews
    if split:
        messages.info(describe_left_out(split))
    left = len(read) - len(labelled) - len(split) - len(elsewhere)
    if left > 0:
        without = f"has no label {unlabelled[0]}" if left == 1 else f"have no label {unlabelled[1]}"
        messages.info(f"{left:,} of {counted(len(read), 'case')} {without}")
    chosen = {one.chosen for case, _ in labelled if (one := said_of(case.metadata)) is not None} - {"all"}
    if chosen:
        messages.info(
            f"labels of {' and '.join(sorted(chosen))} cases are not a fair sample, and {holds} for cases "
            "chosen alike; for all cases label with: jury review --only all",
            "yellow",
        )
    tied = [case for case in read if (one := said_of(case.metadata)) is not None and one.identity in split]
    return LabelledCases(labelled, places, len(split) + len(elsewhere), tied)


def _with_labels_of(
    file: Path, column: str, source: CaseFile, cases: Sequence[Case], places: Sequence[Place | None]
) -> tuple[list[Case], GivenLabels]:
    """Return the cases with the labels of a file in the column, and no others; and the labels."""
    labels = GivenLabels(file, column, source.field_map)
    lines = [None if place is None else place.line for place in places]
    labels.match(zip(lines, map(columns_of_case, cases), strict=True), source.path)
    found = []
    for case, line in zip(cases, lines, strict=True):
        label = labels.of(
            item_id=case.item_id, line=line, key=case.content_hash, answer=case.answer or "",
            columns=columns_of_case(case),
        )  # fmt: skip
        found.append(case.model_copy(update={"metadata": {**case.metadata, column: label}}))
    return found, labels
