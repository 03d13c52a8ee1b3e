"""Agreement of cascades: the jurors' votes before escalation, and a warning where votes are selected."""

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
    html = Report.of(stream(CASCADE, CASES)).to_html()
    assert "Agreement before escalation" in html
    assert "20 of 100" in html


def test_coefficients_over_selected_votes_carry_a_warning():
    report = agreement_report(Votes.from_verdicts(stream(CASCADE, CASES)), draws=0)
    assert all(any("selected" in w for w in finding.warnings) for finding in report.sections["Agreement"])
    early = Ensemble([juror(60), juror(70), juror(80)], schedule="early_stop", on="status")
    report = agreement_report(Votes.from_verdicts(stream(early, CASES)), draws=0)
    assert any("selected" in w for finding in report.findings for w in finding.warnings)


def test_a_panel_that_asks_everybody_has_no_such_warning():
    report = agreement_report(Votes.from_verdicts(stream(PANEL, CASES)), draws=0)
    assert not any("selected" in w for finding in report.findings for w in finding.warnings)


def test_a_scorecard_is_one_voter():
    card = Scorecard({"small": juror(60), "smaller": juror(40)})
    assert len(Votes.from_verdicts(stream(card, CASES)).jurors) == 1
