"""Cases of traces: one case for each trace, with the question, the answer, the steps and the evidence of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import ValidationError

from jury_adapters.core.case import Case, problems_of
from jury_adapters.core.case_parts import Message, Step
from jury_adapters.core.conversation import Conversation
from jury_adapters.core.errors import InputError
from jury_adapters.core.evidence import DEFAULT_EVIDENCE
from jury_adapters.core.run_errors import RUN_ERROR, error_in
from jury_adapters.core.traces.span_content import (
    Kind,
    Plain,
    ToolCall,
    documents,
    input_messages,
    model_of,
    older_attribute,
    question_of,
    tokens_of,
    tool_call,
)
from jury_adapters.core.traces.span_tree import Placed, error_at_end, placed_spans
from jury_adapters.core.traces.spans import Span, SpanProblem, is_request, read_request

__all__ = ["TRACE_COLUMNS", "TraceCase", "TraceReader", "is_request"]

MOST_SPANS: Final = 1 << 20
"""Maximum number of spans of a file, which are kept until the file has been read, because a trace may be split."""

TRACE_COLUMNS: Final = frozenset({
    "agents", "service", "conversation", "error", "spans", "total_tokens", "elapsed_s",
})  # fmt: skip
"""Names in the metadata of the case of a trace, beside ``id``."""

_NO_CONTENT = (
    "no span records messages, tool calls or documents; let the instrumentation record content "
    "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true)"
)


_NO_WORK = (
    "no span of the file has the GenAI attributes of OpenTelemetry or those of OpenInference, such as "
    "gen_ai.operation.name or openinference.span.kind"
)
_OLDER = "{} is of an older convention, which is not read, so update the instrumentation"


@dataclass(frozen=True, slots=True)
class TraceCase:
    """Result of reading one trace.

    Attributes:
        line: the line of the first span of the trace.
        unit: the unit of ``line``: a line, or an item of a JSON list.
        case: the case, or None if the trace is not a case.
        problem: the reason why the trace is not a case, or a problem of some of its spans; empty otherwise.
    """

    line: int
    unit: Literal["line", "item"]
    case: Case | None
    problem: str = ""


class TraceReader:
    """Reader of export requests, which collects the spans of each trace until all requests have been added."""

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}
        self._count = 0

    def add(self, values: Mapping[str, Any], line: int, unit: Literal["line", "item"]) -> Iterator[str]:
        """Add the spans of a request, and yield the problems of those that cannot be read.

        Raises:
            InputError: the file has more than :data:`MOST_SPANS` spans.
        """
        for found in read_request(values):
            if isinstance(found, SpanProblem):
                yield found.text
                continue
            self._count += 1
            if self._count > MOST_SPANS:
                raise InputError(f"more than {MOST_SPANS:,} spans; split the file, with each trace in one of the parts")
            trace = self._traces.setdefault(found.trace_id, _Trace(line, unit))
            known = trace.spans.setdefault(found.span_id, found)
            if known != found:
                yield f"the span {found.span_id} of the trace {found.trace_id} occurs twice; the first one is used"

    def cases(self) -> Iterator[TraceCase]:
        """Yield the cases of the traces, in the order of their first spans.

        Traces without a model, an agent, a tool or a retriever, such as those of health checks, are skipped; a file in
        which all are of this kind has one problem.
        """
        any_work = False
        for trace_id, trace in self._traces.items():
            problems: list[str] = []
            try:
                placed = placed_spans(list(trace.spans.values()), problems)
                if all(one.kind in (Kind.OTHER, Kind.JUDGE) for one in placed):
                    continue
                any_work = True
                case = _case(trace_id, placed)
            except ValidationError as error:
                case, problems = None, [problems_of(error)]
            except RecursionError:
                case, problems = None, ["nested too deeply"]
            except (ValueError, TypeError) as error:
                case, problems = None, [str(error)]
            if case is None and not problems:
                problems = [_why_no_content(trace.spans.values())]
            for problem in problems:
                yield TraceCase(trace.line, trace.unit, None, f"trace {trace_id}: {problem}")
            if case is not None:
                yield TraceCase(trace.line, trace.unit, case)
        if self._traces and not any_work:
            first = next(iter(self._traces.values()))
            spans = [span for trace in self._traces.values() for span in trace.spans.values()]
            yield TraceCase(first.line, first.unit, None, _why_no_work(spans))


@dataclass(slots=True)
class _Trace:
    line: int
    unit: Literal["line", "item"]
    spans: dict[str, Span] = field(default_factory=dict)


def _why_no_content(spans: Iterable[Span]) -> str:
    older = next(filter(None, map(older_attribute, spans)), None)
    return _NO_CONTENT if older is None else f"no span records content that can be read; {_OLDER.format(older)}"


def _why_no_work(spans: Iterable[Span]) -> str:
    older = next(filter(None, map(older_attribute, spans)), None)
    return _NO_WORK if older is None else f"{_NO_WORK}; {_OLDER.format(older)}"


def _case(trace_id: str, placed: Sequence[Placed]) -> Case | None:
    """Return the case of a trace; None if its spans record nothing that can be judged."""
    question, earlier = _question(placed)
    answering = next((one for one in reversed(placed) if one.outermost and one.output is not None), None)
    answer = None
    if answering is not None and answering.output is not None and not answering.output["tool_calls"]:
        answer = answering.output["content"]
    steps, given = _steps(placed, answer)
    found = [text for one in placed if one.kind is Kind.RETRIEVER for text in documents(one.span)]
    contexts = tuple(dict.fromkeys([*found, *DEFAULT_EVIDENCE.contexts(steps)]))
    answer = given if answer is None else answer
    if question is None and answer is None and not steps and not contexts:
        return None
    metadata = _metadata(trace_id, placed)
    if answer is None and (error := error_in(metadata) or error_in({"error": error_at_end(placed)})):
        metadata["error"] = metadata[RUN_ERROR] = error
    return Case(
        question=question, answer=answer, contexts=contexts, messages=earlier, trajectory=steps,
        generator=_generator(placed, answering), metadata=metadata,
    )  # fmt: skip


def _question(placed: Sequence[Placed]) -> tuple[str | None, tuple[Message, ...]]:
    """Return the question of the first outermost span that has one, and the conversation before it."""
    asked = [one for one in placed if not one.in_tool and one.kind in (Kind.AGENT, Kind.CHAIN, Kind.CHAT)]
    for one in asked:
        question, earlier = question_of(one.span)
        if question is not None:
            told = () if any(message.role == "system" for message in earlier) else _instructions(asked)
            return question, (*told, *earlier)
    return None, ()


def _instructions(asked: Sequence[Placed]) -> tuple[Message, ...]:
    """Return the system messages of the first model."""
    first = next((one for one in asked if one.kind is Kind.CHAT), None)
    received = [] if first is None else input_messages(first.span)
    return tuple(Message(role="system", content=one["content"]) for one in received if one["role"] == "system")


def _steps(placed: Sequence[Placed], answer: str | None) -> tuple[tuple[Step, ...], str | None]:
    """Return the steps of a run, and its structured response if the run ended in one instead of an answer."""
    turn = _Turn(placed)
    chats = [one for one in placed if one.kind is Kind.CHAT]
    last = next((one for one in reversed(chats) if not one.in_tool), None)
    for one in placed:
        turn.begin(one)
        if one.kind is Kind.TOOL:
            turn.run_tool(one)
        elif one.kind is Kind.CHAT:
            turn.add_chat(one, is_last=one is last, answer=answer)
    turn.end()
    read = Conversation.of([*turn.messages, *([] if answer is None else [{"role": "assistant", "content": answer}])])
    echoes = iter(turn.echoes)
    steps = tuple(
        step.model_copy(update={"echo": True}) if step.tool is not None and next(echoes, False) else step
        for step in read.steps
    )
    if answer is None and read.answer is not None and not read.ends_in_call:  # the text of an agent inside a tool
        return (*steps, Step(text=read.answer)), None
    return steps, read.answer


class _Turn:
    """Messages of one turn, written from the spans of a run in order.

    Tools that have spans are read from these. The calls and results of other tools are read from the messages that
    models received. A result that repeats what a model wrote before, such as that of another agent, is an echo.

    Attributes:
        messages: the messages, which :class:`Conversation` turns into steps.
        echoes: for each call, whether its result was written by a model.
    """

    def __init__(self, placed: Sequence[Placed]) -> None:
        self.messages: list[Plain] = []
        self.echoes: list[bool] = []
        self._calls: dict[str, ToolCall] = {
            one.span.span_id: tool_call(one.span) for one in placed if one.kind is Kind.TOOL
        }
        self._names = {call.name for call in self._calls.values()}
        self._results: dict[str, str] = {}
        self._arguments: dict[str, Mapping[str, object]] = {}
        self._writers: dict[str, str] = {}  # the span that wrote a call, by the id of the call
        self._received: dict[str, list[Plain]] = {}
        self._added: Counter[str] = Counter()
        self._written: set[str] = set()  # texts that models have written so far
        self._agents = sorted(
            ((one.end, text) for one in placed if (text := _answer_of_agent(one)) and one.span.end), reverse=True
        )  # the agents that have not ended, the next one last
        self._text = ""  # text of a message that calls tools, until its first call is added
        self._last_call: Plain | None = None
        self._last_tool: Placed | None = None
        for one in placed:
            if one.kind is Kind.CHAT:
                self._learn(one)

    def begin(self, one: Placed) -> None:
        """Remember what agents wrote that had ended before a span began."""
        while self._agents and self._agents[-1][0] <= one.span.start:
            self._written.add(self._agents.pop()[1])

    def _learn(self, one: Placed) -> None:
        """Remember the arguments and the results of calls, which the spans of the tools may lack."""
        received = self._received[one.span.span_id] = input_messages(one.span)
        for message in received:
            if message["role"] == "tool" and message["tool_call_id"]:
                self._results.setdefault(message["tool_call_id"], message["content"])
        for call in one.output["tool_calls"] if one.output is not None else ():
            if call["id"]:
                self._arguments.setdefault(call["id"], call["args"])
                self._writers.setdefault(call["id"], one.span.span_id)

    def run_tool(self, one: Placed) -> None:
        """Add the call of a tool, from its span."""
        call = self._calls[one.span.span_id]
        arguments = call.arguments
        if arguments is None or arguments.keys() == {"arguments"}:  # not recorded, or recorded as a text
            arguments = self._arguments.get(call.id, arguments or {})
        result = self._results.get(call.id) if call.result is None else call.result
        parallel = self._last_tool is not None and self._together(self._last_tool, one)
        self._call(call.name, arguments, result, one.span.error, parallel=parallel, echo=one.holds_model)
        self._last_tool = one

    def add_chat(self, one: Placed, *, is_last: bool, answer: str | None) -> None:
        """Add the calls that a model received results for, unless the tools have spans, and what the model wrote.

        Calls of the last model without a result are pending. Its text is not a step if it is the answer.
        """
        text = one.output["content"] if one.output is not None else ""
        if is_last and text.strip() == (answer or "").strip():
            text = ""
        written = [one.output] if is_last and one.output is not None else []
        seen: Counter[str] = Counter()
        for step in Conversation.of([*self._received[one.span.span_id], *written]).steps:
            if step.tool is None or step.tool in self._names:
                continue
            key = step.model_copy(update={"text": None}).model_dump_json()
            seen[key] += 1
            if step.output is None and step.error is None:
                self._say(text, one)
                text = ""
            if seen[key] > self._added[key]:
                self._call(step.tool, step.arguments, step.output, step.error, parallel=step.parallel, echo=step.echo)
        self._added |= seen
        self._say(text, one)
        if one.output is not None and one.output["content"]:
            self._written.add(one.output["content"].strip())

    def end(self) -> None:
        """Add the text of a message whose calls have not been made."""
        if self._text:
            self.messages.append({"role": "assistant", "content": self._text})
            self._text = ""

    def _say(self, text: str, one: Placed) -> None:
        """Add a text of a model, if there is one; the text of a message that calls tools belongs to the first call."""
        if not text:
            return
        self.end()
        self._last_call = self._last_tool = None
        self._text = text
        if one.output is None or not one.output["tool_calls"]:
            self.end()

    def _together(self, first: Placed, second: Placed) -> bool:
        """Whether one message of a model asked for both calls, or, without ids of calls, both ran at the same time."""
        writers = [self._writers.get(self._calls[one.span.span_id].id) for one in (first, second)]
        if None not in writers:
            return writers[0] == writers[1]
        return first.span.parent_id == second.span.parent_id and second.span.start < first.span.end

    def _call(
        self, name: str, arguments: Mapping[str, object], result: str | None, error: str | None, *, parallel: bool,
        echo: bool,
    ) -> None:  # fmt: skip
        call_id = f"call_{len(self.echoes)}"
        self.echoes.append(echo or (result is not None and result.strip() in self._written))
        if not parallel or self._last_call is None:
            self._last_call = {"role": "assistant", "content": self._text, "tool_calls": []}
            self._text = ""
            self.messages.append(self._last_call)
        self._last_call["tool_calls"].append({"id": call_id, "name": name, "args": arguments})
        if error is not None or result is not None:
            status = None if error is None else "error"
            content = result if error is None else error
            self.messages.append({"role": "tool", "tool_call_id": call_id, "content": content, "status": status})


def _answer_of_agent(one: Placed) -> str:
    return str(one.output["content"]).strip() if one.kind is Kind.AGENT and one.output is not None else ""


def _generator(placed: Sequence[Placed], answering: Placed | None) -> str | None:
    """Return the model that wrote the answer: the one of the answering span, else of the last span of a model."""
    own = None if answering is None else model_of(answering.span)
    models = (model_of(one.span) for one in reversed(placed) if one.kind is Kind.CHAT and not one.in_tool)
    return own or next((model for model in models if model), None)


def _metadata(trace_id: str, placed: Sequence[Placed]) -> dict[str, object]:
    attributes = [one.span.attributes for one in placed]
    names = [given.get("gen_ai.agent.name") or given.get("agent.name") for given in attributes]
    talks = [given.get("gen_ai.conversation.id") or given.get("session.id") for given in attributes]
    root = placed[0].span
    found: dict[str, object] = {
        "agents": list(dict.fromkeys(name for name in names if isinstance(name, str) and name)),
        "service": next((one.span.service for one in placed if one.span.service), None),
        "conversation": next((talk for talk in talks if isinstance(talk, str) and talk), None),
        "error": root.error,
        "spans": len(placed),
        "total_tokens": _tokens(placed),
        "elapsed_s": max(root.end - root.start, 0) / 1e9 if root.start and root.end else None,
    }
    return {"id": trace_id, **{name: value for name, value in found.items() if value}}


def _tokens(placed: Sequence[Placed]) -> int | None:
    """Return the tokens of all models; None unless each one has recorded its own."""
    counts = [tokens_of(one.span) for one in placed if one.kind is Kind.CHAT]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
