"""Prompt of a rubric that is one sentence: the parts of the case that a model is shown with it."""

from __future__ import annotations

import re
from collections.abc import Mapping

SPOKEN_OF: Mapping[str, re.Pattern[str]] = {
    field: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for field, words in {
        "messages": r"conversations?|dialogues?|chat history|(?:earlier|previous) (?:messages?|turns?)",
        "reference": r"the reference|reference answers?|expected answers?|ground truth",
        "contexts": r"contexts?|sources?|passages?|documents?|docs|evidence|retrieved",
        "trajectory": r"trajector(?:y|ies)|tool calls?|call(?:s|ed)? (?:\w+ ){0,2}tools?|steps of the agent",
    }.items()
}
"""Words by which a sentence speaks of a field of the case. Question and answer are always shown."""

_HEADINGS = {
    "messages": "Conversation so far",
    "reference": "Reference",
    "contexts": "Contexts",
    "trajectory": "Steps of the agent",
}


def fields_spoken_of(sentence: str) -> tuple[str, ...]:
    """Return the fields of the case that a sentence speaks of, beside question and answer.

    >>> fields_spoken_of("Every year in the answer is in the passages.")
    ('contexts',)
    """
    return tuple(field for field, words in SPOKEN_OF.items() if words.search(sentence))


def user_prompt_for(sentence: str) -> str:
    """Return the user prompt for a sentence: question, answer, and the fields that it speaks of."""
    shown = "".join(f"{_HEADINGS[field]}:\n{{{field}}}\n\n" for field in fields_spoken_of(sentence))
    return f"Question:\n{{question}}\n\n{shown}Answer to judge:\n{{answer}}\n"
