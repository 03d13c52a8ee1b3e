"""``jury report --agreement``: the agreement of jurors, and its value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from jury_adapters.calibration import DRAWS
from jury_adapters.cli.case_columns import columns_of_case
from jury_adapters.cli.given_labels import GivenLabels
from jury_adapters.cli.label_file import said_of
from jury_adapters.cli.labelled_cases import NAME_PASS_LABELS, HumanLabels, refuse_review_labels
from jury_adapters.cli.labelled_reports import field_map_of_run, labels_of_entries
from jury_adapters.cli.reviewers_as_jurors import GROUP, votes_of_reviewers
from jury_adapters.cli.streams import Messages
from jury_adapters.cli.unknown_lengths import report_unknown_lengths
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.core.human_labels import GOLD, UnclearLabels, human_label, human_label_of
from jury_adapters.core.last_row import count_rows
from jury_adapters.core.results_file import cases_named_in, is_result, planned_in
from jury_adapters.core.row_files import first_row, read_whole_rows
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import SCORECARD
from jury_adapters.critic.recorded import cases_of_store, is_store

if TYPE_CHECKING:
    from jury_adapters.calibration.report import AgreementReport
    from jury_adapters.calibration.types import On
    from jury_adapters.calibration.votes import Votes
    from jury_adapters.core.case import Case
    from jury_adapters.core.sequential_gate import GateDecision


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """Options of ``jury report`` that belong to ``--agreement``.

    Attributes:
        jurors: only these jurors; empty for all.
        abstain_labels: the labels that are not votes.
        on: what of a judgment is its vote; None for what the jury voted on.
        draws: the number of bootstrap draws of each interval; None for the default.
    """

    jurors: Sequence[str] = ()
    abstain_labels: Sequence[str] = ()
    on: On | None = None
    draws: int | None = None

    @property
    def given(self) -> str:
        """The first of the options that was given; empty if none was."""
        options = {
            "--juror": self.jurors, "--abstain-label": self.abstain_labels, "--on": self.on, "--draws": self.draws,
        }  # fmt: skip
        return next((name for name, value in options.items() if value), "")


def agreement_of(
    file: str, cases: Path | None, options: AgreementOptions, people: HumanLabels, messages: Messages, *, group: str
) -> AgreementReport:
    """Return the agreement among the jurors of a file, and with human labels where there are any.

    Args:
        file: results, recorded votes, a store, or what `jury review` wrote, whose reviewers are then the jurors.
        cases: the cases of results.
        options: the options of the command.
        people: the options for human labels.
        messages: prints the number of labels that belong to no case, and of cases with contradicting labels.
        group: the field that identifies the group of a case; empty for independent cases.

    Raises:
        ConfigurationError: a file cannot be read, or an option does not fit it.
    """
    reading: _Reading = {
        "jurors": options.jurors, "pass_label": people.pass_labels, "abstain_labels": options.abstain_labels,
        "group": group,
    }  # fmt: skip
    try:
        given = None
        if people.file is not None:
            given = GivenLabels(people.file, people.column, people.field_map or field_map_of_run(file))
        votes = _votes(file, cases, people, reading, given=given, on=options.on, messages=messages)
        from jury_adapters.report.stopped_runs import with_stop
        from jury_adapters.statistics import full_report

        _report_missing(file, messages)
        votes = votes if given is None else replace(votes, contradicting=len(given.contradicting))
        figures = full_report(votes, draws=options.draws or DRAWS, random_sample=not people.picked)
        measured = with_stop(figures, _decision_of(file))
        measured = replace(measured, remarks=tuple(_remarks(file)))
        return measured if given is None else _with_sample_of(given, measured)
    except UnclearLabels as error:
        raise InputError(f"{people.file or file}: {error.what}; {NAME_PASS_LABELS}") from None


def _remarks(file: str) -> Iterator[str]:
    """Yield a sentence on where the agreement of the jurors is, if the verdicts are on several criteria."""
    first = None if is_store(file) else first_row(file)
    if first is not None and first.values is not None and is_result(first) and _is_scorecard(first.values):
        yield (
            "Criteria are different questions, so a verdict on several criteria is one vote here. For the agreement of "
            "the jurors of each criterion: jury report without --agreement, table Criteria."
        )


def _decision_of(file: str) -> GateDecision | None:
    """Return the decision of a gate that may have ended a run early; None for a file that does not hold its results."""
    from jury_adapters.report.entries import decision_of

    return None if is_store(file) or not is_result(first_row(file)) else decision_of(file)


def _report_missing(file: str, messages: Messages) -> None:
    """Report that results are those of a run that was stopped."""
    from jury_adapters.report.stopped_runs import describe_missing, missing_cases

    if is_store(file) or not is_result(first_row(file)):
        return
    planned = planned_in(file)
    judged = 0 if planned is None else count_rows(file)
    if missing := missing_cases(judged, planned, _decision_of(file)):
        messages.info(f"{file}: {describe_missing(judged, missing)}", "yellow")


def _with_sample_of(given: GivenLabels, measured: AgreementReport) -> AgreementReport:
    """Add to the figures that depend on human labels why these are not a fair sample."""
    from jury_adapters.calibration.report import with_selection_of_labels

    against, contradicting, selected = measured.label_comparison, len(given.contradicting), given.selected
    if against is not None:
        against.contradicting, against.selected = contradicting, selected
    return with_selection_of_labels(measured, selected)


class _Reading(TypedDict):
    """Options for reading votes from any file."""

    jurors: Sequence[str]
    pass_label: Sequence[str]
    abstain_labels: Sequence[str]
    group: str


def _votes(
    file: str,
    cases: Path | None,
    people: HumanLabels,
    reading: _Reading,
    *,
    given: GivenLabels | None,
    on: On | None,
    messages: Messages,
) -> Votes:
    from jury_adapters.calibration import Votes

    if is_store(file):
        stored = cases_of_store(file)
        rows: list[dict[str, Any]] = [
            {"item_id": case.content_hash, "answer": case.answer, **case.metadata} for case in stored
        ]
        if on == "status" or (on is None and not _votes_one_of(people.pass_labels, rows)):
            rows, on = [{**row, "votes": _statuses(row["votes"])} for row in rows], "label"
        labelled = _with_labels(rows, people, given, file, messages, stored=stored)
        return Votes.from_recorded(labelled, on=_of_recorded(on), **reading)
    first = first_row(file)
    if first is None:
        raise InputError(f"{file}: there is no row in it")
    if first.values is None:
        raise InputError(f"{file}: the first row cannot be read: {first.error}")
    if said_of(first.values) is not None:
        return _votes_of_reviewers(file, people, reading)
    if not is_result(first):
        recorded = file if people[:2] == (None, GOLD) else _with_labels(_rows_of(file), people, given, file, messages)
        return Votes.from_recorded(recorded, on=_of_recorded(on), **reading)
    if reading["abstain_labels"]:
        raise InputError("--abstain-label is for recorded votes; verdicts say themselves who abstained")
    refuse_review_labels(cases)
    read = partial(
        Votes.from_results,
        file,
        on=on,
        gold=_labels_of_results(file, cases, people, given, messages),
        cases=cases,
        pass_label=reading["pass_label"],
        group=reading["group"],
    )
    votes = _only(reading["jurors"], read) if reading["jurors"] else read()
    report_unknown_lengths(votes, Path(file), messages)
    return votes


def _only(jurors: Sequence[str], read: Callable[..., Votes]) -> Votes:
    """Return the votes of these jurors, also of those in screening tiers if one of them is named."""
    with suppress(ConfigurationError):  # only screening tiers judged, or what the second reading finds as well
        votes = read()
        if set(jurors) <= set(votes.jurors):
            return votes.panel(jurors)
    return read(screening_tiers=True).panel(jurors)


def _is_scorecard(row: Mapping[str, JsonValue]) -> bool:
    verdict = row.get("verdict")
    return isinstance(verdict, Mapping) and verdict.get("voting") == SCORECARD


def _votes_of_reviewers(file: str, people: HumanLabels, reading: _Reading) -> Votes:
    """Return the labels of a file that `jury review` wrote, with reviewers as jurors; unsure is not a vote.

    Raises:
        InputError: there is an option for human labels, which are the votes here.
    """
    from jury_adapters.calibration import Votes

    if people.file is not None or people.column != GOLD:
        raise InputError(f"{file} holds the labels of reviewers, compared with each other; leave out --labels")
    rows = votes_of_reviewers(Path(file), reading["group"])
    grouped: _Reading = {**reading, "group": GROUP if reading["group"] else ""}
    return Votes.from_recorded(rows, **grouped)


def _labels_of_results(
    results: str, cases: Path | None, people: HumanLabels, given: GivenLabels | None, messages: Messages
) -> list[str | None] | None:
    """Return the human label of each result that the options name; None for those of the cases as they are.

    Raises:
        InputError: no case of the results has one of them.
    """
    if people[:2] == (None, GOLD):
        return None
    from jury_adapters.report.entries import results_of

    judged = None if given is None else results
    if given is None and cases is not None:
        given = GivenLabels(cases, people.column)
    found = results_of(results, cases or cases_named_in(Path(results)) if given is not None else None)
    if given is not None:
        labels = labels_of_entries(given, found, judged)
        given.check(results, messages)
        return labels
    said = [human_label_of(None, one.judgment, people.column) for one in found]
    if not any(said):
        raise InputError(
            f"{results}: no case has a label in the column {people.column!r}; name it with --label-column, or give the "
            "cases: --cases CASES"
        )
    return said


def _rows_of(file: str) -> list[Mapping[str, JsonValue]]:
    """Return the rows of recorded votes.

    Raises:
        InputError: a row cannot be read.
    """
    return [row for _, row in read_whole_rows(file)]


def _with_labels(
    rows: Sequence[Mapping[str, JsonValue]],
    people: HumanLabels,
    labels: GivenLabels | None,
    file: str,
    messages: Messages,
    *,
    stored: Sequence[Case] | None = None,
) -> list[Mapping[str, JsonValue]]:
    """Return the rows with the human labels that the options name, in the column that is read.

    Args:
        rows: the rows.
        people: the options for human labels.
        labels: the labels of a file; None for those of the rows.
        file: the file of the rows, for messages.
        messages: prints what became of the labels.
        stored: the case of each row of a store, which keeps no ids; None for other rows.

    Raises:
        InputError: no row has one.
    """
    if labels is None:
        said = [human_label(row.get(people.column)) for row in rows]
        if people.column != GOLD and not any(said):
            raise InputError(
                f"{file}: no row has a label in the column {plain_repr(people.column)}; name it with --label-column"
            )
    else:
        labels.match(((None, row) for row in rows), file)
        if stored is None:
            said = [labels.of_row(row) for row in rows]
        else:
            said = [
                labels.of(
                    item_id=None, line=None, key=case.content_hash, answer=case.answer, columns=columns_of_case(case)
                )
                for case in stored
            ]
        labels.check(file, messages)
    return [{**row, GOLD: label} for row, label in zip(rows, said, strict=True)]


def _votes_one_of(pass_labels: Collection[str], rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a juror of a store votes one of these labels, or there are none, so that labels can be compared."""
    votes = (vote for row in rows for vote in row["votes"].values())
    return not pass_labels or any(vote.get("label") in pass_labels for vote in votes)


def _statuses(votes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the judgments of a store with PASS and FAIL as their labels; others are no votes."""
    return {
        name: {**vote, "label": vote.get("status") if vote.get("status") in ("PASS", "FAIL") else None}
        for name, vote in votes.items()
    }


def _of_recorded(on: On | None) -> Literal["label", "score"] | None:
    if on == "status":
        raise InputError("--on status is for verdicts; recorded votes have a label or a score")
    return on
