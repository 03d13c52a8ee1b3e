"""Conversion of a rubric to a decision model's question, and of its probabilities to a judgment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import fsum

from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import normalise_score
from jury_adapters.critic.answers import Labels, Scale
from jury_adapters.critic.prompt import task_text
from jury_adapters.critic.rubric import Rubric
from jury_adapters.decision.scale_levels import levels_of
from jury_adapters.models.base import Answer, Question

_DECIDES = frozenset({Status.PASS, Status.FAIL})


@lru_cache(maxsize=256)
def question_for(rubric: Rubric) -> Question:
    """Return the rubric as one question.

    Labels become a choice, or a yes-or-no question if there is one passing and one failing label. A scale becomes its
    levels.

    >>> from jury_adapters import Labels
    >>> question_for(Rubric(name="polite", answers=Labels.of(passing=["OK"], failing=["RUDE"]))).kind
    'predicate'
    """
    task = task_text(rubric)
    if isinstance(rubric.answers, Scale):
        return Question(f"{task}\n\nThe answer is {rubric.answers.instruction()}.", "score", levels_of(rubric.answers))
    pair = _pair(rubric.answers)
    if pair is not None:
        return Question(f'{task}\n\nIs the right answer "{pair[0]}", and not "{pair[1]}"?')
    names = tuple(label.name for label in rubric.answers.labels)
    return Question(f"{task}\n\nThe answer is {rubric.answers.instruction()}.", "choice", names)


def judgment_of(answer: Answer, rubric: Rubric, threshold: float | None = None) -> Judgment:
    """Return the judgment for a decision model's answer.

    Args:
        answer: the model's answer to :func:`question_for` this rubric.
        rubric: the rubric that was asked.
        threshold: the lowest score that passes; by default 0.5 for labels, the rubric's pass mark for a scale.
    """
    if answer.refused is not None:
        reason = f"the model refused to judge: {answer.refused}"
        return abstain(reason, error="refused", metadata=rubric.described())
    shares = _shares(answer, rubric)
    if not fsum(shares.values()) > 0:
        given = ", ".join(answer.probabilities) or "nothing"
        reason = f"the model gave no probability to any answer of the rubric, but to {given}"
        return abstain(reason, error="parse_fail", metadata=rubric.described())
    if isinstance(rubric.answers, Scale):
        return _rated(answer, rubric, rubric.answers, shares, threshold)
    return _labelled(answer, rubric, rubric.answers, shares, threshold)


def _labelled(
    answer: Answer, rubric: Rubric, labels: Labels, shares: Mapping[str, float], threshold: float | None
) -> Judgment:
    """Return a judgment with the most probable label. All passing labels together decide whether it passes."""
    top = max(labels.labels, key=lambda label: shares[label.name])  # the first of equally probable labels
    status, score = top.meaning, None
    if status in _DECIDES:
        score = min(1.0, fsum(shares[label.name] for label in labels.labels if label.meaning is Status.PASS))
        status = Status.PASS if reaches(score, 0.5 if threshold is None else threshold) else Status.FAIL
    return Judgment(
        status,
        score=score,
        label=top.name,
        probabilities=shares,
        confidence=shares[top.name] if answer.confidence is None else answer.confidence,
        reasoning=f"the model answered {top.name}" if status is Status.ABSTAIN else "",
        metadata=rubric.described(),
    )


def _rated(
    answer: Answer, rubric: Rubric, scale: Scale, shares: Mapping[str, float], threshold: float | None
) -> Judgment:
    """Return a judgment that compares the expectation over the scale with its pass mark."""
    total = fsum(shares.values())
    rating = fsum(float(level) * share for level, share in shares.items()) / total
    rating = min(max(rating, scale.minimum), scale.maximum)
    score = normalise_score(rating, scale.minimum, scale.maximum)
    mark = normalise_score(scale.pass_mark, scale.minimum, scale.maximum) if threshold is None else threshold
    return Judgment(
        Status.PASS if score >= mark else Status.FAIL,
        score=score,
        probabilities=shares,
        confidence=max(shares.values()) if answer.confidence is None else answer.confidence,
        metadata=rubric.described({"rating": rating}),
    )


def _shares(answer: Answer, rubric: Rubric) -> dict[str, float]:
    """Return the probability of each answer of the rubric, by the rubric's own names. Other answers are left out."""
    given = answer.probabilities
    if isinstance(rubric.answers, Scale):
        return {level: given.get(level, 0.0) for level in levels_of(rubric.answers)}
    pair = _pair(rubric.answers)
    if pair is not None:
        return {pair[0]: given.get("yes", 0.0), pair[1]: given.get("no", 0.0)}
    return {label.name: given.get(label.name, 0.0) for label in rubric.answers.labels}


def _pair(labels: Labels) -> tuple[str, str] | None:
    """Return the passing and the failing label if there is one of each and no other, else None."""
    by_meaning = {label.meaning: label.name for label in labels.labels}
    if len(labels.labels) == 2 and by_meaning.keys() == _DECIDES:
        return by_meaning[Status.PASS], by_meaning[Status.FAIL]
    return None
