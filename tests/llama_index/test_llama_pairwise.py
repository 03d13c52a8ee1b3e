"""Comparisons of two answers: every judge is asked in both orders, and messages name models and arguments."""

import json

import pytest
from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult
from llama_index.core.evaluation.base import BaseEvaluator

from jury_adapters import (
    CascadedJury,
    ConfigurationError,
    Critic,
    Ensemble,
    Judgment,
    PairwiseCritic,
    Report,
    Tier,
    judge,
)
from jury_adapters.checks import LengthBetween, NotEmpty
from jury_adapters.llama_index import (
    JuryAnswerRelevancyEvaluator,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryPairwiseEvaluator,
    from_evaluator,
)
from jury_adapters.testing import ScriptedModel

PAIR = {"query": "q", "response": "Alpha.", "second_response": "Omega."}


@judge
def first_one(case):
    return Judgment(None, label="A", reasoning="it comes first")


@judge
def alpha(case):
    return Judgment(None, label="A" if case.candidates[0] == "Alpha." else "B", reasoning="it is Alpha")


def model(name="gpt-4o"):
    """A model that prefers the answer it is shown first."""
    return ScriptedModel([json.dumps({"reasoning": "it is", "answer": "A", "confidence": 0.9})], model=name)


def critic(name="gpt-4o"):
    return Critic(model(name), "pairwise")


WAYS = {
    "a function as the jury": {"jury": first_one},
    "a function as the model": {"llm": first_one},
    "functions as models": {"llms": [first_one, first_one]},
    "a function beside a model": {"llms": [first_one, model()]},
    "a critic as the jury": {"jury": critic()},
    "a critic as the model": {"llm": critic()},
    "critics as models": {"llms": [critic(), critic("claude-haiku-4-5")]},
    "an ensemble of critics": {"jury": Ensemble([critic(), critic("claude-haiku-4-5")])},
    "a critic that asks in one order": {"jury": PairwiseCritic(critic(), swap=False)},
}


@pytest.mark.parametrize("given", WAYS.values(), ids=WAYS)
def test_a_judge_that_prefers_the_first_one_is_asked_in_both_orders(given):
    result = JuryPairwiseEvaluator(**given).evaluate(**PAIR)
    assert (result.score, result.passing, result.pairwise_source) == (0.5, None, "neither")


@pytest.mark.parametrize("given", [{"jury": alpha}, {"llm": alpha}, {"llms": [alpha, alpha]}, {"jury": alpha | alpha}])
def test_a_preference_that_both_orders_share_stands(given):
    result = JuryPairwiseEvaluator(**given).evaluate(**PAIR)
    assert (result.score, result.passing, result.pairwise_source) == (1.0, True, "original")


@judge
def omega(case):
    return Judgment(None, label="B" if case.candidates[0] == "Alpha." else "A", reasoning="it is Omega")


TIED = {
    "models": {"llms": [alpha, omega]},
    "the other first": {"llms": [omega, alpha]},
    "early stopping": {"llms": [alpha, omega], "schedule": "early_stop"},
    "one order": {"llms": [alpha, omega], "swap": False},
    "an ensemble": {"jury": Ensemble([alpha, omega])},
    "an ensemble in one order": {"jury": Ensemble([alpha, omega]), "swap": False},
    "an ensemble of pairwise critics": {"jury": Ensemble([PairwiseCritic(alpha), PairwiseCritic(omega)])},
}


@pytest.mark.parametrize("given", TIED.values(), ids=TIED)
def test_a_tied_vote_is_a_tie_in_the_result_and_in_a_report_of_it(given):
    result = JuryPairwiseEvaluator(**given).evaluate(**PAIR)
    assert (result.score, result.passing, result.pairwise_source) == (0.5, None, "neither")
    assert result.verdict.label == "tie"
    assert Report.from_results([result]).figures.summary.labels == {"tie": 1}


def test_a_rule_for_ties_that_the_user_gave_decides():
    incumbent = Ensemble([PairwiseCritic(alpha), PairwiseCritic(omega)], priority=["B"])
    result = JuryPairwiseEvaluator(jury=incumbent).evaluate(**PAIR)
    assert (result.score, result.passing, result.pairwise_source) == (0.0, False, "original")
    assert result.verdict.label == "B"


def test_a_critic_that_asks_in_both_orders_is_not_wrapped_again():
    asked = PairwiseCritic(critic())
    assert JuryPairwiseEvaluator(jury=asked).jury is asked
    jury = Ensemble([asked, PairwiseCritic(critic("claude-haiku-4-5"))])
    assert JuryPairwiseEvaluator(jury=jury).jury is jury


def test_one_order_is_enough_when_asked_for():
    result = JuryPairwiseEvaluator(jury=first_one, swap=False).evaluate(**PAIR)
    assert (result.score, result.pairwise_source) == (1.0, "original")


def test_one_model_asked_twice_is_not_a_panel_of_one_family():
    assert JuryPairwiseEvaluator(model()).evaluate(**PAIR).verdict.panel_warning is None
    two = JuryPairwiseEvaluator(llms=[model("gpt-4o"), model("gpt-4o-mini")]).evaluate(**PAIR)
    assert "one vendor family (openai)" in two.verdict.panel_warning


def test_feedback_names_the_models():
    alone = JuryPairwiseEvaluator(model()).evaluate(**PAIR).feedback.splitlines()
    assert alone[1:] == ["gpt-4o with A first voted A: it is", "gpt-4o with B first voted B: it is"]
    panel = JuryPairwiseEvaluator(llms=[model("gpt-4o"), alpha, alpha]).evaluate(**PAIR).feedback
    assert "pairwise gpt-4o voted tie: the order decided" in panel
    assert "A first voted" not in panel


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"response": "a"}, "give second_response="),
        ({"second_response": "b"}, "give response= and second_response="),
        ({"response": "a", "second_respose": "b"}, "unknown argument 'second_respose'. Did you mean 'second_response'"),
    ],
)
def test_a_missing_answer_is_named_by_its_argument(given, missing):
    result = JuryPairwiseEvaluator(model()).evaluate("q", **given)
    assert result.invalid_result
    assert missing in result.invalid_reason


@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")
def test_evaluators_of_one_answer_ignore_the_second_one():
    yes = ScriptedModel("Answer: YES")
    evaluators = {
        "faithful": JuryFaithfulnessEvaluator(yes),
        "relevant": JuryAnswerRelevancyEvaluator(yes),
        "brief": JuryEvaluator(LengthBetween(maximum=8)),
        "panel": JuryEvaluator(Ensemble([NotEmpty(), Critic(yes, "faithfulness")])),
        "own": JuryFaithfulnessEvaluator(jury=lambda case: case.answer == "Alpha."),
        "better": JuryPairwiseEvaluator(ScriptedModel("Answer: tie")),
    }
    results = BatchEvalRunner(evaluators).evaluate_response_strs(
        ["q"], ["Alpha."], [["Alpha."]], second_response=["Omega."]
    )
    assert {name: one.passing for name, (one,) in results.items()} == {
        "faithful": True, "relevant": True, "brief": True, "panel": True, "own": True, "better": None,
    }  # fmt: skip
    assert results["better"][0].score == 0.5
    assert {one.response for (one,) in results.values()} == {"Alpha."}


def test_a_function_gets_the_response_and_both_candidates():
    seen = []
    JuryEvaluator(lambda case: bool(seen.append(case))).evaluate(**PAIR)
    assert (seen[0].answer, seen[0].candidates) == ("Alpha.", ("Alpha.", "Omega."))


@judge
def named_first(case):
    return case.answer.startswith("Al")


class Theirs(BaseEvaluator):
    """An evaluator of one response; like all of LlamaIndex's own, it ignores the arguments of others."""

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts_dict):
        return None

    async def aevaluate(self, query=None, response=None, contexts=None, **kwargs):
        return EvaluationResult(passing=response == "Alpha.", score=1.0, feedback=f"read {response}")


@pytest.mark.parametrize(
    "jury",
    [
        named_first,
        Ensemble([NotEmpty(), named_first, Critic(ScriptedModel("Answer: YES"), "answer_relevance")]),
        CascadedJury([Tier("rules", NotEmpty(), "reject_on_any_fail"), Tier("name", named_first)]),
        Ensemble([from_evaluator(Theirs()), NotEmpty()]),
        from_evaluator(Theirs()),
    ],
    ids=["function", "ensemble", "cascade", "evaluator on a panel", "evaluator"],
)
@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")
def test_a_comparison_in_the_same_batch_changes_no_verdict_on_the_response(jury):
    own = JuryEvaluator(jury)
    alone = BatchEvalRunner({"own": own}).evaluate_response_strs(["q"], ["Alpha."])
    beside = BatchEvalRunner({"own": own, "better": JuryPairwiseEvaluator(alpha)}).evaluate_response_strs(
        ["q"], ["Alpha."], second_response=["Omega."]
    )
    assert (alone["own"][0].passing, beside["own"][0].passing) == (True, True)
    assert [juror.opinion for juror in beside["own"][0].jurors] == [juror.opinion for juror in alone["own"][0].jurors]
    assert beside["better"][0].score == 1.0


def test_an_evaluator_that_compares_does_so_in_a_batch():
    class Compares(Theirs):
        async def aevaluate(self, query=None, response=None, contexts=None, second_response=None, **kwargs):
            return EvaluationResult(passing=True, score=1.0 if second_response == "Omega." else 0.5)

    class Says(Theirs):
        async def aevaluate(self, query=None, response=None, contexts=None, **kwargs):
            return EvaluationResult(score=float("second_response" in kwargs), pairwise_source="original")

    for theirs in (Compares(), Says()):
        result = JuryEvaluator(from_evaluator(theirs)).evaluate(**PAIR)
        assert (result.verdict.label, result.score, result.passing) == ("A", 1.0, True)


@judge
def down(case):
    raise ConnectionError("no line")


@pytest.mark.parametrize("swap", [True, False])
@pytest.mark.parametrize("schedule", ["parallel", "early_stop"])
@pytest.mark.parametrize("llms", [[alpha, down, alpha], [down, alpha], [omega, down, alpha, alpha]])
def test_the_others_decide_where_a_judge_breaks(llms, schedule, swap):
    result = JuryPairwiseEvaluator(llms=llms, swap=swap, schedule=schedule).evaluate(**PAIR)
    assert (result.invalid_result, result.score, result.verdict.label) == (False, 1.0, "A")
    assert "down (ConnectionError: no line)" in result.feedback


def test_a_model_that_is_missing_leaves_the_comparison_to_the_others():
    async def missing(prompt):
        raise KeyError("no such model")

    beta = json.dumps({"answer": "tie"})
    result = JuryPairwiseEvaluator(llms=[ScriptedModel(beta, model="gpt-4o"), missing]).evaluate(**PAIR)
    assert (result.invalid_result, result.score, result.verdict.label) == (False, 0.5, "tie")


def test_judges_that_all_break_make_a_comparison_invalid():
    assert JuryPairwiseEvaluator(llms=[down, down]).evaluate(**PAIR).invalid_result


def test_a_judge_that_breaks_makes_a_comparison_invalid_if_errors_propagate():
    result = JuryPairwiseEvaluator(llms=[alpha, alpha, down], errors="propagate").evaluate(**PAIR)
    assert (result.invalid_result, result.score) == (True, None)


def test_a_comparison_has_no_fail_that_a_broken_judge_could_count_as():
    with pytest.raises(ConfigurationError, match="errors='fail' is for PASS and FAIL, and a comparison has neither"):
        JuryPairwiseEvaluator(llms=[alpha, down], errors="fail")
    assert "In a comparison, which has no FAIL, it is left out" in " ".join(JuryPairwiseEvaluator.__doc__.split())
