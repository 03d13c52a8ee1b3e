"""A command is imported when it is used, and the others are not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from jury_adapters.cli.app import app

COMMANDS = sorted(str(command.name).replace("-", "_") for command in app.registered_commands)
MEASURE = """
import atexit, json, sys
from jury_adapters.cli import main
prefix = "jury_adapters.cli."
tell = lambda: print(json.dumps([m[len(prefix):] for m in sys.modules if m.startswith(prefix)]), file=sys.stderr)
atexit.register(tell)
sys.argv = ["jury", *sys.argv[1:]]
main()
"""


def imported(*arguments: str) -> set[str]:
    """Return the modules of the command line that a fresh process imports for these arguments."""
    done = subprocess.run([sys.executable, "-c", MEASURE, *arguments], capture_output=True, text=True, check=False)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], [], ["no-such-command"]], ids=" ".join)
def test_no_command_is_imported_to_list_them(arguments: list[str]):
    modules = imported(*arguments)
    assert not modules & {*COMMANDS}
    assert modules == {"app", "exit_codes", "options", "streams"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_imports_no_other_command(name: str):
    assert imported(name.replace("_", "-"), "--help") & {*COMMANDS} == {name}


def test_show_imports_what_it_shows():
    assert "models" not in imported("show", "contains")
    assert not {"checks", "rubrics"} & imported("show", "models")
