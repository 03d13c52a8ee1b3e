"""``jury compare``: is one system better than another, by the results of one jury?"""

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


def compare(
    a: Annotated[Path, file_argument("The results of one system.")],
    b: Annotated[Path, file_argument("The results of the other; the difference is b minus a.")],
    *,
    labels: LabelsFile = None,
    label_column: LabelColumn = COLUMN,
    pass_label: PassLabels = None,
    report: Page = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether one system is better than another.

    The two answers to a question have one id. Labels of people, in one file for both systems, must name the answer, by
    `key` or by `id` with the answer beside it; an id alone does not tell which of the two was labelled.
    """
    from jury_adapters.report import compare as compared

    check_places({"--report": report}, (a, b, labels))
    people = Labels(labels, column=label_column, pass_labels=pass_label or (), alone=False)
    runs = [[*people.attached(read_results(path))] for path in (a, b)]
    names = (a.name, b.name) if a.name != b.name else (str(a), str(b))
    found = compared(*runs, names=names, pass_labels=pass_label or ())
    remark(people.remarks())
    present(found, report, as_json=as_json)
