"""Sentences that do not belong into an answer, or are missing from it, and references to the wrong passage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from jury_adapters.audit.operators.changed_words import negated
from jury_adapters.audit.operators.material import Material, Mutant
from jury_adapters.grounding.normalisation import content, looks_english, words


def add_foreign_sentence(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield answers with a sentence of another case that has a name or a number which this source does not have."""
    unknown = [one for one in material.foreign if not _says_nothing(one) and not _has_facts(material, one)]
    for sentence in random.sample(unknown, min(3, len(unknown))):
        place = random.choice([one.end for one in material.sentences] or [len(material.answer)])
        text = f"{material.answer[:place]} {sentence}{material.answer[place:]}"
        yield Mutant(text, f"added: {sentence}")


def _says_nothing(sentence: str) -> bool:
    """Return whether a sentence needs another one before it, or only addresses the reader: *I hope it helps*."""
    return _POINTS_BACK.search(sentence) is not None or _SMALL_TALK.search(sentence) is not None


def _has_facts(material: Material, sentence: str) -> bool:
    """Return whether the source has the names and numbers of a sentence.

    Names can be told from other words in English alone; in other languages, numbers decide.
    """
    english = material.is_english or looks_english(sentence)
    return material.has_facts(sentence) if english else material.has_number(sentence)


def add_contradiction(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield answers that end with the opposite of one of their own statements."""
    if not material.is_english:
        return
    for sentence in material.sentences:
        for start, end, new, _change in negated(sentence):
            opposite = sentence.text[:start] + new + sentence.text[end:]
            if opposite.endswith(".") and not _POINTS_BACK.search(opposite):
                yield Mutant(f"{material.answer.rstrip()} {opposite}", f"added: {opposite}")


def leave_out_sentence(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield answers without one sentence that has a name or a number; wrong only where completeness is judged."""
    if len(material.sentences) < 2:
        return
    for position, sentence in enumerate(material.sentences):
        following = material.sentences[position + 1 : position + 2]
        if any(_POINTS_BACK.search(one.text) for one in following) or not re.search(
            r"\d|\b[A-Z][a-z]+\b", sentence.text[1:]
        ):
            continue
        rest = material.answer[: sentence.start] + material.answer[sentence.end :].lstrip()
        yield Mutant(rest.strip(), f"left out: {sentence.text}")


def change_citation(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield answers in which one mark such as [1] names a passage that does not support its sentence."""
    passages = [set(content(words(context))) for context in material.case.contexts]
    for found in _MARK.finditer(material.answer):
        number = int(found[1])
        sentence = material.sentence_at(found.start())
        if sentence is None or not 1 <= number <= len(passages):
            continue
        said = set(content(words(_MARK.sub("", sentence.text))))
        known = len(said & passages[number - 1]) >= _LEAST_IN_COMMON  # else the words do not show what supports what
        others = [
            other for other, passage in enumerate(passages, 1)
            if known and other != number and len(said & passage) < 0.4 * max(1, len(said & passages[number - 1]))
        ]  # fmt: skip
        new = random.choice(others) if others else len(passages) + random.randint(1, 3)
        yield material.replaced(*found.span(), f"[{new}]", f"[{number}] -> [{new}]")


_LEAST_IN_COMMON = 2
_MARK = re.compile(r"\[(\d{1,2})\]")
_SMALL_TALK = re.compile(
    r"\b(?:I|I'm|I'll|me|thanks?|sorry|hope|helps?|great question|good question|regards|dear|hello)\b", re.IGNORECASE
)
_POINTS_BACK = re.compile(
    r"^(?:It|Its|They|Their|Them|He|His|She|Her|This|That|These|Those|Such|Both|However|Also|Then|There|Here|But|And|Or|"
    r"So|Therefore|Thus|In addition|Additionally|Moreover|Furthermore|For example|For instance|Otherwise|Instead|"
    r"After that|Neither|The (?:former|latter|same|other|second|third|last))\b|"
    r"\b(?:it|they|them|their|its|this|these|those|such|he|she|his|her|there)\b"
)
