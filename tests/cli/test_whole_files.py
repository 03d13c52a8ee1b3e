"""Reports that a command writes: the earlier one stays when the new one cannot be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.processes import run_command

COMMANDS = {
    "the page of a run": ["judge", "cases.jsonl", "--report"],
    "JUnit": ["judge", "cases.jsonl", "--junit"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_for_which_there_is_no_room_leaves_the_earlier_one(command, tmp_path: Path):
    rows = [{"question": "?", "answer": f"{n} is so", "contexts": ["x"]} for n in range(9)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run_command(*COMMANDS[command], "out", folder=tmp_path).returncode == 0
    before, files = (tmp_path / "out").read_bytes(), {*tmp_path.iterdir()}
    assert len(before) > 600
    failed = run_command(*COMMANDS[command], "out", folder=tmp_path, largest_file=600)
    assert failed.returncode == 2
    assert "out: File too large" in failed.stderr
    assert (tmp_path / "out").read_bytes() == before
    assert {*tmp_path.iterdir()} == files
