import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.plain_judges import Says

from jury_adapters import Case, ConfigurationError, Ensemble, Judge, Judgment, Status, Usage
from jury_adapters.checks import always_fail, always_pass
from jury_adapters.voting import all_of, any_of

CASE = Case(question="?")


def chain(letters, log):
    made = {
        "P": Judgment("PASS"),
        "F": Judgment("FAIL"),
        "A": Judgment("ABSTAIN", reasoning="cannot say"),
        "E": OSError("gone"),
    }
    return [Says(made[letter], f"{letter}{n}", log) for n, letter in enumerate(letters)]


@pytest.mark.parametrize(
    ("letters", "status", "asked"),
    [("PPP", "PASS", 3), ("PFP", "FAIL", 2), ("PAF", "ABSTAIN", 2), ("EPP", "ERROR", 1), ("P", "PASS", 1)],
)
def test_all_of_stops_at_the_first_that_does_not_pass(letters, status, asked):
    log = []
    verdict = all_of(*chain(letters, log)).judge(CASE)
    assert (verdict.status, len(log)) == (status, asked)
    assert verdict.partial is (asked < len(letters))
    assert verdict.calls_saved == len(verdict.skipped) == len(letters) - asked


@pytest.mark.parametrize(
    ("letters", "status", "asked"),
    [
        ("PFF", "PASS", 1),
        ("FFF", "FAIL", 3),
        ("FAP", "PASS", 3),
        ("FAF", "ABSTAIN", 3),
        ("AEF", "ERROR", 3),
        ("EP", "PASS", 2),
        ("F", "FAIL", 1),
    ],
)
def test_any_of_stops_at_the_first_pass_and_fails_only_when_all_fail(letters, status, asked):
    log = []
    verdict = any_of(*chain(letters, log)).judge(CASE)
    assert (verdict.status, len(log)) == (status, asked)


def test_the_operators_are_the_functions():
    assert (always_pass() & always_fail()).judge(CASE).status is Status.FAIL
    assert (always_fail() | always_pass()).judge(CASE).status is Status.PASS
    assert (always_pass() & always_pass() & always_fail()).judge(CASE).status is Status.FAIL
    assert ((always_fail() | always_pass()) & always_pass()).judge(CASE).passed


@given(st.text("PF", min_size=1, max_size=6))
def test_all_of_is_all_and_any_of_is_any(letters):
    assert all_of(*chain(letters, [])).judge(CASE).passed is ("F" not in letters)
    assert any_of(*chain(letters, [])).judge(CASE).passed is ("P" in letters)


def test_the_verdict_carries_the_decisive_judgment_and_all_that_were_made():
    usage = Usage(calls=1, cost_usd=0.5)
    decisive = Judgment("FAIL", score=0.2, confidence=0.9, reasoning="too long", usage=usage)
    verdict = all_of(Says(Judgment("PASS", usage=usage), "first"), Says(decisive, "second"), Says(True, "third")).judge(
        CASE
    )
    assert (verdict.score, verdict.confidence, verdict.reasoning) == (0.2, 0.9, "second: too long")
    assert [judgment.critic for judgment in verdict.judgments] == ["first", "second"]
    assert (verdict.skipped, verdict.voting, verdict.usage.cost_usd) == (("third",), "all_of", 1.0)
    assert (verdict.tally.passed, verdict.tally.failed, verdict.tally.ballots) == (1, 1, ("PASS", "FAIL"))


def test_functions_and_juries_chain_too():
    trio = Ensemble([lambda case: True] * 3)
    verdict = all_of(lambda case: False, trio).judge(CASE)
    assert (verdict.status, verdict.calls_saved) == (Status.FAIL, 3)
    assert any_of(trio, lambda case: False).size == 4


def test_a_broken_judge_in_a_chain_is_named_with_its_error():
    verdict = all_of(Says(OSError("gone"), "disk")).judge(CASE)
    assert (verdict.status, verdict.error) == (Status.ERROR, "OSError: gone")
    assert verdict.judgments[0].critic == "disk"


def test_equal_names_in_a_chain_lose_nothing():
    verdict = all_of(always_pass(name="x"), always_pass(name="x")).judge(CASE)
    assert list(verdict.by_name) == ["x", "x-2"]


@pytest.mark.parametrize("compose", [all_of, any_of])
def test_a_chain_of_nobody_is_refused(compose):
    with pytest.raises(ConfigurationError, match=f"{compose.__name__} needs at least one judge"):
        compose()


def test_waiting_judges_chain_too():
    class Waits(Judge):
        async def assess(self, case):
            return True

    both = all_of(Waits(), always_pass())
    assert not both.inline
    assert both.judge(CASE).passed


def test_repeated_asks_the_same_judge_and_votes():
    answers = iter([True, False, True])
    verdict = Judge.from_function(lambda case: next(answers), name="coin").with_samples(3).judge(CASE)
    assert (verdict.status, verdict.critic, verdict.agreement) == (Status.PASS, "coin x3", pytest.approx(1 / 3))
    assert list(verdict.by_name) == ["coin", "coin-2", "coin-3"]
    assert not always_pass().with_samples(2, voting="average").judge(CASE).disagreement


@pytest.mark.parametrize("times", [0, -1, 2.0, True, "3"])
def test_repeated_takes_a_whole_number_from_1(times):
    with pytest.raises(ConfigurationError, match="whole number from 1"):
        always_pass().with_samples(times)


def test_fixed_judges_say_their_name():
    assert (always_pass().judge(CASE).critic, always_fail(name="later").judge(CASE).critic) == ("always_pass", "later")


def test_a_judge_that_always_says_the_same_takes_the_reason():
    assert always_pass("not built yet").judge(CASE).reasoning == "not built yet"
    assert (always_fail("closed").judge(CASE).status, always_fail("closed").judge(CASE).reasoning) == ("FAIL", "closed")


def test_a_same_family_juror_in_a_chain_is_seen():
    verdict = all_of(Says(Judgment("PASS", model="gpt-4o"), "j")).judge(question="?", generator="o3-mini")
    assert verdict.same_family
