"""What commands share: exit codes, options, and how they print."""

import json
from collections.abc import Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jury_adapters.core.values import ConfigurationError

if TYPE_CHECKING:
    from jury_adapters.report import Comparison, Report


class ExitCode(IntEnum):
    """Exit code of every command."""

    MET = 0
    NOT_MET = 1  # the result is not what was asked for
    BAD_INPUT = 2
    INTERRUPTED = 130


def file_argument(text: str) -> Any:
    """Return an argument that is the path of an existing file."""
    return typer.Argument(help=text, exists=True, dir_okay=False, show_default=False)


def file_option(text: str, *names: str, exists: bool = False) -> Any:
    """Return an option that is the path of a file."""
    return typer.Option(*names, help=text, exists=exists, dir_okay=False, show_default=False)


JuryFile = Annotated[Path, file_option("The jury, a YAML file.", "--jury", exists=True)]
LabelsFile = Annotated[Path | None, file_option("Labels of people, such as those of jury review.", exists=True)]
LabelColumn = Annotated[str, typer.Option(help="The column with the label of a person.", metavar="COLUMN")]
PassLabels = Annotated[
    list[str] | None,
    typer.Option("--pass-label", help="A label of people that means PASS; all others mean FAIL.", metavar="LABEL"),
]
Page = Annotated[Path | None, file_option("Write the report here, as .html, .md or .json.", "--report")]
StorePlace = Annotated[
    str | None, typer.Option(help="Keep judgments in this file or PostgreSQL URL, so that nothing is paid twice.")
]
MaxUsd = Annotated[float | None, typer.Option(help="Spend at most so many US dollars.", min=0, metavar="USD")]
AllowCommands = Annotated[bool, typer.Option("--allow-commands", help="Let the jury file run programs.")]
AllowBaseUrl = Annotated[bool, typer.Option("--allow-base-url", help="Let the jury file name addresses of servers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors, and why a result is not met, only.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print an upper estimate of the cost, and send nothing.")]


def show(text: str, style: str = "", *, stderr: bool = False) -> None:
    """Print a line of the result."""
    from jury_adapters.report.render import Console

    Console(stderr=stderr).print(text, style=style or None, soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """Print a message to the standard error stream."""
    show(text, style, stderr=True)


def remark(texts: Iterable[str]) -> None:
    """Print what is worth knowing of a file that was read."""
    for text in texts:
        say(text, "yellow")


def show_json(values: Mapping[str, Any]) -> None:
    """Print values as JSON in ASCII, which no text in them can leave."""
    typer.echo(json.dumps(values, indent=2, allow_nan=False, default=str))


def show_found(text: str, values: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a result as JSON or for people."""
    if as_json:
        show_json(values)
    else:
        show(text)


def present(
    found: "Report | Comparison", page: Path | None, *, as_json: bool, quiet: bool = False, **more: Any
) -> None:
    """Write a report to its page, and print it as JSON or for people."""
    if page is not None:
        found.write(page)
    if as_json:
        show_json({**more, **found.to_dict()})
    elif not quiet:
        found.print()


def not_met(reasons: Iterable[str]) -> ExitCode:
    """Print why a result is not what was asked for, and return the exit code."""
    found = [*reasons]
    for reason in found:
        say(reason, "red")
    return ExitCode.NOT_MET if found else ExitCode.MET


def check_places(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse an output that is an input, or another output.

    Raises:
        ConfigurationError: two of them are one file, or an output is packed or in no folder.
    """
    taken = {path.resolve(): str(path) for path in inputs if path is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        here = path.resolve()
        same = next((name for one, name in taken.items() if _is_one_file(here, one)), None)
        if same is not None:
            raise ConfigurationError(f"{option} {path} would replace {same}; give it another name")
        if path.suffix == ".gz":
            raise ConfigurationError(f"{option} {path}: outputs are not packed; give a name without .gz")
        if not here.parent.is_dir():
            raise ConfigurationError(f"{option} {path}: there is no folder {path.parent}")
        taken[here] = f"{option} {path}"


def _is_one_file(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))
