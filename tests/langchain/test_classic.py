"""Juries as evaluators of langchain_classic, beside its own."""

import asyncio
import inspect
import logging
import uuid
import warnings
from datetime import UTC, datetime

import pytest
from langchain_core.agents import AgentAction
from langchain_core.documents import Document
from langsmith.schemas import DataType, Run
from support.judge_model import NO, YES, judge_model

with warnings.catch_warnings():  # what it imports is its own affair
    warnings.simplefilter("ignore")
    from langchain_classic.evaluation import (
        AgentTrajectoryEvaluator,
        CriteriaEvalChain,
        PairwiseStringEvalChain,
        PairwiseStringEvaluator,
        ScoreStringEvalChain,
        StringEvaluator,
    )
    from langchain_classic.smith.evaluation.string_run_evaluator import StringRunEvaluatorChain

from jury_adapters import ConfigurationError, Critic, Ensemble, Judge, Judgment, PairwiseCritic, Scorecard, abstain
from jury_adapters.checks import Equals
from jury_adapters.judges import llm
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.classic import JuryPairwiseStringEvaluator, JuryStringEvaluator, JuryTrajectoryEvaluator

CALL = {"prediction": "4", "input": "2 + 2?"}


def text_model(text):
    return judge_model(text)


def critic(reply=YES, name="critic", rubric="answer_relevance"):
    return Critic(judge_model(reply), rubric, name=name)


def string(evaluator, **given):
    return evaluator.evaluate_strings(**given)


def astring(evaluator, **given):
    return asyncio.run(evaluator.aevaluate_strings(**given))


def pairs(evaluator, **given):
    return evaluator.evaluate_string_pairs(**given)


def apairs(evaluator, **given):
    return asyncio.run(evaluator.aevaluate_string_pairs(**given))


def trajectory(evaluator, **given):
    return evaluator.evaluate_agent_trajectory(**given)


def atrajectory(evaluator, **given):
    return asyncio.run(evaluator.aevaluate_agent_trajectory(**given))


def forms(*functions):
    return pytest.mark.parametrize("evaluate", functions, ids=["sync", "async"])


@forms(string, astring)
class TestStrings:
    def test_the_result_is_score_value_and_reasoning(self, evaluate):
        jury = Ensemble([critic(YES, "a"), critic(NO, "b"), critic(YES, "c")], name="jury")
        result = evaluate(JuryStringEvaluator(jury), **CALL)
        assert set(result) == {"score", "value", "reasoning", "metadata"}
        assert (result["score"], result["value"]) == (1.0, "pass")
        assert "b voted FAIL: it does not fit" in result["reasoning"]
        assert result["metadata"]["calls"] == 3

    @pytest.mark.parametrize(
        ("judgment", "score", "value"),
        [(abstain("cannot say"), None, "abstain"), (Judgment("ERROR", error="timeout"), None, "error")],
    )
    def test_without_an_opinion_there_is_no_score(self, evaluate, judgment, score, value):
        result = evaluate(JuryStringEvaluator(Judge.from_function(lambda case: judgment)), **CALL)
        assert (result["score"], result["value"]) == (score, value)
        assert result["reasoning"]

    def test_contexts_come_as_a_further_argument_and_what_callers_also_pass_does_no_harm(self, evaluate):
        seen = []
        jury = Judge.from_function(lambda case: seen.append(case) or True)
        further = {"callbacks": [], "tags": ["t"], "metadata": {"a": 1}, "include_run_info": True}
        evaluate(JuryStringEvaluator(jury), **CALL, reference="four", context=[Document("2 + 2 = 4")], **further)
        (case,) = seen
        assert (case.question, case.answer, case.reference) == ("2 + 2?", "4", "four")
        assert case.contexts == ("2 + 2 = 4",)
        assert case.metadata == {}

    def test_a_prediction_that_cannot_be_read_is_an_error_and_no_exception(self, evaluate):
        loop = []
        loop.append(loop)
        result = evaluate(JuryStringEvaluator(Equals()), prediction=loop)
        assert (result["score"], result["value"]) == (None, "error")

    @pytest.mark.parametrize("name", ["input", "reference"])
    def test_what_is_required_and_missing_is_refused_as_the_base_class_does(self, evaluate, name):
        jury = critic() if name == "input" else llm.correctness(judge_model(), reference=True)
        with pytest.raises(ValueError, match=f"needs {name}="):
            evaluate(JuryStringEvaluator(jury, requires_input=name == "input"), prediction="4")

    def test_what_is_not_required_is_welcome_without_a_warning(self, evaluate):
        evaluator = JuryStringEvaluator(Equals())
        assert (evaluator.requires_input, evaluator.requires_reference) == (False, False)
        assert evaluate(evaluator, **CALL, reference="4")["score"] == 1.0  # a warning would be an error here


@pytest.mark.parametrize(
    ("jury", "needs"),
    [
        (Equals(), (False, False)),
        (critic(), (True, False)),
        (critic(rubric="faithfulness"), (False, False)),
        (critic(rubric="correctness"), (False, True)),
        (llm.correctness(judge_model()), (False, False)),
        (Scorecard({"relevant": critic(), "correct": critic(rubric="correctness")}), (True, True)),
        (PairwiseCritic(critic(rubric="pairwise")), (True, False)),
    ],
)
def test_what_a_jury_requires_is_what_its_critics_need(jury, needs):
    evaluator = JuryStringEvaluator(jury)
    assert (evaluator.requires_input, evaluator.requires_reference) == needs
    told = JuryStringEvaluator(jury, requires_input=False, requires_reference=False)
    assert (told.requires_input, told.requires_reference) == (False, False)


@pytest.mark.parametrize(
    ("kind", "base", "jury"),
    [
        (JuryStringEvaluator, StringEvaluator, critic(name="truth")),
        (JuryPairwiseStringEvaluator, PairwiseStringEvaluator, critic(name="truth", rubric="pairwise")),
        (JuryTrajectoryEvaluator, AgentTrajectoryEvaluator, critic(name="truth", rubric="trajectory")),
    ],
)
class TestAllThree:
    def test_they_are_what_langchain_takes_and_bear_the_jurys_name(self, kind, base, jury):
        assert isinstance(kind(jury), base)
        assert kind(jury).evaluation_name == "truth"
        assert kind(jury, name="mine").evaluation_name == "mine"

    def test_the_asynchronous_form_is_no_thread_around_the_other(self, kind, base, jury):
        for name, method in inspect.getmembers(base, inspect.iscoroutinefunction):
            if name.startswith("_a"):
                assert getattr(kind, name) is not method

    def test_only_a_judge_will_do(self, kind, base, jury):
        with pytest.raises(ConfigurationError, match="give a jury"):
            kind("criteria")


@forms(pairs, apairs)
class TestPairs:
    GIVEN = {"prediction": "4", "prediction_b": "five", "input": "2 + 2?"}  # noqa: RUF012

    @pytest.mark.parametrize(("better", "score", "value"), [("4", 1.0, "A"), ("five", 0.0, "B"), (None, 0.5, None)])
    def test_the_convention_is_that_of_langchains_own(self, evaluate, better, score, value):
        def prefer(case):
            return Judgment(None, label="AB"[case.candidates.index(better)] if better else "tie")

        result = evaluate(JuryPairwiseStringEvaluator(Judge.from_function(prefer)), **self.GIVEN)
        assert (result["score"], result["value"]) == (score, value)
        letter = {"A": "A", "B": "B", None: "C"}[value]
        theirs = PairwiseStringEvalChain.from_llm(llm=text_model(f"[[{letter}]]"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            their_result = evaluate(theirs, **self.GIVEN)
        assert (their_result["score"], their_result["value"]) == (score, value)

    def test_a_preference_for_a_place_is_a_tie_here_and_a_winner_there(self, evaluate):
        theirs = PairwiseStringEvalChain.from_llm(llm=text_model("the first one [[A]]"))
        ours = JuryPairwiseStringEvaluator(Critic(judge_model('{"answer": "A"}'), "pairwise", name="p"))
        swapped = {**self.GIVEN, "prediction": "five", "prediction_b": "4"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert [evaluate(theirs, **given)["value"] for given in (self.GIVEN, swapped)] == ["A", "A"]
        assert [evaluate(ours, **given)["score"] for given in (self.GIVEN, swapped)] == [0.5, 0.5]

    def test_without_an_opinion_there_is_no_preference(self, evaluate):
        result = evaluate(JuryPairwiseStringEvaluator(Judge.from_function(lambda case: abstain("x"))), **self.GIVEN)
        assert (result["score"], result["value"]) == (None, "abstain")


@forms(trajectory, atrajectory)
class TestTrajectories:
    STEPS = [(AgentAction("search", {"q": "2 + 2"}, "I look it up"), "4")]  # noqa: RUF012

    def test_the_steps_reach_the_jury(self, evaluate):
        model = judge_model()
        evaluator = JuryTrajectoryEvaluator(llm.trajectory(model))
        assert (evaluator.requires_input, evaluator.requires_reference) == (True, False)
        result = evaluate(evaluator, **CALL, agent_trajectory=self.STEPS)
        assert (result["score"], result["value"]) == (1.0, "pass")
        assert all(text in model.seen[0] for text in ("calls search", "I look it up", '"q": "2 + 2"', "2 + 2?"))


class TestWhereTheirOwnGoWrong:
    def test_any_trailing_letter_is_an_answer(self):
        reply = "It is a very good explanation"
        theirs = CriteriaEvalChain.from_llm(criteria="conciseness", llm=text_model(reply)).evaluate_strings(**CALL)
        assert theirs["score"] == 0
        ours = JuryStringEvaluator(critic(reply)).evaluate_strings(**CALL)
        assert (ours["score"], ours["value"]) == (None, "abstain")

    def test_a_reply_that_nobody_can_read_raises(self):
        theirs = ScoreStringEvalChain.from_llm(llm=text_model("seven"), criteria={"x": "y"})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match="output"):
                theirs.evaluate_strings(**CALL)
        assert JuryStringEvaluator(critic("seven")).evaluate_strings(**CALL)["value"] == "abstain"

    def test_the_bridge_to_langsmith_loses_every_score_with_a_reason_and_ours_does_not_need_it(self):
        run = Run(
            id=uuid.uuid4(), name="x", start_time=datetime.now(UTC), run_type="chain", trace_id=uuid.uuid4(),
            dotted_order="", inputs={"input": "2 + 2?"}, outputs={"output": "4"},
        )  # fmt: skip
        theirs = CriteriaEvalChain.from_llm(criteria="conciseness", llm=text_model("fine\nY"))
        logging.disable(logging.CRITICAL)
        try:
            chain = StringRunEvaluatorChain.from_run_and_data_type(theirs, "chain", DataType.kv)
            lost = chain.evaluate_run(run)
        finally:
            logging.disable(logging.NOTSET)
        assert lost.score is None
        assert JuryEvaluator(critic()).evaluate_run(run).score == 1.0
