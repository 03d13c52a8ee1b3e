"""Words with the signs that belong to them, and where clauses end: "-5", "40€", "km/h", "vice-president".

Sentences with the same words can say different things if a sign differs.
"""

from __future__ import annotations

import re

from jury_adapters.grounding.normalisation import join_numerals, spaced_words

SOFT, HARD = ",", "|"
"""Ends of a clause: a comma, bracket or dash; and a semicolon or colon, the edge of a cell, the end of a sentence."""


def exact_words(text: str) -> list[str]:
    """Return the words of a tidied sentence with their signs, without articles.

    The sign of a currency comes after its number, wherever it was written. A compound, a fraction and a possessive are
    one word.

    >>> exact_words("The king's son-in-law paid > € 40, 5 % more than the -5 of a 2/3 majority.")
    ["king's", 'son-in-law', 'paid', '>40€', '5%', 'more', 'than', '-5', 'of', '2/3', 'majority']
    """
    return [word for word in exact_clauses(text) if word not in (SOFT, HARD)]


def exact_clauses(text: str) -> list[str]:
    """Return the words as :func:`exact_words` does, and :data:`SOFT` or :data:`HARD` wherever a clause ends.

    >>> exact_clauses("In Rome, Ann left; Bo stayed.")
    ['in', 'rome', ',', 'ann', 'left', '|', 'bo', 'stayed']
    """
    text = join_numerals(text.casefold())
    for pattern, replacement in _ATTACHED:
        text = pattern.sub(replacement, text)
    found = (word.translate(_DECODED) for word in _WORD.findall(spaced_words(text)))
    return [word for word in found if word not in _ARTICLES]


_ARTICLES = frozenset(("a", "an", "the"))
# While words are cut, signs are letters of a script that no text mixes with its words: Old Italic.
_SIGNS = "-+%‰€$£¥₹°<>≤≥±~≈/'#^," + HARD
_LETTERS = {sign: chr(0x10300 + number) for number, sign in enumerate(_SIGNS)}
_DECODED = {ord(letter): sign for sign, letter in _LETTERS.items()}
_ANY_SIGN = f"[{''.join(_LETTERS.values())}]"
_MINUS, _NUMBER = _LETTERS["-"], r"\d(?:[\d.,']{0,40}\d)?"


def _as_letter(match: re.Match[str]) -> str:
    return "".join(_LETTERS[char] for char in match[0] if char != " ")


def _after_number(match: re.Match[str]) -> str:
    return f"{match['number']}{_LETTERS[match['sign']]}"


def _as_word(match: re.Match[str]) -> str:
    return f" {_LETTERS[match[0]]} "


def _as_clause_end(match: re.Match[str]) -> str:
    return f" {_LETTERS[HARD if match.lastgroup == 'hard' else SOFT]} "


_ATTACHED = (
    (re.compile(r"(?P<hard>(?<=°[cf])\.(?=\s))"), _as_clause_end),  # which is no initial, as in "J. Doe"
    (re.compile("<="), "≤"),
    (re.compile(">="), "≥"),
    # Not of a range such as "9 -17", and not of a compound.
    (re.compile(r"(?<![\w.])\.(?=\d)"), "0."),
    (re.compile(r"(?<![\w.,)\]%'\"-])(?<!\d )-(?=[$€£¥₹]? ?\d)"), _as_letter),
    (re.compile(rf"(?P<sign>[$€£¥₹]) ?(?P<number>{_MINUS}?{_NUMBER})"), _after_number),
    (re.compile(rf"[<>≤≥±~≈+] ?(?={_MINUS}?\d)"), _as_letter),
    (re.compile(r"(?<=\d) ?[%‰°€$£¥₹](?!\d)"), _as_letter),
    (re.compile(r"(?<=[^\W_])[+#]{1,2}(?!\w)"), _as_letter),
    (re.compile(r"(?<=\w)[/^-](?=\w)|(?<=\d),(?=\d)"), _as_letter),
    (re.compile(r"(?<=\w)'(?=s(?!\w))|(?<=s)'(?= )"), _as_letter),
    (re.compile(r"[%‰€$£¥₹°<>≤≥±≈]"), _as_word),
    (re.compile(r"(?P<hard>[;|]|:(?=\s|$))|,|[()\[\]\"]| -(?= )"), _as_clause_end),
)
_WORD = re.compile(
    rf"{_ANY_SIGN}{{0,3}}\d+(?:(?:[.:]|{_LETTERS[',']})\d+)+(?:[ap]m(?!\w)|{_ANY_SIGN}[^\s\x00-/:-@\[-`{{-\x7f]*)?"
    r"|[^\s\x00-/:-@\[-`{-\x7f]+(?:'[^\s\x00-/:-@\[-`{-\x7f]+)*"
)
