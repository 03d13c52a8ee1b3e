"""The command tree of ``jury``; each command is a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from jury_adapters import __version__
from jury_adapters.cli.agreement import agreement
from jury_adapters.cli.calibrate import calibrate
from jury_adapters.cli.demo import demo
from jury_adapters.cli.judge import judge
from jury_adapters.cli.replay import replay
from jury_adapters.cli.report import report
from jury_adapters.cli.schema import schema
from jury_adapters.cli.streams import write

app = typer.Typer(
    name="jury",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(judge)
app.command()(replay)
app.command()(agreement)
app.command()(calibrate)
app.command()(report)
app.command()(demo)
app.command()(schema)


def _print_version(asked: bool) -> None:
    if asked:
        write(f"jury {__version__}\n")
        raise typer.Exit


@app.callback()
def jury(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Juries of LLM judges: several opinions, one verdict, and the evidence for it."""
