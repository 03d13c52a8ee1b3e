"""Contexts of a run: what its retrievers found, and the outputs of its tools, divided into the documents in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from jury_adapters.core.case_parts import Step
from jury_adapters.core.evidence import Evidence
from jury_adapters.core.loose_values import texts_of
from jury_adapters.langchain.finished_runs import Found, ToolCall


def own_passages(found: Found) -> tuple[str, ...]:
    """Return the texts of the documents that were retrieved outside of tools, without duplicates."""
    return tuple(dict.fromkeys(_texts(found.documents)))


def contexts_of_run(found: Found, heard: Sequence[Step], steps: Iterable[Step], evidence: Evidence) -> tuple[str, ...]:
    """Return the contexts of a run: what its model read.

    A document that a tool retrieved counts as far as the output of the tool has it. If a model in the tool wrote an
    output without any of the documents, such as a sub-agent does, the documents are the evidence instead, unless the
    tool is named.

    Args:
        found: the findings inside the run.
        heard: the steps of the calls in ``found``.
        steps: the steps of the run, in order.
        evidence: the rule that decides which steps are evidence.

    Raises:
        Exception: any exception of the predicate of the rule.
    """
    calls = zip(heard, found.calls, strict=True)
    retrieving = {(step.tool, step.output): call for step, call in calls if call.documents}
    texts = list(own_passages(found))
    for step in steps:
        texts += _contexts_of_step(step, retrieving.get((step.tool, step.output)), evidence)
    return tuple(dict.fromkeys(texts))


def _contexts_of_step(step: Step, call: ToolCall | None, evidence: Evidence) -> list[str]:
    passages = [] if call is None else _texts(call.documents)
    written = call is not None and call.written and step.tool not in evidence.names
    if written and passages and not _places(step.output or "", passages):
        return passages if evidence.accepts(step.model_copy(update={"output": "\n\n".join(passages)})) else []
    text = evidence.text_of(step)
    return [] if text is None else divided(text, passages)


def divided(text: str, passages: Iterable[str]) -> list[str]:
    r"""Return the parts of a text, each with a passage, and the rest.

    The text is divided at line breaks, and only where it is certain to which passage a text between them belongs.

    >>> divided("Page 1: It is red.\n\nPage 2: It is old.\n\nThat is all.", ["It is old.", "It is red."])
    ['Page 1: It is red.', 'Page 2: It is old.', 'That is all.']
    """
    places = _places(text, passages)
    if not places:
        return [text]
    gaps = [text[stop:start] for (_, stop), (start, _) in pairwise(places)]
    line_break = "\n\n" if any("\n\n" in gap for gap in gaps) else "\n"
    parts, begin = [], 0
    for gap, (_, stop) in zip(gaps, places, strict=False):
        cut = _cut(gap, line_break)
        if cut is not None:
            parts.append(text[begin : stop + cut[0]])
            begin = stop + cut[1]
    end = text.find(line_break, places[-1][1])
    end = len(text) if end < 0 else end
    return [part.strip() for part in (*parts, text[begin:end], text[end:]) if _says_something(part)]


def _cut(gap: str, line_break: str) -> tuple[int, int] | None:
    """Return where a part ends and the next one begins, in a gap between passages; None if that is unclear."""
    if line_break not in gap:
        return None if _says_something(gap) else (0, len(gap))
    first, *middle, last = gap.split(line_break)
    return None if any(map(_says_something, middle)) else (len(first), len(gap) - len(last))


def _places(text: str, passages: Iterable[str]) -> list[tuple[int, int]]:
    """Return the first place of each passage in a text, by position; a passage inside of another one has none."""
    places: list[tuple[int, int]] = []
    for passage in sorted({stripped for one in passages if (stripped := one.strip())}, key=len, reverse=True):
        start = text.find(passage)
        for _ in range(_MOST_PLACES):
            stop = start + len(passage)
            if start < 0 or _is_free(text, start, stop, places):
                break
            start = text.find(passage, start + 1)
        else:
            start = -1
        if start >= 0:
            places.append((start, stop))
    return sorted(places)


def _is_free(text: str, start: int, stop: int, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a place does not begin or end within a word, and has no part of the places so far."""
    cuts_words = any(0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum() for end in (start, stop))
    return not cuts_words and all(stop <= first or last <= start for first, last in places)


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))


def _texts(documents: Iterable[object]) -> list[str]:
    return [text for document in documents for text in texts_of(document)]


_MOST_PLACES: Final = 100  # a short passage may be within very many words
