"""The command as people run it: a process with pipes, signals and an exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from jury_adapters.core.installation import needs_extra
from tests.support.processes import Command, on_a_terminal, run_command

ROW = {"answer": "Ann left the firm in 2019.", "contexts": ["Ann left the firm in 2018."]}
COMMAND = [sys.executable, "-m", "jury_adapters.cli"]


def jury(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env=clean(environment),
        check=False,
    )


def clean(environment: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR", "COLUMNS")}
    return {**own, **environment}


def cases_file(folder: Path, number: int = 1) -> Path:
    file = folder / "cases.jsonl"
    with file.open("w") as stored:
        for position in range(number):
            stored.write(json.dumps({"id": position, **ROW}) + "\n")
    return file


@pytest.mark.slow
def test_exit_codes(tmp_path: Path):
    cases = cases_file(tmp_path)
    assert run_command("judge", cases).returncode == 0
    assert jury("judge", cases, "--fail-under", "0.9").returncode == 1  # by an interpreter of its own
    assert run_command("judge", tmp_path / "nowhere.jsonl").returncode == 2
    assert run_command("judge").returncode == 2


def test_no_colour_and_no_bar_without_a_terminal(tmp_path: Path):
    result = run_command("judge", cases_file(tmp_path), environment=clean())
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_colour_and_a_bar_on_a_terminal_and_no_colour_when_asked(tmp_path: Path):
    cases = cases_file(tmp_path, 500)
    coloured = on_a_terminal(["judge", cases], clean({"TERM": "xterm-256color"}))
    assert "\x1b[31m" in coloured
    assert "judging" in coloured
    assert "\x1b[31m" not in on_a_terminal(["judge", cases], clean({"TERM": "xterm-256color", "NO_COLOR": "1"}))


@pytest.mark.corpus
@pytest.mark.parametrize("timeout", ["", ", timeout: 30"], ids=["inline", "on the loop"])
def test_ctrl_c_writes_the_partial_summary_and_exits_130(tmp_path: Path, timeout: str):
    jury_file = tmp_path / "jury.yaml"
    jury_file.write_text(f"jurors: [{{check: not_empty{timeout}}}]\n")
    out = tmp_path / "out.jsonl"
    arguments = ["judge", "-", "--jury", str(jury_file), "--out", str(out)]
    reading, writing = os.pipe()
    shown, told = tmp_path / "shown", tmp_path / "told"
    with shown.open("w") as showing, told.open("w") as telling:
        process = Command(*arguments, streams=(reading, showing.fileno(), telling.fileno()), environment=clean())
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:  # rows arrive, then no more, and nobody says that it is the end
        for _ in range(2000):
            pipe.write(json.dumps(ROW) + "\n")
        pipe.flush()
        while not out.exists() or not out.stat().st_size:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    stdout, stderr = shown.read_text(), told.read_text()
    assert "stopped by Ctrl-C" in stderr
    assert "Traceback" not in stderr
    judged = len(out.read_text().splitlines())
    assert f"{judged:,} case{'' if judged == 1 else 's'} judged" in stdout
    assert all(json.loads(line)["verdict"] for line in out.read_text().splitlines())


def test_a_reader_that_is_gone_is_no_error(tmp_path: Path):
    for arguments in (
        ["judge", cases_file(tmp_path)],
        ["show", "schema"],
        ["--version"],
        ["judge", cases_file(tmp_path), "--json"],
    ):
        reading, writing = os.pipe()
        os.close(reading)
        done = run_command(*arguments, out=writing, environment=clean())
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_full_disk_is_an_error_of_the_version_too():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: standard output: No space left on device\n")


@pytest.mark.slow
def test_a_reader_that_is_gone_is_no_error_of_the_interpreter_either(tmp_path: Path):
    """The interpreter flushes its standard streams when it ends."""
    process = subprocess.Popen(
        [*COMMAND, "judge", str(cases_file(tmp_path))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean()
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 0
    process.stderr.close()


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_only_is_no_error(tmp_path: Path):
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps({"id": "Ünïcödé 😀 \ud800", "answer": "x", "contexts": []}) + "\n")
    result = jury("judge", file, PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "\\xdcn\\xefc" in result.stdout


def test_without_typer_the_command_says_what_to_install(tmp_path: Path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')\n")
    result = jury("--help", PYTHONPATH=str(tmp_path))
    assert result.returncode == 2
    assert result.stderr == needs_extra("the jury command", "typer and rich", "cli") + "\n"
    assert result.stdout == ""


def test_importing_the_package_of_the_command_loads_neither_typer_nor_rich():
    code = (
        "import sys, jury_adapters.cli; print([m for m in ('typer', 'rich', 'yaml', 'pydantic') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.slow
def test_a_warning_is_a_message_and_not_a_line_of_code(tmp_path):
    file = tmp_path / "jury.yaml"
    critics = ", ".join(f'{{rubric: {name}, model: "openai:gpt-4o"}}' for name in ("faithfulness", "safety"))
    file.write_text(f"jurors: [{critics}]\n")
    (tmp_path / "cases.jsonl").write_text('{"question": "?", "answer": "a", "contexts": ["c"]}\n')
    done = jury("judge", tmp_path / "cases.jsonl", "--jury", file, "--dry-run", OPENAI_API_KEY="sk-none")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("warning: the critics of one Ensemble have different rubrics (faithfulness, safety)")
    assert ".py" not in done.stderr
