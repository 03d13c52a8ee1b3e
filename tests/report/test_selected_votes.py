"""Agreement of cascades: the jurors' votes before escalation, and a warning where votes are selected."""

import io

import pytest
from rich.console import Console

from jury_adapters import CascadedJury, Case, Ensemble, Scorecard, Tier
from jury_adapters.calibration import Votes, agreement_report
from jury_adapters.core.batch import stream
from jury_adapters.report import Report
from jury_adapters.report.summary import Summary


def juror(limit):
    return lambda case: int(case.answer) < limit


PANEL = Ensemble([juror(60), juror(70), juror(80)], name="panel")
CASCADE = CascadedJury([Tier("panel", PANEL, "escalate_on_split"), Tier("strong", juror(75), "final")])
CASES = [Case(answer=str(number), metadata={"item_id": number}) for number in range(100)]


def summary_of(jury):
    summary = Summary()
    for item in stream(jury, CASES):
        summary.add(item.case, item.judgment, str(item.index))
    return summary


def test_agreement_is_that_of_the_panel_whatever_the_cascade_decides_by():
    cascade, panel = summary_of(CASCADE), summary_of(PANEL)
    assert cascade.mean_agreement == panel.mean_agreement < 1
    assert (cascade.with_agreement, cascade.split) == (100, 20)
    assert cascade.to_dict()["split"] == 20


@pytest.mark.slow
def test_the_page_says_so():
    html = Report.from_results(stream(CASCADE, CASES)).to_html()
    assert "Agreement before escalation" in html
    assert "20 of 100" in html


@pytest.mark.slow
def test_coefficients_over_selected_votes_carry_a_warning():
    report = agreement_report(Votes.from_verdicts(stream(CASCADE, CASES)), draws=0)
    assert all(any("selected" in w for w in estimate.warnings) for estimate in report.sections["Agreement"])
    early = Ensemble([juror(60), juror(70), juror(80)], schedule="early_stop", on="status")
    report = agreement_report(Votes.from_verdicts(stream(early, CASES)), draws=0)
    assert any("selected" in w for estimate in report.estimates for w in estimate.warnings)


LABELLED = [case.model_copy(update={"metadata": {**case.metadata, "gold": int(case.answer) < 72}}) for case in CASES]
TWO_TIERS = CascadedJury([Tier("first", PANEL, "escalate_on_split"), Tier("second", PANEL, "final")])


@pytest.mark.slow
def test_votes_that_only_split_cases_have_do_not_show_whether_jurors_err_together():
    """In the second tier, jurors differ by construction, so their errors seem independent."""
    gold = [case.metadata["gold"] for case in LABELLED]
    votes = Votes.from_verdicts(stream(TWO_TIERS, LABELLED), gold=gold)
    first = votes.jurors[:3]
    assert votes.selected == votes.jurors[3:]
    worth = agreement_report(votes, draws=0).find("effective number of votes")
    assert worth.value is None
    assert f"take only {first[0]}, {first[1]} and {first[2]}, which were asked about every case" in worth.reason
    alone = agreement_report(votes.panel(first), draws=0)
    whole = agreement_report(Votes.from_verdicts(stream(PANEL, LABELLED), gold=gold), draws=0)
    assert alone.find("effective number of votes").value == whole.find("effective number of votes").value
    assert not any("selected" in w for estimate in alone.estimates for w in estimate.warnings)
    later = agreement_report(votes.panel(votes.jurors[3:]), draws=0)
    assert later.find("effective number of votes").value is None
    unlabelled = agreement_report(Votes.from_verdicts(stream(TWO_TIERS, CASES)), draws=0)
    assert unlabelled.find("residual agreement").value is None


def test_what_compares_jurors_warns_of_selected_votes_and_what_does_not_only_where_they_are():
    votes = Votes.from_verdicts(stream(TWO_TIERS, LABELLED), gold=[case.metadata["gold"] for case in LABELLED])
    report = agreement_report(votes, draws=0)
    warned = {
        (estimate.name, estimate.subject in votes.selected)
        for estimate in report.estimates
        if any("selected" in warning for warning in estimate.warnings)
    }
    assert {("label share", False), ("dissent rate", False), ("drift", False)} <= warned
    assert ("true-positive rate", True) in warned
    assert ("true-positive rate", False) not in warned


def test_a_panel_that_asks_everybody_has_no_such_warning():
    report = agreement_report(Votes.from_verdicts(stream(PANEL, CASES)), draws=0)
    assert not any("selected" in w for estimate in report.estimates for w in estimate.warnings)


def test_a_scorecard_is_one_voter():
    card = Scorecard({"small": juror(60), "smaller": juror(40)})
    assert len(Votes.from_verdicts(stream(card, CASES)).jurors) == 1


def shown(jury):
    """The agreement as each renderer shows it."""
    report = Report.from_results(stream(jury, CASES))
    console = Console(file=io.StringIO(), width=160)
    report.summary(console)
    return console.file.getvalue(), report.to_html()


@pytest.mark.slow
def test_before_escalation_is_said_only_where_a_case_was_escalated():
    united = Ensemble([juror(60), juror(60), juror(60)], name="panel")
    for jury in (
        PANEL,
        CascadedJury([Tier("panel", PANEL)]),  # one tier
        CascadedJury([Tier("screen", juror(1000), "reject_on_any_fail"), Tier("panel", PANEL)]),  # no vote before it
        CascadedJury([Tier("panel", united, "escalate_on_split"), Tier("strong", juror(75))]),  # none escalated
    ):
        terminal, page = shown(jury)
        assert "before escalation" not in terminal + page
        assert "agreement" in terminal
        assert "<dt>Agreement</dt>" in page
        assert Report.from_results(stream(jury, CASES)).figures.summary.escalated == 0


@pytest.mark.slow
def test_an_escalation_inside_a_tier_counts():
    nested = CascadedJury([Tier("inner", CASCADE)])
    terminal, page = shown(nested)
    assert "of the 100 cases with two votes or more before escalation" in terminal
    assert "<dt>Agreement before escalation</dt>" in page
    assert summary_of(nested).escalated == summary_of(CASCADE).escalated == 20
