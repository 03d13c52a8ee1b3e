"""Arguments that the constructors of critics refuse, each with a message that says what to write instead."""

import inspect
import math

import pytest

from jury_adapters import ConfigurationError, Critic, Ensemble, InputError, PairwiseCritic
from jury_adapters.decision import DecisionCritic
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
    return PairwiseCritic(**{"critic": Critic(ScriptedModel(["A"]), "pairwise", name="better"), **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": ""}, "a critic needs a model"),
        ({"rubric": None}, "what shall the critic judge"),
        ({"prompt": "{answer}"}, "not both"),
        ({"rubric": "faithfullness"}, "Did you mean 'faithfulness'"),
        ({"rubric": None, "prompt": "{anser}"}, "placeholder"),
        ({"rubric": None, "prompt": "Is it good?"}, "nothing of the case"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": "high"}, "threshold"),
        ({"samples": 0}, "samples is a whole number from 1"),
        ({"samples": True}, "samples"),
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
        ({"request_timeout": -1}, "request_timeout is a positive number"),
        ({"request_timeout": math.nan}, "request_timeout is a positive number"),
        ({"limits": 7}, "limits is a Limits"),
        ({"store": 7}, "store is a Store"),
        ({"api_key": 7}, "api_key is text"),
        ({"base_url": "localhost"}, "base_url is an address such as"),
        ({"rubric": 7}, "a rubric is a Rubric"),
        (
            {"rubric": "The answer is polite."},
            r"A sentence of your own is written Critic.from_criteria\(model, \"...\"\)",
        ),
        ({"vendor": "openai"}, "vendor belongs to a model named by text"),
        ({"api_key": "x", "base_url": "http://x"}, "base_url, api_key belongs"),
        ({"model": object()}, "object is not a model"),
        ({"model": len}, "is not a model"),
        ({"model": ScriptedModel}, "the class ScriptedModel is not a model"),
        ({"model": "gpt-4o"}, "which vendor has 'gpt-4o'"),
        ({"model": "opnai:gpt-4o-mini"}, "Did you mean 'openai:gpt-4o-mini'"),
        ({"model": "Antropic:claude"}, "Did you mean 'anthropic:claude'"),
        ({"model": "openai/gpt-4o-mini"}, "Did you mean 'openai:gpt-4o-mini'"),
        ({"model": "Together_AI/meta-llama/Llama-3"}, "Did you mean 'together:meta-llama/Llama-3'"),
        ({"model": "meta-llama/Llama-3"}, r"Write 'vendor:model' \(openrouter:meta-llama/Llama-3, say\)"),
        ({"model": "qwen3:8b"}, r"Write 'vendor:model' \(ollama:qwen3:8b, say\)"),
        ({"model": "m", "vendor": "opnai"}, "Did you mean 'openai'"),
        ({"store": "no/such/folder/runs.db"}, "store"),
        ({"system_prompt": b""}, "system_prompt: it is text"),
        ({"rubric": None, "prompt": b"{answer}"}, "prompt: it is text"),
        ({"rubric": None, "prompt": 7}, "prompt: it is text"),
    ],
)
def test_a_critic_says_what_to_do(options, message):
    with pytest.raises((ConfigurationError, InputError), match=message):
        Critic(**{"model": ScriptedModel([YES]), "rubric": "faithfulness", "name": "truth", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": 7}, r"client= takes an asynchronous client: AsyncOpenAI.*; not int"),
        ({"client": "http://proxy"}, "client= takes an asynchronous client"),
        ({"client": object()}, "client= takes an asynchronous client"),
        ({"api_key": b"x"}, "api_key is text"),
        ({"request_timeout": "x"}, "request_timeout is a positive number"),
        ({"request_timeout": True}, "request_timeout is a positive number"),
        ({"base_url": 7}, "base_url is an address such as"),
        ({"vendor": ""}, "unknown vendor"),
    ],
)
def test_a_critic_of_a_named_model_says_what_to_do(options, message):
    with pytest.raises(ConfigurationError, match=message):
        Critic(**{"model": "openai:gpt-4o", "api_key": KEY, "rubric": "faithfulness", "name": "truth", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": ""}, "needs a model"),
        ({"rubric": []}, "what shall the critic judge"),
        ({"rubric": None}, "a rubric is a Rubric, the name of one or a YAML file, or a list; not None"),
        ({"rubrics": ["safety"]}, "the argument rubrics= is called rubric= here"),
        ({"rubric": [7]}, "a rubric is a Rubric"),
        ({"rubric": "safty"}, "Did you mean 'safety'"),
        ({"rubric": 3}, "a rubric is a Rubric"),
        ({"model": "openai:x"}, "OPENAI_API_KEY"),
        ({"model": "openai:", "api_key": KEY}, "no name"),
        ({"model": "x"}, "which vendor"),
        ({"model": "openai/x"}, "Write 'openai:x'"),
        ({"model": "anthropic:x"}, "not known for decision models"),
        ({"model": 3}, "is not a decision model"),
        ({"api_key": KEY}, "brings its own"),
        ({"threshold": 2}, "threshold"),
        ({"threshold": math.nan}, "threshold"),
        ({"threshold": True}, "threshold is a score from 0 to 1"),
        ({"voting": "majorty"}, "majorty"),
        ({"voting": 7}, "voting"),
        ({"request_timeout": math.nan}, "request_timeout is a positive number"),
        ({"request_timeout": -1}, "request_timeout is a positive number"),
        ({"limits": 7}, "limits is a Limits"),
        ({"store": 7}, "store is a Store"),
        ({"api_key": 7}, "api_key is text"),
        ({"base_url": "localhost"}, "base_url is an address such as"),
    ],
)
def test_a_decision_critic_says_what_to_do(options, message, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=message):
        DecisionCritic(**{"model": Decider(), "rubric": "safety", "name": "guard", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"critic": "openai:gpt-4o-mini"}, "asks a judge"),
        ({"critic": 7}, "asks a judge"),
        ({"critic": Critic(ScriptedModel(["YES"]), "faithfulness", name="x")}, "A, B and tie, not YES, NO, UNSURE"),
        ({"critic": Critic(ScriptedModel(["YES"]), "conciseness", name="x")}, "not a scale"),
        ({"critic": DecisionCritic(Decider(), "safety", name="x")}, "labels A, B and tie"),
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
        lambda: Critic(ScriptedModel([YES]), "faithfulness", name=name),
        lambda: DecisionCritic(Decider(), "safety", name=name),
        lambda: pairwise(name=name),
    ):
        with pytest.raises(ConfigurationError, match="name is text, such as 'truth'"):
            construct()


RIGHT_ORDER = (
    "the model comes first, the rubric second, and all else by name: Critic('openai:gpt-4o-mini', 'faithfulness')"
)
RENAMED = ": Critic('openai:gpt-4o-mini', 'faithfulness')"
WRONG_CALLS = {
    "the rubric first": (
        lambda: Critic("faithfulness", "openai:gpt-4o-mini"),
        "'faithfulness' is a rubric, not a model; the model comes first: Critic('openai:gpt-4o-mini', 'faithfulness')",
    ),
    "the rubric first, the model by name": (
        lambda: Critic("faithfulness", model="openai:gpt-4o-mini"),
        RIGHT_ORDER,
    ),
    "a name first, the rubric by name": (
        lambda: Critic("truth", "openai:gpt-4o-mini", rubric="faithfulness"),
        RIGHT_ORDER,
    ),
    "a name first, and a prompt": (
        lambda: Critic("truth", "openai:gpt-4o-mini", prompt="{answer}"),
        "'openai:gpt-4o-mini' is a model, not a rubric; the model comes first",
    ),
    "a name first, and a model of one's own": (
        lambda: Critic("truth", ScriptedModel([YES])),
        "not ScriptedModel; the model comes first: Critic('openai:gpt-4o-mini', 'faithfulness')",
    ),
    "three arguments without a name": (
        lambda: Critic("openai:gpt-4o-mini", "faithfulness", "openai"),
        RIGHT_ORDER,
    ),
    "no model": (lambda: Critic(rubric="faithfulness"), "a critic needs a model"),
    "prompt_template": (
        lambda: Critic("openai:gpt-4o-mini", prompt_template="{answer}"),
        "the argument prompt_template= is called prompt= here" + RENAMED,
    ),
    "repeat": (
        lambda: Critic("openai:gpt-4o-mini", "safety", repeat=3),
        "the argument repeat= is called samples= here" + RENAMED,
    ),
    "timeout": (
        lambda: Critic("openai:gpt-4o-mini", "safety", timeout=3),
        "the argument timeout= is called request_timeout= here" + RENAMED,
    ),
    "http_client": (
        lambda: Critic("openai:gpt-4o-mini", "safety", http_client=None),
        "the argument http_client= is called client= here" + RENAMED,
    ),
    "a slip": (
        lambda: Critic("openai:gpt-4o-mini", "safety", temprature=1),
        "unknown argument 'temprature'. Did you mean 'temperature'?",
    ),
    "a decision critic: the rubric first": (
        lambda: DecisionCritic("safety", Decider()),
        "'safety' is a rubric, not a model; the model comes first: DecisionCritic('openai:<model>', [",
    ),
    "a decision critic: a name first": (
        lambda: DecisionCritic("guard", Decider(), rubric="safety"),
        "the model comes first, the rubric second, and all else by name: DecisionCritic(",
    ),
    "a decision critic without rubrics": (lambda: DecisionCritic("openai:m"), "a critic needs a model and a rubric"),
}


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_a_wrong_call_is_answered_with_a_right_one(call):
    construct, message = WRONG_CALLS[call]
    with pytest.raises(ConfigurationError) as raised:
        construct()
    assert message in str(raised.value)


def test_the_signature_is_still_the_critics_own():
    parameters = inspect.signature(Critic).parameters.values()
    assert [one.name for one in parameters][:3] == ["model", "rubric", "name"]
    assert all(one.kind is one.KEYWORD_ONLY for one in list(parameters)[2:])


@pytest.mark.parametrize(
    ("options", "warned"),
    [({}, False), ({"samples": 3}, True), ({"samples": 3, "temperature": 1}, False),
     ({"samples": 3, "temperature": None}, False)],
)  # fmt: skip
def test_samples_at_temperature_0_are_warned_of(options, warned, caplog):
    Critic("openai:gpt-4o-mini", "faithfulness", api_key=KEY, **options)
    said = [record.getMessage() for record in caplog.records]
    assert [message.startswith("openai:gpt-4o-mini: samples=3 asks for the most likely") for message in said] == (
        [True] if warned else []
    )
    assert KEY not in " ".join(said)


@pytest.mark.parametrize(("temperature", "warned"), [(0, True), (1, False), (None, False)])
@pytest.mark.parametrize("inside", [False, True])
def test_with_samples_at_temperature_0_is_warned_of_too(temperature, warned, inside, caplog):
    critic = Critic("openai:gpt-4o-mini", "faithfulness", api_key=KEY, temperature=temperature)
    asked = Ensemble([critic, lambda case: True]) if inside else critic
    asked.with_samples(1)
    assert caplog.records == []
    asked.with_samples(3)
    said = [record.getMessage() for record in caplog.records]
    assert ["samples=3 asks for the most likely" in message for message in said] == ([True] if warned else [])


def test_models_that_decide_their_temperature_themselves_are_not_warned_of(caplog):
    async def answer(prompt):
        return YES

    Critic(answer, "faithfulness", samples=3)
    assert caplog.records == []
