"""Checks of grounding jurors: new names and numbers, verbatim sentences, support, relevance."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from jury_adapters.core.judgment import Finding
from jury_adapters.core.negations import find_negation, negates
from jury_adapters.grounding.east_asian import in_digits, written_numbers
from jury_adapters.grounding.names import names, skipped_names
from jury_adapters.grounding.normalisation import STOPWORDS, bigrams, spaceless, stem, tidy, unsegmented, words
from jury_adapters.grounding.passages import Measure, Passages, Source, common_length
from jury_adapters.grounding.quantities import Marks, Quantity, quantities


def missing_items(source: Source, lines: Sequence[str]) -> list[Finding]:
    """Return one check per name and number that the source does not have, in the order of the answer."""
    found: dict[str, Finding] = {}
    for line in lines:
        if len(found) >= _MOST_FOUND:
            break
        for asked in quantities(line, source.marks):
            if len(found) >= _MOST_FOUND:
                break
            label = f"number: {asked.text}"
            if label not in found and not _spelled_out(asked, source) and (detail := _problem(asked, source)):
                found[label] = Finding(label, False, detail, line[:_MOST_EVIDENCE])
        for asked_name in names(line) if source.compares_names else ():
            if missing := source.names.missing(asked_name):
                label = f"name: {asked_name.text[:100]}"
                detail = f"{listed(missing)} is not in the contexts or the question"
                found.setdefault(label, Finding(label, False, detail, line[:_MOST_EVIDENCE]))
    return list(found.values())


def uncompared_counts(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the counts up to ten in words that the source does not have, which :func:`missing_items` leaves out."""
    asked = (quantity for line in lines for quantity in quantities(line) if _is_count(quantity, source))
    return list(dict.fromkeys(quantity.text for quantity in asked if _problem(quantity, source)))


def uncompared_number_words(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the numbers in Chinese characters that the source does not have."""
    written = dict.fromkeys(number for line in lines for number in written_numbers(line))
    return [text for text in written if not all(map(source.numbers.covers, quantities(in_digits(text))))]


def unread_words(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the words in scripts without spaces that the source does not have."""
    found = (word for line in lines if spaceless(line) for word in words(line))
    return list(dict.fromkeys(word for word in found if spaceless(word) and not source.names.has(word)))


def compares_numbers(source: Source, lines: Sequence[str]) -> bool:
    """Return whether the answer has a number or date that is compared with the source."""
    return any(not _spelled_out(asked, source) for line in lines for asked in quantities(line))


def uncompared_names(source: Source, lines: Sequence[str]) -> list[str]:
    """Return the names that the source does not have and that :func:`missing_items` leaves out for their title case."""
    asked = (name for line in lines for name in skipped_names(line))
    return list(dict.fromkeys(name.text for name in asked if source.names.missing(name)))


def aligned(passages: Passages, line: str) -> Finding:
    """Return the check whether one sentence is in the contexts nearly verbatim."""
    name, found = _short(line), words(line)
    if passages.has(found):
        return Finding(name, True, "is in the contexts", score=1.0)
    if unsegmented(line):
        return Finding(name, None, "words cannot be separated")
    if not says_something(line):
        return Finding(name, None, "too common to be told from any other text")
    if len(found) > _LONGEST_SENTENCE:
        return Finding(name, None, "too long to be one sentence")
    plain = [word for word in found if word not in _ARTICLES] or found
    best, detail, where = 0.0, "no place in the contexts is like it", ""
    for place in passages.places(found):
        for tokens in (passages.tokens[place], passages.window(place)):
            there = [word for word in tokens if word not in _ARTICLES]
            share = common_length(plain, there) / len(plain)
            problem = _differs(plain, there, share)
            if not problem:
                return Finding(name, True, "nearly verbatim", passages.lines[place][:_MOST_EVIDENCE], share)
            if share >= best:
                best, detail, where = share, problem, passages.lines[place]
    return Finding(name, None, detail, where[:_MOST_EVIDENCE], best)


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
            findings.append(Finding(_short(line), None, unread))
        elif terms:
            best = passages.support(list(terms), measures(line, terms, source.support_marks))
            missing = [word for term, word in terms.items() if not passages.knows(term) and term not in best.stated]
            detail = f"not in the contexts: {listed(missing)}" if missing else ""
            findings.append(Finding(_short(line), None, detail, best.line[:_MOST_EVIDENCE], best.share))
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
    """Return the sentences that have a negation their best place lacks, or lack its negation, and name it."""
    found = []
    for line in lines:
        terms = {} if unsegmented(line) else _terms(line)
        given = measures(line, terms, source.support_marks)
        where = source.passages.support(list(terms), given).line if terms else ""
        here, there = find_negation(line, where), find_negation(where, line)
        if where and bool(here) != bool(there):
            found.append(f'{_short(line)} ("{here or there}" is only in the {"answer" if here else "contexts"})')
    return found


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


_MOST_FOUND = 1000  # new names, numbers or words; more are not informative
_MOST_EVIDENCE = 300  # characters
_LONGEST_SENTENCE = 300  # words; longer ones pass only if the contexts have them unchanged
_MOST_LEFT_OUT = 3  # words between two that are adjacent in the answer

_ARTICLES = frozenset(("a", "an", "the"))
# English words that weaken the text around them; their endings vary, so the beginnings are listed.
_HEDGES = re.compile(
    r"(?:hardly|barely|unless|if|except|only|may|might|could|would|"
    r"should|perhaps|possibly|probably|likely|unlikely|almost|nearly|un?able|false|untrue|rumou?r\w*|alleg\w+|claim\w*|"
    r"den(?:y|ies|ied|ying)|doubt\w*|disput\w+|reject\w*|refus\w+|fail\w*|report\w*ly|suppos\w+|suspect\w*|believ\w+|"
    r"expect\w*|plan\w*|propos\w+|hop(?:e|es|ed|ing)|threat\w*|attempt\w*|tr(?:y|ies|ied|ying)|contrary|wrong\w*)"
)


def _terms(line: str) -> dict[str, str]:
    """Return the content words of a line by their stems."""
    found = words(line)
    stems = {word: stem(word) for word in set(found).difference(STOPWORDS)}
    return {stems[word]: word for word in found if word in stems}


def _problem(asked: Quantity, source: Source) -> str:
    if not source.numbers.covers(asked):
        return "not in the contexts or the question"
    unit = source.numbers.other_unit(asked)
    return f"the contexts say {unit}" if unit else ""


def _spelled_out(asked: Quantity, source: Source) -> bool:
    """Return whether the source may state this number in a form that cannot be read.

    Outside English, Chinese and Japanese, number words are not known, so only numbers that are not usually spelled out
    are checked: those with three digits or more before trailing zeros, and those with a unit or before a word for which
    the source uses digits.
    """
    if _is_count(asked, source):
        return True
    if source.reads_number_words or source.numbers.writes_in_digits(asked):
        return False
    return asked.word or not asked.readings or len(asked.readings[0].replace(".", "").rstrip("0")) < 3


def _is_count(asked: Quantity, source: Source) -> bool:
    """Return whether a number is a count up to ten in words, which is often the result of counting items in the source.

    One with a unit for which the source has numbers, such as "nine hours" beside "eleven hours", is a measure.
    """
    small = asked.word and asked.readings and len(asked.readings[0]) < 3 and int(asked.readings[0]) <= 10
    return bool(small) and not (asked.unit and source.numbers.has_unit(asked.unit))


def _differs(plain: Sequence[str], window: Sequence[str], share: float) -> str:
    """Return the reason that a sentence is not nearly verbatim at a place, or "" if it is."""
    known = set(window)
    if new := [word for word in plain if word not in known]:
        return f"new here: {listed(new)}"
    if share < 0.9:
        return f"only {share:.0%} of its words stand there in this order"
    if turned := sorted(filter(_turns, known.difference(plain))):
        return f"the contexts qualify it: {listed(turned)}"
    near = {  # the shortest gap last, so that it overrides the others
        (window[at], window[at + gap + 1]): window[at + 1 : at + gap + 1]
        for gap in range(_MOST_LEFT_OUT, -1, -1)
        for at in range(len(window) - gap - 1)
    }
    for pair in bigrams(list(plain)):
        if pair not in near:
            return f"{pair[0]!r} and {pair[1]!r} do not stand together there"
        if any(map(_turns, near[pair])):
            return f"words are left out between {pair[0]!r} and {pair[1]!r} that turn it"
    return ""


def _turns(word: str) -> bool:
    """Return whether a word reverses or weakens the text around it."""
    return negates(word) or _HEDGES.fullmatch(word) is not None


def _short(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}..."
