"""``jury judge``: judge a file of cases, print a summary, and write the verdicts."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from jury_adapters.cli.budgets import budget_of, check_scope
from jury_adapters.cli.early_stops import report_no_early_stop
from jury_adapters.cli.empty_fields import report_empty_fields
from jury_adapters.cli.estimates import estimate_text
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.fail_under import FailUnder
from jury_adapters.cli.interrupt import CtrlC
from jury_adapters.cli.junit import JUnitReport
from jury_adapters.cli.jury_files import Permissions, check_prices, read_jury
from jury_adapters.cli.labelled_cases import check_labels_of, report_pass_labels
from jury_adapters.cli.options import (
    AllowBaseUrl,
    AllowCommands,
    AsJson,
    Concurrency,
    DryRun,
    Force,
    Group,
    LabelColumn,
    Map,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    PassLabels,
    Prices,
    Quiet,
    StorePlace,
    file_argument,
    file_of_store,
    file_option,
    number_option,
    share_option,
)
from jury_adapters.cli.outcomes import code_of_errors, code_of_gates, code_of_unread_rows
from jury_adapters.cli.places import check_place
from jury_adapters.cli.planned_cases import PlannedCases
from jury_adapters.cli.report_page import ReportPage
from jury_adapters.cli.results import Results
from jury_adapters.cli.streams import Messages, show, write, write_json
from jury_adapters.cli.unclear_labels import report_unclear_labels
from jury_adapters.core.batch import BatchOptions, Judged, stream
from jury_adapters.core.case_files import CaseFile, count_lines, refuse_unnamed_answers
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.formatting import counted
from jury_adapters.core.gates import GateResult, check_gates
from jury_adapters.core.human_labels import GOLD, with_label_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.jury import Jury
from jury_adapters.core.verdict import Verdict
from jury_adapters.progress import open_bar
from jury_adapters.report.summary import Summary
from jury_adapters.report.terminal import print_summary


def judge(
    cases: Annotated[
        Path, file_argument("JSONL, JSON, CSV or TSV (.gz too), in any framework's column names; - is standard input.")
    ],
    *,
    map_: Map = None,
    image_folder: Annotated[
        Path | None,
        file_option("The folder of the images that rows name.", show_default="that of the file", metavar="FOLDER"),
    ] = None,
    jury: Annotated[Path | None, file_option("The jury, as YAML.", show_default="the offline grounding screen")] = None,
    allow_commands: AllowCommands = False,
    allow_base_url: AllowBaseUrl = False,
    out: Annotated[Path | None, file_option("Write one JSON line per verdict to this file.")] = None,
    force: Force = False,
    junit: Annotated[
        Path | None, file_option("Write the verdicts as JUnit XML, for CI servers; an existing file is replaced.")
    ] = None,
    report: Annotated[
        Path | None, file_option("Write the report as one HTML page; an earlier one is replaced.")
    ] = None,
    fail_under: Annotated[
        float | None, share_option("Exit with 1 when less than this share (0 to 1) of the decided or broken passes.")
    ] = None,
    stop_when_decided: Annotated[
        bool, typer.Option("--stop-when-decided", help="Judge in random order; stop when --fail-under is decided.")
    ] = False,
    seed: Annotated[int | None, number_option("Repeat the random order of an earlier run that stopped.", 0)] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when a row could not be read.")] = False,
    limit: Annotated[int | None, number_option("Judge the first N cases only.", 1)] = None,
    group: Group = "",
    concurrency: Concurrency = None,
    store: StorePlace = None,
    max_usd: MaxUsd = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    price: Prices = None,
    dry_run: DryRun = False,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge every case of a file and sum up.

    Where cases have a human label (column `gold`, or what --label-column names), the summary begins with the jury
    against human labels. --pass-label names the labels that mean PASS where they are other words than the jury's;
    --out keeps it for `jury report`.

    Rows that cannot be read are named with their line, and the others are judged; --strict makes the exit code 1.

    With --group every case needs that field; a file with a case that lacks it is refused before anything is judged.

    --dry-run refuses what the run would refuse before it judges, and prints the estimate.

    The gates: of the jury file are checked for every verdict; the missed ones are counted and listed.

    A model that fails three calls in a row for want of a valid key, of quota or of such a model is given up: it is not
    asked for the remaining cases.

    Cases that broke count as failed under --fail-under, and so do those that a spent budget left undecided.

    With --stop-when-decided the chance that judging the whole file decides otherwise is at most 5 %. All rows are read
    first. The cases in flight are finished, and what was judged is written in the order of judging.

    Exit code: 0 passed, 1 below --fail-under, a gate of the jury file missed, most cases not decided because of errors,
    a model given up (or a row that --strict minds), 2 bad input, 130 stopped by Ctrl-C (with the summary so far).
    """
    messages = Messages(quiet=quiet)
    gate = FailUnder(fail_under, stop_early=stop_when_decided, seed=seed)
    permissions: Permissions = {"allow_commands": allow_commands, "allow_base_url": allow_base_url}
    try:
        field_map, store_file = FieldMap.parse(map_ or ()), file_of_store(store)
        pass_labels = tuple(pass_label or ())
        read = partial(CaseFile, cases, limit=limit, field_map=field_map, image_folder=image_folder)
        every = read(lambda _: None, limit=None)
        known_labels = check_labels_of(every, pass_labels, messages, column=label_column, limit=limit)
        if cases.is_file():  # a pipe is read once
            refuse_unnamed_answers(cases, limit=limit, field_map=field_map, image_folder=image_folder)
        results = Results(
            out, cases=cases, field_map=field_map, sources=(jury, junit, report, store_file), force=force,
            pass_labels=pass_labels, group=group, label_column=label_column, tell=messages.info,
        )  # fmt: skip
        if junit is not None:
            check_place(junit, sources=(cases, jury, out, report, store_file))
        judges = _jury(jury, permissions, price)
        if cases.is_file():
            report_empty_fields(judges, read(lambda _: None), cases, messages)
        gate.check_gates(judges.gates)
        name = judges.name or ("" if jury is None else jury.name)
        page = ReportPage(
            report, title=name, sources=(cases, jury, out, junit, store_file), force=force, pass_labels=pass_labels,
            group=group, label_column=label_column, known_labels=known_labels,
        )  # fmt: skip
        xml = JUnitReport(junit, suite=name)
        if group and cases.is_file():  # before anything is paid for
            deque(read(lambda _: None, group=group), maxlen=0)
        budget = budget_of(max_usd, max_calls, max_tokens)
        if dry_run:
            check_scope(judges, store, budget)
            write(_estimate(read(messages.info, unique_ids=True, group=group), judges, as_json=as_json))
            if cases.is_file() and not pass_labels:
                report_unclear_labels(read(lambda _: None), label_column, cases, messages)
            if stop_when_decided:
                messages.info("the estimate is for all cases; with --stop-when-decided fewer may be judged")
            return
        planned = PlannedCases(cases, limit, field_map, image_folder)
        file = read(messages.info, unread=planned.without_unread(xml.add_unread), unique_ids=True, group=group)
        run = _Run(
            file, judges, results, (xml, page), planned=planned, gate=gate, messages=messages, label_column=label_column
        )
        run.summary.label_comparison.known_labels = known_labels
        code = run.judge(limit, {"max_concurrency": concurrency, "store": store, "budget": budget})
        if budget is not None and budget.refused:
            order = "file" if gate.drawn is None else "random order"
            messages.info(f"the budget was spent on the first cases of the {order}: {_not_made(budget.refused)}")
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except KeyboardInterrupt:
        messages.info("stopped by Ctrl-C before the first case was judged")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    unwritten = _write_page(page, file, run.summary, messages)  # also for a run that was stopped
    run.report(fallback_title="" if jury is None else jury.name, as_json=as_json, quiet=quiet)
    raise typer.Exit(
        code or unwritten or report_pass_labels(run.summary.label_comparison, cases, messages)
        or code_of_errors(run.summary, messages) or code_of_gates(run.summary, gate, messages)
        or code_of_unread_rows(file, messages, strict=strict)
    )  # fmt: skip


def _estimate(cases: CaseFile, judges: Jury, *, as_json: bool) -> str:
    """Return the estimate of judging the cases as text; nothing is sent, and nothing is written to a file.

    Raises:
        InputError: there is nothing to judge.
    """
    estimate = judges.estimate_cost(cases)
    if not estimate.cases:
        raise InputError(cases.why_none())
    counts = {"cases": estimate.cases, "unreadable_rows": cases.unreadable} if as_json else {}
    return estimate_text(estimate, as_json=as_json, **counts)


class _Run:
    """One pass over the cases, which judges, writes and counts them."""

    def __init__(
        self,
        cases: CaseFile,
        jury: Jury,
        results: Results,
        reports: tuple[JUnitReport, ReportPage],
        *,
        planned: PlannedCases,
        gate: FailUnder,
        messages: Messages,
        label_column: str,
    ) -> None:
        self.summary = Summary(group=cases.group, pass_labels=results.pass_labels, gold=label_column)
        self._planned = planned
        self._cases = cases
        self._label_column = label_column
        self._jury = jury
        self._results = results
        self._junit, self._page = reports
        self._gate = gate
        self._messages = messages
        self._seconds = 0.0
        self._begun: float | None = None

    def judge(self, limit: int | None, options: BatchOptions) -> ExitCode:
        """Judge every case; if the run is stopped, the cases judged so far stay counted and written.

        Returns:
            OK, or the exit code for the reason of the stop.

        Raises:
            InputError: there is nothing to judge, or the results cannot be written.
        """
        try:
            with self._junit:  # opened before the first row is read, which may be one that it has to report
                self._judge_all(limit, options)
        except KeyboardInterrupt:
            if self._begun is None:
                raise
            self._messages.info(f"stopped by Ctrl-C; {self._so_far()}")
            return ExitCode.INTERRUPTED
        except InputError as error:
            if not self.summary.cases:
                raise
            self._messages.error(f"{error}; {self._so_far()}")
            return ExitCode.BAD_INPUT
        finally:
            self._seconds = 0.0 if self._begun is None else perf_counter() - self._begun
            self.summary.unreadable = self._cases.unreadable
        return ExitCode.OK

    def report(self, *, fallback_title: str, as_json: bool, quiet: bool) -> None:
        """Print the summary; a jury without a name has the fallback as its title."""
        title, guarantee = self._jury.name or fallback_title, getattr(self._jury, "guarantee", None)
        unreported = self._cases.unreported()
        if unreported:
            self._messages.info(f"... and {counted(unreported, 'more row')} that could not be read")
        if as_json:
            head = {"jury": title, "guarantee": guarantee and guarantee.to_dict(), "seconds": round(self._seconds, 3)}
            write_json({**head, **self.summary.to_dict()})
        elif not quiet:
            said = guarantee.headline if guarantee else ""
            show(lambda to: print_summary(to, self.summary, jury=title, seconds=self._seconds, guarantee=said))
        report_no_early_stop(self._jury, self.summary, self._messages)

    def _judge_all(self, limit: int | None, options: BatchOptions) -> None:
        arriving = (with_label_of(case, self._label_column) for case in self._cases)
        first = next(arriving, None)  # before results are written
        if first is None:
            # Unless the command is quiet, the first problem was already reported.
            first_problem = self._cases.first_problem if self._messages.quiet else ""
            raise InputError(self._cases.why_none() + (first_problem and f"; the first, {first_problem}"))
        cases = self._gate.draw(itertools.chain([first], arriving))
        self._results.draw = self._gate.drawn
        self._begun = perf_counter()
        with CtrlC() as ctrl_c, self._results, self._progress(limit) as advance:
            for item in stream(self._jury, cases, **options):
                with ctrl_c.held():  # either both written and counted, or neither
                    self._take(item)
                    self._gate.add(item.judgment, options.get("budget"), self.summary)
                advance()
        self._junit.add_decision(self.summary.decision)

    def _so_far(self) -> str:
        return f"the summary is of the {counted(self.summary.cases, 'case')} judged until then"

    def _take(self, item: Judged) -> None:
        place = self._cases.place_of(self._gate.position(item.index))
        results = self._gate_results(item.judgment)
        unmet = None if results is None else [gate for gate in results if gate.result == "failed"]
        self._results.planned = self.summary.planned = self._planned.number
        self._results.write(item.case, place, item.judgment, unmet)
        self._junit.add(place, item.judgment, unmet or ())
        self._page.add(item, place, unmet or ())
        self.summary.add(item.case, item.judgment, str(place))
        if results is not None:
            self.summary.add_gates(str(place), results)

    def _gate_results(self, judgment: Judgment) -> tuple[GateResult, ...] | None:
        """Return the results of the jury's gates on a verdict; None if the jury has no gates."""
        if not self._jury.gates or not isinstance(judgment, Verdict):
            return None
        return check_gates(judgment, **self._jury.gates)

    @contextmanager
    def _progress(self, limit: int | None) -> Iterator[Callable[[], object]]:
        """Yield a function to call after each case, which moves a bar on standard error if that is a terminal."""
        if not self._messages.live:
            yield lambda: None
            return
        with self._messages.moving(open_bar(limit or count_lines(self._cases.path), leave=False)) as bar:
            yield bar.update


def _not_made(calls: int) -> str:
    if calls == 1:
        return "1 call was not made, and its judge abstained"
    return f"{calls:,} calls were not made, and their judges abstained"


def _write_page(page: ReportPage, file: CaseFile, summary: Summary, messages: Messages) -> ExitCode:
    """Write the page of the report and return the exit code."""
    try:
        page.write(file.unreadable, file.problems, summary.decision, summary.planned)
    except InputError as error:
        messages.error(str(error))
        return ExitCode.BAD_INPUT
    return ExitCode.OK


def _jury(path: Path | None, permissions: Permissions, prices: Sequence[str] | None) -> Jury:
    if path is None:
        from jury_adapters.grounding.screen import grounding_screen

        return grounding_screen()
    judges = read_jury(path, permissions)
    check_prices(prices, judges)
    return judges
