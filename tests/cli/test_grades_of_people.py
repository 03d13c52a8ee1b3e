"""Human labels that are grades, from CSV files and from other columns: texts and numbers are the same grades."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Judgment, Report, judge
from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app

GRADES = [1 + at * 7 % 5 for at in range(60)]


@judge
def near(case: Case) -> Judgment:
    """Give the grade of the case, one too low for every third."""
    at = int(case.answer or "")
    score = max(0, GRADES[at] - (at % 3 == 0) - 1) / 4
    return Judgment("PASS" if score >= 0.75 else "FAIL", score=score)


@judge
def coarse(case: Case) -> Judgment:
    at = int(case.answer or "")
    return Judgment("PASS" if GRADES[at] > 3 else "FAIL", score=1.0 if GRADES[at] > 3 else 0.25)


JURY = Ensemble([near.named("near"), coarse.named("coarse")])
CASES = [Case(id=f"s{at}", question="Which?", answer=str(at)) for at in range(60)]


@pytest.fixture(scope="module")
def verdicts():
    return list(JURY.judge_many(CASES))


def kappas(votes: Votes) -> list[object]:
    from jury_adapters.statistics import full_report

    found = full_report(votes, draws=100)
    assert found.labelled == 60
    return [one.value for one in found.sections["Scores against human labels"]]


def test_texts_and_numbers_are_the_same_grades(verdicts):
    numbers = kappas(Votes.from_verdicts(verdicts, on="score", gold=GRADES))
    texts = kappas(Votes.from_verdicts(verdicts, on="score", gold=[str(grade) for grade in GRADES]))
    assert numbers == texts
    assert any(value not in (None, 0.0) for value in numbers)


@pytest.fixture
def folder(tmp_path, monkeypatch, verdicts):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": case.item_id, "question": "Which?", "answer": case.answer} for case in CASES]
    for name, column in (("gold", "gold"), ("stars", "stars")):
        with Path(f"{name}.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, ["id", "question", "answer", column])
            table.writeheader()
            table.writerows({**row, column: grade} for row, grade in zip(rows, GRADES, strict=True))
    Path("plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Report.from_results(list(zip(CASES, verdicts, strict=True))).write_results(
        "results.jsonl", cases="plain.jsonl", force=True
    )
    return tmp_path


def printed(*arguments):
    done = CliRunner().invoke(app, ["report", "results.jsonl", "--agreement", *arguments], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.slow
def test_a_column_of_another_name_says_the_same(folder):
    code, by_gold, _ = printed("--on", "score", "--labels", "gold.csv")
    assert code == 0
    assert "60 items with a human label" in by_gold
    assert "near: weighted kappa" in by_gold
    assert printed("--on", "score", "--labels", "stars.csv", "--label-column", "stars")[:2] == (0, by_gold)


@pytest.mark.slow
def test_the_error_names_the_option_for_grades(folder):
    code, _, error = printed("--labels", "gold.csv")
    assert code == 2
    assert "compare them with scores (on='score', --on score)" in " ".join(error.split())
