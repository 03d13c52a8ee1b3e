"""Imports of the commands: each imports only what it needs, so that it starts fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import jury_adapters.cli
from jury_adapters.cli.app import app, function_of, load_command

ENTRIES = {str(command.name): command for command in app.registered_commands}
COMMANDS = sorted(name.replace("-", "_") for name in ENTRIES)
HELPERS = {"extras", "labelled_cases"}  # modules with a function of their name that is no command
MEASURE = """
import atexit, json, sys
from jury_adapters.cli import main
atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))
sys.argv = ["jury", *sys.argv[1:]]
main()
"""


def imported(*arguments: object) -> set[str]:
    """Return the modules that a fresh process imports for these arguments."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def of_the_command(modules: set[str]) -> set[str]:
    """Return the modules of the command line among these."""
    prefix = "jury_adapters.cli."
    return {module.removeprefix(prefix) for module in modules if module.startswith(prefix)}


def packages(modules: set[str]) -> set[str]:
    """Return the packages that the modules belong to, those of this package by their full names."""
    return {".".join(module.split(".")[: 2 if module.startswith("jury_adapters.") else 1]) for module in modules}


def test_the_version_is_printed_by_the_package_alone():
    modules = imported("--version")
    assert of_the_command(modules) == {"exit_codes", "streams", "version"}
    assert not packages(modules) & {"typer", "rich", "pydantic", "yaml", "asyncio", "jury_adapters.core"}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []], ids=" ".join)
def test_the_list_of_commands_needs_typer_and_rich_only(arguments: list[str]):
    modules = imported(*arguments)
    assert of_the_command(modules) == {"app", "exit_codes", "options", "streams", "version"}
    assert not packages(modules) & {"pydantic", "yaml", "asyncio", "sqlite3", "jury_adapters.core"}


@pytest.mark.slow
def test_an_unknown_command_imports_none():
    modules = imported("no-such-command")
    assert not of_the_command(modules) & {*COMMANDS}
    assert of_the_command(modules) == {"app", "exit_codes", "options", "safe_console", "streams", "version"}


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_imports_no_other_command(name: str):
    assert of_the_command(imported(name.replace("_", "-"), "--help")) & {*COMMANDS} == {name}


@pytest.mark.slow
def test_a_jury_of_checks_imports_nothing_that_asks_models_or_reads_workspaces(tmp_path: Path):
    (tmp_path / "cases.jsonl").write_text('{"answer": "Paris"}\n')
    (tmp_path / "jury.yaml").write_text("jurors: {paris: {check: contains, texts: [Paris]}}\n")
    modules = imported("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml")
    assert "jury_adapters.judges.text" in modules
    assert not packages(modules) & {
        "jury_adapters.critic", "jury_adapters.grounding", "jury_adapters.retrieval", "jury_adapters.store",
        "jury_adapters.workspace", "aiohttp", "regex", "sqlite3", "tenacity", "markdown_it",
    }  # fmt: skip
    assert not modules & {"jury_adapters.judges.trajectory", "jury_adapters.models.registry"}


@pytest.mark.slow
def test_a_jury_file_imports_the_module_of_each_of_its_checks(tmp_path: Path):
    (tmp_path / "cases.jsonl").write_text('{"answer": "Paris", "contexts": ["Paris"]}\n')
    (tmp_path / "jury.yaml").write_text("jurors: [{check: sentence_support}, {check: step_limit, max_steps: 3}]\n")
    modules = imported("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml")
    assert {"jury_adapters.grounding.screen", "jury_adapters.judges.trajectory"} <= modules
    assert not {"jury_adapters.judges.text", "jury_adapters.workspace"} & modules


@pytest.mark.slow
def test_show_imports_what_it_shows():
    assert "models" not in of_the_command(imported("show", "contains"))
    assert not {"checks", "rubrics"} & of_the_command(imported("show", "models"))


def test_the_table_has_every_command_there_is():
    folder = Path(jury_adapters.cli.__file__).parent
    with_function = {file.stem for file in folder.glob("*.py") if f"\ndef {file.stem}(" in file.read_text()}
    assert with_function - HELPERS == {*COMMANDS}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_table_says_what_the_command_itself_says(name: str):
    entry, command = ENTRIES[name], load_command(name)
    function = function_of(name)
    assert entry.short_help
    assert (command.name, command.epilog) == (name, entry.epilog)
    assert function.__name__ == name.replace("-", "_")
    assert command.help.split() == (function.__doc__ or "").split()
