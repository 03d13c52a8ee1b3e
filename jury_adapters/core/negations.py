"""Negations of English and other European languages, for all that compares whether two texts have one.

Words are compared without accents and case. What is a negation in one language and another word in another ("no", "ne",
"pas") counts only in a form that is a negation: a needless doubt is a smaller error than a negation that is overlooked.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORDS: Final = {
    "English": "not no none never neither nor nobody nothing without cannot",
    "German": "nicht kein keine keinem keinen keiner keines nie niemals niemand nichts ohne weder nirgends",
    "French": "jamais aucun aucune sans rien",
    "Spanish": "no nunca jamas ningun ninguno ninguna nadie nada sin tampoco",
    "Italian": "non nessun nessuno nessuna niente nulla senza",
    "Portuguese": "nao nunca jamais nenhum nenhuma ninguem nada nem sem",
    "Dutch": "niet geen nooit niemand niets nergens zonder",
    "Swedish": "inte icke aldrig ingen inget inga utan",
    "Danish": "ikke aldrig ingen intet uden",
    "Norwegian": "ikke ikkje aldri ingen ingenting uten utan",
    "Polish": "nie nigdy nikt zaden zadna zadne bez",
    "Russian": "не нет ни никогда никто ничего нельзя без",
    "Ukrainian": "не ні ніколи ніхто нічого немає без",
    "Greek": "δεν μη μην οχι χωρις κανεις",
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
_ANYWHERE: Final = frozenset(" ".join(_WORDS.values()).split()) - {"no"}
_OTHERS: Final = rf"(?:{'|'.join(sorted(_ANYWHERE))}|\w+n't)(?!\w)|{_FRENCH}"
_NEGATION: Final = re.compile(rf"(?<!\w)(?:(?!{_IN_THE}(?!\w))no(?!\w)|{_OTHERS})")
_NEGATION_NOT_NO: Final = re.compile(rf"(?<!\w)(?:{_OTHERS})")
# The opening "No, ..." answers a question and does not negate the text after it.
_ANSWERS_NO: Final = re.compile(r"\W*(?:no|non|nao|nie|нет|ні|οχι)\b[,.:;!]")
_MARKS: Final = re.compile("[\u0300-\u036f]")


def find_negation(text: str, near: str = "") -> str:
    """Return the first negation of a text, without accents and in lower case, or "" if it has none.

    Args:
        text: the text.
        near: the text that it is compared with, which shows its language too.

    >>> find_negation("The museum isn't open."), find_negation("La saison ne commence pas en mai.")
    ("isn't", 'ne commence pas')
    >>> find_negation("A época começa no dia 1."), find_negation("No, the museum is open.")
    ('', '')
    """
    plain = _ANSWERS_NO.sub("", _plain(text), count=1)
    portuguese = _IN_PORTUGUESE.search(plain) or _IN_PORTUGUESE.search(_plain(near))
    found = (_NEGATION_NOT_NO if portuguese else _NEGATION).search(plain)
    return found[0].strip() if found else ""


def negates(word: str) -> bool:
    """Return whether a word may be a negation or a part of one, in any of the languages.

    >>> [word for word in ("nicht", "n'est", "pas", "open") if negates(word)]
    ['nicht', "n'est", 'pas']
    """
    plain = _plain(word)
    return plain in _ANYWHERE or plain in _PARTS or plain.startswith("n'") or plain.endswith("n't")


def _plain(text: str) -> str:
    text = text.casefold()
    if text.isascii():
        return text
    return _MARKS.sub("", unicodedata.normalize("NFKD", text.replace("\u2019", "'")))


_PARTS: Final = frozenset(("no", "ne", "pas"))
