"""Answers in plain words: an ``Answer:`` line, a bare label, or a first line that begins with one.

Two rules keep this honest. A label counts only where it stands alone: at its end comes punctuation, or nothing ("NOT
SURE" is no NO). And a reply that states two different answers states none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from jury_adapters.critic.vocabulary import Choice, Labels, Scale, Vocabulary

ANSWER_NAMES = ("answer", "verdict", "label", "kind", "rating", "score")
"""What models call their answer."""
REASON_NAMES = ("reasoning", "rationale", "reason", "explanation")
"""What models call their reasons."""

_QUOTES = "\u2018\u2019\u201c\u201d"
_EDGES = f" \t\r\n*_`\"'[](){{}}<>{_QUOTES}"
_DASHES = "\u2013\u2014"
_AFTER = f"{_EDGES}.,;:!?\u2026-{_DASHES}"
_DECORATION = rf"[*_`\"'\[\](){{}}<>{_QUOTES}]*+"
_LINE_START = r"^[ \t>#*_`\-]*+"
_ANSWER_LINE = re.compile(
    rf"{_LINE_START}(?:(?:final|my|the|overall)[ \t]+){{0,3}}(?:{'|'.join(ANSWER_NAMES)})[ \t*_`]*+[:=]"
    r"(?P<value>[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_REASON_LINE = re.compile(
    rf"{_LINE_START}(?:{'|'.join(REASON_NAMES)})[ \t*_`]*+[:=][ \t*_`]*+", re.IGNORECASE | re.MULTILINE
)
_END = rf"(?={_DECORATION}(?:[.,:](?!\d)|[;!?\u2026]|\s++[-{_DASHES}]\s|\s*+[{_DASHES}]|\s++\(|[ \t\r]*+$))"
_RATING = re.compile(
    r"(?P<rating>[-+]?\d{1,15}(?:\.\d{1,15})?(?:\s*+(?:%|(?:/|out of)\s*+\d{1,15}))?)"
    rf"(?=[,;:](?!\d)|\.(?!\d)|\s*+[({_DASHES}]|\s++-\s|\s*+$)",
    re.IGNORECASE,
)
# Nobody answers a question in plain words at such a length.
_LONGEST = 300_000


@dataclass(frozen=True, slots=True)
class Prose:
    """An answer in plain words, the reasons around it, and where it begins in the text."""

    choice: Choice
    reasoning: str
    start: int


def read_prose(text: str, vocabulary: Vocabulary) -> Prose | None:
    """The one answer that the text states, or None; a very long text states none."""
    if len(text) > _LONGEST:
        return None
    lines = list(_answer_lines(text, vocabulary))
    if lines:
        stated = {choice.text for choice, _ in lines}
        return Prose(lines[-1][0], _reasons(text), lines[-1][1]) if len(stated) == 1 else None
    start = len(text) - len(text.lstrip(_EDGES))
    whole = vocabulary.read(text.strip(_EDGES).rstrip(".!"))
    if isinstance(whole, Choice):
        return Prose(whole, "", start)
    return _first_line(text, vocabulary, start)


def _answer_lines(text: str, vocabulary: Vocabulary) -> Iterator[tuple[Choice, int]]:
    """The legal answers on ``Answer:`` lines, and where they begin."""
    for line in _ANSWER_LINE.finditer(text):
        value = line["value"]
        bare = value.strip(_EDGES)
        start = line.start("value") + len(value) - len(value.lstrip(_EDGES))
        choice = vocabulary.read(bare)
        if isinstance(choice, Choice):
            yield choice, start
        elif isinstance(vocabulary, Labels):
            match = _leading(vocabulary).match(bare)
            chosen = _chosen(match, vocabulary) if match and not _goes_on(match, vocabulary) else None
            if chosen is not None:
                yield chosen, start
        elif match := _RATING.match(bare):
            choice = vocabulary.read(match["rating"])
            if isinstance(choice, Choice):
                yield choice, start


def _first_line(text: str, vocabulary: Vocabulary, start: int) -> Prose | None:
    """An answer at the very beginning. A rating must fill the line: "4. Fourth, ..." is a list, not a rating."""
    stripped = text.lstrip()
    if isinstance(vocabulary, Scale):
        line, _, rest = stripped.partition("\n")
        choice = vocabulary.read(line.strip(_EDGES).rstrip("."))
        return Prose(choice, rest.strip(), start) if isinstance(choice, Choice) else None
    leading = _leading(vocabulary)
    first = leading.match(stripped)
    if first is None or first["label"].isdigit() or _goes_on(first, vocabulary):
        return None
    chosen = _chosen(first, vocabulary)
    if chosen is None or any(_chosen(match, vocabulary) != chosen for match in leading.finditer(stripped)):
        return None
    return Prose(chosen, stripped[first.end() :].lstrip(_AFTER), start)


def _goes_on(match: re.Match[str], vocabulary: Labels) -> bool:
    """Whether another label follows at once, as in "A, B and C" or "YES, NO"."""
    further = _following(vocabulary).match(match.string, match.end())
    return further is not None and _chosen(further, vocabulary) != _chosen(match, vocabulary)


def _chosen(match: re.Match[str], vocabulary: Labels) -> Choice | None:
    choice = vocabulary.read(match["label"])
    return choice if isinstance(choice, Choice) else None


def _leading(vocabulary: Labels) -> re.Pattern[str]:
    return _patterns(tuple(label.name for label in vocabulary.labels))[0]


def _following(vocabulary: Labels) -> re.Pattern[str]:
    return _patterns(tuple(label.name for label in vocabulary.labels))[1]


@lru_cache(maxsize=256)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A label at the beginning of a line; and a label that follows another one. Longer labels are tried first."""
    words = [r"\s+".join(map(re.escape, name.split())) for name in sorted(names, key=len, reverse=True)]
    label = rf"(?P<label>{'|'.join(words)})(?!\w)"
    flags = re.IGNORECASE | re.MULTILINE
    follows = re.compile(rf"[\W_]*+(?:(?:and|or)[\W_]++)?{label}(?:{_END}|(?=\s+(?:and|or|but)\b))", flags)
    return re.compile(rf"^[ \t]*+{_DECORATION}{label}{_END}", flags), follows


def _reasons(text: str) -> str:
    """What is left without the answer lines; from a ``Reasoning:`` line on, if there is one."""
    rest = _ANSWER_LINE.sub("", text).strip()
    start = _REASON_LINE.search(rest)
    return rest[start.end() :].strip() if start else rest
