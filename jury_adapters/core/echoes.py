"""Echoes: outputs of tools, or parts of them, that only repeat the arguments of the call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from jury_adapters.core.case_parts import Step
from jury_adapters.core.confirmations import (
    DECIDING,
    GAP,
    PART,
    Token,
    answers_yes,
    is_nothing_new,
    tokens_of,
    with_gaps,
    without_confirmations,
)
from jury_adapters.core.loose_values import json_text


def echoes(tool: str) -> bool:
    """Whether the name of a tool shows that it repeats text of the model.

    Such a name is a known one, that of a handoff, or a combination of a word for the model's own notes (todo, plan,
    note, thought, scratchpad, memory) with words for writing.

    >>> echoes("write_todos"), echoes("savePlan"), echoes("transfer_to_billing"), echoes("plan_flight")
    (True, True, True, False)
    """
    own = _NAMESPACE.split(tool)[-1]
    name = re.sub(r"[^a-z0-9]", "", own.casefold())
    return name in _ECHOING or name.startswith(_HANDOFFS) or _names_notes(own)


def without_arguments(step: Step) -> str | None:
    """Return the output of a step without the repeated arguments of its call; None if it has nothing else.

    An output has nothing else if it equals an argument, is a part of one (of three words or 20 characters), is a quoted
    text within one, or is an argument after at most three words (``"Recorded: ..."``).

    In other outputs each repeated argument, or sentence, line or long quoted text of one, becomes ``"…"``. A repetition
    of six words or 40 characters is replaced anywhere, also with tags inside or truncated with dots. A repetition of
    three words or 20 characters is replaced if it is in quotes, or between a colon or bullet and the end of the line.
    Shorter repetitions are kept, because a retrieved page contains the words of the query, except in parts that confirm
    the arguments in another order or form; see :func:`jury_adapters.core.confirmations.without_confirmations`. An
    output that begins with "yes", "true" or "correct" answers a question and is returned unchanged.

    >>> noted = Step(tool="log", arguments={"text": "It opened in 1987."}, output="Recorded: It opened in 1987.")
    >>> without_arguments(noted) is None
    True
    >>> query = {"query": "year of the bridge"}
    >>> without_arguments(Step(tool="find", arguments=query, output="Results for 'year of the bridge': 1994"))
    "Results for '…': 1994"
    """
    output = step.output or ""
    given = [str(value) for value in step.arguments.values() if _is_scalar(value)]
    texts = list(islice(_texts(step.arguments), _MOST_PIECES))
    plain = [_plain(text) for text in texts]
    if _equals(output, step.arguments.values()) or _is_part(output, plain, _SHORT) or _acknowledges(output, given):
        return None
    if answers_yes(output, step.arguments):
        return output
    left = "\n".join(GAP if _is_part(line, plain, _LONG) else line for line in output.split("\n"))
    left = _cut(left, islice(_pieces(texts, step.arguments), _MOST_PIECES))
    left = without_confirmations(left, step.arguments)
    if left == output:
        return output
    return None if _introduces(left) or is_nothing_new(left, step.arguments) else left


def _introduces(left: str) -> bool:
    """Whether the rest of an output is only a few words before its last gap, without a number or an answer."""
    words = _WORD.findall(left)
    informative = any(word.casefold() in DECIDING or word[-1].isdigit() for word in words)
    return len(words) <= _FEW_WORDS and not informative and not _WORD.search(left.rpartition(GAP)[2])


def _names_notes(name: str) -> bool:
    """Whether the name of a tool says that the model writes notes of its own."""
    words = [word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]
    if len(words) > 1 and words[-1] in ("list", "lists", "item", "items") and words[-2] in _LISTED:
        words.pop()
    words = [word for word in words if word not in _FILLING]
    rest = [word for word in words if word not in _WRITING]
    writes = len(rest) < len(words)
    return bool(rest) and all(word in _NOTES or (writes and word in _WRITTEN) for word in rest)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and bool(str(value).strip())


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _pieces(texts: Iterable[str], arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the pieces that an output may repeat.

    They are whole nested arguments, texts, their lines and sentences, and long quoted texts in them, as in code or SQL.
    """
    for value in arguments.values():
        if isinstance(value, list | tuple | Mapping):
            text = json_text(value)
            yield from (text, str(json.loads(text)))
    for text in texts:
        yield text
        parts = PART.split(text)
        if len(parts) > 1:
            yield from parts
        yield from (found[2] for found in _QUOTED.finditer(text) if _has_size(_plain(found[2]), _LONG))


def _equals(output: str, values: Iterable[object]) -> bool:
    said = _plain(output)
    return any(isinstance(value, str) and _plain(value) == said for value in values)


def _is_part(text: str, texts: Iterable[str], least: tuple[int, int]) -> bool:
    """Whether a text is a part of one of the plain texts, and has at least this size or is in quotes there."""
    said = _plain(text)
    shown = (said,) if _has_size(said, least) else (f"'{said}'", f'"{said}"')
    return bool(said) and any(one in given for given in texts for one in shown)


def _acknowledges(output: str, given: Iterable[str]) -> bool:
    """Whether an output is a few words followed by an argument; a short argument must be set off from the words."""
    said = _plain(output).rstrip(_CLOSING)
    for text in given:
        end = _plain(text).rstrip(_CLOSING)
        if not end or not said.endswith(end):
            continue
        before = said[: len(said) - len(end)]
        found = _WORD.findall(before)
        if not DECIDING.isdisjoint(found) or (found and not re.search(r"[^\W\d_]", before)):  # a calculation
            continue
        words = len(found)
        set_off = before.rstrip().endswith(_OPENING) or (words <= 1 and before.endswith(" "))
        if words <= _FEW_WORDS and (set_off or (_has_size(end, _SHORT) and before.endswith(" "))):
            return True
    return False


def _cut(output: str, pieces: Iterable[str]) -> str:
    """Return the output without the pieces of arguments that it repeats."""
    long_ones = [(piece, found) for piece in pieces if _has_size(_plain(piece), _SHORT) and (found := tokens_of(piece))]
    if not long_ones:
        return output
    found = tokens_of(output)
    places: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(found)):
        for size in range(1, _FEW_WORDS + 1):
            places.setdefault(_forms(found[place : place + size]), []).append(place)
    gaps: list[tuple[int, int]] = []
    for piece, wanted in long_ones:
        for place in places.get(_forms(wanted[:_FEW_WORDS]), ()):
            start, end = _repeated(output, found, place, piece, wanted)
            if end and (_has_size(_plain(output[start:end]), _LONG) or _is_set_off(output, start, end)):
                gaps.append((start, end))
    return with_gaps(output, gaps)


def _forms(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.form for token in tokens)


def _repeated(output: str, found: Sequence[Token], place: int, piece: str, wanted: Sequence[Token]) -> tuple[int, int]:
    """Return the span in which an output repeats a piece, whole or truncated with dots; (0, 0) if it does not."""
    same, most = 0, min(len(wanted), len(found) - place)
    while same < most and found[place + same].form == wanted[same].form:
        same += 1
    start, head = found[place].start, piece[: wanted[0].start].lstrip()
    if output.endswith(head, 0, start):
        start -= len(head)
    if same == len(wanted):
        end, tail = found[place + same - 1].end, piece[wanted[-1].end :].rstrip()
        return start, end + (len(tail) if output.startswith(tail, end) else 0)
    last = min(place + same, len(found) - 1)
    if same and not found[last].cut:
        last -= 1
    token, word = found[last], wanted[last - place]
    broken_off = token.cut and word.form.startswith(token.form)
    return (start, token.end) if broken_off and _has_size(_plain(output[start : token.end]), _LONG) else (0, 0)


def _is_set_off(output: str, start: int, end: int) -> bool:
    """Whether a span is in quotes, or between a colon or bullet and the end of the line."""
    before = output[:start].rstrip(" \t")
    return before.endswith(_OPENING) and _ENDS.match(output[end:]) is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _has_size(text: str, least: tuple[int, int]) -> bool:
    words, characters = least
    return len(text) >= characters or len(text.split()) >= words


_SHORT: Final = (3, 20)  # words, or characters
_LONG: Final = (6, 40)
_FEW_WORDS: Final = 3
_MOST_PIECES: Final = 500
_WORD: Final = re.compile(r"\w+")
_CLOSING: Final = " \t\n.!?'\"`\u201d\u2019»)]}"
_OPENING: Final = (":", "'", '"', "`", "\u201c", "\u2018", "«", "(", "[", "]", "<", "=", "-", "*", "•")
_QUOTED: Final = re.compile(r"""(?<!\w)(['"])((?:(?!\1).)+)\1(?!\w)""")
_ENDS: Final = re.compile(r"[.!?;,]?[ \t]*(?:\Z|[\n'\"`\u201d\u2019»)\]>])")

_NAMESPACE: Final = re.compile(r"__|[./:]")  # mcp__server__think, functions.think
_HANDOFFS: Final = ("transferto", "transferbackto", "handoffto", "handoffbackto", "delegateto")
_ECHOING: Final = frozenset({
    "writetodos", "readtodos", "updatetodos", "todowrite", "todoread", "writetodo", "updatetodo",
    "thinktool", "sequentialthinking", "makeplan", "createplan", "writeplan", "updateplan", "exitplanmode",
    "handoff", "forwardmessage", "finalanswer", "jury",
    "exception", "invalidtool",  # LangChain's AgentExecutor, for a reply that it cannot parse
})  # fmt: skip
_NOTES: Final = frozenset({
    "todo", "todos", "think", "thinking", "thought", "thoughts", "plan", "planning", "note", "scratchpad", "reflect",
    "reflection", "memorize", "memorise",
})  # fmt: skip
_WRITTEN: Final = frozenset({"plans", "notes", "notepad", "memory", "memories", "idea", "ideas"})
"""Words for notes of the model or of users, so that a name must also have a word for writing."""
_LISTED: Final = _NOTES | _WRITTEN
_WRITING: Final = frozenset({
    "write", "create", "update", "add", "append", "save", "store", "set", "put", "make", "manage", "submit", "record",
    "log", "take", "jot", "insert", "upsert", "edit", "revise", "replace", "mark", "complete", "remember",
})  # fmt: skip
_FILLING: Final = frozenset({"tool", "the", "a", "an", "my", "own", "new", "to", "in", "into", "core", "archival"})
