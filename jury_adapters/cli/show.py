"""``jury show``: checks, rubrics and models by name, and the JSON schema of jury files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.options import AsJson
from jury_adapters.cli.streams import Messages, write, write_json
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.values import JsonValue

_LISTS = {
    "checks": "what a jury file may name: checks, screens and critics",
    "rubrics": "the rubrics of the package",
    "models": "vendors, and the models with a known price",
    "schema": "the JSON schema of jury files",
}


def names_to_show(incomplete: str) -> list[str]:
    """Return the lists and names that complete the typed text."""
    return [name for name in [*_LISTS, *_names()] if name.startswith(incomplete)]


def show(
    what: Annotated[
        str,
        typer.Argument(
            help="checks, rubrics, models or schema; or the name of one check or rubric.",
            autocompletion=names_to_show,
            show_default=False,
        ),
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show what a jury file may name: checks, rubrics and models; and the JSON schema of such files.

    The name of a check shows its options and an example. The name of a rubric shows the rubric whole: its text, version
    and answers, as a file that you can change.

    Any model of a vendor that `jury show models` lists works: write `vendor:model`. The cost of a model without a known
    price is shown as unknown.

    For completion in an editor, save the schema as jury.schema.json beside the jury file, and begin that file with the
    line:

    # yaml-language-server: $schema=jury.schema.json

    Exit code: 0, or 2 for an unknown name.
    """
    try:
        _show(what.strip().casefold().replace("-", "_"), what, as_json=as_json)
    except ConfigurationError as error:
        Messages().error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None


def _show(name: str, given: str, *, as_json: bool) -> None:
    """Print a list or one entry.

    Raises:
        ConfigurationError: the name is unknown; the message has the one that was probably meant.
    """
    match name:
        case "":
            _print_lists(as_json=as_json)
        case "checks":
            from jury_adapters.cli.checks import print_checks

            print_checks(as_json=as_json)
        case "rubrics":
            from jury_adapters.cli.rubrics import print_rubrics

            print_rubrics(as_json=as_json)
        case "models":
            from jury_adapters.cli.models import print_models

            print_models(as_json=as_json)
        case "schema":
            from jury_adapters.config import jury_schema

            write_json(jury_schema())
        case _:
            _print_named(name, given, as_json=as_json)


def _print_lists(*, as_json: bool) -> None:
    if as_json:
        write_json({"lists": list(_LISTS), "names": _names()})
        return
    for name, about in _LISTS.items():
        write(f"jury show {name:9}{about}\n")
    write("jury show NAME     one check or rubric, whole\n")


def _print_named(name: str, given: str, *, as_json: bool) -> None:
    from jury_adapters.cli.checks import print_check
    from jury_adapters.cli.rubrics import print_rubric, rubric_values
    from jury_adapters.config.catalogue import catalogue
    from jury_adapters.critic.rubric import bundled_rubrics

    judges = [judge for judge in catalogue() if judge.name == name]
    rubrics = [rubric for rubric in bundled_rubrics() if rubric == name]
    if not judges and not rubrics:
        raise ConfigurationError(unknown("name", given, {*_LISTS, *_names()}))
    if as_json:
        entries: list[dict[str, JsonValue]] = [
            *(asdict(judge) for judge in judges), *(rubric_values(rubric) for rubric in rubrics)
        ]  # fmt: skip
        write_json(entries)
        return
    for judge in judges:
        print_check(judge)
    if judges and rubrics:
        write("\nThe rubric of this name:\n\n")
    for rubric in rubrics:
        print_rubric(rubric)


def _names() -> list[str]:
    """Return the names of all checks and rubrics, each once."""
    from jury_adapters.config.catalogue import catalogue
    from jury_adapters.critic.rubric import bundled_rubrics

    return list(dict.fromkeys([*(judge.name for judge in catalogue()), *bundled_rubrics()]))
