"""Exit codes: one enumeration, documented, and used by every command."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app, function_of
from jury_adapters.cli.exit_codes import ExitCode
from tests.support.vendor import WELL, Act, VendorServer, error

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "jury_adapters" / "cli").glob("*.py"))


def test_the_table_of_the_documentation_is_the_enumeration():
    page = (ROOT / "docs" / "how_to" / "judge_a_file.md").read_text(encoding="utf-8")
    table = page.partition("| Exit code | Meaning |\n| --- | --- |\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [f"| {code.value} | {code.meaning} |" for code in ExitCode]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_command_has_a_number_of_its_own(path: Path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("typer.Exit", "sys.exit", "SystemExit", "exit"):
            numbers = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            assert not any(isinstance(number, int) for number in numbers), ast.unparse(node)


def test_the_help_of_a_command_names_codes_of_the_enumeration_only():
    told = {
        name: function_of(str(name)).__doc__ or "" for name in (command.name for command in app.registered_commands)
    }
    named = {int(number) for text in told.values() for number in re.findall(r"\b\d+\b", text.partition("Exit code")[2])}
    assert {0, 1, 2, 130} <= named <= set(ExitCode)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"question": "?", "answer": f"{number}. TRUTH=YES"} for number in range(4)]
    Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with VendorServer() as running:
        yield running


def judge(server: VendorServer, jurors: int, *options: str, policy: str = "fail"):
    juror = f"{{criterion: ok, model: m, base_url: '{server.openai}'}}"
    named = [juror.replace("ok,", f"ok, name: j{number},") for number in range(jurors)]
    Path("jury.yaml").write_text(f"jurors: [{', '.join(named)}]\nerrors: {policy}\n")
    return CliRunner().invoke(app, ["judge", "cases.jsonl", "--jury", "jury.yaml", *options], catch_exceptions=False)


@pytest.mark.parametrize("policy", ["null", "fail", "abstain", "ignore", "propagate"])
@pytest.mark.parametrize("options", [[], ["--quiet"], ["--json"]], ids=" ".join)
def test_when_nothing_was_decided_because_of_errors_the_code_is_not_0_and_the_error_is_named(server, policy, options):
    server.plan = lambda ask: error(422, "this model is \x1b[31mgone")
    done = judge(server, 2, *options, policy=policy)
    assert done.exit_code == ExitCode.NOT_MET
    assert "no case was decided, because of errors: 8 times refused_request: local:m: " in done.stderr
    assert "gone (HTTP 422)" in done.stderr
    assert "\x1b" not in done.output


@pytest.mark.parametrize(
    ("act", "cause"),
    [
        (Act(text="blah"), "parse_fail: the model answered 'blah'"),
        (Act(text="I will not.", finish="refusal"), "refused: the model refused to judge"),
        (Act(text="", finish="filter"), "filtered: the vendor's content filter"),
        (Act(text="", finish="length"), "truncated: the output limit was reached"),
    ],
)
def test_replies_of_which_none_is_usable_are_no_result_either(server, act, cause):
    server.plan = lambda ask: act
    done = judge(server, 1, policy="abstain")
    assert done.exit_code == ExitCode.NOT_MET
    assert f"no case was decided, because of errors: 4 times {cause}" in done.stderr


def test_several_errors_are_named_the_most_frequent_first(server):
    server.plan = lambda ask: error(422, "rare") if "\n0. TRUTH" in ask.text else error(404, "frequent")
    told = judge(server, 1).stderr
    assert re.search(r"because of errors: 3 times .*frequent.*; 1 time .*rare", told)


@pytest.mark.parametrize("act", [error(422, "gone"), Act(text="blah")], ids=["broken", "unusable"])
@pytest.mark.parametrize(("answered", "code"), [("0", ExitCode.NOT_MET), ("01", ExitCode.OK)])
def test_half_of_the_cases_decided_is_a_result(server, answered, code, act):
    server.plan = lambda ask: WELL if re.search(rf"\n[{answered}]\. TRUTH", ask.text) else act
    done = judge(server, 1)
    assert done.exit_code == code
    assert ("3 of 4 cases were not decided, because of errors: 3 times" in done.stderr) is (code != ExitCode.OK)


def test_a_fail_that_only_broken_jurors_caused_is_no_result(server):
    server.plan = lambda ask: error(422, "gone")
    critics = ", ".join(f"{{criterion: ok, name: j{n}, model: m, base_url: '{server.openai}'}}" for n in range(2))
    Path("jury.yaml").write_text(f"jurors: [{{check: not_empty}}, {critics}]\n")
    done = CliRunner().invoke(app, ["judge", "cases.jsonl", "--jury", "jury.yaml"], catch_exceptions=False)
    assert done.exit_code == ExitCode.NOT_MET
    assert "no case was decided, because of errors: 8 times refused_request" in done.stderr


def test_abstentions_without_an_error_are_a_result(server):
    Path("jury.yaml").write_text("jurors: [{check: undecided}]\n")
    done = CliRunner().invoke(app, ["judge", "cases.jsonl", "--jury", "jury.yaml"], catch_exceptions=False)
    assert done.exit_code == ExitCode.OK


def test_errors_behind_a_screening_tier_that_lets_everything_through_are_no_result(server):
    server.plan = lambda ask: error(422, "gone")
    critic = f"criterion: ok, model: m, base_url: '{server.openai}'"
    Path("jury.yaml").write_text(
        "tiers:\n  - {name: screen, policy: reject_on_any_fail, judge: {check: not_empty}}\n"
        f"  - {{name: last, judge: {{{critic}}}}}\n"
    )
    done = CliRunner().invoke(app, ["judge", "cases.jsonl", "--jury", "jury.yaml"], catch_exceptions=False)
    assert done.exit_code == ExitCode.NOT_MET
    assert "because of errors: 4 times refused_request: local:m: gone (HTTP 422)" in done.stderr
