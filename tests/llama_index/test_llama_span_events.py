"""Any order of spans, as broken instrumentation may send them: nothing is raised, kept or lost."""

import asyncio
from functools import cache
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.tools import ToolOutput
from llama_index_support import PAGES, Pages, agent, context_chat, model, node, rag
from scripted import HONEST

from jury_adapters.llama_index import JurySpanHandler

INSTANCES = {
    "RetrieverQueryEngine.query": cache(lambda: rag(HONEST)),
    "ContextChatEngine.chat": cache(lambda: context_chat(HONEST)),
    "FunctionAgent.run": cache(lambda: agent(HONEST)),
    "Pages.retrieve": cache(Pages),
    "FunctionTool.acall": lambda: PAGES,
    "Scripted.chat": cache(lambda: model(HONEST)),
    "Other.thing": lambda: None,
}
ARGUMENTS = {"str_or_query_bundle": "q", "message": "q", "messages": [], "kwargs": {"user_msg": "q"}}
RESULTS = {
    "response": lambda: Response(HONEST, [node()]),
    "nothing": lambda: None,
    "nodes": lambda: [node()],
    "stream": lambda: StreamingResponse((one for one in HONEST.split()), [node()]),
    "tool": lambda: ToolOutput(tool_name="pages", content="x", raw_input={}, raw_output=[node()]),
    "strange": object,
}
ERRORS = [None, ValueError("broken"), asyncio.CancelledError(), GeneratorExit()]
SPAN = st.integers(0, 5)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), SPAN, st.one_of(st.none(), SPAN), st.sampled_from([*INSTANCES])),
        st.tuples(st.just("exit"), SPAN, st.sampled_from([*RESULTS]), st.none()),
        st.tuples(st.just("drop"), SPAN, st.sampled_from(ERRORS), st.none()),
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(EVENTS)
def test_each_run_is_judged_or_counted_once_whatever_happens(events):
    handler = JurySpanHandler(lambda case: True, select=["query", "chat", "agent", "retriever"])
    spans, names, bound = handler._spans, {}, SimpleNamespace(arguments=ARGUMENTS)
    roots = 0
    for kind, number, what, name in [*events, *(("exit", number, "nothing", None) for number in range(6))]:
        id_ = f"{names.get(number, name)}-{number}"
        if kind == "enter" and number not in names:
            names[number] = name
            parent = None if what is None else f"{names.get(what)}-{what}"
            before = len(handler._open)
            spans.span_enter(f"{name}-{number}", bound, INSTANCES[name](), parent)
            roots += len(handler._open) > before and handler._open[f"{name}-{number}"].judged * (
                handler._open[f"{name}-{number}"].begun.id == f"{name}-{number}"
            )
        elif kind != "enter":
            instance = INSTANCES[names.pop(number, "Other.thing")]()
            if kind == "exit":
                spans.span_exit(id_, bound, instance, RESULTS[what]())
            else:
                spans.span_drop(id_, bound, instance, what)
    assert (
        not handler._open,
        bool(handler.close()),
        not spans.open_spans,
        handler.counts.total(),
        {*handler.counts} <= {"judged", "abandoned", "skipped"},
    ) == (True, True, True, roots, True)
