"""The labels that mean PASS are kept with the results, also for labels that all mean FAIL."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app

JURY = "name: checks\njurors:\n  text: {check: not_empty}\n  short: {check: contains, texts: [short]}\n"
OWN = ["fine", "poor", "fine", "rude", "fine", "poor"]


def jury(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Results of six labelled cases, judged with their PASS label."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"c{n}", "answer": "short" if n % 3 else "a long answer of many words", "gold": gold}
        for n, gold in enumerate(OWN)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text(JURY)
    done = jury("judge", "cases.jsonl", "--jury", "jury.yaml", "--out", "out.jsonl", "--pass-label", "fine")
    assert done.exit_code == 0, done.output
    return tmp_path


def labels(folder, by_id):
    path = folder / "labels.csv"
    path.write_text("id,gold\n" + "".join(f"{name},{label}\n" for name, label in by_id.items()))
    return path


@pytest.mark.parametrize(
    ("by_id", "counted"),
    [
        ({"c1": "poor", "c3": "poor"}, "pass 0 and fail 2 (poor)"),
        ({"c1": "poor", "c3": "rude", "c5": "rude"}, "pass 0 and fail 3 (rude 2, poor 1)"),
        ({"c1": "poor", "c2": "fine"}, "pass 1 (fine) and fail 1 (poor)"),
    ],
    ids=["one word", "two words", "both"],
)
@pytest.mark.parametrize("options", [[], ["--pass-label", "fine"]], ids=["kept", "given again"])
def test_labels_in_the_words_of_the_run_have_figures(judged, by_id, counted, options):
    file = labels(judged, by_id)
    for agreement in ([], ["--agreement"]):
        done = jury("report", "out.jsonl", "--labels", file, *options, *agreement)
        assert done.exit_code == 0, done.output
        assert counted in done.stdout


def test_the_own_labels_of_a_run_may_all_mean_fail(judged):
    rows = [json.loads(line) for line in (judged / "cases.jsonl").read_text().splitlines()]
    poor = [row | {"gold": "poor"} for row in rows if row["gold"] != "fine"]
    (judged / "poor.jsonl").write_text("".join(json.dumps(row) + "\n" for row in poor))
    done = jury("judge", "poor.jsonl", "--jury", "jury.yaml", "--out", "poor_out.jsonl", "--pass-label", "fine")
    assert done.exit_code == 0, done.output
    for agreement in ([], ["--agreement"]):
        assert "pass 0 and fail 3 (poor)" in jury("report", "poor_out.jsonl", *agreement).stdout
    read = Votes.from_results(judged / "poor_out.jsonl")
    assert [read.labels[code] for code in read.gold.tolist()] == ["FAIL"] * 3


@pytest.mark.parametrize(
    ("by_id", "said"),
    [
        ({"c1": "good", "c3": "good"}, "human labels are good 2"),
        ({"c1": "good", "c3": "poor"}, "human labels are good 1, poor 1"),
        ({"c1": "PASS", "c3": "PASS"}, "pass 2 and fail 0"),
        ({"c1": "PASS", "c3": "FAIL"}, "pass 1 and fail 1"),
    ],
    ids=["new words", "a new word too", "PASS", "PASS and FAIL"],
)
def test_labels_in_other_words_are_not_read_by_the_words_of_the_run(judged, by_id, said):
    assert said in jury("report", "out.jsonl", "--labels", labels(judged, by_id)).stdout
