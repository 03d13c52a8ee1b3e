"""Reasons of results that could not be judged: each sentence once, and advice only about what the user wrote."""

import pytest

from jury_adapters import Critic, Ensemble
from jury_adapters.core.errors import ModelError
from jury_adapters.llama_index import (
    JuryCorrectnessEvaluator,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryHallucinationEvaluator,
)
from jury_adapters.llama_index import JuryPairwiseEvaluator as Pairwise
from jury_adapters.models.limits import Limits
from jury_adapters.testing import ScriptedModel

UNREADABLE = "the reply could not be read"
ONCE = Limits(attempts=1)


def vague(name="gpt-4o"):
    return ScriptedModel(["who knows, hmm"], model=name)


async def down(prompt):
    raise ModelError("HTTP 500: it exploded", "server", status=500)


async def locked(prompt):
    raise ModelError("HTTP 401: no such key", "authentication", status=401)


def reason(evaluator):
    second = {"second_response": "b"} if isinstance(evaluator, Pairwise) else {}
    result = evaluator.evaluate("q", "a", contexts=["c"], **second)
    assert result.invalid_result
    return result.invalid_reason


@pytest.mark.parametrize(
    "evaluator",
    [
        JuryCorrectnessEvaluator(vague()), JuryFaithfulnessEvaluator(llms=[vague("x"), vague("y")]), Pairwise(vague()),
        JuryFaithfulnessEvaluator(vague(), errors="fail"),
    ],
    ids=["alone", "panel", "pairwise", "panel of one"],
)  # fmt: skip
def test_an_unreadable_reply_is_told_once_with_its_code(evaluator):
    said = reason(evaluator)
    assert said.count(UNREADABLE) == 1
    assert said.count("parse_fail") == 1


@pytest.mark.parametrize(
    ("evaluator", "errors"),
    [
        (JuryFaithfulnessEvaluator(down, limits=ONCE), ["it exploded"]),
        (JuryFaithfulnessEvaluator(locked, errors="propagate", limits=ONCE), ["no such key"]),
        (JuryFaithfulnessEvaluator(llms=[down, locked], limits=ONCE), ["it exploded", "no such key"]),
        (JuryEvaluator(lambda case: 1 / 0), ["division by zero"]),
        (JuryEvaluator(Ensemble([lambda case: 1 / 0])), ["division by zero"]),
    ],
)
def test_an_error_is_told_once(evaluator, errors):
    said = reason(evaluator)
    assert [said.count(error) for error in errors] == [1] * len(errors)
    assert len(said.splitlines()) == len(set(said.splitlines())) <= 2


@pytest.mark.parametrize("jury", [lambda case: True, Ensemble([lambda case: True])])
def test_an_item_that_cannot_be_read_is_told_once(jury):
    said = JuryEvaluator(jury).evaluate("q", object()).invalid_reason
    assert said.count("cannot read an answer from object") == said.count("cannot be judged") == 1


def test_only_who_wrote_the_prompt_is_told_to_change_the_answers():
    rating = ScriptedModel(["7"])
    ours = reason(JuryCorrectnessEvaluator(rating))
    assert "the model answered '7'" in ours
    assert "give the critic" not in ours
    own = Critic(rating, name="c", prompt="Rate this:\n{answer}", scale={"minimum": 1, "maximum": 5})
    assert "give the critic scale=" in reason(JuryEvaluator(own))


@pytest.mark.parametrize("models", [1, 2])
def test_the_reason_of_an_abstention_names_the_label_of_the_models(models):
    reply = '{"reasoning": "About all of the words are in the material.", "answer": "unsure"}'
    panel = [ScriptedModel(reply, model=f"model {number}") for number in range(models)]
    result = JuryHallucinationEvaluator(llms=panel).evaluate("When?", "In 2018.", ["It stopped in 2018."])
    assert result.invalid_result
    assert "unsure: About all of the words are in the material." in result.invalid_reason
