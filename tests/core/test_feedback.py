"""Feedback quotes the reasons for an outcome, and names who broke or voted otherwise."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Judgment, Scorecard, Status, Tier, judge
from jury_adapters.core.feedback import feedback_of


def says(name, *outcome):
    return judge(name=name)(lambda case: outcome if len(outcome) > 1 else outcome[0])


def down(name):
    @judge(name=name)
    def broken(case):
        raise ConnectionError(f"{name} hung up")

    return broken


GOOD = says("good", True, "the answer is well supported")
BAD = says("bad", False, "wrong year")
WORSE = says("worse", False, "no source")
SILENT = says("silent", Status.ABSTAIN, "no contexts")


def feedback(*jurors, **options):
    verdict = Ensemble(jurors, **options).judge(answer="a")
    return verdict.status, feedback_of(verdict)


def test_reasons_are_those_of_the_jurors_for_the_outcome():
    assert feedback(BAD, WORSE, GOOD) == ("FAIL", "wrong year; no source; good voted PASS")
    assert feedback(BAD, GOOD, says("kind", True, "kind")) == (
        "PASS", "the answer is well supported; kind; bad voted FAIL: wrong year",
    )  # fmt: skip
    assert feedback(BAD, BAD) == ("FAIL", "wrong year")
    assert feedback(SILENT, BAD) == ("FAIL", "wrong year; silent abstained: no contexts")
    assert feedback(SILENT) == ("ABSTAIN", "no contexts")


@pytest.mark.parametrize("nested", [False, True])
def test_praise_is_no_reason_for_a_fail_by_outage(nested):
    jury = Ensemble([GOOD, down("a"), down("b")])
    verdict = (CascadedJury([Tier("one", Ensemble([jury]))]) if nested else jury).judge(answer="a")
    text = feedback_of(verdict)
    assert verdict.status is Status.FAIL
    assert "well supported" not in text
    assert "2 jurors could not judge: a (ConnectionError: a hung up), b (ConnectionError: b hung up)" in text
    assert text.endswith("good voted PASS")


def test_a_tie_with_a_broken_juror_says_so():
    status, text = feedback(GOOD, down("b"))
    assert (status, text) == (
        "FAIL",
        "a tie of PASS, FAIL counts as FAIL, 1 juror broke; 1 juror could not judge: b (ConnectionError: b hung up); "
        "good voted PASS",
    )
    tie = Ensemble([GOOD, BAD]).judge(answer="a")
    assert "broke" not in tie.reasoning


def test_a_fail_of_passing_jurors_has_the_reason_of_the_vote():
    half = says("half", 0.6)
    verdict = Ensemble([half, half], voting="average", threshold=0.8).judge(answer="a")
    assert verdict.status is Status.FAIL
    assert feedback_of(verdict).startswith(verdict.reasoning)


def test_in_a_screening_tier_the_other_judges_are_no_dissent():
    rules = Ensemble([GOOD, BAD, SILENT, down("d")], errors="ignore")
    verdict = CascadedJury([Tier("rules", rules, "reject_on_any_fail"), Tier("last", GOOD)]).judge(answer="a")
    assert feedback_of(verdict) == (
        "wrong year; 1 juror could not judge: d (ConnectionError: d hung up); silent abstained: no contexts"
    )


@pytest.mark.parametrize("tier", [False, True])
def test_of_a_scorecard_the_criteria_that_decide_give_the_reasons(tier):
    card = Scorecard(
        {"years": Ensemble([BAD, WORSE, GOOD]), "tone": Ensemble([GOOD, GOOD, says("rude", False, "rude")])}
    )
    jury = CascadedJury([Tier("card", card)]) if tier else card
    assert feedback_of(jury.judge(answer="a")) == "wrong year; no source; good voted PASS"
    outage = Scorecard({"years": Ensemble([GOOD, down("a")]), "tone": down("b")}).judge(answer="a")
    assert "well supported" not in feedback_of(outage)
    for broken in ("a (ConnectionError: a hung up)", "tone (ConnectionError: b hung up)"):
        assert f"1 juror could not judge: {broken}" in feedback_of(outage)


def test_a_judge_that_is_no_jury_speaks_for_itself():
    assert feedback_of(Judgment(Status.FAIL, reasoning="wrong year")) == "wrong year"
    assert feedback_of(Judgment(None, label="polite", reasoning="it says please")) == "it says please"
    assert feedback_of(Judgment(Status.PASS)) == ""


def test_long_errors_are_clipped():
    @judge(name="long")
    def long(case):
        raise ValueError("x" * 5_000)

    assert len(feedback(GOOD, long)[1]) < 400
