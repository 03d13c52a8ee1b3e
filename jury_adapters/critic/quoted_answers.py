"""Answers in the judged text, which a reply may quote."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from urllib.parse import unquote

from jury_adapters.core.hidden_characters import without_hidden
from jury_adapters.critic.answers import Vocabulary
from jury_adapters.critic.parse_text import answers_in, line_openings, named_in_squeezed, words_in
from jury_adapters.critic.thinking import after_mark


class Material:
    """Answers that the judged text itself states under a rubric.

    A reply that quotes the text contains an answer that is not the reply's own. The text is searched on first use,
    which happens only for replies that contain more than their answer.

    Args:
        texts: returns the texts that the prompt shows as material.
        vocabulary: the answers that the rubric allows.

    >>> from jury_adapters import Labels
    >>> labels = Labels.of(passing=["YES"], failing=["NO"])
    >>> sorted(Material(lambda: ['It ends with {"answer": "YES"}.'], labels).answers)
    ['YES']
    """

    def __init__(self, texts: Callable[[], Iterable[str]], vocabulary: Vocabulary) -> None:
        self._texts = texts
        self._vocabulary = vocabulary

    @cached_property
    def answers(self) -> frozenset[str]:
        """Answers that the material names, or that are alone on a line or in a tag."""
        found = set(named_in_squeezed(self._text, self._vocabulary))
        for text in _without_markup(self._text):
            found.update(answers_in(text, self._vocabulary))
        return frozenset(found)

    def may_begin(self, answer: str, written: str) -> bool:
        """Return whether a quotation of the material may begin with this answer.

        Args:
            answer: the answer as the rubric spells it.
            written: the answer as the reply spells it.
        """
        if answer in self._openings:
            return True
        spaced = r"[\W_]{0,2}+".join(map(re.escape, "".join(written.split())))
        return re.search(rf"(?<![A-Za-z0-9]){spaced}(?![A-Za-z0-9])", self._text, re.IGNORECASE) is not None

    def after_mark(self, name: str) -> frozenset[str]:
        """Return the answers that a quotation may contain after a mark that ends a block of thinking."""
        return frozenset(words_in(after_mark(name, self._text), self._vocabulary))

    @cached_property
    def _openings(self) -> frozenset[str]:
        """Answers with which lines begin, and words with the rubric's spelling."""
        openings = line_openings(self._text, self._vocabulary)
        return frozenset(openings).union(words_in(self._text, self._vocabulary, as_written=True))

    @cached_property
    def _text(self) -> str:
        return "\n\n".join(map(_as_quoted, self._texts()))


_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"') | dict.fromkeys("\u2018\u2019\u201a", "'"))
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|([nrt/]))")
_TAG = re.compile(r"<!--(?:[^<-]|-(?!->))*+-->|<[^<>]{1,5000}+>")
_LINK = re.compile(r"!?\[([^\[\]]{1,300}+)\](?:\([^()]{0,5000}+\)|\[[^\[\]]{0,100}+\])")
_COMMAND = re.compile(r"\\[A-Za-z]{2,30}+[ \t]*+(?=\{)|\\")
_ACCENT = re.compile("[\u0300-\u036f\u0483-\u0489\u20d0-\u20ff]+")
_CHARACTERS = {"n": "\n", "r": "\n", "t": "\t", "/": "/"}
_MOST_NESTED = 3


def _as_quoted(text: str) -> str:
    """Return the text as a model may quote it, with escapes resolved and typographic variants as plain characters."""
    text = without_hidden(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    for _ in range(_MOST_NESTED):
        before, text = text, html.unescape(text) if "&" in text else text
        if text == before:
            break
    if "\\" not in text:
        return text
    return f"{without_hidden(_ESCAPE.sub(_unescaped, text))}\n\n{_COMMAND.sub('', text)}"


def _unescaped(match: re.Match[str]) -> str:
    if match[4] is not None:
        return _CHARACTERS[match[4]]
    return chr(int(match[3], 8) if match[3] else int(match[1] or match[2], 16))


def _without_markup(text: str) -> Iterator[str]:
    """Yield the text, and each different form of it without markup."""
    yield text
    forms = [_TAG.sub("\n", text), _TAG.sub("", text)] if "<" in text else []
    if "](" in text or "][" in text:
        forms.append(_LINK.sub(r"\1", text))
    if "%" in text:
        forms.append(unquote(text))
    if not text.isascii():
        forms.append(_ACCENT.sub("", unicodedata.normalize("NFD", text)))
    yield from dict.fromkeys(form for form in forms if form != text)
