"""Parts of the reasons of grounding jurors: what was not compared, and why."""

from __future__ import annotations

from collections.abc import Sequence

from jury_adapters.core.case import Case
from jury_adapters.core.evidence import note_on_left_out
from jury_adapters.grounding.findings import (
    compares_numbers,
    listed,
    uncompared_counts,
    uncompared_fractions,
    uncompared_names,
    uncompared_number_words,
    uncompared_signs,
    uncompared_units,
    unread_words,
    unreadable,
)
from jury_adapters.grounding.passages import Source

_NOT_ENGLISH = "because contexts and question do not read as running English text)"
_UNCHECKED = f" (not checked: names, and numbers that may be spelled out, {_NOT_ENGLISH}"
_UNCHECKED_NAMES = f" (not checked: names, {_NOT_ENGLISH}"
_FOREIGN_ANSWER = " (not checked: names, because the answer does not read as English, and the contexts do)"
_NOT_TRANSLATED = " (the answer does not read as English, and the contexts do; words are not translated)"
_OTHER_LANGUAGE = " (the answer is in another language than the contexts; words are not translated)"


def nothing_missing(source: Source, lines: Sequence[str]) -> str:
    """Return the reason of an answer without a name or number that the source does not have."""
    where, unchecked = "in the contexts or the question", not_checked(source)
    but = _not_compared(source, lines)
    if source.compares_names:
        return f"every name and number is {where}{but}, which proves nothing"
    if not compares_numbers(source, lines):
        return f"the answer has no number that can be compared{but}{unchecked}"
    return f"all that was checked is {where}{but}, which proves nothing{unchecked}"


def nothing_new(source: Source, lines: Sequence[str]) -> str:
    """Return the reason of an answer whose words, as far as they were compared, are all in the contexts."""
    unread = unread_sentences(source, lines)
    if unread == len(lines):
        return f"no word can be compared: {unreadable(source.passages, lines[0])}{not_checked(source)}"
    if unread:
        return f"no new word was found, but {unread} of {len(lines)} sentences could not be read{not_checked(source)}"
    if not source.compares_names:
        return f"no new word was found{not_checked(source)}"
    return "every word is in the contexts; look at how they are put together"


def unread_sentences(source: Source, lines: Sequence[str]) -> int:
    """Return the number of sentences whose words cannot be compared with the contexts."""
    return sum(bool(unreadable(source.passages, line)) for line in lines)


def not_checked(source: Source) -> str:
    """Return the part of a reason that says what was not checked."""
    if source.compares_names:
        return ""
    if source.english:
        return _FOREIGN_ANSWER
    return _UNCHECKED_NAMES if source.reads_number_words else _UNCHECKED


def not_translated(source: Source) -> str:
    """Return the part of a reason that says that the answer is in another language than the contexts."""
    if not source.other_language:
        return ""
    return _NOT_TRANSLATED if source.english else _OTHER_LANGUAGE


def left_out(case: Case) -> str:
    """Return the part of a reason that says which text of tools is not in the contexts."""
    note = note_on_left_out(case.contexts, case.trajectory)
    return f" ({note})" if note else ""


def lacking(field: str, contexts: Sequence[str], *, there: bool) -> str:
    """Return the message about missing parts of the case: this field, the contexts, or both."""
    if there:
        return "no contexts to compare with"
    return f"no {field} to compare with the contexts" if contexts else f"no {field} and no contexts to compare"


def nothing_compared(what: str, unread: str) -> str:
    """Return the message that nothing can be compared, with the reason: the script, or words without content."""
    return f"{what} can be compared with the contexts: {unread or 'there is no content word'}"


def _not_compared(source: Source, lines: Sequence[str]) -> str:
    """Return the part of a reason that names what was not compared and is not in the source."""
    names = source.compares_names
    items = {
        "counts up to ten in words": uncompared_counts(source, lines),
        "fractions in words": uncompared_fractions(source, lines),
        "signs": uncompared_signs(source, lines),
        "units": uncompared_units(source, lines),
        "numbers in Chinese characters": uncompared_number_words(source, lines),
        "sentences in title case or capitals": uncompared_names(source, lines) if names else [],
        "words in scripts without spaces": unread_words(source, lines) if names else [],
    }
    parts = [f"for {kind}, which are not compared ({listed(found, 4)})" for kind, found in items.items() if found]
    return f", but {' and '.join(parts)}" if parts else ""
