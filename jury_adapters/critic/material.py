"""Answers in the text that is judged, which a reply may quote."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cached_property

from jury_adapters.critic.parse_text import answers_in, line_openings, named_in_squeezed, words_in
from jury_adapters.critic.thinking import THINKING_END
from jury_adapters.critic.vocabulary import Vocabulary


class Material:
    """Answers that the judged text itself states under a rubric.

    A reply that quotes such a text contains an answer that is not the reply's own. The text is searched on first use,
    and only replies that are not an answer as a whole need it.

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
        """The answers that the material names, or that have a line or a tag to themselves."""
        text = self._text if "<" not in self._text else f"{self._text}\n{_TAG.sub(_LINE, self._text)}"
        return frozenset(answers_in(text, self._vocabulary)).union(named_in_squeezed(self._text, self._vocabulary))

    def may_begin(self, answer: str, written: str) -> bool:
        """Return whether a quotation of the material may begin with this answer.

        Args:
            answer: the answer in the rubric's words.
            written: the same in the reply's own spelling.
        """
        if answer in self._openings:
            return True
        return re.search(rf"(?<![A-Za-z0-9]){re.escape(written)}(?![A-Za-z0-9])", self._text) is not None

    @cached_property
    def after_thinking(self) -> frozenset[str]:
        """The answers that a quotation may contain after a tag that ends a block of thinking."""
        end = THINKING_END.search(self._text)
        return frozenset(words_in(self._text[end.end() :], self._vocabulary)) if end else frozenset()

    @cached_property
    def _openings(self) -> frozenset[str]:
        """The answers of the lines' beginnings, and the words in the spelling of the rubric."""
        openings = line_openings(self._text, self._vocabulary)
        return frozenset(openings).union(words_in(self._text, self._vocabulary, as_written=True))

    @cached_property
    def _text(self) -> str:
        return "\n\n".join(map(_as_quoted, self._texts()))


_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"') | dict.fromkeys("\u2018\u2019\u201a", "'"))
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+")
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt/]))")
_TAG = re.compile(r"<[^<>\n]{1,60}>")
_LINE = "\n"
_CHARACTERS = {"n": "\n", "r": "\n", "t": "\t", "/": "/"}


def _as_quoted(text: str) -> str:
    """The text as a model may quote it: escapes resolved, typographic variants as plain characters."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).translate(_QUOTES))
    if "&" in text:
        text = html.unescape(text)
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1] or match[2], 16)) if match[3] is None else _CHARACTERS[match[3]]
