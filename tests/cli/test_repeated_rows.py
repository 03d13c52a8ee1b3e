"""Rows that repeat an item leave the figures of `jury report --agreement` and `jury calibrate` as they are."""

import gzip
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app

VOTES = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
JURY = "jurors:\n  - {check: not_empty}\n  - {check: length_between, maximum: 40}\n"
RECORDED = """
jurors:
  - {recorded: gpt-4o, labels: {valid: pass, invalid: fail}}
  - {recorded: gpt-4o-mini, labels: {valid: pass, invalid: fail}}
"""


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


def without_merged(text: str) -> str:
    text = re.sub(r" \([\d,]+ copies left out\)", "", text)
    return "\n".join(line for line in text.splitlines() if "an item counts once" not in line)


def repeated(path: Path, name: str, times: int = 5) -> Path:
    lines = path.read_text().splitlines(keepends=True)
    target = path.parent / name
    target.write_text("".join(lines * times))
    return target


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def recorded(folder: Path) -> Path:
    (folder / "votes.jsonl").write_bytes(gzip.decompress(VOTES.read_bytes()))
    (folder / "recorded.yaml").write_text(RECORDED)
    return folder / "votes.jsonl"


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def cases(ids: bool) -> list[dict[str, Any]]:
    return [
        {"answer": "x" * (20 + i), "gold": "PASS" if i % 7 else "FAIL", **({"item_id": f"i{i}"} if ids else {})}
        for i in range(40)
    ]


@pytest.mark.slow
def test_recorded_votes_that_stand_five_times(recorded: Path) -> None:
    five = repeated(recorded, "five.jsonl")
    options = ("--juror", "gpt-4o", "--juror", "gpt-4o-mini", "--pass-label", "valid", "--draws", 100)
    once, again = run("report", "--agreement", recorded, *options), run("report", "--agreement", five, *options)
    assert "800 rows repeat an item and were merged" in again
    assert without_merged(again) == once.rstrip("\n")


@pytest.mark.slow
@pytest.mark.parametrize("ids", [True, False])
def test_results_that_stand_five_times(folder: Path, ids: bool) -> None:
    (folder / "jury.yaml").write_text(JURY)
    once = write(folder / "cases.jsonl", cases(ids))
    run("judge", once, "--jury", "jury.yaml", "--out", "once.jsonl")
    run("judge", repeated(once, "cases5.jsonl"), "--jury", "jury.yaml", "--out", "judged5.jsonl")
    expected = run("report", "--agreement", "once.jsonl", "--cases", once, "--draws", 100)
    assert "40 items with a human label" in expected
    lines = repeated(folder / "once.jsonl", "lines5.jsonl")
    for results, source in ((lines, once), ("judged5.jsonl", "cases5.jsonl")):
        found = run("report", "--agreement", results, "--cases", source, "--draws", 100)
        assert "160 rows repeat an item and were merged" in found
        assert without_merged(found) == expected.rstrip("\n")


@pytest.mark.slow
def test_a_calibration_on_cases_that_stand_five_times(recorded: Path) -> None:
    five = repeated(recorded, "votes.five.jsonl")
    options = ("--jury", "recorded.yaml", "--pass-label", "valid", "--agreement", 0.8)
    once, again = run("calibrate", recorded, *options), run("calibrate", five, *options)
    assert "800 labelled cases repeat an item and were merged" in again
    assert without_merged(again).replace("votes.five.jsonl", "votes.jsonl") == once.rstrip("\n")
    run("calibrate", five, *options, "--out", "calibrated.yaml")
    assert "merged: 800" in Path("calibrated.yaml").read_text()
    run("judge", recorded, "--jury", "calibrated.yaml", "--limit", 3)  # the jury file is accepted


@pytest.mark.slow
def test_two_labels_of_one_item_are_refused_with_their_lines(folder: Path) -> None:
    (folder / "jury.yaml").write_text(JURY)
    for ids, name in ((True, "item 'i3'"), (False, "one item")):
        rows = cases(ids)
        once = write(folder / f"cases{ids}.jsonl", [*rows, {**rows[3], "gold": "FAIL"}])
        said = f"{once}: {name} has the labels PASS (line 4) and FAIL (line 41)"
        assert said in refused("calibrate", once, "--jury", "jury.yaml")
        run("judge", once, "--jury", "jury.yaml", "--out", f"results{ids}.jsonl")
        told = refused("report", "--agreement", f"results{ids}.jsonl", "--cases", once)
        assert f"{name} has the labels PASS (" in told
        assert "line 41" in told


@pytest.mark.slow
@pytest.mark.parametrize("column", ["gold", "truth"])
@pytest.mark.parametrize("kept", [True, False], ids=["texts", "results alone"])
def test_an_id_of_two_contents_is_two_items_in_every_command(folder: Path, column: str, kept: bool) -> None:
    (folder / "jury.yaml").write_text(JURY)
    rows = [{**row, "item_id": f"i{at // 2}"} for at, row in enumerate(cases(True))]
    once = write(folder / "cases.jsonl", [{column: row.pop("gold"), **row} for row in rows])
    options = ("--label-column", column)
    told = [run("judge", once, "--jury", "jury.yaml", "--out", "results.jsonl", *options)]
    if not kept:
        once.unlink()
    told.append(run("report", "results.jsonl", *options))
    told.append(run("report", "--agreement", "results.jsonl", *options))
    if kept:  # its checks run again
        told.append(run("replay", "results.jsonl", "--jury", "jury.yaml", *options))
    assert all("Against human labels: 40 labelled cases, of which" in one for one in told), told


def test_an_id_of_two_contents_is_refused_where_labels_go_by_id(folder: Path) -> None:
    (folder / "jury.yaml").write_text(JURY)
    once = write(folder / "cases.jsonl", [{**row, "item_id": "same"} for row in cases(True)[1:3]])
    run("judge", once, "--jury", "jury.yaml", "--out", "results.jsonl")
    assert "row 2: item_id 'same' is in row 1 too, with other content" in refused(
        "report", "--agreement", "results.jsonl", "--cases", once
    )
