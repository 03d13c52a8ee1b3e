"""Files of labels with answers, with answers that are empty, and with neither an id nor an answer."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app

COUNT = 40


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


def compared(*arguments):
    """Return the sentence of a report about human labels, and what it says beside."""
    done = run("report", *arguments)
    assert done.exit_code == 0, done.stderr
    found = [line for line in done.stdout.splitlines() if line.startswith("Against human labels")]
    return (found or [""])[0], " ".join(done.stderr.split())


def good(at, version):
    return at % 4 != 1 if version == "one" else at % 4 != 2


def answer(at, version):
    if at % 10 == 9:
        return ""
    return f"It opened in {2018 if good(at, version) else 2017}." + (" I think." if version == "two" and at % 2 else "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two versions answer the same tickets; people rated every answer of both."""
    monkeypatch.chdir(tmp_path)
    Path("jury.yaml").write_text("jurors: [{check: contains, texts: ['2018'], name: says 2018}]\n")
    for version in ("one", "two"):
        with Path(f"{version}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["ticket", "question", "answer", "rating"])
            for at in range(COUNT):
                rating = "good" if good(at, version) and answer(at, version) else "bad"
                rows.writerow([f"T{at}", f"When did {at} open?", answer(at, version), rating])
        done = run("judge", f"{version}.csv", "--jury", "jury.yaml", "--map", "id=ticket", "--out", f"{version}.jsonl")
        assert done.exit_code == 0, done.output
    return tmp_path


LABELS = ("--label-column", "rating", "--pass-label", "good")


@pytest.mark.slow
def test_labels_of_another_versions_answers_do_not_count(folder):
    """The results alone do not hold the answers; the cases that they name do."""
    own, _ = compared("one.jsonl", "--labels", "one.csv", *LABELS)
    assert own.startswith("Against human labels: 40 labelled cases")
    same = sum(answer(at, "one") == answer(at, "two") for at in range(COUNT))
    assert 0 < same < COUNT
    said, beside = compared("one.jsonl", "--labels", "two.csv", *LABELS)
    assert said.startswith(f"Against human labels: {same} labelled cases")
    assert f"{COUNT - same} of 40 labels of two.csv belong to no case of one.jsonl" in beside


@pytest.mark.slow
def test_without_the_cases_labels_of_answers_count_by_content_only(folder):
    """The rows lack a column of the cases here, so their content is another one, and ids do not tell the answer."""
    Path("one.csv").rename("kept.csv")
    with Path("kept.csv").open(newline="") as file, Path("labels.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        for row in csv.reader(file):
            rows.writerow([row[0], row[2], row[3]])
    done = run("report", "one.jsonl", "--labels", "labels.csv", *LABELS)
    assert done.exit_code == 2
    assert "which answers were judged is not known; give the cases: --cases CASES" in " ".join(done.stderr.split())
    found, _ = compared("one.jsonl", "--labels", "labels.csv", "--cases", "kept.csv", *LABELS)
    assert found.startswith("Against human labels: 40 labelled cases")


@pytest.mark.slow
def test_a_column_of_labels_alone_is_matched_by_the_order_of_cases_with_ids(folder):
    with Path("one.csv").open(newline="") as file:
        ratings = [row["rating"] for row in csv.DictReader(file)]
    Path("labels.csv").write_text("rating\n" + "\n".join(ratings) + "\n")
    by_id, _ = compared("one.jsonl", "--labels", "one.csv", *LABELS)
    by_order, beside = compared("one.jsonl", "--labels", "labels.csv", *LABELS)
    assert by_order == by_id
    assert "matched with cases by the order of the rows" in beside
    for command in (
        ("report", "one.jsonl", "--agreement", "--draws", "100"),
        ("replay", "one.jsonl", "--jury", "again.yaml"),
    ):
        Path("again.yaml").write_text("jurors: [{recorded: says 2018}]\n")
        done = run(*command, "--labels", "labels.csv", *LABELS)
        assert done.exit_code == 0, done.stderr
        assert "40 labelled cases" in done.stdout


@pytest.mark.slow
def test_an_empty_answer_in_a_file_of_labels_is_the_empty_answer_that_was_judged(folder):
    """The file is the one that was judged, without its column of ids."""
    with Path("one.csv").open(newline="") as file, Path("labels.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        for row in csv.reader(file):
            rows.writerow(row[1:])
    said, beside = compared("one.jsonl", "--labels", "labels.csv", *LABELS)
    assert said.startswith("Against human labels: 40 labelled cases")
    assert "belong to no case" not in beside


@pytest.mark.slow
def test_an_answer_column_without_any_answer_says_nothing_of_answers(folder):
    with Path("one.csv").open(newline="") as file, Path("labels.csv").open("w", newline="") as out:
        rows = csv.DictWriter(out, ["id", "answer", "rating"])
        rows.writeheader()
        for row in csv.DictReader(file):
            rows.writerow({"id": row["ticket"], "answer": "", "rating": row["rating"]})
    said, _ = compared("one.jsonl", "--labels", "labels.csv", *LABELS)
    assert said.startswith("Against human labels: 40 labelled cases")


@pytest.mark.slow
def test_labels_of_recorded_votes_without_texts_are_found_by_id(folder):
    Path("again.yaml").write_text("jurors: [{recorded: a}]\n")
    votes = [{"item_id": f"q{at}", "votes": {"a": {"label": "PASS"}}} for at in range(30)]
    Path("votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    labels = [{"id": f"q{at}", "answer": f"{at}.", "gold": "PASS"} for at in range(30)]
    Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    done = run("replay", "votes.jsonl", "--jury", "again.yaml", "--labels", "labels.jsonl")
    assert done.exit_code == 0, done.stderr
    assert "30 labelled cases" in done.stdout
