import pickle

import pytest

from jury_adapters import (
    CascadedJury,
    ConfigurationError,
    Ensemble,
    GateFailed,
    Judgment,
    JuryError,
    Scorecard,
    Status,
    Tier,
    Usage,
)
from jury_adapters.checks import always_pass
from jury_adapters.core.gates import check_gates


def verdict_of(*statuses, **options):
    generator = options.pop("generator", None)
    usage = options.pop("usage", Usage())
    jury = Ensemble([always_pass()], **options)
    return jury.aggregate(
        [Judgment(s, usage=usage, model="gpt-4o", reasoning="r", error="e") for s in statuses], generator=generator
    )


UNANIMOUS = verdict_of("PASS", "PASS", "PASS")
SPLIT = verdict_of("PASS", "PASS", "FAIL", generator="gpt-5")
ALONE = verdict_of("PASS")
NOBODY = verdict_of("ABSTAIN")
FIVE_ONE = verdict_of(*["PASS"] * 5, "FAIL")
LABELLED = Ensemble([always_pass()]).aggregate([Judgment(None, label="KEEP")] * 2)


@pytest.mark.parametrize(
    ("verdict", "conditions", "result"),
    [
        (UNANIMOUS, {"passed": True}, "passed"),
        (UNANIMOUS, {"passed": False}, "failed"),
        (LABELLED, {"passed": True}, "skipped"),
        (UNANIMOUS, {"min_agreement": 1.0}, "passed"),
        (SPLIT, {"min_agreement": 1 / 3}, "passed"),
        (SPLIT, {"min_agreement": 0.34}, "failed"),
        (FIVE_ONE, {"min_agreement": 2 / 3}, "passed"),
        (ALONE, {"min_agreement": 0.1}, "skipped"),
        (UNANIMOUS, {"min_agreement": "high"}, "passed"),
        (FIVE_ONE, {"min_agreement": "medium"}, "passed"),
        (FIVE_ONE, {"min_agreement": "high"}, "failed"),
        (SPLIT, {"min_agreement": "low"}, "passed"),
        (SPLIT, {"min_agreement": "medium"}, "failed"),
        (ALONE, {"min_agreement": "low"}, "skipped"),
        (SPLIT, {"min_confidence": 2 / 3}, "passed"),
        (SPLIT, {"min_confidence": 0.7}, "failed"),
        (SPLIT, {"min_votes": 3}, "passed"),
        (SPLIT, {"min_votes": 4}, "failed"),
        (SPLIT, {"needs_review": False}, "failed"),
        (SPLIT, {"needs_review": True}, "passed"),
        (UNANIMOUS, {"needs_review": False}, "passed"),
        (SPLIT, {"same_family": False}, "failed"),
        (UNANIMOUS, {"same_family": False}, "skipped"),
        (verdict_of("PASS", generator="claude-3"), {"same_family": False}, "passed"),
        (SPLIT, {"bias_warning": False}, "failed"),
        (verdict_of("PASS", "PASS", generator="gpt-5"), {"bias_warning": False}, "passed"),
        (UNANIMOUS, {"partial": False}, "passed"),
        (verdict_of("PASS", usage=Usage(cost_usd=0.5)), {"max_cost_usd": 0.5}, "passed"),
        (verdict_of("PASS", usage=Usage(cost_usd=0.5)), {"max_cost_usd": 0.4}, "failed"),
        (verdict_of("PASS", usage=Usage(cost_usd=0.5, cost_complete=False)), {"max_cost_usd": 1}, "skipped"),
        (verdict_of("PASS", usage=Usage(cost_usd=0.5, cost_complete=False)), {"max_cost_usd": 0.4}, "failed"),
    ],
)
def test_each_condition_passes_fails_or_is_skipped_when_undefined(verdict, conditions, result):
    (gate,) = check_gates(verdict, **conditions)
    assert (gate.gate, gate.result) == (*conditions, result)
    assert gate.note.startswith(f"{gate.gate}=")
    assert ("undefined" in gate.note) is (result == "skipped")
    (strict,) = check_gates(verdict, **conditions, undefined="fail")
    assert strict.result == ("failed" if result == "skipped" else result)


BROKEN = verdict_of("ERROR", "ERROR", errors="propagate")


@pytest.mark.parametrize(
    ("verdict", "found"),
    [(NOBODY, "found ABSTAIN (no juror voted"), (BROKEN, "found ERROR (")],
    ids=["ABSTAIN", "ERROR"],
)
@pytest.mark.parametrize("conditions", [{}, {"min_agreement": 0.9}, {"passed": False}, {"max_cost_usd": 1}])
def test_a_verdict_that_decides_nothing_meets_no_conditions(verdict, found, conditions):
    first, *rest = check_gates(verdict, **conditions)
    assert (first.gate, first.result) == ("decided", "failed")
    assert first.note.startswith(f"decided=True: {found}")
    assert [gate.gate for gate in rest] == list(conditions)
    with pytest.raises(GateFailed, match=r"decided=True: found (ABSTAIN|ERROR)"):
        verdict.require(**conditions)


@pytest.mark.parametrize(("verdict", "found"), [(NOBODY, "ABSTAIN (no juror voted"), (BROKEN, "ERROR (")])
def test_who_asks_for_a_pass_is_told_once(verdict, found):
    (gate,) = check_gates(verdict, passed=True)
    assert (gate.result, gate.note.partition(": ")[2].startswith(f"found {found}")) == ("failed", True)


@pytest.mark.parametrize(("statuses", "voting"), [
    (("ERROR", "PASS"), "majority"),
    (("ERROR", "PASS", "PASS"), "unanimous"),
    (("ERROR", "ABSTAIN", "PASS"), "majority"),
])  # fmt: skip
def test_an_outage_is_not_the_bad_answer_that_a_test_asks_for(statuses, voting):
    verdict = verdict_of(*statuses, voting=voting)
    assert verdict.status is Status.FAIL
    for asked in (True, False):
        with pytest.raises(GateFailed, match=f"passed={asked}: found FAIL, only because jurors broke"):
            verdict.require(passed=asked)
    verdict.require(passed=None)


@pytest.mark.parametrize("options", [
    {}, {"errors": "fail"}, {"errors": "abstain"}, {"errors": "ignore"}, {"voting": "average"},
    {"voting": "quorum", "quorum": 0.5},
])  # fmt: skip
def test_a_juror_that_broke_has_not_voted_also_where_its_error_counts_as_fail(options):
    verdict = verdict_of("ERROR", "PASS", "PASS", **options)
    with pytest.raises(GateFailed, match="min_votes=3: found 2"):
        verdict.require(min_votes=3)
    verdict.require(passed=None, min_votes=2)


def test_the_criteria_of_a_scorecard_are_its_votes():
    card = Scorecard({"a": always_pass(), "b": always_pass()}).judge(answer="x")
    card.require(min_votes=2)


def test_a_broken_juror_does_not_hide_a_bad_answer():
    verdict_of("ERROR", "FAIL", "FAIL").require(passed=False)


def test_unless_it_may():
    eligible, agreement = NOBODY.require(decided=None, min_votes=0, min_agreement=0.9)
    assert (eligible.result, agreement.result) == ("passed", "skipped")
    with pytest.raises(GateFailed, match="passed=True: found ERROR"):
        BROKEN.require(decided=None, passed=True)


@pytest.mark.parametrize("verdict", [NOBODY, BROKEN])
def test_an_abstention_can_be_asked_for(verdict):
    (gate,) = verdict.require(decided=False)
    assert (gate.result, gate.note[:20]) == ("passed", "decided=False: found")
    with pytest.raises(GateFailed, match="decided=False: found PASS"):
        UNANIMOUS.require(decided=False)


def test_none_lifts_a_condition():
    gates = {"passed": True, "needs_review": False, "min_agreement": "high", "max_cost_usd": 0.0}
    assert (
        SPLIT.require(**{**gates, "needs_review": None, "min_agreement": None, "max_cost_usd": None, "passed": None})
        == ()
    )


@pytest.mark.parametrize(
    ("verdict", "found"),
    [
        (SPLIT, "low_agreement"),
        (NOBODY, "abstained"),
        (BROKEN, "error"),
        (verdict_of("PASS", "ERROR"), "errors_decided"),
    ],
)
def test_the_gate_of_reviews_says_why_one_is_needed(verdict, found):
    with pytest.raises(GateFailed, match=f"needs_review=False: found {found}"):
        verdict.require(needs_review=False)
    assert verdict.require(needs_review=True, decided=None)[0].result == "passed"
    with pytest.raises(GateFailed, match="needs_review=True: found no reason"):
        UNANIMOUS.require(needs_review=True)


@pytest.mark.parametrize("verdict", [UNANIMOUS, SPLIT, LABELLED, verdict_of("FAIL")])
def test_who_decides_is_not_asked_whether_it_did(verdict):
    assert verdict.require() == ()
    (gate,) = verdict.require(decided=True)
    assert (gate.result, gate.note) == ("passed", f"decided=True: found {verdict.opinion}")


def test_what_a_screening_tier_decides_has_no_agreement_to_ask_for():
    screen = Tier("screen", Ensemble([always_pass(), lambda case: False]), "reject_on_any_fail")
    verdict = CascadedJury([screen, Tier("last", always_pass())]).judge("?")
    gates = verdict.require(min_agreement="high", needs_review=False)
    assert [gate.result for gate in gates] == ["skipped", "passed"]
    assert [gate.note.partition(": ")[2] for gate in gates[:1]] == ["undefined (decided by a screening tier, by rule)"]


def panel_of(*opinions):
    return Ensemble([lambda case, opinion=opinion: opinion for opinion in opinions])


SPLIT_CRITERION = Scorecard({"agreed": panel_of(True, True), "split": panel_of(True, True, False)})


@pytest.mark.parametrize(
    ("jury", "asked", "result", "found"),
    [
        (SPLIT_CRITERION, 0.9, "failed", "found 0.333333, of the criterion split"),
        (SPLIT_CRITERION, 0.3, "passed", "found 0.333333, of the criterion split"),
        (SPLIT_CRITERION, "medium", "failed", "found low, of the criterion split"),
        (SPLIT_CRITERION, "low", "passed", "found low, of the criterion split"),
        (CascadedJury([Tier("only", SPLIT_CRITERION)]), 0.9, "failed", "found 0.333333, of the criterion split"),
        (Scorecard({"outer": SPLIT_CRITERION}), 0.9, "failed", "found 0.333333, of the criterion outer / split"),
        (Scorecard({"alone": always_pass(), "two": panel_of(True, True)}), 0.9, "passed", "of the criterion two"),
        (Scorecard({"alone": always_pass()}), 0.9, "skipped", "a scorecard without a criterion that two jurors voted"),
        (Scorecard({"alone": always_pass()}), "low", "skipped", "a scorecard without a criterion that two jurors"),
    ],
)
def test_the_agreement_of_a_scorecard_is_the_lowest_of_its_criteria(jury, asked, result, found):
    (gate,) = check_gates(jury.judge(answer="Yes."), min_agreement=asked)
    assert gate.result == result
    assert found in gate.note


def test_an_early_stopping_verdict_is_partial():
    verdict = Ensemble([always_pass()] * 3, schedule="early_stop").judge("?")
    (gate,) = check_gates(verdict, partial=False)
    assert gate.result == "failed"


def test_nothing_is_checked_that_was_not_asked():
    assert check_gates(SPLIT) == ()
    assert check_gates(SPLIT, undefined="fail") == ()
    assert check_gates(verdict_of("FAIL")) == ()


def test_require_names_every_condition_that_is_not_met():
    with pytest.raises(GateFailed) as caught:
        SPLIT.require(passed=True, min_agreement=0.9, needs_review=False, min_votes=2)
    unmet = caught.value.unmet
    assert [line.partition("=")[0] for line in unmet] == ["min_agreement", "needs_review"]
    assert "min_agreement=0.9: found 0.333333" in str(caught.value)
    assert isinstance(caught.value, JuryError)
    assert isinstance(caught.value, AssertionError)
    assert pickle.loads(pickle.dumps(caught.value)).unmet == unmet


def test_require_hands_back_what_it_checked():
    results = ALONE.require(passed=True, min_agreement=0.9)
    assert [(result.gate, result.result) for result in results] == [("passed", "passed"), ("min_agreement", "skipped")]
    with pytest.raises(GateFailed, match="fewer than two ballots"):
        ALONE.require(min_agreement=0.9, undefined="fail")


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"min_agrement": 0.5}, r"unknown condition 'min_agrement'\. Did you mean 'min_agreement'\?"),
        ({"min_agreement": "hihg"}, r"unknown band 'hihg'\. Did you mean 'high'\?"),
        ({"undefined": "ignore"}, r"unknown undefined= 'ignore'\. Known: fail, skip"),
        (
            {"min_agreement": "0.5"},
            r"min_agreement takes a number or a band; unknown band '0\.5'\. Known: high",
        ),
        ({"min_confidence": "0.5"}, "min_confidence takes a number, not '0.5'$"),
        ({"min_agreement": 60}, "min_agreement takes a number from 0 to 1, not 60$"),
        ({"min_confidence": -0.1}, "min_confidence takes a number from 0 to 1, not -0.1$"),
        ({"max_cost_usd": -1}, "max_cost_usd takes a number that is not negative, not -1$"),
        ({"min_votes": float("nan")}, "min_votes takes a number that is not negative, not nan$"),
        ({"min_confidence": "medium"}, "min_confidence takes a number, not 'medium'; a band.* min_agreement='medium'$"),
        ({"allow_partial": False}, r"unknown condition 'allow_partial'\. Did you mean 'partial'\?"),
        ({"min_agreement": True}, "min_agreement takes a number, not True"),
        ({"passed": "yes"}, "passed takes True or False, not 'yes'"),
        ({"needs_review": 0}, "needs_review takes True or False, not 0"),
        ({"decided": "yes"}, "decided takes True or False, not 'yes'"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(conditions, message):
    with pytest.raises(ConfigurationError, match=message):
        check_gates(UNANIMOUS, **conditions)


def test_gates_see_the_status_of_an_error():
    verdict = Ensemble([lambda case: 1 / 0], errors="propagate").judge("?")
    assert verdict.status is Status.ERROR
    with pytest.raises(GateFailed, match="passed=True: found ERROR"):
        verdict.require(passed=True)
