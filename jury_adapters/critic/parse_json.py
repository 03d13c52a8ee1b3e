"""JSON in a reply: the whole reply, or complete objects within prose.

The search takes one pass without recursion, in time proportional to the length of the text. This bounds the work on a
hostile reply: the judged text may have told the model what to write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jury_adapters.core.values import JsonValue

JsonObject: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class FoundObject:
    """Complete JSON object, with the positions in the text where it begins and ends."""

    value: JsonObject
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Found:
    """JSON objects of a text.

    Attributes:
        objects: the outermost complete objects, in order; only those before the first problem.
        problem: a broken or unfinished object, or a brace outside any object; "" when there is none.
        unfinished: whether the text ends inside an object.
    """

    objects: tuple[FoundObject, ...]
    problem: str = ""
    unfinished: bool = False


def read_json(text: str) -> tuple[bool, JsonValue]:
    """Return whether the whole text is one JSON value, and the value.

    Line breaks inside strings are accepted, because models write them. An object with a repeated key is not accepted.
    """
    try:
        return True, _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False, None


def find_objects(text: str) -> Found:
    """Find the outermost complete JSON objects of a text. A comma before a closing bracket is accepted.

    Short groups in braces, such as ``{a, b}`` in a formula or ``{name}`` in a template, are part of the prose. Every
    other brace must belong to a complete object. The search stops at the first brace that does not.
    """
    objects: list[FoundObject] = []
    position = 0
    while brace := _BRACE.search(text, position):
        start = brace.start()
        if group := _GROUP.match(text, start):
            position = group.end()
            continue
        if brace[0] == "}":
            return Found(tuple(objects), "a closing brace belongs to no JSON object")
        walk = _Walk(text, start)
        if not walk.complete:
            unfinished = walk.end == len(text)
            problem = "a JSON object is not finished" if unfinished else "a JSON object is broken"
            return Found(tuple(objects), problem, unfinished)
        position = walk.end
        value = walk.load(text)
        if not isinstance(value, Mapping):
            return Found(tuple(objects), "a JSON object is invalid or has a key twice")
        objects.append(FoundObject(value, start, position))
    return Found(tuple(objects))


def value_start(text: str, start: int, names: Sequence[str]) -> int | None:
    """Return where the value of the first of these keys begins in the object that begins at ``start``."""
    members = _Walk(text, start).members
    key_end = next((members[name] for name in names if name in members), None)
    colon = None if key_end is None else _COLON.match(text, key_end)
    return None if colon is None else colon.end()


def is_mentioned(text: str, found: FoundObject) -> bool:
    """Return whether the object is quoted, in brackets, or within a sentence, which may be about another text."""
    before = text[: found.start].rstrip()
    line = text[: found.start].rpartition("\n")[2].strip()
    if line.startswith(">") or before.endswith(("[", "(")):
        return True
    if line and (line[-1].isalnum() or line[-1] in _OPENS_MENTION):
        return True
    return _CLOSES_MENTION.match(text, found.end) is not None


def _without_doubles(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_without_doubles)
_BRACE = re.compile(r"[{}]")
_GROUP = re.compile(r"\{\{[^{}\"':\n]{0,80}\}\}|\{[^{}\"':\n]{0,80}\}")
_COLON = re.compile(r'\s*+:\s*+"?')
_OPENS_MENTION = frozenset(",;`\"'([{\u2018\u201c\u201e\u00ab\u300c")
_CLOSES_MENTION = re.compile(r"[ \t]*+(?:[,;`\"')\]\u2019\u201c\u201d\u00bb\u300d])|\s*+[\])a-z]")
_TOKEN = re.compile(
    r'[ \t\r\n]*+(?:(?P<mark>[{}\[\],:])|(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")'
    r"|(?P<other>-?[0-9][0-9.eE+-]{0,400}|true|false|null|NaN|-?Infinity))",
    re.DOTALL,
)


class _Walk:
    """Scan of a JSON object from its opening brace to the matching one, or to the first syntax error.

    Attributes:
        start: where the object begins.
        end: where the scan ended.
        complete: whether it ended at the closing brace.
        members: the object's own keys in lower case, and where they end.
    """

    def __init__(self, text: str, start: int) -> None:
        self.start = start
        self.complete = False
        self.members: dict[str, int] = {}
        self._commas: list[int] = []  # positions of the commas before a closing bracket
        self.end = self._follow(text)

    def load(self, text: str) -> JsonValue:
        """Return the object's value, or None if it is not JSON, for example because of a number with two points."""
        parts, position = [], self.start
        for comma in self._commas:
            parts.append(text[position:comma])
            position = comma + 1
        return read_json("".join([*parts, text[position : self.end]]))[1]

    def _follow(self, text: str) -> int:
        """Scan the text. The state is what may come next: a key, a colon, a value, or what follows one (``next``)."""
        opened: list[str] = []
        position, state, last_mark = self.start, "value", self.start
        while token := _TOKEN.match(text, position):
            position, mark = token.end(), token["mark"]
            at = position - 1
            if mark is None:
                if state == "key" and len(opened) == 1:
                    self.members[_key_of(token["string"])] = position
                state = _AFTER_SCALAR.get((state, token["string"] is not None), "")
                if not state:
                    return at
                continue
            if mark in "{[" and state == "value":
                opened.append(mark)
                state = "key" if mark == "{" else "value"
            elif mark in "}]" and opened[-1] == _OPENING[mark] and state in ("next", _JUST_OPENED[mark]):
                if text[last_mark] == "," and state != "next":
                    self._commas.append(last_mark)
                opened.pop()
                if not opened:
                    self.complete = True
                    return position
                state = "next"
            elif mark == ":" and state == "colon":
                state = "value"
            elif mark == "," and state == "next":
                state = "key" if opened[-1] == "{" else "value"
            else:
                return at
            last_mark = at
        # An unclosed string is not a token, but it runs to the end of the text.
        rest = text[position : position + 200].lstrip()
        return len(text) if not rest or rest[0] == '"' else position


def _key_of(string: str | None) -> str:
    return (string or "")[1:-1].strip().casefold()


# A string may be a key; anything else can only be a value.
_AFTER_SCALAR = {("value", True): "next", ("value", False): "next", ("key", True): "colon"}
_OPENING = {"}": "{", "]": "["}
_JUST_OPENED = {"}": "key", "]": "value"}  # also after a trailing comma
