"""Negations of English and other European languages, for all that compares whether two texts have one.

Words are compared without accents and case. What is a negation in one language and another word in another ("no", "ne",
"pas") counts only in a form that is a negation: a needless doubt is a smaller error than a negation that is overlooked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final


def plain(text: str) -> str:
    """Return a text in lower case and without accents, as the words of these lists are compared."""
    text = text.casefold()
    if text.isascii():
        return text
    return _MARKS.sub("", unicodedata.normalize("NFKD", text.translate(_LETTERS)))


def word_set(*groups: str) -> frozenset[str]:
    """Return the words of some texts, without accents and case."""
    return frozenset(plain(" ".join(groups)).split())


_MARKS: Final = re.compile("[\u0300-\u036f]")
_LETTERS: Final = str.maketrans({"\u2019": "'", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})

_WORDS: Final = {
    "English": "not no none never neither nor nobody nothing nowhere without cannot hardly scarcely barely",
    "German": "nicht kein keine keinem keinen keiner keines nie niemals niemand nichts nirgends nirgendwo ohne weder "
    "keinesfalls keineswegs keinerlei mitnichten nimmer kaum",
    "French": "jamais aucun aucune aucunement nullement rien sans",
    "Spanish": "no nunca jamas ningun ninguno ninguna nadie nada sin tampoco apenas",
    "Italian": "non nessun nessuno nessuna niente nulla neanche nemmeno neppure senza",
    "Portuguese": "nao nunca jamais nenhum nenhuma ninguem nada nem sem tampouco",
    "Dutch": "niet geen geenszins nooit niemand niets nergens nauwelijks zonder",
    "Swedish": "inte icke ej aldrig ingen inget inga ingenting ingenstans knappt utan",
    "Danish": "ikke aldrig ingen intet ingenting ingensteds naeppe uden",
    "Norwegian": "ikke ikkje aldri ingen intet ingenting neppe uten utan",
    "Polish": "nie nigdy nigdzie nikt nic zaden zadna zadne ledwie bez",
    "Russian": "не нет ни никогда нигде никто ничего нельзя никак едва без",
    "Ukrainian": "не ні ніколи ніде ніхто нічого немає ледве без",
    "Greek": "δεν μη μην οχι ποτε πουθενα κανεις καμια κανενα τιποτα χωρις",
}
# What is forbidden is not allowed; what is not forbidden is not negated.
_FORBIDDEN: Final = {
    "English": "forbidden prohibited banned disallowed impermissible",
    "German": "verboten verbotene verbotenen untersagt unzulassig",
    "French": "interdit interdite interdits interdites defendu defendue prohibe prohibee",
    "Spanish": "prohibido prohibida prohibidos prohibidas",
    "Italian": "vietato vietata vietati vietate proibito proibita",
    "Portuguese": "proibido proibida proibidos proibidas vedado vedada",
    "Dutch": "verboden",
    "Swedish": "forbjudet forbjuden forbjudna",
    "Danish": "forbudt forbudte",
    "Norwegian": "forbudt forbudte",
    "Polish": "zabronione zabroniony zabroniona zakazane zakazany zakazana wzbronione wzbroniony",
    "Russian": "запрещено запрещен запрещена запрещены запрещается воспрещается",
    "Ukrainian": "заборонено заборонений заборонена забороняється",
    "Greek": "απαγορευεται απαγορευονται απαγορευμενο",
}
# "ne" is Italian for "of it" and "pas" Dutch for "only", so the one counts with the other, or after a French verb.
# "ne ... que" is "only".
_FRENCH: Final = (
    r"(?:ne |n')(?:[\w'-]{1,30} ){0,5}?(?:pas|plus|point|guere|personne)(?!\w)"
    r"|(?:est|sont|etait|sera|a|ont|peut|peuvent|doit|doivent|faut|va|vont) pas(?!\w)"
    r"|^pas (?=d(?:e |'))"
)
# "no" is Portuguese for "in the"; these words show that a text is Portuguese.
_IN_PORTUGUESE: Final = re.compile(r"(?<!\w)(?:nao|nenhum|nenhuma|ninguem|nem|sem|uma|em|ao|aos|pelo|pela|foi)(?!\w)")
_IN_THE: Final = "no (?:dia|ano|mes|fim|caso|prazo|valor|inicio)"
_PROHIBITIONS: Final = word_set(*_FORBIDDEN.values())
_ANYWHERE: Final = (word_set(*_WORDS.values()) | _PROHIBITIONS) - {"no"}
_OTHERS: Final = rf"(?:{'|'.join(sorted(_ANYWHERE))}|\w+n't)(?!\w)|{_FRENCH}"
_NEGATION: Final = re.compile(rf"(?<!\w)(?:(?!{_IN_THE}(?!\w))no(?!\w)|{_OTHERS})")
_NEGATION_NOT_NO: Final = re.compile(rf"(?<!\w)(?:{_OTHERS})")
# "not forbidden", "nicht mehr verboten", "n'est pas interdit"
_ALLOWED: Final = re.compile(
    rf"(?<!\w)(?:{_FRENCH}|n't|\w+n't|{'|'.join(sorted(_ANYWHERE - _PROHIBITIONS))}|no)(?!\w)"
    rf"(?: [\w']{{1,30}}){{0,2}}? (?:{'|'.join(sorted(_PROHIBITIONS))})(?!\w)"
)
# The opening "No, ..." answers a question and does not negate the text after it.
_ANSWERS_NO: Final = re.compile(r"\W*(?:no|non|nao|nie|нет|ні|οχι)\b[,.:;!]")


def find_negation(text: str, near: str = "") -> str:
    """Return the first negation of a text, without accents and in lower case, or "" if it has none.

    A prohibition is one ("forbidden"), and what is "not forbidden" is not negated.

    Args:
        text: the text.
        near: the text that it is compared with, which shows its language too.

    >>> find_negation("The museum isn't open."), find_negation("La saison ne commence pas en mai.")
    ("isn't", 'ne commence pas')
    >>> find_negation("A época começa no dia 1."), find_negation("No, the museum is open.")
    ('', '')
    """
    return next(_negations(text, near), "")


def count_negations(text: str, near: str = "") -> int:
    """Return the number of negations of a text; the arguments are as in :func:`find_negation`.

    >>> count_negations("The pump cannot be opened without a key.")
    2
    """
    return sum(1 for _ in _negations(text, near))


def _negations(text: str, near: str) -> Iterator[str]:
    folded = _ANSWERS_NO.sub("", plain(text), count=1)
    portuguese = _IN_PORTUGUESE.search(folded) or _IN_PORTUGUESE.search(plain(near))
    found = (_NEGATION_NOT_NO if portuguese else _NEGATION).finditer(_ALLOWED.sub(" ", folded))
    return (one[0].strip() for one in found)


def negates(word: str) -> bool:
    """Return whether a word may be a negation or a part of one, in any of the languages.

    >>> [word for word in ("nicht", "n'est", "pas", "open") if negates(word)]
    ['nicht', "n'est", 'pas']
    """
    folded = plain(word)
    return folded in _ANYWHERE or folded in _PARTS or folded.startswith("n'") or folded.endswith("n't")


_PARTS: Final = frozenset(("no", "ne", "pas"))
