"""Endings of runs, and the test of whether their outputs are an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from jury_adapters.core import runs
from jury_adapters.core.conversation import role_of
from jury_adapters.core.field_names import columns_of
from jury_adapters.core.graph_commands import state_update
from jury_adapters.core.loose_values import field_of

Ending: TypeAlias = Literal["failed", "cancelled", "abandoned", "paused", "handed_over"]


def missing_answer(outputs: object, *, paused: bool) -> Literal["paused", "unanswered", ""]:
    """Return why outputs are not an answer, as the name of a count; empty if they are an answer."""
    if outputs is None:
        return "paused" if paused else "unanswered"
    messages: object = outputs
    if isinstance(outputs, Mapping):
        if paused or "__interrupt__" in outputs:
            return "paused"
        if outputs.get("structured_response") is not None or "messages" not in outputs or _has_answer(outputs):
            return ""
        messages = outputs["messages"]
    elif paused:
        return "paused"
    last = messages
    if isinstance(messages, list):
        if not messages:
            return "unanswered"
        last = messages[-1]
    role = role_of(last)
    waits = role == "assistant" and field_of(last, "tool_calls")
    return "paused" if waits or (role == "user" and messages is not outputs) else ""


def _has_answer(state: Mapping[str, Any]) -> bool:
    """Whether a state with messages has an answer of its own beside them."""
    name = columns_of(state, ("answer",), part_of="answer").of.get("answer")
    return name is not None and bool(state[name])


def result_of_tool(output: object) -> object:
    """Return the result of a tool: of a LangGraph command, its last tool message, or else its update."""
    update = state_update(output)
    messages = update.get("messages") if update is not output and isinstance(update, Mapping) else None
    results = [one for one in (messages if isinstance(messages, list) else [messages]) if role_of(one) == "tool"]
    return results[-1] if results else update


def calls_asked_for(message: object) -> list[str]:
    """Return the ids of the tool calls in the answer of a model."""
    calls = field_of(message, "tool_calls")
    ids = [field_of(call, "id") for call in calls] if isinstance(calls, list) else []
    return [one for one in ids if isinstance(one, str) and one]


def ending_of(error: BaseException) -> Ending:
    """Return the ending that an exception means; some of LangGraph's exceptions are an interrupt or a command."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if "ParentCommand" in names:
        return "handed_over"
    if "GraphBubbleUp" in names:
        return "paused"
    return runs.ending_of(error)
