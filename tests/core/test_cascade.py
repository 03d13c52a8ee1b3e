import asyncio
from functools import partial
from itertools import product
from typing import get_args

import pytest
from support.plain_judges import Says

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    Judge,
    Judgment,
    Scorecard,
    Status,
    Tier,
    Usage,
    Verdict,
    escalate_below,
)
from jury_adapters.checks import always_fail, always_pass
from jury_adapters.core.judgment import PASS_OR_FAIL
from jury_adapters.core.tier_policies import POLICIES, THRESHOLD_POLICIES, Policy, PolicyName, is_screening_policy
from jury_adapters.results import TierPolicy
from jury_adapters.voting import all_of

CASE = Case(question="?", answer="!")
LETTERS = {
    "P": Judgment("PASS", usage=Usage(calls=1, cost_usd=0.25)),
    "F": Judgment("FAIL", usage=Usage(calls=1, cost_usd=0.25)),
    "A": Judgment("ABSTAIN", reasoning="cannot say"),
    "E": Judgment("ERROR", error="boom"),
}


class Throws(Judge):
    async def assess(self, case):
        raise OSError("disk gone")


Says = partial(Says, opinion_statuses=PASS_OR_FAIL)


def panel(letters, log=None, **options):
    return Ensemble([Says(LETTERS[letter], f"{letter}{n}", log) for n, letter in enumerate(letters)], **options)


def cascade(judge, policy, then=None, **options):
    return CascadedJury([Tier("first", judge, policy, **options), Tier("last", then or always_pass())])


@pytest.mark.parametrize(
    ("letters", "stops"),
    [("P", False), ("F", True), ("PF", True), ("AF", True), ("EF", True), ("PA", False), ("PE", False), ("A", False)],
)
def test_a_reject_tier_stops_at_any_fail_and_only_at_that(letters, stops):
    verdict = cascade(panel(letters), "reject_on_any_fail").judge(CASE)
    assert (verdict.stopped_at, verdict.status) == (("first", "FAIL") if stops else ("last", "PASS"))
    assert verdict.decision == ("rejected" if stops else "final")


@pytest.mark.parametrize(
    ("letters", "stops"),
    [("P", True), ("PP", True), ("PF", False), ("PA", False), ("PE", False), ("F", False), ("A", False), ("E", False)],
)
def test_an_accept_tier_stops_when_all_pass_and_never_rejects(letters, stops):
    verdict = cascade(panel(letters), "accept_on_all_pass", always_fail()).judge(CASE)
    assert (verdict.stopped_at, verdict.status) == (("first", "PASS") if stops else ("last", "FAIL"))
    assert verdict.decision == ("accepted" if stops else "final")


@pytest.mark.parametrize(
    ("letters", "status"),
    [
        ("P", "PASS"),
        ("PP", "PASS"),
        ("FF", "FAIL"),
        ("FAF", "FAIL"),
        ("PF", None),
        ("PE", None),
        ("A", None),
        ("EE", None),
    ],
)
def test_a_split_tier_accepts_a_unanimous_verdict_either_way(letters, status):
    verdict = cascade(panel(letters), "escalate_on_split", Says(Judgment("PASS", reasoning="last"))).judge(CASE)
    if status is None:
        assert verdict.stopped_at == "last"
    else:
        assert (verdict.stopped_at, verdict.status, verdict.decision) == ("first", status, "accepted")


def low(status, score):
    return Says(Judgment(status, score=score), f"{status} {score}")


@pytest.mark.parametrize(
    "jury",
    [
        Ensemble([low("PASS", 0.3), low("PASS", 0.4)], voting="average"),  # each passes, their mean does not
        Ensemble([low("FAIL", 0.6), low("FAIL", 0.7)], voting="median"),
        panel("FAA", voting="k_veto", k=2),
        Scorecard({"a": low("FAIL", 0.6), "b": low("FAIL", 0.9)}, weights={"a": 1, "b": 1}, threshold=0.5),
    ],
)
def test_a_split_tier_goes_on_if_its_vote_is_not_what_all_jurors_said(jury):
    verdict = cascade(jury, "escalate_on_split").judge(CASE)
    assert (verdict.stopped_at, verdict.tiers[0].why) == ("last", "the vote is not the opinion of the jurors")


def test_agreeing_labels_are_unanimous():
    keep, drop = Judgment(None, label="KEEP"), Judgment(None, label="DROP")
    verdict = cascade(Ensemble([Says(keep), Says(keep)]), "escalate_on_split").judge(CASE)
    assert (verdict.stopped_at, verdict.label, verdict.status) == ("first", "KEEP", None)
    assert cascade(Ensemble([Says(keep), Says(drop)]), "escalate_on_split").judge(CASE).stopped_at == "last"


@pytest.mark.parametrize(
    ("judgment", "stops"),
    [
        (Judgment("PASS", confidence=0.8), True),
        (Judgment("FAIL", confidence=0.9), True),
        (Judgment("PASS", confidence=0.79), False),
        (Judgment("PASS"), False),
        (Judgment("ABSTAIN", reasoning="cannot say", confidence=1.0), False),
        (Judgment("ERROR", error="boom", confidence=1.0), False),
        (Judgment(None, label="KEEP", confidence=0.8), True),
    ],
)
def test_a_confidence_tier_accepts_from_the_threshold_on(judgment, stops):
    verdict = cascade(Says(judgment), escalate_below(0.8)).judge(CASE)
    assert verdict.stopped_at == ("first" if stops else "last")
    if stops:
        assert (verdict.status, verdict.confidence, verdict.decision) == (
            judgment.status,
            judgment.confidence,
            "accepted",
        )
    assert verdict.tiers[0].policy == "escalate_below(0.8)"


def test_the_confidence_of_a_jury_is_that_of_its_vote():
    assert cascade(panel("PPPF"), escalate_below(0.75)).judge(CASE).stopped_at == "first"
    assert cascade(panel("PPPF"), escalate_below(0.76)).judge(CASE).stopped_at == "last"
    assert cascade(panel("A"), escalate_below(0)).judge(CASE).stopped_at == "last"


@pytest.mark.parametrize("judge", [Throws(), panel("PE"), panel("E"), Ensemble([Throws()], errors="propagate")])
def test_a_broken_judge_of_a_reject_tier_escalates_or_rejects_as_told_and_is_named(judge):
    verdict = cascade(judge, "reject_on_any_fail").judge(CASE)
    assert (verdict.stopped_at, verdict.status, verdict.failed_tiers) == ("last", "PASS", ("first",))
    verdict = cascade(judge, "reject_on_any_fail", if_broken="reject").judge(CASE)
    assert verdict.tally.errors_decided  # nobody objected
    assert verdict.needs_review
    assert (verdict.stopped_at, verdict.status, verdict.decision) == ("first", "FAIL", "rejected")
    assert verdict.failed_tiers == ("first",)
    assert "broken judge" in verdict.reasoning


def test_a_juror_of_a_reject_tier_that_objects_decides_and_not_those_that_broke_beside_it():
    verdict = cascade(panel("PPFEE"), "reject_on_any_fail").judge(CASE)
    assert verdict.tiers[0].judgment.tally.errors_decided  # in the tier's own vote, which is not what counts here
    assert (verdict.decision, verdict.tally.errors_decided) == ("rejected", False)
    assert verdict.review_reasons == ("broken_tier",)  # jurors that could not run are seen


@pytest.mark.parametrize("policy", ["accept_on_all_pass", "escalate_on_split", escalate_below(0.1)])
def test_a_broken_tier_of_any_other_kind_escalates_and_is_named(policy):
    verdict = cascade(Throws(), policy).judge(CASE)
    assert (verdict.stopped_at, verdict.status, verdict.failed_tiers) == ("last", "PASS", ("first",))


def test_one_error_inside_an_accept_tier_does_not_break_the_tier():
    assert cascade(panel("PE"), "accept_on_all_pass").judge(CASE).failed_tiers == ()


def test_a_broken_final_tier_is_an_error_verdict_and_no_exception():
    verdict = cascade(panel("P"), "reject_on_any_fail", Throws()).judge(CASE)
    assert (verdict.status, verdict.decision, verdict.stopped_at) == (Status.ERROR, "error", "last")
    assert (verdict.error, verdict.failed_tiers, verdict.judgments) == ("OSError: disk gone", ("last",), ())


def test_a_final_tier_may_abstain_or_give_a_label():
    assert cascade(panel("P"), "reject_on_any_fail", panel("A")).judge(CASE).status is Status.ABSTAIN
    verdict = cascade(panel("P"), "reject_on_any_fail", Says(Judgment(None, label="B"))).judge(CASE)
    assert (verdict.status, verdict.label, verdict.decision) == (None, "B", "final")


def test_the_policy_overrules_the_tiers_own_vote_and_its_numbers():
    rejected = cascade(panel("PPF", voting="average"), "reject_on_any_fail").judge(CASE)
    assert (rejected.tiers[0].judgment.status, rejected.status) == (Status.PASS, Status.FAIL)
    assert (rejected.score, rejected.confidence) == (None, None)
    kept = cascade(panel("FF", voting="average"), "reject_on_any_fail").judge(CASE)
    assert (kept.score, kept.confidence) == (0.0, None)  # one FAIL is enough, whatever share voted for it
    strict = panel("PP", voting=lambda judgments: False)
    accepted = cascade(strict, "accept_on_all_pass").judge(CASE)
    assert (accepted.tiers[0].judgment.status, accepted.status) == (Status.FAIL, Status.PASS)


def test_accepting_nobody_is_not_accepting():
    inner = CascadedJury([Tier("only", Throws())])
    assert cascade(inner, "accept_on_all_pass", always_fail()).judge(CASE).stopped_at == "last"
    assert cascade(Throws(), "accept_on_all_pass", always_fail()).judge(CASE).stopped_at == "last"


def test_a_verdict_keeps_each_tier_that_ran_with_its_usage_and_what_was_saved():
    log = []
    jury = CascadedJury(
        [
            Tier("screen", panel("PP", log), "reject_on_any_fail"),
            Tier("cheap", panel("PFP", log), "escalate_on_split"),
            Tier("sure", panel("PP", log), "accept_on_all_pass"),
            Tier("dear", panel("PPPPP", log), "final"),
        ],
        name="funnel",
    )
    verdict = jury.judge(CASE)
    assert isinstance(verdict, Verdict)
    assert (verdict.critic, verdict.stopped_at, verdict.decision) == ("funnel", "sure", "accepted")
    assert [(tier.name, tier.stopped, tier.judgment.usage.calls) for tier in verdict.tiers] == [
        ("screen", False, 2), ("cheap", False, 3), ("sure", True, 2),
    ]  # fmt: skip
    assert (verdict.usage.calls, verdict.usage.cost_usd) == (7, 1.75)
    assert (verdict.skipped, verdict.calls_saved) == (("dear",), 5)
    assert len(log) == 7
    assert [judgment.critic for judgment in verdict.judgments] == ["P0", "P1"]
    assert (verdict.tally.passed, verdict.voting) == (2, "majority")
    assert verdict.reasoning == "accepted at sure: all 2 said PASS"
    assert [tier.policy for tier in verdict.tiers] == ["reject_on_any_fail", "escalate_on_split", "accept_on_all_pass"]
    assert [tier.name for tier in verdict.tiers if tier.why == "not unanimous"] == ["cheap"]
    assert all(isinstance(tier.judgment, Verdict) for tier in verdict.tiers)
    assert jury.size == 12


@pytest.mark.parametrize(
    ("judge", "policy", "said"),
    [
        (Ensemble([Says(Judgment("FAIL", reasoning="invented")), always_fail()]), "escalate_on_split",
         "decided at first: invented"),
        (panel("FF"), "escalate_on_split", "decided at first: unanimous: FAIL"),
        (panel("PP"), "escalate_on_split", "accepted at first: unanimous: PASS"),
        (Says(Judgment(None, label="KEEP", reasoning="useful")), "escalate_on_split", "decided at first: useful"),
        (Says(Judgment("PASS", reasoning="word for word")), "accept_on_all_pass", "accepted at first: word for word"),
        (Says(Judgment("FAIL", confidence=0.9, reasoning="invented")), escalate_below(0.8),
         "decided at first: invented"),
        (panel("F"), escalate_below(0.8), "decided at first: confidence 1.000 reaches 0.8"),
    ],
)  # fmt: skip
def test_the_sentence_says_what_was_decided_and_why(judge, policy, said):
    verdict = cascade(judge, policy).judge(CASE)
    assert (verdict.reasoning, verdict.decision) == (said, "accepted")


def test_a_final_tier_that_cannot_say_leaves_the_case_undecided():
    unsure = Says(Judgment("ABSTAIN", reasoning="no contexts"))
    assert CascadedJury([Tier("last", unsure)]).judge(CASE).reasoning == "abstained at last: no contexts"
    assert CascadedJury([Tier("abstained", unsure)]).judge(CASE).reasoning == "abstained: no contexts"


def test_a_single_judge_is_its_tiers_one_individual():
    verdict = cascade(Says(Judgment("FAIL", score=0.2)), "reject_on_any_fail").judge(CASE)
    assert (verdict.status, verdict.score, len(verdict.judgments)) == (Status.FAIL, 0.2, 1)
    assert (verdict.tally.eligible, verdict.tally.failed, verdict.tally.ballots) == (1, 1, ("FAIL",))


def test_the_individuals_of_a_nested_cascade_are_those_of_its_stopping_tier():
    inner = CascadedJury([Tier("a", panel("PF"), "escalate_on_split"), Tier("b", panel("PPP"))])
    verdict = CascadedJury([Tier("outer", inner, "accept_on_all_pass"), Tier("last", always_fail())]).judge(CASE)
    assert (verdict.status, verdict.stopped_at, len(verdict.judgments)) == (Status.PASS, "outer", 3)
    assert verdict.tiers[0].judgment.stopped_at == "b"
    nested = cascade(cascade(panel("PPF"), "reject_on_any_fail"), "reject_on_any_fail").judge(CASE)
    assert (nested.status, nested.stopped_at) == (Status.FAIL, "first")


def test_calls_saved_inside_a_nested_cascade_are_counted():
    inner = CascadedJury([Tier("a", panel("P"), "accept_on_all_pass"), Tier("b", panel("PPP"))])
    assert CascadedJury([Tier("outer", inner)]).judge(CASE).calls_saved == 3


def test_a_chain_is_a_tier_too():
    verdict = cascade(all_of(always_pass(), always_fail()), "reject_on_any_fail").judge(CASE)
    assert (verdict.status, verdict.stopped_at) == (Status.FAIL, "first")


@pytest.mark.parametrize(
    ("policy", "letters", "asked", "stops"),
    [
        ("reject_on_any_fail", "PPFPP", 3, True),
        ("reject_on_any_fail", "PAEPP", 5, False),
        ("reject_on_any_fail", "PPPPF", 5, True),
        ("accept_on_all_pass", "PFPPP", 2, False),
        ("accept_on_all_pass", "APPPP", 1, False),
        ("accept_on_all_pass", "PEPPP", 2, False),
        ("accept_on_all_pass", "PPPPP", 5, True),
        ("escalate_on_split", "PFPPP", 2, False),
        ("escalate_on_split", "AAPFP", 4, False),
        ("escalate_on_split", "PEPPP", 2, False),
        ("escalate_on_split", "FFFFF", 5, True),
        (escalate_below(0.5), "PPPFF", 5, True),
        ("final", "PPPFF", 3, True),
    ],
)
def test_an_early_stopping_tier_settles_on_its_policy_and_not_on_its_vote(policy, letters, asked, stops):
    log = []
    early = panel(letters, log, schedule="early_stop")
    jury = CascadedJury([Tier("first", early, policy)]) if policy == "final" else cascade(early, policy)
    verdict = jury.judge(CASE)
    assert len(log) == asked
    assert (verdict.stopped_at == "first") is stops
    tier = verdict.tiers[0].judgment
    assert (tier.partial, tier.calls_saved) == (asked < len(letters), len(letters) - asked)
    assert verdict.calls_saved == len(letters) - asked + (stops and policy != "final")


@pytest.mark.parametrize("jurors", [3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "policy", ["reject_on_any_fail", "accept_on_all_pass", "escalate_on_split", escalate_below(0.6)]
)
def test_a_cascade_decides_alike_whether_its_tiers_are_early_stopping_or_not(policy, jurors):
    for votes in product("PFAE", repeat=jurors):
        letters = "".join(votes)
        early = cascade(panel(letters, schedule="early_stop"), policy).judge(CASE)
        full = cascade(panel(letters), policy).judge(CASE)
        assert (early.status, early.stopped_at, early.decision) == (full.status, full.stopped_at, full.decision)


def test_an_early_stopping_jury_outside_a_cascade_keeps_settling_on_its_vote():
    early = panel("PPFF", schedule="early_stop", tie="pass")
    cascade(early, "reject_on_any_fail").judge(CASE)
    assert early.judge(CASE).calls_saved == 2


def test_waiting_tiers_run_one_after_the_other():
    log = []

    class Waits(Judge):
        def __init__(self, name):
            self.name = name

        async def assess(self, case):
            log.append(f"{self.name} starts")
            await asyncio.sleep(0)
            log.append(f"{self.name} ends")
            return True

    jury = CascadedJury([Tier("a", Waits("a"), "reject_on_any_fail"), Tier("b", Waits("b"))])
    assert not jury.inline
    assert jury.judge(CASE).passed
    assert log == ["a starts", "a ends", "b starts", "b ends"]


def test_a_tier_that_is_too_slow_is_broken():
    class Hangs(Judge):
        async def assess(self, case):
            await asyncio.Event().wait()

    verdict = cascade(Hangs().with_timeout(0.02), "reject_on_any_fail", if_broken="reject").judge(CASE)
    assert (verdict.status, verdict.failed_tiers) == (Status.FAIL, ("first",))
    assert verdict.tiers[0].judgment.error == "timeout"


def test_the_generators_family_is_looked_for_in_the_stopping_tier():
    jury = cascade(Ensemble([Says(Judgment("FAIL", model="gpt-4o"))]), "reject_on_any_fail")
    assert jury.judge("?", generator="o3").same_family
    assert not jury.judge("?", generator="claude-3").same_family


@pytest.mark.parametrize(
    ("written", "policy"),
    [
        ("final", Policy.FINAL),
        ("FINAL", Policy.FINAL),
        ("FINAL_TIER", Policy.FINAL),
        ("Reject_On_Any_Fail", Policy.REJECT_ON_ANY_FAIL),
        (Policy.ESCALATE_ON_SPLIT, Policy.ESCALATE_ON_SPLIT),
        (TierPolicy(Policy.FINAL), Policy.FINAL),
        (TierPolicy("accept_on_all_pass"), Policy.ACCEPT_ON_ALL_PASS),
        (escalate_below(0.5), Policy.ESCALATE_BELOW),
    ],
)
def test_policies_are_read_however_they_are_written(written, policy):
    assert Tier("t", always_pass(), written).policy.kind is policy


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: CascadedJury([]), r"a cascade needs tiers, the last of them final \(FINAL_TIER\)"),
        (lambda: CascadedJury(Tier("a", always_pass())), r"takes a list of tiers.*CascadedJury\(\[tier\]\)"),
        (lambda: CascadedJury([always_pass()]), r"made of Tier\(name, judge, policy\), not of _Always"),
        (
            lambda: CascadedJury([Tier("a", always_pass(), "escalate_on_split")]),
            r"the last tier, 'a', must be final \(FINAL_TIER\), not escalate_on_split",
        ),
        (
            lambda: CascadedJury([Tier("a", always_pass()), Tier("b", always_pass())]),
            r"tier 'a' is final \(FINAL_TIER\), the default, but not the last.*give it the policy reject_on_any_fail",
        ),
        (
            lambda: CascadedJury([Tier("a", always_pass(), "reject_on_any_fail"), Tier("a", always_pass())]),
            "two tiers are called 'a'",
        ),
        (lambda: Tier("", always_pass()), "a tier needs a name"),
        (lambda: Tier(always_pass(), always_pass()), "a tier needs a name"),
        (lambda: Tier("a", 5), "tier 'a': give a jury, another Judge or a function of a Case, not int"),
        (lambda: Tier("a", always_pass(), "finl"), r"unknown policy 'finl'.*final \(FINAL_TIER\)"),
        (lambda: Tier("a", always_pass(), "escalate_below"), r"needs its threshold: policy=escalate_below\(0\.8\)"),
        (lambda: Tier("a", always_pass(), TierPolicy(Policy.ESCALATE_BELOW)), "escalate_below needs its threshold"),
        (lambda: TierPolicy("reject"), r"unknown policy 'reject'.*reject_on_any_fail"),
        (lambda: TierPolicy(Policy.ESCALATE_BELOW, 80), "must be a number from 0 to 1"),
        (lambda: TierPolicy("final", 0.5), "final has no threshold; escalate_below has"),
        (lambda: escalate_below(80), "escalate_below must be a number from 0 to 1, not 80"),
        (lambda: Tier("a", always_pass(), "final", if_broken="reject"), "belongs to a reject_on_any_fail tier; 'a' is"),
        (
            lambda: Tier("a", always_pass(), "final", if_broken="stop"),
            r"unknown if_broken= 'stop'. Known: escalate, reject",
        ),
    ],
)
def test_what_cannot_work_is_refused_when_the_cascade_is_built(build, message):
    with pytest.raises(ConfigurationError, match=message):
        build()


def test_functions_are_tiers_too():
    jury = CascadedJury(
        [Tier("short", lambda case: len(case.answer) < 5, "reject_on_any_fail"), Tier("t", lambda c: 0.9)]
    )
    assert jury.judge(answer="much too long").stopped_at == "short"
    assert jury.judge(answer="fine").score == 0.9


def test_every_policy_has_a_class_and_a_name_for_type_checkers():
    named = {name for name in get_args(PolicyName) if name != "FINAL_TIER"}
    assert named | set(THRESHOLD_POLICIES) == set(Policy)
    assert not named & set(THRESHOLD_POLICIES)
    assert [rule.kind for rule in POLICIES.values()] == list(POLICIES) == list(Policy)


def test_the_policies_of_screening_tiers_are_known_by_their_texts():
    policies = [TierPolicy(kind, 0.8 if rule.takes_threshold else None) for kind, rule in POLICIES.items()]
    assert [policy.kind for policy in policies if is_screening_policy(str(policy))] == [
        Policy.REJECT_ON_ANY_FAIL,
        Policy.ACCEPT_ON_ALL_PASS,
    ]


def test_a_rejection_is_no_tied_vote():
    jury = cascade(panel("PF"), "reject_on_any_fail")
    assert "tied" not in str(jury.judge(CASE))
    assert "the vote was tied" in str(panel("PF").judge(CASE))
