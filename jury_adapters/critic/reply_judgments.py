"""Judgments of replies: those for an answer, a refusal, or a reply that cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.hidden_characters import is_blank
from jury_adapters.core.judgment import Judgment, Status, abstain, broken, evolve
from jury_adapters.core.model_families import family_of
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.unasked import EMPTY_ANSWER
from jury_adapters.core.values import JsonValue, stated
from jury_adapters.critic.answers import Choice, Labels, Scale, Vocabulary
from jury_adapters.critic.logprobs import expected_score, label_probabilities
from jury_adapters.critic.own_parser import ReplyParser
from jury_adapters.critic.parse_json import value_start
from jury_adapters.critic.parse_reply import ANSWERS, Reading, Unreadable, one_line, read_reply
from jury_adapters.critic.quoted_answers import Material
from jury_adapters.critic.rubric import Rubric
from jury_adapters.critic.shown_images import has_image_of
from jury_adapters.critic.verified_claims import outcome_of, verify_claims
from jury_adapters.models.base import Reply


def judgment_from(
    reply: Reply,
    rubric: Rubric,
    *,
    case: Case | None = None,
    threshold: float | None = None,
    material: Material | None = None,
    parser: ReplyParser | None = None,
) -> Judgment | Unreadable:
    """Return the judgment of a reply, or the reason that it cannot be read.

    After an unreadable reply, ask again with :func:`repair_request`. With log probabilities in the reply, the score is
    the expectation over the answers that the model could have given (G-Eval), and ``probabilities`` are those of the
    labels. The status stays that of the given answer.

    Args:
        reply: the model's reply.
        rubric: the rubric that was asked.
        case: the case, with which the claims of the reply are verified.
        threshold: the lowest score (0..1) that passes, instead of the rubric's own rule. An answer without a score
            keeps its meaning.
        material: the judged text; see :func:`read_reply`.
        parser: the user's own parser, which reads the reply instead of this package.
    """
    if reply.finish == "refusal":
        return _abstention(reply, rubric, "refused", "the model refused to judge")
    if reply.finish == "filter":
        return _abstention(reply, rubric, "filtered", "the vendor's content filter stopped the reply")
    truncated = reply.finish == "length"
    if not reply.text.strip():
        if truncated:
            return _abstention(reply, rubric, "truncated", "the output limit was reached before the answer began")
        return broken("empty_response", "the model replied with nothing", **_details(reply, rubric))
    read: Judgment | Unreadable
    if parser is not None:
        read = parser.judgment(reply.text, threshold)
    else:
        reading = read_reply(reply.text, rubric, truncated=truncated or reply.finish == "other", material=material)
        if isinstance(reading, Unreadable):
            read = reading
        elif rubric.claims == "verified":
            read = _claims_judgment(reading, reply, rubric, threshold, case or Case())
        else:
            read = _judgment(reading, reply, rubric, threshold)
    if isinstance(read, Unreadable):
        if truncated:
            return _abstention(reply, rubric, "truncated", f"the output limit cut the reply off: {read.problem}")
        return read
    return read if parser is None else _detailed(read, reply, rubric)


def empty_answer_judgment(rubric: Rubric, case: Case, threshold: float | None = None) -> Judgment | None:
    """Return what the rubric says of an answer without any text or image; None if a model is to be asked.

    Args:
        rubric: the rubric.
        case: the case.
        threshold: the lowest score (0..1) that passes, instead of the rubric's own rule.
    """
    if not rubric.empty_answer or case.answer is None or not is_blank(case.answer) or has_image_of("answer", case):
        return None
    choice = rubric.answers.read(rubric.empty_answer)
    if isinstance(choice, Unreadable):
        return None  # which the rubric's constructor refuses
    rating = {"rating": json.loads(choice.text)} if isinstance(rubric.answers, Scale) else {}
    reasoning = "the answer is empty, so no model was asked"
    metadata = rubric.described({**rating, EMPTY_ANSWER: True})
    status = _status(choice, threshold)
    return Judgment(status, score=choice.score, label=choice.label, reasoning=reasoning, metadata=metadata)


def _status(choice: Choice, threshold: float | None) -> Status | None:
    if threshold is None or choice.score is None:
        return choice.status
    return Status.PASS if reaches(choice.score, threshold) else Status.FAIL


def parse_failure(reply: Reply, rubric: Rubric, unreadable: Unreadable) -> Judgment:
    """Return the abstention for a reply that is unreadable after the repair request too. It keeps the raw text.

    If the reply is a label or a rating that the rubric does not have, the reason names it and the rubric's answers. If
    the rubric cites no source, its prompt may be the user's own, and the reason names the argument that changes them.
    """
    reason = f"the reply could not be read: {unreadable.problem}"
    if unreadable.answer is not None:
        reason = f"the model answered {unreadable.answer!r}, but the answer must be {rubric.answers.instruction()}"
        if not rubric.source:
            option = "scale=" if _RATING.fullmatch(unreadable.answer) else "labels="
            reason += f"; if the prompt asks for {unreadable.answer!r}, give the critic {option}"
    return _abstention(reply, rubric, "parse_fail", reason)


def _judgment(reading: Reading, reply: Reply, rubric: Rubric, threshold: float | None) -> Judgment:
    choice, probabilities = reading.choice, None
    if reply.logprobs:
        start = _answer_start(reading, reply, rubric.answers)
        expected = expected_score(reply.logprobs, rubric.answers, choice, start)
        if expected is not None and choice.status is not Status.ABSTAIN:
            choice = replace(choice, score=expected)
        if isinstance(rubric.answers, Labels):
            probabilities = label_probabilities(reply.logprobs, rubric.answers, choice, start)
    status = _status(choice, threshold)
    rating = {"rating": json.loads(choice.text)} if isinstance(rubric.answers, Scale) else {}
    notes = {"notes": reading.notes} if reading.notes else {}
    no_reason = f"the model answered {choice.text}" if status is Status.ABSTAIN else ""
    return Judgment(
        status,
        score=choice.score,
        label=choice.label,
        probabilities=probabilities,
        confidence=reading.confidence,
        reasoning=stated(reading.reasoning, no_reason),
        findings=reading.findings,
        **_details(reply, rubric, {**rating, **notes}),
    )


def _claims_judgment(
    reading: Reading, reply: Reply, rubric: Rubric, threshold: float | None, case: Case
) -> Judgment | Unreadable:
    """Return the judgment of a reply whose claims decide."""
    if reading.claims is None:
        return Unreadable('the reply has no object with a list "claims"')
    assert isinstance(rubric.answers, Labels)  # the rubric has checked it
    claims = verify_claims(reading.claims, case)
    outcome = outcome_of(claims, reading.choice, rubric.answers, threshold)
    notes = (*reading.notes, *outcome.notes)
    return Judgment(
        outcome.choice.status,
        score=outcome.choice.score,
        label=outcome.choice.label,
        confidence=reading.confidence,
        reasoning="; ".join(part for part in (outcome.summary, reading.reasoning) if part),
        claims=claims,
        **_details(reply, rubric, {"notes": notes} if notes else {}),
    )


def _answer_start(reading: Reading, reply: Reply, vocabulary: Vocabulary) -> int | None:
    """Return the start of the answer in the text of the reply's tokens; None if the tokens have another text."""
    text = "".join(token.text for token in reply.logprobs or ())
    shift = text.find(reply.text)
    edges = _EDGES.match(text, reading.start + shift) if shift >= 0 else None
    if edges is None:
        return None
    in_object = text.startswith("{", edges.end())
    return value_start(text, edges.end(), ANSWERS[type(vocabulary)]) if in_object else edges.end()


def _abstention(reply: Reply, rubric: Rubric, error: str, reason: str) -> Judgment:
    detail = f" ({one_line(reply.detail)})" if reply.detail else ""
    return abstain(f"{reason}{detail}", error=error, **_details(reply, rubric))


def _detailed(judgment: Judgment, reply: Reply, rubric: Rubric) -> Judgment:
    """Return a parser's judgment with the fields that every judgment of a critic has."""
    return evolve(judgment, **_details(reply, rubric, judgment.metadata))


def _details(reply: Reply, rubric: Rubric, more: Mapping[str, JsonValue] | None = None) -> dict[str, Any]:
    """Return the fields that every judgment of a critic has."""
    metadata = rubric.described({**(more or {}), **({"request_id": reply.request_id} if reply.request_id else {})})
    return {
        "model": reply.model or None,
        "family": family_of(reply.model),
        "usage": reply.usage,
        "raw_response": reply.text or None,
        "metadata": metadata,
    }


_RATING = re.compile(r"[-+]?\d+(?:\.\d+)?(?:/\d+)?")
_EDGES = re.compile(r"[\s\"'*_`\[(]*+")
