"""Critics decide an empty answer without asking a model. Such votes show nothing about the jurors."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest
from rich.console import Console

from jury_adapters import CascadedJury, Case, Critic, Ensemble, Judgment, Status, Tier, Verdict, judge
from jury_adapters.calibration import Votes
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.values import FrozenDict
from jury_adapters.report import Report
from jury_adapters.testing import ScriptedModel

REPLIES = {"ann": "YES NO YES YES NO NO", "bob": "YES YES NO YES NO YES", "cid": "NO YES YES NO NO NO"}


def critics(**options: object) -> list[Critic]:
    return [
        Critic(ScriptedModel(said.split()), "faithfulness", name=name, **options)  # type: ignore[arg-type]
        for name, said in REPLIES.items()
    ]


def cases(answers: Sequence[str]) -> list[Case]:
    return [
        Case(question=f"q{at}", answer=answer, contexts=["In 2018."], metadata={"gold": "PASS" if answer else "FAIL"})
        for at, answer in enumerate(answers)
    ]


SPOKEN = [f"In {year}." for year in range(2010, 2016)]
MIXED = [answer for spoken in SPOKEN for answer in (spoken, " ")]


def report_of(answers: Sequence[str]) -> Report:
    return Report.from_results(Ensemble(critics()).judge_pairs(cases(answers)))


def figures_of(report: Report) -> dict[str, object]:
    """Return what a report says about its jurors."""
    figures = report.figures
    votes = {juror.name: dict(juror.count.votes) for juror in figures.jurors}
    kappas = {juror.name: juror.kappa for juror in figures.jurors}
    dissents = {juror.name: (juror.count.dissents, juror.count.compared) for juror in figures.jurors}
    rows = [row for row in report.label_comparison.rows if row.kind == "juror"]
    accuracy = {row.name: (row.score.right, row.score.decided, row.score.cases) for row in rows}
    assert report.agreement.report is not None
    measured = {
        (estimate.name, estimate.subject): estimate.value
        for section in ("Agreement", "Labels", "Independence")
        for estimate in report.agreement.sections.get(section, ())
    }
    return {
        "votes": votes, "kappas": kappas, "dissents": dissents, "accuracy": accuracy, "measured": measured,
        "agreement": report.figures.summary.mean_agreement, "pairs": figures.pairs,
    }  # fmt: skip


def test_empty_answers_change_no_figure_of_the_jurors():
    assert figures_of(report_of(MIXED)) == figures_of(report_of(SPOKEN))


def test_they_count_in_the_verdicts():
    summary = report_of(MIXED).figures.summary
    assert (summary.cases, summary.empty_answers) == (12, 6)
    assert summary.statuses[Status.FAIL] == 6 + report_of(SPOKEN).figures.summary.statuses[Status.FAIL]


def test_models_that_do_not_exist_do_not_agree():
    down = Ensemble([Critic(ScriptedModel([RuntimeError("404")]), "faithfulness", name=name) for name in "ab"])
    found = down.judge(answer="", question="q", contexts=["x"])
    assert (found.status, found.agreement, found.agreement_band) == (Status.FAIL, None, None)
    assert "agreement" not in str(found)


def test_a_verdict_that_was_written_and_read_has_no_agreement_either():
    found = Ensemble(critics()).judge(cases([""])[0])
    read = judgment_from_dict(json.loads(found.to_json()))
    assert isinstance(read, Verdict)
    assert read == found
    assert (read.agreement, read.disagreement) == (None, False)


@pytest.mark.parametrize("passes", [True, False])
def test_beside_a_check_that_looks_at_the_answer_only_its_vote_is_one(passes):
    check = judge(lambda case: passes, name="check")
    found = Ensemble([check, *critics()]).judge(cases([""])[0])
    assert (found.status, found.agreement, found.disagreement) == (Status.FAIL, None, False)
    other = judge(lambda case: not passes, name="other")
    assert Ensemble([check, other, *critics()]).judge(cases([""])[0]).agreement == 0.0


def test_several_samples_of_an_empty_answer_are_no_votes():
    jury = Ensemble([*critics(samples=3)])
    report = Report.from_results(jury.judge_pairs(cases(["", " \n"])))
    assert report.figures.summary.mean_agreement is None
    assert all(juror.count.asked == 0 for juror in report.figures.jurors)


def test_a_tier_of_critics_that_asked_no_model_has_no_agreement():
    cascade = CascadedJury(
        [Tier("small", Ensemble(critics()), "escalate_on_split"), Tier("large", Ensemble(critics()))]
    )
    found = cascade.judge(cases([""])[0])
    assert (found.status, found.agreement, found.stopped_at) == (Status.FAIL, None, "small")


@pytest.mark.parametrize("entry", [True, False])
def test_an_entry_of_that_name_in_the_metadata_of_another_judge_means_nothing(entry):
    def says(passes):
        return lambda case: Judgment("PASS" if passes else "FAIL", metadata=FrozenDict({"empty_answer": entry}))

    found = Ensemble([says(True), says(True), says(False)]).judge(answer="In 2018.")
    assert (found.status, found.agreement, found.disagreement) == (Status.PASS, 1 / 3, True)


def test_where_all_answers_are_empty_the_report_says_that_there_is_no_agreement():
    report = report_of(["", "", ""])
    assert report.figures.summary.mean_agreement is None
    assert all(estimate.value is None for estimate in report.agreement.sections.get("Agreement", ()))


def test_votes_for_a_calibration_leave_them_out():
    votes = Votes.from_verdicts(list(Ensemble(critics()).judge_many(cases(MIXED))))
    assert int((votes.codes >= 0).sum()) == 18


def test_the_report_says_how_many_there_are():
    report = report_of(MIXED)
    written = io.StringIO()
    report.summary(Console(file=written, width=120))
    said = "6 empty answers without a model: in no figure of the jurors"
    assert said in written.getvalue()
    assert said in report.to_markdown()
    assert "Empty answers without a model</dt><dd>6</dd>" in report.to_html()
    assert report.figures.summary.to_dict()["empty_answers"] == 6
    assert "empty answer" not in report_of(SPOKEN).to_markdown()


def test_the_row_of_a_case_still_shows_the_votes():
    row = report_of(MIXED).to_rows()[1]
    assert (row["status"], row["vote:ann"], row["agreement"]) == ("FAIL", "FAIL", None)
