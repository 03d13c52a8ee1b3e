"""Agreement of juries that stop early: a selection of the votes, which every form of the report says."""

from typing import Any

import pytest

from jury_adapters import Case, Ensemble, Scorecard
from jury_adapters.checks import LengthBetween
from jury_adapters.report import Report

NOTE = "stopped early: some jurors were asked only where the votes before were open, so the agreement is biased"
CASES = [Case(question=f"q{number}", answer="a" * number) for number in range(1, 7)]


def panel(schedule: Any = "early_stop") -> Ensemble:
    jurors = [LengthBetween(minimum=least, name=f"at least {least}") for least in (1, 4, 5)]
    return Ensemble(jurors, schedule=schedule)


def report_of(jury: Any) -> Report:
    return Report.from_results(list(jury.judge_pairs(CASES)))


def test_the_terminal_counts_verdicts_that_were_stopped_early(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def printed(report: Report) -> str:
        report.summary()
        return " ".join(capsys.readouterr().out.split())

    early, every = report_of(panel()), report_of(panel("parallel"))
    stopped = early.figures.summary.stopped_early
    assert 0 < stopped < len(CASES)
    assert f"; {stopped} {NOTE}" in printed(early)
    assert NOTE not in printed(every)


def test_the_table_of_criteria_says_it_too() -> None:
    report = report_of(Scorecard({"long": panel()}))
    (count,) = report.figures.summary.by_criterion.values()
    assert f", {count.stopped_early} stopped early" in count.agreement_words
    assert f"Of these, {count.stopped_early} {NOTE}." in report.to_markdown()
    assert NOTE not in report_of(Scorecard({"long": panel("parallel")})).to_markdown()
