"""``jury replay``: try juries on recorded votes at no cost, and compare them with human labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.given_labels import GivenLabels
from jury_adapters.cli.jury_files import Permissions, read_jury
from jury_adapters.cli.labelled_cases import field_map_for_store, refuse_review_labels
from jury_adapters.cli.labelled_reports import field_map_of_run
from jury_adapters.cli.options import (
    AllowCommands,
    AsJson,
    GroupOfRun,
    LabelColumn,
    Labels,
    Map,
    PassLabels,
    file_argument,
    file_option,
    number_option,
)
from jury_adapters.cli.replayed_cases import NO_TEXTS, ReplayedCases, cases_with_votes
from jury_adapters.cli.report_sources import group_of_file, named_cases
from jury_adapters.cli.streams import Messages, show, write_json
from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.formatting import counted, money, percent, two_decimals, visible
from jury_adapters.core.human_labels import GOLD, human_label, human_label_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.jury import Jury
from jury_adapters.core.results_file import is_result, pass_labels_named_in
from jury_adapters.core.row_files import first_row
from jury_adapters.core.values import JsonValue
from jury_adapters.critic.recorded import RecordedCritic, is_store
from jury_adapters.critic.recorded_panel import verdicts_of
from jury_adapters.critic.recording import Recording
from jury_adapters.critic.replayed import check_votes, jurors_of, may_decide_alone, serve_from, unpriced_votes
from jury_adapters.report.counters import failed_runs_note
from jury_adapters.report.joint_opinions import AgreementDifference, JointOpinions
from jury_adapters.report.summary import Summary
from jury_adapters.store.opening import is_url, place_name

_AT_ONCE = 100  # cases in memory


def replay(
    votes: Annotated[
        str,
        file_argument(
            "Recorded votes: JSONL with item_id, votes and gold; what `jury judge --out` wrote; or a store (.db, or "
            "the URL of a database)."
        ),
    ],
    *,
    jury: Annotated[list[Path], file_option("A jury of `recorded:` jurors, as YAML; give several to compare.")],
    cases: Annotated[
        Path | None,
        file_option("The judged cases, for their texts and human labels."),
    ] = None,
    map_: Map = None,
    labels: Labels = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    group: GroupOfRun = None,
    allow_commands: AllowCommands = False,
    limit: Annotated[int | None, number_option("Replay the first N cases only.", 1)] = None,
    as_json: AsJson = False,
) -> None:
    """Let juries vote again over recorded votes, and compare them. No model is asked.

    A critic of a jury file gets the votes that are recorded under its name. A store also knows critics by model,
    parameters and rubric, which count before the name; it serves each request of a critic with `samples:`, and the
    votes of its `fallbacks:`. Checks run again. A juror can also be `recorded: gpt-4o` with its `labels:`; without
    `votes:` it reads the votes of the file given here. A juror that was not asked about a case abstains, and one
    that is asked and has no vote at all in the file, such as a misspelt one, is an error. Calls and cost are those
    of the recorded votes. A vote that does not say what it cost is one call of unknown cost; a `recorded:` juror
    takes a `cost:`.

    A store holds only cases that reached a model. Give the judged cases with `--cases` where checks decide some, with
    the `--map` of the run; results keep both.

    Where cases have a human label (--labels, --label-column), the juries against human labels come first: the share of
    the labelled cases that each decides, and how its decisions compare. A case that is there several times counts once
    in this. Of several juries, each is compared with the first on the cases that both decide, with an exact test.

    Exit code: 0, or 2 for bad input.
    """
    messages = Messages()
    file = Path(place_name(votes) if is_url(votes) else votes)  # only the name of a URL, which may contain a password
    try:
        permissions: Permissions = {"allow_commands": allow_commands, "allow_base_url": False}
        juries = [read_jury(path, permissions, replay=True) for path in jury]
        recording = Recording.read(votes) if is_store(votes) else None
        refuse_review_labels(cases)
        field_map = field_map_for_store(map_, votes)
        named = cases_with_votes(file, cases, limit, messages, recording, field_map=field_map)
        given = None if labels is None else GivenLabels(labels, label_column, field_map or field_map_of_run(file))
        judged = ReplayedCases(named, label_column, limit, given)
        judged.check_labels(file, messages)
        if recording is not None:
            for one in juries:
                serve_from(one, recording)
            if cases is None:
                for lack in _lacks_of_store(file, recording, juries):
                    messages.info(lack)
        for one, path in zip(juries, jury, strict=True):
            _check_texts(one, path, judged)
        passing = pass_label or _pass_labels_of(file, judged, label_column)
        by = group_of_file(votes, cases or named_cases(file), messages) if group is None else group
        results, joint = _replayed(list(zip(jury, juries, strict=True)), judged, label_column, passing, by)
        _tell_apart(results, jury)
        _compare_with_first(results, joint)
        for lack in _lacks_of_juries(list(zip(results, juries, strict=True)), judged, file, recording):
            messages.info(lack)
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if as_json:
        write_json([result.to_dict() for result in results])
    else:
        show(lambda console: _print(console, results, file))


@dataclass(slots=True)
class Replayed:
    """Result of one jury over all cases.

    Attributes:
        name: the jury's name, or that of its file; both if two juries have the same name.
        summary: the figures of the run.
        minus_first: its agreement with human labels minus that of the first jury; None for the first jury, and without
            labelled cases that both decide.
        unpriced: the number of its votes that do not say what they cost; each counts as one call of unknown cost.
    """

    name: str
    summary: Summary
    minus_first: AgreementDifference | None = None
    unpriced: int = 0

    @property
    def calls(self) -> int:
        """Number of calls behind its votes."""
        return self.summary.usage.total.calls + self.unpriced

    @property
    def cost_complete(self) -> bool:
        """Whether the cost of all votes is known."""
        return self.summary.usage.total.cost_complete and not self.unpriced

    def to_dict(self) -> dict[str, JsonValue]:
        """Return all figures as JSON values; calls and cost are those of the recorded votes."""
        summary, usage = self.summary, self.summary.usage.total
        return {
            "jury": self.name,
            "group": summary.group or None,
            "groups": summary.groups,
            "label_comparison": summary.label_comparison.to_dict(),
            "minus_first": None if self.minus_first is None else self.minus_first.to_dict(),
            "cases": summary.cases,
            "decided": summary.valid,
            "passed": summary.passed,
            "pass_rate_warning": summary.pass_rate_warning,
            "agreement": summary.mean_agreement,
            "needs_review": summary.review,
            "failed_runs": summary.failed_runs,
            "calls": self.calls,
            "calls_saved": summary.calls_saved,
            "cost_usd": usage.cost_usd,
            "cost_complete": self.cost_complete,
        }


def _lacks_of_store(votes: Path, recording: Recording, juries: Iterable[Jury]) -> Iterator[str]:
    """Yield a sentence for each fact of the run that a store does not contain."""
    if recording.hidden:
        yield (
            f"{votes} holds {counted(recording.hidden, 'case')} more that differ from others only in metadata, which a "
            "store does not keep; they are left out. Give the file that was judged: --cases CASES"
        )
    if any(map(may_decide_alone, juries)):
        yield (
            f"{votes} holds only cases that reached a model. Cases that a check decided before are left out of these "
            "figures; give the file that was judged (--cases CASES), or replay the results of the run (--out)"
        )


def _lacks_of_juries(
    juries: Sequence[tuple[Replayed, Jury]], cases: ReplayedCases, file: Path, recording: Recording | None
) -> Iterator[str]:
    """Yield a sentence for each juror that lacked votes, and for each jury that decided nothing.

    Raises:
        InputError: a juror has no votes at all, or no juror has votes of these cases.
    """
    all_cases = replace(cases, limit=None, labels=None)
    whole = cases.limit is None or recording is not None or cases.complete
    source = str(file) if whole else f"{file}, read up to row {cases.limit},"
    for result, jury in juries:
        for lack in check_votes(jury, all_cases, source, recording):
            yield f"{visible(result.name)}: {lack}" if len(juries) > 1 else lack
        if not result.summary.valid:
            yield f"{result.name} decided nothing: there are votes of {', '.join(_voters(cases))}"


def _check_texts(jury: Jury, path: Path, cases: Iterable[Case]) -> None:
    """Check that the checks of a jury have the cases to run on.

    Raises:
        InputError: the texts of some cases are unknown.
    """
    live = [name for _, name, juror in jurors_of(jury) if not isinstance(juror, RecordedCritic)]
    unknown = sum(NO_TEXTS in case.metadata and case.run_error is None for case in cases) if live else 0
    if unknown:
        raise InputError(
            f"{path}: {visible(live[0])!r} runs again, and the texts of {counted(unknown, 'case')} are not known; give "
            "the file that was judged: --cases CASES"
        )


def _voters(cases: Iterable[Case]) -> list[str]:
    votes = (case.metadata.get("votes") for case in cases)
    return sorted({visible(name) for cast in votes if isinstance(cast, Mapping) for name in cast})


def _pass_labels_of(votes: Path, cases: Iterable[Case], column: str) -> Sequence[str]:
    """Return the labels that mean PASS according to the results, as far as the cases have them."""
    if is_store(str(votes)) or not is_result(first_row(votes)):
        return []
    return pass_labels_named_in(votes, ((human_label(case.metadata.get(column)), ()) for case in cases))


def _replayed(
    juries: Sequence[tuple[Path, Jury]], cases: Iterable[Case], column: str, pass_labels: Sequence[str], group: str
) -> tuple[list[Replayed], JointOpinions]:
    """Let juries vote over the cases, which are read once.

    Returns:
        The result of each jury, and the opinions of all on the labelled cases.

    Raises:
        InputError: the human labels cannot be compared with the verdicts, or a case has no such group.
    """
    results = [
        Replayed(jury.name or path.stem, Summary(pass_labels=pass_labels, gold=column, group=group))
        for path, jury in juries
    ]
    places, joint = count(1), JointOpinions()
    remaining = iter(cases)
    while some := list(islice(remaining, _AT_ONCE)):
        names = [f"case {at}" for at in islice(places, len(some))]
        verdicts = zip(*[verdicts_of(jury, some) for _, jury in juries], strict=True)
        for name, case, of_each in zip(names, some, verdicts, strict=True):
            _count(results, joint, case, of_each, name)
    for result, (_, jury) in zip(results, juries, strict=True):
        result.unpriced = unpriced_votes(jury)
        if result.summary.label_comparison.problem:
            raise InputError(result.summary.label_comparison.problem)
    return results, joint


def _count(
    results: Sequence[Replayed], joint: JointOpinions, case: Case, verdicts: Sequence[Judgment], name: str
) -> None:
    """Count the verdicts of all juries on a case; copies of a labelled case count once."""
    first = results[0].summary
    labelled = first.label_comparison.cases
    for result, verdict in zip(results, verdicts, strict=True):
        result.summary.add(case, verdict, name)
    if len(results) == 1:
        return
    label = human_label_of(case, verdicts[0], first.label_comparison.column)
    if label is not None and first.label_comparison.cases > labelled:
        joint.add(label, verdicts, group_of_case(case, verdicts[0], first.group, name) if first.group else None)


def _compare_with_first(results: Sequence[Replayed], joint: JointOpinions) -> None:
    readings = [result.summary.label_comparison.reading() for result in results]
    names = [result.name for result in results]
    for position in range(1, len(results)):
        results[position].minus_first = joint.difference(0, position, readings, names)


def _tell_apart(results: Sequence[Replayed], files: Sequence[Path]) -> None:
    """Add the file's name to juries with the same name: a calibrated jury keeps its original name."""
    times = Counter(result.name for result in results)
    for result, path in zip(results, files, strict=True):
        if times[result.name] > 1:
            result.name = f"{result.name} ({path.name})"


def _print(console: Console, results: Sequence[Replayed], votes: Path) -> None:
    against = [result.summary.label_comparison for result in results]
    console.print(Text(f"{counted(results[0].summary.cases, 'case')} of {votes.name}, replayed", style="bold"))
    if against[0].cases:
        for section in _sections(results):
            console.print(Text(f"\n{section}"), soft_wrap=True)
        console.print()
        differences = [str(result.minus_first) for result in results if result.minus_first is not None]
        for sentence in differences:
            console.print(Text(fill(sentence, 98, initial_indent="  ", subsequent_indent="  ")), soft_wrap=True)
        if differences:
            console.print()
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("jury", no_wrap=True, min_width=12)
    for heading in ("decided", "pass", "agreement", "calls", "saved", "cost"):
        table.add_column(heading, justify="right")
    for result in results:
        summary, usage = result.summary, result.summary.usage.total
        cost = money(usage.cost_usd, complete=result.cost_complete)
        table.add_row(
            visible(result.name), percent(summary.valid / summary.cases if summary.cases else None),
            percent(summary.pass_rate), two_decimals(summary.mean_agreement), f"{result.calls:,}",
            f"{summary.calls_saved:,}", cost,
        )  # fmt: skip
    console.print(table)
    if results[0].summary.failed_runs:
        note = failed_runs_note(results[0].summary.failed_runs)
        console.print(Text(f"  {note}: FAIL in the rate of every jury, and judged by no juror."))
    for result in results:
        if result.summary.pass_rate_warning:
            warning = f"Warning: of {visible(result.name)}, {result.summary.pass_rate_warning}"
            console.print(Text(fill(warning, 98, initial_indent="  ", subsequent_indent="  ")), soft_wrap=True)
    if not against[0].cases:
        console.print(Text("  No case has a human label, so nothing is compared with human labels; see --labels."))


def _sections(results: Sequence[Replayed]) -> Iterator[str]:
    """Yield the juries against human labels: several in one table without jurors, if they have the same labels."""
    by_name = {one.name: one.summary.label_comparison for one in results}
    first = next(iter(by_name.values()))
    beside = first.beside(by_name)
    if len(by_name) > 1 and not beside.problem and len({one.pass_fail for one in by_name.values()}) == 1:
        yield str(beside)
        return
    for name, against in by_name.items():
        yield f"{visible(name)}\n{against}" if len(by_name) > 1 else str(against)
