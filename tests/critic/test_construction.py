"""What the constructors of the critics refuse, each with a message that says what to write instead."""

import math

import pytest

from jury_adapters import ConfigurationError, Critic, DecisionCritic, InputError, PairwiseCritic
from jury_adapters.models.base import Answer
from jury_adapters.testing import ScriptedModel

YES = '{"reasoning": "so it is", "answer": "YES", "confidence": 0.8}'
KEY = "sk-test-0123456789abcdefghij"
NO_NAMES = [7, None, b"x", [], "  "]


class Decider:
    """A decision model of one's own."""

    name = model = "own"

    async def decide(self, text, questions):
        return [Answer({"yes": 1.0, "no": 0.0}) for _ in questions], None


def pairwise(**options):
    return PairwiseCritic(**{"critic": Critic("better", ScriptedModel(["A"]), rubric="pairwise"), **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": ""}, "a critic needs a model"),
        ({"rubric": None}, "what shall the critic judge"),
        ({"prompt_template": "{answer}"}, "not both"),
        ({"rubric": "faithfullness"}, "Did you mean 'faithfulness'"),
        ({"rubric": None, "prompt_template": "{anser}"}, "placeholder"),
        ({"rubric": None, "prompt_template": "Is it good?"}, "nothing of the case"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": "high"}, "threshold"),
        ({"repeat": 0}, "repeat is a whole number from 1"),
        ({"repeat": True}, "repeat"),
        ({"max_tokens": 0}, "max_tokens is a whole number from 1"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"system_prompt": 7}, "system_prompt: it is text"),
        ({"system_prompt": "You judge {answer}"}, "system_prompt: unknown placeholder 'answer'"),
        ({"temperature": "hot"}, "temperature is a number from 0"),
        ({"temperature": math.nan}, "temperature is a number from 0"),
        ({"temperature": -1}, "temperature is a number from 0"),
        ({"threshold": math.nan}, "threshold"),
        ({"threshold": True}, "threshold is a score from 0 to 1"),
        ({"logprobs": "yes"}, "logprobs is True or False"),
        ({"timeout": -1}, "timeout is a positive number"),
        ({"timeout": math.nan}, "timeout is a positive number"),
        ({"limits": 7}, "limits is a Limits"),
        ({"store": 7}, "store is a Store"),
        ({"api_key": 7}, "api_key is text"),
        ({"base_url": "localhost"}, "base_url is an address such as"),
        ({"rubric": 7}, "a rubric is a Rubric"),
        ({"vendor": "openai"}, "vendor belongs to a model named by text"),
        ({"api_key": "x", "base_url": "http://x"}, "base_url, api_key belongs"),
        ({"model": object()}, "object is no model"),
        ({"model": len}, "is no model"),
        ({"model": "gpt-4o"}, "which vendor has 'gpt-4o'"),
        ({"model": "opnai:gpt-4o-mini"}, "Did you mean 'openai:gpt-4o-mini'"),
        ({"model": "Antropic:claude"}, "Did you mean 'anthropic:claude'"),
        ({"model": "qwen3:8b"}, r"Write 'vendor:model' \(openai:qwen3:8b, say\)"),
        ({"model": "m", "vendor": "opnai"}, "Did you mean 'openai'"),
        ({"store": "no/such/folder/runs.db"}, "store"),
        ({"system_prompt": b""}, "system_prompt: it is text"),
        ({"rubric": None, "prompt_template": b"{answer}"}, "prompt_template: it is text"),
        ({"rubric": None, "prompt_template": 7}, "prompt_template: it is text"),
    ],
)
def test_a_critic_says_what_to_do(options, message):
    with pytest.raises((ConfigurationError, InputError), match=message):
        Critic("truth", **{"model": ScriptedModel([YES]), "rubric": "faithfulness", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"http_client": 7}, "http_client is an asynchronous client"),
        ({"http_client": "http://proxy"}, "http_client is an asynchronous client"),
        ({"client": object()}, "client= takes an asynchronous client"),
        ({"api_key": b"x"}, "api_key is text"),
        ({"timeout": "x"}, "timeout is a positive number"),
        ({"timeout": True}, "timeout is a positive number"),
        ({"base_url": 7}, "base_url is an address such as"),
        ({"vendor": ""}, "unknown vendor"),
    ],
)
def test_a_critic_of_a_named_model_says_what_to_do(options, message):
    with pytest.raises(ConfigurationError, match=message):
        Critic("truth", **{"model": "openai:gpt-4o", "api_key": KEY, "rubric": "faithfulness", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": ""}, "needs a model"),
        ({"rubric": None}, "what shall the critic judge"),
        ({"rubrics": ["safety"]}, "what shall the critic judge"),
        ({"rubric": None, "rubrics": "safety"}, "rubrics= is a list"),
        ({"rubric": None, "rubrics": 7}, "rubrics= is a list"),
        ({"rubric": None, "rubrics": [7]}, "a rubric is a Rubric"),
        ({"rubric": "safty"}, "Did you mean 'safety'"),
        ({"rubric": 3}, "a rubric is a Rubric"),
        ({"model": "openai:x"}, "OPENAI_API_KEY"),
        ({"model": "openai:", "api_key": KEY}, "no name"),
        ({"model": "x"}, "which vendor"),
        ({"model": "anthropic:x"}, "not known for decision models"),
        ({"model": 3}, "is no decision model"),
        ({"api_key": KEY}, "brings its own"),
        ({"threshold": 2}, "threshold"),
        ({"threshold": math.nan}, "threshold"),
        ({"threshold": True}, "threshold is a score from 0 to 1"),
        ({"voting": "majorty"}, "majorty"),
        ({"voting": 7}, "voting"),
        ({"timeout": math.nan}, "timeout is a positive number"),
        ({"timeout": -1}, "timeout is a positive number"),
        ({"limits": 7}, "limits is a Limits"),
        ({"store": 7}, "store is a Store"),
        ({"api_key": 7}, "api_key is text"),
        ({"base_url": "localhost"}, "base_url is an address such as"),
    ],
)
def test_a_decision_critic_says_what_to_do(options, message, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=message):
        DecisionCritic("guard", **{"model": Decider(), "rubric": "safety", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"critic": "openai:gpt-4o-mini"}, "asks a judge"),
        ({"critic": 7}, "asks a judge"),
        ({"critic": Critic("x", ScriptedModel(["YES"]), rubric="faithfulness")}, "A, B and tie, not YES, NO, UNSURE"),
        ({"critic": Critic("x", ScriptedModel(["YES"]), rubric="conciseness")}, "not a scale"),
        ({"critic": DecisionCritic("x", Decider(), rubric="safety")}, "labels A, B and tie"),
        ({"swap": "yes"}, "swap is True or False"),
        ({"swap": None}, "swap is True or False"),
        ({"swap": 1}, "swap is True or False"),
    ],
)
def test_a_pairwise_critic_says_what_to_do(options, message):
    with pytest.raises(ConfigurationError, match=message):
        pairwise(**options)


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_that_is_no_text_is_refused(name):
    for construct in (
        lambda: Critic(name, ScriptedModel([YES]), rubric="faithfulness"),
        lambda: DecisionCritic(name, Decider(), rubric="safety"),
        lambda: pairwise(name=name),
    ):
        with pytest.raises(ConfigurationError, match="name is text, such as 'truth'"):
            construct()
