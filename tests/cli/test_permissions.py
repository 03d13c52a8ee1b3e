"""Permissions of jury files: each command that loads one refuses what needs a permission, and has an option for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app
from tests.support.vendor import VendorServer

KEY = "env-0123456789-secret"
COMMANDS = {
    "judge": ["judge", "cases.jsonl", "--jury", "jury.yaml"],
    "replay": ["replay", "cases.jsonl", "--jury", "jury.yaml"],
    "the second jury of replay": ["replay", "cases.jsonl", "--jury", "fine.yaml", "--jury", "jury.yaml"],
    "calibrate": ["calibrate", "cases.jsonl", "--jury", "jury.yaml", "--out", "new.yaml"],
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rows = [
        {"item_id": str(n), "question": "?", "answer": f"{n} TRUTH=YES", "contexts": ["x"], "gold": "PASS",
         "votes": {"a": {"label": "PASS"}, "criteria m": {"label": "PASS"}}}
        for n in range(40)
    ]  # fmt: skip
    Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("fine.yaml").write_text("jurors:\n  - {recorded: a, labels: {PASS: pass, FAIL: fail}}\n")
    with VendorServer() as running:
        yield running


def run(command: str, *options: str):
    return CliRunner().invoke(app, [*COMMANDS[command], *options], catch_exceptions=False)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["judge", "calibrate"])
def test_a_key_goes_to_the_address_of_a_file_only_when_that_is_allowed(command, server):
    Path("jury.yaml").write_text(
        f"tiers:\n  - {{name: a, judge: {{criterion: ok, model: 'openai:m', base_url: '{server.openai}'}}}}\n"
    )
    refused = run(command)
    assert refused.exit_code == 2
    assert "`jury judge --allow-base-url`" in refused.stderr
    assert KEY not in refused.output
    assert not server.asks
    allowed = run(command, "--allow-base-url")
    assert allowed.exit_code in (0, 1), allowed.output  # calibration may find that the labels are too few
    assert server.asks[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_replay_sends_no_key_to_the_address_of_a_file(server):
    Path("jury.yaml").write_text(
        f"tiers:\n  - {{name: a, judge: {{criterion: ok, model: 'openai:m', base_url: '{server.openai}'}}}}\n"
    )
    assert run("replay").exit_code == 0
    assert not server.asks
    assert run("replay", "--allow-base-url").exit_code == 2  # nothing to allow


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_runs_programs_only_when_that_is_allowed(command, server):
    Path("jury.yaml").write_text("tiers:\n  - {name: a, judge: {check: command, argv: ['true']}}\n")
    refused = run(command)
    assert refused.exit_code == 2
    assert "`jury judge --allow-commands`" in refused.stderr
    assert "runs programs" not in run(command, "--allow-commands").stderr
