"""Verdict: what is derived from its ballots and judgments, and what it refuses to hold."""

import json

import pytest

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    GateFailed,
    InputError,
    Judgment,
    Status,
    Tier,
    Usage,
    Verdict,
    judge,
)
from jury_adapters.core.tier_policies import is_unanimous
from jury_adapters.results import Tally, TierResult


def jury(*statuses, **options):
    return Ensemble(
        [
            judge(name=f"j{i}")(lambda case, s=s: Judgment(s, reasoning="r", error="e"))
            for i, s in enumerate(statuses, 1)
        ],
        **options,
    )


def labels(*words, **options):
    return Ensemble(
        [judge(name=w + str(i))(lambda c, w=w: Judgment(None, label=w)) for i, w in enumerate(words)], **options
    )


def voted(*ballots, on="status", **fields):
    return Verdict("PASS", tally=Tally(on, len(ballots), ballots=ballots), **fields)


@pytest.mark.parametrize(
    ("ballots", "agreement", "disagreement", "band", "escalate", "alpha"),
    [
        ((), None, False, None, False, None),
        ((None, None), None, False, None, False, None),
        (("PASS",), None, False, None, False, None),
        (("PASS", None), None, False, None, False, None),
        (("PASS", "PASS"), 1.0, False, "high", False, 1.0),
        (("PASS", "FAIL"), 0.0, True, "low", True, 0.0),
        (("PASS", "PASS", "FAIL"), 1 / 3, True, "low", True, 0.0),
        (("PASS",) * 5 + ("FAIL",), 10 / 15, True, "medium", False, 0.0),
        (("PASS",) * 9 + ("FAIL",), 36 / 45, True, "high", False, 0.0),
        ((0.9, 0.9), 1.0, False, "high", False, 1.0),
        ((0.9, 0.7), 0.8, True, "high", False, 0.0),
        ((1.0, 0.5), 0.5, True, "low", True, 0.0),
    ],
)
def test_agreement_band_and_alpha_follow_from_the_ballots(ballots, agreement, disagreement, band, escalate, alpha):
    verdict = voted(*ballots)
    assert verdict.agreement == (None if agreement is None else pytest.approx(agreement))
    assert verdict.disagreement is disagreement
    assert verdict.agreement_band == band
    assert verdict.needs_review is escalate
    assert verdict.krippendorff_alpha == alpha
    assert verdict.tally.unanimous is (bool(verdict.tally.valid_ballots) and not disagreement)


@pytest.mark.parametrize(
    ("judgment", "expected"),
    [
        (Judgment("PASS"), False),
        (Judgment("FAIL"), False),
        (Judgment(None, label="KEEP"), False),
        (Judgment("ABSTAIN", reasoning="cannot say"), True),
        (Judgment("ERROR", error="timeout"), True),
        (voted("PASS", "PASS"), False),
        (voted("PASS", "FAIL"), True),
        (Verdict("ABSTAIN", reasoning="cannot say"), True),
        (Verdict("ERROR", error="timeout"), True),
        (Verdict("FAIL", tally=Tally(errors=2, errors_decided=True)), True),
    ],
)
def test_a_person_should_look_where_nothing_was_decided_or_the_jury_asks_for_it(judgment, expected):
    assert judgment.needs_review is expected


def screened(*statuses, policy="reject_on_any_fail", **options):
    return CascadedJury([Tier("screen", jury(*statuses, **options), policy), Tier("last", jury("PASS", "FAIL"))])


@pytest.mark.parametrize(
    "cascade",
    [
        screened("PASS", "PASS", "FAIL"),
        screened("PASS", "PASS", policy="accept_on_all_pass"),
        CascadedJury([Tier("inside", screened("PASS", "FAIL"))]),
    ],
    ids=["rejected", "accepted", "a cascade in a cascade"],
)
def test_what_a_screening_tier_decides_is_decided_by_rule_and_no_disagreement(cascade):
    verdict = cascade.judge("q")
    assert verdict.by_rule
    assert (verdict.agreement, verdict.agreement_band, verdict.krippendorff_alpha) == (None, None, None)
    assert (verdict.disagreement, verdict.needs_review) == (False, False)
    assert "agreement" not in verdict.to_dict()
    assert "agreement" not in str(verdict)
    again = Verdict.from_json(verdict.to_json())
    assert (again.by_rule, again) == (True, verdict)


def test_what_the_screening_tiers_let_through_is_for_jurors_to_agree_on():
    verdict = screened("PASS", "PASS").judge("q")
    assert not verdict.by_rule
    assert (verdict.stopped_at, verdict.agreement, verdict.needs_review) == ("last", 0.0, True)


def test_a_bias_warning_speaks_of_low_agreement_and_of_nothing_else():
    verdict = Verdict("FAIL", same_family=True, tally=Tally(errors_decided=True, ballots=("PASS", "PASS")))
    assert (verdict.needs_review, verdict.bias_warning) == (True, None)


def test_the_band_can_be_made_of_the_modal_share():
    assert voted("PASS", "PASS", "FAIL", band_on="share").agreement_band == "medium"
    assert voted("PASS", "PASS", "FAIL", band_on="pairs").agreement_band == "low"


def test_jurors_are_found_by_name():
    verdict = jury("PASS", "FAIL", "PASS").judge("q")
    assert list(verdict.by_name) == ["j1", "j2", "j3"]
    assert verdict.by_name["j2"].status is Status.FAIL


def test_no_juror_is_lost_by_name_when_names_are_equal_or_missing():
    same = judge(name="same")(lambda case: True)
    verdict = Ensemble([same, lambda case: True, same, judge(name="same-2")(lambda case: False)]).judge("q")
    assert len(verdict.by_name) == 4
    assert verdict.judgments[1].critic == "Judge#2"
    assert verdict.by_name["same-2"].status is Status.FAIL


def test_nested_juries_open_to_their_jurors():
    nested = Ensemble([jury("PASS", "FAIL", name="a"), Ensemble([jury("PASS", name="b")], name="c")]).judge("q")
    assert [j.critic for j in nested.jurors()] == ["j1", "j2", "j1"]
    assert [v.critic for v in nested.judgments if isinstance(v, Verdict)] == ["a", "c"]
    assert Verdict("PASS", judgments=[Verdict("FAIL", critic="kept none")]).jurors()[0].critic == "kept none"


def test_a_cascade_knows_its_tiers_and_those_that_broke():
    broken = Tier("screen", judge(name="g")(lambda case: 1 / 0), "reject_on_any_fail")
    cascade = CascadedJury([broken, Tier("last", jury("PASS", "PASS"), "final")])
    verdict = cascade.judge("q")
    assert verdict.failed_tiers == ("screen",)
    assert [tier.judgment.status for tier in verdict.tiers] == [Status.ERROR, Status.PASS]
    assert verdict.stopped_at == "last"
    assert verdict.decision == "final"


def family_jury(*models):
    return Ensemble(
        [judge(name=f"{m}-{i}")(lambda case, m=m, i=i: Judgment("FAIL" if i else "PASS", model=m))
         for i, m in enumerate(models)]
    )  # fmt: skip


def test_a_juror_of_the_generators_family_warns_only_when_agreement_is_low():
    split = family_jury("gpt-4o", "claude-3").judge(question="q", generator="openai:gpt-4.1")
    assert split.same_family
    assert "same vendor family" in split.bias_warning
    agreed = Ensemble([judge(name="j")(lambda case: Judgment("PASS", model="gpt-4o"))] * 3)
    verdict = agreed.judge(question="q", generator="gpt-4.1")
    assert verdict.same_family
    assert verdict.bias_warning is None
    assert not agreed.judge(question="q", generator="claude-3").same_family
    assert not agreed.judge(question="q").same_family


def test_a_panel_of_one_family_warns_and_one_juror_or_an_unknown_one_is_no_such_panel():
    def panel(*families):
        return Verdict("PASS", judgments=[Judgment("PASS", family=family) for family in families])

    assert panel("openai", "openai").single_family == "openai"
    assert "openai" in panel("openai", "openai").panel_warning
    for families in [(), ("openai",), ("openai", None), (None, None), ("openai", "meta")]:
        assert panel(*families).single_family is None
        assert panel(*families).panel_warning is None


def test_the_family_of_nested_jurors_counts():
    inner = Verdict("PASS", judgments=[Judgment("PASS", family="meta"), Judgment("PASS", family="meta")])
    assert Verdict("PASS", judgments=[inner, Judgment("PASS", family="meta")]).single_family == "meta"
    assert Verdict("PASS", judgments=[inner, Judgment("PASS", family="qwen")]).single_family is None


def test_require_passes_when_every_condition_holds():
    verdict = jury("PASS", "PASS", "PASS").judge("q", generator="gpt-5")
    results = verdict.require(passed=True, min_confidence=1.0, min_agreement="high", min_votes=3,
                              needs_review=False, same_family=False, max_cost_usd=0.0)  # fmt: skip
    assert {result.result for result in results} == {"passed"}
    assert len(results) == 7


def test_require_lists_every_condition_that_is_not_met():
    verdict = jury("PASS", "FAIL", "FAIL").judge("q")
    with pytest.raises(GateFailed) as failed:
        verdict.require(passed=True, min_agreement=0.5, min_confidence=0.9, min_votes=2, needs_review=False)
    assert [line.split("=")[0] for line in failed.value.unmet] == [
        "passed",
        "min_agreement",
        "min_confidence",
        "needs_review",
    ]
    assert isinstance(failed.value, AssertionError)


def test_undefined_values_are_skipped_or_failed_as_asked():
    verdict = jury("PASS").judge("q")
    (result,) = verdict.require(min_agreement=0.9)
    assert result.result == "skipped"
    with pytest.raises(GateFailed, match="undefined"):
        verdict.require(min_agreement=0.9, undefined="fail")


def test_require_refuses_a_condition_it_does_not_know():
    with pytest.raises(ConfigurationError, match="Did you mean 'min_agreement'"):
        jury("PASS").judge("q").require(min_agrement=0.9)


def test_lists_given_to_a_verdict_become_tuples_and_do_not_follow_their_source():
    judgments, weights, ballots = [Judgment("PASS")], [1.0], ["PASS"]
    verdict = Verdict(
        "PASS", judgments=judgments, weights=weights, tally=Tally(ballots=ballots), skipped=["x"], tiers=[]
    )
    judgments.clear()
    weights.clear()
    ballots.clear()
    assert (len(verdict.judgments), verdict.weights, verdict.tally.ballots) == (1, (1.0,), ("PASS",))
    assert verdict.skipped == ("x",)
    hash(verdict)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("judgments", ["PASS"]),
        ("judgments", (True,)),
        ("judgments", 5),
        ("tiers", [Judgment("PASS")]),
        ("skipped", [1]),
        ("weights", [float("nan")]),
        ("weights", [float("inf")]),
        ("weights", ["1"]),
        ("score", 2.0),
        ("usage", "free"),
    ],
)
def test_a_verdict_refuses_parts_of_another_kind(field, value):
    with pytest.raises(ConfigurationError, match=field):
        Verdict("PASS", **{field: value})


def test_a_verdict_is_frozen():
    verdict = jury("PASS", "FAIL").judge("q")
    with pytest.raises(AttributeError):
        verdict.judgments = ()
    with pytest.raises(AttributeError):
        verdict.tally.passed = 9
    verdict.by_name.clear()  # a view of its own
    assert len(verdict.by_name) == 2


@pytest.mark.parametrize(
    ("statuses", "unanimous"),
    [
        ([], False),
        (["PASS"], True),
        (["FAIL", "FAIL"], True),
        (["PASS", "FAIL"], False),
        (["PASS", "ABSTAIN"], True),
        (["PASS", "ERROR"], False),
        (["ABSTAIN"], False),
    ],
)
def test_unanimity_needs_an_opinion_and_no_error(statuses, unanimous):
    assert is_unanimous([Judgment(status, reasoning="r", error="e") for status in statuses]) is unanimous


def test_usage_of_a_verdict_is_the_sum_over_its_jurors():
    spend = judge(name="s")(lambda case: Judgment("PASS", usage=Usage(calls=1, input_tokens=10, cost_usd=0.25)))
    free = judge(name="f")(lambda case: Judgment("PASS", usage=Usage(calls=1, cost_complete=False)))
    verdict = Ensemble([spend, Ensemble([spend, free])]).judge("q")
    assert verdict.usage == Usage(calls=3, input_tokens=20, cost_usd=0.5, cost_complete=False)


def test_tier_results_keep_the_judgment_of_their_tier():
    verdict = CascadedJury([Tier("only", jury("PASS"), "final")]).judge(Case(question="q"))
    (tier,) = verdict.tiers
    assert isinstance(tier, TierResult)
    assert (tier.name, tier.policy, tier.stopped, tier.broken) == ("only", "final", True, False)
    assert tier.judgment.status is Status.PASS


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("calls_saved", "x"), ("calls_saved", -1), ("calls_saved", True), ("same_family", "no"), ("partial", "x"),
        ("voting", ["x"]), ("stopped_at", 3),
    ],
)  # fmt: skip
def test_a_field_of_another_type_is_refused(field, value):
    with pytest.raises(ConfigurationError, match=field):
        Verdict(Status.PASS, **{field: value})
    with pytest.raises(InputError, match=field):
        Judgment.from_json(json.dumps({"kind": "verdict", "status": "PASS", field: value}))


@pytest.mark.parametrize(
    ("field", "value"), [("name", ["x"]), ("name", 1.5), ("why", ["x"]), ("stopped", "no"), ("broken", 1)]
)
def test_a_field_of_a_tier_of_another_type_is_refused(field, value):
    tier = {"name": "t", "policy": "final", "judgment": Judgment("PASS"), "stopped": True, "broken": False, "why": "w"}
    with pytest.raises(ConfigurationError, match=field):
        TierResult(**{**tier, field: value})
