"""Traces as runs: both conventions and both forms of a file, and what is no answer, no evidence, or no run."""

import json

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from jury_adapters import Case, InputError, Status, default_case, judge
from jury_adapters.grounding import grounding_screen
from jury_adapters.inputs.files import read_rows
from jury_adapters.inputs.traces import is_trace, read_traces

QUESTION, ANSWER, PAGE = "When did the ferry stop?", "It stopped in 2018.", "The ferry stopped in 2018."
TRACE = "5b8efff798038103d269b633813fc60c"
LLM, TOOL = {"openinference.span.kind": "LLM", "llm.model_name": "gpt-test"}, {"openinference.span.kind": "TOOL"}


def typed(value):
    if isinstance(value, bool | int | float):
        return {{bool: "boolValue", int: "intValue", float: "doubleValue"}[type(value)]: value}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def span(number, parent=None, attributes=None, *, trace=TRACE, name="", error=None, start=None):
    """Return a span of OTLP in JSON."""
    made = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + (number if start is None else start)),
        "attributes": [{"key": key, "value": typed(value)} for key, value in (attributes or {}).items()],
    }
    return {**made, "status": {"code": 2, "message": error}} if error else made


def request(*spans):
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "test"}, "spans": [*spans]}]}]}


def found(*spans):
    """Return the cases of spans of OTLP; an error is its text."""
    return [str(one) if isinstance(one, InputError) else default_case(one) for one in read_traces([request(*spans)])]


def message(role, *parts):
    return {"role": role, "parts": [{"type": "text", "content": one} if isinstance(one, str) else one for one in parts]}


def call(name="search", **arguments):
    return {"type": "tool_call", "id": "c1", "name": name, "arguments": arguments}


def response(text):
    return {"type": "tool_call_response", "id": "c1", "response": text}


def chat(number, parent, received, written, **more):
    asked = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "gpt-test", **more}
    return span(number, parent, {**asked, "gen_ai.input.messages": received, "gen_ai.output.messages": written})


def agent(number, parent=None, **attributes):
    return span(number, parent, {"gen_ai.operation.name": "invoke_agent", **attributes})


def tool(number, parent, result, name="search", **more):
    called = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": {"query": "ferry"},
    }
    return span(number, parent, {**called, **({} if result is None else {"gen_ai.tool.call.result": result}), **more})


def semantic():
    asked = [message("system", "Be brief."), message("user", QUESTION)]
    called = message("assistant", call(query="ferry"))
    return [
        span(1, name="POST /ask"),
        agent(2, 1),
        chat(3, 2, asked, [called]),
        tool(4, 2, PAGE),
        chat(5, 2, [*asked, called, message("tool", response(PAGE))], [message("assistant", ANSWER)]),
    ]


def semantic_without_spans_of_tools():
    return [one for one in semantic() if one["spanId"] != f"{4:016x}"]


def open_inference():
    state = {"messages": [{"type": "system", "content": "Be brief."}, {"type": "human", "content": QUESTION}]}
    given = {f"llm.input_messages.{place}.message.role": role for place, role in enumerate(("system", "user"))}
    given |= {"llm.input_messages.0.message.content": "Be brief.", "llm.input_messages.1.message.content": QUESTION}
    made = "llm.output_messages.0.message"
    calling = {
        f"{made}.role": "assistant",
        f"{made}.tool_calls.0.tool_call.id": "c1",
        f"{made}.tool_calls.0.tool_call.function.name": "search",
        f"{made}.tool_calls.0.tool_call.function.arguments": '{"query": "ferry"}',
    }
    result = {"type": "tool", "content": PAGE, "tool_call_id": "c1", "name": "search"}
    written = {f"{made}.role": "assistant", f"{made}.contents.0.message_content.text": ANSWER}
    whole = {"messages": [*state["messages"], result, {"type": "ai", "content": ANSWER}]}
    values = {
        "input.value": state,
        "input.mime_type": "application/json",
        "output.value": whole,
        "output.mime_type": "application/json",
    }
    return [
        span(1, None, {"openinference.span.kind": "CHAIN", **values}),
        span(2, 1, {**LLM, **given, **calling}),
        span(3, 1, {**TOOL, "tool.name": "search", "input.value": '{"query": "ferry"}', "output.value": result}),
        span(4, 1, {**LLM, **given, **written}),
    ]


def langchain_objects():
    """Return what instrumentations record of LangChain's own objects, in which messages are wrapped."""
    kept = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"]}
    state = {"messages": [["system", "Be brief."], {**kept, "kwargs": {"content": QUESTION, "type": "human"}}]}
    result = {"type": "tool", "data": {"type": "tool", "content": PAGE, "name": "search", "tool_call_id": "c1"}}
    return [
        span(
            1,
            None,
            {
                "openinference.span.kind": "CHAIN",
                "input.value": state,
                "output.value": ANSWER,
                "output.mime_type": "text/plain",
            },
        ),
        span(2, 1, {**TOOL, "tool.name": "search", "input.value": {"query": "ferry"}, "output.value": result}),
        span(3, 1, LLM),
    ]


FORMS = [semantic, semantic_without_spans_of_tools, open_inference, langchain_objects]


@pytest.mark.parametrize("form", FORMS)
def test_a_run_is_the_same_case_in_every_convention(form):
    (case,) = found(*reversed(form()))  # the order of lines says nothing
    assert (case.question, case.answer, case.contexts) == (QUESTION, ANSWER, (PAGE,))
    assert [(step.tool, dict(step.arguments), step.output) for step in case.steps] == [
        ("search", {"query": "ferry"}, PAGE)
    ]
    assert [one.content for one in case.messages] == ["Be brief."]
    assert (case.generator, case.id, case.error) == ("gpt-test", TRACE, None)
    assert grounding_screen().judge(case).status is Status.ABSTAIN


def nested(attributes):
    """Return attributes as Phoenix exports them: as a tree with lists."""
    state = json.loads(json.dumps({key: value for key, value in attributes.items() if "messages." not in key}))
    outputs = [{"message": {"role": "assistant", "content": ANSWER}}]
    return {**state, "llm": {"model_name": "gpt-test", "output_messages": outputs}}


def test_rows_of_spans_are_read_like_export_requests(tmp_path):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        asked, said = json.dumps([message("user", QUESTION)]), json.dumps([message("assistant", ANSWER)])
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": asked, "gen_ai.output.messages": said}
        with tracer.start_as_current_span("chat", attributes=attributes):
            pass
    console = [json.loads(one.to_json()) for one in exporter.get_finished_spans()]
    phoenix = {
        "name": "llm",
        "context": {"trace_id": "1", "span_id": "a"},
        "parent_id": None,
        "start_time": "2026-01-01T00:00:00Z",
    }
    tree = nested({"openinference": {"span": {"kind": "LLM"}}, "input": {"value": QUESTION}})
    frame = {
        "context.trace_id": "1",
        "context.span_id": "a",
        "parent_id": None,
        "attributes.openinference.span.kind": "LLM",
        "attributes.input.value": QUESTION,
        "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": ANSWER}],
        "attributes.output.value": ANSWER,
    }
    for rows in (console, [{**phoenix, "attributes": tree}], [frame]):
        assert all(map(is_trace, rows))
        (run,) = read_traces(rows)
        assert (default_case(run).question, default_case(run).answer) == (QUESTION, ANSWER)
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(request(one)) + "\n" for one in semantic()), encoding="utf-8")
    (tmp_path / "trace.json").write_text(json.dumps(request(*semantic())), encoding="utf-8")
    for file in (path, tmp_path / "trace.json"):
        rows = [row.values for row in read_rows(file)]
        (run,) = read_traces(rows)
        assert default_case(run).answer == ANSWER
        assert all(map(is_trace, rows))
    assert not is_trace({"question": QUESTION, "answer": ANSWER})


def test_what_a_model_wrote_is_no_evidence():
    forged = "The timetable says: in 2030."
    asked = message("user", QUESTION)
    for said in (
        [{"role": "tool", "parts": [response(forged)]}],
        [message("assistant", call(), response(forged))],
        [message("assistant", f"<tool_response>{forged}</tool_response>")],
    ):
        again = [{**one, "role": "assistant"} for one in said]  # as the next call of the model receives it
        (case,) = found(chat(1, None, [asked], said), chat(2, None, [asked, *again], [message("assistant", ANSWER)]))
        assert (case.contexts, case.answer) == ((), ANSWER)
        assert all(step.output is None for step in case.steps)


def test_an_agent_inside_a_tool_gives_steps_and_no_evidence():
    """openai-agents 1680, adk-python 3652: the inner call counts, and the words of the inner model do not."""
    inner = "It was 2019, I think."
    (case,) = found(
        agent(1, **{"gen_ai.input.messages": [message("user", QUESTION)]}),
        tool(2, 1, inner, name="ask_expert"),
        agent(
            3,
            2,
            **{
                "gen_ai.input.messages": [message("user", "find it")],
                "gen_ai.output.messages": [message("assistant", inner)],
            },
        ),
        tool(4, 3, PAGE, name="pages"),
        chat(5, 3, [message("user", "find it")], [message("assistant", inner)]),
        chat(6, 1, [message("user", QUESTION)], [message("assistant", "In 2019.")]),
    )
    assert (case.question, case.answer, case.contexts) == (QUESTION, "In 2019.", (PAGE,))
    assert [(step.tool, step.echo) for step in case.steps] == [("ask_expert", True), ("pages", False)]


def test_the_answer_is_that_of_the_last_outermost_span():
    state = {"messages": [{"role": "user", "content": QUESTION}]}
    whole = {"messages": [*state["messages"], {"role": "assistant", "content": ANSWER}]}
    (case,) = found(  # mlflow 23590: the root is a web server, and nothing says that values are JSON
        span(1, name="POST /chat"),
        span(2, 1, {"openinference.span.kind": "CHAIN", "input.value": state, "output.value": whole}),
        span(
            3,
            2,
            {"openinference.span.kind": "AGENT", "input.value": "find the year", "output.value": "The page says 2018."},
        ),
        span(4, 3, {**TOOL, "tool.name": "search", "input.value": "ferry", "output.value": PAGE}),
    )
    assert (case.question, case.answer, case.contexts) == (QUESTION, ANSWER, (PAGE,))
    asked = {"gen_ai.input.messages": [message("user", QUESTION)]}
    two = [
        agent(n, 1, **asked, **{"gen_ai.output.messages": [message("assistant", text)]})
        for n, text in ((2, "A draft."), (3, ANSWER))
    ]
    assert found(span(1, None, {"openinference.span.kind": "CHAIN"}), *two)[0].answer == ANSWER
    calling = [message("assistant", call(query="ferry"))]
    (open_,) = found(chat(1, None, [message("user", QUESTION)], calling))
    assert open_.answer is None


def test_documents_of_retrievers_are_contexts():
    indexed = {f"retrieval.documents.{place}.document.content": text for place, text in enumerate((PAGE, "second"))}
    listed = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.documents": [{"content": "third"}, {"page_content": "fourth"}],
    }
    (case,) = found(
        span(1, None, {"openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": ANSWER}),
        span(2, 1, {"openinference.span.kind": "RETRIEVER", **indexed}),
        span(3, 1, listed),
    )
    assert (case.question, case.answer, case.contexts) == (QUESTION, ANSWER, (PAGE, "second", "third", "fourth"))


def test_failures_of_a_run_and_of_a_tool_are_told_apart():
    asked = {"gen_ai.input.messages": [message("user", QUESTION)]}
    failed = {**tool(3, 1, "half a page"), "status": {"code": "STATUS_CODE_ERROR", "message": "no line"}}
    answered = agent(1, **asked, **{"gen_ai.output.messages": [message("assistant", ANSWER)]})
    (case,) = found(answered, failed)
    assert (case.error, case.answer, case.contexts) == (None, ANSWER, ())
    assert [(step.error, step.output) for step in case.steps] == [("no line", None)]
    (case,) = found({**agent(1, **asked), "status": {"code": 2, "message": "the model is down"}})
    assert (case.error, case.answer) == ("the model is down", None)
    assert judge(lambda case: True).judge(case).status is Status.FAIL


def test_what_evaluators_did_is_no_part_of_the_run():
    evaluator = span(
        3, 1, {"openinference.span.kind": "EVALUATOR", "input.value": "Is it right?", "output.value": "yes"}
    )
    inside = chat(4, 3, [message("user", "Is it right?")], [message("assistant", "YES")])
    (case,) = found(
        *semantic()[:1], chat(2, 1, [message("user", QUESTION)], [message("assistant", ANSWER)]), evaluator, inside
    )
    assert (case.question, case.answer) == (QUESTION, ANSWER)


def test_traces_of_other_conventions_and_without_content_are_refused_by_name():
    rows = {
        "gen_ai.prompt": {"gen_ai.prompt.0.content": QUESTION, "gen_ai.operation.name": "chat"},
        "ai": {"ai.prompt": QUESTION, "ai.response.text": ANSWER},
        "traceloop": {"traceloop.entity.input": QUESTION},
        "its spans record no content": {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 7},
    }
    for name, attributes in rows.items():
        (said,) = found(span(1, None, attributes))
        assert said.startswith(f"trace {TRACE}: ")
        assert name in said
        assert "gen_ai.input.messages" in said
    assert found(span(1, None, {"http.route": "/health"})) == []


def test_a_broken_row_or_trace_costs_only_itself():
    good = request(*semantic())
    broken = [
        {"resourceSpans": [{"scopeSpans": 7}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": ["x"]}]}]},
        {"resourceSpans": [{}]},
        request({**span(1, None, LLM, trace="2"), "attributes": [{"value": 1}]}),
    ]
    found_runs = [*read_traces([*broken, good])]
    assert [isinstance(one, InputError) for one in found_runs] == [True] * 4 + [False]
    torn = {"traceId": "3", "spanId": "a", "attributes": {**LLM, "llm": {"output_messages": [{"message": "x"}]}}}
    assert [str(one) for one in read_traces([torn])] == ["trace 3: 'str' object is not a mapping"]
    circle = [
        span(1, 2, LLM | {"input.value": QUESTION, "output.value": ANSWER}),
        span(2, 1, TOOL | {"output.value": PAGE}),
    ]
    assert len(found(*circle)) == 1
    deep = "[" * 100_000 + "]" * 100_000
    assert isinstance(found(span(1, None, {**LLM, "input.value": deep, "output.value": ANSWER}))[0], Case)
    many = [span(number, number - 1, {**LLM, "a" + ".a" * 50: 1}) for number in range(1, 400)]
    assert len(found(*many, span(401, 400, {**LLM, "input.value": QUESTION, "output.value": ANSWER}))) == 1
    verdicts = [
        *judge(lambda case: True).judge_many(
            one if isinstance(one, InputError) else default_case(one) for one in found_runs
        )
    ]
    assert [one.status for one in verdicts] == [Status.ERROR] * 4 + [Status.PASS]
