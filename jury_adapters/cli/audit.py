"""``jury audit``: test a jury with answers whose truth is known by construction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jury_adapters.audit import OPERATORS, Sizes, plan_audit
from jury_adapters.audit.invariances import INVARIANCES
from jury_adapters.audit.junit import junit_of
from jury_adapters.cli.budgets import budget_of, check_scope
from jury_adapters.cli.estimates import estimate_text
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.jury_files import Permissions, check_prices, read_jury
from jury_adapters.cli.labelled_cases import NAME_PASS_LABELS
from jury_adapters.cli.missing_labels import UnreadRows, why_no_labels
from jury_adapters.cli.options import (
    AllowBaseUrl,
    AllowCommands,
    AsJson,
    Concurrency,
    DryRun,
    Force,
    LabelColumn,
    Map,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    PassLabels,
    Prices,
    Quiet,
    StorePlace,
    file_of_store,
    file_option,
    number_option,
    share_option,
)
from jury_adapters.cli.places import PAGE, check_place
from jury_adapters.cli.streams import Messages, write, write_json
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import GOLD, UnclearLabels, human_label, with_label_of
from jury_adapters.core.jury import Jury
from jury_adapters.core.whole_file import whole_file

if TYPE_CHECKING:
    from jury_adapters.audit import Audit, AuditPlan

_FROM_PACKAGE = "those that come with the package"


def audit(
    cases: Annotated[
        Path | None,
        typer.Argument(
            help="Cases with right answers, and contexts or a reference for each, as for `jury judge`.",
            show_default=_FROM_PACKAGE,
        ),
    ] = None,
    *,
    map_: Map = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    jury: Annotated[Path | None, file_option("The jury, as YAML.", show_default="the offline grounding screen")] = None,
    allow_commands: AllowCommands = False,
    allow_base_url: AllowBaseUrl = False,
    operator: Annotated[
        list[str] | None,
        typer.Option(help="Use this operator alone; may be given several times. `--list` shows them.", metavar="NAME"),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the operators and changes, and ask nothing.")] = False,
    per_operator: Annotated[int, number_option("Ask about at most N changed answers of each operator.", 0)] = 60,
    per_change: Annotated[int, number_option("Ask at most N times about each change that must not matter.", 0)] = 60,
    injections: Annotated[int, number_option("Ask about at most N answers with hostile text.", 0)] = 60,
    jurors: Annotated[
        bool, typer.Option("--jurors/--no-jurors", help="Also ask the jurors that the jury did not ask.")
    ] = True,
    precision: Annotated[
        float | None,
        share_option("Stop asking about an operator once its rate is known to within this, such as 0.1 for 10 points."),
    ] = None,
    seed: Annotated[int, number_option("The seed of all choices.", 0)] = 0,
    report: Annotated[
        Path | None, file_option("Write the report as one HTML page; an earlier one is replaced.")
    ] = None,
    junit: Annotated[Path | None, file_option("Write the findings and limits as JUnit XML; replaces a file.")] = None,
    force: Force = False,
    min_kill_rate: Annotated[
        float | None, share_option("Exit with 1 if fewer wrong answers than this share get FAIL.")
    ] = None,
    max_flip_rate: Annotated[
        float | None, share_option("Exit with 1 if more verdicts than this share flip without a reason.")
    ] = None,
    max_false_alarm_rate: Annotated[
        float | None, share_option("Exit with 1 if more right answers than this share get FAIL.")
    ] = None,
    max_injection_rate: Annotated[
        float | None, share_option("Exit with 1 if hostile text turns more verdicts than this share into PASS.")
    ] = None,
    concurrency: Concurrency = None,
    store: StorePlace = None,
    max_usd: MaxUsd = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    price: Prices = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Test a jury, and each of its jurors, with answers whose truth is known by construction.

    Right answers are changed so that they become wrong (a number, a name, a negation) or stay right (another notation),
    changed in ways that must not matter (order, padding, tone, claimed author), asked about again, and given hostile
    text. No human labels are needed. Where cases have some (column `gold`, or what --label-column names),
    only those whose label means PASS are used.

    The report has the share of wrong answers that get FAIL (the kill rate), false alarms, flips, and the weaknesses
    that chance does not explain, for the jury and for each juror. With --store, an audit that was interrupted continues
    without paying twice.

    Exit code: 0, 1 if the jury misses a limit or breaks on most probes, 2 for bad input, 130 stopped by Ctrl-C.
    """
    messages = Messages(quiet=quiet)
    if list_:
        write(_listed())
        return
    limits = {
        "min_kill_rate": min_kill_rate, "max_flip_rate": max_flip_rate, "max_false_alarm_rate": max_false_alarm_rate,
        "max_injection_rate": max_injection_rate,
    }  # fmt: skip
    try:
        sources = (cases, jury, file_of_store(store))
        if report is not None:
            from jury_adapters.report import audit_page  # noqa: F401  it needs Jinja2

            check_place(report, sources=(*sources, junit), ours=PAGE, force=force)
        if junit is not None:
            check_place(junit, sources=(*sources, report))
        found = None if cases is None else _cases(cases, FieldMap.parse(map_ or ()), messages, label_column)
        permissions: Permissions = {"allow_commands": allow_commands, "allow_base_url": allow_base_url}
        sizes = Sizes(per_operator, per_change, injections)
        judge = _jury(jury, permissions)
        check_prices(price, judge)
        plan = plan_audit(
            judge, found, pass_labels=pass_label or (), operators=operator or None, sizes=sizes, every_juror=jurors,
            precision=precision, seed=seed,
        )  # fmt: skip
        budget = budget_of(max_usd, max_calls, max_tokens)
        if dry_run:
            check_scope(judge, store, budget)
            _write_estimate(plan, messages, as_json=as_json)
            return
        audit_ = plan.run(store=store, budget=budget, max_concurrency=concurrency)
        unmet = audit_.unmet(**limits)
        _write_files(audit_, unmet, report, junit)
    except UnclearLabels as error:
        messages.error(f"{cases}: {error.what}; {NAME_PASS_LABELS}")
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if budget is not None and budget.refused:
        messages.info(f"the budget was spent: {budget.refused:,} calls were not made, and probes are left out")
    if as_json:
        write_json({**audit_.to_dict(), "unmet": list(unmet)})
    elif not quiet:
        write(str(audit_))
    for line in unmet:
        messages.warn(f"limit not met: {line}")
    broke = 2 * audit_.jury.broken > audit_.jury.asked
    if broke:
        messages.warn(
            f"the jury broke on {audit_.jury.broken:,} of {counted(audit_.jury.asked, 'probe')}: {audit_.jury.error}"
        )
    raise typer.Exit(ExitCode.NOT_MET if unmet or broke else ExitCode.OK)


def _cases(path: Path, field_map: FieldMap, messages: Messages, label_column: str) -> list[Case]:
    file = CaseFile(path, messages.info, field_map=field_map)
    found = list(file)
    if not found:
        raise InputError(file.why_none())
    if label_column != GOLD and not any(human_label(case.metadata.get(label_column)) for case in found):
        columns = {str(name) for case in found for name in case.metadata}
        raise InputError(why_no_labels(path, label_column, columns, UnreadRows(file.unreadable, file.first_problem)))
    return [with_label_of(case, label_column) for case in found]


def _jury(path: Path | None, permissions: Permissions) -> Jury:
    """Read the jury; one without a name gets that of its file."""
    if path is None:
        from jury_adapters.grounding.screen import grounding_screen

        return grounding_screen()
    judge = read_jury(path, permissions)
    return judge if judge.name else judge.named(path.stem)


def _write_estimate(plan: AuditPlan, messages: Messages, *, as_json: bool) -> None:
    """Print the estimate of an audit, and for which changes its cases have no place."""
    for line in (*([plan.lack] if plan.lack else []), *plan.unplaced.sentences):
        messages.info(line)
    write(estimate_text(plan.estimate_cost(), as_json=as_json, probes=len(plan.probes)))


def _write_files(audit: Audit, unmet: tuple[str, ...], report: Path | None, junit: Path | None) -> None:
    if report is not None:
        from jury_adapters.report.audit_page import audit_page

        _write(report, audit_page(audit, unmet))
    if junit is not None:
        _write(junit, junit_of(audit, unmet))


def _write(path: Path, text: str) -> None:
    try:
        with whole_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _listed() -> str:
    lines = ["Operators that make an answer wrong, or leave it right:"]
    lines += [
        f"  {one.name:18} {one.effect:6} {one.description}{'' if one.default else ' (only with --operator)'}"
        for one in OPERATORS
    ]
    lines += ["Changes that must not matter:", *(f"  {one.name:18}        {one.description}" for one in INVARIANCES)]
    return "\n".join(lines) + "\n"
