"""Labels matched by the order of the rows: refused where a column that labels and cases share shows another order."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app

COMMANDS = ["report", "report --cases", "agreement", "replay", "calibrate"]
COUNT = 40


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


def case(n: int) -> dict[str, str]:
    """Return an answer to a ticket: two answers each, of four teams, all with one context."""
    return {
        "ticket": f"T{n // 2}",
        "team": ["billing", "network", "moving", "hardware"][n // 10],
        "query": f"How much is ticket {n // 2}?",
        "response": f"It is {2018 if n % 3 else 2017}, number {n}.",
        "context": "One context for all.",
        "weight": f"{n // 10}.50",
    }


def gold(n: int) -> str:
    return "PASS" if n % 3 else "FAIL"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write forty cases without an id, and their results."""
    monkeypatch.chdir(tmp_path)
    rows = [{**case(n), "weight": float(case(n)["weight"])} for n in range(COUNT)]
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("j.yaml").write_text('jurors: [{check: contains, texts: ["2018"]}, {check: not_empty}]\nvoting: unanimous\n')
    done = run("judge", "c.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "-q")
    assert done.exit_code == 0, done.stderr
    return tmp_path


def write_labels(columns: Iterable[str], order: Iterable[int], **renamed: str) -> None:
    """Write a file with these columns of the cases, some under another name, and with the labels."""
    rows: list[Mapping[str, str]] = [
        {**{renamed.get(name, name): case(n)[name] for name in columns}, "gold": gold(n)} for n in order
    ]
    with Path("l.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)


def labelled(command: str, *more: object) -> Result:
    arguments: dict[str, list[object]] = {
        "report": ["report", "r.jsonl", "--json"],
        "report --cases": ["report", "r.jsonl", "--cases", "c.jsonl", "--json"],
        "agreement": ["report", "r.jsonl", "--agreement", "--draws", 100, "--json"],
        "replay": ["replay", "r.jsonl", "--jury", "j.yaml", "--json"],
        "calibrate": ["calibrate", "c.jsonl", "--jury", "j.yaml", "--json"],
    }
    return run(*arguments[command], "--labels", "l.csv", *more)


def all_right(done: Result) -> bool:
    """Whether the jury is right on every case, as it is with the labels of the cases themselves."""
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    found = found[0] if isinstance(found, list) else found
    if "label_comparison" not in found:
        return (found["decided"], found["errors"]) == (COUNT, 0)
    jury = found["label_comparison"]["jury"]
    return (jury["decided"], jury["accuracy"]) == (COUNT, 1.0)


def swapped(one: int, other: int) -> list[int]:
    order = list(range(COUNT))
    order[one], order[other] = other, one
    return order


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_repeated_column_that_contradicts_the_order_is_refused(command: str) -> None:
    write_labels(["team"], swapped(4, 33))
    done = labelled(command)
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert (
        "l.csv, line 6: its column 'team' is 'hardware', and that of the case in its place (line 5) is 'billing'"
        in said
    )
    assert "labels without an id are matched by the order of the rows, which is another one here" in said


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("column", ["query", "question", "Frage"])
def test_a_repeated_question_that_contradicts_the_order_is_refused(command: str, column: str) -> None:
    write_labels(["query"], swapped(4, 33), query=column)
    done = labelled(command)
    assert done.exit_code == 2
    assert repr(column) in done.stderr
    assert "the order of the rows, which is another one" in " ".join(done.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("column", ["reply", "score"])
def test_an_answer_under_an_unknown_name_that_contradicts_the_order_is_refused(column: str) -> None:
    write_labels(["response"], swapped(4, 33), response=column)
    done = labelled("report")
    assert done.exit_code == 2
    assert f"its column '{column}' has values of the column 'answer' of" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_columns_that_agree_with_the_order_are_accepted(command: str) -> None:
    """Also if they are written in another way: a number, capitals, white space."""
    write_labels(["team", "query", "context", "weight"], range(COUNT), query="Question")
    text = (
        Path("l.csv").read_text().replace("billing", "Billing ").replace("0.50", "0.5").replace("How much", "How  much")
    )
    Path("l.csv").write_text(text)
    done = labelled(command)
    assert all_right(done)
    assert "labels are matched with cases by the order of the rows, because they have no id" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["", " "])
def test_an_empty_cell_contradicts_nothing(cell: str) -> None:
    write_labels(["team"], range(COUNT))
    Path("l.csv").write_text(Path("l.csv").read_text().replace("moving", cell))
    assert all_right(labelled("report"))


@pytest.mark.slow
def test_a_label_of_the_cases_themselves_may_differ() -> None:
    rows = [{**case(n), "gold": "PASS", "verdict": "FAIL"} for n in range(COUNT)]
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("judge", "c.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "-q", "--force").exit_code == 0
    write_labels([], range(COUNT))
    assert all_right(labelled("report"))
    Path("l.csv").write_text(Path("l.csv").read_text().replace("gold", "verdict"))
    assert all_right(labelled("report", "--label-column", "verdict"))


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_questions_that_identify_cases_find_their_labels(command: str) -> None:
    rows = [{**case(n), "query": f"What is case {n}?"} for n in range(COUNT)]
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("judge", "c.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "-q", "--force").exit_code == 0
    labels = [f"{at},What is case {n}?,{gold(n)}" for at, n in enumerate(reversed(range(COUNT)))]
    Path("l.csv").write_text("\n".join([",Question,gold", *labels, ""]))  # with the row numbers that pandas writes
    done = labelled(command)
    assert all_right(done)
    assert "l.csv: labels are matched with cases by the column 'question', which both have" in done.stderr


@pytest.mark.slow
def test_a_mapped_question_that_contradicts_the_order_is_refused() -> None:
    rows = [{("frage" if name == "query" else name): value for name, value in case(n).items()} for n in range(COUNT)]
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mapped = ["--map", "question=frage"]
    assert run("judge", "c.jsonl", "--jury", "j.yaml", *mapped, "--out", "r.jsonl", "-q", "--force").exit_code == 0
    write_labels(["query"], swapped(4, 33), query="frage")
    done = labelled("report")
    assert done.exit_code == 2
    assert "l.csv, line 6: its column 'question' is 'How much is ticket 16?'" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_question_that_cannot_be_compared_is_named() -> None:
    write_labels(["query"], range(COUNT))
    Path("c.jsonl").rename("kept.jsonl")
    done = labelled("report")
    assert all_right(done)
    assert "(question is not compared; for that, give the cases: --cases CASES)" in " ".join(done.stderr.split())
    assert "is not compared" not in labelled("report", "--cases", "kept.jsonl").stderr
