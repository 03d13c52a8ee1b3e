"""Agreement of cascades: the jurors' votes before escalation, and a warning where votes are selected."""

import io

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


def test_the_page_says_so():
    html = Report.from_results(stream(CASCADE, CASES)).to_html()
    assert "Agreement before escalation" in html
    assert "20 of 100" in html


def test_coefficients_over_selected_votes_carry_a_warning():
    report = agreement_report(Votes.from_verdicts(stream(CASCADE, CASES)), draws=0)
    assert all(any("selected" in w for w in estimate.warnings) for estimate in report.sections["Agreement"])
    early = Ensemble([juror(60), juror(70), juror(80)], schedule="early_stop", on="status")
    report = agreement_report(Votes.from_verdicts(stream(early, CASES)), draws=0)
    assert any("selected" in w for estimate in report.estimates for w in estimate.warnings)


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


def test_an_escalation_inside_a_tier_counts():
    nested = CascadedJury([Tier("inner", CASCADE)])
    terminal, page = shown(nested)
    assert "of the 100 cases with two votes or more before escalation" in terminal
    assert "<dt>Agreement before escalation</dt>" in page
    assert summary_of(nested).escalated == summary_of(CASCADE).escalated == 20
