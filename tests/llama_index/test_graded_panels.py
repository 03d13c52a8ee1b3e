"""Panels that rate: what passes for one model passes for several, and what the score of the result is."""

import json
from typing import Any

import pytest
from llama_index.core.evaluation import CorrectnessEvaluator, EvaluationResult, FaithfulnessEvaluator
from llama_index.core.llms import MockLLM

from jury_adapters import ConfigurationError, Critic, Ensemble
from jury_adapters.core.voting.names import VotingName
from jury_adapters.llama_index import JuryContextRelevancyEvaluator, JuryCorrectnessEvaluator, from_evaluator
from jury_adapters.testing import ScriptedModel

ON_SCORES: list[VotingName] = ["average", "weighted_average", "median", "quorum"]


def rater(rating: float) -> ScriptedModel:
    return ScriptedModel(json.dumps({"reasoning": "because", "answer": rating, "confidence": 0.9}))


@pytest.mark.parametrize("voting", [*ON_SCORES, "majority"])
@pytest.mark.parametrize(("rating", "score_threshold"), [(3, None), (4, None), (4, 5), (5, 5), (3, 3), (2, 3)])
@pytest.mark.parametrize("reference", ["r", None])
def test_three_equal_ratings_pass_as_one_does(
    voting: VotingName, rating: int, score_threshold: float | None, reference: str | None
) -> None:
    one = JuryCorrectnessEvaluator(rater(rating), score_threshold=score_threshold)
    panel = JuryCorrectnessEvaluator(
        llms=[rater(rating) for _ in range(3)], voting=voting, score_threshold=score_threshold
    )
    said = panel.evaluate("q", "a", reference=reference)
    assert said.passing is one.evaluate("q", "a", reference=reference).passing
    assert {juror.passed for juror in said.jurors} == {said.passing}


@pytest.mark.parametrize("voting", ON_SCORES)
def test_threshold_of_the_critics_is_that_of_the_vote(voting: VotingName) -> None:
    llms = [rater(4) for _ in range(3)]
    assert JuryCorrectnessEvaluator(llms=llms, voting=voting, threshold=0.8).evaluate("q", "a").passing is False
    assert JuryCorrectnessEvaluator(llms=llms, voting=voting, threshold=0.7).evaluate("q", "a").passing is True


@pytest.mark.parametrize(("points", "passes"), [(2, False), (3, True)])
def test_ratings_of_contexts(points: int, passes: bool) -> None:
    llms = [rater(points) for _ in range(3)]
    said = JuryContextRelevancyEvaluator(llms=llms, voting="average").evaluate("q", contexts=["c"])
    assert (said.passing, said.score) == (passes, points / 4)


@pytest.mark.parametrize(
    ("voting", "score"), [("majority", 1.0), ("unanimous", 0.0), ("average", pytest.approx(2 / 3)), ("median", 0.75)]
)
def test_the_score_is_that_of_the_vote(voting: VotingName, score: float) -> None:
    said = JuryCorrectnessEvaluator(llms=[rater(5), rater(2), rater(4)], voting=voting).evaluate("q", "a")
    assert said.score == score
    assert JuryCorrectnessEvaluator.__doc__ is not None
    assert 'voting="average"' in JuryCorrectnessEvaluator.__doc__


def test_critics_that_pass_from_another_score_are_refused() -> None:
    lenient = Critic(rater(3), "graded_correctness", threshold=0.5)
    with pytest.raises(ConfigurationError, match=r"pass from different scores .*0\.75.*0\.5"):
        JuryCorrectnessEvaluator(llms=[rater(3), lenient], voting="average")
    assert JuryCorrectnessEvaluator(llms=[rater(3), lenient]).evaluate("q", "a").passing is False


class Rated(CorrectnessEvaluator):
    """LlamaIndex's own evaluator, with a rating that is known."""

    async def aevaluate(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        return EvaluationResult(score=3.0, passing=self._score_threshold <= 3, feedback="so")


@pytest.mark.parametrize("voting", [*ON_SCORES, "majority"])
@pytest.mark.parametrize(("own", "passes"), [(4.0, False), (3.0, True)])
def test_evaluators_of_llama_index_bring_their_threshold(voting: VotingName, own: float, passes: bool) -> None:
    theirs = from_evaluator(Rated(llm=MockLLM(), score_threshold=own))
    assert theirs.pass_scores == {(own - 1) / 4}
    assert Ensemble([theirs, theirs.named("again")], voting=voting).judge(answer="a").passed is passes
    assert from_evaluator(Rated(llm=MockLLM()), threshold=2).pass_scores == {0.25}
    assert from_evaluator(FaithfulnessEvaluator(llm=MockLLM())).pass_scores == frozenset()
