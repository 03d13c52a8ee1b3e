"""Traces of agents as cases: what was asked, answered and called, and what the answer may rest on."""

import json

import pytest
from support.otlp import TRACE, call, message, request, response, span, typed, write_requests

from jury_adapters import Case
from jury_adapters.checks import CostLimit
from jury_adapters.core.case_files import CaseRow, read_cases

QUESTION = "When did the ferry stop running?"
PAGE = "The ferry between the islands stopped running in 2018."
ANSWER = "It stopped running in 2018."


def rows_of(tmp_path, *requests) -> list[CaseRow]:
    return list(read_cases(write_requests(tmp_path / "traces.jsonl", *requests)))


def case_of(tmp_path, *spans) -> Case:
    (row,) = rows_of(tmp_path, request(*spans))
    assert row.problem == ""
    assert row.case is not None
    return row.case


def called(case: Case) -> list[tuple]:
    return [(step.tool, dict(step.arguments), step.output) for step in case.trajectory if step.tool]


def chat(number, parent, received, written, **more):
    names = {"gen_ai.input.messages": received, "gen_ai.output.messages": [{**written, "finish_reason": "stop"}]}
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-test"}
    return span(number, parent, attributes={**model, **names}, **more)


def tool(number, parent, name, arguments, result, **more):
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    given = {"gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result}
    return span(number, parent, attributes={**attributes, **{key: one for key, one in given.items() if one}}, **more)


def agent(number, parent=None, **attributes):
    return span(number, parent, attributes={"gen_ai.operation.name": "invoke_agent", **attributes})


def semantic():
    """A run in the attributes of the GenAI conventions: an agent, two calls of a model and one of a tool."""
    asked = message("user", QUESTION)
    made = message("assistant", call("c1", "search", query="ferry"))
    return [
        agent(1, **{"gen_ai.agent.name": "guide", "gen_ai.conversation.id": "talk 7"}),
        chat(2, 1, [message("system", "Be brief."), asked], made),
        tool(3, 1, "search", {"query": "ferry"}, PAGE),
        chat(4, 1, [asked, made, message("tool", response("c1", PAGE))], message("assistant", ANSWER)),
    ]


def events():
    """The same run in the events of the earlier conventions."""
    asked = ("gen_ai.user.message", {"content": QUESTION})
    calls = [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "ferry"}'}}]
    model = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "gpt-test"}
    first = ("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "tool_calls": calls}})
    history = [asked, ("gen_ai.assistant.message", {"tool_calls": calls})]
    result = ("gen_ai.tool.message", {"id": "c1", "content": PAGE})
    last = ("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": ANSWER}})
    told = ("gen_ai.system.message", {"content": "Be brief."})
    return [
        span(1, name="POST /ask"),
        span(2, 1, attributes=model, events=[told, asked, first]),
        span(4, 1, attributes=model, events=[told, *history, result, last]),
    ]


def open_inference():
    """The same run as OpenInference's instrumentations of LangChain and LlamaIndex record it."""
    state = {"messages": [{"type": "system", "content": "Be brief."}, {"type": "human", "content": QUESTION}]}
    told = {"llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": "Be brief."}
    asked = {"llm.input_messages.1.message.role": "user", "llm.input_messages.1.message.content": QUESTION}
    prefix = "llm.output_messages.0.message"
    made = {
        f"{prefix}.role": "assistant",
        f"{prefix}.tool_calls.0.tool_call.id": "c1",
        f"{prefix}.tool_calls.0.tool_call.function.name": "search",
        f"{prefix}.tool_calls.0.tool_call.function.arguments": '{"query": "ferry"}',
    }
    result = {"type": "tool", "content": PAGE, "tool_call_id": "c1", "name": "search"}
    written = {f"{prefix}.role": "assistant", f"{prefix}.contents.0.message_content.text": ANSWER}
    output = {"messages": [*state["messages"], result, {"type": "ai", "content": ANSWER}]}
    model = {"openinference.span.kind": "LLM", "llm.model_name": "gpt-test"}
    return [
        span(1, attributes={
            "openinference.span.kind": "CHAIN", "input.value": state, "input.mime_type": "application/json",
            "output.value": output, "output.mime_type": "application/json",
        }),
        span(2, 1, attributes={**model, **told, **asked, **made}),
        span(3, 1, attributes={
            "openinference.span.kind": "TOOL", "tool.name": "search", "input.value": '{"query": "ferry"}',
            "output.value": result, "output.mime_type": "application/json",
        }),
        span(4, 1, attributes={**model, **told, **asked, **written}),
    ]  # fmt: skip


@pytest.mark.parametrize("style", [semantic, events, open_inference])
def test_a_run_is_the_same_case_in_every_convention(tmp_path, style):
    case = case_of(tmp_path, *style())
    assert (case.question, case.answer, case.contexts) == (QUESTION, ANSWER, (PAGE,))
    assert called(case) == [("search", {"query": "ferry"}, PAGE)]
    assert len(case.trajectory) == 1
    assert [(one.role, one.content) for one in case.messages] == [("system", "Be brief.")]
    assert case.generator == "gpt-test"
    assert (case.item_id, case.metadata["service"]) == (TRACE, "assistant")


def test_the_names_of_agents_and_conversations_are_kept(tmp_path):
    case = case_of(tmp_path, *semantic())
    assert (case.metadata["agents"], case.metadata["conversation"]) == (("guide",), "talk 7")
    assert [one.content for one in case.messages] == ["Be brief."]


def test_an_agents_own_messages_and_instructions_come_first(tmp_path):
    given = {
        "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
        "gen_ai.input.messages": [message("user", "Hello"), message("assistant", "Hi"), message("user", QUESTION)],
        "gen_ai.output.messages": [message("assistant", call("c1", "x")), message("assistant", ANSWER)],
    }
    case = case_of(
        tmp_path, agent(1, **given), chat(2, 1, [message("user", "rephrased")], message("assistant", "draft"))
    )
    assert (case.question, case.answer) == (QUESTION, ANSWER)
    assert [one.content for one in case.messages] == ["Be brief.", "Hello", "Hi"]
    assert [step.text for step in case.trajectory] == ["draft"]


def test_details_of_the_operation_may_be_an_event(tmp_path):
    details = {
        "gen_ai.input.messages": [message("user", QUESTION)],
        "gen_ai.output.messages": [message("assistant", {"type": "reasoning", "content": "hm"}, ANSWER)],
    }
    event = ("gen_ai.client.inference.operation.details", details)
    case = case_of(tmp_path, span(1, attributes={"gen_ai.operation.name": "chat"}, events=[event]))
    assert (case.question, case.answer) == (QUESTION, ANSWER)


def test_documents_of_retrievers_are_contexts(tmp_path):
    given = {f"retrieval.documents.{n}.document.content": text for n, text in [(10, "third"), (2, "second"), (0, PAGE)]}
    listed = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": [{"id": "d", "content": "fourth"}]}
    case = case_of(
        tmp_path,
        span(1, attributes={"openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": ANSWER}),
        span(2, 1, attributes={"openinference.span.kind": "RETRIEVER", **given}),
        span(3, 1, attributes=listed),
    )
    assert case.contexts == (PAGE, "second", "third", "fourth")
    assert (case.question, case.answer, case.trajectory) == (QUESTION, ANSWER, ())


def test_langgraph_records_the_state_and_the_message_of_a_tool(tmp_path):
    """The spans of OpenInference's instrumentation of LangChain for an agent of ``create_agent``, shortened."""
    state = {"messages": [["user", "hi"], ["assistant", "hello"], ["user", QUESTION]]}
    result = {"type": "tool", "data": {"type": "tool", "content": PAGE, "name": "search", "tool_call_id": "c1"}}
    made, model = "llm.output_messages.0.message", {"openinference.span.kind": "LLM"}
    given = {f"llm.input_messages.{n}.message.role": role for n, role in enumerate(["system", "user"])}
    given |= {"llm.input_messages.0.message.content": "Be brief.", "llm.input_messages.1.message.content": QUESTION}
    calling = {
        f"{made}.role": "assistant", f"{made}.content": "Let me look.",
        f"{made}.tool_calls.0.tool_call.id": "c1", f"{made}.tool_calls.0.tool_call.function.name": "search",
        f"{made}.tool_calls.0.tool_call.function.arguments": '{"query": "ferry"}',
    }  # fmt: skip
    answering = {f"{made}.role": "assistant", f"{made}.content": ANSWER}
    case = case_of(
        tmp_path,
        span(1, attributes={
            "openinference.span.kind": "CHAIN", "input.value": state, "input.mime_type": "application/json",
            "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi",
        }),
        span(2, 1, attributes={**model, **given, **calling}),
        span(3, 1, attributes={
            "openinference.span.kind": "TOOL", "tool.name": "search", "input.value": "ferry",
            "output.value": result, "output.mime_type": "application/json",
        }),
        span(4, 1, attributes={**model, **given, **answering}),
    )  # fmt: skip
    assert (case.question, case.answer) == (QUESTION, ANSWER)
    assert [one.content for one in case.messages] == ["Be brief.", "hi", "hello"]
    assert called(case) == [("search", {"query": "ferry"}, PAGE)]
    assert [step.text for step in case.trajectory] == ["Let me look."]


def test_a_model_that_two_instrumentations_record_counts_once(tmp_path):
    asked, wrote = message("user", QUESTION), message("assistant", "A draft.")
    case = case_of(
        tmp_path,
        chat(1, None, [asked], wrote, end=9),
        chat(2, 1, [asked], wrote),
        chat(10, None, [asked], message("assistant", ANSWER)),
    )
    assert [step.text for step in case.trajectory] == ["A draft."]
    assert case.answer == ANSWER


def test_agents_of_one_run_are_one_case(tmp_path):
    case = case_of(
        tmp_path,
        agent(1, **{"gen_ai.agent.name": "supervisor"}),
        chat(2, 1, [message("user", QUESTION)], message("assistant", call("c1", "research", topic="ferry"))),
        tool(3, 1, "research", {"topic": "ferry"}, "I think it was 2017.", end=9),
        agent(4, 3, **{"gen_ai.agent.name": "researcher"}),
        chat(5, 4, [message("user", "ferry")], message("assistant", call("c2", "search", query="ferry"))),
        tool(6, 4, "search", {"query": "ferry"}, PAGE),
        chat(7, 4, [message("user", "ferry")], message("assistant", "I think it was 2017.")),
        chat(10, 1, [message("user", QUESTION)], message("assistant", ANSWER)),
    )
    assert (case.question, case.answer) == (QUESTION, ANSWER)
    assert [step.tool for step in case.trajectory if step.tool] == ["research", "search"]
    assert case.contexts == (PAGE,)  # the words of the researcher are the words of a model
    assert case.metadata["agents"] == ("supervisor", "researcher")


def test_the_last_of_several_agents_in_a_row_answers(tmp_path):
    case = case_of(
        tmp_path,
        span(1, name="workflow"),
        agent(2, 1, **{"gen_ai.agent.name": "router"}),
        chat(3, 2, [message("user", QUESTION)], message("assistant", "to the writer")),
        agent(4, 1, **{"gen_ai.agent.name": "writer"}),
        chat(5, 4, [message("user", "Write it.")], message("assistant", ANSWER)),
    )
    assert (case.question, case.answer) == (QUESTION, ANSWER)
    assert [step.text for step in case.trajectory] == ["to the writer"]


def test_a_failed_tool_is_an_error_and_no_evidence(tmp_path):
    asked = message("user", QUESTION)
    case = case_of(
        tmp_path,
        chat(1, None, [asked], message("assistant", call("c1", "search", query="ferry"))),
        tool(2, None, "search", {"query": "ferry"}, None, error="timed out"),
        chat(3, None, [asked], message("assistant", "I do not know.")),
    )
    assert [(step.tool, step.output, step.error) for step in case.trajectory] == [("search", None, "timed out")]
    assert case.contexts == ()


def test_parallel_tools_are_marked(tmp_path):
    asked = message("user", QUESTION)
    overlapping = [tool(number, None, f"tool {number}", None, "x", start=10, end=20) for number in (2, 3)]
    later = tool(4, None, "later", None, "x", start=30)
    last = chat(40, None, [asked], message("assistant", ANSWER))
    case = case_of(tmp_path, chat(1, None, [asked], message("assistant", "I look.")), *overlapping, later, last)
    assert [(step.tool, step.parallel) for step in case.trajectory] == [
        (None, False), ("tool 2", False), ("tool 3", True), ("later", False),
    ]  # fmt: skip
    calls = message("assistant", call("c1", "a"), call("c2", "b"))
    one_by_one = [
        tool(2, None, "a", None, "x", gen_ai__tool__call__id="c1"),
        tool(5, None, "b", None, "x", gen_ai__tool__call__id="c2"),
    ]
    case = case_of(tmp_path, chat(1, None, [asked], calls), *one_by_one)
    assert [(step.tool, step.parallel) for step in case.trajectory] == [("a", False), ("b", True)]


def test_what_the_span_of_a_tool_lacks_is_in_the_messages(tmp_path):
    asked, made = message("user", QUESTION), message("assistant", call("c1", "search", query="ferry"))
    case = case_of(
        tmp_path,
        chat(1, None, [asked], made),
        tool(2, None, "search", None, None, gen_ai__tool__call__id="c1"),
        chat(3, None, [asked, made, message("tool", response("c1", PAGE))], message("assistant", ANSWER)),
    )
    assert called(case) == [("search", {"query": "ferry"}, PAGE)]
    assert case.contexts == (PAGE,)


def test_a_history_that_every_call_repeats_is_counted_once(tmp_path):
    history = [message("user", QUESTION)]
    spans = []
    for number in range(1, 4):
        made = message("assistant", call(f"c{number}", "search", query="ferry"))
        spans.append(chat(number, None, list(history), made))
        history += [made, message("tool", response(f"c{number}", PAGE))]
    case = case_of(tmp_path, *spans, chat(4, None, history, message("assistant", ANSWER)))
    assert called(case) == [("search", {"query": "ferry"}, PAGE)] * 3


def test_a_run_without_an_answer_has_none(tmp_path):
    asked, made = message("user", QUESTION), message("assistant", "I look.", call("c1", "search", query="ferry"))
    case = case_of(tmp_path, agent(1), chat(2, 1, [asked], made))
    assert (case.question, case.answer) == (QUESTION, None)
    assert [(step.tool, step.text) for step in case.trajectory] == [("search", "I look.")]


def test_tokens_and_seconds_are_in_the_metadata_for_cost_limits(tmp_path):
    asked, wrote = message("user", QUESTION), message("assistant", ANSWER)
    used = {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 12}
    root = span(1, end=2_500_001, attributes={"gen_ai.operation.name": "invoke_agent"})
    first = chat(2, 1, [asked], message("assistant", call("c", "search")))
    first["attributes"] += typed(used)
    second = chat(3, 1, [asked], wrote)
    second["attributes"] += typed(used)
    case = case_of(tmp_path, root, first, second)
    assert (case.metadata["total_tokens"], case.metadata["elapsed_s"]) == (84, 2.5)
    assert CostLimit(max_tokens=100, max_seconds=3).judge(case).status == "PASS"
    partly = case_of(tmp_path, root, first, chat(3, 1, [asked], wrote))
    assert "total_tokens" not in partly.metadata


@pytest.mark.parametrize("with_tool", [True, False])
def test_the_answer_of_an_agent_that_ended_before_is_not_evidence_for_the_next(tmp_path, with_tool):
    said = "The ferry stopped in 2019."
    sub_agent = agent(2, 1, **{"gen_ai.output.messages": [message("assistant", said)]})
    asked, made = message("user", QUESTION), message("assistant", call("c1", "ask_guide"))
    ask = [tool(3, 1, "ask_guide", {}, said)] if with_tool else []
    last = chat(4, 1, [asked, made, message("tool", response("c1", said))], message("assistant", ANSWER))
    case = case_of(tmp_path, agent(1), sub_agent, *ask, last)
    assert called(case) == [("ask_guide", {}, said)]
    assert (case.answer, case.contexts) == (ANSWER, ())


def test_a_result_that_an_agent_repeats_afterwards_is_evidence(tmp_path):
    outer = agent(1, **{"gen_ai.output.messages": [message("assistant", PAGE)]})
    assert case_of(tmp_path, outer, tool(2, 1, "search", {}, PAGE)).contexts == (PAGE,)


@pytest.mark.parametrize("kind", [{"gen_ai.operation.name": "invoke_agent"}, {"openinference.span.kind": "CHAIN"}])
def test_a_text_on_the_way_is_not_the_answer_of_a_run_that_failed(tmp_path, kind):
    asked = [message("user", QUESTION)]
    case = case_of(
        tmp_path, span(1, error="rate limit", attributes=kind),
        chat(2, 1, asked, message("assistant", "First I look into the timetable.")),
        tool(3, 1, "timetable", {}, PAGE), span(4, 1, error="rate limit", attributes={"gen_ai.operation.name": "chat"}),
    )  # fmt: skip
    assert (case.question, case.answer, case.run_error) == (QUESTION, None, "rate limit")
    assert case.trajectory[0].text == "First I look into the timetable."


def test_the_answer_of_a_chain_that_replaced_a_failed_one_is_the_answer(tmp_path):
    chain = {"openinference.span.kind": "CHAIN"}
    case = case_of(
        tmp_path, span(1, attributes=chain), span(2, 1, error="down", attributes=chain),
        chat(3, 2, [message("user", QUESTION)], message("assistant", "Let me see.")),
        chat(4, 1, [message("user", QUESTION)], message("assistant", ANSWER)),
    )  # fmt: skip
    assert (case.answer, case.run_error) == (ANSWER, None)


def test_what_an_agent_wrote_before_it_failed_is_its_answer(tmp_path):
    broken = {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": [message("assistant", ANSWER)]}
    assert case_of(tmp_path, span(1, error="no disk", attributes=broken)).answer == ANSWER


FAILED = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": [message("user", QUESTION)]}
SERVER = {"http.request.method": "POST"}
CHAIN = {"openinference.span.kind": "CHAIN"}


@pytest.mark.parametrize("around", [SERVER, CHAIN])
def test_an_agent_that_failed_inside_the_span_of_a_server_is_a_run_that_failed(tmp_path, around):
    made = message("assistant", call("c", "search"))
    case = case_of(
        tmp_path, span(1, attributes=around), span(2, 1, error="rate limit", attributes=FAILED),
        chat(3, 2, [message("user", QUESTION)], made), tool(4, 2, "search", {}, PAGE),
    )  # fmt: skip
    assert (case.question, case.answer, case.run_error) == (QUESTION, None, "rate limit")
    assert case.metadata["error"] == "rate limit"


@pytest.mark.parametrize(
    "spans",
    [
        [span(2, 1, error="down", attributes=FAILED), agent(3, 1, **{"gen_ai.input.messages": [message("user", "?")]})],
        [agent(2, 1), span(3, 2, error="down", attributes=FAILED)],
        [agent(2, 1), span(3, 2, error="down", attributes={"gen_ai.operation.name": "chat"})],
        [span(2, 1, error="GraphInterrupt(value='Send it?')", attributes=FAILED)],
    ],
    ids=["tried again", "inside an agent that went on", "a model of an agent that went on", "paused for a person"],
)
def test_an_error_that_did_not_end_the_run_is_not_its_error(tmp_path, spans):
    asked = tool(9, 1, "search", {}, PAGE)
    case = case_of(tmp_path, span(1, attributes=SERVER), *spans, asked)
    assert (case.answer, case.run_error) == (None, None)


def test_an_error_on_the_way_to_an_answer_is_not_the_error_of_the_run(tmp_path):
    told = chat(3, 1, [message("user", QUESTION)], message("assistant", ANSWER))
    case = case_of(tmp_path, span(1, attributes=SERVER), span(2, 1, error="down", attributes=FAILED), told)
    assert (case.answer, case.run_error) == (ANSWER, None)


def test_the_error_of_a_run_is_in_its_metadata(tmp_path):
    broken = span(1, error="rate limit", attributes={"gen_ai.operation.name": "invoke_agent"})
    case = case_of(tmp_path, broken, chat(2, 1, [message("user", QUESTION)], message("assistant", call("c", "search"))))
    assert (case.metadata["error"], case.answer) == ("rate limit", None)
    assert case.run_error == "rate limit"


def test_a_trace_may_be_split_over_lines_and_a_line_may_hold_several(tmp_path):
    first = semantic()
    other = chat(9, None, [message("user", "Other?")], message("assistant", "Other."), trace="a" * 32)
    rows = rows_of(tmp_path, request(first[3], other), request(*first[:3]))
    assert [(row.line, row.case.item_id, row.case.answer) for row in rows if row.case] == [
        (1, TRACE, ANSWER), (1, "a" * 32, "Other."),
    ]  # fmt: skip


@pytest.mark.parametrize("written", ["lines", "object", "indented", "list"])
def test_a_json_file_is_one_object_a_list_or_lines(tmp_path, written):
    path, given = tmp_path / "traces.json", request(*semantic())
    other = request(chat(9, None, [message("user", "Other?")], message("assistant", "Other."), trace="a" * 32))
    texts = {
        "lines": f"{json.dumps(given)}\n{json.dumps(other)}\n",
        "object": json.dumps(given),
        "indented": json.dumps(given, indent=2),
        "list": json.dumps([given, other]),
    }
    path.write_text(texts[written])
    answers = [row.case.answer for row in read_cases(path) if row.case is not None]
    assert answers == ([ANSWER, "Other."] if written in ("lines", "list") else [ANSWER])
