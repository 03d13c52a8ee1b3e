"""Scorecards: several questions about one case, and a rule over them."""

import asyncio
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    Judgment,
    Scorecard,
    Status,
    Tier,
    Verdict,
    abstain,
    escalate_below,
)
from jury_adapters.report.summary import Summary

P, F, A, E = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
OUTCOMES = {P: lambda case: True, F: lambda case: False, A: lambda case: abstain("unclear"), E: lambda case: 1 / 0}
CASE = Case(answer="x")


def card(statuses, **options):
    return Scorecard({f"c{n}": OUTCOMES[status] for n, status in enumerate(statuses)}, **options)


def test_all_follows_the_precedence():
    for statuses in product([P, F, A, E], repeat=3):
        wanted = next(status for status in (F, E, A, P) if status in statuses)
        assert card(statuses).judge(CASE).status is wanted, statuses


@pytest.mark.parametrize("least", [1, 2, 3, "any", "all", ["c0", "c2"]])
def test_the_status_is_decided_exactly_when_no_open_criterion_can_change_it(least):
    for statuses in product([P, F, A, E], repeat=3):
        assert_decided(statuses, least)


def assert_decided(statuses, least):
    counted = [statuses[0], statuses[2]] if isinstance(least, list) else statuses
    needed = {"any": 1, "all": 3}.get(least, least) if not isinstance(least, list) else 2
    ends = {
        sum(end is P for end in ends) >= needed
        for ends in product(*[[status] if status in (P, F) else [P, F] for status in counted])
    }
    wanted = (P if ends.pop() else F) if len(ends) == 1 else E if E in counted else A
    verdict = card(statuses, pass_when=least).judge(CASE)
    assert verdict.status is wanted, statuses
    decided = [status for status in counted if status in (P, F)]
    assert verdict.score == (None if len(decided) < len(counted) else decided.count(P) / len(counted)), statuses


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 1.0, None]), st.sampled_from([0.1, 0.2, 0.3, 1, 3])),
                min_size=1, max_size=4), st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0]))  # fmt: skip
def test_weights_decide_when_no_open_score_can_change_it(given_scores, threshold):
    def judge_of(score):
        return lambda case: abstain("unclear") if score is None else Judgment(P if score >= 0.5 else F, score=score)

    criteria = {f"c{n}": judge_of(score) for n, (score, _) in enumerate(given_scores)}
    weights = {f"c{n}": weight for n, (_, weight) in enumerate(given_scores)}
    verdict = Scorecard(criteria, weights=weights, threshold=threshold).judge(CASE)

    def mean(fill):
        return sum(w * (fill if s is None else s) for s, w in given_scores) / sum(w for _, w in given_scores)

    low, high = mean(0.0) >= threshold - 1e-9, mean(1.0) >= threshold - 1e-9
    assert verdict.status is (P if low else F if not high else A)
    assert (verdict.score is None) == any(score is None for score, _ in given_scores)


def test_a_sum_that_should_reach_the_threshold_reaches_it():
    scores = Scorecard({n: lambda case: Judgment(P, score=0.7) for n in "abc"}, weights=dict.fromkeys("abc", 0.1),
                       threshold=0.7)  # fmt: skip
    assert scores.judge(CASE).passed


def test_there_is_one_judgment_for_each_criterion_and_no_agreement():
    panel = Ensemble([lambda case: True, lambda case: True, lambda case: False])
    verdict = Scorecard({"faithful": panel, "short": lambda case: False}, pass_when=["faithful"]).judge(CASE)
    assert [(name, j.status) for name, j in verdict.by_name.items()] == [("faithful", P), ("short", F)]
    assert (verdict.status, verdict.agreement, verdict.agreement_band, verdict.disagreement) == (P, None, None, False)
    assert verdict.by_name["faithful"].agreement == pytest.approx(1 / 3)
    assert verdict.needs_review  # the panel is split
    assert (verdict.tally.passed, verdict.tally.ignored) == (1, 1)


def test_reasons_name_the_criteria_that_did_not_pass():
    verdict = Scorecard({"a": lambda case: True, "b": lambda case: abstain("no contexts"), "c": OUTCOMES[E]}).judge(
        CASE
    )
    assert verdict.reasoning == "ERROR: c (ZeroDivisionError: division by zero); ABSTAIN: b (no contexts); PASS: a"
    assert verdict.error == "ZeroDivisionError: division by zero"


def test_the_verdict_comes_back_from_json():
    verdict = card([P, F, A, E]).judge(CASE)
    assert Verdict.from_json(verdict.to_json()) == verdict


@pytest.mark.parametrize(
    ("criteria", "options", "message"),
    [
        ({}, {}, "takes a mapping"),
        ([lambda case: True], {}, "takes a mapping"),
        ({"": lambda case: True}, {}, "a criterion has a name"),
        ({5: lambda case: True}, {}, "a criterion has a name"),
        ({"a": 5}, {}, "criterion 'a': give a jury"),
        ({"a": OUTCOMES[P]}, {"pass_when": 0}, "from 1 to 1"),
        ({"a": OUTCOMES[P]}, {"pass_when": 2}, "from 1 to 1"),
        ({"a": OUTCOMES[P]}, {"pass_when": True}, "not True"),
        ({"a": OUTCOMES[P]}, {"pass_when": []}, "not \\[\\]"),
        ({"a": OUTCOMES[P]}, {"pass_when": "a"}, "write \\['a'\\]"),
        ({"a": OUTCOMES[P]}, {"pass_when": ["b"]}, "unknown criterion in pass_when 'b'"),
        ({"a": OUTCOMES[P]}, {"weights": {"a": 1}}, "belong together"),
        ({"a": OUTCOMES[P]}, {"threshold": 0.5}, "belong together"),
        ({"a": OUTCOMES[P]}, {"weights": {"b": 1}, "threshold": 0.5}, "unknown criterion in weights 'b'"),
        ({"a": OUTCOMES[P]}, {"weights": {"a": 0}, "threshold": 0.5}, "above 0"),
        ({"a": OUTCOMES[P]}, {"weights": {"a": float("nan")}, "threshold": 0.5}, "above 0"),
        ({"a": OUTCOMES[P]}, {"weights": {"a": 1}, "threshold": 1.5}, "from 0 to 1"),
        ({"a": OUTCOMES[P]}, {"weights": {"a": 1}, "threshold": 0.5, "pass_when": "any"}, "not both"),
    ],
)  # fmt: skip
def test_a_wrong_scorecard_is_refused(criteria, options, message):
    with pytest.raises(ConfigurationError, match=message):
        Scorecard(criteria, **options)


def test_criteria_run_at_once_and_a_slow_one_is_an_error():
    async def slow(case):
        await asyncio.sleep(60)

    verdict = Scorecard({"slow": slow, "fast": OUTCOMES[P]}, juror_timeout=0.05).judge(CASE)
    assert verdict.status is E
    assert verdict.by_name["slow"].error == "timeout"
    assert verdict.by_name["fast"].passed


def test_a_scorecard_is_a_judge_in_juries_and_tiers():
    card_ = card([P, F])
    assert Ensemble([card_, card_.named("again")], voting="unanimous").judge(CASE).status is F
    cascade = CascadedJury([Tier("card", card_, escalate_below(0.5)), Tier("last", OUTCOMES[P], "final")])
    assert cascade.judge(CASE).stopped_at == "last"
    rejects = CascadedJury([Tier("card", card_, "reject_on_any_fail"), Tier("last", OUTCOMES[P], "final")])
    assert (rejects.judge(CASE).status, rejects.judge(CASE).stopped_at) == (F, "card")


def test_a_report_compares_no_criteria():
    summary = Summary()
    jury = card([P, F])
    for verdict in jury.judge_many([CASE, Case(answer="y")]):
        assert isinstance(verdict, Verdict)
        summary.add(CASE, verdict, "1")
    assert summary.with_agreement == 0
    assert summary.criteria == {("c0",), ("c1",)}
    assert all(count.compared == 0 for count in summary.jurors.values())


def test_an_estimate_names_the_criteria():
    assert [row.name for row in card([P, F]).estimate_cost([CASE]).rows] == ["c0", "c1"]


SPLIT_CARD = Scorecard({"year": Ensemble([lambda case: True, lambda case: True, lambda case: False])})


@pytest.mark.parametrize(
    "jury",
    [
        SPLIT_CARD,
        CascadedJury([Tier("first", OUTCOMES[P], "reject_on_any_fail"), Tier("card", SPLIT_CARD)]),
        CascadedJury([Tier("card", SPLIT_CARD, "escalate_on_split"), Tier("last", OUTCOMES[P])]),
        CascadedJury([Tier("inner", CascadedJury([Tier("card", SPLIT_CARD)]))]),
    ],
    ids=["alone", "the last tier", "an earlier tier", "a nested cascade"],
)
def test_low_agreement_on_a_criterion_is_a_reason_for_review_wherever_the_scorecard_decides(jury):
    verdict = jury.judge(CASE)
    assert verdict.status is P
    assert verdict.review_reasons == ("low_agreement",)
    assert verdict.needs_review


def test_the_votes_of_a_scorecard_that_rejects_by_rule_need_no_review():
    jury = CascadedJury([Tier("card", SPLIT_CARD, "accept_on_all_pass"), Tier("last", OUTCOMES[P])])
    assert jury.judge(CASE).review_reasons == ()


def test_the_reasons_of_a_verdict_are_those_of_the_criteria_that_count():
    """A verdict that passes does not begin with the FAIL of a criterion that is only reported."""
    card = Scorecard({"faithful": lambda case: True, "relevant": lambda case: False}, pass_when=["faithful"])
    verdict = card.judge(answer="Paris.")
    assert verdict.passed
    assert verdict.reasoning.startswith("PASS: faithful; only reported: FAIL relevant")
    assert str(verdict).startswith("PASS (score 1.00): PASS: faithful; only reported: FAIL relevant")
