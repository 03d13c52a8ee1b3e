"""Results of evaluators of other packages: reading of their forms, and judgment on their scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Final, TypeGuard

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import clip, counted
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain, broken
from jury_adapters.core.loose_values import field_of
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import EMPTY, FrozenDict, freeze, plain_scalar, shown, stated

ROUNDING: Final = 1e-6
"""Distance from the end of a scale up to which a score is on it: similarities of 1.0000001 are common."""


@dataclass(frozen=True, slots=True)
class EvaluatorResult:
    """Result of a foreign evaluator.

    Attributes:
        name: the name of the criterion, in the evaluator's words.
        score: the unconverted score; None if there is none.
        passed: its own PASS or FAIL, or None.
        label: its answer in words, or None.
        reason: the reason.
        details: all other parts of the result.
        cost_usd: the reported cost, if there is one.
        error: the evaluator's error message; the other attributes are then ignored.
    """

    _: KW_ONLY
    name: str = ""
    score: object = None
    passed: bool | None = None
    label: str | None = None
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    cost_usd: float | None = None
    error: str = ""


def read_result(said: object) -> EvaluatorResult | list[EvaluatorResult]:
    """Read the result of an evaluator, or of a metric object that keeps its result.

    A number or a bool is a score, a text is a label, None or a blank text means that there is none. In a mapping or an
    object, these fields count, in the words of LangSmith, LlamaIndex, autoevals and DeepEval: ``score`` or ``value``;
    ``passing``, ``success`` or ``is_successful()``; ``comment``, ``reasoning``, ``feedback`` or ``reason``, also those
    in ``metadata``; ``key`` or ``name``; ``metadata`` and ``score_breakdown`` as details; ``evaluation_cost``.
    ``invalid_result`` and ``skipped`` leave no score, and ``error`` is an error. A list, and a list under ``results``,
    contains several results.

    Raises:
        TypeError: the result has none of these forms.
        Exception: the evaluator's own, if the result contains it.
    """
    several = said if isinstance(said, list | tuple) else field_of(said, "results")
    return [_result(one) for one in several] if isinstance(several, list | tuple) else _result(said)


def with_score(said: object, result: EvaluatorResult) -> EvaluatorResult:
    """Return the result of an evaluator that answers with a score, where its value is not a label of its own.

    ``langchain_classic`` returns ``score=None`` and the reply as ``value`` when it cannot read the reply of its model.
    A result that has a score, or no entry for it, is returned unchanged.

    Args:
        said: what the evaluator returned.
        result: the same, as :func:`read_result` reads it.
    """
    if result.label is None or result.score is not None or not (isinstance(said, Mapping) and "score" in said):
        return result
    details = {**result.details, "reasoning": result.reason} if stated(result.reason, "") else result.details
    reason = f"the evaluator gave no score, and its value is '{clip(result.label, _LONGEST_VALUE)}'"
    return replace(result, label=None, reason=reason, details=details)


def read_preference(score: object, label: object, reason: str) -> Judgment:
    """Return the better of two candidates: by the label, else by the score, 1 for the first and 0 for the second.

    The label of the judgment is ``A``, ``B`` or ``tie``; without a preference it is ABSTAIN.
    """
    preferred = label if label in ("A", "B") else _BY_SCORE.get(score) if isinstance(score, int | float) else None
    if not isinstance(preferred, str):
        return abstain(stated(reason, f"no preference: value {label!r}, score {score!r}"))
    return Judgment(None, label=preferred, reasoning=reason)


def preference_between(read: EvaluatorResult, result: object) -> Judgment:
    """Return the better of two responses, according to a result of LlamaIndex's ``PairwiseComparisonEvaluator``.

    In a flipped comparison, the result is about the second response.

    Args:
        read: the result, as :func:`read_result` reads it.
        result: the result itself.
    """
    source, score = getattr(result, "pairwise_source", None), plain_scalar(read.score)
    source = getattr(source, "value", source)
    if score is None and read.passed is not None:
        score = float(read.passed)
    if source == "flipped" and isinstance(score, int | float):
        score = 1.0 - score
    return read_preference(0.5 if source == "neither" else score, None, read.reason)


def is_cost(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of US dollars from 0."""
    return _is_number(value) and value >= 0


def text_of(value: object) -> str:
    """Return a value as text; None is the empty text."""
    return "" if value is None else shown(value)


def _result(said: object) -> EvaluatorResult:
    plain = plain_scalar(said)
    if plain is None or isinstance(plain, bool | int | float):
        return EvaluatorResult(score=plain)
    if isinstance(plain, str):
        return EvaluatorResult(label=stated(plain, "") or None)
    if not any(name in said if isinstance(said, Mapping) else hasattr(said, name) for name in _SAYING):
        raise TypeError(f"the evaluator returned {type(said).__name__} without a score, a value or a comment")
    error = field_of(said, "error")
    if isinstance(error, Exception):
        raise error
    metadata = field_of(said, "metadata")
    details = dict(metadata) if isinstance(metadata, Mapping) else {}
    reasons = [field_of(said, name) for name in _REASONS] + [
        details.pop(name, None) for name in ("rationale", "reason")
    ]
    reason = next((text for text in map(text_of, reasons) if stated(text, "")), "")
    if field_of(said, "skipped") is True or field_of(said, "invalid_result") is True:
        why = stated(text_of(field_of(said, "invalid_reason")), reason)
        return EvaluatorResult(reason=stated(why, "the result is invalid"))
    value, score = plain_scalar(field_of(said, "value")), field_of(said, "score")
    if score is None and isinstance(value, bool | int | float):
        score = value
    if breakdown := field_of(said, "score_breakdown"):
        details["score_breakdown"] = breakdown
    cost = field_of(said, "evaluation_cost")
    name = text_of(field_of(said, "key") or field_of(said, "name"))
    return EvaluatorResult(
        name="" if name == "score" else name,  # openevals' default name
        score=score,
        passed=_passed(said, score),
        label=stated(value, "") or None if isinstance(value, str) else None,
        reason=reason,
        details=details,
        cost_usd=cost if isinstance(cost, int | float) else None,
        error=stated(text_of(error), ""),
    )


def _passed(said: object, score: object) -> bool | None:
    """Return the evaluator's own PASS or FAIL. That of a metric counts only if it has a score."""
    passed = field_of(said, "passing")
    if passed is None and score is not None:
        is_successful = getattr(said, "is_successful", None)
        passed = is_successful() if callable(is_successful) else field_of(said, "success")
    return passed if isinstance(passed, bool) else None


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale, threshold and labels that decide whether results are PASS or FAIL."""

    ends: tuple[float, float]
    threshold: float | None
    pass_labels: frozenset[str]

    def __post_init__(self) -> None:
        scale = self.ends
        if not (isinstance(scale, tuple | list) and len(scale) == 2 and all(map(_is_number, scale))) or (
            scale[0] == scale[1]
        ):
            raise ConfigurationError(f"scale is a pair (worst, best) of two different numbers, not {plain_repr(scale)}")
        if self.threshold is not None and not (
            _is_number(self.threshold) and min(scale) <= self.threshold <= max(scale)
        ):
            raise ConfigurationError(
                f"threshold is a score on the scale {_written(scale)}, not {plain_repr(self.threshold)}"
            )

    def pass_score(self, own_threshold: object) -> float | None:
        """Return the threshold as a score from 0 to 1; None if the evaluator decides by one that is unknown.

        Args:
            own_threshold: the threshold of the evaluator itself, which decides without one of the user.
        """
        threshold = own_threshold if self.threshold is None else self.threshold
        on_scale = _is_number(threshold) and min(self.ends) <= threshold <= max(self.ends)
        return self._share(threshold) if on_scale else None

    def judgment(self, said: EvaluatorResult | Sequence[EvaluatorResult], usage: Usage) -> Judgment:
        """Return the judgment on one result or several.

        Raises:
            ConfigurationError: a score is not a number, or outside the scale.
        """
        results = [said] if isinstance(said, EvaluatorResult) else said
        if error := next((one.error for one in results if one.error), ""):
            return broken(error, usage=usage)
        return self._of_one(said, usage) if isinstance(said, EvaluatorResult) else self._of_many(said, usage)

    def _of_one(self, result: EvaluatorResult, usage: Usage) -> Judgment:
        status, score = self._read(result)
        reason = result.reason
        if status is None and result.label is None:
            status, reason = Status.ABSTAIN, stated(reason, "there is no score")
        return Judgment(
            status, score=score, label=result.label, reasoning=reason, critic=result.name, usage=usage,
            metadata=_details(result.details),
        )  # fmt: skip

    def _of_many(self, results: Sequence[EvaluatorResult], usage: Usage) -> Judgment:
        if not results:
            return abstain("there is no result", usage=usage)
        findings, scores = [], []
        for position, result in enumerate(results, start=1):
            status, score = self._read(result)
            passed = None if status is None else status is Status.PASS
            detail = result.reason or ("" if result.label is None else f"label {result.label}")
            findings.append(Finding(result.name or f"result {position}", passed, detail, score=score))
            if passed is not None:
                scores.append(float(passed) if score is None else score)
        if not scores:
            return abstain("there is no score", findings=tuple(findings), usage=usage)
        failed = [finding.name for finding in findings if finding.passed is False]
        return Judgment(
            Status.FAIL if failed else Status.PASS,
            score=math.fsum(scores) / len(scores),
            reasoning=f"failed: {', '.join(failed)}"
            if failed
            else f"{counted(len(scores), 'result passes', 'results pass')}",
            findings=tuple(findings),
            usage=usage,
        )

    def _read(self, result: EvaluatorResult) -> tuple[Status | None, float | None]:
        """Return PASS, FAIL or None, and the score as 0..1 or None.

        Raises:
            ConfigurationError: the score is not a number, or outside the scale.
        """
        score = plain_scalar(result.score)
        if isinstance(score, bool):
            worst, best = self.ends
            return (Status.PASS if score is (worst < best) else Status.FAIL), None
        absent = score is None or (isinstance(score, float) and math.isnan(score))
        share = None if absent else self._share(score)
        if result.passed is not None and (self.threshold is None or share is None):
            return (Status.PASS if result.passed else Status.FAIL), share
        if share is not None:
            at_least = 0.5 if self.threshold is None else self._share(self.threshold)
            return (Status.PASS if reaches(share, at_least) else Status.FAIL), share
        if result.label is not None and self.pass_labels:
            return (Status.PASS if result.label in self.pass_labels else Status.FAIL), None
        return None, None

    def _share(self, score: object) -> float:
        """Return the position of a score between worst and best, from 0 to 1."""
        worst, best = self.ends
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise ConfigurationError(f"a score is a number, not {plain_repr(score)}")
        share = (score - worst) / (best - worst)
        if not -ROUNDING <= share <= 1 + ROUNDING:
            raise ConfigurationError(
                f"the score {score!r} is outside the scale {_written(self.ends)}; say what it runs from and to: "
                "scale=(worst, best)"
            )
        return min(1.0, max(0.0, share))


_LONGEST_VALUE = 80
_BY_SCORE: dict[float, str] = {1.0: "A", 0.5: "tie", 0.0: "B"}
_REASONS = ("comment", "reasoning", "feedback", "reason")
_SAYING = ("score", "value", "passing", "success", "invalid_result", "skipped", "error", *_REASONS)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _written(scale: Sequence[float]) -> str:
    return f"{scale[0]:g}..{scale[1]:g}"


def _details(details: Mapping[str, object]) -> FrozenDict:
    """Return the other parts of a result under one key; as text if they are nested infinitely."""
    if not details:
        return EMPTY
    try:
        return FrozenDict({"details": freeze(details)})
    except ConfigurationError:
        return FrozenDict({"details": shown(details)})
