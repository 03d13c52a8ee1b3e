"""Text of the content of a message, and of a document, shared by all readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def page_of(value: Any) -> str | None:
    """Return the text of a LangChain document (an object or a mapping) or of a LlamaIndex node; else None."""
    if isinstance(value, Mapping):
        page = next((value[name] for name in ("page_content", "text") if isinstance(value.get(name), str)), None)
        for inner in ("kwargs", "node"):  # as LangChain and LlamaIndex serialise it
            if page is None and isinstance(value.get(inner), Mapping):
                return page_of(value[inner])
    elif (page := getattr(value, "page_content", None)) is None and hasattr(value, "node_id"):
        page = value.get_content() if hasattr(value, "get_content") else None
    return page if isinstance(page, str) else None


def text_in(content: object, role: str | None) -> str:
    r"""Return the text of a message's content: a string, or the text parts of a list of blocks.

    The blocks of a model's reply are pieces of one text, as vendors document. The blocks of any other message, such as
    the results of a tool, are separate texts and are joined with newlines.

    Args:
        content: the content of the message, or its blocks.
        role: the role of the message, as :func:`jury_adapters.core.conversation.role_of` returns it.

    >>> text_in([{"type": "text", "text": "Opened in 1994"}, {"type": "text", "text": "35 million euros"}], "tool")
    'Opened in 1994\n35 million euros'
    >>> text_in([{"type": "text", "text": "It opened "}, {"type": "text", "text": "in 1994."}], "assistant")
    'It opened in 1994.'
    """
    if isinstance(content, str):
        return content
    texts = list(_texts(content, inside=role == "tool"))
    return "".join(texts) if role == "assistant" else "\n".join(text for text in texts if text)


def refusal_in(message: object) -> str:
    """Return the text of a refusal, from OpenAI's field or from a part of the content; empty without one.

    In LangChain messages the field is in ``additional_kwargs``.
    """
    content = field_of(message, "content")
    parts = content if isinstance(content, Sequence) and not isinstance(content, str) else ()
    places = [message, field_of(message, "additional_kwargs")]
    for part in parts:
        places += [part, field_of(part, "value")]  # LangChain's non-standard block
    found = [field_of(place, "refusal") for place in places]
    return "".join(text for text in found if isinstance(text, str))


def field_of(value: object, name: str) -> object:
    """Return a mapping's value or an object's attribute; None if there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _texts(content: object, *, inside: bool) -> Iterator[str]:
    """Yield the texts of blocks; for a result of a tool also those inside search results and embedded resources."""
    if isinstance(content, Mapping) or not isinstance(content, Sequence):
        content = (content,)
    for part in content:
        text = part if isinstance(part, str) else field_of(part, "text")
        if isinstance(text, str):
            yield text
        elif inside and isinstance(part, Mapping):
            inner = [part[name] for name in ("content", "resource") if isinstance(part.get(name), Mapping | list)]
            for one in inner:
                yield from _texts(one, inside=False)
