"""``jury compare``: the difference of the pass rates of two systems, and the cases that changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.labelled_comparison import LabelFiles, compare_with_labels
from jury_adapters.cli.options import (
    AsJson,
    GroupOfRun,
    LabelColumn,
    Map,
    PassLabels,
    file_argument,
    file_option,
)
from jury_adapters.cli.streams import Messages, write, write_json
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD
from jury_adapters.report.flips import FLIPS_SHOWN


def compare(
    a: Annotated[Path, file_argument("The results of the first system: what `jury judge --out` wrote, or a store.")],
    b: Annotated[Path, file_argument("The results of the second system.")],
    *,
    labels: Annotated[
        list[Path] | None,
        file_option(
            "Answers of both systems with human labels: what `jury review` wrote, or JSONL, JSON or CSV; may be given "
            "several times."
        ),
    ] = None,
    map_: Map = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    group: GroupOfRun = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the pass rates of two systems: the difference (b minus a), its interval, and the cases that changed.

    Cases are matched by id, else by question if each case has its own, else by content, and compared as pairs. Where no
    case is in both files, or questions repeat and there are no ids, the rates are compared as those of independent
    samples.

    With --labels, human labels correct the difference for what the jury gets wrong, which may be more for one system
    than for the other. A label belongs to an answer: label both answers of a random part of the cases, as `jury review
    --sample N` on both files does.

    `jury report B --compare A` adds the same comparison to a report, with --labels also the correction.

    Exit code: 0, or 2 for bad input. --labels and --group need the extra `stats`.
    """
    messages = Messages()
    try:
        if markdown and as_json:
            raise ConfigurationError("--markdown and --json both say what is printed; give one of them")
        if not labels and (pass_label or map_ or label_column != GOLD):
            raise ConfigurationError("--pass-label, --label-column and --map are about --labels; give that file too")
        field_map = FieldMap.parse(map_) if map_ else None
        human = LabelFiles(labels, label_column, pass_label or [], field_map) if labels else None
        shown = None if as_json else FLIPS_SHOWN
        found = compare_with_labels(a, b, human, group, messages, most_flips=shown)
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if as_json:
        write_json(found.to_dict())
    elif markdown:
        from jury_adapters.report.markdown import comparison_markdown

        write(comparison_markdown(found))
    else:
        write(f"{found}\n")
