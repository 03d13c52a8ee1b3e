"""Marks that :class:`jury_adapters.langchain.JuryMiddleware` leaves on the messages of an agent and in its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

MARK: Final = "jury"
"""Key in a message's ``additional_kwargs`` for the jury's mark."""


def mark_of(message: object) -> Mapping[str, Any]:
    """Return the mark of a message; an empty one if there is none."""
    extra = getattr(message, "additional_kwargs", None)
    found = extra.get(MARK) if isinstance(extra, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def refusal_in(outputs: object) -> str | None:
    """Return the text of the refusal that is the last message of a run; None if its last message is not a refusal."""
    message = _last_message(outputs)
    return str(getattr(message, "content", "")) if mark_of(message).get("kind") == "blocked" else None


def repeats(outputs: object, refusal: str) -> bool:
    """Return whether the outputs of a run pass on the text of a refusal inside it, such as through a parser."""
    texts = list(outputs.values()) if isinstance(outputs, Mapping) else [outputs]
    texts.append(getattr(_last_message(outputs), "content", None))
    return any(isinstance(text, str) and text == refusal for text in texts)


def review_of(outputs: object) -> Literal["blocked", "unjudged", "annotated", "passed", ""]:
    """Return what the middleware did with the answer of an agent, from its state; empty for any other state."""
    verdict = outputs.get("jury_verdict") if isinstance(outputs, Mapping) else None
    if not isinstance(verdict, Mapping):
        return ""
    return mark_in(outputs) or ("passed" if verdict.get("status") == "PASS" else "unjudged")


def mark_in(outputs: object) -> Literal["blocked", "unjudged", "annotated", ""]:
    """Return what the mark on the last message of a run says that the middleware did with it; empty without a mark."""
    kind = mark_of(_last_message(outputs)).get("kind")
    return kind if kind in ("blocked", "unjudged", "annotated") else ""


def _last_message(outputs: object) -> object:
    messages = outputs.get("messages") if isinstance(outputs, Mapping) else outputs
    return messages[-1] if isinstance(messages, list) and messages else messages
