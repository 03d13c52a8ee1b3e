"""``jury report``: what a run found, from its results file."""

from pathlib import Path
from typing import Annotated

from jury_adapters.cli.console import (
    AsJson,
    LabelColumn,
    LabelsFile,
    Page,
    PassLabels,
    check_places,
    file_argument,
    present,
    remark,
)
from jury_adapters.cli.labels import COLUMN, Labels
from jury_adapters.core.results import read_results


def report(
    results: Annotated[Path, file_argument("What jury judge wrote with --out.")],
    *,
    labels: LabelsFile = None,
    label_column: LabelColumn = COLUMN,
    pass_label: PassLabels = None,
    report: Page = None,
    as_json: AsJson = False,
) -> None:
    """Show what a run found: in the terminal, as JSON, or as a page.

    Labels of people, such as those of jury review, belong to a case by `key`, or by `id` with the answer beside it.
    """
    from jury_adapters.report import Report

    check_places({"--report": report}, (results, labels))
    people = Labels(labels, column=label_column, pass_labels=pass_label or ())
    found = Report(people.attached(read_results(results)), title=results.name, pass_labels=pass_label or ())
    remark(people.remarks())
    present(found, report, as_json=as_json)
