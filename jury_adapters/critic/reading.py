"""Reading of a reply: the answer that the whole reply is.

Nothing is searched inside a text, so nothing that a reply quotes can be its answer. A reply is one JSON object with the
keys that were asked for, after removing one leading block of thinking and one code fence around everything; or it is
one label or rating. What is neither gets one request for a repair. (``Answer: X`` followed by ``Reasoning:`` is not
read: on the corpus of the tests it adds a misread, *Answer: YES, Reasoning: x. Scratch that*.)

A block of thinking ends with the only ``</think>`` of a reply. If the judged text has that word, in some spelling, the
reply may quote it, and no block is removed.
"""

import json
import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from jury_adapters.core.text import unique
from jury_adapters.critic.answers import Choice, Unreadable
from jury_adapters.critic.prompt import HIDDEN
from jury_adapters.critic.rubric import Rubric

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U000([0-9a-fA-F]{5}))")
_CLOSING = re.compile(r"</think(?![a-z])|/think>")
_FENCE = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_LINE = re.compile(r"(?:\*\*)?answer(?:\*\*)?:(?:\*\*)?[ \t]*([^\n]+)", re.IGNORECASE)
_MARKUP = " *_`\"'"


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
        material: the judged text.
    """
    text = text.strip("\ufeff \t\r\n")
    found, body = _object(text), text
    if found is None:  # an object may well speak of thinking
        body = _after_thinking(text, material)
        found = _object(body)
    if isinstance(found, Unreadable):
        return found
    if found is not None:
        return _read_object(found, rubric)
    bare = None if len(body) >= 200 or rubric.claims_of or body is not text else _bare(body, rubric)
    return Reading(bare) if isinstance(bare, Choice) else Unreadable("it is not one JSON object and nothing else")


def repair_request(problem: Unreadable, rubric: Rubric | None) -> str:
    """Return the request that follows a reply that could not be read; without a rubric for a prompt's own form."""
    if rubric is None:
        return "Your reply could not be read. Reply again, in the form that was asked for."  # a parser may quote it
    claims = '"claims", ' if rubric.claims_of else ""
    return (
        f"Your reply could not be read: {problem.problem}. Reply again, with one JSON object and nothing else. Its "
        f'keys are "reasoning", {claims}"answer" ({rubric.answers.instruction}) and "confidence".'
    )


def _after_thinking(text: str, material: str) -> str:
    """Return a reply without a leading block of thinking; unchanged if it is not certain where that ends."""
    head, closing, rest = text.partition("</think>")
    is_sure = closing and closing not in rest and "<think>" not in head[1:] and _object(head) is None
    return rest.strip() if is_sure and not _closes(material) else text


def _closes(material: str) -> bool:
    """Return whether a text may close a block of thinking, in some spelling."""
    text = _ESCAPE.sub(lambda found: chr(int(next(filter(None, found.groups())), 16)), unescape(unquote(material)))
    return bool(_CLOSING.search("".join(HIDDEN.sub("", normalize("NFKC", text)).casefold().split())))


def _bare(body: str, rubric: Rubric) -> Choice | Unreadable:
    """Return the label or rating that a text is, perhaps in markup or after the word *answer*."""
    line = _LINE.fullmatch(body)
    said = (line[1] if line else body).rstrip(".")
    # A label may look like markup, so the whole text is tried first.
    tried = map(rubric.answers.read, (body, said, said.strip(_MARKUP).rstrip(".").strip(_MARKUP)))
    return next((one for one in tried if isinstance(one, Choice)), Unreadable("it is not an answer"))


def _read_object(found: dict[str, Any], rubric: Rubric) -> Reading | Unreadable:
    keys = {"reasoning", "answer", "confidence"} | ({"claims"} if rubric.claims_of else set())
    needed = {"answer", "claims"} & keys
    if not needed <= found.keys() <= keys:
        return Unreadable(f"the keys of the object must be {', '.join(sorted(keys))}")
    choice = rubric.answers.read(found["answer"])
    return choice if isinstance(choice, Unreadable) else Reading(choice, found)


def _object(text: str) -> dict[str, Any] | Unreadable | None:
    """Return the JSON object that a text is, perhaps in a code fence; None if it is not one."""
    fenced = _FENCE.fullmatch(text.strip())
    try:
        found = _DECODER.decode(fenced[1] if fenced else text)
    except (json.JSONDecodeError, RecursionError):
        return None
    except ValueError:
        return Unreadable("the object has a key twice, or a number that is too long")
    return found if isinstance(found, dict) else None


_DECODER = json.JSONDecoder(object_pairs_hook=unique, strict=False)
