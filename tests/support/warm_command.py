"""Imports what commands import late, and builds the command tree: for the process that `processes` forks from."""

import pytest  # noqa: F401
from typer.testing import CliRunner

import jury_adapters.report.analysis
import jury_adapters.report.page  # noqa: F401
import tests.support.built_once
import tests.support.processes  # noqa: F401
from jury_adapters.cli.app import app, function_of

for command in app.registered_commands:
    function_of(str(command.name))
CliRunner().invoke(app, ["show", "checks", "--json"])
