"""Changes that leave an answer right by construction: another notation, wording, order or layout of the same facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from jury_adapters.audit.operators.material import NEGATION, PART_OF_NUMBER, Material, Mutant, text_before


def rewrite_numbers(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield the answer with small numbers as words or figures, and with or without thousands marks."""
    if not material.is_english:
        return
    text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), material.answer)
    if text == material.answer:
        text = _LONG.sub(_with_thousands_mark, material.answer)
    text = _WORD.sub(_in_figures, text)
    if text == material.answer:
        text = _FIGURE.sub(_in_words, text)
    yield from _changed(material, text, "numbers in another notation")


def rewrite_dates(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield the answer with full dates in another notation: 12 March 2019, March 12, 2019."""
    if not material.is_english:
        return
    text = _DAY_FIRST.sub(lambda found: f"{found['month']} {int(found['day'])}, {found['year']}", material.answer)
    if text == material.answer:
        text = _MONTH_FIRST.sub(lambda found: f"{int(found['day'])} {found['month']} {found['year']}", text)
    yield from _changed(material, text, "dates in another notation")


def convert_units(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield the answer with quantities in a smaller unit, exactly converted: 3 km, 3,000 metres."""
    if not material.is_english:
        return
    for found in _CONVERTIBLE.finditer(material.answer):
        if _END_OF_RANGE.search(text_before(material.answer, found.start())):
            continue
        factor, unit = _CONVERSIONS[found["unit"]]
        number = float(found["number"].replace(",", "")) * factor
        if number == round(number) and 1 < number < 1e7:
            yield material.replaced(*found.span(), f"{number:,.0f} {unit}")


def rewrite_function_words(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield the answer with other function words of the same meaning, and with or without contractions."""
    if not material.is_english:
        return
    text = _HAVE_TO.sub(_must, material.answer)
    for pattern, new in _SYNONYMS:
        text = pattern.sub(lambda found, new=new: new.capitalize() if found[0][0].isupper() else new, text)  # type: ignore[misc]
    yield from _changed(material, text, "other function words")


def reorder_sentences(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield the answer with its sentences in another order, if none refers to one before it."""
    sentences = [one.text for one in material.sentences]
    if not material.is_english or len(sentences) < 2 or any(_DEPENDENT.search(one) for one in sentences):
        return
    if "\n" in material.answer or not all(one.endswith(".") for one in sentences):
        return
    if any(_STEP.match(one) for one in sentences):
        return
    order = list(range(len(sentences)))
    while order == sorted(order):
        random.shuffle(order)
    yield Mutant(" ".join(sentences[place] for place in order), "sentences in another order")


def reformat(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield the answer in another layout: a list with bullets, a line per sentence, or bold numbers."""
    sentences = [one.text for one in material.sentences]
    if "\n" in material.answer or not sentences:
        return
    layouts = {
        "a list": "" if any(map(_BARE_NUMBER.match, sentences)) else "\n".join(f"- {one}" for one in sentences),
        "a line per sentence": "\n\n".join(sentences),
        "bold figures": re.sub(r"(?<![\w\[*.,])\d[\d,]*(?:\.\d+)?(?![\w\]*])", r"**\g<0>**", material.answer),
        "a heading": "## Answer\n\n" + material.answer,
    }
    names = [name for name, text in layouts.items() if text and text != material.answer]
    name = random.choice(names)
    yield Mutant(layouts[name], f"layout: {name}")


def _with_thousands_mark(found: re.Match[str]) -> str:
    """Return an amount with a thousands mark; years and the numbers of things that are only named stay as they are."""
    return found[0] if _NAMED_BY.search(text_before(found.string, found.start())) else f"{int(found[0]):,}"


def _in_figures(found: re.Match[str]) -> str:
    """Return a number word in figures; a part of a longer number, such as *thirty five*, stays a word."""
    if PART_OF_NUMBER.search(text_before(found.string, found.start())):
        return found[0]
    return str(_WORDS.index(found[0]))


def _must(found: re.Match[str]) -> str:
    """Return *must* for *have to*; after a negation or another auxiliary, that would mean something else."""
    clause = re.split(r"[.;:!?\n]", found.string[: found.start()])[-1]
    return found[0] if NEGATION.search(clause) or _AUXILIARY.search(clause) else "must"


def _in_words(found: re.Match[str]) -> str:
    """Return a small number as a word; one after a capitalised word belongs to a name, such as *Windows 7*."""
    if re.search(r"[A-Z]\w*\s$", text_before(found.string, found.start())):
        return found[0]
    return _WORDS[int(found[0])]


def _changed(material: Material, text: str, change: str) -> Iterator[Mutant]:
    if text != material.answer:
        yield Mutant(text, change)


_MONTH_NAMES = "January February March April May June July August September October November December"
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_WORDS = _NUMBERS.split()
_WORD = re.compile(
    r"(?<![\w-])(?<!\d )(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?![\w-]|\s(?:hundred|thousand|million|billion)|\sof\b)"
)
_NO_MONTH = "".join(f"(?<!{month} )" for month in _MONTH_NAMES.split())
_NO_MARK = r"(?<![\w.,:/\[$€£+'–-])"  # noqa: RUF001
_FIGURE = re.compile(rf"{_NO_MARK}{_NO_MONTH}(?:[2-9]|1[0-2])(?= [a-z]{{3,}})(?! (?:a\.m|p\.m|per cent))")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,]|\.\d)")
_LONG = re.compile(
    r"(?<![\w.,:/#\[-])(?!(?:1[5-9]|20)\d\d(?!\d))[1-9]\d{3,5}"
    r"(?= (?:[a-z]{2,}s|people|km|kg|g|m|EUR|USD|GBP|kWh|MWh)\b)"
    r"(?! (?:is|was|has|does|always|as|this|its|across)\b)"
)
_NAMED_BY = re.compile(
    r"\b(?:in|since|until|by|from|year|code|number|no\.?|pin|port|room|order|line|id|model|section|page|case|form|flight|"
    r"[A-Z]\w*)\s$"
)
"""Words before a number that names a thing or a year; it is not an amount."""
_HAVE_TO = re.compile(r"\b(?:has|have) to\b(?! do\b)")
_AUXILIARY = re.compile(
    r"\b(?:will|would|may|might|can|could|shall|should|must|do|does|did|to|only|hardly|rarely|seldom|few|if|whether)\b",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"\W?\d[^a-zA-Z]*$")
"""Number alone, which a bullet would turn into a negative one."""
_VERBS = """
    Add Apply Ask Attach Bake Boil Bring Build Call Change Check Choose Clean Click Close Combine Connect
    Contact Cook Copy Create Cut Delete Disconnect Download Drain Drive Edit Empty Enter Fill Fold Follow Go
    Heat Hold Insert Install Keep Leave Let Lift Log Make Mix Move Open Pay Peel Pick Place Plug Pour Press Pull
    Push Put Read Release Remove Repeat Replace Reset Restart Return Rinse Run Save Scan Select Send Serve Set
    Show Shut Sign Start Stir Stop Submit Switch Take Tap Tighten Touch Turn Type Unplug Update Upload Use Visit
    Wait Walk Wash Wipe Write
"""
_STEP = re.compile(rf"(?:Please\s+)?(?:{'|'.join(_VERBS.split())})\s(?!must|is|are|was|were|can|will|has|of|and)")
"""Instruction; the order of instructions is part of their meaning."""
_END_OF_RANGE = re.compile(
    rf"(?:\d|\b(?:{_NUMBERS.replace(' ', '|')}))\s?(?:to|or|and|by|x|[-–—±×])\s?$|\b(?:minus|plus)\s$",  # noqa: RUF001
    re.IGNORECASE,
)
"""Beginning of a range or of a product, whose unit stands after the second number."""
_MONTHS = _MONTH_NAMES.replace(" ", "|")
_DAY_FIRST = re.compile(rf"\b(?P<day>[0-3]?\d) (?P<month>{_MONTHS}) (?P<year>\d{{4}})\b")
_MONTH_FIRST = re.compile(rf"\b(?P<month>{_MONTHS}) (?P<day>[0-3]?\d), (?P<year>\d{{4}})\b")
_CONVERSIONS = {
    "km": (1000, "metres"), "kilometres": (1000, "metres"), "kg": (1000, "grams"), "kilograms": (1000, "grams"),
    "tonnes": (1000, "kilograms"), "litres": (1000, "millilitres"), "hours": (60, "minutes"),
    "minutes": (60, "seconds"), "metres": (100, "centimetres"), "cm": (10, "millimetres"), "weeks": (7, "days"),
    "MW": (1000, "kW"),
    "GWh": (1000, "MWh"), "MWh": (1000, "kWh"), "kW": (1000, "watts"), "g": (1000, "milligrams"),
    "grams": (1000, "milligrams"),
}  # fmt: skip
_UNIT = "|".join(sorted(_CONVERSIONS, key=len, reverse=True))
_CONVERTIBLE = re.compile(
    rf"(?<![\w.,:/\[–-])(?P<number>(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?) (?P<unit>{_UNIT})"  # noqa: RUF001
    r"(?![\w²³/-]|,? \d| ?[-–—]| (?:per\b|to\b|or\b|and \d))"  # noqa: RUF001
)
_SYNONYMS = tuple(
    (re.compile(pattern, re.IGNORECASE), new)
    for pattern, new in (
        (r"\bin order to\b", "to"),
        (r"\bfor example\b", "for instance"),
        (r"\bapproximately\b", "about"),
        (r"\bper cent\b", "percent"),
        (r"\bcannot\b", "can't"),
        (r"\bis not\b", "isn't"),
        (r"\bare not\b", "aren't"),
        (r"\bdoes not\b", "doesn't"),
        (r"\bdo not\b", "don't"),
        (r"\bwas not\b", "wasn't"),
        (r"\bwere not\b", "weren't"),
        (r"\bwill not\b", "won't"),
        (r"\balthough\b", "though"),
        (r"\buntil\b", "till"),
        (r"\bwhilst\b", "while"),
        (r"(?<!once )\bupon\b", "on"),
        (r"\bin addition\b(?! to\b)", "also"),
        (r"\btherefore\b", "thus"),
    )
)
_DEPENDENT = re.compile(
    r"\b(?:it|its|they|their|them|he|his|him|she|her|this|that|these|those|such|both|however|also|then|there|here|"
    r"therefore|thus|addition|moreover|furthermore|example|instance|otherwise|instead|former|latter|same|other|another|"
    r"first|second|finally|next|later|one|but|too|so|still)\b|"
    r"^(?:And|But|Or|So|Yet|After|Before)\b|^The [a-z]+ (?:is|are|was|were)\b",
    re.IGNORECASE,
)
