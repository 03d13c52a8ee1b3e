"""The list of commands, and what all of them do with errors, Ctrl-C and closed pipes."""

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from jury_adapters.cli.audit import audit
from jury_adapters.cli.calibrate import calibrate
from jury_adapters.cli.compare import compare
from jury_adapters.cli.console import ExitCode, say
from jury_adapters.cli.demo import demo
from jury_adapters.cli.doctor import doctor
from jury_adapters.cli.judge import judge
from jury_adapters.cli.report import report
from jury_adapters.cli.review import review
from jury_adapters.cli.show import show
from jury_adapters.core.values import JuryError, error_text


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"jury-adapters {version('jury-adapters')}")
        raise typer.Exit


app = typer.Typer(
    name="jury",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def jury(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Juries of LLM judges: several opinions, one verdict, and the evidence for it."""


def _ending(command: Callable[..., ExitCode | None]) -> Callable[..., None]:
    """Return a command that ends with its exit code, and with one message where it cannot go on."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            code = command(*args, **options) or ExitCode.MET
            sys.stdout.flush()
        except BrokenPipeError:  # of `jury ... | head`: what was to be printed is lost, and rich ends with 1 then, too
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = ExitCode.NOT_MET
        except JuryError as error:
            say(str(error).replace("overwrite=True", "--overwrite").replace("pass_labels=", "--pass-label"), "red")
            code = ExitCode.BAD_INPUT
        except (OSError, ModuleNotFoundError) as error:
            say(error_text(error), "red")
            code = ExitCode.BAD_INPUT
        except KeyboardInterrupt:
            say("stopped by Ctrl-C")
            code = ExitCode.INTERRUPTED
        raise typer.Exit(code)

    return run


for _command in (judge, report, compare, review, calibrate, audit, show, doctor, demo):
    app.command(_command.__name__)(_ending(_command))
