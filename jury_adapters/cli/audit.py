"""``jury audit``: test a jury with answers that are wrong by construction."""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from jury_adapters.cli.cases import CaseFile
from jury_adapters.cli.console import (
    AllowBaseUrl,
    AllowCommands,
    AsJson,
    DryRun,
    ExitCode,
    JuryFile,
    LabelColumn,
    MaxUsd,
    PassLabels,
    StorePlace,
    file_argument,
    not_met,
    remark,
    show_found,
)
from jury_adapters.cli.judge import show_estimate
from jury_adapters.cli.labels import COLUMN
from jury_adapters.core.budget import Budget

Rate = float | None
MinKillRate = Annotated[Rate, typer.Option(help="Exit with 1 if fewer wrong answers are found.", min=0, max=1)]
MaxFalseAlarmRate = Annotated[Rate, typer.Option(help="... a larger share of right answers fails.", min=0, max=1)]
MaxFlipRate = Annotated[Rate, typer.Option(help="... harmless changes turn more verdicts.", min=0, max=1)]
MaxInjectionRate = Annotated[Rate, typer.Option(help="... hostile texts turn more verdicts.", min=0, max=1)]


def audit(
    cases: Annotated[
        Path | None, file_argument("Rows with right answers; by default the examples of the package.")
    ] = None,
    *,
    jury: JuryFile,
    operator: Annotated[list[str] | None, typer.Option(help="Change answers in this way only.")] = None,
    size: Annotated[int, typer.Option(help="The most questions of each kind.", min=1)] = 60,
    store: StorePlace = None,
    max_usd: MaxUsd = None,
    min_kill_rate: MinKillRate = None,
    max_false_alarm_rate: MaxFalseAlarmRate = None,
    max_flip_rate: MaxFlipRate = None,
    max_injection_rate: MaxInjectionRate = None,
    label_column: LabelColumn = COLUMN,
    pass_label: PassLabels = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    allow_commands: AllowCommands = False,
    allow_base_url: AllowBaseUrl = False,
) -> ExitCode:
    """Test a jury with answers that are wrong by construction, and with harmless and hostile changes.

    The exit code is 1 if a limit is missed. Rows with labels of people count only if these mean PASS.
    """
    from jury_adapters.audit import audit as audited
    from jury_adapters.audit import plan_probes
    from jury_adapters.config import load_jury
    from jury_adapters.store import open_store

    judges = load_jury(jury, allow_commands=allow_commands, allow_base_url=allow_base_url)
    file = None if cases is None else CaseFile(cases, {}, label_column, "", None)
    remark(file.survey().remarks() if file else ())
    right = None if file is None else [*file.cases()]
    plan: dict[str, Any] = {
        "operators": operator or None,
        "size": size,
        "label": label_column,
        "pass_labels": pass_label or (),
    }
    limits = {
        "min_kill_rate": min_kill_rate,
        "max_false_alarm_rate": max_false_alarm_rate,
        "max_flip_rate": max_flip_rate,
        "max_injection_rate": max_injection_rate,
    }
    if dry_run:
        return show_estimate(judges, (probe.case for probe in plan_probes(judges, right, **plan)), as_json=as_json)
    budget = None if max_usd is None else Budget(max_usd=max_usd)
    with open_store(store) if store else nullcontext() as opened:
        found = audited(judges, right, **plan, store=opened, budget=budget)
    show_found(str(found), found.to_dict(), as_json=as_json)
    return not_met(re.sub(r"^\w+", lambda name: f"--{name[0].replace('_', '-')}", one) for one in found.unmet(**limits))
