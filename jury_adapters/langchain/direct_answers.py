"""Answers of tools with ``return_direct``: read from the tool's result, then allowed, marked or withheld."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

from langchain_core.messages import BaseMessage, ToolMessage, convert_to_messages
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from jury_adapters.core.conversation import text_of_message
from jury_adapters.langchain.agent_turns import is_blocked, last_ai

ToolResult: TypeAlias = ToolMessage | Command[Any]


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """Answer of a ``return_direct`` tool, which replaces the model's answer.

    Attributes:
        call: the tool call.
        result: the tool's result: a message, a command, or a list of them.
        messages: the messages in the result; the last one is the answer.
    """

    call: Mapping[str, Any]
    result: Any
    messages: Sequence[BaseMessage]

    @classmethod
    def of(cls, request: ToolCallRequest, result: object) -> Self | None:
        """Return the answer in a tool's result; None if the turn does not end with it.

        An error ends the turn as well, so it is an answer. A command for the parent graph is a handoff.
        """
        if not ends_turn(request):
            return None
        parts = result if isinstance(result, list) else [result]
        if any(isinstance(part, Command) and part.graph is not None for part in parts):
            return None
        messages = [message for part in parts for message in _messages_in(part)]
        call = request.tool_call
        own = [one for one in messages if isinstance(one, ToolMessage) and one.tool_call_id == call["id"]]
        if not own or any(map(is_blocked, messages)):
            return None
        return cls(call, result, messages)

    @property
    def text(self) -> str:
        """Text of the answer."""
        return text_of_message(self.messages[-1])

    def after(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state with the answer at its end."""
        return {**state, "messages": [*state["messages"], *self.messages], "structured_response": None}

    def given(self, update: Mapping[str, Any], mark: Callable[[BaseMessage], BaseMessage] | None = None) -> Any:
        """Return the result with a further state update, and with its last message marked."""
        parts = self.result if isinstance(self.result, list) else [self.result]
        if mark is not None:
            last = max(position for position, part in enumerate(parts) if _messages_in(part))
            parts = [*parts[:last], _with_last(parts[last], mark), *parts[last + 1 :]]
        if isinstance(self.result, list):
            return [*parts, Command(update=dict(update))]
        (part,) = parts
        if isinstance(part, Command):
            return replace(part, update={**_update_of(part), **update})
        return Command(update={"messages": [part], **update})

    def refused(self, refusal: BaseMessage, update: Mapping[str, Any]) -> Command[Any]:
        """Return the command that replaces the answer; it drops the tool's state update, which may quote it."""
        message = ToolMessage(
            refusal.content,
            tool_call_id=self.call["id"],
            name=self.call["name"],
            additional_kwargs=refusal.additional_kwargs,
        )
        return Command(update={"messages": [message], **update})


def ends_turn(request: ToolCallRequest) -> bool:
    """Whether the agent returns the result of a call, and does not ask the model again.

    It does so if all tools that the model called are ``return_direct``, also after an error. Tools of the vendor are
    not the agent's, and do not count. An old LangGraph, such as 1.1.6, does not tell which tools there are, so
    there a call beside one of another tool counts as if it ended the turn.
    """
    if not getattr(request.tool, "return_direct", False):
        return False
    known = {tool.name: tool.return_direct for tool in getattr(request.runtime, "tools", None) or ()}
    asked = last_ai(request.state["messages"])
    return all(known.get(call["name"], True) for call in (() if asked is None else asked.tool_calls))


def _messages_in(part: object) -> list[BaseMessage]:
    if isinstance(part, ToolMessage):
        return [part]
    given = _update_of(part).get("messages") if isinstance(part, Command) else None
    if given is None:
        return []
    return [*convert_to_messages(given if isinstance(given, list | tuple) else [given])]


def _with_last(part: Any, mark: Callable[[BaseMessage], BaseMessage]) -> Any:
    """Return the part with its last message marked."""
    *before, last = _messages_in(part)
    if isinstance(part, ToolMessage):
        return mark(last)
    return replace(part, update={**_update_of(part), "messages": [*before, mark(last)]})


def _update_of(command: Command[Any]) -> dict[str, Any]:
    """Return the update of a command by key; LangGraph also accepts pairs, and objects with annotated fields."""
    given = command.update
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    if isinstance(given, list | tuple):
        return {one[0]: one[1] for one in given if isinstance(one, list | tuple) and len(one) == 2}
    names = [name for kind in type(given).__mro__ for name in getattr(kind, "__annotations__", {})]
    return {name: getattr(given, name) for name in names if getattr(given, name, None) is not None}
