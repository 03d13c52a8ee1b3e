"""Labels that are found by id alone: their other columns are compared with the answers that were judged."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app

COMMANDS = ["report", "agreement", "replay", "calibrate"]
COUNT = 40


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


def answer(n: int, period: str) -> str:
    """Return an answer of a period; every fourth is the same in both."""
    return f"It is {2018 if n % 3 else 2017}, number {n}{'' if n % 4 == 0 else f', as of {period}'}."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write forty answers of autumn under names that are known, and their results."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"T{n}", "query": f"How much is {n}?", "response": answer(n, "autumn"), "team": f"team {n % 2}"}
        for n in range(COUNT)
    ]
    Path("autumn.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("j.yaml").write_text('jurors: [{check: contains, texts: ["2018"]}, {check: not_empty}]\nvoting: unanimous\n')
    done = run("judge", "autumn.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "-q")
    assert done.exit_code == 0, done.stderr
    return tmp_path


def write_labels(**columns: Callable[[int], str]) -> None:
    rows: list[Mapping[str, str]] = [
        {"id": f"T{n}", **{name: value(n) for name, value in columns.items()}, "gold": "PASS" if n % 3 else "FAIL"}
        for n in range(COUNT)
    ]
    with Path("l.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)


def labelled(command: str = "report", *more: object) -> tuple[int, str]:
    """Return the exit code of a command with the labels, and its messages on one line."""
    arguments: dict[str, list[object]] = {
        "report": ["report", "r.jsonl"],
        "agreement": ["report", "r.jsonl", "--agreement", "--draws", 100],
        "replay": ["replay", "r.jsonl", "--jury", "j.yaml"],
        "calibrate": ["calibrate", "autumn.jsonl", "--jury", "j.yaml"],
    }
    done = run(*arguments[command], "--labels", "l.csv", *more)
    return done.exit_code, " ".join(done.stderr.split())


def spring(n: int) -> str:
    return answer(n, "spring")


def autumn(n: int) -> str:
    return answer(n, "autumn")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["reply", "Bot Reply"])
def test_other_answers_under_a_name_for_answers_are_refused(command: str, name: str) -> None:
    write_labels(**{name: spring})
    code, said = labelled(command)
    assert code == 2
    assert (
        f"l.csv, line 3: the column {name!r} is 'It is 2018, number 1, as of spring.', and the judged answer of T1"
        in said
    )
    assert "they differ for 30 of 40 labels" in said
    assert "call it `answer`" in said


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["reply", "Antwort"])
def test_the_judged_answers_under_any_name_need_no_message(command: str, name: str) -> None:
    write_labels(**{name: lambda n: f" {autumn(n)} ", "comment": lambda n: f"my note {n}"})
    code, said = labelled(command)
    assert code == 0, said
    assert "l.csv" not in said


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_column_that_has_some_of_the_judged_answers_is_named(command: str) -> None:
    write_labels(Antwort=spring)
    code, said = labelled(command)
    assert code == 0, said
    assert (
        "l.csv: labels are matched by id alone; the column 'Antwort' is the judged answer for 10 of 40 labels" in said
    )
    assert "if it holds the answers, call it `answer`" in said


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_labels_by_id_alone_are_said_if_other_texts_are_not_compared(command: str) -> None:
    write_labels(Frage=lambda n: f"How much is {n}?", comment=lambda n: f"my note {n}", team=lambda n: f"team {n % 2}")
    code, said = labelled(command)
    assert code == 0, said
    assert (
        "l.csv: labels are matched by id alone; answers are not compared, because no column is known to hold them "
        "(there is 'Frage', 'comment')"
    ) in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["comment_text", "expected_reply"])
def test_a_name_that_is_not_for_judged_answers_is_not_refused(name: str) -> None:
    write_labels(**{name: lambda n: f"my note {n}"})
    code, said = labelled()
    assert code == 0
    assert f"(there is '{name}')" in said


@pytest.mark.slow
def test_ids_under_a_name_for_answers_are_no_answers() -> None:
    write_labels(ticket_answer=lambda n: f"T{n}")
    assert labelled() == (0, "")


@pytest.mark.slow
def test_cases_without_answers_need_no_message() -> None:
    rows = [{"id": f"T{n}", "question": f"{n}?", "candidates": [f"It is {n}.", f"No, {n}."]} for n in range(COUNT)]
    Path("autumn.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("judge", "autumn.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "-q", "--force").exit_code in (0, 1)
    write_labels(comment=lambda n: f"my note {n}", reply=lambda n: f"my reply {n}")
    assert "alone" not in labelled()[1]


@pytest.mark.slow
def test_recorded_votes_are_compared_with_their_own_answers() -> None:
    votes = [
        {"item_id": f"T{n}", "output": answer(n, "autumn"), "votes": {"a": {"label": "PASS"}}} for n in range(COUNT)
    ]
    Path("votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    write_labels(reply=spring)
    done = run("report", "votes.jsonl", "--agreement", "--draws", 100, "--labels", "l.csv")
    assert done.exit_code == 2
    assert "they differ for 30 of 40 labels" in " ".join(done.stderr.split())
    votes = [{name: value for name, value in row.items() if name != "output"} for row in votes]
    Path("votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    done = run("report", "votes.jsonl", "--agreement", "--draws", 100, "--labels", "l.csv")
    assert done.exit_code == 0, done.stderr
    assert "alone" not in done.stderr


@pytest.mark.slow
def test_labels_with_ids_and_short_values_alone_need_no_message() -> None:
    write_labels(rater=lambda n: "ann", date=lambda n: "2026-05-01", team=lambda n: f"team {n % 2}")
    assert labelled() == (0, "")


@pytest.mark.slow
def test_a_known_question_that_differs_is_said() -> None:
    write_labels(question=lambda n: f"How much is {n if n % 5 else n + 1}?")
    code, said = labelled()
    assert code == 0
    assert "l.csv: the question of 8 of 40 labels is not that of the case with the same id, such as that of T0" in said
    write_labels(question=lambda n: f"How much  is {n}?")
    assert labelled() == (0, "")


@pytest.mark.slow
def test_labels_by_order_with_other_answers_are_refused_too() -> None:
    write_labels(reply=spring)
    text = Path("l.csv").read_text()
    Path("l.csv").write_text("\n".join(line.partition(",")[2] for line in text.splitlines()) + "\n")
    code, said = labelled()
    assert code == 2
    assert "the column 'reply' is 'It is 2018, number 1, as of spring.'" in said


@pytest.mark.slow
def test_without_the_texts_of_the_cases_a_message_asks_for_them() -> None:
    Path("autumn.jsonl").rename("kept.jsonl")
    write_labels(reply=spring)
    code, said = labelled()
    assert code == 0
    assert (
        "labels are matched by id alone; answers are not compared, because those that were judged are not known" in said
    )
    assert "--cases CASES" in said
    assert labelled("report", "--cases", "kept.jsonl")[0] == 2


@pytest.mark.slow
def test_the_map_that_the_results_keep_finds_the_answers() -> None:
    rows = [{"id": f"T{n}", "reply": answer(n, "autumn")} for n in range(COUNT)]
    Path("autumn.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run(
        "judge", "autumn.jsonl", "--jury", "j.yaml", "--map", "answer=reply", "--out", "r.jsonl", "-q", "--force"
    )
    assert done.exit_code == 0, done.stderr
    write_labels(reply=spring, comment=lambda n: f"my note {n}")
    code, said = labelled()
    assert code == 0
    assert "30 of 40 labels of l.csv belong to no case of r.jsonl" in said
    assert "id alone" not in said
