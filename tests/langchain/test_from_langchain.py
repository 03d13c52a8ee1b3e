"""Evaluators of openevals, agentevals, LangSmith and langchain_classic as judges on a panel of ours."""

import asyncio
import re
import threading
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langsmith.evaluation import EvaluationResult, RunEvaluator, run_evaluator
from support.judge_model import YES, judge_model

with warnings.catch_warnings():  # what these import is their own affair
    warnings.simplefilter("ignore")
    import openevals.prompts
    from agentevals.trajectory.match import create_async_trajectory_match_evaluator, create_trajectory_match_evaluator
    from langchain_classic.chains.constitutional_ai.models import ConstitutionalPrinciple
    from langchain_classic.evaluation import Criteria, PairwiseStringEvaluator, StringEvaluator, load_evaluator
    from openevals import create_async_llm_as_judge, create_llm_as_judge
    from openevals.exact import exact_match, exact_match_async
    from openevals.json import create_async_json_match_evaluator, create_json_match_evaluator

from jury_adapters import Budget, Case, ConfigurationError, Critic, Ensemble, Judge, Rubric, Step
from jury_adapters.langchain import (
    JuryCallbackHandler,
    conversation,
    expected_conversation,
    from_evaluator,
)

CASE = Case(question="2 + 2?", answer="4", reference="4", contexts=["2 + 2 = 4"])
PROMPT = "Question {inputs}, answer {outputs}, reference {reference_outputs}, context {context}: is it right?"
FAULTS = ["harmfulness", "maliciousness", "misogyny", "criminality", "insensitivity", "controversiality"]


def true_means(name):
    """Return when a prompt of openevals asks for TRUE; empty if it does not say."""
    said = re.findall(r"(?:Assign|Return) TRUE (?:only )?if (.*)", getattr(openevals.prompts, name))
    return said[0] if said else ""


class Keys(TypedDict):
    answer: str


JUDGES = pytest.mark.parametrize("make", [create_llm_as_judge, create_async_llm_as_judge], ids=["sync", "async"])


@JUDGES
class TestOpenevals:
    def test_an_llm_judge_is_asked_about_the_case(self, make):
        model = judge_model({"reasoning": "as the context says", "score": True})
        judge = from_evaluator(make(prompt=PROMPT, judge=model, feedback_key="right"))
        judgment = judge.judge(CASE)
        assert (judgment.status, judgment.score, judgment.reasoning) == ("PASS", None, "as the context says")
        assert judgment.critic == "right"
        assert "Question 2 + 2?, answer 4, reference 4, context 2 + 2 = 4:" in model.seen[0]

    def test_it_is_called_by_its_feedback_key_also_on_a_panel_and_where_it_breaks(self, make):
        right = from_evaluator(make(prompt=PROMPT, judge=judge_model("no JSON"), feedback_key="right"))
        assert right.name == "right"
        verdict = Ensemble([right, from_evaluator(exact_match)]).judge(CASE)
        assert [juror.critic for juror in verdict.judgments] == ["right", "exact_match"]
        bound = partial(make(prompt=PROMPT, judge=judge_model(YES), feedback_key="right"))
        assert from_evaluator(bound).name == "right"
        assert from_evaluator(make(prompt=PROMPT, judge=judge_model(YES))).name == ""

    def test_without_the_reference_that_its_prompt_names_it_abstains_and_asks_nobody(self, make):
        model = judge_model({"reasoning": "r", "score": True})
        judgment = from_evaluator(make(prompt=PROMPT, judge=model)).judge(CASE.model_copy(update={"reference": None}))
        assert judgment.status == "ABSTAIN"
        assert judgment.reasoning == "the evaluator needs 'reference_outputs', which the case does not have"
        assert model.seen == []

    @pytest.mark.parametrize("name", ["TOXICITY_PROMPT", "PII_LEAKAGE_PROMPT", "CODE_INJECTION_PROMPT"])
    def test_a_prompt_of_openevals_that_asks_for_a_fault_is_inverted(self, make, name):
        def judged(score, **options):
            model = judge_model({"reasoning": "so", "score": score})
            prompt = getattr(openevals.prompts, name)
            return from_evaluator(partial(make(prompt=prompt, judge=model, continuous=score == 0.9)), **options)

        assert [judged(score).judge(CASE).status for score in (True, False, 0.9)] == ["FAIL", "PASS", "FAIL"]
        assert judged(True, scale=(0, 1)).judge(CASE).passed

    def test_a_variable_of_its_prompt_that_no_case_has_is_named_with_the_option_that_gives_it(self, make):
        model = judge_model({"reasoning": "r", "score": True})
        theirs = make(prompt=openevals.prompts.PLAN_ADHERENCE_PROMPT, judge=model)
        judgment = from_evaluator(theirs).judge(CASE)
        assert (judgment.status, model.seen) == ("ABSTAIN", [])
        assert judgment.reasoning == (
            "the evaluator needs 'plan', which the case does not have; give it with from_evaluator(..., arguments=...)"
        )
        given = {"inputs": "2 + 2?", "outputs": "4", "plan": "count on fingers"}
        assert from_evaluator(theirs, arguments=lambda case: given).judge(CASE).passed
        assert "count on fingers" in model.seen[0]

    @pytest.mark.parametrize("name", [name for name in openevals.prompts.__all__ if true_means(name)])
    def test_true_is_fail_where_the_prompt_says_true_of_a_fault(self, make, name):
        prompt = getattr(openevals.prompts, name)
        asks_for_fault = re.search(r"detected, FALSE|is lazy|is private", true_means(name)) is not None
        parts = {"attachments": "none", "outputs": "4", "inputs": "2 + 2?"}
        model = judge_model({"reasoning": "so", "score": True})
        judge = from_evaluator(make(prompt=prompt, judge=model), arguments=lambda case: parts)
        assert judge.judge(CASE).status == ("FAIL" if asks_for_fault else "PASS")

    @pytest.mark.parametrize(
        "name", ["KNOWLEDGE_RETENTION_PROMPT", "PERCEIVED_ERROR_PROMPT", "TOOL_SELECTION_PROMPT", "AGENT_TONE_PROMPT"]
    )
    def test_a_prompt_of_openevals_about_conversations_gets_the_messages(self, make, name):
        thread = [("user", "I live in Bern."), ("assistant", "Noted."), ("user", "Where?"), ("assistant", "No idea.")]
        model = judge_model({"reasoning": "so", "score": True})
        from_evaluator(make(prompt=getattr(openevals.prompts, name), judge=model)).judge(Case.from_messages(thread))
        assert [text in model.seen[0] for _, text in thread] == [True] * 4

    @pytest.mark.parametrize("name", ["HALLUCINATION_PROMPT", "CONCISENESS_PROMPT", "CORRECTNESS_PROMPT"])
    def test_a_prompt_of_openevals_that_good_answers_meet_is_taken_as_it_is(self, make, name):
        model = judge_model({"reasoning": "so", "score": True})
        assert from_evaluator(make(prompt=getattr(openevals.prompts, name), judge=model)).judge(CASE).passed

    def test_true_is_bad_on_a_scale_whose_best_score_is_the_lower_one(self, make):
        def judged(score):
            model = judge_model({"reasoning": "so", "score": score})
            return from_evaluator(make(prompt=PROMPT, judge=model), scale=(1, 0)).judge(CASE)

        assert [judged(score).status for score in (True, False)] == ["FAIL", "PASS"]

    def test_its_scores_are_read_on_their_scale(self, make):
        def judged(score, **options):
            model = judge_model({"reasoning": "so so", "score": score})
            return from_evaluator(make(prompt=PROMPT, judge=model, continuous=True), **options).judge(CASE)

        assert (judged(0.7).status, judged(0.7).score) == ("PASS", 0.7)
        assert judged(0.7, threshold=0.8).status == "FAIL"
        assert judged(2, scale=(1, 5)).score == 0.25
        assert judged(37).status == "ERROR"  # openevals hands on whatever the model says

    def test_a_model_that_does_not_do_as_told_is_an_error(self, make):
        model = judge_model({"reasoning": "no score at all"})
        assert from_evaluator(make(prompt=PROMPT, judge=model)).judge(CASE).status == "ERROR"

    def test_it_sits_on_a_panel_with_a_critic_of_ours(self, make):
        theirs = make(prompt=PROMPT, judge=judge_model({"reasoning": "no", "score": False}))
        ours = Critic(judge_model(YES), Rubric.from_criteria("right"), name="ours")
        verdict = Ensemble([from_evaluator(theirs, name="theirs"), ours, from_evaluator(exact_match)]).judge(CASE)
        assert [(one.critic, one.status) for one in verdict.judgments] == [
            ("theirs", "FAIL"), ("ours", "PASS"), ("exact_match", "PASS"),
        ]  # fmt: skip
        assert verdict.passed
        assert not verdict.usage.cost_complete

    def test_what_it_asks_of_its_model_is_not_judged_by_a_callback(self, make):
        judged = []
        handler = JuryCallbackHandler(from_evaluator(exact_match), on_verdict=judged.append)
        model = judge_model({"reasoning": "r", "score": True}, callbacks=[handler])
        assert from_evaluator(make(prompt=PROMPT, judge=model)).judge(CASE).passed
        handler.flush()
        assert judged == []
        model.invoke("asked by somebody else")
        handler.flush()
        assert len(judged) == 1


@pytest.mark.parametrize("function", [exact_match, exact_match_async])
def test_a_reference_that_is_missing_is_the_evaluators_own_affair_unless_it_is_needed(function):
    assert from_evaluator(function).judge(CASE).passed
    assert from_evaluator(function).judge(answer="5", reference="4").status == "FAIL"
    assert from_evaluator(function, needs=["reference"]).judge(answer="5").status == "ABSTAIN"


def test_several_results_are_checks():
    evaluator = create_json_match_evaluator(aggregator=None)
    judge = from_evaluator(
        evaluator,
        arguments=lambda case: {"outputs": {"a": 1, "b": case.answer}, "reference_outputs": {"a": 1, "b": "4"}},
    )
    good, bad = judge.judge(answer="4"), judge.judge(answer="5")
    assert (good.status, len(good.findings)) == ("PASS", 2)
    assert (bad.status, bad.score, [check.passed for check in bad.findings]) == ("FAIL", 0.5, [True, False])
    assert bad.reasoning == "failed: json_match:b"


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
@pytest.mark.parametrize("make", [create_trajectory_match_evaluator, create_async_trajectory_match_evaluator])
def test_a_matcher_is_called_by_its_feedback_key(make, mode):
    matcher = from_evaluator(make(trajectory_match_mode=mode), trajectory=True)
    assert matcher.name == f"trajectory_{mode}_match"
    verdict = Ensemble([matcher]).judge(WEATHER.model_copy(update={"metadata": {"expected_calls": ["forecast"]}}))
    assert verdict.judgments[0].critic == f"trajectory_{mode}_match"


@pytest.mark.parametrize("make", [create_json_match_evaluator, create_async_json_match_evaluator])
def test_an_evaluator_without_a_name_is_called_as_its_maker(make):
    assert from_evaluator(make()).name == "json_match"


WEATHER = Case(
    question="Weather in Paris?",
    answer="18 degrees.",
    trajectory=[Step(tool="weather", arguments={"city": "Paris"}, output="18"), Step(text="Let me see.")],
)
TRAJECTORIES = pytest.mark.parametrize(
    "make", [create_trajectory_match_evaluator, create_async_trajectory_match_evaluator], ids=["sync", "async"]
)


@TRAJECTORIES
class TestAgentevals:
    @pytest.mark.parametrize(
        ("mode", "expected", "status"),
        [
            ("unordered", [["weather", {"city": "Paris"}]], "PASS"),
            ("unordered", [["weather", {"city": "Rome"}]], "FAIL"),
            ("superset", ["forecast"], "FAIL"),
            ("subset", [["weather", {"city": "Paris"}], ["forecast", {}]], "PASS"),
        ],
    )
    def test_tool_calls_are_matched(self, make, mode, expected, status):
        judge = from_evaluator(make(trajectory_match_mode=mode), trajectory=True)
        case = WEATHER.model_copy(update={"metadata": {"expected_calls": expected}})
        judgment = judge.judge(case)
        assert (judgment.status, judgment.critic) == (status, f"trajectory_{mode}_match")

    def test_the_messages_of_a_reference_run_are_handed_on(self, make):
        call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
        run = [
            {"role": "user", "content": "?"}, {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "18", "tool_call_id": "1"}, {"role": "assistant", "content": "18"},
        ]  # fmt: skip
        case = Case(question="?", answer="18", trajectory=WEATHER.trajectory[:1], metadata={"expected_calls": run})
        assert from_evaluator(make(trajectory_match_mode="strict"), trajectory=True).judge(case).passed

    def test_without_anything_to_compare_with_it_abstains(self, make):
        judgment = from_evaluator(make(), trajectory=True).judge(WEATHER)
        assert judgment.reasoning == "the evaluator needs 'reference_outputs', which the case does not have"
        assert judgment.status == "ABSTAIN"


def test_a_conversation_is_openai_style_messages():
    case = WEATHER.model_copy(
        update={"messages": [{"role": "user", "content": "Hello"}], "metadata": {"expected_calls": ["weather"]}}
    )
    roles = [message["role"] for message in conversation(case)]
    assert roles == ["user", "user", "assistant", "tool", "assistant", "assistant"]
    assert [message["role"] for message in expected_conversation(case)] == ["user", "assistant", "tool", "assistant"]
    assert expected_conversation(WEATHER) is None
    failed = Case(trajectory=[Step(tool="t", error="no such city"), Step(tool="open")])
    assert [message.get("content") for message in conversation(failed)] == ["", "no such city", ""]


class TestLangSmithFunctions:
    @pytest.mark.parametrize(
        ("said", "status"),
        [
            (True, "PASS"), (0.2, "FAIL"), (None, "ABSTAIN"), ("polite", None), ({"score": 1}, "PASS"),
            ({"key": "tone", "value": "polite"}, None), ({"key": "tone", "value": True}, "PASS"),
            ({"key": "note", "comment": "only words"}, "ABSTAIN"), ({"nothing": 1}, "ERROR"), (object(), "ERROR"),
            (EvaluationResult(key="k", score=0.9), "PASS"),
            ([{"key": "a", "score": 1}, {"key": "b", "score": 0}], "FAIL"),
            ({"results": [{"key": "a", "score": 1}, EvaluationResult(key="b", score=True)]}, "PASS"), ([], "ABSTAIN"),
        ],
    )  # fmt: skip
    def test_whatever_langsmith_understands_is_understood(self, said, status):
        assert from_evaluator(lambda inputs, outputs: said).judge(CASE).status == status

    def test_answers_in_words_may_mean_pass(self):
        judge = from_evaluator(lambda outputs: {"key": "tone", "value": outputs}, pass_labels=["polite"])
        assert [judge.judge(answer=word).status for word in ("polite", "rude")] == ["PASS", "FAIL"]
        assert judge.judge(answer="rude").label == "rude"

    def test_a_function_of_run_and_example(self):
        def correct(run, example):
            assert run.inputs == example.inputs
            assert run.inputs == {"input": "2 + 2?", "question": "2 + 2?", "context": "2 + 2 = 4"}
            return {"key": "correct", "score": run.outputs["output"] == example.outputs["output"]}

        async def also_correct(a, b):  # LangSmith takes any two names for run and example
            return correct(a, b)

        for function in (correct, also_correct, run_evaluator(correct), run_evaluator(also_correct)):
            judgment = from_evaluator(function).judge(CASE)
            assert (judgment.status, judgment.error) == ("PASS", None)
        assert from_evaluator(correct).name == from_evaluator(partial(correct)).name == "correct"

    def test_a_function_may_name_any_of_what_langsmith_has(self):
        assert from_evaluator(lambda run: run.outputs["output"] == "4").judge(CASE).passed
        assert from_evaluator(lambda outputs, example: outputs == example.outputs["output"]).judge(CASE).passed

    def test_the_keys_of_an_application_are_given_by_a_function_of_the_case(self):
        def correct(outputs: dict, reference_outputs: dict) -> bool:
            return outputs["reply"] == reference_outputs["label"]

        judge = from_evaluator(
            correct,
            arguments=lambda case: {"outputs": {"reply": case.answer}, "reference_outputs": {"label": case.reference}},
        )
        assert judge.judge(CASE).passed
        assert judge.judge(answer="5", reference="4").status == "FAIL"
        failure = from_evaluator(correct).judge(CASE)
        assert failure.status == "ERROR"
        assert "KeyError: 'reply'; the evaluator got {'question': ...} as inputs" in failure.error
        assert "arguments=lambda case: " in failure.error

    @pytest.mark.parametrize("kind", [dict, "dict[str, Any]", Mapping[str, str] | None, Keys, "NotKnownHere | dict"])
    def test_a_parameter_annotated_as_a_dictionary_gets_one(self, kind):
        def right(inputs, outputs, reference_outputs):
            assert inputs["question"] == "2 + 2?"
            assert outputs.get("contexts") == ["2 + 2 = 4"]
            return reference_outputs["answer"] in outputs["answer"]

        right.__annotations__ = dict.fromkeys(("inputs", "outputs", "reference_outputs"), kind)
        judgment = from_evaluator(right).judge(CASE)
        assert judgment.passed is (kind != "NotKnownHere | dict"), judgment.error
        missing = from_evaluator(right).judge(question="2 + 2?", answer="4")
        assert missing.reasoning == "the evaluator needs 'reference_outputs', which the case does not have"

    def test_other_annotations_get_texts(self):
        def right(inputs: str, outputs: str | dict, reference_outputs: Any) -> bool:
            return (inputs, outputs, reference_outputs) == ("2 + 2?", "4", "4")

        assert from_evaluator(right).judge(CASE).passed
        assert from_evaluator(partial(right)).judge(CASE).passed

    def test_a_run_has_the_usual_keys(self):
        def correct(run, example):
            return run.outputs["answer"] == example.outputs["answer"] and run.inputs["question"] == "2 + 2?"

        for function in (correct, run_evaluator(correct)):
            assert from_evaluator(function).judge(CASE).passed

    def test_a_function_that_expects_something_else_is_told_how_to_get_it(self):
        def of_texts(outputs):
            return outputs["answer"] == "4"

        def of_words(outputs):
            return outputs.get("answer") == "4"

        def of_run(run, example):
            return run.outputs["reply"] == "4"

        for function, why in (
            (of_texts, "the evaluator got texts; annotate a parameter as dict"),
            (of_words, "'str' object has no attribute 'get'; the evaluator got texts; annotate a parameter as dict"),
            (of_run, "KeyError: 'reply'; the evaluator got a run and an example with the keys 'input' and 'question'"),
        ):
            failure = from_evaluator(function).judge(CASE)
            assert failure.status == "ERROR"
            assert why in failure.error
            assert "arguments=lambda case: " in failure.error

    def test_a_parameter_that_no_case_fills_is_refused_with_the_option_that_fills_it(self):
        def pictured(outputs, attachments):
            return len(attachments) == 1

        with pytest.raises(ConfigurationError, match=r"requires 'attachments', and gets only inputs.*arguments=lambda"):
            from_evaluator(pictured)
        judge = from_evaluator(pictured, arguments=lambda case: {"outputs": case.answer, "attachments": [1]})
        assert judge.judge(CASE).passed
        assert from_evaluator(partial(pictured, attachments=["chart.png"])).judge(CASE).passed

    def test_its_own_errors_stay_as_they_are(self):
        def broken(outputs):
            raise TypeError("own")

        def looked_up(outputs):
            return {}[outputs]

        assert from_evaluator(broken).judge(CASE).error == "TypeError: own"
        assert from_evaluator(looked_up).judge(CASE).error == "KeyError: '4'"

    def test_a_run_evaluator_of_ones_own(self):
        class Own(RunEvaluator):
            def evaluate_run(self, run, example=None, evaluator_run_id=None):
                return EvaluationResult(key="thread", score=1, comment=threading.current_thread().name)

        judgment = asyncio.run(from_evaluator(Own()).ajudge(CASE))
        assert (judgment.status, judgment.reasoning, judgment.critic) == ("PASS", "jury-judge", "Own")

    @pytest.mark.parametrize("wrong", [Ensemble, "exact_match", None])
    def test_what_is_no_evaluator_is_refused(self, wrong):
        with pytest.raises(ConfigurationError, match="from_evaluator takes an evaluator function"):
            from_evaluator(wrong)


class TestStringEvaluators:
    def test_criteria(self):
        model = judge_model("It is right.\n\nY")
        judge = from_evaluator(load_evaluator("criteria", llm=model, criteria="conciseness"))
        judgment = judge.judge(CASE)
        assert (judgment.status, judgment.score, judgment.label) == ("PASS", 1.0, "Y")
        assert judgment.reasoning == "It is right."
        assert judge.name == "conciseness"
        assert judge.judge(answer="4").reasoning == "the evaluator requires the question; the case has none"
        no = from_evaluator(load_evaluator("criteria", llm=judge_model("No.\n\nN"), criteria="conciseness"))
        assert asyncio.run(no.ajudge(CASE)).status == "FAIL"

    @pytest.mark.parametrize("kind", ["criteria", "labeled_criteria"])
    @pytest.mark.parametrize("criterion", FAULTS)
    def test_a_criterion_that_bad_answers_meet_is_inverted(self, kind, criterion):
        def judged(reply, **options):
            evaluator = load_evaluator(kind, llm=judge_model(f"Because.\n\n{reply}"), criteria=criterion)
            return from_evaluator(evaluator, **options).judge(CASE)

        assert [(one.status, one.score) for one in map(judged, "YN")] == [("FAIL", 0.0), ("PASS", 1.0)]
        assert judged("Y", scale=(1, 0)).status == "FAIL"  # not inverted twice
        assert judged("Y", scale=(0, 1)).status == "PASS"

    def test_a_mixed_or_reworded_criterion_that_bad_answers_meet_is_refused(self):
        mixed = {"harmfulness": "Is it harmful?", "helpfulness": "Is it helpful?"}
        with pytest.raises(ConfigurationError, match="make an evaluator of each criterion"):
            from_evaluator(load_evaluator("criteria", llm=judge_model("Y"), criteria=mixed))
        reworded = load_evaluator("criteria", llm=judge_model("Y"), criteria={"harmfulness": "Is it free of harm?"})
        with pytest.raises(ConfigurationError, match=r"say which with scale=\(worst, best\)"):
            from_evaluator(reworded)
        assert from_evaluator(reworded, scale=(0, 1)).judge(CASE).passed
        rated = load_evaluator("score_string", llm=judge_model("[[9]]"), criteria="harmfulness")
        with pytest.raises(ConfigurationError, match="a high score for harmfulness"):
            from_evaluator(rated)
        assert from_evaluator(rated, scale=(10, 1)).judge(CASE).status == "FAIL"

    @pytest.mark.parametrize("criterion", [
        {"harmful": "is it harmful?"}, {"my": "Is the submission insensitive or offensive?"},
        {"my": "Is this malicious?"}, {"misogynistic": ""}, {"x": "Would a court call it criminal?"},
        {"is_toxic": "Is it so?"}, {"my": "Is the submission free of harmful content?"}, {"Controversy": "Any?"},
        {"my": "Grade it.\nIs it sexist?"}, {"my": "Is it racist? Answer as follows:"},
        {"my": "Does the answer hallucinate?"}, {"fabrications": "Any?"}, {"my": "Is a number of it wrong?"},
        {"my": "Is a claim of it false?"}, {"my": "Does it lie to the user?"}, {"my": "Is it spam?"},
        {"my": "Does it contradict the context?"}, {"my": "Has it spelling mistakes or other errors?"},
        ConstitutionalPrinciple(name="p", critique_request="Say how it is unethical.", revision_request="Change it."),
    ])  # fmt: skip
    def test_a_criterion_in_other_words_for_a_fault_is_refused_unless_the_scale_says_what_is_good(self, criterion):
        evaluator = load_evaluator("criteria", llm=judge_model("Y"), criteria=criterion)
        with pytest.raises(ConfigurationError, match=r"may mean a good or a bad answer|make an evaluator of each"):
            from_evaluator(evaluator)
        assert from_evaluator(evaluator, scale=(1, 0)).judge(CASE).status == "FAIL"
        assert from_evaluator(evaluator, scale=(0, 1)).judge(CASE).passed

    def test_langchains_other_criteria_are_taken_as_they_are(self):
        for criterion in set(Criteria) - {Criteria(name) for name in (*FAULTS, "correctness")}:
            evaluator = load_evaluator("criteria", llm=judge_model("Y"), criteria=criterion)
            assert from_evaluator(evaluator).judge(CASE).passed

    @pytest.mark.parametrize(
        ("reply", "value"),
        [("**Y**", "'**Y**'"), ("Good.\n\nPerhaps", "'Perhaps'"), ("x" * 500, "x…'"), ("?\x1b[2J", r"'?\x1b[2J'")],
    )
    @pytest.mark.parametrize("kind", ["criteria", "labeled_criteria"])
    def test_a_reply_that_the_evaluator_could_not_read_is_no_vote(self, kind, reply, value):
        judge = from_evaluator(load_evaluator(kind, llm=judge_model(reply), criteria="conciseness"))
        judgment = judge.judge(CASE)
        assert (judgment.status, judgment.label) == ("ABSTAIN", None)
        assert judgment.reasoning.startswith("the evaluator gave no score, and its value is ")
        assert judgment.reasoning.endswith(value)
        assert len(judgment.reasoning) < 150
        assert judgment.metadata["details"]["reasoning"] == reply.strip()
        yes, no = (Judge.from_function(lambda case, vote=vote: vote) for vote in (True, False))
        verdict = Ensemble([judge, yes, no, yes]).judge(CASE)
        assert (verdict.status, verdict.tally.eligible, verdict.tally.abstained) == ("PASS", 3, 1)

    def test_an_empty_reply_is_no_vote(self):
        judgment = from_evaluator(load_evaluator("criteria", llm=judge_model(""), criteria="conciseness")).judge(CASE)
        assert (judgment.status, judgment.label, judgment.reasoning) == ("ABSTAIN", None, "there is no score")

    def test_a_string_evaluator_that_answers_in_words_keeps_them(self):
        class Tone(StringEvaluator):
            def __init__(self, **score):
                self.score = score

            def _evaluate_strings(self, *, prediction, reference=None, input=None, **kwargs):
                return {"value": prediction, **self.score}

        assert from_evaluator(Tone()).judge(answer="polite").label == "polite"
        judge = from_evaluator(Tone(score=None), pass_labels=["polite"])
        assert [judge.judge(answer=tone).status for tone in ("polite", "rude")] == ["PASS", "FAIL"]

    @pytest.mark.parametrize("kind", ["pairwise_string", "labeled_pairwise_string"])
    def test_a_comparison_by_a_criterion_that_bad_answers_meet_is_refused(self, kind):
        def compared(criteria, **options):
            evaluator = load_evaluator(kind, llm=judge_model("[[A]]"), criteria=criteria)
            case = Case(question="?", reference="r", candidates=["one", "two"])
            return from_evaluator(evaluator, **options).judge(case)

        for criteria in [*FAULTS, {"style": "Is it kind?", "harmfulness": "Is it harmful?"}]:
            with pytest.raises(ConfigurationError, match="the preferred answer may be the better or the worse one"):
                compared(criteria)
        with pytest.raises(ConfigurationError, match="without that word"):
            compared("harmfulness", scale=(1, 0))
        assert compared("helpfulness").label == "A"
        assert compared({"harmlessness": "Is the submission harmless?"}).label == "A"

    def test_criteria_that_good_answers_meet_stay_as_they_are(self):
        own = {
            "harmlessness": "Is it harmless, unbiased and error-free, and does it believe the client?",
            "non-toxicity": "Is it non-toxic and inoffensive?",
        }
        evaluator = load_evaluator("criteria", llm=judge_model("Y"), criteria=own)
        assert from_evaluator(evaluator).judge(CASE).passed

    def test_a_rating_and_a_distance_have_their_scales(self):
        rated = load_evaluator("score_string", llm=judge_model("Good. Rating: [[8]]"))
        judgment = from_evaluator(rated, scale=(1, 10), threshold=7).judge(CASE)
        assert (judgment.status, judgment.score) == ("PASS", pytest.approx(7 / 9))
        exact = from_evaluator(load_evaluator("exact_match"))
        assert [exact.judge(answer=text, reference="4").status for text in "45"] == ["PASS", "FAIL"]
        assert exact.judge(answer="4").status == "ABSTAIN"
        assert exact.judge(question="q", reference="4").reasoning == "the case has no answer"

    def test_one_of_a_users_own_runs_beside_the_loop_and_may_break(self):
        class Distance(StringEvaluator):
            @property
            def requires_reference(self):
                return True

            def _evaluate_strings(self, *, prediction, reference=None, input=None, **kwargs):
                assert input is None  # it does not ask for it
                if prediction == "break":
                    raise ValueError("broken")
                return {"score": 0.1 if prediction else None, "reasoning": threading.current_thread().name}

        judge = from_evaluator(Distance(), scale=(1, 0))
        judgment = judge.judge(CASE)
        assert (judgment.status, judgment.score) == ("PASS", 0.9)
        assert judgment.reasoning not in ("MainThread", "jury-adapters-loop")
        assert judge.judge(answer="", reference="4").status == "ABSTAIN"
        assert judge.judge(answer="break", reference="4").error == "ValueError: broken"

    @pytest.mark.parametrize(
        ("reply", "label"), [("First. [[A]]", "A"), ("Second. [[B]]", "B"), ("Both. [[C]]", "tie"), ("?", None)]
    )
    def test_a_pairwise_one_compares_the_candidates(self, reply, label):
        judge = from_evaluator(load_evaluator("pairwise_string", llm=judge_model(reply)))
        judgment = judge.judge(question="q", candidates=["one", "two"])
        assert judgment.label == label
        assert judgment.status == (None if label else "ERROR")
        assert judge.judge(CASE).reasoning == "two candidates are compared, and the case has 0"

    def test_a_comparison_without_a_preference_abstains(self):
        class Undecided(PairwiseStringEvaluator):
            def _evaluate_string_pairs(self, *, prediction, prediction_b, reference=None, input=None, **kwargs):
                return {"score": 0.37}

        judgment = from_evaluator(Undecided()).judge(candidates=["one", "two"])
        assert (judgment.status, judgment.reasoning) == ("ABSTAIN", "no preference: value None, score 0.37")

    @pytest.mark.parametrize("wrong", [StringEvaluator, "exact_match", None])
    def test_what_is_no_evaluator_is_refused(self, wrong):
        with pytest.raises(ConfigurationError, match="or a string evaluator, not"):
            from_evaluator(wrong)

    @pytest.mark.parametrize("options", [{"arguments": lambda case: {}}, {"trajectory": False}])
    def test_options_for_functions_are_refused(self, options):
        with pytest.raises(ConfigurationError, match="arguments= and trajectory= are for functions"):
            from_evaluator(load_evaluator("exact_match"), **options)


def test_messages_of_langchain_are_welcome_where_a_function_of_the_case_makes_them():
    judge = from_evaluator(
        create_trajectory_match_evaluator(trajectory_match_mode="strict"),
        arguments=lambda case: {
            "outputs": [HumanMessage(case.question), AIMessage(case.answer)],
            "reference_outputs": [HumanMessage(case.question), AIMessage(case.reference)],
        },
    )
    assert judge.judge(CASE).passed


class Counted:
    """Evaluators of every shape that from_evaluator takes; they count how often they are called."""

    def __init__(self):
        self.calls = 0

    def by_name(self, outputs, reference_outputs=None):
        self.calls += 1
        return {"key": "theirs", "score": outputs == reference_outputs}

    async def asynchronous(self, outputs):
        return self.by_name(outputs, "4")

    def of_runs(self, run, example):
        return self.by_name(run.outputs["output"], example.outputs["output"])

    def of_two(self, first, second):
        return self.of_runs(first, second)

    def of_messages(self, outputs):
        return self.by_name(outputs[-1]["content"], "4")

    @property
    def run_evaluator(self):
        return run_evaluator(self.of_runs)


@pytest.mark.parametrize("form", ["by_name", "asynchronous", "of_runs", "of_two", "of_messages", "run_evaluator"])
class TestStoresAndBudgets:
    def made(self, form, **options):
        counted = Counted()
        return counted, from_evaluator(getattr(counted, form), trajectory=form == "of_messages", **options)

    def test_with_a_version_a_second_run_does_not_call_it(self, form, tmp_path):
        counted, judge = self.made(form, name="theirs", version="1")
        for _ in range(2):
            assert [one.status for one in judge.judge_many([CASE, WRONG], store=tmp_path / "runs.db")] == [
                "PASS",
                "FAIL",
            ]
        assert counted.calls == 2

    def test_without_one_it_is_called_again(self, form, tmp_path):
        counted, judge = self.made(form)
        for _ in range(2):
            list(judge.judge_many([CASE, WRONG], store=tmp_path / "runs.db"))
        assert counted.calls == 4

    def test_a_budget_keeps_it_from_being_called(self, form):
        counted, judge = self.made(form)
        first, second = judge.judge_many([CASE, WRONG], budget=Budget(max_calls=1), max_concurrency=1)
        assert (first.status, second.error, counted.calls) == ("PASS", "budget_exhausted", 1)


WRONG = CASE.model_copy(update={"answer": "5"})


def test_an_evaluator_without_a_model_takes_no_call_of_a_plan_or_a_budget():
    judge = from_evaluator(exact_match, calls=0)
    assert judge.estimate_cost([CASE]).calls == 0
    (judgment,) = judge.judge_many([CASE], budget=Budget(max_calls=0, max_usd=0))
    assert judgment.passed
    assert judgment.usage.cost_complete


class Lengths(StringEvaluator):
    calls = 0

    def _evaluate_strings(self, *, prediction, **kwargs):
        type(self).calls += 1
        return {"score": float(len(prediction) < 3)}


class Longer(PairwiseStringEvaluator):
    calls = 0

    def _evaluate_string_pairs(self, *, prediction, prediction_b, **kwargs):
        type(self).calls += 1
        return {"value": "A" if len(prediction) > len(prediction_b) else "B"}


@pytest.mark.parametrize("kind", [Lengths, Longer])
def test_string_evaluators_take_part_in_stores_and_budgets_too(kind, tmp_path):
    kind.calls = 0
    cases = [Case(answer="1", candidates=["22", "1"]), Case(answer="4444", candidates=["1", "22"])]
    judge = from_evaluator(kind(), name="theirs", version="1")
    refused = list(judge.judge_many(cases, budget=Budget(max_calls=0)))
    assert [one.error for one in refused] == ["budget_exhausted"] * 2
    first, second = (list(judge.judge_many(cases, store=tmp_path / "runs.db")) for _ in range(2))
    assert [(one.status, one.label) for one in first] == [(one.status, one.label) for one in second]
    assert {one.usage.calls for one in first} == {1}
    assert kind.calls == 2
