"""Whether an answer is in another language than English or its contexts: function words, accents, scripts, question."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from jury_adapters.grounding.normalisation import STOPWORDS, looks_english, sentences, tidy, words


def is_foreign(answer: str, question: str = "", known: Callable[[str], bool] | None = None) -> bool:
    """Return whether an answer is in another language than English.

    It is, if it has two foreign function words or accented words, and more of them than English ones; one is enough
    among three words or more in lower case of which none is English: a function word, or a word of the source. If the
    question is in another language, the answer is too, unless more of its words are English. Of an answer without any
    such word, such as a list of names, the question decides.

    Args:
        answer: the answer.
        question: its question.
        known: whether a word in lower case is in the English source.

    >>> is_foreign("Bei Sturm sind es 500 Euro."), is_foreign("Vincent van Gogh, Los Angeles")
    (True, False)
    >>> is_foreign("250 Euro", question="Wie hoch ist die Selbstbeteiligung?")
    True
    """
    found = _evidence(answer)
    if found.is_foreign:
        return True
    english = set(found.english)
    if known is not None:
        english |= {word for word in found.lower - found.foreign if known(word)}
    if found.foreign - _ALSO_ENGLISH and not english and len(found.lower) >= 3:
        return True
    if not question or not _evidence(question).is_foreign:
        return False
    return len(found.foreign) >= len(english - _SHARED)


def differs(answer: str, contexts: str, *, question: str, english: bool, known: Callable[[str], bool]) -> bool:
    """Return whether a text is in another language than its contexts, as far as scripts and function words show.

    It is, if most letters are of another script, if contexts and question are English and it is not, or if the contexts
    are not and it is. Two other languages in one script, such as German and French, cannot be told apart.

    Args:
        answer: the text.
        contexts: its contexts.
        question: its question, in whose language a short answer is.
        english: whether contexts and question read as English prose.
        known: whether a word in lower case is in the contexts.
    """
    contexts = contexts[:_LONGEST]
    here, there = script(answer), script(contexts)
    if here and there and here != there:
        return True
    if english:
        return is_foreign(answer, question, known)
    return _evidence(contexts).is_foreign and _is_english(answer)


def reads_english(contexts: str, question: str = "") -> bool:
    """Return whether contexts and question read as English prose; not if the contexts are in another language."""
    if not looks_english(f"{contexts[:_LONGEST]}\n{question}") or script(contexts) not in ("", "latin"):
        return False
    return looks_english(contexts) or not _evidence(contexts[:_LONGEST]).is_foreign


def _is_english(text: str) -> bool:
    function_words = set(words(tidy(text[:_LONGEST]))) & STOPWORDS
    return bool(function_words - _SHARED) and looks_english(text) and not _evidence(text).foreign


def in_other_script(text: str) -> bool:
    """Return whether most letters of a text are not Latin.

    >>> in_other_script("Это не Anna."), in_other_script("Zoë")
    (True, False)
    """
    return script(text) not in ("", "latin")


def script(text: str) -> str:
    """Return the script of most letters in the first 2,000 characters of a text, lower case; "" without letters.

    Chinese characters and kana are one script, and count twice, because words have few of them.

    >>> [script(text) for text in ("Zoë", "Это не Anna.", "設定 > Network を開く", "12")]
    ['latin', 'cyrillic', 'han', '']
    """
    return _script(text[:_LONGEST])


@lru_cache(maxsize=16)  # several jurors ask for the same case, one after the other
def _script(text: str) -> str:
    found: Counter[str] = Counter()
    for char, number in Counter(tidy(text)).items():
        if char.isascii():
            found["latin"] += number * char.isalpha()
        elif char.isalpha():
            name = unicodedata.name(char, "").partition(" ")[0].lower()
            if name in ("cjk", "hiragana", "katakana", "ideographic", "katakana-hiragana"):
                found["han"] += 2 * number
            else:
                found[name] += number
    name, count = max(found.items(), key=lambda entry: entry[1], default=("", 0))
    return name if count else ""


class _Evidence(NamedTuple):
    """Words of a text, each once.

    Attributes:
        foreign: foreign function words, and words in lower case with an accent.
        english: English function words in lower case.
        lower: all words in lower case.
    """

    foreign: frozenset[str]
    english: frozenset[str]
    lower: frozenset[str]

    @property
    def is_foreign(self) -> bool:
        return len(self.foreign) >= 2 and len(self.foreign) > len(self.english)


@lru_cache(maxsize=8)  # several jurors ask for the same case, one after the other
def _evidence(text: str) -> _Evidence:
    """Return the evidence in the first 2,000 characters of a text."""
    text = unicodedata.normalize("NFC", text[:_LONGEST])
    plain = _PARTICLES.sub("", tidy(text))
    lower = frozenset(_LOWER.findall(plain))
    first = {match[1].lower() for line in sentences(plain) if (match := _FIRST.match(line))}
    accented = {word for found in _ACCENTED.findall(text) if found[0].islower() and (word := _unaccented(found))}
    return _Evidence((lower & _FOREIGN) | (first & _STARTS) | (accented - _LOANS), lower & STOPWORDS, lower)


def _unaccented(word: str) -> str:
    """Return a Latin word without its accents; empty for a word without accents, or in another script."""
    plain = "" if word.isascii() else tidy(word)
    return plain if plain.isascii() else ""


_LONGEST = 2000
_LOWER = re.compile(r"(?<![\w.@/-])[a-z]+(?![\w@/-]|\.\w)")  # no part of an address or a name of a file
_ACCENTED = re.compile(r"(?<!\w)(?![A-Z])[^\W\d_]+(?!\w)")
_PARTICLES = re.compile(r"\b(?:van|von|de) (?:der|den|dem|las|los) ")  # of names
_FIRST = re.compile(r"[^\w]{0,4}([A-Z][a-z]*)\b")
# Of German, French, Spanish, Portuguese, Italian, Dutch and the Scandinavian languages, without accents. Words that are
# English too, or parts of names such as "da Vinci", are not among them.
_FOREIGN_WORDS = """
    aber als auch auf aus bei beim bereits bis damit dann darf das dass dem den denn der des die diese dieser dieses
    durch ein eine einem einen einer eines es fur gegen gilt haben ich ihnen ihr ihre ihrem ihren ihrer im ist ja jede
    jeder jedes je kann kein keine keinen leider mehr mein meine meinem meinen meiner mit muss nach nein nicht noch nur
    oder ohne sehr seit sich sie sind sowie uber um und unser unsere vom von wann warum welche welcher welches wenn
    werden wie wir wird wurde wurden zum zur zwischen
    au aussi aux avec ces cette combien dans doit doivent elle est et etre il ils je les leur mais ne nous ont ou par
    pas pour pourquoi quand que quel quelle quelles quels qui sans ses sont sur une vos votre vous
    como con cual cuando cuanto cuantos debe deben desde donde ella es esta este hasta las los muy para pero por porque
    que se sin sobre su sus tambien tiene un una y
    ao com dos ele foi mais muito nao os pela pelo qual quanto sao seu sua tem um uma voce
    alla anche che degli dei della delle deve devono di dove essere gli nel nella non perche piu puo quale quando questa
    questo sono
    aan bij dat deze dit een geen heeft het maar moet naar niet ook voor waar wanneer wat welke worden wordt zijn
    att av det eller ett for fra hvad hvor ikke inte jag med och og pa som skal till til vad ved
"""
_FOREIGN = frozenset(_FOREIGN_WORDS.split()) - STOPWORDS
# Capitalised words that begin a sentence, which do not begin names either.
_START_WORDS = """
    auf aus bei bis das dem der die dies diese dieser dieses ein eine einen er es fur gilt ich ihr ihre im ist ja je
    kann kein keine laut mit nach nein nicht seit sie sind vom wann warum was welche welcher welches wenn wer wie wir
    wird wo zum zur
    avec cette ces combien dans elle il ils les nous oui pour pourquoi quand quel quelle quels quelles selon un une
    votre vous
    con cual cuando cuanto donde es para por segun si su una usted
    nao qual quanto quando sim uma voce
    anche gli perche quale
    bij deze dit een het ja niet voor waar wanneer wat welke
    det hvad hvor ja nej vad
"""
_STARTS = frozenset(_START_WORDS.split())
_AMBIGUOUS_WORDS = """
    aux com con den di die dies dos dove et fur gilt non pas per pour sin sur till
"""
_ALSO_ENGLISH = frozenset(_AMBIGUOUS_WORDS.split())
"""Foreign function words that English texts may have too."""
_SHARED_WORDS = """
    a also am an as at do had has in is it man me no of on once or over per so we will was
"""
_SHARED = frozenset(_SHARED_WORDS.split())
"""English function words that are words of other languages too."""
_LOAN_WORDS = """
    a cafe cafes cliche cliches creme crepe decor deja expose facade facades fiance fiancee jalapeno melee naive naively
    naivete pate pinata protege puree regime resume resumes role saute senor senora soiree souffle touche uber
"""
_LOANS = frozenset(_LOAN_WORDS.split())
"""Accented words that are English."""
