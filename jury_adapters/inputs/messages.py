"""Messages of LangChain, LlamaIndex, OpenAI and OpenTelemetry, read as the last turn of a conversation.

They are read by their fields, so that no framework is imported.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json, to_jsonable_python

from jury_adapters.core.case import Message, Step
from jury_adapters.core.text import visible
from jury_adapters.core.values import InputError

_ROLES = {
    **dict.fromkeys(("user", "human", "HumanMessageChunk"), "user"),
    **dict.fromkeys(("assistant", "ai", "AIMessageChunk", "chatbot", "model"), "assistant"),
    **dict.fromkeys(("system", "developer", "SystemMessageChunk"), "system"),
    **dict.fromkeys(("tool", "function", "ToolMessageChunk", "FunctionMessageChunk"), "tool"),
}
_CONTENTS = ("parts", "blocks", "content")
_RESULTS = ("tool_result", "tool_call_response")
# Parts whose text is no part of what was said: thoughts, files and calls.
_SILENT = re.compile(
    r"(redacted_)?thinking|reasoning|file|document|blob|uri|cache|.*(image|audio|video|tool|function).*"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Last turn of a conversation.

    Attributes:
        question: what the user said last; None if there is no such message.
        answer: the last words of the assistant; None if a call of a tool is open, or nothing was said after it.
        steps: the calls of tools with their results, and texts in between, in order.
        earlier: the messages before the question.
    """

    question: str | None = None
    answer: str | None = None
    steps: tuple[Step, ...] = ()
    earlier: tuple[Message, ...] = ()


def read_messages(messages: Iterable[Any], asked: str | None = None) -> Turn:
    """Read the last turn of a conversation.

    Messages are those of LangChain and LlamaIndex, dictionaries of OpenAI, tuples such as ``("user", "When?")``, and
    the form of OpenTelemetry, ``{"role": ..., "parts": [...]}``. Thoughts of a model are left out.

    Args:
        messages: the messages, oldest first.
        asked: the question, if it is known: the turn begins at the message that asks it. If none does, all messages
            are the conversation before it.

    Raises:
        InputError: a message has no known role, or no known text.

    >>> turn = read_messages([("user", "When?"), {"role": "assistant", "content": "In 2018."}])
    >>> turn.question, turn.answer
    ('When?', 'In 2018.')
    """
    said = [(role_of(one), one) for one in messages if field_of(one, "type") != "remove"]
    for place, (role, one) in enumerate(said, start=1):
        if role is None:
            kind = visible(str(first_of(one, "role", "type") or type(one).__name__), 40)
            raise InputError(f"message {place} cannot be read: its role or type is '{kind}'")
    users = [
        place
        for place, (role, one) in enumerate(said)
        if role == "user" and (asked is None or text_of(one).strip() == asked.strip())
    ]
    start = users[-1] if users else -1 if asked is None else len(said)
    before, places = said[: max(start, 0)], [place for place, (role, _) in enumerate(said) if role == "user"]
    made = {one: _read_reply(before[one + 1 : end])[1] for one, end in zip(places, [*places, None][1:], strict=True)}
    earlier = [
        Message(role=role or "", content=text, steps=made.get(place, ()))
        for place, (role, one) in enumerate(before)
        if (text := text_of(one)) or (role == "assistant" and not _calls_of(one))  # an empty answer is one
    ]
    answer, steps = _read_reply(said[start + 1 :])
    return Turn(text_of(said[start][1]) if 0 <= start < len(said) else None, answer, steps, tuple(earlier))


def _read_reply(said: list[tuple[str | None, Any]]) -> tuple[str | None, tuple[Step, ...]]:
    """Return the answer and the steps of what followed a question."""
    answer: str | None = None
    steps: list[dict[str, Any]] = []  # calls have their ids, too
    for role, one in said:
        if role in ("assistant", "tool"):
            steps += [{"text": answer}] if answer else []
            made = _calls_of(one) if role == "assistant" else []
            steps += made
            answer = text_of(one) if role == "assistant" and not made else None
            for call_id, name, failed, text in _results_of(one) if role == "tool" else ():
                _call_of(steps, call_id, name)["error" if failed else "output"] = text
    return answer, tuple(Step(**{name: one for name, one in step.items() if name != "id"}) for step in steps)


def _call_of(steps: list[dict[str, Any]], call_id: Any, name: str | None) -> dict[str, Any]:
    """Return the call of a result: that of its id, else the first of its tool that waits for one, else a new one."""
    fitting = [
        step
        for step in steps
        if "tool" in step
        and (
            step["id"] == call_id
            if None not in (step["id"], call_id)
            else name in (None, step["tool"]) and not step.keys() & {"output", "error"}
        )
    ]
    call = next(iter(fitting), {"id": call_id, "tool": str(name or "tool")})
    steps += [] if fitting else [call]
    return call


def field_of(value: Any, name: str) -> Any:
    """Return a field of a message or a part: of a mapping, an object, or a tuple of a role and a content."""
    if isinstance(value, tuple) and len(value) == 2:
        value = {"role": value[0], "content": value[1]}
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def first_of(value: Any, *names: str) -> Any:
    """Return the first of several fields that is not None."""
    return next((found for name in names if (found := field_of(value, name)) is not None), None)


def role_of(message: Any) -> str | None:
    """Return ``user``, ``assistant``, ``system`` or ``tool``; None for what is no message."""
    role, extra = first_of(message, "role", "type"), field_of(message, "additional_kwargs")
    is_summary = field_of(extra, "lc_source") == "summarization"  # LangChain wrote it, and not the user
    known = "system" if is_summary else _ROLES.get(str(getattr(role, "value", role)))
    if known is None or not any(
        name in message if isinstance(message, Mapping) else field_of(message, name) is not None
        for name in (*_CONTENTS, "tool_calls", "refusal")
    ):
        return None
    # Results stand in messages of the user or of the tool. In one of the model, they are what it wrote itself.
    return "tool" if known == "user" and any(_kind_of(part) in _RESULTS for part in _parts_of(message)) else known


def text_of(message: Any) -> str:
    """Return the text of a message, or the refusal that stands in place of one; without thoughts.

    Raises:
        InputError: its parts are of unknown kinds, so that the text cannot be told.
    """
    parts = _parts_of(message)
    texts = [text for part in parts if (text := _text_of_part(part)) is not None]
    strange = [kind for part in parts if not _SILENT.fullmatch(kind := _kind_of(part))]
    if strange and not texts:
        raise InputError(f"a message has no known text, only a part of the type '{visible(strange[0], 40)}'")
    # What a model says in several parts is one text; what a user or a tool gives are several.
    joined = ("" if role_of(message) == "assistant" else "\n").join(texts)
    return joined or str(
        field_of(message, "refusal") or field_of(field_of(message, "additional_kwargs"), "refusal") or ""
    )


def text_of_blocks(value: Any) -> str | None:
    """Return the text of content blocks, or of a mapping with such a ``content``, without thoughts; else None."""
    value = value.get("content") if isinstance(value, Mapping) else value
    kinds = [_kind_of(one) for one in value] if isinstance(value, list) else []
    known = (kind and (_SILENT.fullmatch(kind) or _text_of_part(value[place])) for place, kind in enumerate(kinds))
    said = {*kinds} & {"text", "output_text", "thinking", "redacted_thinking", "reasoning"}
    return text_of(("assistant", value)) if said and all(known) else None


def _parts_of(message: Any) -> list[Any]:
    content = first_of(message, *_CONTENTS)
    return [*content] if isinstance(content, list | tuple) else [] if content is None else [content]


def _kind_of(part: Any) -> str:
    return str(first_of(part, "type", "block_type") or "")


def _text_of_part(part: Any) -> str | None:
    if isinstance(part, str | None) or _SILENT.fullmatch(_kind_of(part)):
        return part if isinstance(part, str) else None
    inside = part if isinstance(part, list) else [first_of(part, "text", "content", "refusal", "resource")]
    texts = [text for one in inside if (text := _text_of_part(one)) is not None]
    return "\n".join(texts) if texts else None


def _calls_of(message: Any) -> list[dict[str, Any]]:
    """Return the calls of tools that a message makes, each with its id, the first with what is said beside them."""
    parts = [part for part in _parts_of(message) if _kind_of(part) in ("tool_call", "tool_use")]
    made = field_of(message, "tool_calls") or parts or field_of(field_of(message, "additional_kwargs"), "tool_calls")
    calls: list[dict[str, Any]] = []
    for call in made if isinstance(made, list | tuple) else ():
        inner = field_of(call, "function") or call
        calls.append(
            {
                "id": first_of(call, "id", "tool_call_id"),
                "text": None if calls else text_of(message) or None,
                "tool": str(first_of(inner, "name", "tool_name") or "tool"),
                "arguments": _arguments_of(first_of(inner, "args", "arguments", "input", "tool_kwargs")),
            }
        )
    return calls


def _arguments_of(given: Any) -> dict[str, Any]:
    """Return the arguments of a call, which may be JSON text; what is no mapping stands under ``arguments``."""
    try:
        found = from_json(given or "{}") if isinstance(given, str) else to_jsonable_python(given or {}, fallback=str)
    except ValueError:  # cut off, or written wrongly by the model
        found = given if isinstance(given, str) else "..."
    return dict(found) if isinstance(found, Mapping) else {"arguments": found}


def _results_of(message: Any) -> Iterator[tuple[Any, str | None, bool, str]]:
    """Yield the results in a message: the id of the call, the tool, whether it failed, and the text."""
    parts = [part for part in _parts_of(message) if _kind_of(part) in _RESULTS]
    for part in parts:
        said = first_of(part, "response", "result", "content")
        text = _text_of_part(said) if isinstance(said, str | list | None) else to_json(said, fallback=str).decode()
        yield first_of(part, "tool_use_id", "id"), None, bool(field_of(part, "is_error")), text or ""
    if not parts:
        yield (
            first_of(message, "tool_call_id") or field_of(field_of(message, "additional_kwargs"), "tool_call_id"),
            field_of(message, "name"),
            field_of(message, "status") == "error",
            text_of(message),
        )
