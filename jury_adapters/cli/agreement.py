"""``jury agreement``: the agreement of jurors, and its value."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from jury_adapters.calibration import DRAWS
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.human_labels import NAME_PASS_LABELS
from jury_adapters.cli.labels import gold_of
from jury_adapters.cli.options import AsJson, Group, PassLabels, file_argument, file_option, number_option
from jury_adapters.cli.streams import News, write
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.human_labels import UnclearLabels
from jury_adapters.core.results_file import is_result
from jury_adapters.core.rows import first_row
from jury_adapters.critic.recorded import cases_of_store, is_store

if TYPE_CHECKING:
    from jury_adapters.calibration.types import On
    from jury_adapters.calibration.votes import Votes


def agreement(
    file: Annotated[
        str,
        file_argument("What `jury judge --out` wrote, recorded votes (item_id, votes, gold), or a store (.db, URL)."),
    ],
    *,
    cases: Annotated[
        Path | None,
        file_option("The cases of a result file, with gold labels, answers and groups; or what `jury review` wrote."),
    ] = None,
    juror: Annotated[list[str] | None, typer.Option(help="Only these jurors; may be given several times.")] = None,
    pass_label: PassLabels = None,
    abstain_label: Annotated[
        list[str] | None, typer.Option(help="A label that is no vote, such as tie.", metavar="LABEL")
    ] = None,
    on: Annotated[
        Literal["label", "status", "score"] | None,
        typer.Option(help="What of a judgment is its vote.", show_default="what the jury voted on"),
    ] = None,
    group: Group = "",
    draws: Annotated[int, number_option("Bootstrap draws of each interval.", 100)] = DRAWS,
    as_json: AsJson = False,
) -> None:
    """Measure the agreement among jurors, and with people where there are gold labels.

    With human labels (column `gold`), the jury and its jurors against people come first. --pass-label names the labels
    that mean PASS; what `jury judge` was given counts without it. Confidences and scores are compared with the labels,
    and repeated answers with each other.

    Each figure comes with its interval and a sentence that says what it means, and with a warning where it misleads.

    Exit code: 0, or 2 for bad input. Needs the extra `stats`.
    """
    news = News()
    try:
        reading: _Reading = {
            "jurors": juror or [], "pass_label": pass_label or [], "abstain_labels": abstain_label or [],
            "group": group,
        }  # fmt: skip
        votes = _votes(file, cases, reading, on)
        from jury_adapters.statistics import full_report

        report = full_report(votes, draws=draws)
    except UnclearLabels as error:
        news.error(f"{file}: {error.what}; {NAME_PASS_LABELS}")
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except ConfigurationError as error:
        news.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    write((dumps(report.to_dict(), indent=2) if as_json else str(report)) + "\n")


class _Reading(TypedDict):
    """Options for reading votes from any file."""

    jurors: Sequence[str]
    pass_label: Sequence[str]
    abstain_labels: Sequence[str]
    group: str


def _votes(file: str, cases: Path | None, reading: _Reading, on: On | None) -> Votes:
    from jury_adapters.calibration import Votes

    if is_store(file):
        rows = [{"item_id": case.key, "answer": case.answer, **case.metadata} for case in cases_of_store(file)]
        return Votes.from_recorded(rows, on=_of_recorded(on), **reading)
    first = first_row(file)
    if first is None or first.values is None:
        raise InputError(f"{file}: the first row cannot be read{'' if first is None else f': {first.error}'}")
    if not is_result(first):
        return Votes.from_recorded(file, on=_of_recorded(on), **reading)
    if reading["abstain_labels"]:
        raise InputError("--abstain-label is for recorded votes; verdicts say themselves who abstained")
    gold = None if cases is None else gold_of(cases)
    if gold is not None and reading["group"]:
        raise InputError(f"{cases} holds labels; --group needs the file of the cases themselves")
    votes = Votes.from_results(
        file,
        on=on,
        gold=cases if gold is None else gold,
        pass_label=reading["pass_label"],
        group=reading["group"],
        guards=bool(reading["jurors"]),
    )
    return votes.panel(reading["jurors"]) if reading["jurors"] else votes


def _of_recorded(on: On | None) -> Literal["label", "score"] | None:
    if on == "status":
        raise InputError("--on status is for verdicts; recorded votes have a label or a score")
    return on
