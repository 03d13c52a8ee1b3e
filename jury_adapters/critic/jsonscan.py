"""JSON objects in a text that also holds other things: prose, code fences, drafts, broken braces.

One pass, no recursion, and a bound on the work, whatever the text is: a reply is written by a model, which may have
been told what to write by the text it judges.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from jury_adapters.core.values import JsonValue

JsonObject: TypeAlias = Mapping[str, JsonValue]

_DECODER = json.JSONDecoder(strict=False)
# No model writes more than this, and the answer stands at the end.
_LONGEST = 300_000
# Characters that may be read over and over because of braces inside what looked like strings.
_PASSES = 4
# Empty objects answer nothing; an opening brace at the very end is an object that was cut off.
_START = re.compile(r'\{(?=\s*(?:"|\Z))')
_TOKEN = re.compile(
    r'[ \t\r\n]*+(?:(?P<mark>[{}\[\],:])|(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")'
    r"|(?P<other>-?[0-9][0-9.eE+-]{0,400}|true|false|null|NaN|-?Infinity))",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Found:
    """What a text holds.

    Attributes:
        objects: the outermost complete objects, in order.
        unfinished: whether the text ends inside an object.
    """

    objects: tuple[JsonObject, ...]
    unfinished: bool


def read_json(text: str) -> tuple[bool, JsonValue]:
    """Whether the whole text is one JSON value, and which. Line ends inside strings are forgiven; models write them."""
    try:
        return True, _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False, None


def find_objects(text: str) -> Found:
    """The outermost complete JSON objects of a text; a comma before a closing bracket is forgiven.

    Of a very long text only the last 300,000 characters are searched. A text built to be read over and over has no
    objects: it is better to ask again than to take a draft for the answer.
    """
    text = text[-_LONGEST:]
    objects: list[JsonObject] = []
    inside: set[int] = set()  # where objects begin that are part of one that turned out to be broken
    unfinished = False
    position, work = 0, _PASSES * len(text)
    while start := _START.search(text, position):
        position = start.start() + 1
        if start.start() in inside:
            continue
        walk = _Walk(text, start.start())
        work -= walk.end - start.start()
        if work < 0:
            return Found((), True)
        if walk.complete:
            position = walk.end  # whatever stands inside a complete object is part of it
            if isinstance(value := walk.load(text), Mapping):
                objects.append(value)
        else:
            inside |= walk.begun
            unfinished |= walk.end == len(text)
    return Found(tuple(objects), unfinished)


class _Walk:
    """One walk along the grammar of JSON, from an opening brace to its partner or to the first thing that is no JSON.

    Attributes:
        start: where the object begins.
        end: where the walk ended.
        complete: whether it ended at the closing brace.
        begun: where objects begin that the walk met.
    """

    def __init__(self, text: str, start: int) -> None:
        self.start = start
        self.complete = False
        self.begun: set[int] = set()
        self._commas: list[int] = []  # those that stand before a closing bracket
        self.end = self._follow(text)

    def load(self, text: str) -> JsonValue:
        """The object's value; None when it is no JSON after all, such as a number with two points."""
        parts, position = [], self.start
        for comma in self._commas:
            parts.append(text[position:comma])
            position = comma + 1
        return read_json("".join([*parts, text[position : self.end]]))[1]

    def _follow(self, text: str) -> int:
        """Walk. The state is what may come next: a key, a colon, a value, or (``next``) what follows a value."""
        opened: list[str] = []
        position, state, last_mark = self.start, "value", self.start
        while token := _TOKEN.match(text, position):
            position, mark = token.end(), token["mark"]
            at = position - 1
            if mark is None:
                state = _AFTER_SCALAR.get((state, token["string"] is not None), "")
                if not state:
                    return at
                continue
            if mark in "{[" and state == "value":
                opened.append(mark)
                state = "key" if mark == "{" else "value"
                if mark == "{":
                    self.begun.add(at)
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
        # A string that is opened and never closed is no token, but it runs to the end of the text.
        rest = text[position : position + 200].lstrip()
        return len(text) if not rest or rest[0] == '"' else position


# A string may be a key; anything else is a value only.
_AFTER_SCALAR = {("value", True): "next", ("value", False): "next", ("key", True): "colon"}
_OPENING = {"}": "{", "]": "["}
_JUST_OPENED = {"}": "key", "]": "value"}  # also after a comma, which is then one too many
