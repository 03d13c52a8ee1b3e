"""Mistakes that a reader of the documentation makes, and what is said to them."""

import asyncio
import inspect
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from jury_adapters import ConfigurationError, Ensemble
from jury_adapters.checks import LengthBetween, NotEmpty
from jury_adapters.core.installation import install_command
from jury_adapters.langchain import (
    JuryCallbackHandler,
    JuryEvaluator,
    JuryMiddleware,
    JuryPairwiseEvaluator,
    JuryRunnable,
    JuryTool,
    judge_runs,
    jury_node,
    route_on_verdict,
    to_case,
)
from jury_adapters.langchain.classic import JuryStringEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
ROWS = [{"inputs": {"question": "2 + 2?"}, "outputs": {"answer": "4"}}]


def says_good(case):
    return "good" in (case.answer or ""), "looked for 'good'"


def good(inputs):
    return {"answer": "good"}


# A function stands where a judge may stand


def test_callbacks_take_a_function():
    judged = []
    with JuryCallbackHandler(says_good, on_verdict=judged.append) as handler:
        RunnableLambda(good).invoke({"question": "?"}, config={"callbacks": [handler]})
    assert [one.judgment.critic for one in judged] == ["says_good"]


def test_a_block_takes_a_function_and_waits_for_it():
    with judge_runs(says_good) as handler:
        RunnableLambda(good).invoke({"question": "?"})
    assert handler.counts.judged == 1


def test_evaluators_take_a_function():
    assert JuryEvaluator(says_good)(inputs="?", outputs="good")["key"] == "says_good"
    assert asyncio.run(JuryEvaluator(says_good).acall(inputs="?", outputs="good"))["score"] == 1.0
    assert JuryStringEvaluator(says_good).evaluate_strings(prediction="good")["score"] == 1.0
    rows = offline_client().evaluate(
        good, data=examples(ROWS), evaluators=[JuryEvaluator(says_good)], upload_results=False
    )
    assert [row["evaluation_results"]["results"][0].score for row in rows] == [1.0]


def test_runnables_tools_nodes_and_middleware_take_a_function():
    assert JuryRunnable(says_good).invoke("good").passed
    assert JuryTool(jury=says_good).invoke({"answer": "good"}).startswith("PASS")
    assert jury_node(says_good).invoke({"answer": "good"})["verdict"]["status"] == "PASS"
    assert JuryMiddleware(says_good).jury.name == "says_good"
    assert callable(JuryPairwiseEvaluator(says_good))


def test_a_sink_may_ask_for_question_and_answer_of_a_run_that_made_no_case():
    told = []
    with judge_runs(says_good, field_map={"question": "inputs.no.such.path"}, on_verdict=told.append):
        RunnableLambda(good).invoke({"question": "?"})
    with judge_runs(says_good, on_verdict=told.append):
        RunnableLambda(good).invoke({"question": "?"})
    unreadable, read = told
    assert (unreadable.case, unreadable.question, unreadable.answer) == (None, None, None)
    assert unreadable.judgment.status == "ERROR"
    assert (read.question, read.answer) == ("?", "good")


@pytest.mark.parametrize(
    "take",
    [JuryCallbackHandler, judge_runs, JuryEvaluator, JuryMiddleware, JuryRunnable, jury_node,
     JuryStringEvaluator, JuryPairwiseEvaluator],
)  # fmt: skip
def test_the_path_of_a_jury_file_is_no_jury_and_the_message_says_how_to_read_it(take):
    with pytest.raises(ConfigurationError, match=r"load_jury\('jury.yaml'\)"):
        take("jury.yaml")


# Arguments under another name


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"input": {"question": "?"}, "outputs": "good"}, "inputs="),
        ({"question": "?", "outputs": "good"}, "inputs="),
        ({"inputs": "?", "output": "good"}, "outputs="),
        ({"inputs": "?", "answer": "good"}, "outputs="),
        ({"inputs": "?", "ouputs": "good"}, "outputs="),
        ({"inputs": "?", "outputs": "good", "reference": "good"}, "reference_outputs="),
        ({"inputs": "?", "outputs": "good", "reference_output": "good"}, "reference_outputs="),
    ],
)
def test_an_argument_under_another_name_is_refused(given, meant):
    for evaluate in (JuryEvaluator(says_good), lambda **all_: asyncio.run(JuryEvaluator(says_good).acall(**all_))):
        with pytest.raises(ConfigurationError, match=f"did you mean {meant}"):
            evaluate(**given)


def test_what_a_rubric_asks_for_and_contexts_are_still_taken():
    seen = []
    evaluate = JuryEvaluator(lambda case: seen.append(case) or True)
    evaluate(inputs="?", outputs="good", context=["page"], input="mine", language="Polish")
    assert seen[0].contexts == ("page",)
    assert dict(seen[0].metadata) == {"input": "mine", "language": "Polish"}


# Keys of a graph's state


class Declared(TypedDict, total=False):
    answer: str
    verdict: dict[str, Any]


class Undeclared(TypedDict, total=False):
    answer: str


class Model(BaseModel):
    answer: str = ""


@dataclass
class Plain:
    answer: str = ""


def graph(schema, node, route):
    built = StateGraph(schema)
    built.add_node("jury", node)
    built.add_edge(START, "jury")
    built.add_conditional_edges("jury", route, [END])
    return built.compile()


HOW = pytest.mark.parametrize(
    "run", [lambda app: app.invoke({"answer": "good"}), lambda app: asyncio.run(app.ainvoke({"answer": "good"}))]
)


@HOW
@pytest.mark.parametrize("schema", [Undeclared, Model, Plain])
def test_a_node_refuses_a_key_that_the_state_does_not_have(run, schema):
    with pytest.raises(ConfigurationError, match="declare `verdict: dict` in the state"):
        run(graph(schema, jury_node(says_good), route_on_verdict(END, END)))


@HOW
def test_a_key_that_is_declared_and_not_yet_set_is_fine(run):
    assert run(graph(Declared, jury_node(says_good), route_on_verdict(END, END)))["verdict"]["status"] == "PASS"


def test_outside_a_graph_a_node_knows_of_no_keys():
    assert jury_node(says_good, key="mine").invoke({"answer": "good"})["mine"]["status"] == "PASS"


@HOW
def test_a_route_that_reads_another_key_is_refused(run):
    with pytest.raises(ConfigurationError, match=r"the state has no 'verdct'.*key='verdct'"):
        run(graph(Declared, jury_node(says_good), route_on_verdict(END, END, otherwise=END, key="verdct")))


# LangSmith, offline


LOOPS = pytest.mark.parametrize(
    "loop",
    [
        lambda **given: offline_client().evaluate(good, evaluators=[JuryEvaluator(says_good)], **given),
        lambda **given: asyncio.run(
            offline_client().aevaluate(RunnableLambda(good), evaluators=[JuryEvaluator(says_good)], **given)
        ),
    ],
    ids=["evaluate", "aevaluate"],
)


@LOOPS
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"data": examples(ROWS)}, "can upload nothing.*upload_results=False"),
        ({"data": "my dataset", "upload_results": False}, r"no data set 'my dataset'.*data=examples\(rows\)"),
        ({"data": ROWS, "upload_results": False}, r"data=examples\(rows\)"),
    ],
)
def test_an_offline_client_says_what_it_can_do(loop, given, said):
    with pytest.raises(ConfigurationError, match=said):
        loop(**given)


@LOOPS
def test_an_iterator_of_examples_is_not_used_up_by_looking_at_it(loop):
    assert len(loop(data=iter(examples(ROWS * 3)), upload_results=False)) == 3


def test_whatever_else_needs_the_server_is_refused_too():
    with pytest.raises(ConfigurationError, match="this client is offline"):
        offline_client().read_dataset(dataset_name="mine")


def test_a_flat_row_keeps_its_reference():
    (example,) = examples([{"question": "2 + 2?", "ground_truth": "4"}])
    assert (example.inputs, example.outputs) == ({"question": "2 + 2?"}, {"ground_truth": "4"})
    seen = []
    rows = offline_client().evaluate(
        good, data=[example], evaluators=[JuryEvaluator(lambda case: seen.append(case) or True)], upload_results=False
    )
    assert len(list(rows)) == 1
    assert seen[0].reference == "4"


def test_question_and_answer_in_a_flat_row_may_mean_two_things():
    with pytest.raises(ConfigurationError, match=r"'outputs': \{'answer': ...\}.*'inputs': row"):
        examples([{"question": "2 + 2?", "answer": "4"}])
    assert examples([{"question": "2 + 2?", "answer": "4", "reference": "4"}])[0].outputs == {"reference": "4"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"inputs": {"question": "?"}, "output": {"answer": "4"}}, "unknown part 'output'. Did you mean 'outputs'"),
        ({"inputs": {"question": "?"}, "metdata": {"a": 1}}, "unknown part 'metdata'. Did you mean 'metadata'"),
        ({"input": {"question": "?"}, "outputs": {"answer": "4"}}, "unknown part 'input'. Did you mean 'inputs'"),
        ({"question": "?", "outputs": {"answer": "4"}}, "unknown part 'question'.*write {'inputs': row}"),
        ({"outputs": {"answer": "4"}}, "has no inputs"),
        ({"inputs": "?", "outputs": {"answer": "4"}}, "inputs is a dictionary, not str"),
        ({"inputs": {"q": "?"}, "outputs": {"a": "4"}, "reference_outputs": {"a": "4"}}, "leave one of them out"),
    ],
)
def test_a_row_with_a_misspelt_part_is_refused(row, said):
    with pytest.raises(ConfigurationError, match=f"example 2:? .*{said}"):
        examples([{"question": "2 + 2?"}, row])


def test_reference_outputs_are_the_outputs_of_an_example():
    (example,) = examples([{"inputs": {"question": "2 + 2?"}, "reference_outputs": {"answer": "4"}}])
    assert (example.inputs, example.outputs) == ({"question": "2 + 2?"}, {"answer": "4"})


def test_inputs_alone_are_inputs():
    assert examples([{"text": "Guten Tag", "target": "English"}])[0].outputs is None


# The middleware


def test_help_shows_the_arguments_of_the_middleware():
    shown = inspect.signature(JuryMiddleware)
    assert list(shown.parameters)[:4] == ["jury", "on_fail", "max_retries", "when"]
    assert shown.parameters["on_undecided"].default is None


@pytest.mark.parametrize("message", [None, "", "  ", 3])
def test_a_user_who_is_blocked_is_told_something(message):
    with pytest.raises(ConfigurationError, match="refusal is the text that the user gets"):
        JuryMiddleware(NotEmpty(), on_fail="block", refusal=message)


@pytest.mark.slow
def test_what_the_middleware_needs_is_said_at_once():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'langchain_core':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from jury_adapters.langchain import JuryMiddleware"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert install_command("langchain", "langchain>=1.2") in ran.stderr


# Misspelt names


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: JuryRunnable(says_good, field_maps={}), "field_map"),
        (lambda: JuryRunnable(says_good).invoke({"answer": "good"}, confg={}), "config"),
        (lambda: jury_node(says_good, kee="verdict"), "key"),
        (lambda: JuryTool(says_good, descr="Ask."), "description"),
        (lambda: JuryPairwiseEvaluator(says_good, kee="better"), "key"),
        (lambda: JuryStringEvaluator(says_good, nam="good"), "name"),
        (lambda: to_case({"answer": "good"}, field_maps={}), "field_map"),
    ],
)
def test_a_misspelt_option_is_refused_with_the_right_name(make, meant):
    with pytest.raises(ConfigurationError, match=f"Did you mean '{meant}'"):
        make()


def test_a_misspelt_key_of_an_input_is_logged_once(caplog):
    runnable = JuryRunnable(says_good)
    for _ in range(2):
        assert runnable.invoke({"question": "q", "answer": "good", "contxts": ["c"], "draft": 1}).passed
    assert [one.getMessage() for one in caplog.records] == [
        "says_good: the key 'contxts' of the input means nothing here. Did you mean 'contexts'?"
    ]


@pytest.mark.parametrize(
    "state",
    [
        {"question": "q", "generation": "good"},  # LangGraph's example of a RAG agent
        {"question": "q", "documents": ["c"], "generation": "good", "web_search": "no"},
        {"content": "good", "question": "q"},
        {"question": "q", "answer": "good", "retrieved_context_ids": ["p1"], "expected_ids": ["p1"]},
        {"question": "q", "documents": "one text"},  # before the answer is written
        {"task": "q", "passages": "one text"},
    ],
)
def test_a_key_that_is_read_is_not_called_misspelt_or_an_answer(state, caplog):
    JuryRunnable(says_good).invoke(state)
    assert [one.getMessage() for one in caplog.records] == []


@pytest.mark.parametrize("key", ["answr", "Ansewr", "respnse"])
@pytest.mark.parametrize("beside", [{"contexts": ["c"]}, {"question": "q", "contexts": ["c"]}, {}])
def test_a_misspelt_key_that_is_taken_as_the_answer_is_logged_once(key, beside, caplog):
    runnable = JuryRunnable(says_good)
    for _ in range(2):
        assert runnable.invoke({key: "good", **beside}).passed
    (one,) = caplog.records
    meant = "response" if key == "respnse" else "answer"
    assert f"the key {key!r} of the input is taken as the answer" in one.getMessage()
    assert f"Did you mean {meant!r}?" in one.getMessage()


@pytest.mark.parametrize(
    "value",
    [
        {"my_answer": "good", "contexts": ["c"]},
        {"answer_2": "good"},
        {"draft": "good", "contexts": ["c"]},
        {"question": "q", "answer": "good", "contexts": [], "reference": None},
        {"question": "q", "answer": "good", "contexts": ["c"], "contxts": ["d"]},
        {"messages": [("user", "q"), ("ai", "good")], "documents": ["c"], "draft": "good", "todo": []},
        {"inputs": {"question": "q"}, "outputs": {"answer": "good"}},
        "good",
    ],
)
def test_keys_that_are_right_or_have_nothing_to_do_with_a_case_are_not_logged(value, caplog):
    JuryRunnable(says_good).invoke(value)
    assert caplog.records == []


def keys_of(evaluators):
    experiment = offline_client().evaluate(
        good, data=examples(ROWS), evaluators=evaluators, upload_results=False, max_concurrency=0
    )
    return [result.key for row in experiment for result in row["evaluation_results"]["results"]]


def test_two_evaluators_with_the_default_key_are_reported_once(caplog):
    one, two = (JuryEvaluator(Ensemble([lambda case: True])) for _ in range(2))
    for _ in range(2):
        assert keys_of([one, two]) == ["jury", "jury"]
    (logged,) = [one.getMessage() for one in caplog.records if one.name.startswith("jury_adapters")]
    assert "two evaluators give results of one run under the key 'jury'" in logged
    assert "key='faithful'" in logged


@pytest.mark.parametrize("options", [{}, {"key": "short"}])
def test_two_juries_of_one_name_or_key_are_reported_too(options, caplog):
    strict, lenient = (JuryEvaluator(LengthBetween(maximum=most), **options) for most in (1, 1000))
    keys_of([strict, lenient])
    (logged,) = [one.getMessage() for one in caplog.records if one.name.startswith("jury_adapters")]
    assert f"of one run under the key '{options.get('key', 'LengthBetween')}'" in logged


def test_evaluators_with_names_or_in_other_experiments_are_not_reported(caplog):
    named = JuryEvaluator(Ensemble([lambda case: True], name="named"))
    first, second = (JuryEvaluator(Ensemble([lambda case: True])) for _ in range(2))
    keys_of([named, JuryEvaluator(Ensemble([lambda case: True]), key="keyed"), first])
    keys_of([second])
    assert [one for one in caplog.records if one.name.startswith("jury_adapters")] == []
