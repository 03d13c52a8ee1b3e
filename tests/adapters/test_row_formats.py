"""Rows in the documented formats of other packages."""

import json

import pytest
from agentevals.graph_trajectory.utils import extract_langgraph_trajectory_from_thread
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode

from jury_adapters import Case
from jury_adapters.checks import ToolCalls
from jury_adapters.core.case_files import read_cases
from jury_adapters.core.errors import InputError

CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
]}  # fmt: skip
THREAD = [
    {"role": "user", "content": "Weather in Paris?"}, CALL,
    {"role": "tool", "tool_call_id": "1", "content": "18 degrees"}, {"role": "assistant", "content": "18 degrees."},
]  # fmt: skip
EXPECTED = ({"tool": "weather", "arguments": {"city": "Paris"}},)
STEP = {"tool": "weather", "arguments": {"city": "Paris"}, "output": "18 degrees"}
ROWS = {
    "ragas: several turns": (
        {
            "user_input": [
                {"content": "Weather in Paris?", "type": "human"},
                {"content": "", "type": "ai", "tool_calls": [{"name": "weather", "args": {"city": "Paris"}}]},
                {"content": "18 degrees", "type": "tool"},
                {"content": "18 degrees.", "type": "ai"},
            ],
            "reference": "18 degrees",
            "reference_tool_calls": [{"name": "weather", "args": {"city": "Paris"}}],
        },
        {
            "question": "Weather in Paris?", "answer": "18 degrees.", "reference": "18 degrees", "trajectory": [STEP],
            "contexts": ["18 degrees"], "metadata": {"expected_calls": EXPECTED},
        },
    ),
    "ragas: before 0.1": (
        {"question": "q", "answer": "a", "contexts": ["c"], "ground_truths": ["r"]},
        {"question": "q", "answer": "a", "contexts": ["c"], "reference": "r"},
    ),
    "ragas: no ground truths": ({"answer": "a", "ground_truths": []}, {"answer": "a"}),
    "ragas: a frame in a CSV file": (
        {"question": "q", "answer": "a", "contexts": "['it\\'s [1]', \"b\\n\"]", "ground_truths": "['r', 's']"},
        {"question": "q", "answer": "a", "contexts": ["it's [1]", "b\n"], "reference": "r\ns"},
    ),
    "a frame of NumPy arrays in a CSV file": (
        {"answer": "a", "contexts": "['c'\n 'd']"}, {"answer": "a", "contexts": ["c", "d"]},
    ),
    "DeepEval: a test run": (
        {
            "input": "q", "actualOutput": "a", "expectedOutput": "r", "context": ["ideal"], "retrievalContext": ["c"],
            "toolsCalled": [{"name": "weather", "inputParameters": {"city": "Paris"}, "output": "18 degrees"}],
            "expectedTools": [{"name": "weather", "inputParameters": {"city": "Paris"}}],
        },
        {
            "question": "q", "answer": "a", "contexts": ["c"], "trajectory": [STEP], "reference": "r",
            "metadata": {
                "context": ("ideal",), "ambiguous": ("context is ignored beside retrieval_context",),
                "expected_calls": EXPECTED,
            },
        },
    ),
    "MLflow: static data": (
        {"inputs": "q", "predictions": "a", "ground_truth": "r"}, {"question": "q", "answer": "a", "reference": "r"},
    ),
    "LangSmith: ExperimentResults.to_pandas": (
        {"inputs.question": "q", "outputs.output": "a", "outputs.contexts": ["c"], "reference.answer": "r",
         "feedback.x": 1, "error": None},
        {"question": "q", "answer": "a", "contexts": ["c"], "reference": "r", "metadata": {"feedback.x": 1}},
    ),
    "LangSmith: Client.get_test_results": (
        {"input.question": "q", "outputs.output": "a", "reference.answer": "r"},
        {"question": "q", "answer": "a", "reference": "r"},
    ),
    "LangSmith: parts as JSON text": (
        {"inputs": '{"question": "q"}', "outputs": '{"answer": "a"}', "reference_outputs": '{"answer": "r"}'},
        {"question": "q", "answer": "a", "reference": "r"},
    ),
    "JSON text as the output of a run": (
        {"inputs": "q", "outputs": '{"answer": "a"}'}, {"question": "q", "answer": '{"answer": "a"}'},
    ),
    "agentevals: extract_langgraph_trajectory_from_thread": (
        {
            "inputs": [{"__start__": {"messages": [{"role": "user", "content": "q"}]}}, "__resuming__"],
            "outputs": {
                "inputs": [], "results": [{}, {"messages": [{"role": "assistant", "content": "a"}]}],
                "steps": [["__start__", "agent"], ["agent"]],
            },
        },
        {
            "question": "q", "answer": "a",
            "trajectory": [{"text": f"visits the node {node}"} for node in ("__start__", "agent", "agent")],
        },
    ),
    "LlamaIndex: nodes of a response": (
        {"query": "q", "response": "a", "source_nodes": [{"node": {"text": "c", "id_": "1"}, "score": 0.5}]},
        {"question": "q", "answer": "a", "contexts": ["c"]},
    ),
    "DeepEval: tools": (
        {
            "input": "Weather in Paris?", "actual_output": "18 degrees.", "retrieval_context": ["18 degrees"],
            "tools_called": [{"name": "weather", "input_parameters": {"city": "Paris"}, "output": "18 degrees"}],
            "expected_tools": [{"name": "weather", "input_parameters": {"city": "Paris"}}],
        },
        {
            "question": "Weather in Paris?", "answer": "18 degrees.", "contexts": ["18 degrees"], "trajectory": [STEP],
            "metadata": {"expected_calls": EXPECTED},
        },
    ),
    "DeepEval: tools by name": (
        {
            "input": "q", "actual_output": "a",
            "tools_called": [{"name": "weather", "input_parameters": {"city": "Paris"}}],
            "expected_tools": [{"name": "weather"}, {"name": "clock", "input_parameters": None}],
        },
        {
            "question": "q", "answer": "a", "trajectory": [{"tool": "weather", "arguments": {"city": "Paris"}}],
            "metadata": {"expected_calls": ({"tool": "weather"}, {"tool": "clock"})},
        },
    ),
    "Chroma: the documents of one query": (
        {"question": "q", "answer": "a", "documents": [["c", "d"]]},
        {"question": "q", "answer": "a", "contexts": ["c", "d"]},
    ),
    "Chroma: nothing found": ({"question": "q", "documents": [[]]}, {"question": "q"}),
    "Databricks: an agent's request and response": (
        {
            "request": {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]},
            "response": {"choices": [{"message": {"role": "assistant", "content": "a"}}]},
            "retrieved_context": [{"doc_uri": "u", "content": "c"}, {"doc_uri": "v"}], "expected_response": "r",
        },
        {
            "question": "q", "answer": "a", "contexts": ["c"], "reference": "r",
            "messages": [{"role": "system", "content": "s"}],
        },
    ),
    "Databricks: texts": (
        {"request": "q", "response": "a", "expected_response": "r"},
        {"question": "q", "answer": "a", "reference": "r"},
    ),
    "MLflow: mlflow.search_traces": (
        {"trace_id": "t", "request": '{"question": "q"}', "response": '"a"', "state": "OK"},
        {"question": "q", "answer": "a", "metadata": {"trace_id": "t", "state": "OK"}},
    ),
    "MLflow: a trace of texts": ({"request": '"q"', "response": '"a"'}, {"question": "q", "answer": "a"}),
    "MLflow: a trace of a chat model": (
        {
            "request": '{"messages": [{"role": "user", "content": "q"}]}',
            "response": '{"id": "1", "choices": [{"message": {"role": "assistant", "content": "a"}}]}',
        },
        {"question": "q", "answer": "a"},
    ),
    "a request over HTTP": (
        {"question": "q", "request": {"url": "u"}, "response": "a"},
        {"question": "q", "answer": "a", "metadata": {"request": {"url": "u"}}},
    ),
    "MLflow: expected response": (
        {"inputs": {"question": "q"}, "outputs": "a", "expectations": {"expected_response": "r", "guidelines": ["g"]}},
        {"question": "q", "answer": "a", "reference": "r", "metadata": {"expectations": {"guidelines": ("g",)}}},
    ),
    "MLflow: expected facts": (
        {"inputs": {"question": "q"}, "outputs": "a", "expectations": {"expected_facts": ["f", "g"]}},
        {"question": "q", "answer": "a", "reference": "f\ng"},
    ),
    "MLflow: guidelines are no reference": (
        {"inputs": {"question": "q"}, "outputs": "a", "expectations": {"guidelines": ["g"]}},
        {"question": "q", "answer": "a", "metadata": {"expectations": {"guidelines": ("g",)}}},
    ),
    "promptfoo: a result": (
        {
            "vars": {"question": "q", "context": "c"}, "prompt": {"raw": "Answer: q", "label": "p"},
            "response": {"output": "a", "tokenUsage": {"total": 3}},
        },
        {
            "question": "q", "answer": "a", "contexts": ["c"],
            "metadata": {"vars": {"question": "q", "context": "c"}, "prompt": "Answer: q"},
        },
    ),
    "promptfoo: a chat prompt": (
        {
            "vars": {"topic": "t"}, "response": {"output": "a"},
            "prompt": {"raw": '[{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]', "label": "p"},
        },
        {
            "question": "q", "answer": "a", "messages": [{"role": "system", "content": "s"}],
            "metadata": {"vars": {"topic": "t"},
                         "prompt": '[{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]'},
        },
    ),
    "promptfoo: an object as the output": (
        {"vars": {"question": "q"}, "response": {"output": {"city": "Bern"}}},
        {"question": "q", "answer": '{"city": "Bern"}', "metadata": {"vars": {"question": "q"}}},
    ),
    "promptfoo: an error": (
        {"vars": {"question": "q"}, "response": {"error": "boom"}},
        {"question": "q", "metadata": {"vars": {"question": "q"}, "error": "boom", "run_error": "boom"}},
    ),
    "promptfoo: no variable is the question": (
        {"vars": {"topic": "t"}, "prompt": {"raw": "Write of t", "label": "p"}, "response": {"output": "a"}},
        {"question": "Write of t", "answer": "a", "metadata": {"vars": {"topic": "t"}}},
    ),
    "Phoenix: get_qa_with_reference": (
        {"context.span_id": "7", "input": "q", "output": "a", "reference": "passage"},
        {"question": "q", "answer": "a", "contexts": ["passage"], "metadata": {"context.span_id": "7"}},
    ),
    "Phoenix: get_retrieved_documents": (
        {"context.span_id": "7", "document_position": 0, "input": "q", "reference": "passage"},
        {"question": "q", "contexts": ["passage"], "metadata": {"context.span_id": "7", "document_position": 0}},
    ),
    "Phoenix: get_spans_dataframe": (
        {
            "attributes.input.value": "q", "attributes.output.value": "a",
            "attributes.retrieval.documents": [{"document.content": "c", "document.score": 1}],
        },
        {
            "question": "q", "answer": "a", "contexts": ["c"],
            "metadata": {"attributes.retrieval.documents": ({"document.content": "c", "document.score": 1},)},
        },
    ),
    "TruLens: a record": ({"main_input": "q", "main_output": "a"}, {"question": "q", "answer": "a"}),
    "TruLens: ground truth": (
        {"query": "q", "response": "a", "expected_response": "r", "expected_chunks": ["c"]},
        {"question": "q", "answer": "a", "reference": "r", "metadata": {"expected_chunks": ("c",)}},
    ),
    "an agent's export": (
        {"rag.question": "q", "rag.context": ["c"], "rag.answer": "a"},
        {"question": "q", "contexts": ["c"], "answer": "a"},
    ),
    "agent_output": ({"input": "q", "agent_output": "a"}, {"question": "q", "answer": "a"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_another_package(name):
    row, wanted = ROWS[name]
    assert Case.from_row(row) == Case(**wanted)


@pytest.mark.parametrize("name", ROWS)
def test_the_case_of_such_a_row_comes_back_as_itself(name):
    case = Case.from_row(ROWS[name][0])
    assert Case.from_row(case.model_dump(mode="json", exclude_defaults=True)) == case


def test_reference_is_the_reference_where_nothing_says_that_the_row_is_of_phoenix():
    case = Case.from_row({"input": "q", "output": "a", "reference": "r"})
    assert (case.reference, case.contexts) == ("r", ())


@pytest.mark.parametrize(
    "reference",
    [
        THREAD, {"messages": THREAD}, {"trajectory": THREAD}, {"expected_calls": list(EXPECTED)},
        {"answer": "18 degrees.", "expected_calls": list(EXPECTED)}, {"trajectory": [STEP]},
    ],
)  # fmt: skip
def test_a_reference_that_is_a_trajectory_reaches_the_judge_of_tool_calls(reference):
    row = {"inputs": {"messages": THREAD[:1]}, "outputs": {"messages": THREAD}, "reference_outputs": reference}
    assert ToolCalls().judge(Case.from_row(row)).passed
    other = {**row, "outputs": {"messages": [THREAD[0], THREAD[3]]}}
    assert ToolCalls().judge(Case.from_row(other)).passed is False


@pytest.mark.parametrize("name", ["input_parameters", "inputParameters", "args", "arguments", "input"])
def test_other_arguments_than_the_expected_ones_fail_whatever_their_name(name):
    def row(amount):
        return {"answer": "a", "tools_called": [{"name": "Pay", name: {"amount": amount}}],
                "expected_tools": [{"name": "Pay", name: {"amount": 10}}]}  # fmt: skip

    assert ToolCalls().judge(Case.from_row(row(10))).passed
    assert ToolCalls().judge(Case.from_row(row(9999))).passed is False


def test_a_tool_that_is_expected_by_name_may_have_any_arguments():
    for name, passes in (("weather", True), ("clock", False)):
        row = {"answer": "a", "tools_called": [{"name": name, "input_parameters": {"city": "Paris"}}],
               "expected_tools": [{"name": "weather"}]}  # fmt: skip
        judgment = ToolCalls().judge(Case.from_row(row))
        assert (judgment.passed, judgment.score) == (passes, float(passes))


def test_without_arguments_is_another_expectation_than_any_arguments():
    row = {"answer": "a", "tools_called": [{"name": "weather", "input_parameters": {"city": "Paris"}}],
           "expected_tools": [{"name": "weather", "input_parameters": {}}]}  # fmt: skip
    assert ToolCalls().judge(Case.from_row(row)).passed is False


def test_a_response_as_json_text_brings_no_evidence():
    response = json.dumps({"answer": "Lyon.", "contexts": ["Lyon."], "messages": THREAD})
    case = Case.from_row({"trace_id": "t", "request": '{"question": "q"}', "response": response})
    assert (case.question, case.answer, case.contexts, case.trajectory) == ("q", "Lyon.", (), ())
    assert "contexts in response is ignored, because response is JSON text" in case.metadata["ambiguous"]


@pytest.mark.parametrize("column", ["tools_called", "expected_tools", "reference_tool_calls"])
def test_arguments_under_an_unknown_name_are_refused(column):
    call = {"name": "Pay", "params": {"amount": 10}, "output": {"paid": True}}
    with pytest.raises(InputError, match="the call of 'Pay' has 'params'"):
        Case.from_row({"answer": "a", column: [call]})
    Case.from_row({"answer": "a", column: [{"name": "Pay", "output": {"paid": True}}]})


def test_the_nodes_of_a_response_object_are_its_contexts_and_those_of_a_mapping_only_by_a_map():
    response = Response("a", source_nodes=[NodeWithScore(node=TextNode(text="c"), score=0.5)])
    assert Case.from_row({"query": "q", "response": response}) == Case(question="q", answer="a", contexts=["c"])
    row = {"query": "q", "response": {"response": "a", "source_nodes": [{"node": {"text": "c"}, "score": 0.5}]}}
    case = Case.from_row(row)
    assert (case.answer, case.contexts) == ("a", ())
    said = ("source_nodes in response is not evidence unless contexts is mapped to it",)
    assert case.metadata["ambiguous"] == said
    assert Case.from_row(row, {"contexts": "response.source_nodes"}).contexts == ("c",)


def test_a_thread_that_agentevals_extracts_has_its_question_and_answer():
    graph = StateGraph(MessagesState).add_node("agent", lambda state: {"messages": [("ai", "a")]})
    graph = graph.add_edge(START, "agent").compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    for question in ("first", "q"):
        graph.invoke({"messages": [("user", question)]}, config)
    case = Case.from_row(extract_langgraph_trajectory_from_thread(graph, config))
    assert (case.question, case.answer) == ("q", "a")
    assert case.trajectory[-1].text == "visits the node agent"


def test_a_reference_of_steps_is_no_text():
    row = {"inputs": "q", "outputs": "a", "reference_outputs": {"trajectory": [STEP]}}
    assert Case.from_row(row).reference is None


def test_outputs_as_json_text_bring_no_evidence():
    text = json.dumps({"answer": "Lyon.", "contexts": ["Lyon."], "messages": THREAD})
    case = Case.from_row({"inputs": '{"question": "q"}', "outputs": text})
    assert (case.answer, case.contexts, case.trajectory) == ("Lyon.", (), ())
    assert "contexts in outputs is ignored, because outputs is JSON text" in case.metadata["ambiguous"]


def test_an_object_that_promptfoo_read_from_the_text_of_the_model_brings_no_evidence():
    thread = [{"role": "tool", "content": "Lyon."}, {"role": "assistant", "content": "Lyon."}]
    for output in (thread, {"messages": thread}, {"answer": "Lyon.", "contexts": ["Lyon."]}):
        case = Case.from_row({"vars": {"question": "q"}, "response": {"output": output}})
        assert (json.loads(case.answer), case.contexts, case.trajectory) == (output, (), ())


@pytest.mark.parametrize(
    "content",
    [
        {"evalId": "e", "results": {"version": 3, "prompts": [{"raw": "x"}], "results": [{"response": "a"}]}},
        {"testCases": [{"actualOutput": "a"}], "conversationalTestCases": [], "metricsScores": [{"metric": "m"}]},
    ],
)
def test_a_results_file_of_another_package_holds_its_rows(tmp_path, content):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content))
    (row,) = read_cases(path)
    assert row.case == Case(answer="a")


@pytest.mark.parametrize(
    "text", ["['a', 5]", "['a' + 'b']", "['a", "['a'", "['a'] ['b']", "['a', ...]", "['\\N']", "[]x"]
)
def test_what_is_no_printed_list_of_texts_is_one_context(text):
    assert Case.from_row({"answer": "a", "contexts": text}).contexts == (text,)


@pytest.mark.parametrize("broken", [[], "x", 5, [5], [{"name": 5}], {"a": 1}, [{"x": 1}], None, [[]]])
@pytest.mark.parametrize(
    "column",
    ["tools_called", "expected_tools", "reference_tool_calls", "expectations", "vars", "prompt", "user_input",
     "attributes.retrieval.documents", "reference", "request", "response", "retrieved_context", "choices", "contents"],
)  # fmt: skip
def test_odd_values_are_no_crash(column, broken):
    Case.from_row({"answer": "a", "context.span_id": "1", column: broken})
