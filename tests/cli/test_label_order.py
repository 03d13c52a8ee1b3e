"""Labels without an id: never attached to another case than the one that was labelled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app

COMMANDS = ["report", "agreement", "replay", "calibrate"]


def run(*arguments: object, typed: str = "") -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], input=typed, catch_exceptions=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write sixty cases without an id, of which the odd ones pass, and their results."""
    monkeypatch.chdir(tmp_path)
    rows = [f"T{n},In {2019 - n % 2} or {n}." for n in range(60)]
    Path("c.csv").write_text("\n".join(["ticket_id,Reply", *rows, ""]))
    Path("j.yaml").write_text('jurors: [{check: contains, texts: ["2018"]}, {check: not_empty}]\nvoting: unanimous\n')
    judge("--map", "answer=Reply")
    return tmp_path


def judge(*more: str) -> None:
    done = run("judge", "c.csv", "--jury", "j.yaml", *more, "--out", "r.jsonl", "-q", "--force")
    assert done.exit_code == 0, done.stderr


def labels(*rows: str, heading: str = "ticket_id,gold") -> None:
    Path("l.csv").write_text("\n".join([heading, *rows, ""]))


def labelled(command: str, *more: str, id_map: tuple[str, ...] = ()) -> Result:
    arguments: dict[str, list[object]] = {
        "report": ["report", "r.jsonl", "--json"],
        "agreement": ["report", "r.jsonl", "--agreement", "--draws", 100, "--json"],
        "replay": ["replay", "r.jsonl", "--jury", "j.yaml", "--json"],
        "calibrate": ["calibrate", "c.csv", "--map", "answer=Reply", *id_map, "--jury", "j.yaml", "--json"],
    }
    given = more if "--labels" in more else ("--labels", "l.csv", *more)
    return run(*arguments[command], *given)


def right(done: Result) -> tuple[int, int]:
    """Return how many labelled cases the jury gets right, and of how many."""
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    found = found[0] if isinstance(found, list) else found
    if "label_comparison" not in found:
        return found["decided"] - found["errors"], found["decided"]
    jury = found["label_comparison"]["jury"]
    return round(jury["accuracy"] * jury["decided"]), jury["decided"]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_column_of_labels_may_end_with_empty_cells(command: str) -> None:
    """As pandas writes it: an empty cell of the only column is quoted."""
    labels(*("PASS" if n % 2 else "FAIL" for n in range(40)), *['""'] * 20, heading="gold")
    done = labelled(command)
    assert right(done) == (40, 40)
    assert "missing" not in done.stderr


def test_too_few_labels_for_their_order_are_counted_without_the_empty_end() -> None:
    labels(*("PASS," for _ in range(40)), *[","] * 20, heading="gold,note")
    done = labelled("report")
    assert "40 rows cannot be the 60 cases of r.jsonl in their order (empty rows at the end of a table" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_labels_are_matched_by_a_column_of_both_files(command: str) -> None:
    labels(*(f"T{n},{'PASS' if n % 2 else 'FAIL'}" for n in reversed(range(5, 50))))
    done = labelled(command)
    assert right(done) == (45, 45)
    assert "l.csv: labels are matched with cases by the column 'ticket_id', which both have" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_labels_are_found_by_the_mapped_id_of_the_cases(command: str) -> None:
    judge("--map", "answer=Reply", "--map", "id=ticket_id")
    labels(*(f"T{n},{'PASS' if n % 2 else 'FAIL'}" for n in reversed(range(5, 50))))
    assert right(labelled(command, id_map=("--map", "id=ticket_id"))) == (45, 45)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_labels_without_an_id_of_only_some_cases_are_refused(command: str) -> None:
    labels(*["PASS"] * 40, heading="gold")
    done = labelled(command)
    assert done.exit_code == 2
    assert "its labels have no id and no answer, and its 40 rows cannot be the 60 cases of" in done.stderr
    assert "--map id=COLUMN" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_ids_under_another_name_in_another_order_are_refused(command: str) -> None:
    labels(*(f"T{n},PASS" for n in reversed(range(60))), heading="ticket,gold")
    done = labelled(command)
    assert done.exit_code == 2
    assert "its column 'ticket' has values of the column 'ticket_id' of" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_matching_by_the_order_of_the_rows_is_said(command: str) -> None:
    Path("l.jsonl").write_text("".join(json.dumps({"gold": "PASS" if n % 2 else "FAIL"}) + "\n" for n in range(60)))
    done = labelled(command, "--labels", "l.jsonl")
    assert right(done) == (60, 60)  # the header is a line of one of the files
    assert "l.jsonl: labels are matched with cases by the order of the rows, because they have no id" in done.stderr


@pytest.mark.slow
def test_ids_that_no_case_has_are_named_with_those_of_the_cases() -> None:
    judge("--map", "answer=Reply", "--map", "id=ticket_id")
    labels("t1,PASS", "t2,FAIL", heading="Item_ID,gold")
    done = labelled("report")
    assert done.exit_code == 2
    assert "an id of the labels (column 'Item_ID') is 't1', one of the cases is 'T0'" in done.stderr
    judge("--map", "answer=Reply")
    assert "the cases have no id (judge them with a column `id`, or with --map id=COLUMN)" in labelled("report").stderr


@pytest.mark.slow
@pytest.mark.parametrize("written", ["review", "canonical", "raw"])
def test_compare_reads_labels_of_mapped_cases(written: str) -> None:
    for name, other in (("a", "or"), ("b", "and")):
        Path(f"{name}.csv").write_text(Path("c.csv").read_text().replace("or", other))
        done = run(
            "judge", f"{name}.csv", "--jury", "j.yaml", "--map", "answer=Reply", "--map", "id=ticket_id", "--out",
            f"{name}.jsonl", "-q",
        )  # fmt: skip
        assert done.exit_code == 0
        if written == "review":
            given = ["review", f"{name}.jsonl", "--only", "all", "--by", "ann", "--labels", "l.jsonl"]
            assert run(*given, typed="p\nf\n" * 30).exit_code == 0
    if written != "review":
        names = {"canonical": ("id", "answer"), "raw": ("ticket_id", "Reply")}[written]
        rows = [
            dict(zip([*names, "gold"], (f"T{n}", f"In {2019 - n % 2} {other} {n}.", "PASS"), strict=True))
            for n in range(60)
            for other in ("or", "and")
        ]
        Path("l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("compare", "a.jsonl", "b.jsonl", "--labels", "l.jsonl")
    assert done.exit_code == 0, done.stderr
    assert "leads nowhere" not in done.stderr
