"""Models that are already there: functions, LlamaIndex."""

import asyncio

import pytest

from jury_adapters import ConfigurationError, Critic, Limits, ModelError, Status, Usage
from jury_adapters.models.base import Prompt, Reply
from jury_adapters.models.function import FunctionModel
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

NO = '{"reasoning": "it is not", "answer": "NO"}'
ASKED = Prompt.of("Is it so?", "You judge.")


def complete(model, prompt=ASKED):
    return asyncio.run(resolve_model(model).complete(prompt))


def judge(model, **options):
    return Critic(model, "faithfulness", name="truth", **options).judge(a_case())


# Functions


def test_an_async_function_is_a_model_and_gets_the_prompt_as_one_text():
    seen = []

    async def mine(prompt):
        seen.append(prompt)
        return NO

    judgment = judge(mine)
    assert (judgment.status, judgment.model) == (Status.FAIL, "mine")
    assert not judgment.usage.cost_complete
    complete(mine)
    complete(mine, ASKED.followed_by("Hm", "Again"))
    assert seen[1:] == ["You judge.\n\nIs it so?", "You judge.\n\nUSER:\nIs it so?\n\nASSISTANT:\nHm\n\nUSER:\nAgain"]


def test_a_structured_function_gets_a_prompt_and_gives_a_reply():
    async def mine(prompt):
        return Reply(prompt.system, usage=Usage(7, calls=1))

    reply = complete(FunctionModel(mine, structured=True, name="m"))
    assert (reply.text, reply.usage.input_tokens) == ("You judge.", 7)


def test_a_function_that_returns_no_text_is_malformed():
    async def mine(prompt):
        return 7

    with pytest.raises(ModelError, match="returned int, not text"):
        complete(mine)


@pytest.mark.parametrize(
    ("error", "kind"), [(TimeoutError("slow"), "timeout"), (ConnectionError("gone"), "connection")]
)
def test_a_function_that_fails_for_a_moment_is_tried_again(error, kind):
    calls = []

    async def mine(prompt):
        calls.append(prompt)
        raise error

    with no_waiting():
        judgment = judge(mine, limits=Limits(attempts=3))
    assert judgment.error.startswith(f"{kind}: function:mine")
    assert len(calls) == 3


@pytest.mark.parametrize("model", [lambda prompt: "YES", 7, object()])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(ConfigurationError, match="is not a model"):
        resolve_model(model)
