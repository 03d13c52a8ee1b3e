"""The hint of ``jury review`` to derive a guarantee from labels."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app


def run(*arguments: object, typed: str = "") -> Result:
    return CliRunner().invoke(app, [str(part) for part in arguments], input=typed, catch_exceptions=False)


def reviewed(folder: Path, cases: int, typed: str, *options: object) -> str:
    rows = [{"id": str(n), "answer": f"Ann left in {2018 + n % 2}, case {n}."} for n in range(cases)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "jury.yaml").write_text("jurors: [{check: contains, texts: ['2018']}]\n")
    run("judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml", "--out", folder / "out.jsonl")
    done = run("review", folder / "out.jsonl", "--by", "ann", "--only", "all", *options, typed=typed)
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def test_too_few_labels_are_not_sent_to_calibrate(tmp_path: Path) -> None:
    told = reviewed(tmp_path, 40, "p\n" * 7 + "u\n")
    assert "7 cases in it have a label; jury calibrate needs 30 or more, labelled with --only all" in told
    assert "next:" not in told


@pytest.mark.slow
def test_enough_labels_are(tmp_path: Path) -> None:
    told = reviewed(tmp_path, 31, "p\n" * 31)
    assert "31 cases in it have a label; next: jury calibrate" in told
    again = run("review", tmp_path / "out.jsonl", "--by", "bob", "--only", "all", typed="f\n" * 2)
    assert "29 cases in it have a label" in " ".join(again.stdout.split())  # on two of them ann and bob are split


@pytest.mark.slow
def test_the_count_is_in_the_json_too(tmp_path: Path) -> None:
    told = reviewed(tmp_path, 40, "p\nf\n", "--json")
    assert json.loads(told)["labelled_by_anybody"] == 2


@pytest.mark.slow
def test_labels_of_contested_cases_are_not_sent_to_calibrate(tmp_path: Path) -> None:
    rows = [{"id": str(n), "answer": f"Ann left in 2018, case {n}."} for n in range(40)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    jury = "jurors: [{check: contains, texts: ['2018']}, {check: length_between, maximum: 3}]\n"
    (tmp_path / "jury.yaml").write_text(jury)
    out = tmp_path / "out.jsonl"
    run("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml", "--out", out)
    done = run("review", out, "--by", "ann", typed="p\n" * 40)
    told = " ".join(done.stdout.split())
    assert "40 cases labelled by ann now, 40 so far (40 PASS)" in told
    assert "labels of contested cases are not a fair sample" in told
    assert "label 30 or more with --only all --labels OTHER.jsonl" in told
    assert "next:" not in told


@pytest.mark.slow
def test_the_labels_of_others_in_the_file_are_counted_by_reviewer(tmp_path: Path) -> None:
    told = reviewed(tmp_path, 12, "p\n" * 12)
    assert "ann 12" not in told  # nobody else labelled
    again = run("review", tmp_path / "out.jsonl", "--by", "bob", "--only", "all", typed="p\n" * 4)
    told = " ".join(again.stdout.split())
    assert "4 cases labelled by bob now, 4 so far (4 PASS)" in told
    assert "has 16 labels (ann 12, bob 4); 12 cases in it have a label" in told
    again = run("review", tmp_path / "out.jsonl", "--by", "bob", "--only", "all", "--json", typed="p\n")
    assert json.loads(again.stdout)["labels_by_reviewer"] == {"ann": 12, "bob": 5}
