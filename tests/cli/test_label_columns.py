"""The column of human labels that a run names: every later command knows it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters import Report
from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app
from jury_adapters.statistics import full_report

JURY = "name: years\njurors: [{check: contains, texts: ['2018'], name: says 2018}]\n"
AGAIN = "jurors: [{recorded: says 2018}]\n"


def run(*arguments):
    done = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """A run of 40 answers, three quarters of them labelled in a column of another name; and a column gold."""
    monkeypatch.chdir(tmp_path)
    Path("jury.yaml").write_text(JURY)
    Path("again.yaml").write_text(AGAIN)
    rows = [
        {
            "id": f"t{at}", "question": f"When did line {at} open?", "answer": f"In {2018 + at % 2}.",
            "rating": None if at % 4 == 3 else ("good" if at % 2 == 0 or at % 8 == 1 else "bad"),
            "gold": "not a label of this run",
        }
        for at in range(40)
    ]  # fmt: skip
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("judge", "answers.jsonl", "--jury", "jury.yaml", "--label-column", "rating", "--pass-label", "good", "--out",
        "results.jsonl")  # fmt: skip
    return tmp_path


EXPECTED = "30 labelled cases, of which human labels pass 25 (good) and fail 5 (bad)"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["report", "results.jsonl"],
        ["report", "results.jsonl", "--cases", "answers.jsonl"],
        ["report", "results.jsonl", "--markdown"],
        ["report", "results.jsonl", "--agreement", "--draws", "100"],
        ["report", "results.jsonl", "--agreement", "--draws", "100", "--cases", "answers.jsonl"],
        ["replay", "results.jsonl", "--jury", "again.yaml"],
    ],
)
def test_every_command_that_reads_the_results_finds_the_labels(judged, command):
    assert EXPECTED in " ".join(run(*command).split()).replace("**", "")


@pytest.mark.slow
def test_a_page_and_python_find_them_too(judged):
    assert Report.read("results.jsonl").label_comparison.cases == 30
    assert Report.read("results.jsonl", cases="answers.jsonl").label_comparison.cases == 30
    against = full_report(Votes.from_results("results.jsonl"), draws=100).label_comparison
    assert against.cases == 30
    run("report", "results.jsonl", "--html", "page.html", "--cases", "answers.jsonl")
    page = Path("page.html").read_text()
    assert "30 labelled cases" in " ".join(page.split())
    assert "not a label of this run" not in page


def test_a_case_without_the_label_does_not_fall_back_to_another_column(judged):
    rows = [json.loads(line) for line in Path("results.jsonl").read_text().splitlines()]
    assert "gold" not in rows[3]["verdict"]["case_metadata"]
    assert rows[0]["verdict"]["case_metadata"]["gold"] == "good"
