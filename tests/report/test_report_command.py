"""``jury report`` and ``jury judge --report``."""

import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app

VOTES = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
EXAMPLES = files("jury_adapters.cli") / "data" / "grounding_examples.jsonl"
PANEL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def results(tmp_path):
    """The results of two juries on the same cases."""
    paths = []
    for name, panel in (("before", PANEL[:1]), ("after", PANEL)):
        jurors = ", ".join(f"{{recorded: {juror}, pass_labels: [valid]}}" for juror in panel)
        (tmp_path / f"{name}.yaml").write_text(f"jurors: [{jurors}]\n")
        paths.append(tmp_path / f"{name}.jsonl")
        assert run("judge", VOTES, "--jury", tmp_path / f"{name}.yaml", "--out", paths[-1]).exit_code == 0
    return paths


def test_summary_page_and_comparison(tmp_path, results):
    before, after = results
    page = tmp_path / "out.html"
    result = run("report", after, "--html", page, "--cases", VOTES, "--compare", before, "--title", "Feedback")
    assert result.exit_code == 0, result.output
    assert "200 cases judged by Feedback" in result.stdout
    assert "The pass rate" in result.stdout
    html = page.read_text(encoding="utf-8")
    assert "<title>Feedback</title>" in html
    assert "Compared with an earlier run" in html


def test_json_and_markdown(results):
    before, after = results
    told = json.loads(run("report", after, "--compare", before, "--json").stdout)
    assert (told["cases"], told["compared"]["paired"]) == (200, 200)
    assert told["compared"]["difference"] == pytest.approx(
        (told["compared"]["passed_after"] - told["compared"]["passed_before"]) / told["compared"]["decided"]
    )
    assert run("report", after, "--markdown").stdout.startswith("### Jury report: `after.jsonl`")
    both = run("report", after, "--markdown", "--json")
    assert both.exit_code == 2
    assert "give one of them" in both.stderr


def test_judge_writes_the_page_with_texts(tmp_path):
    page = tmp_path / "page.html"
    assert run("judge", EXAMPLES, "--report", page).exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert "grounding_screen" in html
    assert '"question":' in html


def test_the_page_replaces_none_of_its_sources(tmp_path, results):
    after = results[1]
    kept = after.read_bytes()
    result = run("report", after, "--html", after)
    assert result.exit_code == 2
    assert "is one of the files" in result.stderr
    cases = tmp_path / "cases.jsonl"
    cases.write_bytes(EXAMPLES.read_bytes())
    assert run("judge", cases, "--report", cases).exit_code == 2
    assert (after.read_bytes(), cases.read_bytes()) == (kept, EXAMPLES.read_bytes())


@pytest.mark.parametrize("place", ["missing/page.html", "."])
def test_a_page_that_cannot_be_written_is_told(tmp_path, results, place):
    result = run("report", results[0], "--html", tmp_path / place)
    assert result.exit_code == 2
    assert "error:" in result.stderr


def test_judge_finds_out_before_the_first_case(tmp_path):
    out = tmp_path / "results.jsonl"
    result = run("judge", EXAMPLES, "--out", out, "--report", tmp_path / "missing" / "page.html")
    assert result.exit_code == 2
    assert "no such folder" in result.stderr
    assert not out.exists()


def test_bad_input_is_named(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"question": "q"}\n')
    result = run("report", path)
    assert result.exit_code == 2
    assert "it has no verdict" in result.stderr
