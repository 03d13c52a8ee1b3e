"""Content of a span, in the conventions of OpenTelemetry and OpenInference: kind, messages, tool call and documents.

Source: https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai,
https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md

What a model wrote stays apart from what tools returned: messages of the output of a span are always messages of the
assistant, and only messages of the input contain results of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from jury_adapters.core.case_parts import Message
from jury_adapters.core.conversation import Conversation, role_of, text_of_message
from jury_adapters.core.input_output import read_inputs, read_outputs
from jury_adapters.core.loose_values import json_text, message_in, page_of
from jury_adapters.core.message_formats import ASIDE
from jury_adapters.core.message_texts import field_of
from jury_adapters.core.traces.spans import Attributes, Span, parsed

Plain: TypeAlias = dict[str, Any]
"""Message with role, content and tool calls, as :class:`jury_adapters.core.conversation.Conversation` reads it."""


class Kind(Enum):
    """Kind of the work that a span records."""

    AGENT = "agent"
    CHAIN = "chain"
    CHAT = "chat"
    TOOL = "tool"
    RETRIEVER = "retriever"
    JUDGE = "judge"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Call of a tool that a span records.

    Attributes:
        id: the id of the call; empty if it is unknown.
        name: the name of the tool.
        arguments: the arguments; None if they are not recorded.
        result: the result; None if it is not recorded.
    """

    id: str
    name: str
    arguments: Mapping[str, object] | None
    result: str | None


def kind_of(span: Span) -> Kind:
    """Return the kind of a span; spans that are not about models, agents, tools or retrievers are ``OTHER``.

    Spans of evaluations, such as those of :func:`jury_adapters.observability.trace_juries`, are of the kind ``JUDGE``.
    """
    if "gen_ai.evaluation.name" in span.attributes:
        return Kind.JUDGE
    operation = span.attributes.get("gen_ai.operation.name")
    kind = span.attributes.get("openinference.span.kind")
    if isinstance(operation, str) and operation in _OPERATIONS:
        return _OPERATIONS[operation]
    return _KINDS.get(kind.upper(), Kind.OTHER) if isinstance(kind, str) else Kind.OTHER


def model_of(span: Span) -> str | None:
    """Return the name of the model that a span asked; None if it is unknown."""
    return _first_text(span.attributes, ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"))


def tokens_of(span: Span) -> int | None:
    """Return the number of tokens that a model received and wrote; None if it is unknown."""
    for names in _TOKENS:
        counts = [span.attributes.get(name) for name in names]
        known = [count for count in counts if isinstance(count, int)]
        if len(known) == len(names):
            return sum(known)
    return None


def older_attribute(span: Span) -> str | None:
    """Return an attribute in which older instrumentations record content, which is not read; None if there is none."""
    names = [*span.attributes, *(name for event in span.events for name in event.attributes)]
    return next((name for name in names if name.startswith(_OLDER)), None)


def input_messages(span: Span) -> list[Plain]:
    """Return the messages that a span received: the system instructions, the conversation and results of tools."""
    told = "\n".join(_texts_in(parsed(span.attributes.get("gen_ai.system_instructions"))))
    found = _messages(span, "gen_ai.input.messages", "llm.input_messages.")
    if not found:
        found = [message for event in span.events for message in _of_event(event.name, event.attributes)]
    system = [{"role": "system", "content": told}] if told else []
    return [*system, *(message for given in found for message in _received(given))]


def question_of(span: Span) -> tuple[str | None, tuple[Message, ...]]:
    """Return the question that a span received, and the conversation before it; None for a span that has none.

    OpenInference records only the first message of the state of a graph, beside the whole state as a value.
    """
    value = _value(span.attributes, "input")
    found = {} if value is None else read_inputs(value)
    whole = "gen_ai.input.messages" in span.attributes or kind_of(span) is Kind.CHAT
    read = Conversation.of(input_messages(span))
    if read.question is not None and (whole or "question" not in found):
        return read.question, read.earlier
    return found.get("question"), (*(read.earlier if whole else ()), *found.get("messages", ()))


def output_message(span: Span) -> Plain | None:
    """Return what a span wrote: one message of the assistant with text and tool calls; None if it is not recorded.

    Several messages of a model are alternatives, and the first one counts. Of an agent, the last one counts.
    """
    found = _messages(span, "gen_ai.output.messages", "llm.output_messages.")
    if not found:
        found = [choice for event in span.events if (choice := _choice(event.name, event.attributes)) is not None]
    written = [message for message in map(_written, found) if message is not None]
    if written:
        return written[0 if kind_of(span) is Kind.CHAT else -1]
    value = _value(span.attributes, "output")
    text = read_outputs(value).get("answer") if value is not None else None
    return {"role": "assistant", "content": text, "tool_calls": []} if isinstance(text, str) and text else None


def tool_call(span: Span) -> ToolCall:
    """Return the call of a span that executes a tool."""
    given = span.attributes
    name = _first_text(given, ("gen_ai.tool.name", "tool.name")) or span.name or "tool"
    arguments = next((given[key] for key in _ARGUMENTS if given.get(key) is not None), None)
    result = next((given[key] for key in _RESULTS if given.get(key) is not None), None)
    call_id = _first_text(given, ("gen_ai.tool.call.id", "tool_call.id", "tool.id"))
    if "gen_ai.tool.call.result" not in given and "json" in str(given.get("output.mime_type")):
        message = message_in(parsed(result))  # LangChain's instrumentation records the whole message
        if role_of(message) == "tool":
            result = text_of_message(message)
            call_id = call_id or _known(field_of(message, "tool_call_id"))
    return ToolCall(call_id or "", name, _arguments(arguments), None if result is None else _text(result))


def documents(span: Span) -> tuple[str, ...]:
    """Return the texts of the documents that a retriever returned."""
    found = [one.get("document.content") for one in _indexed(span.attributes, "retrieval.documents.")]
    listed = parsed(span.attributes.get("gen_ai.retrieval.documents"))
    found += [_document(one) for one in (listed if isinstance(listed, list) else ())]
    return tuple(text for text in found if isinstance(text, str) and text.strip())


def _document(given: object) -> object:
    if not isinstance(given, Mapping):
        return given
    page = page_of(given)
    return given.get("content") if page is None else page


def _messages(span: Span, semantic: str, open_inference: str) -> list[Plain]:
    """Return the messages of a span as they are recorded, in one of the two conventions."""
    listed = parsed(span.attributes.get(semantic))
    if isinstance(listed, list):
        return [dict(one) for one in listed if isinstance(one, Mapping)]
    return [_open_inference_message(one) for one in _indexed(span.attributes, open_inference)]


def _open_inference_message(given: Attributes) -> Plain:
    parts = [one.get("message_content.text") for one in _indexed(given, "message.contents.")]
    calls = [
        {
            "id": one.get("tool_call.id"),
            "name": one.get("tool_call.function.name"),
            "arguments": one.get("tool_call.function.arguments"),
        }
        for one in _indexed(given, "message.tool_calls.")
    ]
    content = given.get("message.content")
    return {
        "role": given.get("message.role"),
        "content": content if isinstance(content, str) else "\n".join(part for part in parts if isinstance(part, str)),
        "tool_calls": calls,
        "id": given.get("message.tool_call_id"),
        "name": given.get("message.name"),
    }


def _of_event(name: str, attributes: Attributes) -> Iterator[Plain]:
    """Yield the message of an event of the earlier conventions, such as ``gen_ai.user.message``."""
    role = _EVENT_ROLES.get(name)
    if role is not None:
        yield {**_body(attributes), "role": role}


def _choice(name: str, attributes: Attributes) -> Plain | None:
    if name != "gen_ai.choice":
        return None
    body = _body(attributes)
    message = parsed(body.get("message"))
    return dict(message) if isinstance(message, Mapping) else {**body, "content": body.get("content", message)}


def _body(attributes: Attributes) -> Plain:
    """Return the fields of an event, which some instrumentations record as JSON in one attribute."""
    body = parsed(attributes.get("gen_ai.event.content"))
    return dict(body) if isinstance(body, Mapping) else dict(attributes)


def _received(given: Plain) -> Iterator[Plain]:
    """Yield a message that a model received; each result of a tool is a message of its own."""
    role = role_of({"role": given.get("role")})
    if role is None:
        return
    results = list(_results(given, role)) if role in ("tool", "user") else []
    yield from results
    text = "\n".join(_texts_in(given.get("parts", given.get("content"))))
    calls = _calls(given) if role == "assistant" else []
    if role != "tool" and (text or calls):
        yield {"role": role, "content": text, "tool_calls": calls, ASIDE: bool(results)}


def _results(given: Plain, role: str) -> Iterator[Plain]:
    parts = given.get("parts")
    responses = [one for one in (parts if isinstance(parts, list) else ()) if _type(one) == "tool_call_response"]
    for part in responses:
        result = next((part[key] for key in ("response", "result") if part.get(key) is not None), "")
        yield {"role": "tool", "tool_call_id": _known(part.get("id")), "content": _text(result)}
    if role == "tool" and not responses:
        content = given.get("parts", given.get("content"))
        text = content if isinstance(content, str) else "\n".join(_texts_in(content))
        call_id = given.get("id") or given.get("tool_call_id")
        yield {"role": "tool", "tool_call_id": _known(call_id), "name": _known(given.get("name")), "content": text}


def _written(given: Plain) -> Plain | None:
    """Return a message that a model wrote; parts that pretend to be results of tools are left out."""
    if given.get("role") is not None and role_of({"role": given["role"]}) != "assistant":
        return None
    text, calls = "".join(_texts_in(given.get("parts", given.get("content")))), _calls(given)
    return {"role": "assistant", "content": text, "tool_calls": calls} if text or calls else None


def _calls(given: Plain) -> list[Plain]:
    parts, listed = given.get("parts"), parsed(given.get("tool_calls"))
    found = [one for one in (parts if isinstance(parts, list) else ()) if _type(one) == "tool_call"]
    found += [one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, Mapping)]
    calls = []
    for one in found:
        inner = one.get("function")
        source = inner if isinstance(inner, Mapping) else one
        name = source.get("name")
        if isinstance(name, str) and name:
            arguments = _arguments(source.get("arguments")) or {}
            calls.append({"id": _known(one.get("id")), "name": name, "args": arguments})
    return calls


def _texts_in(content: object) -> list[str]:
    """Return the texts of the parts of a message; reasoning, files, calls and results are not texts."""
    if isinstance(content, str):
        return [content]
    found = []
    for part in content if isinstance(content, list) else ():
        text = part
        if isinstance(part, Mapping):
            text = part.get("content", part.get("text")) if _type(part) in ("", "text") else None
        if isinstance(text, str):
            found.append(text)
    return found


def _indexed(attributes: Attributes, prefix: str) -> list[Plain]:
    """Return the objects of a list that is flattened to attributes such as ``llm.input_messages.0.message.role``."""
    found: dict[int, Plain] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        index, _, rest = key.removeprefix(prefix).partition(".")
        if rest and index.isascii() and index.isdecimal() and len(index) <= _DIGITS:
            found.setdefault(int(index), {})[rest] = value
    return [found[index] for index in sorted(found)]


def _value(attributes: Attributes, part: str) -> object:
    """Return the value that a span received or returned, parsed if it is declared as JSON."""
    value = attributes.get(f"{part}.value")
    return parsed(value) if "json" in str(attributes.get(f"{part}.mime_type")) else value


def _arguments(given: object) -> Mapping[str, object] | None:
    if given is None:
        return None
    found = parsed(given)
    return {str(key): value for key, value in found.items()} if isinstance(found, Mapping) else {"arguments": found}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json_text(value)


def _type(part: object) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _known(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _first_text(attributes: Attributes, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := _known(attributes.get(name))) is not None), None)


_OPERATIONS: Final = {
    "chat": Kind.CHAT, "text_completion": Kind.CHAT, "generate_content": Kind.CHAT,
    "invoke_agent": Kind.AGENT, "invoke_workflow": Kind.CHAIN,
    "execute_tool": Kind.TOOL, "retrieval": Kind.RETRIEVER,
}  # fmt: skip
_KINDS: Final = {
    "LLM": Kind.CHAT, "AGENT": Kind.AGENT, "CHAIN": Kind.CHAIN, "TOOL": Kind.TOOL, "RETRIEVER": Kind.RETRIEVER,
    "EVALUATOR": Kind.JUDGE, "GUARDRAIL": Kind.JUDGE,
}  # fmt: skip
_EVENT_ROLES: Final = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}  # fmt: skip
_ARGUMENTS = ("gen_ai.tool.call.arguments", "input.value", "tool.parameters")
_RESULTS = ("gen_ai.tool.call.result", "output.value")
_TOKENS = (("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"), ("llm.token_count.total",))
_OLDER = ("gen_ai.prompt", "gen_ai.completion")  # such as gen_ai.prompt.0.content
_DIGITS = 9
