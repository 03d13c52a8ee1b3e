"""``jury judge`` with a model that refuses every call: few requests, one line that says why, and an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.vendor import WELL, VendorServer, error
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app

JURY = """
jurors:
  - {rubric: correctness_without_reference, model: "openai:m"}
"""
TWO = JURY + '  - {rubric: correctness_without_reference, model: "anthropic:m"}\n'
EXHAUSTED = error(429, "You exceeded your current quota", type="insufficient_quota", code="insufficient_quota")

try:
    RUNNER = CliRunner(mix_stderr=False)  # click before 8.2 mixes them otherwise
except TypeError:
    RUNNER = CliRunner()


@pytest.fixture
def judge(tmp_path: Path, server: VendorServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    monkeypatch.setenv("OPENAI_API_KEY", f"sk-secret-{tmp_path.name}")  # models with one key share their limits
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic)
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"sk-ant-secret-{tmp_path.name}")
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(
        json.dumps({"question": "Which?", "answer": f"This one, {number}. TRUTH=YES"}) + "\n" for number in range(200)
    ))  # fmt: skip

    def run(jury: str, *options: str) -> Result:
        file = tmp_path / "jury.yaml"
        file.write_text(jury)
        return RUNNER.invoke(app, ["judge", str(cases), "--jury", str(file), *options], catch_exceptions=False)

    return run


@pytest.mark.slow
def test_an_exhausted_quota_costs_few_requests_and_is_no_success(judge, server: VendorServer):
    server.plan = lambda ask: EXHAUSTED
    result = judge(JURY, "--concurrency", "16")
    assert result.exit_code == 1
    assert len(server.asks) <= 19
    line = next(line for line in result.stdout.splitlines() if "not asked" in line)
    assert "openai:m" in line
    assert f"{200 - len(server.asks)} of 200 cases" in line
    assert "quota_exhausted" in result.stdout
    assert "openai:m was given up and not asked for" in result.stderr
    assert "secret" not in result.stdout + result.stderr


@pytest.mark.slow
def test_json_has_the_models_that_were_given_up(judge, server: VendorServer):
    server.plan = lambda ask: EXHAUSTED
    result = judge(JURY, "--concurrency", "1", "--json")
    given_up = json.loads(result.stdout)["given_up"]
    assert given_up["openai:m"]["cases_not_asked"] == 197
    assert given_up["openai:m"]["error"].startswith("quota_exhausted: ")


@pytest.mark.slow
def test_a_model_given_up_beside_a_good_one_is_no_success_either(judge, server: VendorServer):
    server.plan = lambda ask: EXHAUSTED if ask.vendor == "openai" else WELL
    result = judge(TWO, "--concurrency", "1")
    assert result.exit_code == 1
    assert "openai:m in 197 of 200 cases" in result.stdout
    assert "anthropic:m in" not in result.stdout


def test_errors_in_every_case_are_no_success(judge, server: VendorServer):
    server.plan = lambda ask: error(422, "no")
    result = judge(JURY, "--limit", "3")
    assert result.exit_code == 1
    assert "no case was decided, because of errors: 3 times " in result.stderr


def test_an_error_in_some_cases_is_no_failure_of_the_run(judge, server: VendorServer):
    server.plan = lambda ask: error(422, "no") if ", 1." in ask.text else WELL
    assert judge(JURY, "--limit", "3").exit_code == 0
