"""``jury judge`` with critics that ask a model, over real HTTP."""

import gzip
import json
import random

import pytest
from support.vendor import Act, VendorServer
from typer.testing import CliRunner

from jury_adapters.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, ["judge", *map(str, arguments)])


def files(folder, server, count=6):
    jury = folder / "jury.yaml"
    jury.write_text(f"jurors:\n  - {{rubric: faithfulness, model: small, base_url: '{server.openai}'}}\n")
    cases = folder / "cases.jsonl"
    rows = [{"question": "q", "answer": f"{i} TRUTH=YES", "contexts": ["c"]} for i in range(count)]
    cases.write_text("\n".join(map(json.dumps, rows)))
    return cases, "--jury", jury


@pytest.mark.slow
def test_a_second_run_with_the_same_store_asks_nothing(tmp_path):
    with VendorServer() as server:
        arguments = files(tmp_path, server)
        first = run(*arguments, "--store", tmp_path / "runs.db")
        assert "6 of 6 decided" in first.stdout
        assert len(server.asks) == 6
        again = run(*arguments, "--store", tmp_path / "runs.db")
        assert "6 of 6 decided" in again.stdout
        assert len(server.asks) == 6


def test_what_was_asked_for_is_written_when_the_file_turns_out_to_be_damaged(tmp_path):
    with VendorServer(lambda ask: Act(delay=0.2)) as server:
        _, *rest = files(tmp_path, server)
        rows = [
            {"question": f"{i}?", "answer": "TRUTH=YES", "contexts": [random.randbytes(9000).hex()]} for i in range(9)
        ]
        whole = gzip.compress("\n".join(map(json.dumps, rows)).encode())
        (tmp_path / "torn.jsonl.gz").write_bytes(whole[: len(whole) // 2])
        result = run(tmp_path / "torn.jsonl.gz", *rest, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == server.count > 1
    assert f"the summary is of the {server.count} cases judged until then" in result.output


def test_a_budget_ends_the_calls_and_says_so(tmp_path):
    with VendorServer() as server:
        result = run(*files(tmp_path, server), "--max-calls", 2, "--concurrency", 1)
        assert result.exit_code == 0
        assert len(server.asks) == 2
        assert "2 of 2 decided" in result.stdout
        assert "4 calls were not made" in result.output


@pytest.mark.slow
def test_a_budget_of_tokens_ends_the_calls_too(tmp_path):
    with VendorServer() as server:
        result = run(*files(tmp_path, server), "--max-tokens", 0)
        assert not server.asks
        assert "calls were not made" in result.output
        refused = run(*files(tmp_path, server), "--max-tokens", -1)
        assert refused.exit_code == 2
        assert "--max-tokens" in refused.output


def test_a_budget_in_dollars_needs_prices(tmp_path):
    with VendorServer() as server:
        result = run(*files(tmp_path, server), "--max-usd", 1)
        assert result.exit_code == 2
        assert "set_price" in result.output
        assert not server.asks


@pytest.mark.slow
def test_a_spent_budget_does_not_pass_the_gate(tmp_path):
    """The cases that are not decided count as failed, as where models broke."""
    with VendorServer() as server:
        gated = (*files(tmp_path, server), "--fail-under", 0.9, "--concurrency", 1)
        spent = run(*gated, "--max-calls", 2)
        assert "2 of 2 decided" in spent.stdout
        assert spent.exit_code == 1
        assert (
            "4 cases of 6 were not decided, because the budget was spent; if they count as failed, the pass rate is "
            "0.333, below --fail-under 0.9"
        ) in " ".join(spent.stderr.split())
        assert run(*gated, "--max-calls", 6).exit_code == 0
        nearly = run(*gated[:-4], "--fail-under", 0.8, "--concurrency", 1, "--max-calls", 5)
        assert nearly.exit_code == 0  # even if the last case failed


def test_a_screen_that_goes_on_rejecting_makes_the_pass_rate_too_low(tmp_path):
    with VendorServer() as server:
        cases, *_ = files(tmp_path, server, 10)
        with cases.open("a") as more:
            more.writelines(f"\n{json.dumps({'question': 'q', 'answer': f'{i} poor'})}" for i in range(10))
        (tmp_path / "jury.yaml").write_text(
            "tiers:\n"
            "  - {name: screen, policy: reject_on_any_fail, judge: {check: contains, texts: [TRUTH]}}\n"
            f"  - {{name: model, judge: {{rubric: faithfulness, model: small, base_url: '{server.openai}'}}}}\n"
        )
        done = run(cases, "--jury", tmp_path / "jury.yaml", "--max-calls", 4, "--json")
    told = json.loads(done.stdout)
    assert (told["passed"], told["failed"], told["abstained"]) == (4, 10, 6)
    assert told["pass_rate_warning"] == (
        "6 of 20 cases could not be decided because a judge was over budget. The 10 cases decided without the vote of "
        "such a judge are all FAIL, so the pass rate is probably too low: it would be 50.0 % if the 6 cases had "
        "passed."
    )
