"""``jury judge`` with an early-stopping jury of recorded votes: what it says where no call is saved."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app

JURORS = "jurors: [{recorded: ann%s}, {recorded: bob%s}, {recorded: cy%s}]\n"
LABELS = ", labels: {PASS: pass, FAIL: fail}"


def judged(folder, jury, words=("PASS", "FAIL")):
    """Judge ten cases on which all jurors agree; return whether any verdict stopped early, and the messages."""
    rows = [
        {"id": f"c{at}", "answer": "x", "votes": dict.fromkeys(("ann", "bob", "cy"), words[at % 2])} for at in range(10)
    ]
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "jury.yaml").write_text(jury)
    arguments = ["judge", str(folder / "cases.jsonl"), "--jury", str(folder / "jury.yaml"), "--json"]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["stopped_early"], " ".join(done.stderr.split())


def test_jurors_whose_labels_are_not_known_are_named_as_why_no_call_is_saved(tmp_path):
    stopped, said = judged(tmp_path, "schedule: early_stop\n" + JURORS % ("", "", ""))
    assert stopped == 0
    assert "schedule: early_stop saved no calls: a label of ann, bob, cy may mean neither PASS nor FAIL" in said
    assert "give these jurors labels:, or the jury on: status" in said


@pytest.mark.parametrize(
    "jury",
    [
        "schedule: early_stop\n" + JURORS % (LABELS, LABELS, LABELS),
        "schedule: early_stop\non: status\n" + JURORS % ("", "", ""),
    ],
)
def test_both_remedies_save_calls_and_silence_the_message(tmp_path, jury):
    assert judged(tmp_path, jury) == (10, "")


def test_only_the_jurors_without_labels_are_named(tmp_path):
    stopped, said = judged(tmp_path, "schedule: early_stop\n" + JURORS % (LABELS, "", ""))
    assert stopped == 0
    assert "a label of bob, cy may mean" in said


@pytest.mark.parametrize(
    ("schedule", "words"), [("parallel", ("PASS", "FAIL")), ("early_stop", ("KEEP", "DROP"))], ids=["all", "labels"]
)
def test_other_schedules_and_votes_on_labels_have_no_message(tmp_path, schedule, words):
    _, said = judged(tmp_path, f"schedule: {schedule}\n" + JURORS % ("", "", ""), words)
    assert "early_stop" not in said
