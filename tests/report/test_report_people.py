"""Reports of cases that people labelled: the jury against human labels comes first, with one set of figures."""

import html
import re
from io import StringIO

import pytest
from rich.console import Console

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Tier
from jury_adapters.calibration import Votes, agreement_report, calibrate
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.human_labels import UnclearLabels
from jury_adapters.report import Report


def cases(n=80):
    """Every fifth is bad."""
    return [
        Case(answer=f"answer {i}", metadata={"item_id": f"c{i}", "gold": "bad" if i % 5 == 0 else "good"})
        for i in range(n)
    ]


def says(name, wrong_every):
    """A juror that answers PASS and FAIL, and is wrong on every so many cases."""

    def judge(case):
        number = int(case.answer.split()[1])
        return Judgment("PASS" if (number % 5 != 0) != (number % wrong_every == 0) else "FAIL", confidence=0.9)

    return FunctionJudge(judge, name=name)


PANEL = Ensemble([says("a", 7), says("b", 11), says("c", 13)], name="panel")


def text_of(report):
    console = Console(width=120, file=StringIO(), highlight=False)
    report.summary(console)
    return console.file.getvalue()


@pytest.mark.slow
def test_page_terminal_markdown_and_python_have_one_set_of_figures():
    judged = list(PANEL.judge_pairs(cases()))
    report = Report.from_results(judged, pass_labels=["good"])
    row = report.label_comparison.jury
    assert row.false_passes.n == 16
    page, terminal, markdown = html.unescape(report.to_html()), text_of(report), report.to_markdown()
    assert page.index('id="human-labels"') < page.index('aria-label="Result"')
    assert terminal.index("Against human labels") < terminal.index("  passed ")
    assert markdown.index("Against human labels") < markdown.index(" passed**")
    section = re.search(r'aria-labelledby="human-labels">(.*?)</section>', page, re.DOTALL)[1]
    for who in report.label_comparison.rows:
        for cell in who.cells():
            assert all(cell.value in shown for shown in (section, terminal, markdown))
            assert all(cell.interval in shown for shown in (section, markdown))
            assert all(cell.counts in shown for shown in (section, markdown))
        for cell in who.cells()[1:]:  # of the decided, the terminal shows the counts
            assert cell.interval.replace(" to ", "-").removesuffix(" %") in terminal


@pytest.mark.slow
def test_the_analysis_of_the_page_knows_which_labels_pass():
    judged = list(PANEL.judge_pairs(cases()))
    told = agreement_report(Votes.from_verdicts([verdict for _, verdict in judged], pass_label="good")).to_dict()
    report = Report.from_results(judged, pass_labels=["good"]).agreement.report
    assert report.to_dict()["label_comparison"] == told["label_comparison"]
    assert (
        report.find("drift", "a").to_dict()
        == agreement_report(Votes.from_verdicts([verdict for _, verdict in judged], pass_label=["good"]))
        .find("drift", "a")
        .to_dict()
    )
    assert report.labelled == 80
    without = Report.from_results(judged)
    assert "name the labels that mean PASS" in without.label_comparison.problem
    assert "gold labels were left out" in without.agreement.note


def test_a_label_that_no_case_has_is_refused_and_one_text_too():
    judged = list(PANEL.judge_pairs(cases(10)))
    with pytest.raises(UnclearLabels, match="did you mean 'good'"):
        Report.from_results(judged, pass_labels=["god"])
    with pytest.raises(ConfigurationError, match="list of labels"):
        Report.from_results(judged, pass_labels="good")
    with pytest.raises(UnclearLabels, match="did you mean 'good'"):
        Votes.from_verdicts([verdict for _, verdict in judged], pass_label=["good", "god"])


def test_several_labels_may_mean_pass():
    gold = ["good", "fine", "bad", "bad"]
    pairs = [
        (Case(answer=f"{n}", metadata={"gold": label}), says("a", 1000).judge(answer=f"answer {n + 1}"))
        for n, label in enumerate(gold)
    ]
    report = Report.from_results(pairs, pass_labels=["good", "fine"])
    assert report.label_comparison.to_dict()["pass_labels"] == ["good", "fine"]
    votes = Votes.from_verdicts([verdict for _, verdict in pairs], gold=gold, pass_label=["good", "fine"])
    assert (votes.labels, votes.pass_label, votes.gold.tolist()) == (("FAIL", "PASS"), "PASS", [1, 1, 0, 0])


@pytest.mark.slow
def test_the_tier_in_which_a_calibrated_jury_abstains_is_no_juror():
    def sure(case):
        number = int(case.answer.split()[1])
        right = number % 4 != 0
        return Judgment("PASS" if (number % 5 != 0) == right else "FAIL", confidence=0.95 if right else 0.2)

    jury = CascadedJury([Tier("one", FunctionJudge(sure, name="sure"))], name="cascade")
    labelled = cases(200)
    calibrated = calibrate(jury, labelled, 0.9, 0.1, pass_labels=["good"])
    report = Report.from_results(calibrated.judge_pairs(labelled), pass_labels=["good"])
    figures = report.figures
    if not any(verdict.judgment.status == "ABSTAIN" for verdict in report.entries):
        pytest.fail("the test needs cases on which the jury abstains")
    assert {juror.name for juror in figures.jurors} == {"sure"}
    assert {path[-1] for path in figures.summary.jurors} == {"sure"}
    assert "abstained" in figures.summary.tiers  # the tier stays in the table of tiers
    assert [row.name for row in report.label_comparison.jurors] == ["sure"]
    assert not [column for column in report.to_rows()[0] if column.startswith("vote:abstained")]
    assert Votes.from_verdicts([entry.judgment for entry in report.entries], pass_label="good").jurors == ("sure",)


def test_votes_of_a_part_of_a_batch_are_compared_too():
    votes = Votes.from_verdicts([verdict for _, verdict in PANEL.judge_pairs(cases())], pass_label="good")
    part = agreement_report(votes.take(range(40)), draws=0).label_comparison
    assert (part.cases, part.jury, len(part.jurors)) == (40, None, 3)
    one = agreement_report(votes.panel(["b"]), draws=0).label_comparison
    assert (one.cases, one.jury, [row.name for row in one.jurors]) == (80, None, ["b"])


def test_measured_scores_are_no_labels():
    rows = [{"item_id": f"{n}", "votes": {"m": {"score": n / 97}}, "gold": n % 2} for n in range(60)]
    assert agreement_report(Votes.from_recorded(rows), draws=0).label_comparison is None
