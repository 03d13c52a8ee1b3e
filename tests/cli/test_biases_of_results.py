"""Biases of jurors in ``jury report --agreement``, which need the answers: those of the file that was judged."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app

JURY = "jurors: [{check: contains, texts: ['2018']}, {check: length_between, maximum: 30}]\n"
MAP = ("--map", "question=asked", "--map", "answer=reply", "--map", "id=ticket")
LENGTHS = [float(len(f"It opened in 2018.{' Or so.' * (at % 5)}")) for at in range(40)]


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done


def rows(names):
    for at in range(40):
        answer = f"It opened in {2018 + (at % 3 == 0)}.{' Or so.' * (at % 5)}"
        yield dict(zip(names, (f"t{at}", f"When did line {at} open?", answer, "ok" if at % 3 else "bad"), strict=True))


def write(path, names):
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows(names))


@pytest.fixture(params=[True, False], ids=["columns of its own", "our columns"])
def judged(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("jury.yaml").write_text(JURY)
    write("cases.csv", ["ticket", "asked", "reply", "gold"] if request.param else ["id", "question", "answer", "gold"])
    run("judge", "cases.csv", "--jury", "jury.yaml", *(MAP if request.param else ()), "--pass-label", "ok", "--out",
        "results.jsonl")  # fmt: skip


def measured(*arguments):
    done = run("report", "results.jsonl", "--agreement", "--draws", "100", *arguments, "--json")
    return json.loads(done.stdout)["sections"], done.stderr


@pytest.mark.parametrize("given", [(), ("--cases", "cases.csv")], ids=["by itself", "with --cases"])
def test_the_answers_are_those_of_the_judged_file(judged, given):
    sections, said = measured(*given)
    assert [one["name"] for one in sections["Biases"]] == ["verbosity bias"] * 2
    assert sections["Biases"][1]["value"] < -0.5  # the juror of the length
    assert "verbosity" not in said


def test_the_answers_are_known_in_python_too(judged):
    for votes in (Votes.from_results("results.jsonl"), Votes.from_results("results.jsonl", cases="cases.csv")):
        assert votes.lengths.tolist() == LENGTHS
        assert votes.labelled == 40
    assert Votes.from_results("results.jsonl", gold={"t1": "ok"}).lengths.tolist() == LENGTHS


def test_labels_of_a_file_of_their_own_leave_the_answers(judged):
    Path("labels.csv").write_text("id,gold\n" + "".join(f"t{at},ok\n" for at in range(40)))
    assert Votes.from_results("results.jsonl", gold="labels.csv").lengths.tolist() == LENGTHS
    sections, _ = measured("--labels", "labels.csv")
    assert "Biases" in sections


def test_a_judged_file_that_is_gone_is_named(judged):
    Path("cases.csv").rename("moved.csv")
    sections, said = measured()
    assert "Biases" not in sections
    assert " ".join(said.split()) == (
        "no verbosity bias is measured, because the lengths of the answers are not known: results.jsonl names "
        "cases.csv, which is not there; give the file that was judged: --cases CASES"
    )
    assert "Biases" in measured("--cases", "moved.csv")[0]


def test_answers_that_changed_since_are_not_taken_for_those_that_were_judged(judged):
    Path("cases.csv").write_text(Path("cases.csv").read_text().replace("It opened", "The line opened"))
    sections, said = measured()
    assert "Biases" not in sections
    assert "only 0 of 40 cases are in cases.csv as they were judged; give the file that was judged" in " ".join(
        said.split()
    )
    assert np.isnan(Votes.from_results("results.jsonl").lengths).all()


def test_results_of_standard_input_name_no_file(judged):
    text = Path("cases.csv").read_text().replace("ticket,asked,reply", "id,question,answer")
    Path("results.jsonl").unlink()
    done = CliRunner().invoke(app, ["judge", "-", "--jury", "jury.yaml", "--out", "results.jsonl"], input=text)
    assert done.exit_code == 0, done.output
    _, said = measured("--pass-label", "ok")
    assert "results.jsonl names no file of cases; give the file that was judged: --cases CASES" in " ".join(
        said.split()
    )
