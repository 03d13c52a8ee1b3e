"""``jury show checks``: the judges that a jury file may name, and the options of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.cli.streams import show, write_json

if TYPE_CHECKING:
    from jury_adapters.config.catalogue import Described

_KINDS = {
    "check": "Checks: the answer, its contexts, files, what an agent did; no model",
    "rubric": "Critics: a model judges",
    "criterion": "",
    "recorded": "Recorded votes",
}


def print_checks(*, as_json: bool) -> None:
    """Print the checks and critics that a jury file may name, one line each."""
    from jury_adapters.config.catalogue import catalogue

    judges = catalogue()
    if as_json:
        write_json([asdict(judge) for judge in judges])
    else:
        show(lambda console: _print_all(console, judges))


def print_check(judge: Described) -> None:
    """Print one of them, with its options and an example."""
    show(lambda console: _print_one(console, judge))


def _print_all(console: Console, judges: Sequence[Described]) -> None:
    longest = max(len(judge.name) for judge in judges)
    for kind, group in groupby(judges, key=lambda judge: judge.kind):
        if _KINDS.get(kind, kind):
            console.print(Text(f"\n{_KINDS.get(kind, kind)}", style="bold"))
        table = _table(show_header=False)
        table.add_column(no_wrap=True, min_width=longest)
        table.add_column()
        for judge in group:
            runs = " Runs programs: needs --allow-commands." if judge.runs_programs else ""
            table.add_row(Text(judge.name, style="cyan"), Text(judge.about + runs))
        console.print(table)
    console.print(Text("\nOptions and an example: jury show NAME"))


def _print_one(console: Console, judge: Described) -> None:
    console.print(Text(judge.name, style="bold"))
    console.print(Text(judge.about))
    if judge.runs_programs:
        console.print(Text("It runs programs: the jury file needs --allow-commands."))
    if judge.options:
        console.print()
        table = _table()
        for heading in ("option", "values", "default", "meaning"):
            table.add_column(heading, no_wrap=heading == "option")
        for option in judge.options:
            default = "must be given" if option.default is None else option.default
            table.add_row(Text(option.name, style="cyan"), Text(option.values), Text(default), Text(option.about))
        console.print(table)
    console.print(
        Text(
            "\nEvery juror also takes weight, required, timeout (seconds) and fallbacks (a list of judges). "
            "In a jury file:"
        )
    )
    console.print(Text(f"\njurors:\n  {judge.example}"))


def _table(*, show_header: bool = True) -> Table:
    return Table(box=box.SIMPLE_HEAD if show_header else None, show_edge=False, show_header=show_header)
