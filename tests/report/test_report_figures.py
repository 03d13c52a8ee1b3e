"""The numbers of a report."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Tier, Usage
from jury_adapters.core.batch import stream
from jury_adapters.report import Report
from jury_adapters.report.embedded import Embedding
from jury_adapters.report.figures import contest, histogram
from jury_adapters.report.late_texts import LateTexts
from jury_adapters.report.plots import heat_map


def juror(name, says, *, cost=0.0, score=None):
    """A juror that says PASS where its word, at the case's position, is P; A abstains, E breaks."""

    def judge(case):
        word = says[int(case.metadata["at"])]
        if word == "E":
            raise TimeoutError("no answer")
        status = {"P": "PASS", "F": "FAIL", "A": "ABSTAIN"}[word]
        usage = Usage(input_tokens=10, output_tokens=2, calls=1, cost_usd=cost)
        return Judgment(status, score=score if word in "PF" else None, usage=usage, model=f"{name}-1", reasoning="r")

    return Judge.from_function(judge, name=name)


def figures_of(jury, n):
    return Report.from_results(stream(jury, [Case(answer="x", metadata={"at": at}) for at in range(n)])).figures


def test_jurors_are_counted_with_kappa_cost_and_errors():
    jury = Ensemble([juror("a", "PPFF"), juror("b", "PPFF", cost=0.25, score=0.95), juror("c", "PFAE")])
    a, b, c = figures_of(jury, 4).jurors
    assert (a.name, a.asked, a.pass_rate, a.errors, a.model) == ("a", 4, 0.5, 0, "a-1")
    assert (c.asked, c.errors, c.count.votes["ABSTAIN"]) == (4, 1, 1)
    assert (b.usage.cost_usd, b.usage.input_tokens, b.scores) == (1.0, 40, (0,) * 9 + (4,))
    assert 0 <= b.seconds <= b.slowest
    # a and b: on the second case the others tie, so three cases are compared, all alike
    assert (a.kappa, a.compared) == (1.0, 3)
    assert c.compared == 2


def test_pairs_hold_share_and_kappa():
    figures = figures_of(Ensemble([juror("a", "PPFF"), juror("b", "PFFF")]), 4)
    pair = figures.pairs[0, 1]
    assert (pair.n, pair.share) == (4, 0.75)
    assert pair.kappa == pytest.approx(0.5)


def test_tiers_add_up_their_cost_and_early_splits_count_as_contested():
    small = Ensemble([juror("a", "PPPP", cost=0.1), juror("b", "PPFP", cost=0.1), juror("c", "PPPP", cost=0.1)])
    jury = CascadedJury([Tier("small", small, "escalate_on_split"), Tier("large", juror("d", "PPPP", cost=1.0))])
    figures = figures_of(jury, 4)
    first, last = figures.tiers
    assert (first.name, first.count.reached, first.count.stopped.total()) == ("small", 4, 3)
    assert first.usage.cost_usd == pytest.approx(1.2)
    assert (last.count.reached, last.usage.cost_usd) == (1, 1.0)
    assert figures.agreement == figures.summary.mean_agreement == pytest.approx(10 / 12)  # of all, before escalation
    assert (figures.summary.split, figures.summary.with_agreement) == (1, 4)
    verdicts = list(jury.judge_many(Case(answer="x", metadata={"at": at}) for at in range(4)))
    assert max(verdicts, key=lambda verdict: contest(verdict)[0]) is verdicts[2]


def test_a_case_that_stops_at_a_tier_without_a_decision_is_not_decided_there():
    screen = Tier("screen", juror("g", "PPPPPF"), "reject_on_any_fail")
    rest = Ensemble([juror("a", "AAPFEP"), juror("b", "AAPFEP")], errors="fail")
    jury = CascadedJury([screen, Tier("rest", rest)])
    report = Report.from_results(stream(jury, [Case(answer="x", metadata={"at": at}) for at in range(6)]))
    first, last = report.figures.tiers
    assert (first.count.reached, first.count.decided, first.count.undecided) == (6, 1, 0)
    assert (last.count.reached, last.count.decided, last.count.undecided) == (5, 2, 3)
    summary = report.figures.summary
    assert first.count.decided + last.count.decided == summary.decided == 3
    assert dict(last.count.stopped) == {"ABSTAIN": 2, "PASS": 1, "FAIL": 1, "failed by errors": 1}
    assert summary.to_dict()["tiers"][1]["decided"] == 2
    assert "| tier | reached | decided | undecided |" in report.to_markdown()
    assert "| `rest` | 5 | 2 | 3 |" in report.to_markdown()
    page = report.to_html()
    assert "reached 5 · decided 2 (33.3 % of all cases) · 3 stopped undecided" in page
    assert "rest: 5 reached it, 2 decided here" in page


def test_the_table_of_tiers_has_no_column_of_undecided_cases_if_all_are_decided():
    jury = CascadedJury([Tier("a", juror("a", "PP"), "reject_on_any_fail"), Tier("b", juror("b", "PF"))])
    report = Report.from_results(stream(jury, [Case(answer="x", metadata={"at": at}) for at in range(2)]))
    assert "| tier | reached | decided |\n" in report.to_markdown()
    assert "stopped undecided" not in report.to_html()


def test_judges_of_screening_tiers_are_no_jurors_to_agree_with():
    screen = Tier("screen", juror("g", "PPPF"), "reject_on_any_fail")
    two = Ensemble([juror("a", "FFPP"), juror("b", "FFPP")])
    figures = figures_of(CascadedJury([screen, Tier("rest", two)]), 4)
    seen = {one.name: (one.asked, one.count.compared, one.kappa, one.compared) for one in figures.jurors}
    assert seen == {"g": (4, 0, None, 0), "a": (3, 3, 1.0, 3), "b": (3, 3, 1.0, 3)}
    assert list(figures.pairs) == [(1, 2)]
    assert [juror.name for juror in figures.jurors] == ["g", "a", "b"]
    heat = str(heat_map(figures))
    assert all(word in heat for word in ("a and b: kappa", "a 1</text>", "b 2</text>"))
    assert "<title>g" not in heat  # it has nothing to compare
    verdict = CascadedJury([screen, Tier("rest", two)]).judge(Case(answer="x", metadata={"at": 0}))
    assert contest(verdict) == (0.0, 1.0)  # the screening tier let it through, and both jurors failed it


def test_what_a_screening_tier_rejects_is_not_contested():
    screen = Tier("screen", Ensemble([juror("g", "F"), juror("h", "P")]), "reject_on_any_fail")
    verdict = CascadedJury([screen, Tier("rest", juror("a", "P"))]).judge(Case(answer="x", metadata={"at": 0}))
    assert contest(verdict) == (0.0, None)
    summary = Report.from_results([verdict]).figures.summary
    assert (summary.mean_agreement, summary.review, summary.look_first.total) == (None, 0, 0)


@pytest.mark.slow
def test_cases_that_need_review_are_the_same_in_every_count():
    def jury_of(*says):
        return Ensemble([juror(str(n), say) for n, say in enumerate(says)], errors="propagate")

    case = Case(answer="x", metadata={"at": 0})
    judgments = [jury_of(*says).judge(case) for says in ("PPP", "PPF", "AAA", "PPE")]
    judgments += [Judgment("ERROR", error="down"), Judgment("ABSTAIN", reasoning="cannot say"), Judgment("FAIL")]
    report = Report.from_results(judgments)
    expected = [False, True, True, True, True, True, False]
    assert [row["needs_review"] for row in report.to_rows()] == expected
    embedding = Embedding(LateTexts())
    assert [json.loads(embedding.row(entry))["review"] for entry in report.entries] == expected
    assert [contest(judgment)[0] >= 1 for judgment in judgments] == expected
    assert report.figures.summary.review == report.figures.summary.look_first.total == sum(expected)
    assert 'href="#cases" title="Show these cases">5</a></dd>' in report.to_html().partition("Needs review")[2][:100]


def test_plain_judgments_have_a_rate_and_no_jurors():
    figures = Report.from_results([Judgment("PASS", score=1.0), Judgment("FAIL", score=0.0)]).figures
    assert figures.summary.pass_rate == 0.5
    assert (figures.jurors, figures.agreement) == ((), None)
    assert figures.scores == (1, 0, 0, 0, 0, 0, 0, 0, 0, 1)


@given(st.lists(st.floats(0, 1)))
def test_every_score_is_in_one_tenth(scores):
    assert sum(histogram(scores)) == len(scores)
