"""Spelling of words before accents and upper case were cut, so that findings show words as they were written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, wraps
from typing import TypeVar

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.grounding.normalisation import STOPWORDS, tidy

J = TypeVar("J", bound=Judge)


def shows_words_as_written(assess: Callable[[J, Case], Judgment]) -> Callable[[J, Case], Judgment]:
    """Make the findings and the reason of a method ``assess`` show the words as answer, question and contexts do."""

    @wraps(assess)
    def shown(self: J, case: Case) -> Judgment:
        judgment = assess(self, case)
        originals = (case.answer or "", case.question or "", *case.contexts)
        if all(map(str.isascii, originals)):
            return judgment
        findings = tuple(
            replace(
                finding,
                name=as_written(finding.name, *originals, kept=STOPWORDS),
                detail=as_written(finding.detail, *originals, kept=STOPWORDS),
                evidence=as_written(finding.evidence, *originals),
            )
            for finding in judgment.findings
        )
        reasoning = as_written(judgment.reasoning, *originals, kept=STOPWORDS)
        return replace(judgment, findings=findings, reasoning=reasoning)

    return shown


def as_written(text: str, *originals: str, kept: frozenset[str] = frozenset()) -> str:
    """Return a text of tidied words with those words as the originals write them.

    A word that they write both with and without accents, such as "fur" and "für", stays as it is.

    Args:
        text: the text.
        originals: texts that have its words.
        kept: words that stay, because they are words of a message and not of the originals.

    >>> as_written("fullen, heissen, the Ol", "Öl in den heißen Motor füllen")
    'füllen, heißen, the Öl'
    """
    spellings = _spellings(originals)
    return _WORD.sub(lambda word: word[0] if word[0] in kept else spellings.get(word[0], word[0]), text)


@lru_cache(maxsize=4)  # several jurors ask for the same case, one after the other
def _spellings(originals: tuple[str, ...]) -> dict[str, str]:
    """Return the words that are changed, by their tidied forms, also in lower case."""
    found: dict[str, str] = {}
    plain = set()
    for original in originals:
        for word in dict.fromkeys(_WORD.findall(unicodedata.normalize("NFC", original))):
            tidied = tidy(word)
            if tidied == word and tidied.casefold() == word.lower():
                plain.add(word.casefold())
            else:
                found |= {tidied: word, tidied.casefold(): word.lower()}
    return {tidied: word for tidied, word in found.items() if tidied.casefold() not in plain}


_WORD = re.compile(r"[^\W\d_]+")
