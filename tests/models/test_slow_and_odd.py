"""Findings of the fault runs: bodies that arrive slowly, beyond the time limit, and errors in 200 responses."""

import json
import time

import pytest
from support.asking import failure
from support.vendor import WELL, Act

from jury_adapters import Critic, Limits, Status
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

CASE = a_case(answer="Paris. TRUTH=YES")


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m"])
def test_the_time_limit_of_a_request_holds_also_for_a_body_that_drips(server, name):
    url = server.anthropic if name.startswith("anthropic") else server.openai
    critic = Critic(name, "faithfulness", name="j", base_url=url, api_key="none", request_timeout=1.0)
    with no_waiting():
        critic.judge(a_case(answer="the first call imports the SDK"))
        asked = len(server.asks)
        server.plan = lambda ask: WELL if ask.attempt else Act(drip=0.5)
        started = time.perf_counter()
        assert critic.judge(CASE).status is Status.PASS
    assert time.perf_counter() - started < 8  # all thirty pieces take fifteen seconds
    assert len(server.asks) > asked + 1


@pytest.mark.parametrize(
    ("said", "kind", "tries"),
    [({"code": 502, "message": "upstream is gone"}, "server", 2), ({"code": 429, "message": "slow"}, "rate_limited", 2),
     ({"code": 408, "message": "late"}, "timeout", 2), ({"code": 401, "message": "who?"}, "authentication", 1),
     ({"code": "402", "message": "no credit"}, "quota_exhausted", 1), ({"message": "upstream is gone"}, "server", 2),
     ({"code": 200, "message": "well?"}, "server", 2), ("upstream is gone", "server", 2)],
)  # fmt: skip
def test_an_error_in_a_200_is_the_error_it_says(server, said, kind, tries):
    server.plan = lambda ask: Act(raw=json.dumps({"error": said}))
    model = resolve_model("openrouter:m", base_url=server.openai, api_key="sk-or-1234567890", limits=Limits(attempts=2))
    with no_waiting():
        caught = failure(model)
    assert (caught.kind, len(server.asks)) == (kind, tries)
    assert str(said["message"] if isinstance(said, dict) else said) in str(caught)
