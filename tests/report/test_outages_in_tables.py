"""Tables of jurors in an outage: no figure rests on a verdict that there is not."""

import json
import re

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, ConfigurationError, Ensemble, Judgment, Report, judge
from jury_adapters.cli.app import app


@judge
def down(case):
    raise ConnectionError("no line")


@judge
def reader(case):
    return Judgment("PASS" if "good" in case.answer else "FAIL", label="YES" if "good" in case.answer else "NO")


def pairs(jury, **labels):
    cases = [Case(answer=answer, gold=gold) for answer, gold in (("good 1", "ok"), ("good 2", "ok"), ("poor", "bad"))]
    return jury.judge_pairs(cases if labels.get("labelled", True) else [Case(answer=case.answer) for case in cases])


def test_a_juror_does_not_differ_from_a_verdict_that_only_an_outage_made(capsys):
    Report.from_results(pairs(Ensemble([down, reader]), labelled=False)).summary()
    shown = " ".join(capsys.readouterr().out.split())
    assert "failed by errors 2, not in the pass rate" in shown
    assert re.search(r"reader [\d ]+ 0\.0 % of 1", shown), shown


def test_a_juror_that_broke_is_named_although_the_others_decided(capsys):
    @judge
    def sometimes(case):
        return 1 / 0 if "1" in case.answer else True

    report = Report.from_results(pairs(Ensemble([reader, sometimes, down, reader.named("r2")], errors="ignore")))
    report.summary()
    shown = " ".join(capsys.readouterr().out.split())
    assert "always breaks down, asked 3 times: ConnectionError: no line" in shown
    assert "broke sometimes, 1 of 3 times" in shown
    words = str(report.figures.summary)
    assert words == "3 cases: 2 of 3 decided passed (66.7 %), down broke 3 of 3 times, sometimes broke 1 of 3 times"


def test_of_many_jurors_that_broke_five_are_named():
    report = Report.from_results(Ensemble({f"j{n}": down for n in range(7)}).judge_pairs([{"answer": "good"}]))
    assert str(report.figures.summary).endswith("j4 broke 1 of 1 time, 2 more broke")


def test_labels_are_not_read_by_other_words_because_nothing_was_decided():
    found = Report.from_results(pairs(Ensemble([down.named("a"), down.named("b"), reader]))).label_comparison
    assert "name the labels that mean PASS" in found.problem
    assert not found.rows
    named = Report.from_results(pairs(Ensemble([down.named("a"), down.named("b"), reader])), pass_labels=["ok"])
    juror = next(row for row in named.label_comparison.jurors if row.name == "reader")
    assert juror.score.accuracy == 1.0


def test_a_comparison_names_the_outage_as_the_cause():
    before = Report.from_results(pairs(Ensemble([reader]), labelled=False))
    after = Report.from_results([Judgment("ERROR", error="down", critic="reader")] * 3)
    assert all(
        "the judge broke in one of the runs" in flip.why or "reader" in flip.why for flip in before.compare(after).flips
    )
    with pytest.raises(ConfigurationError, match=r"takes a Report.*Report\.from_results"):
        before.compare([1])


def test_balanced_accuracy_needs_two_labels_among_the_decided_cases():
    report = Report.from_results(Ensemble([reader]).judge_pairs([Case(answer="good", gold="PASS")] * 1))
    assert report.label_comparison.jury.score.balanced_accuracy is None
    assert report.label_comparison.jury.score.accuracy == 1.0


def test_results_have_a_name_that_other_commands_read(tmp_path):
    cases = tmp_path / "a.jsonl"
    cases.write_text(json.dumps({"question": "q", "answer": "a", "contexts": ["c"]}))
    done = CliRunner().invoke(app, ["judge", str(cases), "--out", str(tmp_path / "odd.out")])
    assert done.exit_code == 2
    assert "give a name that ends in .jsonl" in done.stderr
    assert not (tmp_path / "odd.out").exists()
