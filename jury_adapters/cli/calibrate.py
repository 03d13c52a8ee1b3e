"""``jury calibrate``: a jury file with a guarantee against the labels of people."""

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from jury_adapters.cli.console import (
    AllowBaseUrl,
    AllowCommands,
    AsJson,
    ExitCode,
    JuryFile,
    LabelColumn,
    LabelsFile,
    MaxUsd,
    PassLabels,
    StorePlace,
    check_places,
    file_argument,
    file_option,
    not_met,
    remark,
    say,
    show_found,
)
from jury_adapters.cli.labels import COLUMN, Labels
from jury_adapters.core.budget import Budget
from jury_adapters.core.results import read_results
from jury_adapters.core.values import ConfigurationError

Agreement = Annotated[float, typer.Option(help="The share of decided cases to agree with people.", min=0, max=1)]
Delta = Annotated[float, typer.Option(help="The probability with which the guarantee may fail.", min=0, max=1)]


def calibrate(
    results: Annotated[Path, file_argument("What jury judge wrote with --out, of a random sample of cases.")],
    *,
    jury: JuryFile,
    out: Annotated[Path, file_option("Write the calibrated jury file here.")],
    agreement: Agreement = 0.9,
    delta: Delta = 0.1,
    labels: LabelsFile = None,
    label_column: LabelColumn = COLUMN,
    pass_label: PassLabels = None,
    store: StorePlace = None,
    max_usd: MaxUsd = None,
    as_json: AsJson = False,
    allow_commands: AllowCommands = False,
    allow_base_url: AllowBaseUrl = False,
) -> ExitCode:
    """Guarantee how often the decided verdicts of a jury agree with people.

    The labels are those of the results, or of --labels, and must be of a random sample. Tiers that the results lack,
    because the cascade had stopped, are asked about the labelled cases. The new file names the jury file, which stays
    as it is; its guarantee is void if that file changes. What screening tiers decide is not guaranteed.

    The exit code is 1 if the labels allow no such guarantee.
    """
    from jury_adapters.calibrate import CalibrationFailed
    from jury_adapters.calibrate import calibrate as calibrated
    from jury_adapters.config import load_jury
    from jury_adapters.store import open_store

    check_places({"--out": out}, (results, jury, labels, Path(store) if store else None))
    if not jury.resolve().is_relative_to(out.resolve().parent):
        raise ConfigurationError(f"--out {out} names the jury file {jury}, so it belongs in the folder of that file")
    judges = load_jury(jury, allow_commands=allow_commands, allow_base_url=allow_base_url)
    people = Labels(labels, column=label_column, pass_labels=pass_label or ())
    cases = [*people.attached(read_results(results))]
    remark(people.remarks())
    budget = None if max_usd is None else Budget(max_usd=max_usd)
    with open_store(store) if store else nullcontext() as opened:
        try:
            found = calibrated(
                judges,
                cases,
                agreement,
                delta,
                pass_labels=pass_label or (),
                jury_file=os.path.relpath(jury, out.parent),
                store=opened,
                budget=budget,
            )
        except CalibrationFailed as failed:
            paid = "" if budget is None else f"${budget.spent.cost_usd:.4f} were spent; --store keeps what was paid for"
            return not_met(filter(None, (str(failed), paid)))
    out.write_text(found.guarantee.to_yaml(), encoding="utf-8")
    show_found(str(found.guarantee), found.guarantee.model_dump(mode="json"), as_json=as_json)
    if not as_json:
        say(f"next: jury judge CASES --jury {out}")
    return ExitCode.MET
