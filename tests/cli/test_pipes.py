"""A path that names a pipe nobody writes to is refused; standard input and what a shell hands over are read."""

import os
import subprocess
import sys

import pytest

from tests.support.processes import run_command

JURY = "jurors: [{check: not_empty}]\n"
ROW = '{"question": "q", "answer": "a"}\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cases.jsonl").write_text(ROW)
    (tmp_path / "jury.yaml").write_text(JURY)
    for name in ("pipe.jsonl", "pipe.yaml"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "link.jsonl").symlink_to("pipe.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["judge", "pipe.jsonl"],
        ["judge", "link.jsonl"],
        ["judge", "cases.jsonl", "--jury", "pipe.yaml"],
        ["report", "pipe.jsonl"],
        ["report", "--agreement", "pipe.jsonl"],
        ["review", "pipe.jsonl"],
    ],
    ids=" ".join,
)
def test_a_named_pipe_is_refused_and_the_message_says_what_to_do(folder, arguments):
    done = run_command(*arguments, folder=folder)
    assert done.returncode == 2
    assert "a named pipe, not a regular file; give a file, or pipe into standard input" in done.stderr
    assert "Traceback" not in done.stderr


def test_devices_are_refused(folder):
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    done = run_command("judge", "zero.jsonl", folder=folder)
    assert done.returncode == 2
    assert "zero.jsonl: a device, not a regular file" in done.stderr


@pytest.mark.slow
def test_what_has_a_writer_is_read(folder):
    assert "1 case judged" in run_command("judge", "-", typed=ROW, folder=folder).stdout
    of_stdin = run_command("judge", "cases.jsonl", "--jury", "/dev/stdin", typed=JURY, folder=folder)
    assert "1 case judged" in of_stdin.stdout, of_stdin.stderr
    command = f"{sys.executable} -m jury_adapters.cli judge cases.jsonl --jury <(cat jury.yaml)"
    substituted = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert "1 case judged" in substituted.stdout, substituted.stderr
