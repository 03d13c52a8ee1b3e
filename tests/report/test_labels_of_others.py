"""Results name the labels that mean PASS; the cases at hand may have labels of other people."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.report import Report


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Results whose judgments people labelled good, great or bad, of which the first two mean PASS."""
    monkeypatch.chdir(tmp_path)
    write("cases.jsonl", ["good", "great", "bad", "bad"])
    (tmp_path / "jury.yaml").write_text(
        "jurors: [{check: contains, texts: [ferry]}, {check: not_empty, name: there}]\n"
    )
    told = ("judge", "cases.jsonl", "--jury", "jury.yaml", "--pass-label", "good", "--pass-label", "great")
    done = CliRunner().invoke(app, [*told, "--out", "r.jsonl"])
    assert done.exit_code == 0, done.output
    return tmp_path / "r.jsonl"


def write(file, labels):
    rows = [{"id": str(n), "answer": f"ferry {n}", "gold": label} for n, label in enumerate(labels)]
    Path(file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("labels", "passing", "people"),
    [
        (["good", "great", "bad", "bad"], ("good", "great"), 2),
        (["good", "bad", "bad", "bad"], ("good",), 1),  # of two named labels, these people gave one
        (["pass", "pass", "pass", "fail"], (), 3),  # words with an obvious meaning
    ],
)
def test_named_labels_count_as_far_as_these_people_gave_them(results, labels, passing, people):
    write("others.jsonl", labels)
    report = Report.read(results, cases="others.jsonl")
    votes = Votes.from_results(results, gold="others.jsonl")
    assert report.pass_labels == passing
    assert report.label_comparison.problem == votes.label_comparison.problem == ""
    assert report.label_comparison.jury.false_fails.n == votes.label_comparison.jury.false_fails.n == people


def test_words_of_unknown_meaning_are_told_and_not_counted(results):
    write("others.jsonl", ["fine", "poor", "poor", "fine"])
    people = Report.read(results, cases="others.jsonl").label_comparison
    assert people.jury is None
    assert "fine 2, poor 2" in people.problem
    assert "name the labels that mean PASS" in people.problem
    with pytest.raises(ConfigurationError, match="human labels are fine, poor, but jurors vote PASS; say which"):
        Votes.from_results(results, gold="others.jsonl")
