"""A calibrated cascade says for which reason it abstains: that no tier is sure enough, or that no juror voted."""

from __future__ import annotations

import logging

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Status, Tier, Verdict
from jury_adapters.calibration import calibrate
from jury_adapters.calibration.guarantee import CalibratedJury
from jury_adapters.core.constant_abstention import ConstantAbstention
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, abstain

CASES = [
    {"answer": "yes", "contexts": ["page"], "metadata": {"item_id": f"{i}", "gold": i < 50}, "question": f"{i}"}
    for i in range(100)
]
NO_CONTEXTS, BROKE = "nothing to judge: no contexts", "the judge broke: ConnectionError: down"
UNSURE = "abstained: no tier is sure enough to keep the guaranteed agreement of 0.9"


def supported(case: Case) -> Judgment:
    """A juror that is right about numbers, and sure of them; without contexts it abstains."""
    if not case.contexts:
        return abstain(NO_CONTEXTS)
    if not (case.question or "").isdigit():
        return Judgment(Status.PASS, confidence=0.1)
    return Judgment(Status.PASS if int(case.question or "") < 50 else Status.FAIL, confidence=0.95)


def breaks_without_contexts(case: Case) -> Judgment:
    if not case.contexts:
        raise ConnectionError("down")
    return supported(case)


def has_reference(case: Case) -> Judgment:
    return supported(case) if case.contexts else abstain("no reference")


def votes_anyhow(case: Case) -> Judgment:
    return supported(case) if case.contexts else Judgment(Status.PASS, confidence=0.1)


def calibrated(*tiers: object) -> CalibratedJury:
    voting = [
        Tier(f"tier {number}", judge, "escalate_on_split" if number < len(tiers) else "final")  # type: ignore[arg-type]
        for number, judge in enumerate(tiers, start=1)
    ]
    screen = Tier("screen", lambda case: bool(case.answer), "reject_on_any_fail")
    return calibrate(CascadedJury([screen, *voting], name="claims"), CASES, agreement=0.9)


def panel(*judges: object) -> Ensemble:
    return Ensemble([FunctionJudge(judge, name=judge.__name__) for judge in judges])  # type: ignore[attr-defined,arg-type]


@pytest.mark.parametrize(
    ("tiers", "reason"),
    [
        ([supported], NO_CONTEXTS),
        ([panel(supported, supported), supported], NO_CONTEXTS),
        ([panel(supported, has_reference)], f"{NO_CONTEXTS}; no reference"),
        ([panel(supported), has_reference], f"{NO_CONTEXTS}; no reference"),
        ([breaks_without_contexts], BROKE),
        ([panel(supported, breaks_without_contexts)], f"{NO_CONTEXTS}; {BROKE}"),
    ],
)
def test_without_a_vote_the_reason_is_that_of_the_jurors(tiers: list[object], reason: str) -> None:
    verdict = calibrated(*tiers).judge(Case(question="7", answer="yes"))
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.stopped_at) == (Status.ABSTAIN, "abstained")
    assert verdict.reasoning == f"abstained: no juror could judge: {reason}"
    assert verdict.tiers[-1].judgment.reasoning == f"no juror could judge: {reason}"
    assert [one.reasoning for one in verdict.judgments] == [f"no juror could judge: {reason}"]


def test_with_a_vote_no_tier_is_sure_enough() -> None:
    jury = calibrated(supported)
    assert jury.judge(Case(question="unsure?", answer="yes", contexts=["page"])).reasoning == UNSURE
    assert jury.judge(Case(question="7", answer="yes", contexts=["page"])).status is Status.PASS


def test_one_vote_is_enough_to_be_unsure() -> None:
    assert calibrated(supported, votes_anyhow).judge(Case(question="7", answer="yes")).reasoning == UNSURE


def test_a_tier_says_that_it_abstained_or_broke() -> None:
    verdict = calibrated(supported).judge(Case(question="7", answer="yes"))
    assert isinstance(verdict, Verdict)
    assert [tier.why for tier in verdict.tiers[:-1]] == ["no FAIL", "the tier abstained"]
    verdict = calibrated(breaks_without_contexts).judge(Case(question="7", answer="yes"))
    assert isinstance(verdict, Verdict)
    assert [tier.why for tier in verdict.tiers[:-1]] == ["no FAIL", "the tier broke"]


def test_the_log_of_an_application_names_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    log, jury = ConstantAbstention(), calibrated(panel(supported, supported))
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            log.add(jury.judge(Case(question=str(number), answer="yes")))
    assert f"abstained: no juror could judge: {NO_CONTEXTS}. If no run has what it needs" in caplog.text
    assert "sure enough" not in caplog.text
