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
