import pickle

import pytest

from jury_adapters import (
    CascadedJury,
    ConfigurationError,
    Ensemble,
    GateFailed,
    Judgment,
    JuryError,
    Status,
    Tier,
    Usage,
    always_pass,
)
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
        (UNANIMOUS, {"min_confidence": "high"}, "passed"),
        (FIVE_ONE, {"min_confidence": "medium"}, "passed"),
        (FIVE_ONE, {"min_confidence": "high"}, "failed"),
        (SPLIT, {"min_confidence": "low"}, "passed"),
        (SPLIT, {"min_confidence": "medium"}, "failed"),
        (ALONE, {"min_confidence": "low"}, "skipped"),
        (SPLIT, {"min_confidence": 2 / 3}, "passed"),
        (SPLIT, {"min_confidence": 0.7}, "failed"),
        (SPLIT, {"min_eligible": 3}, "passed"),
        (SPLIT, {"min_eligible": 4}, "failed"),
        (SPLIT, {"allow_escalation": False}, "failed"),
        (SPLIT, {"allow_escalation": True}, "passed"),
        (UNANIMOUS, {"allow_escalation": False}, "passed"),
        (SPLIT, {"allow_same_family": False}, "failed"),
        (UNANIMOUS, {"allow_same_family": False}, "passed"),
        (SPLIT, {"allow_bias_warning": False}, "failed"),
        (verdict_of("PASS", "PASS", generator="gpt-5"), {"allow_bias_warning": False}, "passed"),
        (UNANIMOUS, {"allow_partial": False}, "passed"),
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
    [(NOBODY, "found ABSTAIN (nobody voted"), (BROKEN, "found ERROR (")],
    ids=["ABSTAIN", "ERROR"],
)
@pytest.mark.parametrize("conditions", [{}, {"min_agreement": 0.9}, {"passed": False}, {"max_cost_usd": 1}])
def test_a_verdict_that_decides_nothing_meets_no_conditions(verdict, found, conditions):
    first, *rest = check_gates(verdict, **conditions)
    assert (first.gate, first.result) == ("allow_undecided", "failed")
    assert first.note.startswith(f"allow_undecided=False: {found}")
    assert [gate.gate for gate in rest] == list(conditions)
    with pytest.raises(GateFailed, match=r"allow_undecided=False: found (ABSTAIN|ERROR)"):
        verdict.require(**conditions)


@pytest.mark.parametrize(("verdict", "found"), [(NOBODY, "ABSTAIN (nobody voted"), (BROKEN, "ERROR (")])
def test_who_asks_for_a_pass_is_told_once(verdict, found):
    (gate,) = check_gates(verdict, passed=True)
    assert (gate.result, gate.note.partition(": ")[2].startswith(f"found {found}")) == ("failed", True)


def test_unless_it_may():
    allowed, eligible, agreement = NOBODY.require(allow_undecided=True, min_eligible=0, min_agreement=0.9)
    assert (allowed.result, allowed.note[:35]) == ("passed", "allow_undecided=True: found ABSTAIN")
    assert (eligible.result, agreement.result) == ("passed", "skipped")
    with pytest.raises(GateFailed, match="passed=True: found ERROR"):
        BROKEN.require(allow_undecided=True, passed=True)


@pytest.mark.parametrize("verdict", [UNANIMOUS, SPLIT, LABELLED, verdict_of("FAIL")])
def test_who_decides_is_not_asked_whether_it_did(verdict):
    assert verdict.require() == ()
    (gate,) = verdict.require(allow_undecided=False)
    assert (gate.result, gate.note) == ("passed", f"allow_undecided=False: found {verdict.opinion}")


def test_what_a_guard_decides_has_no_agreement_to_ask_for():
    guard = Tier("guard", Ensemble([always_pass(), lambda case: False]), "reject_on_any_fail")
    verdict = CascadedJury([guard, Tier("last", always_pass())]).judge("?")
    gates = verdict.require(min_agreement=0.9, min_confidence="high", allow_escalation=False)
    assert [gate.result for gate in gates] == ["skipped", "skipped", "passed"]
    assert [gate.note.partition(": ")[2] for gate in gates[:2]] == ["undefined (decided by a guard, by rule)"] * 2


def test_an_early_stopping_verdict_is_partial():
    verdict = Ensemble([always_pass()] * 3, schedule="early_stop").judge("?")
    (gate,) = check_gates(verdict, allow_partial=False)
    assert gate.result == "failed"


def test_nothing_is_checked_that_was_not_asked():
    assert check_gates(SPLIT) == ()
    assert check_gates(SPLIT, undefined="fail") == ()
    assert check_gates(verdict_of("FAIL")) == ()


def test_require_names_every_condition_that_is_not_met():
    with pytest.raises(GateFailed) as caught:
        SPLIT.require(passed=True, min_agreement=0.9, allow_escalation=False, min_eligible=2)
    unmet = caught.value.unmet
    assert [line.partition("=")[0] for line in unmet] == ["min_agreement", "allow_escalation"]
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
        ({"min_confidence": "hihg"}, r"unknown band 'hihg'\. Did you mean 'high'\?"),
        ({"undefined": "ignore"}, r"unknown undefined= 'ignore'\. Known: fail, skip"),
        ({"min_agreement": "0.5"}, "min_agreement takes a number, not '0.5'"),
        ({"min_agreement": True}, "min_agreement takes a number, not True"),
        ({"passed": "yes"}, "passed takes True or False, not 'yes'"),
        ({"allow_escalation": 0}, "allow_escalation takes True or False, not 0"),
        ({"allow_undecided": "yes"}, "allow_undecided takes True or False, not 'yes'"),
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
