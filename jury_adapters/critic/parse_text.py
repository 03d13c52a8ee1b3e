"""Answers in plain words: an ``Answer:`` line, a bare label, or a first line that begins with one.

Three rules apply. A label counts only if punctuation or nothing follows it ("NOT SURE" is not NO). A quotation is never
an answer. A text that states two different answers, quoted or not, has no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from jury_adapters.critic.answers import Choice, Labels, Scale, Unreadable, Vocabulary
from jury_adapters.critic.quotations import unquoted_lines
from jury_adapters.critic.surroundings import is_introduced, takes_back
from jury_adapters.critic.thinking import split_at_marks

ANSWER_NAMES = ("answer", "verdict", "label", "kind", "rating", "score")
"""Names that models give to their answer."""
REASON_NAMES = ("reasoning", "rationale", "reason", "explanation")
"""Names that models give to their reasons."""
LONGEST = 300_000
"""Maximum length, in characters, of a reply in plain words that is read."""


@dataclass(frozen=True, slots=True)
class Prose:
    """Answer in plain words.

    Attributes:
        choice: the answer.
        reasoning: the reasons in the text around it.
        start: where it begins in the text.
        written: the answer as the text spells it; only for :func:`read_opening`.
    """

    choice: Choice
    reasoning: str
    start: int
    written: str = ""


def read_bare(text: str, vocabulary: Vocabulary) -> Prose | None:
    """Return the answer of a text that contains nothing else: a label, one ``Answer:`` line, or an ``<answer>`` tag.

    Decoration and one code fence around it do not matter.
    """
    bare, start = _bare(text)
    choice = vocabulary.read(bare)
    return Prose(choice, "", start) if isinstance(choice, Choice) else None


def other_label(text: str, vocabulary: Vocabulary) -> str | None:
    """Return the answer of a text that contains nothing else, if the vocabulary does not have it."""
    read = vocabulary.read(_bare(text)[0])
    return read.answer if isinstance(read, Unreadable) else None


def read_answer_lines(text: str, vocabulary: Vocabulary) -> Prose | None:
    """Return the one answer on the text's ``Answer:`` lines outside quotations, or None.

    The text before the last of these lines must not introduce it, and the text after it must not retract it.
    """
    lines = list(_answer_lines(text, vocabulary))
    if not lines:
        return None
    choice, start, begins, ends = lines[-1]
    if is_introduced(text[:begins]) or takes_back(text[ends:], choice, vocabulary):
        return None
    return None if contradicted(text, choice, vocabulary) else Prose(choice, _reasons(text), start)


def read_opening(text: str, vocabulary: Vocabulary) -> Prose | None:
    """Return the answer with which the text begins, or None."""
    found = _first_line(text, vocabulary)
    return None if found is None or contradicted(text, found.choice, vocabulary) else found


def preceded(text: str, choice: Choice, vocabulary: Vocabulary) -> bool:
    """Return whether the text before an answer gives another one: "I say NO. The text ends with: ..."."""
    ended = (match for match in _patterns(vocabulary).ended.finditer(text) if _differs(match, choice, vocabulary))
    return contradicted(text, choice, vocabulary) or any(ended)


def corrected(text: str, choice: Choice, vocabulary: Vocabulary) -> bool:
    """Return whether the text after an answer contains another one, in any form: "Scratch that, NO"."""
    openings = (opening for opening in line_openings(text, vocabulary) if opening != choice.text)
    return preceded(text, choice, vocabulary) or _disputed(text, choice, vocabulary) or any(openings)


def contradicted(text: str, choice: Choice, vocabulary: Vocabulary) -> bool:
    """Return whether the text around an answer names another one, has it on a line of its own, or begins with it."""
    patterns = _patterns(vocabulary)
    text = split_at_marks(text)
    for pattern in (patterns.named, patterns.asserted, patterns.alone):
        for match in pattern.finditer(text):
            if _differs(match, choice, vocabulary) and not (
                isinstance(vocabulary, Scale) and _COMPOUND.search(text, max(0, match.start() - 40), match.start())
            ):
                return True
    first = patterns.leading.match(text.lstrip())
    return first is not None and not first["label"].isdigit() and _differs(first, choice, vocabulary)


def answers_in(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield every answer that a quotation of this text could state: named, in a tag, or alone on a line."""
    patterns = _patterns(vocabulary)
    for pattern in (patterns.named, patterns.tagged, patterns.alone, patterns.near):
        for match in pattern.finditer(text):
            choice = _chosen(match, vocabulary)
            if choice is not None and (pattern is not patterns.near or _as_written(match, choice)):
                yield choice.text


def named_in_squeezed(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield every answer that follows a name and a colon, regardless of space and decoration in and between them.

    Without spaces, the beginning of a word can look like an answer: "answer: yesterday" yields YES.
    """
    pattern = _named_in_squeezed(_label_names(vocabulary))
    yield from (match["answer"] for match in pattern.finditer(_SQUEEZED.sub("", text)))


def words_in(text: str, vocabulary: Vocabulary, *, as_written: bool = False) -> Iterator[str]:
    """Yield every answer that is a word or several words of the text.

    With ``as_written``, a label in capitals must be in capitals in the text too, because "no" is a word of most texts.
    """
    for match in _patterns(vocabulary).word.finditer(text):
        choice = _chosen(match, vocabulary)
        if choice is not None and (not as_written or _as_written(match, choice)):
            yield choice.text


def line_openings(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the labels with which lines of the text begin. A scale has none."""
    if isinstance(vocabulary, Scale):
        return
    for match in _patterns(vocabulary).leading.finditer(text):
        choice = _chosen(match, vocabulary)
        if choice is not None and not choice.text.isdigit():
            yield choice.text


_QUOTES = "\u2018\u2019\u201c\u201d"
_EDGES = f" \t\r\n*_`\"'[](){{}}{_QUOTES}"
_DASHES = "\u2013\u2014"
_AFTER = f"{_EDGES}<>.,;:!?\u2026-{_DASHES}"
_DECORATION = rf"[*_`\"'\[\](){{}}<>{_QUOTES}]*+"
_MARKUP = r"[*_\[(]*+"
_LINE_START = r"^[ \t#*_\-]*+"
_NAMES = "|".join(ANSWER_NAMES)
_NAMED_VALUE = rf"[ \t#*_\-]*+(?:(?:final|my|the|overall)[ \t]+){{0,3}}(?:{_NAMES})[ \t*_]*+[:=](?P<value>[^\n]*+)"
_ANSWER_LINE = re.compile(f"^{_NAMED_VALUE}", re.IGNORECASE | re.MULTILINE)
_TAGGED = re.compile(r"<answer>(?P<value>[^<>]*+)</answer>", re.IGNORECASE)
# Forms of a reply that is an answer as a whole: a tag, a line, a heading with a line below it, and a box.
_WHOLE = (
    _TAGGED,
    re.compile(rf"(?:\d{{1,3}}[.)][ \t]++)?{_NAMED_VALUE}", re.IGNORECASE),
    re.compile(
        rf"{_LINE_START}(?:(?:final|my)[ \t]+){{0,2}}(?:{_NAMES})[ \t*_]*+:?[ \t*_]*+\n\s*+(?P<value>[^\n]++)", re.I
    ),
    re.compile(r"\$*+\\boxed\{(?:\\text\{)?(?P<value>[^{}\n]*+)\}{1,2}\$*+"),
)
_REASON_LINE = re.compile(
    rf"{_LINE_START}(?:{'|'.join(REASON_NAMES)})[ \t*_`]*+[:=][ \t*_`]*+", re.IGNORECASE | re.MULTILINE
)
_FENCED = re.compile(r"\s*+(?P<fence>`{3,}|~{3,})[\w+-]*+[ \t]*+\n(?P<inside>[^`~]*+)(?P=fence)\s*+")
_END = rf"(?={_DECORATION}(?:[.:](?![.\d])|,(?!\d)|[;!]|\s++[-{_DASHES}]\s|\s*+[{_DASHES}]|\s++\(|[ \t\r]*+$))"
_NUMBER = r"[-+]?\d{1,15}(?:\.\d{1,15})?(?:\s*+(?:%|(?:/|out of)\s*+\d{1,15}))?"
_RATING = re.compile(
    rf"(?P<rating>{_NUMBER})(?=[,;:](?!\d)|\.(?!\d)|\s*+[({_DASHES}]|\s++-\s|\s*+$)",
    re.IGNORECASE,
)
# "Style score: 3" rates the style. "my score: 3" and "it says score: 3" are answers, or quotations of one.
_COMPOUND = re.compile(
    r"(?<!\w)(?!(?:final|my|the|overall|an?|its?|own|as|with|to|so|and|says?|reads?|writes?|claims?|states?|contains)\b)"
    r"\w++[ \t]++\Z",
    re.IGNORECASE,
)
# "A (the first) rambles": a letter before a bracket or a dash is a candidate's name.
_NAMED = re.compile(rf"[ \t*_`]*+[(\[:={_DASHES}-]")
_UNSPACED = "\u3000"
# more than the length of any label or rating with its decoration
_LONGEST_BARE = 1000


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Patterns of a vocabulary. Each has a group ``label``.

    Attributes:
        leading: an answer at the beginning of a line.
        follows: a label that follows another one.
        named: a name, a colon and an answer, anywhere.
        asserted: a name, "is" or a verb like it, and an answer.
        near: a name and an answer, with little text between them.
        tagged: an answer between tags.
        alone: an answer on a line of its own.
        word: an answer anywhere.
        ended: a label before punctuation or the end of a line.
    """

    leading: re.Pattern[str]
    follows: re.Pattern[str]
    named: re.Pattern[str]
    asserted: re.Pattern[str]
    near: re.Pattern[str]
    tagged: re.Pattern[str]
    alone: re.Pattern[str]
    word: re.Pattern[str]
    ended: re.Pattern[str]


def _bare(text: str) -> tuple[str, int]:
    """Return a short text without decoration and the name of an answer, and its start; "" for a long text."""
    fence = _FENCED.fullmatch(text)
    start, end = fence.span("inside") if fence else (0, len(text))
    inside = text[start:end].strip()
    if len(inside) > _LONGEST_BARE:
        return "", 0
    start = text.index(inside, start)
    named = next((match for form in _WHOLE if (match := form.fullmatch(inside))), None)
    value = named["value"] if named else inside
    bare = value.strip(_EDGES).rstrip(".!").rstrip(_EDGES)
    return bare, start + (named.start("value") if named else 0) + value.index(bare)


def _answer_lines(text: str, vocabulary: Vocabulary) -> Iterator[tuple[Choice, int, int, int]]:
    """Yield the legal answers on ``Answer:`` lines outside quotations, the starts of both, and the answers' ends."""
    if _ANSWER_LINE.search(text) is None:
        return
    for offset, line in unquoted_lines(text):
        named = _ANSWER_LINE.match(line)
        if named is None:
            continue
        value = named["value"]
        bare = value.strip(_EDGES)
        choice, length = _stated(bare, vocabulary)
        if choice is not None and not _disputed(bare, choice, vocabulary):
            start = offset + named.start("value") + len(value) - len(value.lstrip(_EDGES))
            yield choice, start, offset, start + length


def _stated(bare: str, vocabulary: Vocabulary) -> tuple[Choice | None, int]:
    """Return the answer after the colon, alone or before punctuation and further words, and its end."""
    choice = vocabulary.read(bare)
    if isinstance(choice, Choice):
        return choice, len(bare)
    if isinstance(vocabulary, Labels):
        match = _patterns(vocabulary).leading.match(bare)
        return (
            (_chosen(match, vocabulary), match.end("label")) if match and not _goes_on(match, vocabulary) else (None, 0)
        )
    rating = _RATING.match(bare)
    choice = vocabulary.read(rating["rating"]) if rating else choice
    return (choice, rating.end()) if rating and isinstance(choice, Choice) else (None, 0)


def _first_line(text: str, vocabulary: Vocabulary) -> Prose | None:
    """Return an answer at the very beginning. A rating must fill the line: "4. Fourth, ..." is a list, not a rating."""
    stripped = text.lstrip()
    start = len(text) - len(stripped)
    if isinstance(vocabulary, Scale):
        line, _, rest = stripped.partition("\n")
        bare = line.strip(_EDGES).rstrip(".")
        choice = vocabulary.read(bare)
        if not isinstance(choice, Choice) or not _unquoted(line) or takes_back(f"\n{rest}", choice, vocabulary):
            return None
        return Prose(choice, rest.strip(), start, bare)
    first = _patterns(vocabulary).leading.match(stripped)
    if first is None or first["label"].isdigit() or _goes_on(first, vocabulary) or not _unquoted(stripped):
        return None
    chosen = _chosen(first, vocabulary)
    if chosen is None or any(opening != chosen.text for opening in line_openings(stripped, vocabulary)):
        return None
    after = stripped[first.end("label") :]
    if len(first["label"]) == 1 and chosen.text.isascii() and _NAMED.match(after):
        return None
    if _disputed(stripped.partition("\n")[0], chosen, vocabulary) or takes_back(after, chosen, vocabulary):
        return None
    return Prose(chosen, stripped[first.end() :].lstrip(_AFTER), start + first.start("label"), first["label"])


def _unquoted(text: str) -> bool:
    return re.match(rf"{_MARKUP}[\w+-]", text) is not None


def _disputed(text: str, choice: Choice, vocabulary: Vocabulary) -> bool:
    """Return whether the text contains another label as a word."""
    return isinstance(vocabulary, Labels) and any(
        word != choice.text for word in words_in(text, vocabulary, as_written=True)
    )


def _goes_on(match: re.Match[str], vocabulary: Labels) -> bool:
    """Return whether another label follows immediately, as in "A, B and C" or "YES, NO"."""
    further = _patterns(vocabulary).follows.match(match.string, match.end())
    return further is not None and _chosen(further, vocabulary) != _chosen(match, vocabulary)


def _chosen(match: re.Match[str], vocabulary: Vocabulary) -> Choice | None:
    choice = vocabulary.read(match["label"])
    return choice if isinstance(choice, Choice) else None


def _as_written(match: re.Match[str], choice: Choice) -> bool:
    return match["label"].isupper() or not (choice.label or "").isupper()


def _differs(match: re.Match[str], choice: Choice, vocabulary: Vocabulary) -> bool:
    other = _chosen(match, vocabulary)
    return other is not None and other != choice


def _label_names(vocabulary: Vocabulary) -> tuple[str, ...] | None:
    return None if isinstance(vocabulary, Scale) else tuple(label.name for label in vocabulary.labels)


def _patterns(vocabulary: Vocabulary) -> _Patterns:
    return _compiled(_label_names(vocabulary))


_SQUEEZED = re.compile(rf"[\s*_`\"'#|~\[\](){{}}<>{_QUOTES}]+")


@lru_cache(maxsize=256)
def _named_in_squeezed(names: tuple[str, ...] | None) -> re.Pattern[str]:
    if names is None:
        answer = r"[-+.,]*\d[\d.,e+/%-]*"
    else:
        words = sorted((_SQUEEZED.sub("", name) for name in names), key=len, reverse=True)
        answer = "|".join(re.escape(word) for word in words if word)
    return re.compile(rf"(?:{_NAMES})[:=]+(?P<answer>{answer})", re.IGNORECASE)


@lru_cache(maxsize=256)
def _compiled(names: tuple[str, ...] | None) -> _Patterns:
    """Return the patterns for these labels, longer ones first; for None, the patterns for numbers."""
    if names is None:
        label = rf"(?P<label>{_NUMBER})(?![\w%/]|[.,]\d)"
    else:
        words = [_word(name) for name in sorted(names, key=len, reverse=True)]
        label = rf"(?P<label>{'|'.join(words)})"
    flags = re.IGNORECASE | re.MULTILINE
    name = rf"(?<![^\W_])(?:{_NAMES})(?![^\W_])[\s\\\"'*_`\])}}>|{_QUOTES}]{{0,12}}+"
    open_ = rf"[\s\\\"'*_`\[({{<>|{_QUOTES}]{{0,20}}+"
    edge = rf" \t\r\\*_`\"'\[\](){{}}<>{_QUOTES}"
    return _Patterns(
        leading=re.compile(rf"^[ \t]*+{_DECORATION}{label}{_END}", flags),
        follows=re.compile(rf"[\W_]*+(?:(?:and|or)[\W_]++)?{label}(?:{_END}|(?=\s+(?:and|or|but)\b))", flags),
        named=re.compile(rf"{name}[:=]{open_}{label}", flags),
        asserted=re.compile(
            rf"{name}(?:is|remains|stays|must be|should be|would be)(?:[ \t]++|:){open_}{label}{_END}", flags
        ),
        near=re.compile(rf"(?<![^\W_])(?:{_NAMES})(?![^\W_])(?:\W{{0,200}}?|.{{0,40}}?){label}", flags | re.DOTALL),
        tagged=re.compile(rf"<\w++>\s*+{label}\s*+</", flags),
        alone=re.compile(rf"^[|#\-{edge}]*+{label}[.!,;|\-{edge}]*+$", flags),
        word=re.compile(label if names else rf"(?<!\w){label}", flags),
        ended=re.compile(r"(?!)(?P<label>)" if names is None else rf"{label}{_END}", flags),
    )


def _word(name: str) -> str:
    """Return the pattern of a label. Scripts without spaces, such as Chinese and Japanese, do not mark word ends."""
    pattern = r"\s+".join(map(re.escape, name.split()))
    return "".join(["" if name[0] >= _UNSPACED else r"(?<!\w)", pattern, "" if name[-1] >= _UNSPACED else r"(?!\w)"])


def _reasons(text: str) -> str:
    """Return the text without the answer lines; only from a ``Reasoning:`` line on, if there is one."""
    rest = _ANSWER_LINE.sub("", text).strip()
    start = _REASON_LINE.search(rest)
    return rest[start.end() :].strip() if start else rest
