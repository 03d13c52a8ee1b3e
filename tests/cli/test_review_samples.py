"""``jury review --sample``: the same random cases of two systems, whose labels correct ``jury compare``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Report, load_jury
from jury_adapters.cli.app import app
from jury_adapters.core.return_values import run_failed

JURY = "jurors: [{check: contains, texts: ['2018']}]\n"


def run(*arguments: object, typed: str | None = None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=typed, catch_exceptions=False)


def review(results: Path, *options: object, typed: str = ""):
    return run("review", results, "--by", "ann", *options, typed=typed)


def order_of(results: Path, *options: object) -> list[str]:
    """Return the cases that are asked about, in their order; no label is written."""
    shown = review(results, *options, "--labels", results.parent / "none.jsonl", typed="s\n" * 99).stderr
    return re.findall(r"^\d+ of \d+: (.+?) ─", shown, re.MULTILINE)


def judged(folder: Path, name: str, rows: list[dict]) -> Path:
    (folder / f"{name}_cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "jury.yaml").write_text(JURY)
    out = folder / f"{name}.jsonl"
    done = run("judge", folder / f"{name}_cases.jsonl", "--jury", folder / "jury.yaml", "--out", out)
    assert done.exit_code == 0, done.output
    return out


def answers_of(system: str, *, ids: bool = True) -> list[dict]:
    """Return answers to questions; both systems give the same answer to every other question."""
    return [
        {
            **({"id": f"q{n}"} if ids else {}),
            "question": f"When did line {n} open?",
            "answer": "In 2018." if n % 2 else f"In {2017 + n % 4}, says {system}.",
        }
        for n in range(60)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ids", [True, False])
def test_labels_of_both_answers_to_the_same_random_cases_correct_the_difference(tmp_path: Path, ids: bool):
    rows = {system: answers_of(system, ids=ids) for system in "ab"}
    rows["b"].reverse()
    a, b = (judged(tmp_path, system, rows[system]) for system in "ab")
    for results in (a, b):
        done = review(results, "--sample", 20, typed="p\n" * 99)
        assert "0 left of those to look at (--only all --sample 20)" in " ".join(done.stdout.split())
    made = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    questions = {row["question"]: row["answer"] for row in made}
    if ids:
        assert len(questions) == 20
        assert len(made) == 40 - list(questions.values()).count("In 2018.")  # an equal answer is asked about once
    assert {row["review"]["chosen"] for row in made} == {"all"}
    said = run("compare", a, b, "--labels", tmp_path / "labels.jsonl").stdout
    assert "Corrected by human labels of 20 cases" in said
    assert "one answer only" not in said


def test_a_larger_sample_begins_with_the_smaller_one(tmp_path: Path):
    results = judged(tmp_path, "a", answers_of("a"))
    drawn = order_of(results, "--sample", 12)
    assert len(drawn) == 12
    assert order_of(results, "--sample", 20)[:12] == order_of(results, "--only", "all")[:12] == drawn
    assert order_of(results, "--sample", 12, "--limit", 3) == drawn[:3]
    assert drawn != [row["id"] for row in answers_of("a")[:12]]


def test_a_sample_goes_on_where_it_was_left(tmp_path: Path):
    results = judged(tmp_path, "a", answers_of("a"))
    review(results, "--sample", 5, typed="p\np\n")
    summary = json.loads(review(results, "--sample", 5, "--json", typed="p\n" * 99).stdout)
    assert (summary["labelled"], summary["labelled_in_all"], summary["left"]) == (3, 5, 0)
    assert (summary["only"], summary["sample"]) == ("all", 5)
    assert "ann has labelled every case of --only all --sample 5" in review(results, "--sample", 5).stderr


def test_cases_that_share_an_id_are_drawn_one_by_one(tmp_path: Path):
    rows = [{**row, "id": f"document {n % 2}"} for n, row in enumerate(answers_of("a"))]
    drawn = order_of(judged(tmp_path, "a", rows), "--sample", 20)
    assert len(drawn) == 20
    assert {*drawn} == {"document 0", "document 1"}


def test_a_sample_is_one_of_all_cases(tmp_path: Path):
    results = judged(tmp_path, "a", answers_of("a"))
    done = review(results, "--only", "contested", "--sample", 2)
    assert done.exit_code == 2
    assert "--sample draws from all cases" in " ".join(done.stderr.split())


def test_a_limit_on_another_systems_answers_points_to_the_sample(tmp_path: Path):
    """It would pass over the equal answers that have a label, and label further cases of which some are equal too."""
    a, b = (judged(tmp_path, system, answers_of(system)) for system in "ab")
    hint = "give --sample N for both, not --limit"
    assert hint not in " ".join(review(a, "--only", "all", "--limit", 10, typed="p\n" * 10).stderr.split())
    assert hint not in " ".join(review(a, "--only", "all", "--limit", 10, typed="p\n" * 10).stderr.split())
    assert hint in " ".join(review(b, "--only", "all", "--limit", 10, typed="p\n" * 10).stderr.split())
    assert hint not in " ".join(review(b, "--sample", 20, "--limit", 10, typed="p\n" * 10).stderr.split())


def test_a_failed_run_has_its_place_in_the_sample_of_both_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    drawn = order_of(judged(tmp_path, "a", answers_of("a")), "--sample", 12)
    jury = load_jury("jury.yaml")
    cases = [Case(question=row["question"], answer=row["answer"], item_id=row["id"]) for row in answers_of("b")]
    results = [
        (case, run_failed(jury, "boom") if case.item_id == drawn[0] else verdict)
        for case, verdict in zip(cases, jury.judge_many(cases), strict=True)
    ]
    Report.from_results(results).write_results("b.jsonl", cases="b_cases.jsonl")
    assert order_of(Path("b.jsonl"), "--sample", 12) == drawn[1:]
