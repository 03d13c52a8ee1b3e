"""Judgments in results of evaluators of other packages, of which only the results are known."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from dataclasses import replace

from jury_adapters.core.judgment import Judgment, abstain, evolve
from jury_adapters.core.usage import UNCOUNTED
from jury_adapters.core.values import freeze_mapping, plain_scalar
from jury_adapters.judges.external_results import ROUNDING, EvaluatorResult, Scale, read_result

_log = logging.getLogger(__name__)


class RawResults:
    """Reader of the results of one evaluator, whose scale is not known.

    Its numbers are scores if all of them can be scores from 0 (worst) to 1 (best), except for rounding. If one is
    outside, or contradicts its PASS or FAIL, the others are on another scale too, even a rating of 1 from 1 to 5: then
    none is a score, all stay in the metadata, and the log says so. The calls and the cost of the evaluator are unknown.

    Args:
        results: all results of the evaluator.
        name: its name, for the log.

    >>> ratings = [{"score": 5.0, "passing": True}, {"score": 1.0, "passing": True}]
    >>> RawResults(ratings[1:]).judgment(ratings[1]).score, RawResults(ratings).judgment(ratings[1]).score
    (1.0, None)
    """

    def __init__(self, results: Iterable[object], name: str = "") -> None:
        self._doubt = next(filter(None, map(_doubt_in, results)), "")
        if self._doubt:
            _log.warning(
                "the numbers%s are not scores from 0 (worst) to 1 (best): %s. None is reported as a score; a judge "
                "made by from_evaluator(..., scale=(worst, best)) converts them",
                f" of {name}" if name else "", self._doubt,
            )  # fmt: skip

    def judgment(self, result: object) -> Judgment:
        """Return the judgment in one of the results. Without ``passing``, a score from 0.5 is PASS."""
        read = read_raw(result)
        score = _number_in(read)
        if score is None or read.error or not self._doubt:
            return _SCALE.judgment(read, UNCOUNTED)
        kept = freeze_mapping({"score": score})
        if read.passed is None:
            outside = f"the score {score!r} is outside 0 to 1"
            unknown = f"the scale of the score {score!r} is unknown ({self._doubt})"
            reason = f"{outside if _is_outside(score) else unknown}, and there is no passing"
            return abstain(reason, metadata=kept, usage=UNCOUNTED)
        judgment = _SCALE.judgment(replace(read, score=None), UNCOUNTED)
        return evolve(judgment, metadata=freeze_mapping({**judgment.metadata, **kept}))


def read_raw(result: object) -> EvaluatorResult:
    """Return a result that is a single one, as :func:`jury_adapters.judges.external_results.read_result` reads it."""
    read = read_result(result)
    assert isinstance(read, EvaluatorResult)
    return read


def _doubt_in(result: object) -> str:
    """Return why the number in a result is not a score from 0 to 1; empty if it can be one."""
    read = read_raw(result)
    score = _number_in(read)
    if score is None:
        return ""
    if _is_outside(score):
        return f"{score!r} is outside 0 to 1"
    if read.passed is False and score >= 1:
        return f"a result with {score!r} fails"
    return f"a result with {score!r} passes" if read.passed and score <= 0 else ""


def _number_in(read: EvaluatorResult) -> float | None:
    score = plain_scalar(read.score)
    return score if isinstance(score, int | float) and not isinstance(score, bool) and not math.isnan(score) else None


def _is_outside(score: float) -> bool:
    return not -ROUNDING <= score <= 1 + ROUNDING


_SCALE = Scale((0.0, 1.0), None, frozenset())
