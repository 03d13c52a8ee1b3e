"""Calls of an evaluator: alone, in LangSmith's loops, in openevals' simulations, beside openevals' own judges."""

import asyncio
import copy
import inspect
import uuid
import warnings
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langsmith.evaluation import RunEvaluator
from langsmith.schemas import Example, Run
from support.judge_model import NO, YES, judge_model

with warnings.catch_warnings():  # what openevals imports is its own affair
    warnings.simplefilter("ignore")
    from agentevals.trajectory.match import create_trajectory_match_evaluator
    from openevals import create_llm_as_judge
    from openevals.simulators import run_multiturn_simulation, run_multiturn_simulation_async
    from openevals.types import EvaluatorResult as TheirResult

from jury_adapters import ConfigurationError, Critic, Ensemble, Judge, abstain
from jury_adapters.checks import Contains, Equals
from jury_adapters.langchain import JuryEvaluator, judge_runs
from jury_adapters.langchain.langsmith import offline_client

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")

KEYS = {"key", "score", "comment", "metadata"}


def asked(jury, **options):
    """The asynchronous form, called as the synchronous one."""
    function = JuryEvaluator(jury, **options).acall
    return lambda **given: asyncio.run(function(**given))


FORMS = pytest.mark.parametrize("make", [JuryEvaluator, asked], ids=["function", "asynchronous"])


@FORMS
class TestOnItsOwn:
    def test_exactly_these_keys_which_are_openevals_own(self, make):
        result = make(Equals(), key="exact")(inputs="2 + 2?", outputs="4", reference_outputs="4")
        assert set(result) == KEYS
        assert set(TheirResult.__annotations__) - {"source_run_id"} == KEYS
        assert (result["key"], result["score"]) == ("exact", 1.0)

    def test_the_jury_with_its_votes_and_reasons(self, make):
        critics = [Critic(judge_model(reply), "answer_relevance", name=name) for name, reply in (("a", YES), ("b", NO))]
        result = make(Ensemble(critics, voting="average", name="jury"))(inputs={"q": "x"}, outputs={"a": "y"})
        assert result["key"] == "jury"
        assert result["score"] == 0.5
        assert "b voted FAIL: it does not fit" in result["comment"]
        assert result["metadata"]["votes"] == {"a": "pass", "b": "fail"}
        assert result["metadata"]["agreement"] == 0.0
        assert result["metadata"]["calls"] == 2

    @pytest.mark.parametrize("status", ["ABSTAIN", "ERROR"])
    def test_without_an_opinion_there_is_no_score_and_it_says_why(self, make, status):
        def broken(case):
            raise ValueError("boom")

        jury = Judge.from_function((lambda case: abstain("cannot say")) if status == "ABSTAIN" else broken)
        result = make(jury)(outputs="x")
        assert set(result) == KEYS
        assert result["score"] is None
        assert result["metadata"]["status"] == status
        assert result["comment"] == ("cannot say" if status == "ABSTAIN" else "the judge broke: ValueError: boom")

    @pytest.mark.parametrize("given", [{}, {"inputs": None}, {"outputs": object()}, {"outputs": {"a": {"b": [1]}}}])
    def test_nothing_that_is_given_raises(self, make, given):
        assert set(make(Equals())(**given)) == KEYS

    def test_what_contains_itself_is_an_error_and_no_exception(self, make):
        loop = {}
        loop["again"] = loop
        result = make(Equals())(outputs=loop)
        assert result["metadata"]["status"] == "ERROR"
        assert "nothing of the row could be judged" in result["comment"]

    @pytest.mark.parametrize("context", ["Paris.", ["Paris."], [Document("Paris.")], Document("Paris.")])
    @pytest.mark.parametrize("called", ["context", "contexts", "documents"])
    def test_contexts_come_as_a_further_argument_as_in_openevals(self, make, context, called):
        seen = []
        make(Judge.from_function(lambda case: seen.append(case) or True))(outputs="x", **{called: context})
        assert seen[0].contexts == ("Paris.",)

    def test_other_arguments_are_a_rubrics_variables(self, make):
        seen = []
        make(Judge.from_function(lambda case: seen.append(case) or True))(outputs="x", audience="children", none=None)
        assert seen[0].metadata == {"audience": "children"}

    def test_mapping_by_path(self, make):
        evaluate = make(
            Equals(),
            field_map={
                "question": "inputs.user.text",
                "answer": "outputs.choices[-1].text",
                "reference": "reference_outputs[0]",
            },
        )
        result = evaluate(inputs={"user": {"text": "q"}}, outputs={"choices": [{"text": "4"}]}, reference_outputs=["4"])
        assert result["score"] == 1.0

    def test_what_was_given_is_not_changed(self, make):
        outputs = {"messages": [HumanMessage("Hello"), AIMessage("Hi")]}
        before = list(outputs["messages"])
        make(Contains("Hi"))(outputs=outputs)
        assert outputs == {"messages": before}
        assert all(one is other for one, other in zip(outputs["messages"], before, strict=True))


class TestShape:
    def test_it_is_called_by_name_and_is_named_after_its_key(self):
        evaluator = JuryEvaluator(Equals(), key="exact")
        assert isinstance(evaluator, RunEvaluator)
        assert evaluator.__name__ == "exact"
        assert inspect.iscoroutinefunction(evaluator.acall)
        keyword = dict.fromkeys(["inputs", "outputs", "reference_outputs", "run", "example"], "KEYWORD_ONLY")
        for call in (evaluator, evaluator.acall):
            kinds = {name: parameter.kind.name for name, parameter in inspect.signature(call).parameters.items()}
            assert kinds == {**keyword, "kwargs": "VAR_KEYWORD"}

    @pytest.mark.parametrize(
        ("jury", "key"), [(Equals(), "Equals"), (Ensemble([Equals()]), "jury"), (Equals().named("x"), "x")]
    )
    def test_the_key_without_a_name(self, jury, key):
        assert JuryEvaluator(jury).__name__ == key

    def test_wrong_construction_says_what_is_wrong(self):
        with pytest.raises(ConfigurationError, match="give a jury, another Judge or a function"):
            JuryEvaluator("openai:gpt-4o-mini")
        with pytest.raises(ConfigurationError, match="Did you mean 'answer'"):
            JuryEvaluator(Equals(), field_map={"anser": "outputs.x"})

    def test_per_juror_adds_a_result_for_each_juror(self):
        jury = Ensemble({"right": Equals(), "short": Contains("4")}, name="jury")
        result = JuryEvaluator(jury, per_juror=True)(inputs="2 + 2?", outputs="4", reference_outputs="5")
        assert [(one["key"], one["score"]) for one in result["results"][1:]] == [
            ("jury.right", 0.0),
            ("jury.short", 1.0),
        ]

    def test_a_copy_works(self):
        evaluator = copy.deepcopy(JuryEvaluator(Equals(), key="exact"))
        assert evaluator(outputs="4", reference_outputs="4")["key"] == evaluator.__name__ == "exact"


class TestInLangSmith:
    DATA = tuple(Example(id=uuid.uuid4(), inputs={"q": "2 + 2?"}, outputs={"a": answer}) for answer in "45")

    def test_in_evaluate_both_forms_with_their_keys(self):
        evaluators = [JuryEvaluator(Equals(), key="one"), JuryEvaluator(Equals(), key="two").acall]
        rows = offline_client().evaluate(
            lambda inputs: {"a": "4"}, data=self.DATA, evaluators=evaluators, upload_results=False
        )
        found = [{result.key: result.score for result in row["evaluation_results"]["results"]} for row in rows]
        assert found == [{"one": 1.0, "two": 1.0}, {"one": 0.0, "two": 0.0}]

    def test_in_aevaluate_both_forms_with_their_keys(self):
        evaluators = [JuryEvaluator(Equals(), key="one"), JuryEvaluator(Equals(), key="two").acall]

        async def target(inputs):
            return {"a": "4"}

        async def run():
            client = offline_client()
            rows = await client.aevaluate(target, data=self.DATA, evaluators=evaluators, upload_results=False)
            return [{result.key: result.score for result in row["evaluation_results"]["results"]} async for row in rows]

        assert asyncio.run(run()) == [{"one": 1.0, "two": 1.0}, {"one": 0.0, "two": 0.0}]


class TestAFailedTarget:
    """Half of the targets raise: every form of the evaluator gives the same scores, so that means agree."""

    DATA = tuple(Example(id=uuid.uuid4(), inputs={"q": q}, outputs={"a": "4"}) for q in ("2 + 2?", "broken"))
    JUDGE = Judge.from_function(
        lambda case: case.answer == "4" if case.answer else abstain("no answer"), name="abstains without an answer"
    )

    @staticmethod
    def target(inputs):
        if inputs["q"] == "broken":
            raise ValueError("boom")
        return {"a": "4"}

    def evaluators(self):
        function, other = JuryEvaluator(self.JUDGE, key="f"), JuryEvaluator(self.JUDGE, key="a").acall
        return [function, other, JuryEvaluator(self.JUDGE, key="r")]

    def check(self, rows):
        scores = {"f": [], "a": [], "r": []}
        for row in rows:
            for result in row["evaluation_results"]["results"]:
                scores[result.key].append(result.score)
        assert {key: sorted(found) for key, found in scores.items()} == {key: [0.0, 1.0] for key in "far"}

    def test_scores_zero_in_evaluate(self):
        self.check(
            offline_client().evaluate(self.target, data=self.DATA, evaluators=self.evaluators(), upload_results=False)
        )

    def test_scores_zero_in_aevaluate(self):
        async def target(inputs):
            return self.target(inputs)

        async def run():
            rows = await offline_client().aevaluate(
                target, data=self.DATA, evaluators=self.evaluators(), upload_results=False
            )
            return [row async for row in rows]

        self.check(asyncio.run(run()))

    def test_a_run_and_its_example_are_enough(self):
        now = datetime.now(UTC)
        run = Run(id=uuid.uuid4(), name="r", start_time=now, run_type="chain", trace_id=uuid.uuid4(), dotted_order="",
                  inputs={"q": "ignored"}, outputs={"a": "5"})  # fmt: skip
        assert JuryEvaluator(Equals())(run=run, example=self.DATA[0])["score"] == 0.0
        assert JuryEvaluator(Equals())(outputs={"a": "4"}, run=run, example=self.DATA[0])["score"] == 1.0


class TestInASimulation:
    USERS = ("Hello", "What is 2 + 2?")

    def test_of_several_turns(self):
        result = run_multiturn_simulation(
            app=lambda message, **options: {"role": "assistant", "content": f"You said: {message['content']}"},
            user=list(self.USERS),
            max_turns=2,
            trajectory_evaluators=[JuryEvaluator(Contains("2 + 2"), key="repeats")],
        )
        assert [(found["key"], found["score"]) for found in result["evaluator_results"]] == [("repeats", 1.0)]

    def test_and_asynchronously(self):
        async def app(message, **options):
            return {"role": "assistant", "content": f"You said: {message['content']}"}

        result = asyncio.run(
            run_multiturn_simulation_async(
                app=app,
                user=list(self.USERS),
                max_turns=2,
                trajectory_evaluators=[JuryEvaluator(Contains("2 + 2"), key="repeats").acall],
            )
        )
        assert [(found["key"], found["score"]) for found in result["evaluator_results"]] == [("repeats", 1.0)]

    def test_in_one_loop_with_openevals_and_agentevals(self):
        thread = [HumanMessage("Hello"), AIMessage("Hi")]
        evaluators = [
            create_trajectory_match_evaluator(trajectory_match_mode="strict"),
            create_llm_as_judge(prompt="{outputs}", judge=judge_model({"reasoning": "r", "score": True})),
            JuryEvaluator(Equals(), key="ours"),
        ]
        found = [evaluate(outputs=thread, reference_outputs=thread) for evaluate in evaluators]
        assert [bool(result["score"]) for result in found] == [True] * 3
        assert all({"key", "score", "comment", "metadata"} <= set(result) for result in found)


class TestWhereOpenevalsGoesWrong:
    """Each: theirs as it is, then ours."""

    def theirs(self, reply, **options):
        options = {"prompt": "{outputs}", **options}
        return create_llm_as_judge(judge=judge_model(reply), **options)

    def ours(self, reply, **options):
        return JuryEvaluator(Critic(judge_model(reply), "answer_relevance", name="c", **options))(
            inputs="q", outputs="a"
        )

    def test_a_score_off_the_scale(self):
        assert self.theirs({"reasoning": "r", "score": 37}, continuous=True)(outputs="x")["score"] == 37
        scale = Critic(judge_model({"reasoning": "r", "answer": 37, "confidence": 1}), "conciseness", name="c")
        result = JuryEvaluator(scale)(inputs="q", outputs="x")
        assert (result["score"], result["metadata"]["status"]) == (None, "ABSTAIN")

    def test_an_answer_that_is_none_of_the_choices(self):
        loose = self.theirs({"reasoning": "r", "score": 0.5}, choices=[0.0, 1.0])
        assert loose(outputs="x")["score"] == 0.5
        assert self.ours({"reasoning": "r", "answer": "PERHAPS", "confidence": 1})["score"] is None

    def test_a_reply_without_a_score(self):
        with pytest.raises(KeyError):
            self.theirs({"reasoning": "r"})(outputs="x")
        result = self.ours({"reasoning": "r"})
        assert (result["score"], result["metadata"]["error"]) == (None, "parse_fail")

    def test_braces_in_a_prompt(self):
        with pytest.raises(KeyError):
            self.theirs(YES, prompt='Answer with {"score": 1}: {outputs}')(outputs="x")
        critic = Critic(judge_model(), name="c", prompt='Answer with {"score": 1}: {answer}')
        assert JuryEvaluator(critic)(outputs="x")["score"] == 1.0

    def test_a_prompt_that_reads_attributes(self):
        class User:
            password = "hunter2"

        model = judge_model({"reasoning": "r", "score": True})
        create_llm_as_judge(prompt="{ctx.password} {outputs}", judge=model)(outputs="x", ctx=User())
        assert "hunter2" in model.seen[0]
        model = judge_model()
        critic = Critic(model, name="c", prompt="{ctx.password} {answer}")
        JuryEvaluator(critic)(outputs="x", ctx=User())
        assert "hunter2" not in model.seen[0]

    def test_a_judge_with_retries(self):
        model = judge_model({"reasoning": "r", "score": True}).with_retry()
        with pytest.raises(ValueError, match="judge"):
            create_llm_as_judge(prompt="{outputs}", judge=model)(outputs="x")
        critic = Critic(judge_model().with_retry(), "answer_relevance", name="c")
        assert JuryEvaluator(critic)(inputs="q", outputs="x")["score"] == 1.0

    def test_what_was_given_is_changed(self):
        outputs = {"messages": [HumanMessage("Hello"), AIMessage("Hi")]}
        self.theirs({"reasoning": "r", "score": True})(outputs=outputs)
        assert [type(message) for message in outputs["messages"]] == [dict, dict]
        outputs = {"messages": [HumanMessage("Hello"), AIMessage("Hi")]}
        JuryEvaluator(Equals())(outputs=outputs, reference_outputs=[])
        assert [type(message) for message in outputs["messages"]] == [HumanMessage, AIMessage]


@FORMS
def test_an_answer_that_has_to_be_guessed_is_told_once(make, caplog):
    evaluate = make(Contains("x"), key="has x")
    for _ in range(2):
        evaluate(inputs={"a": "q", "b": "r"}, outputs={"c": "a", "d": "x"})
    told, question = [record.getMessage() for record in caplog.records]
    assert question.startswith("neither 'a' nor 'b' in inputs is known as the question")
    assert told.startswith("has x: none of the outputs 'c', 'd' is known as the answer")
    assert "'answer': 'outputs.c'" in told
    assert "'question': 'inputs.a'" in told
    caplog.clear()
    make(Contains("x"))(outputs={"id": "chatcmpl-1234567890", "object": "reply", "model": "m", "body": {"x": ["x"]}})
    make(Contains("x"))(outputs={"lang": "en", "reply_in_full": "A long text with an x.", "id": "c" * 99})
    assert ["'outputs.body'" in caplog.text, "'outputs.reply_in_full'" in caplog.text] == [True, True]
    caplog.clear()
    make(Contains("x"), field_map={"answer": "outputs.d"})(inputs={"a": "q"}, outputs={"c": "a", "d": "x"})
    reply = {"id": "1", "object": "o", "choices": [{"message": {"role": "assistant", "content": "x"}}]}
    for outputs in (
        reply,
        {"answer": "a", "d": "x"},
        {"c": "a"},
        {"c": "a", "thread_id": 3},
        "a",
        None,
    ):
        make(Contains("x"))(inputs={"a": "q"}, outputs=outputs)
    assert not caplog.records


OWN_NAMES = {"final_text": "In 2018.", "sources": ["page 1"], "tone": "brief"}
UNREAD = (
    "no answer was found in the outputs 'final_text', 'sources', 'tone'; say where it is with a field map, such as "
    "field_map={'answer': 'outputs.final_text'}"
)


@pytest.mark.parametrize("form", ["call", "acall", "evaluate_run"])
@pytest.mark.parametrize("broken", [False, True])
def test_outputs_without_an_answer_are_named(form, broken):
    judge = Judge.from_function(lambda case: len(case.answer) > 3 if broken else abstain("no answer"))
    evaluator = JuryEvaluator(judge)
    if form == "call":
        comment = evaluator(inputs={"question": "?"}, outputs=OWN_NAMES)["comment"]
    elif form == "acall":
        comment = asyncio.run(evaluator.acall(inputs={"question": "?"}, outputs=OWN_NAMES))["comment"]
    else:
        run = SimpleNamespace(id=uuid.uuid4(), inputs={"question": "?"}, outputs=OWN_NAMES, error=None)
        comment = evaluator.evaluate_run(run).comment
    assert comment.endswith(f"; {UNREAD}")
    assert comment.startswith("the judge broke: TypeError" if broken else "no answer;")


@pytest.mark.parametrize(
    ("outputs", "options"),
    [
        ({"answer": "In 2018."}, {}), ({"documents": ["page 1"]}, {}), ({}, {}), (None, {}), ("In 2018.", {}),
        ({"messages": [("user", "?")], "thread_id": "t7"}, {}), (OWN_NAMES, {"field_map": {"question": "inputs.q"}}),
    ],
)  # fmt: skip
def test_no_answer_is_missed_where_there_is_one_or_none_was_written(outputs, options):
    evaluator = JuryEvaluator(Judge.from_function(lambda case: abstain("so")), **options)
    assert evaluator(inputs={"q": "?"}, outputs=outputs)["comment"] == "so"


def test_outputs_without_an_answer_are_logged_once(caplog):
    evaluator = JuryEvaluator(Judge.from_function(lambda case: bool(case.answer)), key="right")
    for _ in range(2):
        assert evaluator(inputs={"question": "?"}, outputs=OWN_NAMES)["score"] == 0.0
    assert [one.getMessage() for one in caplog.records] == [f"right: {UNREAD}"]


def test_callbacks_log_once_that_no_answer_was_found(caplog):
    with judge_runs(lambda case: True):
        for _ in range(2):
            RunnableLambda(lambda asked: OWN_NAMES, name="app").invoke({"question": "?"})
    assert [one.getMessage() for one in caplog.records] == [f"{UNREAD} (logged once; the run is 'app')"]
