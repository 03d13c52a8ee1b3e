"""Checks of grounding jurors: new names and numbers, support, relevance."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from jury_adapters.core.judgment import Finding
from jury_adapters.core.negations import count_negations, find_negation, negates
from jury_adapters.grounding.codes import codes
from jury_adapters.grounding.east_asian import in_digits, written_numbers
from jury_adapters.grounding.names import names, skipped_names
from jury_adapters.grounding.normalisation import STOPWORDS, spaceless, stem, tidy, unsegmented, words
from jury_adapters.grounding.number_index import has_symbol
from jury_adapters.grounding.passages import Measure, Passages, Source
from jury_adapters.grounding.quantities import Marks, Quantity, is_hedged, quantities
from jury_adapters.grounding.units import kind_of


def missing_items(source: Source, lines: Sequence[str]) -> list[Finding]:
    """Return one check per code, number and name that the source does not have, in the order of the sentences."""
    found: dict[str, Finding] = {}
    for line in lines:
        rest = line
        for label, detail, start, end in (*_codes(line, source), *_numbers(line, source)):
            if detail and len(found) < _MOST_FOUND:
                found.setdefault(label, Finding(label, False, detail, line[:_MOST_EVIDENCE]))
            rest = f"{rest[:start]}{'_' * (end - start)}{rest[end:]}"  # so that no letter of it is read as a name
        for asked_name in names(rest) if source.compares_names else ():
            if missing := source.names.missing(asked_name):
                label = f"name: {asked_name.text[:100]}"
                detail = f"{listed(missing)} is not in the contexts or the question"
                found.setdefault(label, Finding(label, False, detail, line[:_MOST_EVIDENCE]))
        if len(found) >= _MOST_FOUND:
            break
    return list(found.values())


def _codes(line: str, source: Source) -> Iterator[tuple[str, str, int, int]]:
    """Yield the label, the problem ("" for none), the start and the end of each code of a line."""
    for code in codes(line):
        lacks = source.codes.lacks(code.text)
        if lacks or code.has_groups:  # a known "A320" is a name too
            yield f"code: {code.text}", _NOWHERE if lacks else "", code.start, code.end


def _numbers(line: str, source: Source) -> Iterator[tuple[str, str, int, int]]:
    """Yield the same of each number of a line that is a measure or has a problem, but not of the digits of codes."""
    inside = [range(code.start, code.end) for code in codes(line)]
    for asked in quantities(line, source.marks):
        if any(asked.start in code for code in inside) or _is_loose_fraction(asked, source, line):
            continue
        detail = "" if _spelled_out(asked, source) else _problem(asked, source)
        measures = kind_of(asked.unit) is not None and not asked.word
        if detail or measures:
            yield f"number: {asked.text}", detail, asked.start, asked.end if measures else asked.start


def uncompared_counts(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the counts up to ten in words that the source does not have, which :func:`missing_items` leaves out."""
    asked = (quantity for line in lines for quantity in quantities(line) if _is_count(quantity, source))
    return list(dict.fromkeys(quantity.text for quantity in asked if _problem(quantity, source)))


def uncompared_fractions(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the fractions in words that the source does not have, which :func:`missing_items` leaves out."""
    asked = (quantity for line in lines for quantity in quantities(line) if _is_loose_fraction(quantity, source, line))
    return list(dict.fromkeys(quantity.text for quantity in asked if not source.numbers.covers(quantity)))


def uncompared_signs(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the numbers that the source has with the other sign only: "fell by 5" may be "-5"."""
    asked = (quantity for line in lines for quantity in quantities(line, source.marks))
    return list(dict.fromkeys(_signed(quantity) for quantity in asked if source.numbers.other_sign(quantity)))


def uncompared_units(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the measures of which the source has the number and not the unit, which may be in the head of a table."""
    found = []
    for asked in (quantity for line in lines for quantity in quantities(line, source.marks)):
        if kind_of(asked.unit) and not _spelled_out(asked, source) and not source.numbers.states(asked):
            found += [] if _problem(asked, source) else [asked.text]
    return list(dict.fromkeys(found))


def uncompared_number_words(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the numbers in Chinese characters that the source does not have."""
    written = dict.fromkeys(number for line in lines for number in written_numbers(line))
    return [text for text in written if not all(map(source.numbers.covers, quantities(in_digits(text))))]


def unread_words(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the words in scripts without spaces that the source does not have."""
    found = (word for line in lines if spaceless(line) for word in words(line))
    return list(dict.fromkeys(word for word in found if spaceless(word) and not source.names.has(word)))


def compares_numbers(source: Source, lines: Sequence[str]) -> bool:
    """Return whether the answer has a number, date or code that is compared with the source."""
    if any(True for line in lines for _ in codes(line)):
        return True
    found = ((asked, line) for line in lines for asked in quantities(line))
    return any(not _spelled_out(asked, source) and not _is_loose_fraction(asked, source, line) for asked, line in found)


def uncompared_names(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the names that the source does not have and that :func:`missing_items` leaves out for their title case."""
    asked = (name for line in lines for name in skipped_names(line))
    return list(dict.fromkeys(name.text for name in asked if source.names.missing(name)))


def says_something(line: str) -> bool:
    """Return whether a line has a word or number that is not in most texts, as "no" and "B" are."""
    return any(term.isdigit() or len(term) > 1 or not term.isascii() for term in _terms(line))


def adds_to(question: str, lines: Sequence[str]) -> bool:
    """Return whether an answer has a content word or a number that the question does not have."""
    asked = set(_terms(tidy(question)))
    return any(unsegmented(line) or set(_terms(line)) - asked for line in lines)


def supported(source: Source, lines: Sequence[str]) -> list[Finding]:
    """Return one check per sentence that has content words: its support, and the place that supports it best."""
    findings, passages = [], source.passages
    for line in lines:
        terms = _terms(line)
        if unread := unreadable(passages, line):
            findings.append(Finding(short(line), None, unread))
        elif terms:
            best = passages.support(list(terms), measures(line, terms, source.support_marks))
            missing = [word for term, word in terms.items() if not passages.knows(term) and term not in best.stated]
            detail = f"not in the contexts: {listed(missing)}" if missing else ""
            findings.append(Finding(short(line), None, detail, best.line[:_MOST_EVIDENCE], best.share))
    return findings


def measures(line: str, terms: Collection[str], marks: Marks) -> list[Measure]:
    """Return the numbers, dates and measures of a line, each with those of these stems that are a part of it."""
    found = ((asked, frozenset(map(stem, words(line[asked.start : asked.end])))) for asked in quantities(line, marks))
    return [Measure(asked, stems.intersection(terms)) for asked, stems in found if not stems.isdisjoint(terms)]


def unreadable(passages: Passages, line: str) -> str:
    """Return the reason that the words of a line cannot be compared with the contexts; empty if they can be.

    A word in a script without spaces can be compared if the contexts have it between spaces too. Otherwise it may be
    part of a longer run of letters there.
    """
    if unsegmented(line):
        return "words cannot be separated"
    if not spaceless(line):
        return ""
    unknown = [word for term, word in _terms(line).items() if spaceless(word) and not passages.knows(term)]
    return f"in a script without spaces, and not a word of the contexts: {listed(unknown, 3)}" if unknown else ""


def negated(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the sentences that have a negation their best place lacks, or lack its negation, and name it.

    Where both have some, their numbers are compared: *cannot be opened without a key* has one more than *can be opened
    without a key*. A place that says more than the sentence may have more of them.
    """
    found = []
    for line in lines:
        terms = {} if unsegmented(line) else _terms(line)
        given = measures(line, terms, source.support_marks)
        where = source.passages.support(list(terms), given).line if terms else ""
        here, there = find_negation(line, where), find_negation(where, line)
        if where and bool(here) != bool(there):
            found.append(f'{short(line)} ("{here or there}" is only in the {"answer" if here else "contexts"})')
        elif here and there:
            own, others = count_negations(line, where), count_negations(where, line)
            says_no_more = {term for term, word in _terms(where).items() if not negates(word)} <= terms.keys()
            if own > others or (own < others and says_no_more):
                found.append(f"{short(line)} (it has {own} of them, and the contexts have {others})")
    return found


def differing_numbers(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the numbers that the source has with another sign or unit only, and the days of another year."""
    numbers = source.numbers
    asked = (quantity for line in lines for quantity in quantities(line, source.support_marks))
    differing = (one for one in asked if numbers.other_sign(one) or numbers.other_units(one) or numbers.other_year(one))
    return list(dict.fromkeys(map(_signed, differing)))


def new_words(source: Source, lines: Sequence[str]) -> list[Finding]:
    """Return one check per content word that the contexts do not have in any form, nor as part of an equal measure."""
    found: dict[str, Finding] = {}
    for line in lines:
        if len(found) >= _MOST_FOUND:
            break
        terms = {} if unsegmented(line) else _terms(line)
        new = {term: word for term, word in terms.items() if not word[0].isdigit() and not source.passages.knows(term)}
        for measure in measures(line, new, source.marks) if new else ():
            if source.numbers.states(measure.asked):
                new = {term: word for term, word in new.items() if term not in measure.stems}
        for term, word in new.items():
            found.setdefault(term, Finding(f"word: {word}", None, "not in the contexts", line[:_MOST_EVIDENCE]))
    return list(found.values())


def relevance(question: str, source: Source) -> tuple[float, list[str]] | None:
    """Return the share of the question's content words in the contexts, and the missing ones; None without any."""
    question, passages = tidy(question), source.passages
    terms = {} if unreadable(passages, question) else _terms(question)
    missing = {term: word for term, word in terms.items() if not passages.knows(term)}
    for measure in measures(question, missing, source.support_marks) if missing else ():
        if passages.states(measure):
            missing = {term: word for term, word in missing.items() if term not in measure.stems}
    return (1 - len(missing) / len(terms), list(missing.values())) if terms else None


def listed(items: Iterable[str], most: int = 12) -> str:
    """Join the first items for a sentence, and add the number of the others."""
    found = list(items)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(item[:60] for item in found[:most]) + more


def short(line: str) -> str:
    """Return a sentence as the name of its check."""
    return line if len(line) <= 60 else f"{line[:57]}..."


_MOST_FOUND = 1000  # new names, numbers or words; more are not informative
_MOST_EVIDENCE = 300  # characters
_SPELLED_OUT = 12  # the largest number that technical texts spell out
_SCALE = re.compile(
    r"(?:milli|mili|milho|miljo|miljard|миллио|миллиа|мільи|мільярд|εκατομμ)\w*|mio|mrd|mld|mln|tsd|tausend|mil|mila|"
    r"duizend|тыс|млн|млрд"
)
_NOWHERE = "not in the contexts or the question"


def _terms(line: str) -> dict[str, str]:
    """Return the content words of a line by their stems."""
    found = words(line)
    stems = {word: stem(word) for word in set(found).difference(STOPWORDS)}
    return {stems[word]: word for word in found if word in stems}


def _problem(asked: Quantity, source: Source) -> str:
    if not source.numbers.covers(asked):
        return _NOWHERE
    unit = source.numbers.other_unit(asked)
    return f"the contexts say {unit}" if unit else ""


def _spelled_out(asked: Quantity, source: Source) -> bool:
    """Return whether the source may state this number in a form that cannot be read.

    Outside English, Chinese and Japanese, number words are not known, so only numbers that are not usually spelled out
    are checked: decimals (but not "2,5 Stunden", which is "zweieinhalb", and "1,5 Millionen"), those with three digits
    or more before trailing zeros, those from 13 up with the symbol of a unit, those with a unit or before a word for
    which the source uses digits, and times of day, if the source has others in digits or the minutes are not a multiple
    of five.
    """
    if _is_count(asked, source):
        return True
    if source.reads_number_words or source.numbers.writes_in_digits(asked) or source.numbers.other_unit(asked):
        return False
    if asked.times:
        return not source.numbers.writes_times_in_digits() and _minutes(asked) % 5 == 0
    if asked.fraction is not None or asked.word or not asked.readings:
        return True
    value = asked.readings[0]
    if "." in value:
        return (value.endswith(".5") and kind_of(asked.unit) == "time") or _SCALE.fullmatch(asked.after) is not None
    if value.isdigit() and int(value) > _SPELLED_OUT and has_symbol(asked):
        return False
    return len(value.rstrip("0")) < 3


def _minutes(asked: Quantity) -> int:
    return int(asked.times[0].split(":")[1])


def _signed(asked: Quantity) -> str:
    return f"-{asked.text}" if asked.negative else asked.text


def _is_loose_fraction(asked: Quantity, source: Source, line: str) -> bool:
    """Return whether a fraction in words may be the result of counting, or only bound a share: "more than half".

    It is compared if the source has fractions, or numbers with its unit.
    """
    if not asked.word or asked.fraction is None:
        return False
    if asked.unit:
        return not source.numbers.has_unit(asked.unit)
    if asked.fraction >= 1:
        return True  # "half a million" is seldom exact
    return not source.numbers.has_fractions() or is_hedged(line, asked.start)


def _is_count(asked: Quantity, source: Source) -> bool:
    """Return whether a number is a count up to ten in words, which is often the result of counting items in the source.

    One with a unit for which the source has numbers, such as "nine hours" beside "eleven hours", is a measure.
    """
    small = asked.word and asked.readings and len(asked.readings[0]) < 3 and int(asked.readings[0]) <= 10
    return bool(small) and not (asked.unit and source.numbers.has_unit(asked.unit))
