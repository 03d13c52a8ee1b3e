"""``--labels`` and ``--label-column``: human labels beside the cases, in every command that reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app

SAID = ["good", "bad", "good", "good", "bad", "good"]  # the jury passes the first three of six


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cases with labels in the column `human`, the same without labels, labels by id, and results of both."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"c{n}", "answer": "a ferry" if n < 3 else f"a bus {n}"} for n in range(6)]
    labelled = [{**row, "human": label, "gold": "bad"} for row, label in zip(rows, SAID, strict=True)]
    write("cases.jsonl", rows)
    write("human.jsonl", labelled)
    write("gold.jsonl", [{**row, "gold": label} for row, label in zip(rows, SAID, strict=True)])
    (tmp_path / "labels.csv").write_text(
        "id,human\n" + "".join(f"c{n},{label}\n" for n, label in enumerate(SAID)), encoding="utf-8"
    )
    (tmp_path / "jury.yaml").write_text("jurors: [{check: contains, name: a, texts: [ferry]}, {check: not_empty}]\n")
    (tmp_path / "one.yaml").write_text("jurors: [{recorded: a}]\n")
    for name in ("cases", "human", "gold"):
        done = run("judge", f"{name}.jsonl", "--jury", "jury.yaml", "--out", f"{name}_results.jsonl")
        assert done.exit_code == 0, done.output
    return tmp_path


def write(name: str, rows: list[dict[str, object]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run(*arguments: object, typed: str = "") -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=typed, catch_exceptions=False)


def against(*arguments: object) -> dict[str, object]:
    result = run(*arguments, "--pass-label", "good", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    figures = (told[0] if isinstance(told, list) else told)["label_comparison"]
    return {name: value for name, value in figures.items() if name != "column"}


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


FILE = ("--labels", "labels.csv", "--label-column", "human")
COLUMN = ("--label-column", "human")
REPLAY = ("--jury", "one.yaml")
AGREEMENT = ("--agreement", "--draws", 100)


@pytest.mark.slow
@pytest.mark.parametrize("options", [("cases_results.jsonl", *FILE), ("human_results.jsonl", *COLUMN)])
def test_report_and_replay_read_the_same_labels(options: tuple[str, ...]):
    expected = against("report", "gold_results.jsonl")
    assert expected["labels"] == {"good": 4, "bad": 2}
    assert against("report", *options) == expected
    assert against("report", *options, *AGREEMENT) == against("report", "gold_results.jsonl", *AGREEMENT)
    assert against("replay", *options, *REPLAY) == against("replay", "gold_results.jsonl", *REPLAY)


@pytest.mark.slow
def test_agreement_reads_labels_beside_the_cases():
    expected = against("report", "gold_results.jsonl", *AGREEMENT)
    assert against("report", "cases_results.jsonl", *AGREEMENT, "--cases", "human.jsonl", *COLUMN) == expected
    assert against("report", "cases_results.jsonl", *AGREEMENT, "--cases", "cases.jsonl", *FILE) == expected
    (grouped,) = {
        run("report", name, *AGREEMENT, "--pass-label", "good", "--group", "answer", *options).stdout
        for name, options in {
            "gold_results.jsonl": ("--cases", "gold.jsonl"),
            "cases_results.jsonl": (*FILE, "--cases", "cases.jsonl"),
        }.items()
    }
    assert "groups" in grouped


@pytest.mark.slow
def test_recorded_votes_take_both():
    votes = [{"item_id": f"c{n}", "votes": {"a": {"label": "good" if n < 3 else "bad"}}} for n in range(6)]
    write("votes.jsonl", votes)
    write("named.jsonl", [{**row, "human": label} for row, label in zip(votes, SAID, strict=True)])
    write("labelled.jsonl", [{**row, "gold": label} for row, label in zip(votes, SAID, strict=True)])
    (Path.cwd() / "voted.yaml").write_text("jurors: [{recorded: a, labels: {good: pass, bad: fail}}]\n")
    expected = against("report", "labelled.jsonl", *AGREEMENT)
    assert against("report", "votes.jsonl", *AGREEMENT, *FILE) == expected
    assert against("report", "named.jsonl", *AGREEMENT, *COLUMN) == expected
    expected = against("replay", "labelled.jsonl", "--jury", "voted.yaml")
    assert against("replay", "votes.jsonl", "--jury", "voted.yaml", *FILE) == expected
    assert against("replay", "named.jsonl", "--jury", "voted.yaml", *COLUMN) == expected


@pytest.mark.slow
def test_judge_reads_a_column_of_the_cases(folder: Path):
    expected = against("judge", "gold.jsonl", "--jury", "jury.yaml", "--report", "gold.html")
    assert against("judge", "human.jsonl", "--jury", "jury.yaml", *COLUMN, "--report", "human.html") == expected
    pages = [(folder / f"{name}.html").read_text(encoding="utf-8") for name in ("gold", "human")]
    shown = [page[page.index("of which human labels pass") :][:80] for page in pages]
    assert shown[0] == shown[1]
    assert "no case has a label in the column 'humn'. Did you mean 'human'? There are: gold, human, id" in refused(
        "judge", "human.jsonl", "--jury", "jury.yaml", "--label-column", "humn"
    )


@pytest.mark.slow
def test_calibrate_reads_labels_beside_the_cases():
    rows = [{"id": f"c{n}", "answer": "a ferry"} for n in range(40)]
    write("cases40.jsonl", rows)
    write("labels40.jsonl", [{"id": row["id"], "human": "good"} for row in rows[:35]])
    write("gold40.jsonl", [{**row, "gold": "good"} for row in rows[:35]])
    (Path.cwd() / "sure.yaml").write_text("jurors: [{check: not_empty}]\n")
    options = ("--jury", "sure.yaml", "--pass-label", "good", "--json")
    beside = run("calibrate", "cases40.jsonl", "--labels", "labels40.jsonl", *COLUMN, *options)
    assert beside.exit_code == 0, beside.output
    assert "5 of 40 cases have no label" in beside.stderr
    within, beside_told = json.loads(run("calibrate", "gold40.jsonl", *options).stdout), json.loads(beside.stdout)
    within.pop("calibrated_on", None), beside_told.pop("calibrated_on", None)
    assert beside_told == within


@pytest.mark.parametrize("command", [("report",), ("report", *AGREEMENT), ("replay", *REPLAY)], ids=str)
class TestMistakes:
    @pytest.mark.slow
    def test_labels_given_as_cases(self, command: tuple[str, ...]):
        asked = run("review", "cases_results.jsonl", "--only", "all", "--by", "ann", typed="p\n" * 6)
        assert asked.exit_code == 0, asked.output
        assert "give it as --labels labels.jsonl" in refused(*command, "cases_results.jsonl", "--cases", "labels.jsonl")
        assert run(*command, "cases_results.jsonl", "--labels", "labels.jsonl").exit_code == 0
        told = refused(*command, "cases_results.jsonl", "--labels", "labels.jsonl", *COLUMN)
        assert "labels into the column 'gold'; leave out --label-column" in told

    @pytest.mark.slow
    def test_no_such_column(self, command: tuple[str, ...]):
        told = refused(*command, "cases_results.jsonl", "--labels", "labels.csv")
        assert "no case has a label in the column 'gold'; name it with --label-column. There are: human, id" in told
        told = refused(*command, "cases_results.jsonl", "--label-column", "humn")
        assert "no case has a label in the column 'humn'; name it with --label-column" in told

    @pytest.mark.slow
    def test_labels_of_other_cases(self, command: tuple[str, ...]):
        write("others.jsonl", [{"id": "x", "gold": "good"}])
        told = refused(*command, "cases_results.jsonl", "--labels", "others.jsonl")
        assert "others.jsonl: none of its labels is of a case of cases_results.jsonl" in told

    @pytest.mark.slow
    def test_two_labels_of_one_case(self, command: tuple[str, ...]):
        write("twice.jsonl", [{"id": "c1", "gold": "good"}, {"id": "c1", "gold": "bad"}])
        told = refused(*command, "cases_results.jsonl", "--labels", "twice.jsonl")
        assert "twice.jsonl, line 2: c1 has the labels good and bad; an answer has one label" in told

    @pytest.mark.slow
    def test_no_such_file(self, command: tuple[str, ...]):
        assert "nowhere.jsonl" in refused(*command, "cases_results.jsonl", "--labels", "nowhere.jsonl")


@pytest.mark.slow
def test_the_old_option_is_none():
    assert "No such option: --gold" in refused("calibrate", "gold.jsonl", "--jury", "jury.yaml", "--gold", "human")
