"""Reports of judgments without their cases."""

import logging

import pytest

from jury_adapters import Case, Ensemble, InputError, Judgment, Report
from jury_adapters.checks import LengthBetween
from jury_adapters.results import JudgedRun, Run

short = LengthBetween(maximum=12)
CASES = [
    Case(question=f"Q{n}?", answer="word " * n, metadata={"id": f"row {n}", "gold": "PASS" if n < 3 else "FAIL"})
    for n in range(1, 5)
]


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.WARNING, "jury_adapters")
    return lambda: [line for line in caplog.messages if "no case" in line]


def test_a_report_of_judgments_of_a_single_judge_says_what_it_lacks(logged):
    report = Report.from_results(short.judge_many(CASES))
    assert [entry.item_id for entry in report.entries] == [None] * 4
    (line,) = logged()
    assert line.startswith("4 judgments have no case: the report has no id, text, group or human label for them.")
    assert "judge_pairs()" in line


def test_one_judgment(logged):
    Report.from_results([Judgment("FAIL")])
    assert logged()[0].startswith("1 judgment has no case: the report has no id, text, group or human label for it.")


def test_pairs_and_verdicts_have_ids_and_labels_and_need_no_warning(logged):
    for results in (short.judge_pairs(CASES), Ensemble([short]).judge_many(CASES)):
        report = Report.from_results(results)
        assert [entry.item_id for entry in report.entries] == ["row 1", "row 2", "row 3", "row 4"]
        assert report.label_comparison.to_dict()["labelled_cases"] == 4
    assert logged() == []


def test_a_group_that_no_judgment_knows_is_refused_with_what_to_give():
    with pytest.raises(InputError, match=r"for results in memory, what judge_pairs\(\) yields"):
        Report.from_results(short.judge_many(CASES), group="gold")
    assert Report.from_results(short.judge_pairs(CASES), group="gold").figures.summary.groups == 2


def test_rows_that_cannot_be_read_and_runs_without_a_case_are_not_counted(logged):
    unread = list(short.judge_pairs([{"answer": "Yes."}, {"question": {"no": object()}, "contexts": 3}]))
    assert unread[1][0] is None
    Report.from_results([*unread, JudgedRun(Run("r", error="ValueError"), None, Judgment("FAIL"))])
    assert logged() == []
