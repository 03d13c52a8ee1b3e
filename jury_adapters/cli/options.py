"""Common options of all commands: the same name, text and completion everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import nan
from pathlib import Path
from typing import Annotated, Any

import typer


def file_names(incomplete: str) -> list[str]:
    """Return nothing, so that the shell itself completes file names, as it does for other commands."""
    del incomplete
    return []


def file_argument(about: str) -> Any:  # typer's own type for values in Annotated
    """Return an argument that is a file."""
    return typer.Argument(help=about, autocompletion=file_names, show_default=False)


def file_option(about: str, *names: str, show_default: str | bool = False, metavar: str = "FILE") -> Any:
    """Return an option that is a file, or a folder."""
    return typer.Option(*names, help=about, autocompletion=file_names, show_default=show_default, metavar=metavar)


def file_of_store(store: str | None) -> Path | None:
    """Return the file of a store; None for the URL of a database, which a Path would change."""
    if store is None:
        return None
    from jury_adapters.store.opening import is_url

    return None if is_url(store) else Path(store)


def number_option(about: str, least: int) -> Any:
    """Return an option that is a whole number."""
    return typer.Option(help=about, min=least, metavar="N")


def share_option(about: str) -> Any:
    """Return an option that is a share of 1; for a percentage, the error shows the right form."""
    return typer.Option(help=about, parser=_share, metavar="SHARE")


def _share(given: str | float) -> float:
    text = str(given).strip()
    number = nan
    with suppress(ValueError):
        number = float(text.removesuffix("%"))
    if 0 <= number <= 1 and not text.endswith("%"):
        return number
    meant = f": {number / 100:g} is {number:g} %" if 0 <= number <= 100 else ", such as 0.9"
    raise typer.BadParameter(f"{text} is not a share of 1{meant}")


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only, and what --json asks for.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file, also one that another program wrote.")]
AllowCommands = Annotated[
    bool,
    typer.Option("--allow-commands", help="Let the jury file run programs; only for files you would run as a script."),
]
AllowBaseUrl = Annotated[
    bool,
    typer.Option(
        "--allow-base-url", help="Let the jury file send your keys to its own addresses; only for files you trust."
    ),
]
Concurrency = Annotated[
    int | None,
    number_option(
        "How many cases are judged at once. By default as many as keep 64 requests to models busy; 16 where the jury "
        "runs code of your own.",
        1,
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="The column or path of a field whose name is not known, such as answer=reply; may be given several times.",
        metavar="FIELD=PATH",
    ),
]
MaxUsd = Annotated[
    float | None, typer.Option("--max-usd", min=0, metavar="USD", help="Spend at most this many US dollars.")
]
Prices = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        help="The price of a model that `jury show models` lacks, in US dollars per million tokens; may be given "
        "several times.",
        metavar="MODEL=IN,OUT",
        callback=lambda given: _set_prices(given or ()),  # so the commands themselves need not read the option
    ),
]
MaxCalls = Annotated[
    int | None,
    number_option("At most this many calls to models; a call with all its tries counts once.", 0),
]
MaxTokens = Annotated[int | None, number_option("Use at most this many tokens, input and output together.", 0)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print an estimate of calls, tokens and cost; judge nothing.")]
StorePlace = Annotated[
    str | None,
    file_option("Keep every judgment of a model in this file, or the database of this URL; none is paid for twice."),
]
Labels = Annotated[
    Path | None,
    file_option(
        "Human labels: what `jury review` wrote, or JSONL, JSON or CSV with each case's id and a column of labels.",
        "--labels",
    ),
]
LabelColumn = Annotated[str, typer.Option("--label-column", help="The column with the human labels.", metavar="COLUMN")]
_GROUP_HELP = "What belongs together, such as document or meta.user: a column, or a path. Intervals allow for it."
Group = Annotated[str, typer.Option(help=_GROUP_HELP, metavar="FIELD")]
GroupOfRun = Annotated[
    str | None,
    typer.Option("--group", help=_GROUP_HELP, metavar="FIELD", show_default="what `jury judge` was given"),
]
PassLabels = Annotated[
    list[str] | None,
    typer.Option("--pass-label", help="A human label that means PASS; may be given several times.", metavar="LABEL"),
]


def example(*lines: str) -> str:
    """Return the end of a command's help: its examples, one per line."""
    return "\n\n".join(("Example:" if len(lines) == 1 else "Examples:", *(f"$ {line}" for line in lines)))


def _set_prices(given: Sequence[str]) -> Sequence[str]:
    """Set the prices of models for this process.

    Raises:
        typer.BadParameter: a text is not a model with its prices.
    """
    if given:
        from jury_adapters.models import set_price
    for text in given:
        name, _, prices = text.rpartition("=")
        numbers: list[float] = []
        with suppress(ValueError):
            numbers = [float(price) for price in prices.split(",")]
        if len(numbers) != 2:
            raise typer.BadParameter(f"{text!r} is not a price, such as openai:my-model=0.35,0.4")
        try:
            set_price(name, input=numbers[0], output=numbers[1])
        except ValueError as error:
            raise typer.BadParameter(f"{text!r} is not a price, such as openai:my-model=0.35,0.4: {error}") from None
    return given
