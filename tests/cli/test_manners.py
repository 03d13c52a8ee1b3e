"""User interface of the command: help, mistakes, completion, colour, pipes, JSON, quiet."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.cli import main
from jury_adapters.cli.app import app, function_of
from tests.support.processes import on_a_terminal, run_command
from tests.support.terminals import Terminal

COMMAND = [sys.executable, "-m", "jury_adapters.cli"]
COMMANDS = {str(command.name): command for command in app.registered_commands}
VOTES = str(files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz")
COLOURS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "CLICOLOR_FORCE", "PY_COLORS", "GITHUB_ACTIONS")


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with cases, juries and results."""
    made = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(made)
        _judge(made)
    return made


@pytest.fixture
def folder(judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _judge(made: Path) -> None:
    rows = [{"id": str(n), "answer": str(2018 + n % 2), "contexts": ["2018"], "gold": "PASS"} for n in range(40)]
    (made / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (made / "jury.yaml").write_text("jurors: [{check: not_empty}, {check: contains, texts: ['2018']}]\n")
    (made / "sure.yaml").write_text("jurors: [{check: not_empty}]\n")
    (made / "replayed.yaml").write_text("jurors: [{recorded: gpt-4o, labels: {valid: pass, invalid: fail}}]\n")
    done = CliRunner().invoke(app, ["judge", "cases.jsonl", "--jury", "jury.yaml", "--out", "results.jsonl"])
    assert done.exit_code == 0, done.output


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command in this process: a process of its own takes a second."""

    def call(*arguments: str, typed: str = "", **environment: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["jury", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as left:
            main()
        return Done(int(left.value.code or 0), *capsys.readouterr())

    return call


def clean(**environment: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in COLOURS} | environment


def shown(*arguments: str) -> str:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80"}).output


def test_the_help_is_a_page():
    page = shown("--help")
    places = [page.index(f"─ {group} ─") for group in ("Judge", "Read results", "Human labels", "Look up")]
    assert places == sorted(places)
    for name in COMMANDS:
        assert len(re.findall(rf"^│ {name} +\S.*│$", page, re.MULTILINE)) == 1
    lines_of_commands = [line for line in page[places[0] :].splitlines() if line.startswith("│ ")]
    assert len(lines_of_commands) == len(COMMANDS)  # one line each, at 80 columns
    assert "jury review results.jsonl" in page[places[-1] :]
    assert "--install-completion" in page[places[-1] :]
    assert max(map(len, page.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_is_right(name: str):
    epilog = COMMANDS[name].epilog
    assert epilog
    assert "Example" in shown(name, "--help")
    known = set(re.findall(r"--[a-z-]+", shown(name, "--help").split("Example")[0]))
    for example in re.findall(r"^\$ (jury .*)$", epilog, re.MULTILINE):
        assert example.split()[1] == name
        assert set(re.findall(r"--[a-z-]+", example)) <= known


SHARED = (
    "as_json", "quiet", "force", "allow_commands", "allow_base_url", "concurrency", "store", "map_", "group", "labels",
    "label_column", "pass_label", "dry_run", "max_usd", "max_calls", "max_tokens",
)  # fmt: skip
OF_ITS_OWN = {  # the same thing, used for something else
    ("review", "labels"), ("compare", "labels"), ("calibrate", "group"), ("doctor", "store")
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_option_is_called_the_same_and_said_the_same(name: str):
    texts: dict[str, str] = {}
    for other in COMMANDS:
        for parameter, hint in inspect.get_annotations(function_of(other), eval_str=True).items():
            about = getattr(hint, "__metadata__", (None,))[0]
            if parameter in SHARED and (other, parameter) not in OF_ITS_OWN:
                assert texts.setdefault(parameter, about.help) == about.help
    assert "--json" in shown(name, "--help")


MISTAKES = {
    "no such command": (["jugde", "x"], "jugde"),
    "a command of before": (["agreement", "x"], "'agreement'. Write jury report FILE --agreement."),
    "a list of before": (["schema"], "'schema'. Write jury show schema."),
    "no such option": (["judge", "cases.jsonl", "--jurry", "jury.yaml"], "--jurry"),
    "no argument": (["judge"], "see: jury judge --help"),
    "a number too small": (["judge", "cases.jsonl", "--limit", "0"], "--limit"),
    "a number that is none": (["judge", "cases.jsonl", "--limit", "many"], "--limit"),
    "a choice that is none": (["review", "results.jsonl", "--only", "some"], "escalated"),
    "no such file": (["judge", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
    "a folder": (["judge", "."], "expected .jsonl"),
    "no jury": (["judge", "cases.jsonl", "--jury", "nowhere.yaml"], "nowhere.yaml"),
    "a jury that is none": (["judge", "cases.jsonl", "--jury", "cases.jsonl"], "cases.jsonl"),
    "results that exist": (["judge", "cases.jsonl", "--out", "results.jsonl"], "--force to replace it"),
    "no results": (["report", "cases.jsonl"], "no verdict"),
    "results that are cases": (["review", "cases.jsonl"], "no verdict"),
    "votes that are cases": (["replay", "cases.jsonl", "--jury", "jury.yaml"], "no row has recorded votes"),
    "no labels": (["calibrate", "results.jsonl", "--jury", "jury.yaml"], "results.jsonl"),
    "no agreement": (["report", "--agreement", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
    "no such name": (["show", "faithfullness"], "Did you mean 'faithfulness'?"),
    "no place for the page": (["report", "results.jsonl", "--html", "no/where.html"], "there is no such folder"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_two_lines_with_the_fix_and_2(run: Callable[..., Done], name: str):
    arguments, told = MISTAKES[name]
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert told in done.stderr
    assert done.stderr.count("error: ") == 1
    assert len(done.stderr[done.stderr.index("error: ") :].splitlines()) <= 2
    assert not re.search("Traceback|Value error|Input should", done.stderr)


JSON = {
    "judge": ["judge", "cases.jsonl", "--jury", "jury.yaml"],
    "judge with rows that are none": ["judge", "mixed.jsonl", "--jury", "jury.yaml"],
    "replay": ["replay", VOTES, "--jury", "replayed.yaml", "--pass-label", "valid"],
    "agreement": ["report", "--agreement", "results.jsonl", "--draws", "100"],
    "sample-size": ["sample-size", "--interval", "0.05", "--rate", "0.8"],
    "calibrate": ["calibrate", "cases.jsonl", "--jury", "sure.yaml"],
    "calibrate without a guarantee": ["calibrate", "cases.jsonl", "--jury", "jury.yaml", "--agreement", "0.99"],
    "report": ["report", "results.jsonl"],
    "report compared": ["report", "results.jsonl", "--compare", "results.jsonl"],
    "compare": ["compare", "results.jsonl", "results.jsonl"],
    "review": ["review", "results.jsonl", "--by", "ann"],
    "doctor": ["doctor", "--store", "runs.db"],
    "lists": ["show"],
    "checks": ["show", "checks"],
    "rubrics": ["show", "rubrics"],
    "a rubric": ["show", "faithfulness"],
    "a check": ["show", "contains"],
    "models": ["show", "models"],
    "schema": ["show", "schema"],
    "demo": ["demo"],
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", JSON)
def test_json_is_all_there_is_on_standard_output(folder: Path, run: Callable[..., Done], name: str):
    (folder / "mixed.jsonl").write_text('{"answer": "2018"}\nno case\n')
    done = run(*JSON[name], "--json", typed="p\nq\n", FORCE_COLOR="1")
    assert done.returncode == int("without a guarantee" in name), done.stderr
    json.loads(done.stdout)


QUIET = ["judge", "calibrate", "report", "review", "doctor"]


@pytest.mark.parametrize("name", QUIET)
def test_quiet_prints_nothing_but_errors(run: Callable[..., Done], name: str):
    done = run(*JSON[name], "--quiet", typed="p\nq\n")
    assert (done.returncode, done.stdout) == (0, "")
    if name != "review":  # which has to ask
        assert done.stderr == ""
    wrong = run(name, *(["nowhere.jsonl"] if name != "doctor" else ["--store", "no/where.db"]),
                *(["--jury", "jury.yaml"] if name in ("judge", "calibrate") else []), "--quiet")  # fmt: skip
    assert wrong.returncode == (1 if name == "doctor" else 2)
    assert "error: " in wrong.stderr


def test_quiet_still_says_why_the_exit_code_is_1(run: Callable[..., Done], folder: Path):
    done = run(*JSON["judge"], "--fail-under", "0.99", "-q")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"(the pass rate, .*, is below|nothing was decided, so) --fail-under .*\n", done.stderr)


def test_every_missed_gate_is_named(run: Callable[..., Done], folder: Path):
    gated = folder / "gated.yaml"
    gated.write_text("gates: {passed: true}\njurors: [{check: equals, expected: no such answer}]\n")
    done = run("judge", "cases.jsonl", "--jury", str(gated), "--fail-under", "0.99", "-q")
    assert done.returncode == 1
    assert "a gate of the jury file" in done.stderr
    assert "is below --fail-under 0.99" in done.stderr


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
    ids=["terminal", "NO_COLOR", "dumb"],
)
def test_colour_on_a_terminal(folder: Path, environment: dict[str, str], coloured: bool):
    text = on_a_terminal(JSON["judge"], clean(**environment), folder)
    assert bool(re.search(r"\x1b\[[\d;]*3\d", text)) is coloured
    if environment["TERM"] == "dumb":
        assert "\x1b" not in text


def test_a_bar_moves_on_a_terminal_and_messages_stand_on_lines_of_their_own(folder: Path):
    rows = [{"item_id": f"i{at}", "question": "q", "answer": "a", "contexts": ["a"]} for at in range(30)]
    lines = [json.dumps(row) for row in rows]
    (folder / "mixed.jsonl").write_text("\n".join([*lines[:15], "{broken", *lines[15:]]) + "\n")
    shown = on_a_terminal(["judge", "mixed.jsonl"], clean(TERM="xterm-256color"), folder)
    assert re.search(r"judging: +\d+%\|", shown)
    assert re.search(r"(?:^|[\r\n])(?:\x1b\[[\d;]*[A-Za-z])*mixed\.jsonl, line 16: not JSON", shown)
    assert shown.index("judging:") < shown.index("30 cases judged")
    assert "judging" not in shown[shown.index("30 cases judged") :]  # the bar is gone


@pytest.mark.slow
@pytest.mark.parametrize("name", ["judge", "doctor", "models", "demo"])
def test_no_colour_and_nothing_moving_in_a_pipe_unless_forced(run: Callable[..., Done], name: str):
    plain = run(*JSON[name], TERM="xterm-256color")
    assert "\x1b" not in plain.stdout + plain.stderr
    forced = run(*JSON[name], TERM="xterm-256color", FORCE_COLOR="1")
    assert "\x1b[" in forced.stdout
    assert forced.stderr == ""  # no bar


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["doctor"], ["review", "results.jsonl", "--by", "ann", "--json"]],
    ids=" ".join,
)  # fmt: skip
def test_a_reader_that_leaves_early_ends_it_quietly(folder: Path, arguments: list[str]):
    reading, writing = os.pipe()
    os.close(reading)
    done = run_command(*arguments, folder=folder, out=writing, environment=clean())
    os.close(writing)
    assert not re.search("Traceback|Broken ?pipe|Exception ignored", done.stderr, re.IGNORECASE)


@pytest.mark.slow
def test_completion_knows_commands_options_values_and_models(monkeypatch: pytest.MonkeyPatch, run: Callable[..., Done]):
    def completed(line: str) -> list[str]:
        """Completions that bash is offered at the end of a line."""
        words = {"_JURY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        return sorted(run(**words).stdout.split())

    assert completed("jury re") == ["replay", "report", "review"]
    assert "--only" in completed("jury review x --on")
    assert completed("jury review x --only ") == ["all", "contested", "escalated"]
    assert completed("jury calibrate x --method p") == ["path", "per_tier"]
    assert "openai:gpt-4o-mini" in completed("jury doctor --ask openai:gpt-4o")
    assert completed("jury show ru") == ["rubric", "rubrics"]
    assert completed("jury show faith") == ["faithfulness", "faithfulness_claims"]
    assert completed("jury judge ca") == []  # a file: the shell completes it itself
    assert completed("jury judge cases.jsonl --jury ju") == []


@pytest.mark.slow
def test_bash_completes_commands_and_files(folder: Path):
    """A real bash with the script that --install-completion installs."""
    bash = shutil.which("bash")
    assert bash, "the completion is for a shell"
    (folder / "jury").write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    (folder / "jury").chmod(0o755)
    script = run_command(folder=folder, environment=clean(_JURY_COMPLETE="source_bash")).stdout
    settings = "PATH=$PWD:$PATH; PS1='ready '; bind 'set enable-bracketed-paste off'"
    (folder / "start.sh").write_text(f"{script}\n{settings}\n")
    with Terminal([bash, "--noprofile", "--rcfile", "start.sh", "-i"], clean(TERM="dumb"), folder) as shell:
        shell.wait_for("ready")
        shell.type("jury rev\t results.j\t--json --by ann < /dev/null\nexit\n")
        assert '"left": 20' in shell.rest()


@pytest.mark.parametrize("command", [[], *([info.name] for info in app.registered_commands)], ids=" ".join)
def test_flags_show_no_value(command):
    assert "<bool>" not in CliRunner().invoke(app, [*command, "--help"]).stdout
