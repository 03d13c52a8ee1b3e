"""A call that was not answered in time may still be billed, so that the cost of its judgment is a lower bound."""

import pytest
from support.vendor import Act, VendorServer

from jury_adapters import Budget, Critic, Ensemble, Limits


def critic(server, name="a", **options):
    return Critic("openai:gpt-4o-mini", "faithfulness", base_url=server.openai, api_key="k", name=name, **options)


@pytest.mark.parametrize("kind", ["judge", "juror", "request", "deadline"])
def test_the_cost_of_a_judgment_that_timed_out_is_not_known(server: VendorServer, kind):
    server.plan = lambda ask: Act(delay=20)
    judges = {
        "judge": lambda: critic(server).with_timeout(0.3),
        "juror": lambda: Ensemble([critic(server), critic(server, "b")], juror_timeout=0.3),
        "request": lambda: critic(server, request_timeout=0.3, limits=Limits(attempts=1)),
        "deadline": lambda: critic(server, limits=Limits(deadline_s=0.3)),
    }
    budget = Budget(max_calls=9)
    (judgment,) = judges[kind]().judge_many([{"question": "q", "answer": "a", "contexts": ["c"]}], budget=budget)
    assert "timeout" in str(judgment.to_dict())
    assert not judgment.usage.cost_complete


def test_a_function_that_takes_too_long_costs_nothing():
    def slow(case):
        import time

        time.sleep(0.5)

    judgment = Ensemble([slow], juror_timeout=0.1).judge(answer="a")
    assert judgment.usage.cost_complete


def test_a_verdict_with_a_lost_call_does_not_blame_a_price(server: VendorServer):
    server.plan = lambda ask: Act(delay=20) if len(server.asks) % 2 else Act()
    jury = Ensemble([critic(server), critic(server, "b")], juror_timeout=1, schedule="sequential")
    assert "or more (the cost of a call is unknown)" in str(jury.judge(question="q", answer="a", contexts=["c"]))


JURIES = {
    "judge": lambda server: critic(server).with_timeout(0.3),
    "juror": lambda server: Ensemble([critic(server)], juror_timeout=0.3),
    "request": lambda server: critic(server, request_timeout=0.3, limits=Limits(attempts=1)),
    "deadline": lambda server: critic(server, limits=Limits(deadline_s=0.3)),
}
CASES = [{"question": "q", "answer": f"answer {number}", "contexts": ["c"]} for number in range(4)]


@pytest.mark.parametrize("kind", JURIES)
def test_a_budget_holds_the_most_that_a_call_without_an_answer_may_cost(server: VendorServer, kind):
    server.plan = lambda ask: Act(delay=20)
    judge = JURIES[kind](server)
    most = judge.estimate_cost(CASES[:1]).cost_usd
    budget = Budget(max_usd=2.5 * most)
    list(judge.judge_many(CASES, budget=budget))
    assert len(server.asks) == 2
    assert budget.refused == 2
    assert 1.9 * most < budget.spent.cost_usd <= budget.max_usd


@pytest.mark.parametrize("late", [
    lambda server: critic(server, limits=Limits(requests_per_minute=1)).with_timeout(0.3),
    lambda server: critic(server, limits=Limits(requests_per_minute=1, deadline_s=0.3)),
])  # fmt: skip
def test_a_call_that_ran_out_of_time_before_it_was_sent_costs_the_budget_nothing(server: VendorServer, late):
    budget = Budget(max_tokens=1_000_000)
    judgments = list(late(server).judge_many(CASES, budget=budget))
    assert len(server.asks) == 1
    assert "timeout" in str(judgments[-1].to_dict())
    assert budget.spent.output_tokens == sum(one.usage.output_tokens for one in judgments)
    assert not any("not_asked" in one.metadata for one in judgments)


def test_the_cost_of_a_call_that_waited_until_its_deadline_is_known(server: VendorServer):
    slow = critic(server, limits=Limits(requests_per_minute=1, deadline_s=0.3))
    judgments = list(slow.judge_many(CASES))
    assert [one.usage.cost_complete for one in judgments] == [True] * 4
