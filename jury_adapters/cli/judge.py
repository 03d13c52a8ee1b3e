"""``jury judge``: judge a file of cases, sum up, and say whether the result is good enough."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from jury_adapters.cli.cases import CaseFile, Survey, parse_map
from jury_adapters.cli.console import (
    AllowBaseUrl,
    AllowCommands,
    AsJson,
    DryRun,
    ExitCode,
    LabelColumn,
    MaxUsd,
    Page,
    PassLabels,
    Quiet,
    StorePlace,
    check_places,
    file_argument,
    file_option,
    not_met,
    present,
    remark,
    say,
    show_found,
)
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Status
from jury_adapters.core.results import ResultsFile, read_results
from jury_adapters.core.values import ConfigurationError

if TYPE_CHECKING:
    from jury_adapters.report import Report


SomeJury = Annotated[
    Path | None, file_option("The jury, a YAML file; by default the offline screen.", "--jury", exists=True)
]
Out = Annotated[Path | None, file_option("Write a line of JSON per case; a file of the same jury is continued.")]
FailUnder = Annotated[float | None, typer.Option(help="Exit with 1 unless this share of cases passes.", min=0, max=1)]
FieldMap = Annotated[
    list[str] | None,
    typer.Option("--map", help="Read a field from another column, such as answer=reply.", metavar="FIELD=COLUMN"),
]
Group = Annotated[str, typer.Option(help="The column of what cases share, such as a document.", metavar="COLUMN")]
Limit = Annotated[int | None, typer.Option(help="Judge the first rows only.", min=1, metavar="N")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Begin the file of --out anew.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if a row cannot be read.")]


def judge(
    cases: Annotated[Path, file_argument("Rows with answers: .jsonl, .json, .csv or .tsv, or packed as .gz.")],
    *,
    jury: SomeJury = None,
    out: Out = None,
    report: Page = None,
    store: StorePlace = None,
    max_usd: MaxUsd = None,
    fail_under: FailUnder = None,
    map_: FieldMap = None,
    label_column: LabelColumn = "human_label",
    pass_label: PassLabels = None,
    group: Group = "",
    dry_run: DryRun = False,
    limit: Limit = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    allow_commands: AllowCommands = False,
    allow_base_url: AllowBaseUrl = False,
    strict: Strict = False,
) -> ExitCode:
    """Judge every case of a file, and sum up.

    Rows have the column names of LangSmith, LlamaIndex, ragas or DeepEval. A row that cannot be read is named with its
    line, and counts as an ERROR; the others are judged.

    A run that was stopped goes on with the same command: cases that the file of --out has are not judged again, and
    those with an ERROR are.

    The exit code is 1 if --fail-under or --strict is not met, and if more than half of the cases could not be judged.
    ABSTAIN and ERROR have not passed.
    """
    from jury_adapters.config import load_jury
    from jury_adapters.grounding import grounding_screen

    check_places({"--out": out, "--report": report}, (cases, jury, Path(store) if store else None))
    judges = (
        load_jury(jury, allow_commands=allow_commands, allow_base_url=allow_base_url) if jury else grounding_screen()
    )
    if fail_under is not None and Status.LABEL in (judges.labels or {}).values():
        raise ConfigurationError(f"--fail-under needs verdicts of PASS or FAIL, and {jury} gives labels")
    file = CaseFile(cases, parse_map(map_ or ()), label_column, group, limit)
    survey = file.survey()
    survey.check_labels(judges, label_column, pass_label or ())
    remark(() if quiet else survey.remarks())
    if dry_run:
        return show_estimate(judges, file.cases(), as_json=as_json)
    budget = None if max_usd is None else Budget(max_usd=max_usd)
    run = _Run(file, survey, judges, title=judges.name or cases.name, pass_labels=pass_label or (), quiet=quiet)
    found = run.report(out, store, budget, overwrite=overwrite)
    present(found, report, as_json=as_json, quiet=quiet, complete=run.whole)
    if budget is not None and budget.refused:
        say(f"--max-usd: {budget.refused:,} calls did not fit, after ${budget.spent.cost_usd:.4f} were spent", "yellow")
    if not run.whole:
        way = f"the same command goes on with {out}" if out else "with --out the next run would go on from here"
        say(f"stopped by Ctrl-C: {found.summary.cases:,} of {survey.rows:,} rows are judged; {way}", "yellow")
        return ExitCode.INTERRUPTED
    unread = [f"--strict: {len(survey.unread):,} of {survey.rows:,} rows could not be read"]
    return not_met([*found.summary.unmet(fail_under=fail_under), *(unread if strict and survey.unread else ())])


@dataclass
class _Run:
    """One run over a file of cases; every result is written before the next one.

    Attributes:
        whole: whether it was not stopped by Ctrl-C.
    """

    file: CaseFile
    survey: Survey
    jury: Judge
    title: str
    pass_labels: Sequence[str]
    quiet: bool
    whole: bool = True

    def report(self, out: Path | None, store: str | None, budget: Budget | None, *, overwrite: bool) -> "Report":
        """Judge what the results lack, and return the report of the cases of this file."""
        from jury_adapters.report import Report
        from jury_adapters.store import open_store

        strange: Counter[str] = Counter()
        with TemporaryDirectory() as folder, open_store(store) if store else nullcontext() as opened:
            kept = out or Path(folder) / "results.jsonl"
            with ResultsFile(
                kept, self.jury, label=self.file.label, group=self.file.group, overwrite=overwrite
            ) as results:
                results.relabel(self.file.cases())
                self._judge(results, store=opened, budget=budget)
            mine = self.survey.of_this_run(read_results(kept), strange)
            if self.pass_labels and not self.whole:  # the labels so far may lack one of these
                mine = (one.but(human_label=None) for one in mine)
            found = Report(mine, title=self.title, pass_labels=self.pass_labels if self.whole else ())
        if strange and not self.quiet:
            say(f"{out} also has {strange.total():,} results of other cases, which are not counted here", "yellow")
        return found

    def _judge(self, results: ResultsFile, **options: Any) -> None:
        from jury_adapters.report.render import Console

        console = Console(stderr=True)
        bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=self.quiet or not console.is_terminal,
        )
        task = bar.add_task("judging", total=self.survey.rows, completed=len(results))
        try:
            with nullcontext() if bar.disable else bar:  # before rich 14.3, a disabled bar prints an empty line
                for _ in results.judge(self.file, **options):  # type: ignore[arg-type]  # errors become ERRORs
                    bar.advance(task)
        except KeyboardInterrupt:
            self.whole = False


def show_estimate(jury: Judge, cases: Iterable[Case], *, as_json: bool) -> ExitCode:
    """Print an upper estimate of what judging the cases would cost; nothing is sent."""
    estimate = jury.estimate_cost(cases)
    values = {
        "cases": estimate.cases,
        "parts": {name: usage.model_dump() for name, usage in estimate.parts.items()},
        "total": estimate.total.model_dump(),
    }
    show_found(str(estimate), values, as_json=as_json)
    return ExitCode.MET
