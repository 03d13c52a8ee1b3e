"""Conversion of texts, documents, messages, steps and graph states of any framework, recognised by their shape.

This module does not import any framework.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from pydantic import BaseModel

from jury_adapters.core.case_parts import Message, Step
from jury_adapters.core.conversation import Conversation, messages_with_calls, role_of, text_of_message
from jury_adapters.core.graph_commands import state_update
from jury_adapters.core.message_formats import is_other_item, reply_in
from jury_adapters.core.message_texts import field_of as field_of  # noqa: PLC0414 - read from here everywhere
from jury_adapters.core.message_texts import page_of as page_of  # noqa: PLC0414 - so is this
from jury_adapters.core.values import freeze, is_missing, shown


def text_of(value: object, *, asked: bool = False) -> str | None:
    """Return the text of a value of any framework.

    The text of messages is the last message of the assistant, or of the user if ``asked``. The text of documents is
    their content. A value of any other kind becomes JSON text.
    """
    if value is None or isinstance(value, str):
        return value
    value = opened(value)
    if value is None or isinstance(value, str):
        return value
    thread = messages_in(value)
    if thread is not None:
        read = Conversation.of(thread)
        return read.question if asked and read.question is not None else read.answer
    if (page := page_of(value)) is not None:
        return page
    if isinstance(value, Sequence) and value and all(page_of(item) is not None for item in value):
        return "\n\n".join(str(page_of(item)) for item in value)
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    return json_text(value)


def json_text(value: object) -> str:
    """Return a value as JSON text, with objects of frameworks as their fields or their text."""
    frozen = freeze(_plain(value))
    return frozen if isinstance(frozen, str) else json.dumps(frozen, ensure_ascii=False)


def response_text(response: object) -> str | None:
    """Return the text of a structured response: the text that is its only field, or else all fields as JSON text.

    Fields such as ``text``, ``content`` or ``messages`` do not make it a document, a message or a conversation, because
    the user gets all of it.
    """
    fields = _whole(response)
    if isinstance(fields, Mapping) and "lc" in fields and isinstance(fields.get("kwargs"), Mapping):  # as serialised
        fields = fields["kwargs"]
    only = next(iter(fields.values())) if isinstance(fields, Mapping) and len(fields) == 1 else fields
    return only if only is None or isinstance(only, str) else json_text(fields)


def texts_of(value: object) -> tuple[str, ...]:
    """Return the texts of one or several documents, or of a CSV cell with a JSON list of texts.

    Missing entries are left out. Lists of texts inside the list, as Chroma returns for each query, are flattened.
    """
    if is_missing(value):
        return ()
    if isinstance(value, str):
        return _listed(value)
    if (page := page_of(value)) is not None:
        return (page,)
    if isinstance(value, Mapping):  # {"docs": [...]}, {"my_index": [...], "web": [...]}
        return tuple(text for inner in value.values() for text in texts_of(inner))
    items = value if isinstance(value, Iterable) else (value,)
    return tuple(text for item in items if not is_missing(item) for text in _entries(item))


def candidates_of(value: object) -> tuple[str, ...]:
    """Return the texts of answers to compare; a missing one is empty, so that the positions of the others are kept."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return texts_of(value)
    return tuple("" if is_missing(item) else _entry(item) for item in value)


def _entries(item: object) -> tuple[str, ...]:
    return tuple(text for text in item if isinstance(text, str)) if is_list_of_texts(item) else (_entry(item),)


def _entry(item: object) -> str:
    text = text_of(item)
    return json_text(item) if text is None else text


def is_list_of_texts(value: object) -> TypeGuard[Iterable[object]]:
    """Whether a value is a list, or an array, that contains only texts and missing entries."""
    is_list = isinstance(value, Sequence) or type(value).__name__ == "ndarray"
    if not is_list or not isinstance(value, Iterable) or isinstance(value, str | bytes) or _is_scalar(value):
        return False
    return all(isinstance(one, str) or is_missing(one) for one in value)


def _is_scalar(value: object) -> bool:
    """Whether a value is an array without dimensions."""
    return getattr(value, "shape", None) == ()


def messages_of(value: object) -> tuple[Message, ...]:
    """Return a conversation as messages of a case."""
    return messages_with_calls(messages_in(value) or [])


def steps_of(value: object) -> tuple[Step, ...]:
    """Return a trajectory as steps, from messages, from LangChain pairs of action and observation, or from steps."""
    thread = messages_in(value)
    if thread is not None:
        return Conversation.of(thread).steps
    if isinstance(value, Mapping) and is_graph_trajectory(value):
        return graph_steps(value)
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return tuple(_step(item) for item in items)


def steps_text(steps: Sequence[Step]) -> str:
    """Return steps as text, with one JSON object per line."""
    lines = (step.model_dump(mode="json", exclude_defaults=True, exclude={"echo"}) for step in steps)
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def messages_in(value: object) -> list[object] | None:
    """Return the messages if a value is a message, a list of messages, or a mapping of only these; else None.

    Other items of the Responses API may be among the messages. The response of a vendor's API gives its message.
    """
    if isinstance(value, Mapping) and len(value) == 1 and "messages" in value:
        value = value["messages"]
    if isinstance(value, Mapping) and (reply := reply_in(value)) is not None:
        return [reply]
    if isinstance(value, str | bytes):
        return None
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):  # ("user", "Hello")
        return [value] if is_message(value) else None
    if isinstance(value, Mapping) and not (_TELLS_A_MESSAGE & value.keys()):
        return None
    if not isinstance(value, Sequence):
        message = message_in(value)
        said = any(field_of(message, name) is not None for name in _SAYS)
        return [message] if said and is_message(message) else None
    if len(value) == 1 and isinstance(value[0], list) and not is_message(message_in(value[0])):
        value = value[0]  # a chat model's run: one list per prompt
    messages = list(map(message_in, value))
    if not any(map(is_message, messages)):
        return None
    return messages if all(is_message(one) or is_other_item(one) for one in messages) else None


def from_json(text: str) -> object:
    """Return the list or the mapping that a text contains as JSON; any other text unchanged."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def message_in(item: object) -> object:
    """Return a message that LangChain or LangSmith has serialised as its fields, and a pair from JSON as a tuple.

    Any other value is returned unchanged.
    """
    if isinstance(item, list) and len(item) == 2 and all(isinstance(one, str) for one in item):
        return tuple(item) if is_message(tuple(item)) else item
    if not isinstance(item, Mapping):
        return item
    if "lc" in item and isinstance(item.get("kwargs"), Mapping):
        names = item.get("id")
        kind = names[-1] if isinstance(names, list) and names else "Message"
        return {"type": str(kind).removesuffix("Chunk").removesuffix("Message").lower(), **item["kwargs"]}
    if isinstance(item.get("data"), Mapping) and isinstance(item.get("type"), str):
        return {**item["data"], "type": item["type"]}
    return item


def role_in(message: object) -> str | None:
    """Return the role of a message, also of a pair such as ``("user", "Hello")``; None if it is not a message."""
    if isinstance(message, tuple):  # ("user", "Hello")
        return role_of({"role": message[0]}) if len(message) == 2 else None
    return role_of(message)


def opened(value: object) -> object:
    """Return a mapping of the fields of a state object, the return values of an agent's finish, or a command's update.

    Any other value is returned unchanged.
    """
    value = state_update(value)
    if value is None or isinstance(value, str | Mapping | Sequence):
        return value
    returned = getattr(value, "return_values", None)
    if isinstance(returned, Mapping):
        return returned
    if role_of(value) is not None or page_of(value) is not None:
        return value
    return _fields_of(value)


def is_graph_trajectory(value: Mapping[str, Any]) -> bool:
    """Whether a mapping is a LangGraph thread as agentevals extracts it: inputs, results and visited nodes."""
    steps = value.get("steps")
    return (
        isinstance(value.get("results"), list) and isinstance(steps, list) and all(isinstance(n, list) for n in steps)
    )


def graph_input(value: object) -> object:
    """Return the last start input of a LangGraph thread, from the inputs that agentevals extracts; else None."""
    turns = value if isinstance(value, list | tuple) else [value]
    started = [
        turn.keys() == {_START} if isinstance(turn, Mapping) else isinstance(turn, str) and turn == _RESUMES
        for turn in turns
    ]
    if not all(started):
        return None
    return next((turn[_START] for turn in reversed(turns) if isinstance(turn, Mapping)), None)


def graph_steps(value: Mapping[str, Any]) -> tuple[Step, ...]:
    """Return the nodes that a graph trajectory visited, turn by turn, as steps."""
    return tuple(Step(text=f"visits the node {node}") for turn in value["steps"] for node in turn)


def _listed(text: str) -> tuple[str, ...]:
    """Return the texts of a list in JSON, or of a list that Python or NumPy has printed; else the text itself."""
    parsed = from_json(text)
    if isinstance(parsed, list) and (is_list_of_texts(parsed) or all(map(is_list_of_texts, parsed))):
        return texts_of(parsed)
    printed = _printed(text.strip()) if parsed is text else None
    return (text,) if printed is None else printed


def _printed(text: str) -> tuple[str, ...] | None:
    """Return the texts of a printed list, or None; only its literals are evaluated."""
    if not (text.startswith("['") or text.startswith('["')) or not text.endswith("]"):
        return None
    found: list[str] = []
    at = 1
    while at < len(text) - 1:
        literal = _LITERAL.match(text, at)
        if literal is None:
            return None
        try:
            found.append(str(ast.literal_eval(literal[1])))
        except (ValueError, SyntaxError):
            return None
        at = literal.end()
    return tuple(found)


def _step(item: object) -> Step:
    if isinstance(item, Step):
        return item
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(field_of(item[0], "tool"), str):
        action, observation = item
        arguments = field_of(action, "tool_input")
        return Step(
            tool=str(field_of(action, "tool")),
            arguments=arguments if isinstance(arguments, Mapping) else {"input": shown(arguments)},
            output=None if observation is None else text_of(observation),
            text=str(field_of(action, "log") or "") or None,
        )
    if isinstance(item, Mapping) and item.keys() <= Step.model_fields.keys():
        return Step.model_validate(item)
    return Step(text=text_of(item))


def is_message(value: object) -> bool:
    """Whether a value is a message of any framework."""
    return role_in(value) is not None


def _plain(value: object, depth: int = 0) -> object:
    """Return models and dataclasses, at any depth, as mappings, and documents and messages as their text."""
    if depth > _DEEPEST or value is None or isinstance(value, str | int | float):
        return value
    if not isinstance(value, Mapping):
        if (page := page_of(value)) is not None:
            return page
        if (role := role_of(value)) is not None:
            return {"role": role, "content": text_of_message(value)}
        value = opened(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(inner, depth + 1) for name, inner in value.items()}
    return [_plain(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def _whole(value: object, depth: int = 0) -> object:
    """Return models and dataclasses, at any depth, as mappings of all of their fields."""
    if depth > _DEEPEST:
        return value
    value = _fields_of(value)
    if isinstance(value, Mapping):
        return {str(name): _whole(inner, depth + 1) for name, inner in value.items()}
    return [_whole(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def _fields_of(value: object) -> object:
    """Return the fields of a model or a dataclass as a mapping; any other value unchanged."""
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value


_START, _RESUMES = "__start__", "__resuming__"
_LITERAL = re.compile(r"""('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")(?:\s*,\s*|\s+(?=['"])|\s*(?=\]$))""")
_TELLS_A_MESSAGE = {"role", "type", "lc"}
_SAYS = ("content", "parts", "tool_calls", "refusal")
_DEEPEST = 100  # freeze() raises an error for a deeper value
