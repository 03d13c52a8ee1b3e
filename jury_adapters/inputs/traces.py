"""Traces of OpenTelemetry as runs: each trace of an application is one run.

Two conventions are read, the current one of OpenTelemetry for generative AI (``gen_ai.input.messages``) and that of
OpenInference. A trace in another one is refused by its name.

Sources: https://github.com/open-telemetry/semantic-conventions-genai,
https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

from jury_adapters.core.case import Step
from jury_adapters.core.text import visible
from jury_adapters.core.values import InputError
from jury_adapters.inputs.messages import field_of, first_of, read_messages, role_of, text_of
from jury_adapters.inputs.run import Run, texts_of

_KINDS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "LLM"), "llm"),
    **dict.fromkeys(("invoke_agent", "AGENT"), "agent"),
    **dict.fromkeys(("invoke_workflow", "CHAIN"), "chain"),
    **dict.fromkeys(("execute_tool", "TOOL"), "tool"),
    **dict.fromkeys(("retrieval", "RETRIEVER"), "retriever"),
    **dict.fromkeys(("EVALUATOR", "GUARDRAIL"), "judge"),
}
_ROLE = re.compile("user|human|assistant|ai|system|tool")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_WRITING = ("agent", "chain", "llm")
_UNREAD = ("gen_ai.prompt", "gen_ai.completion", "traceloop", "ai", "mlflow", "langfuse")


def is_trace(row: Mapping[str, Any]) -> bool:
    """Whether a row holds spans: an export request of OTLP in JSON, or one span."""
    return isinstance(row.get("resourceSpans", row.get("scopeSpans")), list) or bool(
        _id_of(row, "trace") and _id_of(row, "span")
    )


def read_traces(rows: Iterable[Mapping[str, Any]]) -> Iterator[Run | InputError]:
    """Yield the run of each trace, in the order of their first spans; an error for a trace that makes none.

    The question is that of the outermost span that has one, and the answer what the last outermost span wrote. Calls of
    tools are the steps, also those of agents inside tools, whose words are no evidence. Traces without a model, an
    agent, a tool or a retriever are left out; what evaluators did is no part of a run.

    Args:
        rows: export requests of OTLP in JSON, as the file exporter of the Collector writes them, or spans with a trace
            id, a span id, a parent id and attributes, as Phoenix and the SDK export them. They are held in memory,
            because the spans of one trace may be anywhere.

    Example::

        runs = read_traces(row.values for row in read_rows("traces.jsonl"))
        verdicts = jury.judge_many(one if isinstance(one, InputError) else default_case(one) for one in runs)
    """
    traces: dict[str, list[_Span]] = {}
    for number, row in enumerate(rows, start=1):
        try:
            for span in _spans_of(row):
                traces.setdefault(span.trace, []).append(span)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            yield InputError(f"row {number} holds no spans that can be read: {visible(repr(error))}")
    for trace, spans in traces.items():
        try:
            yield from _runs(trace, spans)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            yield InputError(f"trace {visible(trace, 60)}: {visible(str(error), 400)}")


class _Span(NamedTuple):
    """Span with its attributes as a tree."""

    trace: str
    id: str
    parent: str
    name: str
    start: str
    kind: str
    tree: Mapping[str, Any]
    error: str | None

    def messages(self, side: str) -> list[Any]:
        """Return the messages of the input or the output."""
        found, listed = _parsed(_at(self.tree, f"gen_ai.{side}.messages")), _at(self.tree, f"llm.{side}_messages")
        return found if isinstance(found, list) else [_message(_at(one, "message") or {}) for one in _listed(listed)]

    def took(self) -> Any:
        """Return what the span was given: messages, or a value; None if it is not recorded."""
        return {"messages": told} if (told := self.messages("input")) else self.value("input")

    def gave(self) -> Any:
        """Return what the span wrote: the text of a message, or a value; None if it is not recorded."""
        said = [one for one in self.messages("output") if role_of(one) == "assistant"]
        # Several messages of a model are alternatives; of an agent, the last one counts.
        return text_of(said[0 if self.kind == "llm" else -1]) or None if said else self.value("output")

    def value(self, side: str) -> Any:
        """Return the value of the input or the output, as JSON unless it is declared to be text."""
        value = _at(self.tree, f"{side}.value")
        return value if "text" in str(_at(self.tree, f"{side}.mime_type")) else _parsed(value)

    def step(self, *, echo: bool) -> Step:
        """Return the call of a tool that the span records; what a model inside it wrote is an echo."""
        given = _parsed(_at(self.tree, "gen_ai.tool.call.arguments", "input.value", "tool.parameters"))
        result = _parsed(_at(self.tree, "gen_ai.tool.call.result", "output.value"))
        return Step(
            tool=str(_at(self.tree, "gen_ai.tool.name", "tool.name") or self.name or "tool"),
            arguments=given if isinstance(given, Mapping) else {} if given is None else {"arguments": given},
            output=None
            if self.error
            else text_of(result)
            if role_of(result) == "tool"
            else next(iter(texts_of([result])), None),
            error=self.error,
            echo=echo,
        )


def _spans_of(row: Mapping[str, Any]) -> Iterator[_Span]:
    """Yield the spans of a row; columns such as ``attributes.llm.model_name`` are attributes too."""
    if row.keys().isdisjoint(("resourceSpans", "scopeSpans")):
        given = {key.removeprefix("attributes."): value for key, value in row.items() if value is not None}
        yield _span(row, given | dict(row.get("attributes") or {}))
    for scope in (
        one
        for resource in row.get("resourceSpans", [row] if "scopeSpans" in row else ())
        for one in resource["scopeSpans"]
    ):
        yield from (_span(span, _attributes(span.get("attributes"))) for span in scope["spans"])


def _span(row: Mapping[str, Any], attributes: Mapping[str, Any]) -> _Span:
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        *path, last = str(key).split(".", 12)
        place: Any = tree
        for name in path:
            place = place.setdefault(name, {}) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place[last] = {**value, **(place.get(last) or {})} if isinstance(value, Mapping) else value
    kinds = (_at(tree, "gen_ai.operation.name"), str(_at(tree, "openinference.span.kind")).upper())
    code = first_of(row, "status_code") or first_of(row.get("status"), "code", "status_code")
    return _Span(
        trace=_id_of(row, "trace"),
        id=_id_of(row, "span"),
        parent=_id_of(row, "parent") or _id_of(row, "parentSpan"),
        name=str(row.get("name") or ""),
        start=str(first_of(row, "startTimeUnixNano", "start_time") or "").zfill(20),
        kind="judge" if _at(tree, "gen_ai.evaluation") else next((_KINDS[one] for one in kinds if one in _KINDS), ""),
        tree=tree,
        error=str(
            row.get("status_message")
            or first_of(row.get("status"), "message", "description")
            or "an error without a message"
        )
        if code == 2 or "ERROR" in str(code)
        else None,
    )


def _id_of(row: Mapping[str, Any], what: str) -> str:
    inside = field_of(row.get("context"), f"{what}_id")
    return str(first_of(row, f"{what}Id", f"{what}_id", f"context.{what}_id") or inside or "")


def _attributes(pairs: Any) -> dict[str, Any]:
    """Return the attributes of OTLP, whose values are typed."""
    return {pair["key"]: _typed(pair.get("value") or {}) for pair in pairs or ()}


def _typed(value: Mapping[str, Any]) -> Any:
    if "arrayValue" in value:
        return [_typed(one) for one in value["arrayValue"].get("values", ())]
    return (
        _attributes(value["kvlistValue"].get("values")) if "kvlistValue" in value else next(iter(value.values()), None)
    )


def _runs(trace: str, spans: list[_Span]) -> Iterator[Run]:
    """Yield the run of a trace; nothing if it has no model, agent, tool or retriever.

    Raises:
        InputError: its spans hold nothing that can be judged.
    """
    by_id = {span.id: span for span in spans}
    around = {span.id: _around(span, by_id) for span in spans}
    kinds = {span.id: {one.kind for one in (span, *around[span.id])} for span in spans}
    ran = [one for one in sorted(spans, key=lambda one: one.start) if "judge" not in kinds[one.id]]
    outer = [span for span in ran if span.kind in _WRITING and "tool" not in kinds[span.id]]
    wrote = {span.id: span.gave() for span in outer}
    closed = {span.id for span in outer if wrote[span.id] is not None or span.error}
    last = [wrote[span.id] for span in outer if closed.isdisjoint(one.id for one in around[span.id])]
    took, gave = (
        next((one for one in found if one is not None), None) for found in ([one.took() for one in outer], last[::-1])
    )
    documents = [
        _at(page, "document.content") or page
        for one in ran
        if one.kind == "retriever"
        for page in _listed(_parsed(_at(one.tree, "gen_ai.retrieval.documents", "retrieval.documents")))
    ]
    chats = [span for span in outer if span.kind == "llm"]
    steps = _steps(ran, around, chats[-1].messages("input") if chats else [])
    if took is None and gave is None and not (steps or documents):
        unread = next((path for span in spans for path in _UNREAD if _at(span.tree, path) is not None), None)
        if unread or any(span.kind for span in ran):
            why = "its spans record no content" if unread is None else f"'{unread}' is of a convention that is not read"
            raise InputError(f"{why}; gen_ai.input.messages and gen_ai.output.messages, or those of OpenInference, are")
        return
    yield Run(
        id=trace,
        kind="agent",
        name=ran[0].name,
        inputs=took,
        outputs=gave,
        documents=documents,
        steps=steps,
        generator=next((str(one) for chat in reversed(chats) if (one := _at(chat.tree, *_MODELS))), None),
        error=next((one.error for one in ran if one.error and one.kind != "tool"), None) if gave is None else None,
    )


def _steps(ran: list[_Span], around: Mapping[str, list[_Span]], messages: list[Any]) -> list[Step]:
    """Return the calls of tools: of their spans, else of the messages of the last model."""
    models = {tool.id for span in ran if span.kind in ("llm", "agent") for tool in around[span.id]}
    heard = [span.step(echo=span.id in models) for span in ran if span.kind == "tool"]
    told = [step for step in read_messages(messages).steps if step.tool]
    known = {one.tool for one in heard if one.output or one.error or one.tool not in {step.tool for step in told}}
    return [*(step for step in heard if step.tool in known), *(step for step in told if step.tool not in known)]


def _around(span: _Span, by_id: Mapping[str, _Span]) -> list[_Span]:
    """Return the spans around a span, the innermost first; of a circle, each once."""
    found: dict[str, _Span] = {}
    while (parent := by_id.get(span.parent)) and parent.id not in found and len(found) < 100:
        found[parent.id] = span = parent
    return [*found.values()]


def _message(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of OpenInference in the form of OpenAI."""
    return {
        **given,
        "content": given.get("content")
        or "\n".join(str(_at(one, "message_content.text") or "") for one in _listed(given.get("contents"))),
        "tool_calls": [*filter(None, (_at(one, "tool_call") for one in _listed(given.get("tool_calls"))))],
    }


def _parsed(value: Any) -> Any:
    """Return the list or mapping that a text holds as JSON, and any other value unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return _plain(json.loads(value))
    except (ValueError, RecursionError):
        return value


def _plain(value: Any) -> Any:
    """Return JSON with the messages of LangChain in it, which are wrapped in several ways, as plain mappings."""
    if isinstance(value, list):
        return tuple(value) if len(value) == 2 and _ROLE.fullmatch(str(value[0])) else [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    inner = value.get("kwargs") if "lc" in value else value.get("data") if value.keys() == {"type", "data"} else None
    return (
        _plain({"type": value["type"], **inner})
        if isinstance(inner, dict)
        else {k: _plain(v) for k, v in value.items()}
    )


def _at(tree: Any, *paths: str) -> Any:
    """Return what stands at the first of several paths where there is something."""
    found = (
        reduce(lambda at, name: at.get(name) if isinstance(at, Mapping) else None, path.split("."), tree)
        for path in paths
    )
    return next((one for one in found if one is not None), None)


def _listed(value: Any) -> list[Any]:
    """Return a list, which the tree has as a mapping of places."""
    if isinstance(value, Mapping):
        return [value[place] for place in sorted(filter(str.isdecimal, value), key=int)]
    return value if isinstance(value, list) else []
