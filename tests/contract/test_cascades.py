"""Cascades: where each policy stops, what the verdict says then, and when a case needs review."""

from itertools import product

import pytest
from fact_tables import each_row
from jurors import FAIL, PASS, Says, jurors_of, labelled

from jury_adapters import CascadedJury, Ensemble, Finding, GateFailed, Judgment, Tier, Usage, judge


def cascade_of(votes, policy="final", last=PASS, **options):
    """Return a cascade with a jury in its first tier and one judge in its last."""
    jury = Ensemble(jurors_of(votes), voting="majority")
    return CascadedJury([Tier("first", jury, policy, **options), Tier("last", Says(last, "judge"))])


STOPS = [  # policy; votes of its jury; options; the status with which the cascade stops, None if it goes on; why
    ("reject_on_any_fail", "PPF", {}, "FAIL", "j2 said FAIL, and one FAIL rejects"),
    ("reject_on_any_fail", "FFP", {}, "FAIL", "j0, j1 said FAIL"),
    ("reject_on_any_fail", "F!-", {}, "FAIL", "j0 said FAIL"),
    ("reject_on_any_fail", "PP", {}, None, "no FAIL"),
    ("reject_on_any_fail", "P-", {}, None, "no FAIL"),
    ("reject_on_any_fail", "P!", {}, None, "no FAIL"),
    ("reject_on_any_fail", "!!", {}, None, "no FAIL"),
    ("reject_on_any_fail", "PP!", {"if_broken": "reject"}, "FAIL", "a judge broke, and if_broken='reject'"),
    ("reject_on_any_fail", "!!", {"if_broken": "reject"}, "FAIL", "a judge broke"),
    ("reject_on_any_fail", "F!", {"if_broken": "reject"}, "FAIL", "j0 said FAIL"),
    ("reject_on_any_fail", "P-", {"if_broken": "reject"}, None, "no FAIL"),
    ("accept_on_all_pass", "PP", {}, "PASS", "all said PASS"),
    ("accept_on_all_pass", "PPF", {}, None, "not all said PASS"),
    ("accept_on_all_pass", "PP-", {}, None, "not all said PASS"),
    ("accept_on_all_pass", "PP!", {}, None, "not all said PASS"),
    ("accept_on_all_pass", "--", {}, None, "not all said PASS"),
    ("accept_on_all_pass", "FF", {}, None, "not all said PASS"),
    ("escalate_on_split", "PP", {}, "PASS", "all said PASS"),
    ("escalate_on_split", "FF-", {}, "FAIL", "all said FAIL"),
    ("escalate_on_split", "PPF", {}, None, "do not all agree"),
    ("escalate_on_split", "PPP!", {}, None, "do not all agree"),
    ("escalate_on_split", "--", {}, None, "do not all agree"),
    ("escalate_on_split", "!!", {}, None, "do not all agree"),
    ("escalate_below", "PPPPF", {}, "PASS", "confidence 0.80 reaches 0.8"),
    ("escalate_below", "FFFF!", {}, "FAIL", "confidence 0.80 reaches 0.8"),
    ("escalate_below", "PPF", {}, None, "confidence 0.67 is below 0.8"),
    ("escalate_below", "PPF", {"confidence": 0.5}, "PASS", "confidence 0.67 reaches 0.5"),
    ("escalate_below", "PP", {"confidence": 1.0}, "PASS", "confidence 1.00 reaches 1"),
    ("escalate_below", "--", {"confidence": 0.0}, None, "no confidence"),
    ("escalate_below", "!!", {"confidence": 0.0}, None, "no confidence"),
]
BY_RULE = ("reject_on_any_fail", "accept_on_all_pass")


@each_row(("policy", "votes", "options", "status", "why"), STOPS)
def test_a_policy_stops_or_goes_on(policy: str, votes: str, options: dict, status: str | None, why: str) -> None:
    passing, verdict = (cascade_of(votes, policy, last, **options).judge("?") for last in (PASS, FAIL))
    assert ((passing.status, verdict.status), verdict.stopped_at, [*verdict.tiers]) == (
        (status or "PASS", status or "FAIL"),
        "first" if status else "last",
        ["first"] if status else ["first", "last"],
    )
    assert verdict.skipped == (("last",) if status else ())
    assert why in verdict.tiers["first"].why
    assert verdict.tiers["first"].by_rule is verdict.by_rule is (status is not None and policy in BY_RULE)
    assert verdict.reasoning.startswith(f"at {verdict.stopped_at}: ")
    assert (verdict.voting, verdict.critic) == ("cascade", "CascadedJury")


SPELLINGS = ["REJECT_ON_ANY_FAIL", "ACCEPT_ON_ALL_PASS", "ESCALATE_ON_SPLIT", "Escalate_Below", "FINAL_TIER", "final"]


@each_row("policy", SPELLINGS)
def test_names_of_the_seeds_are_accepted(policy: str) -> None:
    assert Tier("t", Says(PASS), policy).policy == policy.lower().removesuffix("_tier")


SAID = [  # what a single judge of a tier says under each policy, and the status with which the cascade stops
    (Judgment(status="PASS", confidence=0.9), {"escalate_below": "PASS", "accept_on_all_pass": "PASS"}),
    (Judgment(status="PASS", confidence=0.7), {"accept_on_all_pass": "PASS"}),
    (Judgment(status="FAIL", confidence=0.9), {"escalate_below": "FAIL", "reject_on_any_fail": "FAIL"}),
    (Judgment(status="FAIL"), {"reject_on_any_fail": "FAIL"}),
    (labelled("A", confidence=0.9), {"escalate_below": "LABEL"}),
    (Judgment(status="ABSTAIN", reasoning="no", confidence=0.9), {}),
    (Judgment(status="ERROR", error="down"), {}),
]


@each_row(("said", "stops"), SAID)
def test_a_tier_may_be_a_single_judge(said: Judgment, stops: dict) -> None:
    for policy in ("reject_on_any_fail", "accept_on_all_pass", "escalate_below"):
        jury = CascadedJury([Tier("first", Says(said, labels={"A": "LABEL"}), policy), Tier("last", Says(PASS))])
        verdict = jury.judge("?")
        assert (verdict.stopped_at, verdict.status, verdict.label) == (
            "first" if policy in stops else "last",
            stops.get(policy, "PASS"),
            said.label if policy in stops else None,
        )


FINAL = [("PF", "FAIL"), ("PP", "PASS"), ("--", "ABSTAIN"), ("P!", "ERROR")]


@each_row(("votes", "status"), FINAL)
def test_the_final_tier_always_stops(votes: str, status: str) -> None:
    verdict = CascadedJury([Tier("only", Ensemble(jurors_of(votes)), "FINAL_TIER")]).judge("?")
    assert (verdict.status, verdict.stopped_at, verdict.by_rule) == (status, "only", False)
    assert bool(verdict.error) is (status == "ERROR")


def test_a_verdict_has_score_label_confidence_and_findings_of_the_tier_at_which_it_stopped() -> None:
    said = Judgment(
        status="PASS", score=0.9, label="good", confidence=0.95, reasoning="it fits",
        findings=[Finding(name="claim", passed=True)], usage=Usage(calls=2),
    )  # fmt: skip
    first = Says(Judgment(status="FAIL", confidence=0.5, usage=Usage(calls=1)))
    jury = CascadedJury(
        [Tier("cheap", first, "escalate_below"), Tier("good", Says(said, labels={"good": "PASS"}))], name="my jury"
    )
    verdict = jury.judge("?")
    assert (
        (verdict.score, verdict.label, verdict.confidence),
        (verdict.findings, verdict.reasoning),
        (verdict.usage.calls, verdict.critic),
    ) == ((0.9, "good", 0.95), (said.findings, "at good: it fits"), (3, "my jury"))
    assert (jury.labels, jury.size) == ({"good": "PASS"}, 2)


def test_a_policy_that_overrules_the_vote_gives_no_number_and_the_reasons_of_those_it_followed() -> None:
    fine = Judgment(status="PASS", reasoning="fine")
    said = [fine, fine, Judgment(status="FAIL", reasoning="it leaks a key", score=0.1)]
    jury = Ensemble([Says(one, f"j{place}") for place, one in enumerate(said)], voting="average")
    verdict = CascadedJury([Tier("guard", jury, "reject_on_any_fail"), Tier("last", Says(PASS))]).judge("?")
    assert (verdict.tiers["guard"].status, (verdict.status, verdict.score, verdict.confidence), verdict.reasoning) == (
        "PASS",
        ("FAIL", None, None),
        "at guard: it leaks a key",
    )
    broken = cascade_of("PP!", "reject_on_any_fail", if_broken="reject").judge("?")
    assert ((broken.status, broken.error, broken.confidence), broken.reasoning) == (
        ("FAIL", None, None),
        "at first: a judge broke, and if_broken='reject'",
    )


REVIEW = [  # policy of the first tier; its votes; the review reasons of the cascade
    ("reject_on_any_fail", "PPF", ()),  # by rule: the two PASS are no dissent
    ("reject_on_any_fail", "PP", ()),
    ("reject_on_any_fail", "P!", ("undecided_tier",)),  # which might have rejected
    ("reject_on_any_fail", "P-", ()),
    ("reject_on_any_fail", "!!", ("undecided_tier",)),
    ("reject_on_any_fail", "-!", ("undecided_tier",)),
    ("accept_on_all_pass", "PP", ()),
    ("escalate_on_split", "--", ("undecided_tier",)),
    ("escalate_below", "PPPPF", ("low_agreement",)),
    ("escalate_below", "PPPPPPPPPPF", ()),
    ("escalate_below", "PPF", ()),
]


@each_row(("policy", "votes", "reasons"), REVIEW)
def test_a_tier_that_could_not_run_at_all_needs_review_and_a_rule_does_not(
    policy: str, votes: str, reasons: tuple
) -> None:
    verdict = cascade_of(votes, policy).judge("?")
    assert verdict.review_reasons == reasons
    assert verdict.needs_review is bool(reasons)
    if reasons:
        with pytest.raises(GateFailed, match="needs_review"):
            verdict.require(needs_review=False)


def test_agreement_is_that_of_the_tier_at_which_it_stopped_and_of_no_screen() -> None:
    assert cascade_of("PPF", "reject_on_any_fail").judge("?").agreement is None
    assert cascade_of("PPPPF", "escalate_below").judge("?").agreement == pytest.approx(0.6)
    assert cascade_of("PPF", "escalate_below").judge("?").agreement is None


def test_a_broken_tier_of_one_judge_needs_review_too() -> None:
    jury = CascadedJury([Tier("first", Says(OSError("down")), "accept_on_all_pass"), Tier("last", Says(PASS))])
    assert jury.judge("?").review_reasons == ("undecided_tier",)


def test_cascades_nest() -> None:
    inner = cascade_of("PPF", "reject_on_any_fail")
    outer = CascadedJury([Tier("screen", Says(PASS, "screen judge"), "reject_on_any_fail"), Tier("deep", inner)])
    verdict = outer.judge("?")
    assert (
        (verdict.status, verdict.stopped_at),
        [*verdict.tiers],
        (verdict.tiers["deep"].stopped_at, [*verdict.tiers["deep"].tiers]),
    ) == (("FAIL", "deep"), ["screen", "deep"], ("first", ["first"]))
    assert (
        verdict.tiers["deep"].skipped,
        (verdict.by_rule, verdict.agreement),
        [one.critic for one in verdict.jurors()],
    ) == (("last",), (True, None), ["screen judge", "j0", "j1", "j2"])


def test_review_reasons_of_a_cascade_inside_are_those_of_the_cascade_around() -> None:
    inner = cascade_of("!!", "reject_on_any_fail")
    assert CascadedJury([Tier("only", inner)]).judge("?").review_reasons == ("undecided_tier",)
    split = cascade_of("PPPPF", "escalate_below")
    assert CascadedJury([Tier("only", split)]).judge("?").review_reasons == ("low_agreement",)


def test_jurors_that_agree_in_labels_that_pass_are_not_split() -> None:
    jurors = [judge(lambda case: "POLITE", labels={"POLITE": "pass", "RUDE": "fail"}, name=name) for name in "abc"]
    jury = CascadedJury([Tier("cheap", Ensemble(jurors), "escalate_on_split"), Tier("costly", Says(FAIL))])
    assert jury.judge("?").stopped_at == "cheap"


def test_a_tier_of_neutral_labels_stops_with_the_label_of_all() -> None:
    for said, stopped in (("AA", "cheap"), ("AB", "last")):
        jurors = [Says(labelled(one), labels={"A": "LABEL", "B": "LABEL"}) for one in said]
        jury = CascadedJury([Tier("cheap", Ensemble(jurors), "escalate_on_split"), Tier("last", Says(FAIL))])
        verdict = jury.judge("?")
        assert (verdict.stopped_at, verdict.label) == (stopped, "A" if stopped == "cheap" else None)


def test_tiers_may_give_one_label_different_meanings() -> None:
    for said, status, stopped in ((0.9, "PASS", "first"), (0.1, "FAIL", "last")):
        first = Says(labelled("OK", "PASS", confidence=said), labels={"OK": "PASS"})
        last = Says(labelled("OK", "FAIL"), labels={"OK": "FAIL"})
        verdict = CascadedJury([Tier("first", first, "escalate_below"), Tier("last", last)]).judge("?")
        assert (verdict.status, verdict.label, verdict.stopped_at) == (status, "OK", stopped)


def test_later_tiers_are_asked_only_when_needed() -> None:
    for votes in product("PF-!", repeat=2):
        last = Says(PASS)
        jury = CascadedJury([Tier("a", Ensemble(jurors_of(votes)), "escalate_on_split"), Tier("b", last)])
        assert (last.asked, jury.judge("?").stopped_at) == (0, "b" if last.asked else "a")
        agree = len({*votes} - {"-"}) == 1 and "!" not in votes
        assert last.asked == (0 if agree else 1)
