"""Blocks of thinking that a model writes before its reply."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jury_adapters.critic.parse_json import find_objects
from jury_adapters.critic.vocabulary import Unreadable

THINKING_END = re.compile(r"<\s*+/\s*+(?:think|thinking|thought|reasoning)\s*+>", re.IGNORECASE)
"""A tag that ends a block of thinking."""


def without_thinking(text: str) -> str | Unreadable:
    """Return the text after its leading block of thinking, which ends at the first closing tag.

    Some servers remove the opening tag. A further tag makes the text unreadable, because the first closing tag may be
    a quotation. Tags inside a complete JSON object are part of its strings.
    """
    if _TAG.search(text) is None:
        return text
    opening = _OPENING.match(text)
    if opening:
        end = re.compile(rf"<\s*+/\s*+{opening[1]}\s*+>", re.IGNORECASE).search(text, opening.end())
        if end is None:
            return _NO_ANSWER
    else:
        end = next((tag for tag in _tags_outside_objects(text) if "/" in tag[0]), None)
    rest = text[end.end() :] if end else text
    if next(_tags_outside_objects(rest), None):
        return Unreadable("a tag of thinking stands outside the leading block of thinking")
    return rest if rest.strip() else _NO_ANSWER


_OPENING = re.compile(r"\s*+<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_TAG = re.compile(rf"<\s*+(?:think|thinking|thought|reasoning)\s*+>|{THINKING_END.pattern}", re.IGNORECASE)
_NO_ANSWER = Unreadable("the reply ends before its answer")


def _tags_outside_objects(text: str) -> Iterator[re.Match[str]]:
    spans = iter((found.start, found.end) for found in find_objects(text).objects)
    start, end = next(spans, (len(text), len(text)))
    for tag in _TAG.finditer(text):
        while tag.start() >= end < len(text):
            start, end = next(spans, (len(text), len(text)))
        if tag.start() < start:
            yield tag
