"""Messages of an agent's turn, and the marks of a jury on messages that it wrote or accepted."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from jury_adapters.core.conversation import Conversation, is_summary
from jury_adapters.core.judgment import Judgment, Status, abstain, broken
from jury_adapters.langchain.guard_marks import MARK, mark_of

M = TypeVar("M", bound=BaseMessage)

Shown: TypeAlias = Literal["annotated", "unjudged"]
"""``"annotated"``: shown although it failed. ``"unjudged"``: shown although the jury did not decide."""

Kind: TypeAlias = Shown | Literal["blocked", "tool"]
"""``"blocked"``: replaces an answer. ``"tool"``: replaces a tool call."""


def marked(kind: Kind, by: str, judgment: Judgment) -> dict[str, Any]:
    """Return the ``additional_kwargs`` of a message that the middleware ``by`` wrote or marked."""
    return {MARK: {"kind": kind, "by": by, "status": judgment.status and str(judgment.status)}}


def with_mark(message: M, kind: str, by: str, judgment: Judgment) -> M:
    """Return a message as the middleware ``by`` shows it: with a mark, if its outcome is one of :data:`Shown`.

    An answer that another jury annotated stays so, even if this one did not decide.
    """
    if kind not in get_args(Shown) or (kind == "unjudged" and mark_of(message).get("kind") == "annotated"):
        return message
    extra = {**message.additional_kwargs, **marked(cast(Shown, kind), by, judgment)}
    return message.model_copy(update={"additional_kwargs": extra})


def is_blocked(message: object, by: str | None = None) -> bool:
    """Whether a jury (or the middleware ``by``) wrote the message to replace an answer."""
    mark = mark_of(message)
    return mark.get("kind") == "blocked" and by in (None, mark.get("by"))


def new_turn(messages: Sequence[AnyMessage]) -> dict[str, str | None]:
    """Return a turn as the state keeps it: its id, its question, and the id of the message that asks it."""
    asked = (one for one in reversed(messages) if isinstance(one, HumanMessage) and not is_summary(one))
    question = Conversation.of(messages).question
    return {"id": uuid.uuid4().hex, "question": question, "asked": getattr(next(asked, None), "id", None)}


def this_turn(messages: Sequence[AnyMessage], asked: str | None = None) -> Sequence[AnyMessage]:
    """Return the messages after the one with the id ``asked``, or after the user's last message.

    The summary of a conversation does not count as a message of the user.
    """
    starts = [n for n, one in enumerate(messages) if asked is not None and one.id == asked]
    starts = starts or [n for n, one in enumerate(messages) if isinstance(one, HumanMessage) and not is_summary(one)]
    return messages[starts[-1] + 1 :] if starts else messages


def rejected_rounds(messages: Sequence[AnyMessage], by: str, asked: str | None) -> tuple[int, Judgment | None]:
    """Return how many rounds of this turn had a tool call that ``by`` rejected, and a judgment on the last round.

    It is FAIL if a call of that round was FAIL, else ERROR or ABSTAIN, and None if no call of that round was rejected.

    Args:
        messages: the messages of the agent's state.
        by: the name of the jury.
        asked: the id of the message that asks the question of the turn, if it is known.
    """
    rounds, rejected = 0, list[str | None]()
    for one in this_turn(messages, asked):
        if isinstance(one, AIMessage):
            rounds, rejected = rounds + bool(rejected), []
        mark = mark_of(one)
        if mark.get("kind") == "tool" and mark.get("by") == by:
            rejected.append(mark.get("status"))
    if not rejected:
        return rounds, None
    if Status.FAIL in rejected:
        return rounds + 1, Judgment(Status.FAIL)
    why = "the calls could not be reviewed"
    return rounds + 1, broken(why) if Status.ERROR in rejected else abstain(why)


def last_ai(messages: Sequence[object]) -> AIMessage | None:
    """Return the last message of a model; None if there is none."""
    return next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)


def sent_back(result: Sequence[Any], feedback: str) -> list[Any]:
    """Return the messages that explain to a model why its draft was rejected, beginning with the draft.

    Each tool call of the draft gets a result, since most vendors refuse a conversation with an open call.
    """
    refused = [
        ToolMessage(feedback, tool_call_id=call["id"], name=call["name"], status="error") for call in open_calls(result)
    ]
    return [*result, *refused, HumanMessage(feedback)]


def open_calls(result: Sequence[object]) -> list[ToolCall]:
    """Return the tool calls of a draft that have no result yet, so that the agent would make them next.

    LangChain puts the result of a structured response next to the draft that calls it.
    """
    draft = last_ai(result)
    answered = {(one.tool_call_id, one.name) for one in result if isinstance(one, ToolMessage)}
    calls = draft.tool_calls if draft is not None else ()
    return [call for call in calls if (call["id"], call["name"]) not in answered]
