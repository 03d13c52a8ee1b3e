"""Month names of European languages, and the dates that have them.

The names are written without accents, as :func:`~jury_adapters.grounding.normalisation.tidy` leaves a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_ENGLISH = "January February March April May June July August September October November December"
# One language or form a line, January first. Where a date has the genitive, both forms are there.
_OTHERS = """
    Januar Februar Marz April Mai Juni Juli August September Oktober November Dezember
    Janner Feber Maerz April Mai Juni Juli August September Oktober November Dezember
    janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    enero febrero marzo abril mayo junio julio agosto setiembre octubre noviembre diciembre
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
    gener febrer marc abril maig juny juliol agost setembre octubre novembre desembre
    januari februari maart april mei juni juli augustus september oktober november december
    januari februari mars april maj juni juli augusti september oktober november december
    januar februar marts april maj juni juli august september oktober november december
    januar februar mars april mai juni juli august september oktober november desember
    tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesakuuta heinakuuta elokuuta syyskuuta lokakuuta
        marraskuuta joulukuuta
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia
    styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien
    ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince
    ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
    Ocak Subat Mart Nisan Mayis Haziran Temmuz Agustos Eylul Ekim Kasim Aralik
    Ιανουαριου Φεβρουαριου Μαρτιου Απριλιου Μαιου Ιουνιου Ιουλιου Αυγουστου Σεπτεμβριου Οκτωβριου Νοεμβριου
        Δεκεμβριου
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь
    січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
"""  # noqa: RUF001
# Read only in a date with day and year, because many are other words too ("set", "out", "mar").
_SHORT = """
    jan feb mar apr may jun jul aug sep oct nov dec
    jan feb mrz apr mai jun jul aug sept okt nov dez
    janv fevr mars avr mai juin juil aout sept oct nov dec
    ene feb mar abr may jun jul ago sept oct nov dic
    gen feb mar apr mag giu lug ago set ott nov dic
    jan fev mar abr mai jun jul ago set out nov dez
    jan feb mrt apr mei jun jul aug sep okt nov dec
"""


def month_number(name: str) -> int:
    """Return the number of a month name or its short form, 1 to 12; 0 for another word.

    >>> month_number("Sept."), month_number("juin"), month_number("spring")
    (9, 6, 0)
    """
    return _NUMBERS.get(name.rstrip(".").lower(), 0)


def days_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield (month, day) of whatever may be a date with a month name, without regard to upper and lower case.

    >>> list(days_in("from 1 to 30 July, 5. JUNI, 5 apples, May 7"))
    [(7, 30), (7, 1), (6, 5), (5, 7)]
    """
    for date in _LOOSE_DATE.finditer(text):
        name = date["after_day"] or date["before_day"]
        if month := month_number(name):
            yield month, int(date["day"] or date["last"])
            if date["first"]:
                yield month, int(date["first"])


def months_in(text: str) -> set[int]:
    """Return the months that a text names in full, or in English in short."""
    found = {word.lower() for word in set(_LONG_WORD.findall(text)) - _NAMES_TOO}
    return {_LOWER[word] for word in found & _LOWER.keys()} | set(map(month_number, MONTH_NAME.findall(text)))


def in_date(text: str, stop: int, end: int) -> bool:
    """Return whether the full stop at ``stop`` is in a date: "1. Juni", "1. September 2024", "1 sept. 2024".

    Args:
        text: the text.
        stop: the position of the full stop.
        end: the position after it and its closing marks.
    """
    if text[stop - 1 : stop].isdigit():
        return is_dotted_date(text, max(0, stop - (2 if text[stop - 2 : stop - 1].isdigit() else 1)))
    return _YEAR.match(text, end) is not None and _SHORT_BEFORE.search(text, max(0, stop - 16), stop + 1) is not None


def is_dotted_date(text: str, start: int) -> bool:
    """Return whether a date such as "1. Juni" or "1. September 2024" begins here, as it would the item of a list."""
    return _DOTTED_DATE.match(text, start) is not None


def _table(lines: str) -> dict[str, int]:
    return {name: at % 12 + 1 for at, name in enumerate(lines.split())}


def _any(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=lambda name: (-len(name), name)))


_OTHER = _table(_OTHERS)
_LOWER = {name.lower(): number for name, number in _OTHER.items()}
_NUMBERS = _table(_SHORT) | {"sept": 9} | _LOWER | {name.lower(): at for name, at in _table(_ENGLISH).items()}

ENGLISH_MONTH = rf"(?-i:(?:{_ENGLISH.replace(' ', '|')})\b|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
MONTH_NAME = re.compile(rf"\b{ENGLISH_MONTH}")
_LONG_WORD = re.compile(r"(?<!\w)[^\W\d_]{3,12}(?!\w)")
_NAMES_TOO = frozenset(("Mars", "Marc", "Mart", "Mai"))
"""Other things and people, with a capital."""

_DAY = r"\d{1,2}(?:er|re|[oaeη]|\.)?\ (?:de\ |d')?"  # 1er, 1º (as tidied), 1.
_TO_YEAR = r",?\ (?:del?\ )?[12]\d{3}\b"
_LONG = _any(_LOWER)
_ENGLISH_TOO = frozenset(_ENGLISH.split())
_SHORT_NAME = rf"(?:{_any(_NUMBERS.keys() - _LOWER.keys())})"
# Without a year, case counts: neither "2 Mars rovers" nor "He was number 3. September was wet." has a date.
_NO_YEAR = _any(name for name in _OTHER if name[0].islower())
_AFTER_DOT = _any(name for name in _OTHER if name not in _ENGLISH_TOO)
# The lookaheads spare most places the comparison with every name.
BEFORE_YEAR = rf"(?=[^\W\d_]{{3,12}}\.?{_TO_YEAR})"
_DOTTED = rf"\d{{1,2}}\.\ (?=[^\W\d_]{{3,12}}\b)(?:(?-i:{_AFTER_DOT})\b|{BEFORE_YEAR}(?:{_LONG}){_TO_YEAR})"
OTHER_DATE_PATTERN = rf"""
    {_DAY}(?=[^\W\d_]{{3,12}}\b)(?:
        {BEFORE_YEAR}(?:(?:{_LONG})|{_SHORT_NAME}\b\.?){_TO_YEAR} | (?-i:{_NO_YEAR})\b)
    | {_DOTTED}
    | {BEFORE_YEAR}(?-i:{_AFTER_DOT}){_TO_YEAR}
"""
"""Pattern, in verbose mode and without regard to case, of a date as other languages than English write it."""

_VERBOSE = re.VERBOSE | re.IGNORECASE
_DOTTED_DATE = re.compile(_DOTTED, _VERBOSE)
_YEAR = re.compile(r" ?(?:del? )?[12]\d{3}\b")
_SHORT_BEFORE = re.compile(rf"\b{_DAY}(?:{_SHORT_NAME}|sept)\.$", _VERBOSE)
# In a source, which is read generously; not in an answer, where "may 5" can be a verb.
_ORDINAL = "(?:st|nd|rd|th|er|re|[oaeη]|\\.)?"
_LOOSE_DATE = re.compile(
    rf"\b(?:(?:(?P<first>\d{{1,2}}){_ORDINAL}(?: ?- ?|/| (?:[^\W\d_]{{1,4}} ){{1,2}}))?"  # "1 to 30 June"
    rf"(?P<day>\d{{1,2}}){_ORDINAL} (?:of |de |d')?(?P<after_day>[^\W\d_]{{3,12}})\b"
    rf"|(?P<before_day>{ENGLISH_MONTH.replace('-i:', 'i:')}) (?P<last>\d{{1,2}})(?:st|nd|rd|th)?\b)",
    re.IGNORECASE,
)
