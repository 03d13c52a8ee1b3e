"""The error of a call that took too long names what failed within its time."""

import asyncio

import pytest

from jury_adapters import Critic, Ensemble, ModelError, judge, panel
from jury_adapters.core.feedback import feedback_of
from jury_adapters.models.limits import Limits
from jury_adapters.models.retries import Limiter
from jury_adapters.testing import ScriptedModel

DOWN = ModelError("the harbour does not answer", "connection", retry_after=60)
GIVEN = {"question": "When?", "answer": "At 8:15."}


def stuck(*errors):
    return ScriptedModel([*errors, *[DOWN] * 9])


@pytest.mark.parametrize("make", [
    lambda: Ensemble([Critic(stuck(), "safety").with_timeout(0.1)]),
    lambda: panel("safety", stuck(), juror_timeout=0.1),
    lambda: panel("safety", stuck(), ScriptedModel("Answer: YES"), juror_timeout=0.1),
])  # fmt: skip
def test_a_time_limit_names_the_last_error(make):
    juror = make().judge(**GIVEN).judgments[0]
    assert juror.reasoning == "no judgment within 0.1 s; last error: connection: the harbour does not answer"
    assert juror.error == "timeout"


def test_of_several_errors_it_is_the_last():
    first = ModelError("overloaded", "server", status=503, retry_after=0)
    judgment = Critic(stuck(first), "safety").with_timeout(0.3).judge(**GIVEN)
    assert "last error: connection: the harbour does not answer" in judgment.reasoning
    assert "overloaded" not in judgment.reasoning


def test_without_a_failed_attempt_there_is_none():
    @judge(timeout=0.05)
    async def slow(case):
        await asyncio.sleep(5)

    assert slow.judge(**GIVEN).reasoning == "no judgment within 0.05 s"


def test_the_errors_of_another_juror_are_not_named():
    @judge(timeout=0.2, name="slow")
    async def slow(case):
        await asyncio.sleep(5)

    verdict = Ensemble([Critic(stuck(), "safety").with_timeout(0.1), slow]).judge(**GIVEN)
    assert [judgment.reasoning.count("last error") for judgment in verdict.judgments] == [1, 0]


def test_the_deadline_of_a_call_names_it_too():
    async def attempt():
        raise DOWN

    limiter = Limiter(Limits(deadline_s=0.1))
    with pytest.raises(ModelError, match=r"deadline of 0\.1 s; last error: connection: the harbour does not answer"):
        asyncio.run(limiter.call(attempt, spent=lambda _: 0))


@pytest.mark.parametrize("others", [[], [lambda case: True, lambda case: True]])
def test_the_feedback_of_a_panel_says_it_once(others):
    said = feedback_of(Ensemble([Critic(stuck(), "safety").with_timeout(0.1), *others]).judge(**GIVEN))
    assert said.count("no judgment within 0.1 s; last error: connection: the harbour does not answer") == 1
