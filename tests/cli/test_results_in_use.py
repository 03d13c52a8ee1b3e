"""Two runs with the same ``--out``: the second is refused, and changes nothing."""

import errno
import json
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Report
from jury_adapters.checks import NotEmpty
from jury_adapters.cli.app import app
from jury_adapters.core import file_lock
from jury_adapters.core.errors import ConfigurationError

ROW = {"question": "When?", "answer": "In 2018.", "contexts": ["It stopped in 2018."]}
SAID = "another process writes this file, such as a `jury judge` that still runs; wait until it ends, or give another"


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps({**ROW, "id": i}) + "\n" for i in range(20)))
    return path


class Running:
    """A `jury judge` that has judged one row and waits for the next one."""

    def __init__(self, out):
        command = [sys.executable, "-m", "jury_adapters.cli", "judge", "-", "--out", str(out), "--concurrency", "1"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.give("first")
        until = time.monotonic() + 60
        while not (out.exists() and out.read_text().count("\n")):
            assert time.monotonic() < until
            self.give("more")
            time.sleep(0.1)

    def give(self, name):
        self.process.stdin.write(json.dumps({**ROW, "id": name}) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


@pytest.fixture
def running(tmp_path):
    started = Running(tmp_path / "results.jsonl")
    yield started
    if started.process.poll() is None:
        started.process.kill()
    started.process.wait()
    started.process.stdin.close()


def judge(cases, out, *options):
    return CliRunner().invoke(app, ["judge", str(cases), "--out", str(out), *options], catch_exceptions=False)


@pytest.mark.slow
def test_a_second_run_is_refused_while_the_first_one_writes(running, cases, tmp_path):
    out = tmp_path / "results.jsonl"
    for options in ([], ["--force"], ["--force", "--dry-run"]):
        refused = judge(cases, out, *options)
        assert refused.exit_code == 2
        assert SAID in " ".join(refused.stderr.split())
    panel = Ensemble([NotEmpty()])
    with pytest.raises(ConfigurationError, match="still runs writes this file"):
        Report.from_results([(Case(**ROW), panel.judge(**ROW))]).write_results(out, force=True)
    running.give("last")
    running.end()
    lines = [json.loads(line)["item_id"] for line in out.read_text().splitlines()]
    assert (lines[0], lines[-1]) == ("first", "last")
    assert judge(cases, out, "--force").exit_code == 0  # the first run has ended
    assert len(out.read_text().splitlines()) == 20


def test_a_run_that_was_killed_locks_nothing(running, cases, tmp_path):
    running.process.kill()
    running.process.wait()
    assert judge(cases, tmp_path / "results.jsonl", "--force").exit_code == 0


def test_a_file_system_without_locks_is_named_and_written(monkeypatch, cases, tmp_path):
    def refuse(descriptor):
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(file_lock, "_lock", refuse)
    monkeypatch.setattr(file_lock, "_unlock", refuse)
    for options in ([], ["--force"]):
        judged = judge(cases, tmp_path / "results.jsonl", *options)
        assert judged.exit_code == 0
        assert "its file system has no locks" in " ".join(judged.stderr.split())
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 20


def test_a_shorter_run_replaces_all_of_a_longer_one(cases, tmp_path):
    out = tmp_path / "results.jsonl"
    assert judge(cases, out).exit_code == 0
    assert judge(cases, out, "--force", "--limit", "3").exit_code == 0
    assert len(out.read_text().splitlines()) == 3


def test_a_device_is_not_locked(cases):
    judged = judge(cases, "/dev/null", "--force")
    assert (judged.exit_code, judged.stderr) == (0, "")
