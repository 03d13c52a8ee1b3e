"""Names in an English text, and whether a source contains them in any of their usual forms.

A name is recognised by its capital where capitals are significant: not at the start of a sentence, not in a title, not
in shouted text. Where every word has a capital, lists of full names and names after a form of address are recognised.
Skipping a name costs recall, but a wrong flag costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from jury_adapters.grounding.normalisation import STOPWORDS, bigrams, is_contraction, words
from jury_adapters.grounding.units import is_symbol


@dataclass(frozen=True, slots=True)
class Name:
    """Run of capitalised words: "Anna Smith", "COVID-19", "the United Nations" without its article.

    Attributes:
        text: the words as written.
        parts: each word that may identify something, lower case.
    """

    text: str
    parts: tuple[str, ...]


def names(sentence: str) -> Iterator[Name]:
    """Yield the names of one tidied sentence.

    >>> [name.text for name in names("Yesterday the mayor, Anna Smith, met people from UNICEF.")]
    ['Anna Smith', 'UNICEF']
    """
    for text in _full_names(sentence) if _in_title_case(sentence) else (sentence,):
        yield from _capitalised(text)


def skipped_names(sentence: str) -> Iterator[Name]:
    """Yield what may be the names of one tidied sentence in title case or capitals, and is not among :func:`names`.

    >>> [name.text for name in skipped_names("Contact Anna Maria Weber!")]
    ['Contact Anna Maria Weber']
    """
    if _in_title_case(sentence):
        found = {part for name in names(sentence) for part in name.parts}
        yield from (name for name in _capitalised(sentence) if not found.issuperset(name.parts))


def _capitalised(sentence: str) -> Iterator[Name]:
    """Yield the names among the runs of capitalised words."""
    for run in _RUN.finditer(sentence):
        first = _STARTS.search(sentence, max(0, run.start() - 4), run.start()) is not None
        before_initials = _INITIALS.match(sentence, run.end()) is not None
        for contracted, piece in groupby(run[0].split(" "), is_contraction):  # "Today I'm Anna" has two pieces
            found = list(piece)
            if is_symbol(found[0]) and _PER.search(sentence, max(0, run.start() - 4), run.start()):
                found.pop(0)
            if found and not contracted and (name := _name(found, first=first, before_initials=before_initials)):
                yield name
            first = False


def _name(found: list[str], *, first: bool, before_initials: bool) -> Name | None:
    """Return the name in some capitalised words, or None if they do not name anything.

    Args:
        found: the words.
        first: whether they begin a sentence.
        before_initials: whether initials follow.
    """
    named = any(True for word in found[1:] for _ in _keys(word))
    if first and (not named or _plain(found[0])):
        found = found[1:] if named else [word for word in found[:1] if _identifies(word)]
    if found and before_initials and _DOTTED.fullmatch(found[-1] + "."):
        found.pop()  # the initials of the person whose surname follows
    parts = tuple(key for word in found for key in _keys(word))
    return Name(_CLITIC.sub("", " ".join(found)), parts) if parts else None


@dataclass(slots=True)
class NameIndex:
    """Index of the words of a source, for looking up names.

    >>> index = NameIndex("Rome's mayor met the United Nations in February.")
    >>> [index.knows(part) for part in ("roman", "un", "feb", "paris")]
    [True, True, True, False]
    """

    source: str
    months: frozenset[int] = frozenset()
    _words: set[str] = field(default_factory=set)
    _roots: set[str] = field(default_factory=set)
    _initials: str = ""
    _acronyms: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        found = words(self.source.replace("-", " "))
        self._words.update(found)
        self._words.update(first + second for first, second in set(bigrams(found)))  # "You Tube" is "YouTube"
        self._words.update(glued[1] for word in found if (glued := _GLUED.fullmatch(word)))  # "ET430" is "ET 430"
        dotted = {acronym.replace(".", "").lower() for acronym in set(_DOTTED.findall(self.source))}
        self._words.update(dotted)
        self._acronyms = dotted | {acronym.lower() for acronym in set(_ACRONYM.findall(self.source))}
        self._words.update(code for sign, code in _SIGNS.items() if sign in self.source)
        for word in list(self._words):
            self._words.update(_SYNONYMS.get(word, ()))
        self._words.update(_SCALES[letter] for letter in set(_DEGREES.findall(self.source)))
        for word in {word.lower() for word in set(_CAPITAL.findall(self.source))}:
            self._roots.update(_roots(word))
        self._initials = _initials(self.source)

    def has(self, word: str) -> bool:
        """Return whether the source has a word in lower case as it is."""
        return word in self._words

    def knows(self, part: str) -> bool:
        """Return whether the source has this word of a name, or its singular, plural, demonym or short form."""
        if (
            part in self._words
            or f"{part}s" in self._words
            or any(other in self._words for other in _SYNONYMS.get(part, ()))
        ):
            return True
        if _MONTHS.get(part[:3], 0) in self.months and (len(part) == 3 or part in _MONTH_NAMES):
            return True
        if 2 <= len(part) <= 6 and part.isalpha() and part in self._initials:
            return True
        return not self._roots.isdisjoint(_roots(part)) or any(
            part.endswith(ending) and part[: -len(ending)] in self._words for ending in ("s", "es") if len(part) > 2
        )

    def missing(self, name: Name) -> tuple[str, ...]:
        """Return the parts of a name that the source does not have; empty if it has the acronym."""
        acronym = "".join(word[0] for word in name.text.split(" ") if word[0].isupper()).lower()
        if len(acronym) > 1 and acronym in self._acronyms:
            return ()
        return tuple(part for part in name.parts if not self.knows(part))


def _in_title_case(sentence: str) -> bool:
    """Return whether capitals are not significant: a title or shouted line of four words or more."""
    found = _LETTERS.findall(sentence)
    if not _VERBS.isdisjoint(found):  # titles give verbs a capital
        return False
    found = [word for word in found if word.casefold() not in STOPWORDS and not is_contraction(word)]
    return len(found) > 3 and not any(word[0].islower() for word in found)


def _full_names(sentence: str) -> Iterator[str]:
    """Yield the texts of a title or shouted line that are names: a list of full names, and names after "Mrs" or "Dr".

    A heading such as "Legal Basis and Time Limits" looks like two names. So a list has a comma, or ends as a sentence.
    Labels such as "Chair: " are left out.
    """
    plain = sentence.strip("*_ ")
    items = [item.rpartition(": ")[2] for item in _BETWEEN.split(plain.removesuffix("."))]
    if len(items) > 1 and ("," in plain or ";" in plain or plain.endswith(".")) and all(map(_is_full_name, items)):
        yield from items
    else:
        yield from (found[1] for found in _ADDRESSED.finditer(sentence))


def _is_full_name(text: str) -> bool:
    return _FULL_NAME.fullmatch(text) is not None and not any(word in STOPWORDS for word in text.casefold().split(" "))


def _plain(word: str) -> bool:
    """Return whether a word that begins a sentence may not be a name: a day, a role, or the ending of a common word."""
    lower = word.casefold()
    return lower in _NAMELESS or lower in _DAYS or lower.endswith(_COMMON_ENDINGS)


def _identifies(word: str) -> bool:
    """Return whether a word alone is a name even at the start of a sentence: "UNICEF", "COVID-19", "iPhone"."""
    return any(char.isupper() or char.isdigit() for char in word[1:]) and any(char.isalpha() for char in word)


def _keys(word: str) -> Iterator[str]:
    """Yield the parts of a word to look up: halves of a compound apart, no possessive, no role, no plain number."""
    if _DOTTED.fullmatch(word + "."):
        yield word.replace(".", "").lower()
    elif is_symbol(word) and not word.isupper():  # "kWh" is the symbol of a unit anywhere, but "MA" may be a name
        return
    elif _MODEL.fullmatch(word):
        yield word.replace("-", "").lower()
    else:
        for half in word.split("-"):
            if not half.islower():  # not the "based" of "Manchester-based"
                yield from (part for part in words(half) if _tells(part, half))


def _tells(part: str, half: str) -> bool:
    """Return whether a part of a name identifies anything. "US" and "WHO" do, although "us" and "who" do not."""
    if len(part) == 1 or part.isdigit() or part in _ROLES or part in _EMPHASIS or _ROMAN.fullmatch(part):
        return False
    return half.isupper() or part not in STOPWORDS


def _roots(word: str) -> set[str]:
    """Return the word without each ending that makes a plural, a demonym or an adjective of a name."""
    return {word} | {word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 4} - {""}


def _initials(source: str) -> str:
    """Return the initials of each run of capitalised words, small words skipped: "un" for "united nations"."""
    runs = ("".join(word[0] for word in run.split(" ") if word[0].isupper()) for run in _LONG_NAME.findall(source))
    return " ".join(runs).lower()


_STARTS = re.compile(r"(?:^|[:;\"(\[*#>•|/-] ?| - |\d[.)] )$|^[^\w]{0,4}$")
_RUN = re.compile(r"(?<![\w'.-])(?:[A-Z][\w'&.-]*\w|[A-Z]|[a-z][A-Z]\w+)(?: (?:[A-Z][\w'&.-]*\w|[A-Z]\b))*")
_CLITIC = re.compile(r"'(?:s|m|re|ve|ll|d)$")
_VERBS = frozenset(("is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "will", "would"))
_FULL_NAME = re.compile(r"[A-Z][\w'-]*\.?(?: [A-Z][\w'-]*\.?){1,3}")
_BETWEEN = re.compile(r"[,;] (?:(?:and|or|&) )?| (?:and|or|&) ")
_ADDRESSED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Dame)\.? ([A-Z][\w'-]*(?:\.? [A-Z][\w'-]*){0,2})")
_LETTERS = re.compile(r"[^\W\d_][\w'-]*")
_CAPITAL = re.compile(r"\b[A-Z]\w{3,}")
_PER = re.compile(r"(?:\bper |/ ?)$")
_INITIALS = re.compile(r"\. [A-Z]")
_ACRONYM = re.compile(r"\b[A-Z][A-Z0-9]+\b")
_GLUED = re.compile(r"([a-z]{2,})[0-9]+")
_DOTTED = re.compile(r"\b(?:[A-Z]\.){2,}")
_LONG_NAME = re.compile(r"\b[A-Z]\w+(?:[ -](?:(?:of|the|for|and|on|de|in) ){0,2}[A-Z]\w+)+")
_MODEL = re.compile(r"[A-Za-z]{1,2}-?\d+[a-z]?")  # F-16, A320, F-16s
_DEGREES = re.compile(r"(?:\d|°|\bdegrees?|\bdeg\.?)[ o]{0,2}([CF])\b")  # an o stands for the sign in many PDF files
_SCALES = {"C": "celsius", "F": "fahrenheit"}
_SIGNS = {"€": "eur", "$": "usd", "£": "gbp", "¥": "jpy", "₹": "inr"}
_ROMAN = re.compile(r"[ivx]{1,5}")
_LONG_MONTHS = "january february march april may june july august september october november december"
_MONTH_NAMES = tuple(_LONG_MONTHS.split())
_MONTHS = {name[:3]: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_DAYS = ("yesterday", "today", "tomorrow", "tonight", "last", "next", "later", "earlier", "meanwhile")
_COMMON_ENDINGS = (
    "ing", "ly", "ed", "er", "or", "ist", "ian", "man", "men", "ant", "ent", "ive", "al", "ary", "ic", "ous", "ful",
    "ness", "tion", "sion", "ity", "ism", "ship",
)  # fmt: skip
_ENDINGS = (
    "ians", "ian", "eans", "ean", "ans", "an", "ese", "ish", "ists", "ist", "isms", "ism", "ics", "ic", "ns", "n",
    "is", "i", "es", "s", "e", "a", "o", "y", "ia", "en",
)  # fmt: skip

# Capitalised words that do not name anything by themselves: titles, roles, kinds of institution and place.
_ROLE_WORDS = """
    mr mrs ms dr jr sr prof professor sir lord lady king queen prince princess president minister prime secretary
    senator governor mayor chancellor chairman chairwoman director chief ceo cfo officer general colonel captain
    sergeant detective inspector judge justice attorney pope bishop father mother saint coach former vice deputy
    executive manager company co corp corporation inc ltd llc group party club fc afc cf sc league association union
    council committee commission department ministry agency authority board court police army navy force office
    government state states city county town village river lake mount mountain sea ocean island islands street road
    avenue park university college school institute hospital church museum airport station league cup games team north
    south east west northern southern eastern western central new old great internet web online earth god article
    passage text context document summary act bill law award awards prize season series episode film movie book novel
    album song world war century
"""
_ROLES = frozenset(_ROLE_WORDS.split())

_NAMELESS = STOPWORDS | _ROLES
_CAPITALS = """
    yes no ok okay not never always only all any every none must and or but if then else important warning caution
    attention note notes tip tips faq faqs fyi tl tldr asap tbd tba todo etc true false please
    am pm ad bc bce ce atm atms pin pins id ids tv tvs dvd dvds cd cds usb gps sms vpn wifi sim led pc pcs cpu cpus gpu
    gpus ram pdf pdfs html css xml json csv url urls uri api apis sdk cli gui ui dns http https ssh sql readme diy eta
    vip hr vat rsvp suv suvs dob qa
"""
_EMPHASIS = frozenset(_CAPITALS.split())
"""Words that are capitalised for emphasis or by convention, and common abbreviations. They do not name anything."""

_FORMS = (
    "rome roman romans",
    "us usa america american americans states", "uk britain british briton britons kingdom", "un nations",
    "eu european europe", "france french frenchman", "spain spanish spaniard", "greece greek greeks",
    "netherlands dutch holland", "denmark danish dane danes", "switzerland swiss", "wales welsh welshman",
    "ireland irish irishman", "scotland scottish scots", "england english englishman", "poland polish pole poles",
    "turkey turkish turk turks", "sweden swedish swede swedes", "finland finnish finn finns", "germany german germans",
    "norway norwegian norwegians", "portugal portuguese", "belgium belgian belgians", "peru peruvian peruvians",
    "philippines filipino filipinos philippine", "thailand thai", "iceland icelandic", "cyprus cypriot",
    "television tv", "christianity christian christians", "islam islamic muslim muslims", "jewish jews jew judaism",
    "jan january", "feb february", "mar march", "apr april", "jun june", "jul july", "aug august",
    "sept sep september", "oct october", "nov november", "dec december", "mon monday", "tue tues tuesday",
    "wed wednesday", "thu thurs thursday", "fri friday", "sat saturday", "sun sunday",
    "eur euro euros", "usd dollar dollars", "gbp pound pounds", "jpy yen", "inr rupee rupees", "chf franc francs",
    "kb kilobyte kilobytes", "mb megabyte megabytes", "gb gigabyte gigabytes", "tb terabyte terabytes",
    "kw kilowatt kilowatts", "mw megawatt megawatts", "mhz megahertz", "ghz gigahertz",
)  # fmt: skip
_SYNONYMS = {word: frozenset(forms.split()) for forms in _FORMS for word in forms.split()}
