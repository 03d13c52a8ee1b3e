"""Decision models: OpenAI's endpoint over real HTTP."""

import asyncio

import pytest
from support.vendor import Act, error

from jury_adapters import ModelError
from jury_adapters.decision.models import OpenAIDecisionModel
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Question

QUESTIONS = [
    Question("Is it true?"), Question("Which?", "choice", ("A", "B")), Question("How good?", "score", ("low", "high")),
]  # fmt: skip


def decide(server, text, questions=QUESTIONS):
    model = OpenAIDecisionModel("d", key=Key("sk-test-0123456789", None, "openai"), base_url=server.openai, timeout=5)
    return asyncio.run(model.decide(text, questions))


def test_many_questions_go_out_as_one_request_and_come_back_in_order(server):
    answers, usage = decide(server, "TRUTH=NO")
    (ask,) = server.asks
    assert ask.body == {
        "model": "d",
        "input": "TRUTH=NO",
        "questions": [
            {"type": "predicate", "instructions": "Is it true?"},
            {"type": "choice", "instructions": "Which?", "choices": [{"value": "A"}, {"value": "B"}]},
            {"type": "score", "instructions": "How good?", "levels": [{"label": "low"}, {"label": "high"}]},
        ],
    }
    assert answers[0].probabilities == {"yes": 0.1, "no": 0.9}
    assert answers[1].probabilities == pytest.approx({"A": 0.9, "B": 0.1})
    assert (usage.input_tokens, usage.cached_tokens, usage.calls) == (50, 10, 1)


def test_a_refusal_is_said_and_is_no_crash(server):
    answers, _ = decide(server, "TRUTH=REFUSE")
    assert all(answer.refused and not answer.probabilities for answer in answers)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("{}", "broken_body"),
        ('{"answers": []}', "broken_body"),
        ('{"answers": ["x", "y", "z"]}', "broken_body"),
        ("null", "broken_body"),
        ("not JSON", "broken_body"),
    ],
)
def test_what_is_no_answer_per_question_says_what_it_is(server, raw, kind):
    server.plan = lambda ask: Act(raw=raw)
    with pytest.raises(ModelError) as caught:
        decide(server, "?")
    assert caught.value.kind == kind


def test_a_failure_has_its_kind_and_no_key(server):
    server.plan = lambda ask: error(401, "no such key: sk-test-0123456789")
    with pytest.raises(ModelError) as caught:
        decide(server, "?")
    assert caught.value.kind == "authentication"
    assert "0123456789" not in str(caught.value)
