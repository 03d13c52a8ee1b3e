"""Agreement and the report page where judgments state numbers: confidences, scores, repeated answers."""

import json
import random
import re

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app

HOSTILE = "a\x1b[31m</script><b>"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def answered(count=120, names=("a",)):
    draw = random.Random(3)
    rows = []
    for number in range(count):
        right = draw.random() < 0.7
        vote = {"label": "good" if right else "bad", "confidence": round(draw.uniform(0.5, 0.8) + 0.2 * right, 3)}
        votes = dict.fromkeys(names, vote) | {"silent": {"label": "good"}}
        rows.append({"item_id": f"i{number}", "answer": str(number), "gold": "good", "votes": votes})
    return rows


@pytest.fixture
def judged(tmp_path):
    """A file of cases, and what a jury of two recorded jurors said of them."""
    cases = write(tmp_path / "cases.jsonl", answered())
    jury = tmp_path / "jury.yaml"
    jurors = ", ".join(f"{{recorded: {name}, labels: {{good: pass, bad: fail}}}}" for name in ("a", "silent"))
    jury.write_text(f"jurors: [{jurors}]\n")
    assert run("judge", cases, "--jury", jury, "--out", tmp_path / "results.jsonl").exit_code in (0, 1)
    return cases, tmp_path / "results.jsonl"


@pytest.mark.slow
def test_confidence_of_recorded_votes_as_text_and_as_json(tmp_path):
    votes = write(tmp_path / "votes.jsonl", answered())
    text = run("report", "--agreement", votes, "--pass-label", "good", "--draws", 100).stdout
    assert "Confidence against human labels" in text
    assert "more confidence does mean more often right" in text
    assert "no labelled answer of silent has a confidence" in text
    diagram = text[text.index("a: how often it is right") :].split("\n\n")[0].splitlines()[2:]
    assert len(diagram) == 10
    assert all(
        re.fullmatch(r" +[\d.]+-[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+-[\d.]+ +\d+  [#.|]{20}", line) for line in diagram
    )
    found = json.loads(run("report", "--agreement", votes, "--pass-label", "good", "--json").stdout)["sections"]
    error = next(one for one in found["Confidence against human labels"] if one["name"] == "expected calibration error")
    assert sum(one["n"] for one in error["details"]["bins"]) == 120


@pytest.mark.slow
def test_the_jury_is_compared_beside_its_jurors(judged):
    cases, results = judged
    report = json.loads(run("report", "--agreement", results, "--cases", cases, "--json").stdout)
    subjects = [one.get("subject") for one in report["sections"]["Confidence against human labels"]]
    assert list(dict.fromkeys(subjects)) == ["a", "the jury", None]
    chosen = json.loads(run("report", "--agreement", results, "--cases", cases, "--juror", "a", "--json").stdout)
    assert {one.get("subject") for one in chosen["sections"]["Confidence against human labels"]} == {"a"}


@pytest.mark.slow
def test_the_page_shows_a_reliability_diagram_for_each(judged, tmp_path):
    cases, results = judged
    assert run("report", results, "--cases", cases, "--html", tmp_path / "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Confidence and right answers" in page
    assert page.count('aria-label="how often ') == 2
    assert re.search(r"<title>confidence 0\.\d\d: [\d.]+ % of \d+ right, 95 % interval", page)


@pytest.mark.slow
def test_without_labels_no_page_has_a_diagram(judged, tmp_path):
    results = tmp_path / "unlabelled.jsonl"
    results.write_text(judged[1].read_text(encoding="utf-8").replace('"gold"', '"other"'), encoding="utf-8")
    assert run("report", results, "--html", tmp_path / "page.html").exit_code == 0
    assert "Confidence and right answers" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_hostile_names_reach_neither_terminal_nor_page_as_they_are(tmp_path):
    votes = write(tmp_path / "votes.jsonl", answered(names=[HOSTILE]))
    text = run("report", "--agreement", votes, "--pass-label", "good", "--draws", 100).stdout
    assert "\x1b" not in text
    assert "a\\x1b[31m" in text
    from jury_adapters.calibration import Votes
    from jury_adapters.report.analysis import Analysis
    from jury_adapters.report.plots import reliability
    from jury_adapters.statistics import full_report

    report = full_report(Votes.from_recorded(votes, pass_label="good"), draws=50)
    (drawn,) = [plot for name, plot in reliability(Analysis(report)) if name.startswith("a")]
    assert "<b>" not in drawn
    assert "</script>" not in drawn


def test_grades_are_compared_with_scores_that_are_named(tmp_path):
    draw = random.Random(5)
    rows = []
    for number in range(60):
        grade = draw.randint(1, 5)
        votes = {"a": {"label": str(grade), "score": grade / 6 + draw.uniform(-0.01, 0.01)}}
        rows.append({"item_id": str(number), "gold": grade, "votes": votes})
    votes = write(tmp_path / "votes.jsonl", rows)
    by_label = run("report", "--agreement", votes, "--draws", 100).stdout
    assert "weighted kappa (quadratic) = 1.000" in by_label
    by_score = run("report", "--agreement", votes, "--on", "score", "--draws", 100).stdout
    assert re.search(r"spearman correlation = 0\.9\d\d", by_score)
    assert "so not on one scale" in by_score
    refused = run("report", "--agreement", votes, "--on", "status")
    assert refused.exit_code == 2
    assert "recorded votes have a label or a score" in refused.stderr


@pytest.mark.slow
def test_grades_of_a_jury_that_votes_pass_or_fail_are_read_with_on_score(tmp_path):
    rows = [
        {
            "item_id": str(n),
            "answer": str(n),
            "gold": n % 5 + 1,
            "votes": {"a": {"label": "good", "score": (n % 5) / 4}},
        }
        for n in range(40)
    ]
    cases = write(tmp_path / "cases.jsonl", rows)
    (tmp_path / "jury.yaml").write_text("jurors: [{recorded: a, labels: {good: pass, bad: fail}}]\n")
    run("judge", cases, "--jury", tmp_path / "jury.yaml", "--out", tmp_path / "results.jsonl")
    found = run("report", "--agreement", tmp_path / "results.jsonl", "--cases", cases, "--on", "score", "--draws", 100)
    assert found.exit_code == 0, found.stderr
    assert "a: spearman correlation = 1.000" in found.stdout


def test_a_number_that_no_float_holds_is_refused_in_words(tmp_path):
    votes = write(tmp_path / "votes.jsonl", [{"item_id": "1", "gold": 10**400, "votes": {"a": {"score": 0.5}}}])
    refused = run("report", "--agreement", votes)
    assert refused.exit_code == 2
    assert "a vote is a label or a finite number, not 1000" in refused.stderr
    assert len(refused.stderr) < 300
