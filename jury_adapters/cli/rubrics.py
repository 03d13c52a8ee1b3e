"""``jury show rubrics``: the rubrics that come with the package."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.cli.streams import show, write, write_json
from jury_adapters.core.values import JsonValue
from jury_adapters.critic.rubric import Rubric, bundled_rubrics, bundled_text


def print_rubrics(*, as_json: bool) -> None:
    """Print the rubrics, one line each."""
    rubrics = [rubric_values(name) for name in bundled_rubrics()]
    if as_json:
        write_json(rubrics)
    else:
        show(lambda console: _print_all(console, rubrics))


def print_rubric(name: str) -> None:
    """Print one of them whole, as the file that it is."""
    write(bundled_text(name))


def rubric_values(name: str) -> dict[str, JsonValue]:
    """Return all fields of a rubric, and ``"kind": "rubric"``."""
    return {"kind": "rubric", **Rubric.bundled(name).model_dump(mode="json")}


def _print_all(console: Console, rubrics: list[dict[str, JsonValue]]) -> None:
    table = Table(box=None, show_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for rubric in rubrics:
        table.add_row(Text(str(rubric["name"]), style="cyan"), Text(str(rubric["description"])))
    console.print(table)
    console.print(Text("\nText, version and answers of one: jury show NAME"))
