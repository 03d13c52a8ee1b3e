"""Parts of the page: what has nothing to say is left out, and every table and number says what it is."""

import re
from html import unescape

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Scorecard, Tier, Usage
from jury_adapters.report import Report
from tests.report.test_report_page import Page, rows_and_details


def titles(report):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", report.to_html())


def figures(report):
    return [unescape(name) for name in re.findall(r"<dt[^>]*>(.*?)</dt>", report.to_html())]


def says(name, answer):
    return Judge.from_function(lambda case: answer(int(case.answer)), name=name)


PANEL = Ensemble([says("a", lambda n: n % 2 == 0), says("b", lambda n: n % 3 == 0), says("c", lambda n: n % 2 == 0)])
CASES = [
    Case(answer=str(at), metadata={"item_id": f"q{at}", "gold": "good" if at in (0, 2, 3) else "bad"})
    for at in range(6)
]


@pytest.mark.slow
def test_verdicts_alone_have_a_rate_and_cases_and_nothing_else():
    report = Report.from_results([Judgment("PASS")] * 3)
    assert titles(report) == ["Cases"]
    assert figures(report) == ["Passed", "Failed", "Needs review"]
    assert "0 jurors" not in report.to_html()


@pytest.mark.slow
def test_labels_without_a_meaning_have_no_counts_of_pass_and_fail():
    assert figures(Report.from_results([Judgment(None, label="KEEP")] * 3)) == ["KEEP", "Needs review"]


@pytest.mark.slow
def test_what_happened_is_shown():
    judgments = [Judgment("ABSTAIN", reasoning="?"), Judgment("ERROR", error="down"),
                 Judgment("PASS", usage=Usage(calls=1, cost_usd=0.1))]  # fmt: skip
    assert figures(Report.from_results(judgments)) == [
        "Passed", "Failed", "Abstained", "Errors", "Needs review", "Cost",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_jury_against_people_comes_first_with_its_share_of_agreement_in_one_line():
    report = Report.from_results(PANEL.judge_pairs(CASES), pass_labels=["good"])
    assert titles(report)[0] == "Against human labels"
    page = report.to_html()
    told = page.partition('id="human-labels"')[2].partition("<table>")[0]
    right = report.label_comparison.jury.accuracy
    assert (right.hits, right.n) == (4, 6)
    assert '<p class="big small">66.7 %</p>' in told
    assert "of the 6 labelled cases that the jury decided agree with the human label; 95 % interval 30.0 %" in told
    assert titles(Report.from_results(PANEL.judge_many(Case(answer=str(at)) for at in range(6))))[0] == "Jurors"


@pytest.mark.slow
def test_agreement_is_explained_where_it_is_shown():
    page = Report.from_results(PANEL.judge_pairs(CASES)).to_html()
    tile = page.partition("<dt>Agreement</dt>")[2].partition("</div>")[0]
    assert "The share of pairs of jurors that say the same, on average of 6 cases" in tile
    section = page.partition('<h2 id="agreement">')[2].partition("</section>")[0]
    assert "Two jurors picked at random give the same answer on" in section
    assert "Agreement says how often jurors say the same, not whether they are right." in section
    assert "Agreement of a case: the share of pairs of its jurors" in page
    assert "Agreement of a case" not in Report.from_results([Judgment("PASS")] * 3).to_html()


@pytest.mark.slow
def test_every_heading_of_a_table_says_what_it_heads():
    report = Report.from_results(PANEL.judge_pairs(CASES), pass_labels=["good"])
    card = Report.from_results(Scorecard({"one": PANEL, "two": says("d", lambda n: n > 2)}).judge_pairs(CASES))
    other = Report.from_results(says("x", lambda n: n > 1).judge_pairs(CASES))
    for html in (report.to_html(compared=other.compare(report)), card.to_html()):
        headings = Page(html).found("th")
        assert len(headings) > 20
        assert {attributes.get("scope") for attributes, _ in headings} == {"col", "row"}
        assert html.count("<table>") == html.count('<tbody>\n<tr><th scope="row"')


@pytest.mark.slow
def test_each_case_knows_its_tier_its_label_and_who_dissents():
    jury = CascadedJury([Tier("panel", PANEL, "escalate_on_split"), Tier("last", says("d", lambda n: n % 2 == 0))])
    report = Report.from_results(jury.judge_pairs(CASES), pass_labels=["good"])
    rows, _ = rows_and_details(Page(report.to_html()))
    assert [row["human"] for row in rows] == ["agrees", "agrees", "agrees", "false fail", "false pass", "agrees"]
    assert [row["tier"] for row in rows] == ["panel", "panel", "last", "last", "last", "panel"]
    assert [row.get("split", False) for row in rows] == [False, False, True, True, True, False]
    assert [row.get("against", []) for row in rows] == [[], [], ["b"], ["b"], ["b"], []]
    counted = report.figures.summary
    assert counted.split == sum(row.get("split", False) for row in rows)
    assert {juror.name: juror.count.dissents for juror in report.figures.jurors} == {"a": 0, "b": 3, "c": 0, "d": 0}


@pytest.mark.slow
def test_cases_are_not_set_beside_labels_that_cannot_be_compared():
    report = Report.from_results(PANEL.judge_pairs(CASES))
    assert "name the labels that mean PASS" in report.label_comparison.problem
    rows, _ = rows_and_details(Page(report.to_html()))
    assert not any("human" in row for row in rows)


def test_other_labels_agree_or_differ():
    judgments = [Judgment(None, label=word) for word in ("KEEP", "DROP", "KEEP")]
    cases = [Case(answer=str(at), metadata={"gold": "KEEP" if at else "DROP"}) for at in range(3)]
    rows, _ = rows_and_details(Page(Report.from_results(zip(cases, judgments, strict=True)).to_html()))
    assert [row["human"] for row in rows] == ["differs", "differs", "agrees"]


@pytest.mark.slow
def test_criteria_and_screening_tiers_do_not_dissent():
    card = Report.from_results(
        Scorecard({"one": says("a", bool), "two": says("b", lambda n: n > 2)}).judge_pairs(CASES)
    )
    screened = Report.from_results(
        CascadedJury(
            [
                Tier("screen", says("s", lambda n: n != 1), "reject_on_any_fail"),
                Tier("last", says("d", lambda n: n > 2)),
            ]
        ).judge_pairs(CASES)
    )
    for report in (card, screened):
        rows, _ = rows_and_details(Page(report.to_html()))
        assert not any("against" in row for row in rows)
