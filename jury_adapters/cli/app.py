"""The command tree of ``jury``; each command is in a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, cast

import typer

from jury_adapters import __version__
from jury_adapters.cli.agreement import agreement
from jury_adapters.cli.calibrate import calibrate
from jury_adapters.cli.checks import checks
from jury_adapters.cli.compare import compare
from jury_adapters.cli.demo import demo
from jury_adapters.cli.doctor import doctor
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.judge import judge
from jury_adapters.cli.models import models
from jury_adapters.cli.options import example
from jury_adapters.cli.replay import replay
from jury_adapters.cli.report import report
from jury_adapters.cli.review import review
from jury_adapters.cli.sample_size import sample_size
from jury_adapters.cli.schema import schema
from jury_adapters.cli.streams import News, write

_JUDGE, _LEARN, _LOOK, _SET_UP = "Judge", "Learn from people", "Look", "Set up"
# Newer typers include their own click, whose base class of usage errors has no public name.
_UsageError = cast(type[Exception], typer.BadParameter.__bases__[0])

app = typer.Typer(
    name="jury",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example(
        "jury judge answers.jsonl --jury jury.yaml --out results.jsonl",
        "jury review results.jsonl",
        "jury calibrate labels.jsonl --jury jury.yaml --out calibrated.yaml",
    )
    + "\n\n`jury COMMAND --help` says more. `jury --install-completion` makes the tab key complete commands, options "
    "and files, after the next start of the shell.",
)


def _add(command: Callable[..., None], group: str, about: str, *examples: str) -> None:
    """Add a command: its line in the list of commands, and the examples at the end of its own help."""
    paragraphs = (command.__doc__ or "").split("\n\n")
    whole = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)  # the terminal wraps it again
    app.command(rich_help_panel=group, help=whole, short_help=about, epilog=example(*examples))(command)


_add(
    judge, _JUDGE, "Judge a file of cases and sum up.",
    "jury judge answers.jsonl --jury jury.yaml --out results.jsonl --report page.html",
    "jury judge answers.csv --jury jury.yaml --store runs.db --max-usd 2 --fail-under 0.9",
)  # fmt: skip
_add(
    replay, _JUDGE, "Let other juries vote over recorded votes, at no cost.",
    "jury replay votes.jsonl --jury small.yaml --jury large.yaml",
)  # fmt: skip
_add(
    review, _LEARN, "Label the contested cases yourself.",
    "jury review results.jsonl",
    "jury review results.jsonl --only all --by ann --limit 100",
)  # fmt: skip
_add(
    sample_size, _LEARN, "Plan how many human labels are needed.",
    "jury sample-size --interval 0.05 --rate 0.8",
    "jury sample-size --agreement 0.95 --expected 0.98",
    "jury sample-size --difference 0.05 --rate 0.8 --discordant 0.1",
)  # fmt: skip
_add(
    calibrate, _LEARN, "Promise agreement with people, from their labels.",
    "jury calibrate labels.jsonl --jury jury.yaml --agreement 0.95 --out calibrated.yaml",
)  # fmt: skip
_add(
    report, _LOOK, "Show what a run found.",
    "jury report results.jsonl --cases answers.jsonl --html page.html",
    "jury report today.jsonl --compare yesterday.jsonl --html page.html",
)  # fmt: skip
_add(
    compare, _LOOK, "Tell whether one system is better than another.",
    "jury compare yesterday.jsonl today.jsonl",
    "jury compare a.jsonl b.jsonl --labels labels.jsonl --pass-label valid --group meta.document",
)  # fmt: skip
_add(
    agreement, _LOOK, "Measure how far jurors agree, also with people.",
    "jury agreement results.jsonl --cases answers.jsonl",
)  # fmt: skip
_add(demo, _LOOK, "See a jury at work; needs no key.", "jury demo")
_add(
    doctor, _SET_UP, "See what is installed, set, and answering.",
    "jury doctor",
    "jury doctor --ask openai:gpt-4o-mini --store runs.db",
)  # fmt: skip
_add(models, _SET_UP, "List vendors, and models with a known price.", "jury models --json")
_add(
    checks, _SET_UP, "List the checks of jury files, and their options.",
    "jury checks",
    "jury checks contains",
)  # fmt: skip
_add(schema, _SET_UP, "Print the JSON schema of jury files.", "jury schema > jury.schema.json")


def run() -> int:
    """Run the command; an error in its options is printed in two lines, like every other error.

    Returns:
        The exit code.
    """
    try:
        code = app(prog_name="jury", standalone_mode=False)
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except _UsageError as error:
        return _told(error)
    except OSError as error:
        if error.filename is None:  # not about a given file, so not an error of the user
            raise
        News().error(f"{error.filename}: {error.strerror}")
        return ExitCode.BAD_INPUT
    return code if isinstance(code, int) else ExitCode.OK


def _told(error: Exception) -> int:
    """Print what is wrong with the options, and where to look; without arguments, the help is already printed."""
    if not type(error).__name__.startswith("NoArgsIsHelp"):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "jury"
        said = getattr(error, "format_message", error.__str__)()
        said = said.replace("Value error, ", "").replace("Input should be", "it must be")  # newer typers use pydantic
        News().error(f"{' '.join(said.split())}\nsee: {command} --help")
    return ExitCode.BAD_INPUT


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
