"""What was said in the last turn of an agent: by the user, by the model, and by a jury that looks like one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from jury_adapters.core.conversation import MARK, mark_of


def this_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """What came after the user's last message; a jury's feedback looks like one and is none."""
    asked = [i for i, one in enumerate(messages) if isinstance(one, HumanMessage) and not mark_of(one)]
    return messages[asked[-1] + 1 :] if asked else messages


def asked_last(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """What came after the model's last words: as a turn begins, that is what the user says in it."""
    spoken = max((i for i, one in enumerate(messages) if isinstance(one, AIMessage)), default=-1)
    return messages[spoken + 1 :]


def spoke(state: Mapping[str, Any]) -> bool:
    """Whether the model spoke last in this state of an agent, and what it said has not been blocked."""
    last = state["messages"][-1] if state["messages"] else None
    return isinstance(last, AIMessage) and mark_of(last).get("kind") != "blocked"


def answers(state: Mapping[str, Any]) -> bool:
    """Whether the last message is an answer: of the model, or of a tool whose result is one."""
    last = state["messages"][-1] if state["messages"] else None
    if isinstance(last, AIMessage):
        return not last.tool_calls and spoke(state)
    return isinstance(last, ToolMessage)


def without_mark(message: Any) -> Any:
    """The same message of LangChain's without a mark: one that a user sends along would hide it from the jury."""
    extra = {name: value for name, value in message.additional_kwargs.items() if name != MARK}
    return message.model_copy(update={"additional_kwargs": extra})
