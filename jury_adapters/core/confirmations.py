"""Confirmations: parts of a tool's output that repeat the arguments of the call in any order and form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

GAP: Final = "…"
"""Mark that replaces a repeated text."""

PART: Final = re.compile(r"(?m)(?<=[.!?])(?<!^\d\.)(?<!^\d\d\.)\s+|\s*\n\s*")
"""Ends of sentences and lines; the number of a list item does not end one."""


DECIDING: Final = frozenset({
    "yes", "no", "not", "never", "none", "true", "false", "correct", "incorrect", "wrong", "invalid",
})  # fmt: skip
"""Words that answer a question, and so are new information even before a repeated text."""


class Token(NamedTuple):
    """Word or number of a text, in a normalised form for comparison."""

    form: str
    start: int
    end: int
    cut: bool
    """Whether dots follow the word, so that it may be the beginning of a longer one."""


def tokens_of(text: str) -> list[Token]:
    """Return the words and numbers of a text, without tags, punctuation, case and thousands separators.

    >>> [token.form for token in tokens_of("<b>Sold</b> for 70,000 francs, to a scr...")]
    ['sold', 'for', '70000', 'francs', 'to', 'a', 'scr']
    """
    return [
        Token(_form(found.group()), found.start(), found.end(), text.startswith(_DOTS, found.end()))
        for found in _TOKEN.finditer(text)
        if found.lastgroup == "token"
    ]


def without_confirmations(output: str, arguments: Mapping[str, object]) -> str:
    """Return an output with ``"…"`` in place of the parts that only confirm the arguments.

    A part is a sentence or a line, such as a row of a table. It is a confirmation if all of its numbers and words occur
    in the arguments, or are names of arguments, function words, units, or words such as "saved", "note" and "ok". In an
    output with other parts, it must also have such a word, or six words, or a number with two words or the name of its
    argument. If a part begins with such a word ("Saved note 12: ...") and has new content, only the new content is
    kept.

    Questions and search queries among the arguments are not statements, so a part in their words is an answer to them.

    >>> without_confirmations("Stored. year: 1925; price: 70,000 francs", {"year": 1925, "price": 70000})
    'Stored. …'
    >>> without_confirmations("The ferry stopped in 2018.", {"text": "When did the ferry stop?"})
    'The ferry stopped in 2018.'
    """
    said = _Said(arguments)
    if not said.anything:
        return output
    texts = PART.split(output)
    starts = [0, *(found.end() for found in PART.finditer(output))]
    parts = [_words_of(text) for text in texts]
    kinds = [said.kind_of(tokens, text) for tokens, text in zip(parts, texts, strict=True)]
    whole = "new" not in kinds and _is_enough([token for tokens in parts for token in tokens])
    gaps: list[tuple[int, int]] = []
    for tokens, kind, start in zip(parts, kinds, starts, strict=True):
        if kind == "echo" and (whole or said.stands_alone(tokens)):
            gaps.append((start + tokens[0].start, start + tokens[-1].end))
        elif kind == "new" and _begins_as_confirmation(tokens):
            gaps += [(start + first, start + last) for first, last in said.runs(tokens)]
    return with_gaps(output, gaps)


def answers_yes(output: str, arguments: Mapping[str, object]) -> bool:
    """Whether an output begins with a word for yes, and does not report that something was saved.

    >>> answers_yes("Yes, the library is open.", {"text": "the library is open"})
    True
    """
    tokens = tokens_of(PART.split(output.lstrip())[0])
    if not tokens or tokens[0].form not in _YES or any(token.form in _DONE for token in tokens):
        return False
    written = (token.form for text, _ in _texts(arguments, asks=False) for token in tokens_of(text))
    return tokens[0].form not in written


def is_nothing_new(text: str, arguments: Mapping[str, object]) -> bool:
    """Whether the rest of an output has only words of confirmations, names of arguments, and list numbers."""
    names = set(_names(arguments))
    return all(
        _adds_nothing(token, before, names)
        for part in PART.split(text)
        for before, token in _with_previous(_words_of(part))
    )


def with_gaps(text: str, gaps: Iterable[tuple[int, int]]) -> str:
    """Return a text with a mark in place of each span; overlapping spans get one mark."""
    made: list[str] = []
    done = 0
    for start, end in sorted(gaps):
        if start >= done:
            made += [text[done:start], GAP]
        done = max(done, end)
    return "".join([*made, text[done:]])


class _Said:
    """Words and numbers of a call's arguments."""

    __slots__ = ("_asked", "_names", "_stated")

    def __init__(self, arguments: Mapping[str, object]) -> None:
        self._names = set(_names(arguments))
        self._stated: set[str] = set()
        self._asked: set[str] = set()
        for text, asks in _texts(arguments, asks=False):
            for sentence in PART.split(text):
                kept = self._asked if asks or sentence.rstrip().endswith("?") else self._stated
                kept.update(token.form for token in tokens_of(sentence))

    @property
    def anything(self) -> bool:
        """Whether the arguments state anything."""
        return bool(self._stated)

    def kind_of(self, tokens: Sequence[Token], part: str) -> _Kind:
        """Return ``"new"`` for a part with new content, ``"echo"`` for one that only repeats, else ``"nothing"``."""
        if not tokens:
            return "nothing"
        asks = part.rstrip().endswith("?")
        for before, token in _with_previous(tokens):
            if not (_adds_nothing(token, before, self._names) or self._states(token, asks=asks)):
                return "new"
        if _RELATION.search(_TAG.sub("", part)):
            return "new"
        return "echo" if any(self._is_value(token, asks=asks) for token in tokens) else "nothing"

    def stands_alone(self, tokens: Sequence[Token]) -> bool:
        """Whether a part is an echo even in an output with new parts, since a page has the words of its query."""
        number = any(token.form[-1].isdigit() for token in tokens)
        named = any(token.form in self._names for token in tokens)
        confirms = any(token.form in _CONFIRMING for token in tokens)
        return confirms or len(tokens) >= _MANY or (number and (named or len(tokens) >= _SOME))

    def runs(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
        """Yield the spans of a part that the arguments state."""
        first = last = None
        for token in tokens:
            if self._is_value(token):
                first, last = (token.start if first is None else first), token.end
            elif first is not None and last is not None and token.form not in _FUNCTION:
                yield first, last
                first = last = None
        if first is not None and last is not None:
            yield first, last

    def _is_value(self, token: Token, *, asks: bool = False) -> bool:
        return token.form not in _FUNCTION and token.form not in _CONFIRMING and self._states(token, asks=asks)

    def _states(self, token: Token, *, asks: bool = False) -> bool:
        stated = self._stated | self._asked if asks else self._stated
        if token.form in stated or (" " in token.form and all(one in stated for one in token.form.split())):
            return True
        return token.form.replace(" ", "") in stated or (
            token.cut and any(word.startswith(token.form) for word in stated)
        )


def _words_of(part: str) -> list[Token]:
    """Return the words and numbers of a part, without the number of a list item."""
    return tokens_of(part)[1:] if _ITEM.match(part) else tokens_of(part)


def _is_enough(tokens: Sequence[Token]) -> bool:
    """Whether an output is long enough to be an echo as a whole; a short one may be a choice from the arguments."""
    return len(tokens) >= _SOME or any(token.form in _CONFIRMING for token in tokens)


def _begins_as_confirmation(tokens: Sequence[Token]) -> bool:
    for token in tokens[:_FEW]:
        if token.form in _DONE:
            return True
        if token.form not in _FUNCTION and token.form not in _CONFIRMING and not token.form[-1].isdigit():
            return False
    return False


def _adds_nothing(token: Token, before: Token | None, names: Iterable[str]) -> bool:
    if token.form in _FUNCTION or token.form in _CONFIRMING or token.form in names:
        return True
    if token.form == "true":  # {"ok": true}
        return before is not None and before.form in _CONFIRMING
    return token.form in _UNITS and (before is None or before.form[-1].isdigit())


def _with_previous(tokens: Sequence[Token]) -> Iterator[tuple[Token | None, Token]]:
    return zip([None, *tokens], tokens, strict=False)


def _names(value: object) -> Iterator[str]:
    """Yield the words of all names of arguments."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            words = [word.casefold() for word in _NAME.findall(str(name))]
            yield from (*words, "".join(words))
            yield from _names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)


def _texts(value: object, *, asks: bool) -> Iterator[tuple[str, bool]]:
    """Yield every text and number in a value, and whether it is a question or a search query."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            words = _NAME.findall(str(name).casefold())
            yield from _texts(inner, asks=asks or bool(words and words[-1] in _REQUESTS))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, asks=asks)
    elif isinstance(value, str | int | float):
        yield str(value), asks


def _form(found: str) -> str:
    if not found[-1].isdigit():
        return found.casefold()
    number = _ZEROS.sub("", found.replace("−", "-"))  # noqa: RUF001
    if not _THOUSANDS.fullmatch(number):
        return number
    whole, point, rest = number.partition(".")
    return _SEPARATOR.sub(lambda found: " " if found.group() == " " else "", whole) + point + rest


_Kind: TypeAlias = Literal["new", "echo", "nothing"]
_SOME: Final = 3
_FEW: Final = 4
_MANY: Final = 6
_DOTS: Final = ("...", "…", "[...]", "[…]")
_TAGS: Final = r"</?[a-zA-Z][^<>]{0,200}>|&\w{1,10};|&#\w{1,8};|\[[ xX]\]"
_TAG: Final = re.compile(_TAGS)
_THOUSANDS: Final = re.compile(r"-?\d{1,3}(?:[ ,'’\u00a0\u202f]\d{3})+(?:\.\d+)?")  # noqa: RUF001
_SEPARATOR: Final = re.compile(r"[ ,'’\u00a0\u202f]")  # noqa: RUF001
_ZEROS: Final = re.compile(r"\.0+$")
_TOKEN: Final = re.compile(
    rf"{_TAGS}|(?P<token>(?:(?<![\w.,)])[-−])?"  # noqa: RUF001
    r"(?:(?<!\d)\d{1,3}(?:[ ,'’\u00a0\u202f]\d{3})+(?:\.\d+)?(?![\d:])|\d+(?:[.,:]\d+)*)"  # noqa: RUF001
    r"|[^\W\d_]+)"
)
_NAME: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")
_ITEM: Final = re.compile(r"\s*\d{1,2}[.)]\s+\S")
_RELATION: Final = re.compile(r"\d\)?\s*[=<>≤≥≠]+\s*-?\d")  # a calculation or a comparison

_REQUESTS: Final = frozenset({
    "query", "queries", "q", "question", "questions", "search", "searches", "keyword", "keywords",
})  # fmt: skip
_YES: Final = frozenset({"yes", "true", "correct"})
_DONE: Final = frozenset({
    "recorded", "saved", "stored", "noted", "logged", "added", "inserted", "written", "wrote", "created", "updated",
    "received", "registered", "submitted", "kept", "remembered", "appended", "captured", "entered", "memorised",
    "memorized", "ok", "okay", "done", "success", "successful", "successfully", "completed", "acknowledged",
})  # fmt: skip
_CONFIRMING: Final = _DONE | {
    "note", "notes", "entry", "entries", "record", "records", "item", "items", "row", "rows", "fact", "facts", "data",
    "value", "values", "field", "fields", "memory", "database", "list", "checklist", "todo", "todos", "table", "status",
    "result", "message", "response", "text", "content", "information", "details", "id",
}  # fmt: skip
_FUNCTION: Final = frozenset({
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "i", "we", "you", "he", "she", "they", "my", "our",
    "your", "his", "her", "their", "s", "ve", "of", "to", "in", "on", "at", "for", "with", "by", "from", "into", "as",
    "under", "about", "via", "per", "and", "or", "is", "are", "was", "were", "be", "been", "being", "am", "has", "have",
    "had", "do", "does", "did", "will", "would", "which", "who", "whom", "there", "here", "so", "also", "then",
    "following", "please", "thanks", "thank",
})  # fmt: skip
_UNITS: Final = frozenset({
    "franc", "francs", "euro", "euros", "dollar", "dollars", "pound", "pounds", "cent", "cents", "yen", "mark", "marks",
    "crown", "crowns", "krone", "kroner", "ruble", "rubles", "rupee", "rupees", "usd", "eur", "gbp", "chf", "jpy",
    "percent", "km", "m", "cm", "mm", "mi", "mile", "miles", "meter", "meters", "metre", "metres", "kilometre",
    "kilometres", "kilometer", "kilometers", "ft", "feet", "kg", "g", "kilo", "kilos", "ton", "tons", "tonnes", "l",
    "litre", "litres", "liter", "liters", "h", "hour", "hours", "min", "minute", "minutes", "second", "seconds", "day",
    "days", "week", "weeks", "month", "months", "year", "years", "c", "f", "people", "pieces",
})  # fmt: skip
