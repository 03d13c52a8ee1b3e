"""Tool calls as they ran, where a person or a middleware changed them after the model had written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from jury_adapters.langchain.finished_runs import ToolCall


def with_executed_calls(outputs: object, calls: Sequence[ToolCall]) -> object:
    """Return the outputs of a run with the tool calls that ran, and their own results.

    LangChain's ``HumanInTheLoopMiddleware`` keeps the call of the model in the message. It writes the call that ran
    into the result of the tool, as text. The events have the call that ran.

    Args:
        outputs: the outputs of the run: messages, or a state with messages; any other value is returned unchanged.
        calls: the tool calls that the events reported.
    """
    messages = outputs.get("messages") if isinstance(outputs, Mapping) else outputs
    if not isinstance(messages, list):
        return outputs
    ran = {call.output.tool_call_id: call for call in calls if isinstance(call.output, ToolMessage)}
    written = {
        call["id"]: (call["name"], call["args"])
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    changed = {key: call for key, call in ran.items() if key in written and _differs(call, *written[key])}
    if not changed:
        return outputs
    replaced = [_as_executed(message, changed) for message in messages]
    return {**outputs, "messages": replaced} if isinstance(outputs, Mapping) else replaced


def _differs(ran: ToolCall, name: str, arguments: Mapping[str, object]) -> bool:
    """Whether a call ran with another tool or another value of an argument; any call may have got more arguments."""
    given = ran.arguments
    if not isinstance(given, Mapping):
        return False
    return ran.tool != name or any(key in given and given[key] != value for key, value in arguments.items())


def _as_executed(message: object, changed: Mapping[Any, ToolCall]) -> object:
    if isinstance(message, AIMessage) and any(call["id"] in changed for call in message.tool_calls):
        calls = [
            {**call, "name": changed[call["id"]].tool, "args": dict(_arguments(changed[call["id"]]))}
            if call["id"] in changed
            else call
            for call in message.tool_calls
        ]
        return message.model_copy(update={"tool_calls": calls})
    if isinstance(message, ToolMessage) and message.tool_call_id in changed:
        return changed[message.tool_call_id].output
    return message


def _arguments(call: ToolCall) -> Mapping[str, object]:
    return call.arguments if isinstance(call.arguments, Mapping) else {}
