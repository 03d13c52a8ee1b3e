"""Grounding: an answer compared with its contexts, without a model.

:func:`grounding_screen` fails an answer with a number or a name that no context has, passes one that consists of whole
sentences of the contexts, and abstains on every other. Digits are compared in every language, words in English only.

>>> grounding_screen().judge(answer="It opened in 1999.", contexts=["The bridge opened in 1998."]).status.value
'FAIL'
"""

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from importlib import resources
from itertools import chain, pairwise
from math import log
from typing import Any, NamedTuple

from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import JudgeLike, Returned
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain
from jury_adapters.core.text import visible
from jury_adapters.core.values import ROUNDING, Share
from jury_adapters.judges.options import DeclaredCheck, declared
from jury_adapters.judges.text import NotEmpty

MOST_FINDINGS = 100


def grounding_screen(final: JudgeLike | None = None, *, name: str = "grounding_screen") -> CascadedJury:
    """Return a jury that decides the clear cases at no cost, and leaves the others to ``final``.

    It rejects an answer that is missing or blank, or that has a number or a name which the contexts lack. It accepts
    one that consists of whole sentences of the contexts.

    Args:
        final: the judge of the cases that are left; by default the verdict on them is ABSTAIN.
        name: the name in verdicts.

    >>> grounding_screen().judge(answer="It is shut on Mondays.", contexts="It is cold. It is shut on Mondays.").passed
    True
    """
    return CascadedJury([
        Tier("flags", Ensemble([NotEmpty(), NamesAndNumbers()]), "reject_on_any_fail"),
        Tier("verbatim", SentenceAlignment(), "accept_on_all_pass"), Tier("final", final or undecided),
    ], name=name)  # fmt: skip


async def undecided(_: Case) -> Returned:
    """Abstain: what is left needs a judge that understands it."""
    return abstain("nothing in the answer is flagged, and it is not made of whole sentences of the contexts")


@declared
class NamesAndNumbers(DeclaredCheck):
    """FAIL where the answer has a number, a date, a time or a name that the case does not have; else ABSTAIN.

    A number is known if the contexts, the question or an earlier message has it, in any notation: *1,250*, *1.250* and
    *1 250*; *2.5 million*; *5 pm* and *17:00*; *2 km* and *2,000 metres*; rounded to the decimals that are written.
    Names, and numbers in words above ten, are compared only where the contexts and the answer read as English. Where
    the contexts do not, whole numbers, halves and quarters up to 12 are left out, as they may be spelled out. A sign is
    not compared, nor a place.
    """

    def check(self, case: Case) -> Returned:
        """Compare the numbers and names of the answer."""
        answer, source, lack = _compared(case)
        if lack:
            return abstain(lack)
        english = source.english and looks_english(answer)
        new = dict([*_new_numbers(answer, source, english), *(_new_names(answer, source) if english else ())])
        if not new:
            return abstain(f"no new number{' or name' if english else '; names are compared in English only'}")
        findings = tuple(
            Finding(name=name, passed=False, detail="not in the contexts", evidence=visible(line, 400))
            for name, line in [*new.items()][:MOST_FINDINGS]
        )
        reasoning = f"not in the contexts or the question: {visible(', '.join(new), 400)}"
        return Judgment(status=Status.FAIL, reasoning=reasoning, findings=findings)


@declared
class SentenceAlignment(DeclaredCheck):
    """PASS where each sentence of the answer is a whole sentence of the contexts; else ABSTAIN.

    White space, capitals and the full stop do not matter. A question, an item of a list, a part of a sentence, an
    unfinished quotation, and a sentence without two words beyond the question prove nothing.
    """

    def check(self, case: Case) -> Returned:
        """Look for the sentences of the answer."""
        answer, source, lack = _compared(case)
        if lack:
            return abstain(lack)
        asked, lines = {*_words(tidy(case.question or ""))}, sentences(answer)
        found = [_key(line) in source.whole and _says_something(line, asked) for line in lines]
        if all(found):
            return Judgment(status=Status.PASS, reasoning="each sentence is a whole sentence of the contexts")
        return abstain(f"this is no whole sentence of the contexts: {visible(lines[found.index(False)])}")


@declared
class _Rated(DeclaredCheck):
    """Base of checks that pass from a score."""

    threshold: Share


@declared
class SentenceSupport(_Rated):
    """PASS or FAIL by the support of the weakest sentence: the share of its words that one place of the contexts has.

    Rare words count more, and a sentence with a new number has no support. It compares English only. It abstains on
    another language, on a negation that one side lacks, and on an answer that adds no word to the question.

    Attributes:
        threshold: the score from which it passes, 0..1. Choose it on cases with labels.
    """

    def check(self, case: Case) -> Returned:
        """Rate the sentences of the answer."""
        answer, source, lack = _compared(case)
        if not lack and {*_content(tidy(case.question or ""))}.issuperset(_content(answer)):
            lack = "the answer adds no English word to the question"
        judgment = _rated(answer, source, self.threshold, lack)
        differs = [one for one in judgment.findings if _negations(one.name) != _negations(one.evidence)]
        if judgment.passed and differs:
            return abstain(f"a negation differs from the contexts: {differs[0].name}", metadata=judgment.metadata)
        return judgment


@declared
class ContextRelevance(_Rated):
    """PASS or FAIL by the share of the question's words that one place of the contexts has; no answer is needed.

    Attributes:
        threshold: the score from which it passes, 0..1. Choose it on cases with labels.
    """

    def check(self, case: Case) -> Returned:
        """Rate the question."""
        text, source, lack = _compared(case, "question")
        return _rated(text, source, self.threshold, lack)


def _rated(text: str, source: "_Source", threshold: float, lack: str) -> Judgment:
    """Return the judgment by the support of the weakest sentence."""
    lines = [line for line in sentences(text) if _content(line)]
    if len(lines) * len(source.lines) > 1_000_000:  # it would hold everything up for seconds
        lack = f"{len(lines):,} sentences and {len(source.lines):,} of the contexts are too many to compare"
    rated = {} if lack else {line: _place(line, source) for line in lines}
    if lack or not rated or not (source.english and looks_english(text)):
        return abstain(lack or "there are no words to compare, or they do not read as English, and are not translated")
    findings = tuple(
        Finding(name=visible(line, 400), passed=score >= threshold - ROUNDING, score=score, evidence=visible(at, 1000))
        for line, (score, at) in rated.items()
    )
    weakest = min(findings, key=lambda one: one.score or 0.0)
    return Judgment(
        status=Status.PASS if weakest.passed else Status.FAIL,
        score=weakest.score,
        reasoning=f"the weakest sentence has {weakest.score:.2f} of its words in one place: {weakest.name}",
        findings=findings[:MOST_FINDINGS],
        metadata={"support": weakest.score},
    )


def _compared(case: Case, of: str = "answer") -> tuple[str, "_Source", str]:
    """Return a text of a case, what it is compared with, and what is missing; a question does not know itself."""
    told = (case.question or "", *(message.content for message in case.messages)) if of == "answer" else ()
    text = _LIST_MARK.sub(" ", tidy(getattr(case, of) or ""))
    source = _read(tuple(map(_plain, case.contexts)), "\n".join(map(tidy, told)))
    missing = [name for name, none in ((of, not sentences(text)), ("contexts", not source.lines)) if none]
    return text, source, f"nothing to compare: no {' and no '.join(missing)}" if missing else ""


_TABLES: dict[str, Any] = json.loads(resources.files(__package__).joinpath("grounding.json").read_text("utf-8"))
_STOPWORDS, _ENGLISH, _FOREIGN, _NEGATIONS, _COMMON = (
    frozenset(" ".join(_TABLES[name]).split()) for name in ("stopwords", "english", "foreign", "negations", "common")
)
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u02b9\u00b4`\u2032\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\u301c\uff5e", "-"),
        **dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", (f"^{digit}" for digit in range(10)), strict=True)),
        **{"\u2014": " - ", "\uff01": "! ", "\uff1f": "? ", "\u066b": ".", "\u066c": ",", "\u066a": "%"},
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    }
)
_REWRITTEN: tuple[tuple[re.Pattern[str], Any], ...] = (
    (re.compile(r"(?![0-9])\d"), lambda digit: str(unicodedata.decimal(digit[0]))),  # of Arabic, Hindi and others
    (re.compile("-[LR][RS]B-"), lambda mark: "(" if mark[0][1] == "L" else ")"),  # of older data sets, as the next two
    (re.compile(r" (?=[,.;:!?%)](?:\s|$))|(?<=[(\[$€£]) "), ""),
    (re.compile(r"(\w) ('s|n't|'re|'ve|'ll|'d|'m)\b"), r"\1\2"),
    (re.compile(r"\*\*|''"), lambda mark: "" if mark[0] == "**" else '"'),
    (re.compile(r"[^\S\n]+"), " "),
)
_END = re.compile("(?:(?<=[.!?])|(?<=[.!?][\"')\\]]))\\s+(?=[^a-z\\s])|(?<=[\u3002\u0964\u06d4])\\s*|\n+")
_ABBREVIATION = re.compile(
    r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|Gen|Gov|Sen|Lt|St|Jr|Sr|vs|Nos?|Inc|Ltd|Co|approx|ca|fig|U\.S|U\.K|e\.g|i\.e)\.$"
)
_LIST_MARK = re.compile(
    r"(?im)^[ >#*]*(?:\(?\d{1,2}[.)](?=\s)|[-*•](?=\s)) ?|\(\d{1,2}\)|\[\d{1,3}(?:, ?\d{1,3})*\]"
    r"|\bstep \d{1,2}(?=[:*]| -|\. )"
)
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")


def tidy(text: str) -> str:
    """Return a text with plain quotes, dashes, digits and spaces, so that what is the same is written the same."""
    found = unicodedata.normalize("NFKC", text.translate(_PLAIN))
    for pattern, new in _REWRITTEN:
        found = pattern.sub(new, found)
    return found


def sentences(text: str) -> list[str]:
    """Return the sentences of a tidy text; a line ends a sentence."""
    found: list[list[str]] = []
    for piece in filter(None, map(str.strip, _END.split(text))):
        if found and _ABBREVIATION.search(found[-1][-1][-8:]):
            found[-1].append(piece)
        else:
            found.append([piece])
    return [line for line in map(" ".join, found) if re.search(r"\w", line)]


def looks_english(text: str, *, surely: bool = False) -> bool:
    """Whether a text has the function words of English; or is too short to tell, and has none of other languages."""
    found = _WORD.findall(text[:2000])
    share = sum(word.casefold() in _ENGLISH for word in found) / max(1, len(found))
    return share > 0.1 or (not surely and 0 < len(found) < 8 and text.isascii() and _FOREIGN.isdisjoint(found))


def _bare(text: str) -> str:
    """Return a text without accents."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _words(text: str) -> list[str]:
    return [
        re.sub(r"(?:n't|'(?:s|m|t|re|ve|ll|d)){1,3}$", "", word).replace(",", "")
        for word in _WORD.findall(_bare(text).casefold())
    ]


def _content(text: str) -> list[str]:
    return [_stem(word) for word in _words(text) if word not in _STOPWORDS and word[:1].isalpha()]


def _stem(word: str) -> str:
    return re.sub("(?<=...)(?:ing|(ies|ied)|ed|es|ly|s|e)$", lambda ending: "y" if ending[1] else "", word)


def _negations(line: str) -> int:
    return sum(word in _NEGATIONS or word.endswith("n't") for word in _WORD.findall(line.casefold()))


def _key(line: str) -> str:
    """Return a sentence as it is compared as a whole."""
    return " ".join(line.casefold().split()).strip(" .!\u3002\u0964\u06d4\"'*")


def _says_something(line: str, asked: set[str]) -> bool:
    """Whether a sentence has two words, or six letters without spaces, beyond function words and the question."""
    found = {word for word in _words(line) if word not in _STOPWORDS} - asked
    return "?" not in line and (len(found) > 1 or any(len(word) > 5 and not word.isascii() for word in found))


def _plain(context: str) -> str:
    """Return a context as tidy text: JSON as paragraphs of keys and values, and dates of Python as ISO dates."""
    try:
        is_json = context.lstrip()[:1] in ("{", "[")
        text = "\n\n".join(_texts_of(json.loads(context, parse_float=str, parse_int=str) if is_json else context))
    except (ValueError, RecursionError):
        text = context
    return tidy(re.sub(r"datetime\.date(?:time)?\((\d{4}), (\d+), (\d+)(?:, (\d+), (\d+))?", r"\1-\2-\3 \4:\5", text))


def _texts_of(value: Any) -> list[str]:
    """Return the keys and values of JSON, and the lengths of lists, because answers count."""
    if not isinstance(value, dict | list):
        return [str(value)]
    inside = [str(len(value)), *value] if isinstance(value, list) else [one for pair in value.items() for one in pair]
    return [text for one in inside for text in _texts_of(one)]


_MONTHS, _NUMBERS = _TABLES["months"], _TABLES["numbers"]
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WORDS, _DAY = "|".join(_NUMBERS), r"\d{1,2}(?:st|nd|rd|th)?"
_FOUND = re.compile(
    rf"""(?P<date>(?<!\d)\d{{4}}([-/.])\d{{1,2}}\2\d{{1,2}}(?!\d)
        | (?<![\d./-])\d{{1,2}}([-/.])\d{{1,2}}\3\d{{4}}(?!\d))
    | (?P<named>\b(?:(?:{_DAY}\ ?(?:-|to|and|until)\ ?)?{_DAY}\ (?:of\ )?{_MONTH}
        | {_MONTH}\ {_DAY}(?:\ ?-\ ?\d{{1,2}})?(?![\d:]))(?:,?\ [12]\d{{3}}\b)?)
    | (?P<clock>(?<![\d.:])\d{{1,2}}(?:[:.]\d\d)?\ ?[ap]\.?m\b | (?<![\d:.])\d{{1,2}}:\d\d(?::\d\d)?(?![\d:]))
    | (?P<span>(?<!\d)\d{{3}}0(?='?s\b) | (?<!\d)\d{{1,2}}(?:st|nd|rd|th)(?=[ -]century))
    | (?P<sign>[$€£¥]\ ?|\b(?:usd|eur|gbp|chf)\ )?(?:(?<![a-z])|(?=\d\d))(?!\d(?:st|nd|rd|th|[a-z])\b)
        (?P<digits>(?:(?<![\w.])\.)?\d+(?:[.,']\d+|,?\ \d{{3}}(?!\d))*)
        (?P<scale>\ ?(?:thousand|million|billion|trillion|bn|mn|tn)\b|[kmb](?!\w)|\ ?[百千万萬億亿만억])?
    | (?P<words>(?<![\w-])(?:{_WORDS})(?:(?:[ -]|(?<=d)\ and\ )(?:{_WORDS}))*(?![\w-]))
    | (?P<han>[〇零一二两兩三四五六七八九十百千万萬億亿]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_UNIT = re.compile(r"[ -]?(%|°[CF]|(?:square )?[A-Za-z]+(?:\^2)?)(?!\w)(?P<rate>\s?/| per\b)?")
_UNITS = {name: (kind, Decimal(size)) for kind, units in _TABLES["units"].items() for name, size in units.items()}
_Value = Decimal | str | tuple[Any, ...]  # a number, a time, a date or an amount of a unit
_Unit = tuple[str, Decimal] | None
_DATED = ("dated",)  # among the values of a text with dates that can be read


class _Number(NamedTuple):
    """Number, date or time as written, with the values that it may mean.

    A number of the source in the ``span`` makes it known, too, and so do all its ``parts``.
    """

    found: re.Match[str]
    values: set[_Value]
    kind: str = "number"
    span: tuple[Decimal, Decimal] | None = None
    parts: frozenset[_Value] = frozenset()
    unit: _Unit = None


def _numbers(text: str) -> Iterator[_Number]:
    """Yield the numbers, dates and times of a tidy text."""
    for found in _FOUND.finditer(text):
        yield from next(read for name, read in _READERS.items() if found[name])(found)


def _read_date(found: re.Match[str]) -> Iterator[_Number]:
    a, b, c = map(int, re.findall(r"\d+", found[0]))
    orders = [(b, c, a)] if a > 31 else [(a, b, c), (b, a, c)]
    values: set[_Value] = {one for one in orders if one[0] <= 12 and one[1] <= 31}
    days = {one for value in values if isinstance(value, tuple) for one in (value[:2], _DATED)}
    yield _Number(found, values, "date" if values else "number", parts=frozenset({*days, *map(Decimal, (a, b, c))}))


def _read_named_date(found: re.Match[str]) -> Iterator[_Number]:
    days = [int(part) for part in re.findall(r"\d+", found[0])]
    month = next(place for name, place in _MONTHS.items() if re.search(rf"(?i)\b{name}", found[0]))
    years = [days.pop()] if days[-1] > 31 else []
    for day in days:
        values: set[_Value] = {(month, day, *years), *([Decimal(day)] if re.search("may|mar", found[0]) else [])}
        beside = (month, day) if years else ("undated", month, day)
        yield _Number(found, values, "date", parts=frozenset({_DATED, beside, *map(Decimal, (day, *years))}))


def _read_time(found: re.Match[str]) -> Iterator[_Number]:
    hour, minute, *second = [*map(int, re.findall(r"\d+", found[0])), *([] if re.search(r"\d\D\d", found[0]) else [0])]
    half = re.search("(?i)[ap]", found[0])
    hours = {hour % 12 + 12 * (half[0] in "pP")} if half else {hour, (hour + 12) % 24 if hour <= 12 else hour}
    values: set[_Value] = {":".join(f"{part:02}" for part in (one, minute, *second)) for one in hours}
    yield _Number(found, values, "time", parts=frozenset(f"{one:02}:{minute:02}" for one in hours))


def _read_span(found: re.Match[str]) -> Iterator[_Number]:
    digits = Decimal("".join(re.findall(r"\d", found[0])))
    span = (digits, digits + 9) if found[0].isdecimal() else (100 * digits - 99, 100 * digits)
    yield _Number(found, {digits}, span=span)


def _read_digits(found: re.Match[str]) -> Iterator[_Number]:
    scale, text, digits = (found["scale"] or "").strip().lower(), found.string, found["digits"]
    shift, (values, parts) = _TABLES["scales"].get(scale, 0), _readings(digits)
    scaled = {value.scaleb(shift) if shift else value for value in values} or {Decimal(0)}
    # After a digit, m means metres or millions.
    unit = _unit_at(text, found.end("digits") if scale in "kmb" else found.end(), found["sign"] or "")
    size = max(scaled) if "," in digits else min(scaled)
    known: set[_Value] = {*values, *(scaled if values else ())}
    if unit and unit[0] not in ("money", "temperature"):
        known |= {(unit[0], size * unit[1]), *([size / 100] if unit[0] == "share" else [])}
    about, span = (
        re.search(
            r"(?i)(?:\b(?:about|around|some|nearly|almost|over|roughly|approximately|more than)|[~≈])\s*$",
            text[max(0, found.start() - 20) : found.start()],
        ),
        None,
    )
    if about or (len(values) == 1 and (shift or "." in digits or "," in digits)):
        exponent = int((size.normalize() if about or shift else size).as_tuple().exponent)
        step = Decimal(5).scaleb(exponent - 1)
        span = (size - step, size + step)
    yield _Number(found, known, span=span, parts=parts, unit=unit)


def _unit_at(text: str, place: int, sign: str) -> _Unit:
    """Return the unit after a number, else the sign of a currency before it; of rates, money only."""
    after = _UNIT.match(text, place)
    names = [after[1].lower(), after[1].lower().removesuffix("s")] if after else []
    unit = next((_UNITS[name] for name in (*names, sign.strip().lower()) if name in _UNITS), None)
    return None if unit and after and after["rate"] and unit[0] != "money" else unit


def _readings(written: str) -> tuple[set[Decimal], frozenset[_Value]]:
    """Return what digits with separators may mean, and the parts of what may be a list or a version."""
    groups, mark = re.findall(r"\d+", written), re.search(r"[.,](?=\d+$)", written)
    whole = len(groups) == 1 and mark is None
    values = (
        {Decimal("".join(groups))}
        if whole or re.fullmatch(r"[1-9]\d{0,2}([.,']|,? )(?:\d\d\d?\1)*\d{3}", written)
        else set()
    )
    if mark and written.count(mark[0]) == 1 and " " not in written:
        values.add(Decimal(f"0{''.join(groups[:-1])}.{groups[-1]}") if len(groups) > 1 else Decimal(f"0.{groups[0]}"))
    listed = not values or " " in written or re.match(r"\d{3},\d{3}", written)
    time = [f"{groups[0]:0>2}:{groups[1]}"] if re.fullmatch(r"(?:[01]?\d|2[0-3])\.[0-5]\d", written) else []
    return values, frozenset(map(Decimal, groups) if listed else time)


def _read_words(found: re.Match[str]) -> Iterator[_Number]:
    """Read number words; those of Chinese and Japanese, hundreds, and nineteen ninety are vague: known, and not new."""
    words = [_NUMBERS[word] for word in re.findall("[a-z]+", found[0].lower()) if word != "and"]
    vague = not words or words[0] >= 100 or any(10 <= a < 100 and 10 <= b < 100 for a, b in pairwise(words))
    words = words or [int(unicodedata.numeric(char, 2)) for char in found[0]]  # Unicode 14 does not know 两, 2
    digits = "".join(map(str, words)) if found["han"] and max(words) <= 9 else str(_value_of(words))
    value, unit = Decimal(digits), _unit_at(found.string, found.end(), "")
    more: tuple[_Value, ...] = (
        () if found["han"] else (*map(Decimal, words), *([(unit[0], value * unit[1])] if unit else []))
    )
    yield _Number(found, {value}, "vague" if vague else "words", parts=frozenset({value, *more}))


def _value_of(numbers: list[int]) -> int:
    """Return the value of number words: hundreds and tens multiply what stands before them, larger ones everything."""
    total = group = 0
    for one in numbers:
        if one >= 1000:
            total, group = ((total + group or 1) * one if one > total else total + (group or 1) * one), 0
        else:
            group += (group % one or 1) * one - group % one if one in (10, 100) else one
    return total + group


_READERS: dict[str, Callable[[re.Match[str]], Iterator[_Number]]] = {
    "date": _read_date,
    "named": _read_named_date,
    "clock": _read_time,
    "span": _read_span,
    "digits": _read_digits,
    "words": _read_words,
    "han": _read_words,
}


# Comparison

_NO_NAMES = _COMMON | _STOPWORDS | _UNITS.keys()


class _Source(NamedTuple):
    """What a case says, read once; numbers in order as ``sizes``, and the units beside each.

    Each line is a sentence with the stems of its words, and with those of its neighbours too; ``whole`` has the keys of
    whole sentences, ``weights`` how rare each stem is.
    """

    words: set[str]
    values: set[_Value]
    sizes: list[Decimal]
    units: dict[_Value, set[_Unit]]
    lines: list[tuple[str, frozenset[str], frozenset[str]]]
    whole: set[str]
    weights: dict[str, float]
    english: bool


@lru_cache(maxsize=8)
def _read(contexts: tuple[str, ...], told: str) -> _Source:
    """Read tidy contexts; what the question and earlier messages say is known as well."""
    known = "\n\n".join((*contexts, told))
    found, (values, units) = _words(known.replace("-", " ")), _values_of(known)
    joined = (re.sub("(?<![.!?:\u3002\u0964\n])\n(?!\n)", " ", _LIST_MARK.sub("\n• ", one)) for one in contexts)
    lines = [line for one in joined for line in sentences(one)]
    stems = [frozenset(_content(line)) for line in lines]
    around = (frozenset().union(*stems[max(0, place - 1) : place + 2]) for place in range(len(stems)))
    months = {value[0] for value in values if isinstance(value, tuple)}
    dated = (name for name, month in _MONTHS.items() if month in months)
    return _Source(
        words={*found, *map("".join, pairwise(found)), *_marks_of(_bare(known)), *dated},
        values=values,
        sizes=sorted(value for value in values if isinstance(value, Decimal)),
        units=units,
        lines=[*zip(lines, stems, around, strict=True)],
        whole={
            _key(line)
            for line in lines
            if re.fullmatch("[^\u2022].*[.!\u3002\u0964\u06d4][\"')*]*", line) and line.count('"') % 2 == 0
        },
        weights={one: log(1 + (len(lines) + 1) / (n + 0.5)) for one, n in Counter(chain(*stems)).items()},
        english=looks_english("\n".join(contexts), surely=True),
    )


def _marks_of(text: str) -> Iterator[str]:
    """Yield initials of long names, and words in capitals."""
    yield from (
        "".join(re.findall(r"\b[A-Z]", name)).lower()
        for name in re.findall(r"\b[A-Z]\w+(?:[ -](?:(?:of|the|for|and) )?[A-Z]\w+)+", text)
    )
    yield from (word.replace(".", "") for word in re.findall(r"\b(?:[A-Z](?:\.?[A-Z])+|[a-z](?:\.[a-z])+)\b", text))


def _values_of(text: str) -> tuple[set[_Value], dict[_Value, set[_Unit]]]:
    """Return all that the numbers of a text mean, and the units beside them."""
    values: set[_Value] = {Decimal(a[:2] + b) for a, b in re.findall(r"(?<!\d)([12]\d{3}) ?[-/]+ ?(\d\d)(?!\d)", text)}
    units: dict[_Value, set[_Unit]] = {}
    for number in _numbers(text):
        values |= number.values | number.parts
        for value in number.values:
            units.setdefault(value, set()).add(number.unit)
    return values, units


def _new_numbers(text: str, source: _Source, english: bool) -> Iterator[tuple[str, str]]:
    """Yield the numbers that the source does not have, or has with other units only, each with its sentence."""
    ends = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    for number in _numbers(text):
        size = max((value for value in number.values if isinstance(value, Decimal)), default=Decimal(99))
        in_words = number.kind == "vague" or (number.kind == "words" and (not english or size <= 10))
        if in_words or (size <= 12 and size * 4 % 1 == 0 and not source.english):  # other languages may spell it out
            continue
        if not _has(source, number) or _has_another_unit(source, number):
            place = bisect_left(ends, number.found.start() + 1)
            line = text[ends[place - 1] : min(ends[place], ends[place - 1] + 400)]
            yield f"number: {number.found[0].strip()}", line.strip()


def _has(source: _Source, number: _Number) -> bool:
    """Whether the source has a number. A day belongs to its year, unless the source says the day without one."""
    if number.values & source.values or (
        number.kind in ("number", "words") and number.parts and number.parts <= source.values
    ):
        return True
    if number.kind == "date":
        days = (value for value in number.values if isinstance(value, tuple) and len(value) == 3)
        spelled = (part in source.values for part in number.parts if isinstance(part, Decimal) and part > 12)
        return any({("undated", *day[:2]), Decimal(day[2])} <= source.values for day in days) or (
            not source.english and _DATED not in source.values and all(spelled)
        )
    low, high = number.span or (Decimal(1), Decimal(0))
    return bisect_left(source.sizes, low) < bisect_right(source.sizes, high)


def _has_another_unit(source: _Source, number: _Number) -> bool:
    """Whether the source has this number with other units of the same kind only."""
    if number.unit is None or any(isinstance(value, tuple) and value in source.values for value in number.values):
        return False
    found = [unit for value in number.values for unit in source.units.get(value, ())]
    return bool(found) and all(unit and unit[0] == number.unit[0] and unit != number.unit for unit in found)


def _new_names(text: str, source: _Source) -> Iterator[tuple[str, str]]:
    """Yield the names of a text that the source does not have, each with its sentence."""
    for line in sentences(text):
        plain = _bare(line)
        words = [word for word in re.findall(r"[^\W\d_]{2,}", plain) if word.casefold() not in _STOPWORDS]
        heading = len(words) > 3 and all(word[0].isupper() for word in words)
        for run in () if heading else re.finditer(r"(?<![\w'.-])[A-Z][\w'&.-]*(?: [A-Z][\w'&-]*)*", plain):
            parts = run[0].split(" ")
            inside = re.search(r"[a-z0-9,)'\"] ?$", plain[max(0, run.start() - 2) : run.start()])
            missing = [part for part in parts[0 if inside else 1 :] if not _knows(source, part)]  # the first may be any
            if missing and (len(parts) == 1 or "".join(part[0] for part in parts) not in source.words):
                yield "name: " + " ".join(missing).strip(".'-"), line


def _knows(source: _Source, part: str) -> bool:
    words = _words(" ".join(one for one in part.replace(".", "").split("-") if one[:1].isupper()))
    return all(
        source.words & _forms(word) for word in words if len(word) > 1 and word not in _NO_NAMES and word[0].isalpha()
    )


def _forms(word: str) -> set[str]:
    """Return the forms in which a source may have a name: Italian as Italy, Sunday as Sun, Smiths as Smith."""
    stems = map(word.removesuffix, ("n", "an", "ian", "ese", "ish", "es", "s"))
    short = word[:3] if re.fullmatch(rf"{_MONTH}|\w+days?", word) else word
    return {word, word.upper(), short, _TABLES["same"].get(word, word), f"{word}s", *stems}


def _place(line: str, source: _Source) -> tuple[float, str]:
    """Return the weighted share of the content words that one place has, and its sentence; 0 for a new number."""
    stems, rare = {*_content(line)}, max(source.weights.values(), default=1.0)
    total = sum(source.weights.get(one, rare) for one in stems)
    best = max((sum(source.weights[one] for one in stems & around) for _, _, around in source.lines), default=0.0)
    places = [(sum(source.weights[one] for one in stems & own), text) for text, own, _ in source.lines]
    grounded = total and not any(_new_numbers(line, source, english=True))
    return (min(1.0, best / total) if grounded else 0.0), max(places, default=(0.0, ""))[1]
