"""Messages of an agent's turn, and the marks that a jury leaves on those that it wrote or let through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage

from jury_adapters.core.conversation import is_summary
from jury_adapters.core.judgment import Judgment

MARK: Final = "jury"
"""Key in a message's ``additional_kwargs`` under which a jury says what it made of the message."""

Kind: TypeAlias = Literal["blocked", "annotated", "tool"]
"""``"blocked"``: written in place of an answer. ``"annotated"``: let through. ``"tool"``: in place of a tool call."""


def marked(kind: Kind, by: str, judgment: Judgment) -> dict[str, Any]:
    """Return the ``additional_kwargs`` of a message that the middleware ``by`` wrote or let through."""
    return {MARK: {"kind": kind, "by": by, "status": judgment.status and str(judgment.status)}}


def mark_of(message: object) -> Mapping[str, Any]:
    """Return the mark of a message; an empty one where it has none."""
    extra = getattr(message, "additional_kwargs", None)
    found = extra.get(MARK) if isinstance(extra, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def is_blocked(message: object, by: str | None = None) -> bool:
    """Whether a jury (or the middleware ``by``) wrote the message in place of an answer."""
    mark = mark_of(message)
    return mark.get("kind") == "blocked" and by in (None, mark.get("by"))


def this_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """Return what came after the user's last message; the summary of a conversation looks like one and is not."""
    asked = [i for i, one in enumerate(messages) if isinstance(one, HumanMessage) and not is_summary(one)]
    return messages[asked[-1] + 1 :] if asked else messages


def rejected_rounds(messages: Sequence[AnyMessage], by: str) -> tuple[int, bool]:
    """Return in how many rounds of this turn ``by`` rejected a tool call, and whether it did so in the last one."""
    rounds, rejected = 0, False
    for one in this_turn(messages):
        if isinstance(one, AIMessage):
            rounds, rejected = rounds + rejected, False
        mark = mark_of(one)
        rejected = rejected or (mark.get("kind") == "tool" and mark.get("by") == by)
    return rounds + rejected, rejected


def last_ai(messages: Sequence[object]) -> AIMessage | None:
    """Return the last message of a model."""
    return next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)


def sent_back(result: Sequence[Any], feedback: str) -> list[Any]:
    """Return the messages that tell a model why its draft was rejected, the draft first.

    Tool calls of the draft get a result, since most vendors refuse a conversation with an open call.
    """
    refused = [
        ToolMessage(feedback, tool_call_id=call["id"], name=call["name"], status="error") for call in open_calls(result)
    ]
    return [*result, *refused, HumanMessage(feedback)]


def open_calls(result: Sequence[object]) -> list[ToolCall]:
    """Return the tool calls of a draft that still have no result, so that the agent would make them next.

    LangChain puts the result of a structured response beside the draft that calls it.
    """
    draft = last_ai(result)
    answered = {(one.tool_call_id, one.name) for one in result if isinstance(one, ToolMessage)}
    calls = draft.tool_calls if draft is not None else ()
    return [call for call in calls if (call["id"], call["name"]) not in answered]
