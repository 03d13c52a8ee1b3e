"""The command tree of ``jury``; each command is in a module of its own, which is imported when the command is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.options import example
from jury_adapters.cli.streams import Messages
from jury_adapters.cli.version import print_version

_JUDGE, _READ, _LABELS, _TEST, _LOOK_UP = "Judge", "Read results", "Human labels", "Test the jury", "Look up"
# Newer typers include their own click, whose base class of usage errors has no public name.
_UsageError = cast(type[Exception], typer.BadParameter.__bases__[0])


class _PlainFlags:
    """Command or group of commands whose flags show no value in the help, where typer shows ``<bool>``."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the arguments and options, with `--help`."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of the command that it is mixed into
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class _Commands(_PlainFlags, TyperGroup):
    """List of all commands."""


app = typer.Typer(
    name="jury",
    cls=_Commands,
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


class _CommandOnUse(TyperCommand):
    """Entry of a command in the list of commands; its module is imported when the command is used."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the command itself."""
        return load_command(str(self.name)).make_context(info_name, args, parent, **extra)


class _OptionsOnce(_PlainFlags, TyperCommand):
    """Command that refuses an option given twice, of which the parser would silently use the last."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments.

        Raises:
            typer.BadParameter: an option that has one value is given more than once.
        """
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            options = [option for option in given if isinstance(option, TyperOption)]
            for option in options:
                if options.count(option) > 1 and not option.multiple and not option.is_flag:
                    raise typer.BadParameter(f"{option.opts[0]} is given more than once, and has one value", ctx=ctx)
        return super().parse_args(ctx, args)


def function_of(name: str) -> Callable[..., None]:
    """Import the module of a command and return the function, which has the same name as the module."""
    module = name.replace("-", "_")
    function: Callable[..., None] = getattr(import_module(f"jury_adapters.cli.{module}"), module)
    return function


def load_command(name: str) -> Any:  # a command of the click that typer uses
    """Return a command with its options; its help is the docstring of its function and the examples of the list."""
    function = function_of(name)
    paragraphs = (function.__doc__ or "").split("\n\n")
    whole = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)  # the terminal wraps it again
    alone = typer.Typer(add_completion=False)
    epilog = next(info.epilog for info in app.registered_commands if info.name == name)
    alone.command(name, cls=_OptionsOnce, help=whole, epilog=epilog)(function)
    return get_command(alone)


def _add(name: str, group: str, about: str, *examples: str) -> None:
    """Add a command to the list of commands, with the examples at the end of its own help."""

    def entry() -> None: ...

    app.command(name, cls=_CommandOnUse, rich_help_panel=group, short_help=about, epilog=example(*examples))(entry)


_add(
    "judge", _JUDGE, "Judge a file of cases and sum up.",
    "jury judge answers.jsonl --jury jury.yaml --out results.jsonl --report page.html",
    "jury judge answers.csv --jury jury.yaml --store runs.db --max-usd 2 --fail-under 0.9",
)  # fmt: skip
_add(
    "replay", _JUDGE, "Let other juries vote over recorded votes, at no cost.",
    "jury replay votes.jsonl --jury small.yaml --jury large.yaml",
)  # fmt: skip
_add("demo", _JUDGE, "See a jury at work; needs no key.", "jury demo")
_add(
    "report", _READ, "Show what a run found.",
    "jury report results.jsonl --cases answers.jsonl --html page.html",
    "jury report today.jsonl --compare yesterday.jsonl --html page.html",
    "jury report results.jsonl --agreement --cases answers.jsonl",
)  # fmt: skip
_add(
    "compare", _READ, "Tell whether one system is better than another.",
    "jury compare yesterday.jsonl today.jsonl",
    "jury compare a.jsonl b.jsonl --labels labels.jsonl --pass-label valid --group document",
)  # fmt: skip
_add(
    "review", _LABELS, "Label the contested cases yourself.",
    "jury review results.jsonl",
    "jury review results.jsonl --sample 100 --by ann",
)  # fmt: skip
_add(
    "sample-size", _LABELS, "Plan how many human labels are needed.",
    "jury sample-size --interval 0.05 --rate 0.8",
    "jury sample-size --agreement 0.95 --expected 0.98",
    "jury sample-size --difference 0.05 --rate 0.8 --discordant 0.1",
)  # fmt: skip
_add(
    "calibrate", _LABELS, "Guarantee an agreement with human labels.",
    "jury calibrate labels.jsonl --jury jury.yaml --agreement 0.95 --out calibrated.yaml",
)  # fmt: skip
_add(
    "align", _LABELS, "Improve a rubric with human labels, if a test shows it.",
    "jury align labels.jsonl --jury jury.yaml --out aligned.yaml",
    "jury align labels.jsonl --jury jury.yaml --optimiser-model openai:gpt-4o --max-usd 5 --out aligned.yaml",
)  # fmt: skip
_add(
    "audit", _TEST, "Test a jury with answers that are wrong by construction.",
    "jury audit --jury jury.yaml --dry-run",
    "jury audit --jury jury.yaml --store runs.db --report audit.html",
    "jury audit cases.jsonl --jury jury.yaml --min-kill-rate 0.9 --max-flip-rate 0.05",
)  # fmt: skip
_add(
    "show", _LOOK_UP, "Show checks, rubrics, models, and the schema of jury files.",
    "jury show rubrics",
    "jury show faithfulness",
    "jury show models --json",
    "jury show schema > jury.schema.json",
)  # fmt: skip
_add(
    "doctor", _LOOK_UP, "See what is installed, set, and answering.",
    "jury doctor",
    "jury doctor --ask openai:gpt-4o-mini --store runs.db",
)  # fmt: skip


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
        return _report_usage_error(error)
    return code if isinstance(code, int) else ExitCode.OK


def _report_usage_error(error: Exception) -> int:
    """Print what is wrong with the options, and where to look; without arguments, the help is already printed."""
    if not type(error).__name__.startswith("NoArgsIsHelp"):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "jury"
        said = getattr(error, "format_message", error.__str__)()
        said = f"{said} {_instead_of_command(said)}"
        said = said.replace("Value error, ", "").replace("Input should be", "it must be")  # newer typers use pydantic
        Messages().error(f"{' '.join(said.split())}\nsee: {command} --help")
    return ExitCode.BAD_INPUT


def _instead_of_command(message: str) -> str:
    """Return what replaces the unknown command that a message of the parser names; empty if nothing does."""
    named = re.match(r"No such command '([^']*)'", message)
    instead = None if named is None else _REPLACED.get(named[1])
    return "" if instead is None else f"Write {instead}."


_REPLACED = {
    "agreement": "jury report FILE --agreement",
    "checks": "jury show checks",
    "models": "jury show models",
    "rubrics": "jury show rubrics",
    "schema": "jury show schema",
}


def _print_version(asked: bool) -> None:
    if asked:
        print_version()
        raise typer.Exit


@app.callback()
def jury(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Juries of LLM judges: several opinions, one verdict, and the evidence for it."""
