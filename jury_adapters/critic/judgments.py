"""Judgments of replies: for an answer, for a refusal, and for a reply that cannot be read."""

import math
from collections.abc import Callable
from typing import Any, cast

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Returned, to_judgment
from jury_adapters.core.judgment import Judgment, Status, abstain, broken
from jury_adapters.core.text import visible as in_one_line
from jury_adapters.core.values import without_keys
from jury_adapters.critic.answers import Choice, Scale, Unreadable, passes
from jury_adapters.critic.claims import read_claims, verify
from jury_adapters.critic.logprobs import answer_probabilities
from jury_adapters.critic.prompt import has_blank_answer, missing_fields, shown_images, visible
from jury_adapters.critic.reading import Reading, read_reply
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import Reply

Parser = Callable[[str], Returned]
_UNREAD = {
    "refusal": ("refused", "the model refused to judge"),
    "filter": ("filtered", "the content filter of the vendor stopped the reply"),
    "length": ("truncated", "the output limit cut the reply off; raise max_tokens"),
    "other": ("unfinished", "the reply ended for a reason that is not known, so it may be incomplete"),
}
"""Why a reply is not read, by the reason for which it ended."""


def judgment_without_model(rubric: Rubric, case: Case, *, image_urls: bool) -> Judgment | None:
    """Return the judgment of a case about which no model is to be asked; None if one is.

    The case lacks a field, an image is only at an address, or the answer is blank and the rubric says what that means.
    """
    if missing := missing_fields(rubric, case):
        return abstention("missing", f"nothing to judge: the case has no {' and no '.join(missing)}")
    for number, image in enumerate(shown_images(rubric, case), start=1):
        if image.url is not None and not image_urls:
            reason = f"image {number} is at an address, which the vendor would fetch"
            return abstention("image_url", f"{reason}; give its data, or allow addresses with image_urls=True")
    if rubric.empty_answer is None or not has_blank_answer(case):
        return None
    choice = cast(Choice, rubric.answers.read(rubric.empty_answer))  # the rubric has checked it
    return _judgment(choice, "the answer is empty, so no model was asked", rubric)


def judgment_of(
    reply: Reply, rubric: Rubric, case: Case, material: str, parse: Parser | None = None
) -> Judgment | Unreadable:
    """Return the judgment of a reply, or why it cannot be read, so that the model is asked once more.

    Args:
        reply: the reply.
        rubric: the rubric that was asked.
        case: the case.
        material: the judged text, as the model saw it.
        parse: the user's own reader of replies.
    """
    if reply.finish in _UNREAD:
        cause, reason = _UNREAD[reply.finish]
        detail = f": {in_one_line(reply.detail)}" if reply.detail else ""
        return abstention(cause, f"{reason}{detail}", reply.text)
    if not reply.text.strip():
        return broken("the model replied with nothing", metadata={"cause": "empty_reply"})
    if parse is not None:
        try:
            return to_judgment(parse(reply.text), rubric.pass_mark)
        except ValueError as error:
            return Unreadable(in_one_line(str(error)))
    reading = read_reply(reply.text, rubric, material)
    if isinstance(reading, Unreadable):
        return reading
    return _of_claims(reading, rubric, case) if rubric.claims_of else _of_answer(reading, reply, rubric)


def parse_failure(reply: Reply, problem: Unreadable, parse: Parser | None = None) -> Judgment:
    """Return the abstention for a reply that is unreadable also after the request for a repair. It keeps the text."""
    way_out = "" if parse is not None else "; parse= reads other forms"
    return abstention("parse_fail", f"the reply could not be read: {problem}{way_out}", reply.text)


def _of_answer(reading: Reading, reply: Reply, rubric: Rubric) -> Judgment:
    """Return the judgment of an answer; its score is the expectation over all answers if probabilities are known."""
    choice, values, more = reading.choice, rubric.answers.values, {}
    names = values if rubric.scale else [*rubric.answers.declared, *values]
    if reply.logprobs and (shares := answer_probabilities(reply.logprobs, names, choice.text)):
        more = {"probabilities": shares}
        known = {name: share for name, share in shares.items() if name in values}
        if choice.text in known:
            expected = math.fsum(values[name] * share for name, share in known.items()) / math.fsum(known.values())
            choice = _with_score(choice, min(1.0, expected), rubric)
    return _judgment(choice, reading.reasoning, rubric, confidence=reading.confidence, **more)


def _with_score(choice: Choice, score: float, rubric: Rubric) -> Choice:
    """Return an answer with an expected score, which decides only if the rubric has a threshold."""
    stays = rubric.threshold is None or choice.status is Status.LABEL
    status = choice.status if stays else passes(score, rubric.pass_mark)
    return Choice(choice.text, status, choice.label if status is choice.status else None, score)


def _of_claims(reading: Reading, rubric: Rubric, case: Case) -> Judgment | Unreadable:
    claims = read_claims(reading.fields.get("claims"))
    if isinstance(claims, Unreadable):
        return claims
    found = verify(claims, reading.choice.status, case, rubric)
    if isinstance(found, Unreadable):
        return found
    differs = found.status is not reading.choice.status
    return found.but(
        confidence=None if differs else reading.confidence,
        reasoning="; ".join(filter(None, (found.reasoning, reading.reasoning))),
        metadata={"answer": reading.choice.text} if differs else {},
    )


def _judgment(
    choice: Choice, reasoning: str, rubric: Rubric, *, confidence: float | None = None, **metadata: Any
) -> Judgment:
    if choice.status is Status.ABSTAIN:
        said = reasoning or f"the model answered {choice.text}"
        return Judgment(status=choice.status, reasoning=said, confidence=confidence, metadata=metadata)
    if isinstance(rubric.answers, Scale):
        metadata["rating"] = float(choice.text)
    elif choice.label is None and choice.text != choice.status:
        metadata["answer"] = choice.text
    return Judgment(
        status=choice.status,
        score=choice.score,
        label=choice.label,
        confidence=confidence,
        reasoning=reasoning,
        metadata=metadata,
    )


def abstention(cause: str, reason: str, reply: str = "") -> Judgment:
    """Return an ABSTAIN with its cause in the metadata, and the reply that led to it."""
    said = {"reply": visible(without_keys(reply))} if reply else {}
    return abstain(reason, metadata={"cause": cause, **said})
