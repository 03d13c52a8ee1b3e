"""Reports that a command writes: the earlier one stays when the new one cannot be written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SMALL_DISK = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)); from jury_adapters.cli import main; main()"
)
COMMANDS = {
    "the page of a run": ["judge", "cases.jsonl", "--report"],
    "JUnit": ["judge", "cases.jsonl", "--junit"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_for_which_there_is_no_room_leaves_the_earlier_one(command, tmp_path: Path):
    rows = [{"question": "?", "answer": f"{n} is so", "contexts": ["x"]} for n in range(9)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(*start: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *start, *COMMANDS[command], "out"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("-m", "jury_adapters.cli").returncode == 0
    before, files = (tmp_path / "out").read_bytes(), {*tmp_path.iterdir()}
    assert len(before) > 600
    failed = run("-c", SMALL_DISK)
    assert failed.returncode == 2
    assert "out: File too large" in failed.stderr
    assert (tmp_path / "out").read_bytes() == before
    assert {*tmp_path.iterdir()} == files
