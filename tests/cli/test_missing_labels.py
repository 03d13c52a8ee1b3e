"""Cases without a human label: the message names the cause, such as a wrong ``--map`` or encoding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app

HEAD = "id,answer,editor\n"
ROWS = ["a,a ferry,", "b,a ferry,", "c,a bus,too long", "d,a bus,wrong", "e,a ferry,publish", "f,a ferry,publish"]
LABELS = ("--label-column", "editor", "--pass-label", "publish")
DRY = ("--dry-run",)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A partly labelled file, whose labels begin in the third row."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.csv").write_text(HEAD + "\n".join(ROWS) + "\n", encoding="utf-8")
    (tmp_path / "jury.yaml").write_text("check: contains\ntexts: [ferry]\n")
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def judge(*options: object, cases: str = "cases.csv") -> Result:
    return run("judge", cases, "--jury", "jury.yaml", *LABELS, *options)


def refused(result: Result) -> str:
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return " ".join(result.stderr.split())


@pytest.mark.parametrize("options", [(), DRY])
@pytest.mark.parametrize(("mapped", "meant"), [("question=anser", "answer"), ("contexts=idd", "id")])
def test_a_misspelt_map_is_named(mapped: str, meant: str, options: tuple[str, ...]):
    said = refused(judge("--map", mapped, *options))
    assert "leads nowhere" in said
    assert f"Did you mean {meant!r}?" in said
    assert "label" not in said


def save_as_latin_1(name: str, rows: list[str]) -> None:
    Path(name).write_bytes((HEAD + "\n".join(rows) + "\n").encode("latin-1"))


@pytest.mark.parametrize("options", [(), DRY])
def test_a_wrong_encoding_is_named(options: tuple[str, ...]):
    save_as_latin_1("latin.csv", [*ROWS[:2], "c,a bus für alle,too long", "d,für alle,publish"])
    said = refused(judge(*options, cases="latin.csv"))
    assert "no case that could be read has a label in the column 'editor'; 2 rows could not be read" in said
    assert "the first of them: line 4: not UTF-8" in said
    assert "--label-column" not in said


def test_rows_that_could_not_be_read_may_have_the_missing_label():
    save_as_latin_1("latin.csv", [*ROWS[:4], "e,für alle,publish"])
    said = refused(judge(cases="latin.csv"))
    assert "no labelled case has the label 'publish'; there are too long 1, wrong 1" in said
    assert "1 row could not be read, the first of them: line 6: not UTF-8" in said


def test_an_empty_column_and_a_misspelt_one_are_told_apart():
    Path("empty.csv").write_text(HEAD + "\n".join(ROWS[:2]) + "\n", encoding="utf-8")
    assert "in the column 'editor', which is empty in every row" in refused(judge(cases="empty.csv"))
    said = refused(run("judge", "cases.csv", "--jury", "jury.yaml", "--label-column", "editr"))
    assert "no case has a label in the column 'editr'. Did you mean 'editor'? There are: editor" in said


def test_results_are_refused_and_the_judged_file_is_named():
    assert run("judge", "cases.csv", "--out", "results.jsonl").exit_code == 0
    for command in ("calibrate", "align"):
        result = run(command, "results.jsonl", "--jury", "jury.yaml")
        assert result.exit_code == 2
        said = " ".join(result.stderr.split())
        assert "results.jsonl holds results, which keep labels and no texts" in said
        assert "give the cases that were judged: cases.csv" in said


def test_calibrate_names_the_encoding():
    save_as_latin_1("latin.csv", [*ROWS[:2], "c,für alle,publish"])
    said = refused(run("calibrate", "latin.csv", "--jury", "jury.yaml", *LABELS))
    assert "no case that could be read has a label in the column 'editor'; 1 row could not be read" in said


@pytest.mark.parametrize("limit", [2, 3, 4, 5])
def test_a_limit_may_leave_out_labelled_cases(limit: int):
    done = judge("--limit", limit, "--json", "--report", "page.html")
    assert done.exit_code == 0, done.output
    compared = json.loads(done.stdout)["label_comparison"]
    if limit == 2:
        assert compared is None
        assert "no case within --limit 2 has a human label (column editor); later ones do" in done.stderr
        return
    assert done.stderr == ""
    assert (compared["problem"], compared["labelled_cases"]) == (None, limit - 2)
    fails = min(limit - 2, 2)
    assert f"human labels pass {limit - 2 - fails}" in Path("page.html").read_text(encoding="utf-8")


def test_a_limit_hides_no_misspelt_label():
    said = refused(run("judge", "cases.csv", "--jury", "jury.yaml", "--limit", 2, "--label-column", "editor",
                       "--pass-label", "pubish"))  # fmt: skip
    assert "no labelled case has the label 'pubish' (did you mean 'publish'?)" in said
    assert "in the column 'editr'. Did you mean 'editor'? There are: editor" in refused(
        run("judge", "cases.csv", "--jury", "jury.yaml", "--limit", 2, "--label-column", "editr")
    )


def test_labels_in_a_wrong_encoding_are_reported():
    assert run("judge", "cases.csv", "--jury", "jury.yaml", "--out", "r.jsonl").exit_code == 0
    save_as_latin_1("latin.csv", [*ROWS[:4], "e,für alle,publish"])
    options = ("--label-column", "editor", "--pass-label", "wrong")
    done = run("report", "r.jsonl", "--labels", "latin.csv", *options)
    assert done.exit_code == 0, done.output
    assert "labels may be missing; 1 row could not be read, the first of them: line 6: not UTF-8" in done.stderr
    save_as_latin_1("latin.csv", [*ROWS[:2], "e,für alle,publish"])
    said = refused(run("report", "r.jsonl", "--labels", "latin.csv", *options))
    assert "latin.csv: no case that could be read has a label in the column 'editor'; 1 row" in said


def test_a_batch_of_labels_without_any_pass_is_read_and_a_wrong_one_named_with_its_file():
    assert run("judge", "cases.csv", "--jury", "jury.yaml", "--out", "r.jsonl").exit_code == 0
    Path("labels.csv").write_text("id,editor\nc,reject\nd,reject\n", encoding="utf-8")
    given = ("r.jsonl", "--labels", "labels.csv", "--label-column", "editor", "--pass-label")
    for more in ((), ("--agreement", "--draws", 100), ("--html", "page.html")):
        done = run("report", *given, "publish", *more)
        assert done.exit_code == 0, done.output
        assert "No labelled case has a label that means PASS; all mean FAIL (reject 2)." in " ".join(
            done.stdout.split()
        )
        assert "labels.csv: no labelled case has the label 'rejct'" in refused(run("report", *given, "rejct", *more))


@pytest.mark.parametrize(("column", "mapping"), [("ground_truth", ()), ("mark", ("--map", "reference=mark"))])
@pytest.mark.parametrize("command", ["judge", "calibrate"])
def test_a_column_that_is_read_as_a_field_is_not_called_empty(column: str, mapping: tuple[str, ...], command: str):
    Path("marked.csv").write_text(f"id,answer,{column}\na,a ferry,PASS\nb,a bus,FAIL\n", encoding="utf-8")
    said = refused(run(command, "marked.csv", "--jury", "jury.yaml", "--label-column", column, *mapping))
    assert f"the column {column!r} is read as a field of the cases" in said
    assert "empty" not in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--label-column", "score"), "column score), so --label-column has no effect"),
        (("--label-column", "score", "--pass-label", "x"), "so --label-column and --pass-label have no effect"),
        (("--pass-label", "x"), "(column gold), so --pass-label has no effect"),
        (LABELS, ""),
        ((), ""),
    ],
)
def test_options_of_labels_that_standard_input_lacks_are_named(options: tuple[str, ...], said: str):
    arguments = ["judge", "-", "--jury", "jury.yaml", *options]
    result = CliRunner().invoke(app, arguments, input=HEAD + "\n".join(ROWS) + "\n")
    assert result.exit_code == 0
    assert said in " ".join(result.stderr.split())
    assert ("no case has a human label" in result.stderr) == bool(said)
