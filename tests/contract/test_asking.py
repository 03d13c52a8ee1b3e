"""Asking, by which every adapter has runs judged."""

import asyncio
from types import SimpleNamespace

import pytest
from fact_tables import each_row
from running import Memory, Paying, passes

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    Judgment,
    Status,
    Tier,
    abstain,
    judge,
)  # fmt: skip
from jury_adapters.core.asking import Asking, without_texts
from jury_adapters.core.context import context

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR


def synchronously(asking, run):
    return asking.judged(run)


def asynchronously(asking, run):
    return asyncio.run(asking.ajudged(run))


def in_a_notebook(asking, run):
    async def cell():
        return asking.judged(run)

    return asyncio.run(cell())


EACH_WAY = pytest.mark.parametrize("judged", [synchronously, asynchronously, in_a_notebook])


@EACH_WAY
def test_a_run_comes_back_with_its_case_and_judgment(judged):
    run = {"question": "q", "id": "r-1", "metadata": {"split": "dev"}}
    found = judged(Asking(Ensemble([passes])), run)
    assert found.run is run
    assert found.case == Case(**run)
    assert (found.judgment.status, found.judgment.case_id, found.judgment.case_metadata) == (
        PASS,
        "r-1",
        run["metadata"],
    )


@EACH_WAY
def test_case_makes_the_case_of_the_run(judged):
    asking = Asking(lambda case: case.answer == "4", case=lambda run: Case(question=run.asked, answer=run.said))
    found = judged(asking, SimpleNamespace(asked="2 + 2?", said="4"))
    assert (found.judgment.status, found.case.question) == (PASS, "2 + 2?")


def raises(run):
    raise LookupError("no answer")


NO_CASES = {"it raises": raises, "it returns nothing": lambda run: None, "it returns a list": lambda run: ["q"]}


@EACH_WAY
@pytest.mark.parametrize("case", NO_CASES.values(), ids=NO_CASES)
def test_a_run_that_makes_no_case_is_an_error_and_nobody_is_asked(judged, case):
    paying = Paying("critic")
    found = judged(Asking(paying, case=case), SimpleNamespace(answer="4"))
    assert (found.case, found.judgment.status, found.judgment.critic) == (None, ERROR, "critic")
    assert found.judgment.error
    assert paying.asked == []


@EACH_WAY
@pytest.mark.parametrize("case", [raises, lambda run: Case(question="q", error=run.error)], ids=["no case", "a case"])
def test_a_run_that_failed_is_fail_and_nobody_is_asked(judged, case):
    paying = Paying("critic")
    found = judged(Asking(paying, case=case), SimpleNamespace(error="the vendor is down, Bearer abcdefgh12345678"))
    assert (found.judgment.status, found.judgment.critic, paying.asked) == (FAIL, "critic", [])
    assert "the vendor is down" in found.judgment.reasoning
    assert "abcdefgh" not in found.judgment.reasoning


@EACH_WAY
def test_the_store_and_the_budget_apply(judged):
    """Trap 16."""
    paying, store, budget = Paying(), Memory(), Budget(max_calls=1)
    asking = Asking(paying, store=store, budget=budget)
    first, again, other = judged(asking, "q"), judged(asking, "q"), judged(asking, "other")
    assert (first.judgment.usage.calls, again.judgment.usage.recorded_calls) == (1, 1)
    assert (other.judgment.status, budget.refused) == (ERROR, 1)
    assert "over budget" in other.judgment.error


@EACH_WAY
def test_judges_know_that_they_are_judging_and_the_caller_does_not(judged):
    """Trap 2."""
    assert judged(Asking(Ensemble([lambda case: context().judging])), "q").judgment.status is PASS
    assert context().judging is False


def test_a_run_that_is_cancelled_is_cancelled():
    async def main():
        task = asyncio.create_task(Asking(Paying(seconds=60)).ajudged("q"))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())


@each_row(
    ("judgment", "allow", "block"),
    [
        (Judgment(status="PASS"), True, True),
        (Judgment(status="PASS", label="POLITE"), True, True),
        (Judgment(status="FAIL"), False, False),
        (Judgment(status="FAIL", score=0.49), False, False),
        (Judgment(status="LABEL", label="A"), True, False),
        (abstain("no contexts"), True, False),
        (Judgment(status="ERROR", error="timeout"), True, False),
    ],
    ids=str,
)
def test_what_a_guard_lets_through(judgment, allow, block):
    assert Asking(passes).lets_through(judgment) is allow
    assert Asking(passes, on_undecided="block").lets_through(judgment) is block


def test_nothing_of_an_answer_is_in_the_verdict_of_a_withheld_one():
    def says(case):
        return case.answer if case.question else "SECRET 2"

    def other(case):
        return "SECRET 2"

    echo = Ensemble([judge(says, labels=None), judge(other, labels=None)], on="label", tie="first")
    jury = CascadedJury([Tier("a", echo, "escalate_on_split"), Tier("b", echo)])
    verdict = without_texts(jury.judge("q", answer="SECRET", generator="SECRET", metadata={"x": "SECRET"}))
    assert "SECRET" not in verdict.model_dump_json()
    assert (verdict.status, verdict.agreement, verdict.stopped_at) == (Status.LABEL, 0.0, "b")


def test_what_is_no_judge_is_refused():
    with pytest.raises(ConfigurationError, match="a judge is"):
        Asking("majority").judge  # noqa: B018
    assert Asking(judge(passes, name="own")).judge.name == "own"
