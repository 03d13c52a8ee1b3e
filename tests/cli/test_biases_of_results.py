"""Biases of jurors in ``jury report --agreement``, which need the answers: those of the file that was judged."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble
from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app
from jury_adapters.report import Report

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


@pytest.mark.slow
@pytest.mark.parametrize("given", [(), ("--cases", "cases.csv")], ids=["by itself", "with --cases"])
def test_the_answers_are_those_of_the_judged_file(judged, given):
    sections, said = measured(*given)
    assert [one["name"] for one in sections["Biases"]] == ["verbosity bias"] * 2
    assert sections["Biases"][1]["value"] < -0.5  # the juror of the length
    assert "verbosity" not in said


@pytest.mark.slow
def test_the_answers_are_known_in_python_too(judged):
    for votes in (Votes.from_results("results.jsonl"), Votes.from_results("results.jsonl", cases="cases.csv")):
        assert votes.lengths.tolist() == LENGTHS
        assert votes.labelled == 40
    assert Votes.from_results("results.jsonl", gold={"t1": "ok"}).lengths.tolist() == LENGTHS


@pytest.mark.slow
def test_labels_of_a_file_of_their_own_leave_the_answers(judged):
    Path("labels.csv").write_text("id,gold\n" + "".join(f"t{at},ok\n" for at in range(40)))
    assert Votes.from_results("results.jsonl", gold="labels.csv").lengths.tolist() == LENGTHS
    sections, _ = measured("--labels", "labels.csv")
    assert "Biases" in sections


def test_the_results_are_enough(judged):
    Path("cases.csv").unlink()
    sections, said = measured()
    assert "Biases" in sections
    assert "verbosity" not in said


def test_the_lengths_are_those_of_the_answers_that_were_judged(judged):
    Path("cases.csv").write_text(Path("cases.csv").read_text().replace("It opened", "The line opened"))
    assert Votes.from_results("results.jsonl").lengths.tolist() == LENGTHS
    assert Votes.from_results("results.jsonl", cases="cases.csv").lengths.tolist() == LENGTHS


def test_results_of_standard_input_hold_the_lengths(judged):
    text = Path("cases.csv").read_text().replace("ticket,asked,reply", "id,question,answer")
    Path("results.jsonl").unlink()
    done = CliRunner().invoke(app, ["judge", "-", "--jury", "jury.yaml", "--out", "results.jsonl"], input=text)
    assert done.exit_code == 0, done.output
    assert "Biases" in measured("--pass-label", "ok")[0]


def test_verdicts_without_their_cases_need_the_judged_file(judged):
    lines = [json.loads(line) for line in Path("results.jsonl").read_text().splitlines()]
    bare = [{name: value for name, value in line.items() if name != "answer_length"} for line in lines]
    Path("results.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in bare))
    sections, said = measured()
    assert "Biases" not in sections
    assert " ".join(said.split()) == (
        "no verbosity bias is measured, because results.jsonl does not hold the lengths of the answers; give the file "
        "that was judged: --cases CASES"
    )
    assert np.isnan(Votes.from_results("results.jsonl").lengths).all()
    assert "Biases" in measured("--cases", "cases.csv")[0]


@pytest.mark.slow
@pytest.mark.parametrize("length", [None, "30", True, 10**400, 1.5, [3]])
def test_a_length_that_is_none_is_unknown(judged, length):
    lines = [json.loads(line) | {"answer_length": length} for line in Path("results.jsonl").read_text().splitlines()]
    Path("results.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert np.isnan(Votes.from_results("results.jsonl").lengths).all()


def test_a_report_of_python_keeps_lengths_and_authors(tmp_path):
    cases = [
        Case(answer="x" * (at + 1), generator="gpt-4o-mini" if at % 2 else "sonnet", metadata={"id": f"c{at}"})
        for at in range(12)
    ]
    Report.from_results(Ensemble([lambda case: True] * 2).judge_pairs(cases)).write_results(tmp_path / "a.jsonl")
    Report.read(tmp_path / "a.jsonl").write_results(tmp_path / "b.jsonl")
    for name in ("a.jsonl", "b.jsonl"):
        votes = Votes.from_results(tmp_path / name)
        assert votes.lengths.tolist() == [float(at + 1) for at in range(12)]
        kept = [json.loads(line)["generator"] for line in (tmp_path / name).read_text().splitlines()]
        assert kept == [case.generator for case in cases]
