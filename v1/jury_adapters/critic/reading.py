"""Reading of a reply: the answer that the whole reply is.

Nothing is searched inside a text, so nothing that a reply quotes can be its answer. A reply is one JSON object with the
keys that were asked for, or one label or rating, after removing one leading block of thinking and one code fence
around everything. What is neither gets one request for a repair. (``Answer: X`` followed by ``Reasoning:`` is not read:
on the corpus of the tests it adds a misread, *Answer: YES, Reasoning: x. Scratch that*.)
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any
from unicodedata import normalize

from jury_adapters.critic.answers import Choice, Unreadable
from jury_adapters.critic.rubric import Rubric

_THINKING = re.compile(r"(?:<think>)?(.*)</think>", re.DOTALL)
_BETWEEN = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4,8})|[^a-z/]")  # hidden characters are written as escapes
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_LINE = re.compile(r"(?:\*\*)?answer(?:\*\*)?:(?:\*\*)?[ \t]*([^\n]+)", re.IGNORECASE)
_MARKUP = " *_`\"'."


@dataclass(frozen=True, slots=True)
class Reading:
    """Answer of a reply.

    Attributes:
        choice: the answer.
        fields: all fields of the object; empty for a bare answer.
    """

    choice: Choice
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def reasoning(self) -> str:
        """The reasons; empty if there are none in words."""
        found = self.fields.get("reasoning")
        return found.strip() if isinstance(found, str) else ""

    @property
    def confidence(self) -> float | None:
        """The confidence; None if it is not a number from 0 to 1."""
        found = self.fields.get("confidence")
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
            return None
        return float(found)


def read_reply(text: str, rubric: Rubric, material: str) -> Reading | Unreadable:
    """Return the answer that the whole reply is, or why it is not one.

    Args:
        text: the reply.
        rubric: the rubric that was asked.
        material: the judged text. If it closes a block of thinking, the reply may quote that, so no block is removed.
    """
    text = text.strip("\ufeff \t\r\n")
    thought = _THINKING.match(text) if text.count("</think>") == 1 and not _closes(material) else None
    if thought is not None:
        text = text[thought.end() :].strip()
    fenced = _FENCE.fullmatch(text)
    body = fenced[1].strip() if fenced else text
    found = _object(body)
    if found is not None:
        return _read_object(found, rubric)
    line = _LINE.fullmatch(body)
    bare = rubric.answers.read((line[1] if line else body).strip(_MARKUP)) if len(body) < 200 else None
    if isinstance(bare, Choice) and thought is None and not rubric.claims_of:
        return Reading(bare)
    return Unreadable("it is not one JSON object and nothing else")


def repair_request(problem: Unreadable, rubric: Rubric | None) -> str:
    """Return the request that follows a reply that could not be read; without a rubric for a prompt's own form."""
    if rubric is None:
        return f"Your reply could not be read: {problem.problem}. Reply again, in the form that was asked for."
    claims = '"claims", ' if rubric.claims_of else ""
    return (
        f"Your reply could not be read: {problem.problem}. Reply again, with one JSON object and nothing else. Its "
        f'keys are "reasoning", {claims}"answer" ({rubric.answers.instruction}) and "confidence".'
    )


def _closes(material: str) -> bool:
    """Return whether a text may close a block of thinking, in some spelling."""
    return "/think" in _BETWEEN.sub("", normalize("NFKC", material).casefold())


def _read_object(found: dict[str, Any], rubric: Rubric) -> Reading | Unreadable:
    keys = {"reasoning", "answer", "confidence"} | ({"claims"} if rubric.claims_of else set())
    needed = {"answer", "claims"} & keys
    if not needed <= found.keys() <= keys:
        return Unreadable(f"the keys of the object must be {', '.join(sorted(keys))}")
    choice = rubric.answers.read(found["answer"])
    return choice if isinstance(choice, Unreadable) else Reading(choice, found)


def _object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None if it is not one, or has a key twice."""
    try:
        found = json.loads(text, object_pairs_hook=_unique, strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found
