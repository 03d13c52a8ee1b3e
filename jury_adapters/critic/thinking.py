"""Blocks of thinking that a model writes before its reply, between marks such as ``<think>`` or ``[THINK]``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jury_adapters.critic.answers import Unreadable
from jury_adapters.critic.parse_json import find_objects


@dataclass(frozen=True, slots=True)
class Body:
    """Reply without its leading block of thinking.

    Attributes:
        text: the text after the block.
        start: where it begins in the reply.
        mark: the name of the mark that ends the block; "" when there is no block.
    """

    text: str
    start: int = 0
    mark: str = ""


def without_thinking(text: str) -> Body | Unreadable:
    """Return the text after its leading block of thinking, which ends at its first closing mark.

    Any leading mark begins such a block, except that of an answer. Some servers remove the opening mark, so a closing
    mark named after thinking ends a block too. A further mark of thinking makes the text unreadable, because the
    first closing mark may be a quotation. Marks inside a complete JSON object are part of its strings.
    """
    if MARK.search(text) is None:
        return Body(text)
    text = _without_end(text)
    opening = _leading(text)
    if opening is None:
        end = next((mark for mark in _outside_objects(text) if _is_end(mark) and _is_thinking(mark)), None)
    else:
        end = _end_of(opening, text)
        if end is None:
            return _NO_ANSWER
    body = _after(end, text) if end else Body(text)
    if any(_belongs_to_thinking(mark, opening) for mark in _outside_objects(body.text)):
        return Unreadable("a mark of thinking is outside the leading block of thinking")
    return body if body.text.strip() else _NO_ANSWER


def ends_thinking(text: str) -> bool:
    """Return whether the text contains a mark that ends a block of thinking."""
    return any(_is_end(mark) and _is_thinking(mark) for mark in MARK.finditer(text))


def split_at_marks(text: str) -> str:
    """Return the text with each mark on a line of its own."""
    return MARK.sub(lambda mark: f"\n{mark[0]}\n", text)


def after_mark(name: str, text: str) -> str:
    """Return the text after the first mark of this name that may end a block of thinking, or ""."""
    mark = re.search(rf"[</|\uff5c\[\u25c1\u3010\u27e8\u3008]\s*+{re.escape(name)}\W", text, re.IGNORECASE)
    return text[mark.end() :] if mark else ""


MARK = re.compile(
    r"(?P<open>[<\[\u25c1\u3010\u27e8\u3008])\s{0,8}+(?P<bar>[|\uff5c]?)\s{0,8}+(?P<slash>/?)\s{0,8}+"
    r"(?P<name>[A-Za-z][\w:.\u2581-]{0,60}+)(?P<attributes>\s[^<>\[\]\u25b7|\uff5c]{0,200}+)?(?P<closed>/?)"
    r"[|\uff5c]?\s{0,8}+(?P<close>[>\]\u25b7\u3011\u27e9\u3009])"
)
"""Pattern of a mark: a name in brackets, with or without a slash or a bar."""

_PARTNER = {"<": ">", "[": "]", "\u25c1": "\u25b7", "\u3010": "\u3011", "\u27e8": "\u27e9", "\u3008": "\u3009"}
_THINKING = re.compile(
    r"think|thought|reason|analy|scratch|reflect|monologue|deliberat|draft|rationale|channel|unused9[45]|\bcot\b", re.I
)
_ANSWER = frozenset({"answer"})
_END_NAME = re.compile(r"(?:end|eo[mst]|eot_id|return|im_end)(?![a-z])|.*[_\u2581]end\Z|unused95\Z", re.IGNORECASE)
_START_NAME = re.compile(r"(?:start|begin)(?=[_\u2581-]|\Z)", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|(?:start|channel)\|>", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s*+final\s*+(?:<\|constrain\|>\s*+\w++\s*+)?<(?P<name>\|message\|)>", re.IGNORECASE)
# marks around the whole reply
_REPLY_BEGINS = re.compile(
    r"\s*+<[|\uff5c](?:(?:start|begin)[_\u2581]\w*+(?:solution|response|answer|text)\w*+)[|\uff5c]>", re.I
)
_REPLY_ENDS = re.compile(
    r"(?:</s>|<eos>|<end_of_turn>|<[|\uff5c](?:end[\w\u2581]*+|eo[mst]_id|return|im_end)[|\uff5c]>)\Z", re.IGNORECASE
)
_LONGEST_END = 60
_NO_ANSWER = Unreadable("the reply ends before its answer")


def _leading(text: str) -> re.Match[str] | None:
    """Return the mark with which the text begins, if it may begin a block."""
    mark = MARK.match(text, len(text) - len(text.lstrip("\ufeff \t\r\n")))
    if mark is None or _is_end(mark) or mark["name"].casefold() in _ANSWER:
        return None
    if mark["open"] == "[" and not _is_thinking(mark) and _closing(mark).search(text, mark.end()) is None:
        return None  # brackets around a word, as in "[NO]"
    return mark


def _end_of(opening: re.Match[str], text: str) -> re.Match[str] | None:
    if _CHANNEL.match(opening[0]):
        return _FINAL.search(text, opening.start())
    if opening["closed"]:
        return opening
    return _closing(opening).search(text, opening.end())


def _closing(opening: re.Match[str]) -> re.Pattern[str]:
    """Return the pattern of the closing counterpart of a mark: its name with a slash, or with "end" for "start"."""
    name = opening["name"]
    slash = r"/\s*+"
    if name.casefold() == "unused94":
        name, slash = "unused95", ""
    elif _START_NAME.match(name):
        name, slash = _START_NAME.sub("end", name), ""
    left, bar, right = opening["open"], opening["bar"], _PARTNER[opening["open"]]
    return re.compile(
        rf"{re.escape(left)}\s*+{re.escape(bar)}\s*+{slash}(?P<name>{re.escape(name)})\s*+{re.escape(bar)}\s*+{re.escape(right)}",
        re.IGNORECASE,
    )


def _after(end: re.Match[str], text: str) -> Body:
    """Return the text after this mark, and after the mark with which the replies of some models begin."""
    begins = _REPLY_BEGINS.match(text, end.end())
    start = begins.end() if begins else end.end()
    return Body(text[start:], start, end["name"].strip("|"))


def _without_end(text: str) -> str:
    """Return the text without the mark with which all replies of some models end."""
    stripped = text.rstrip()
    ends = _REPLY_ENDS.search(stripped, max(0, len(stripped) - _LONGEST_END))
    return text[: ends.start()] if ends else text


def _is_end(mark: re.Match[str]) -> bool:
    return bool(mark["slash"]) or (bool(mark["bar"]) and _END_NAME.match(mark["name"]) is not None)


def _is_thinking(mark: re.Match[str]) -> bool:
    return _THINKING.search(mark["name"]) is not None


def _belongs_to_thinking(mark: re.Match[str], opening: re.Match[str] | None) -> bool:
    if _is_thinking(mark):
        return True
    return opening is not None and (bool(mark["bar"]) or mark["name"].casefold() == opening["name"].casefold())


def _outside_objects(text: str) -> Iterator[re.Match[str]]:
    spans = iter((found.start, found.end) for found in find_objects(text).objects)
    start, end = next(spans, (len(text), len(text)))
    for mark in MARK.finditer(text):
        while mark.start() >= end < len(text):
            start, end = next(spans, (len(text), len(text)))
        if mark.start() < start:
            yield mark
