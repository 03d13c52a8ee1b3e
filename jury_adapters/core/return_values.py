"""Conversion of the return value of a judge to a judgment."""

from __future__ import annotations

import numbers
from typing import Protocol

from jury_adapters.core.judgment import Judgment, Status, evolve
from jury_adapters.core.run_errors import RUN_ERROR
from jury_adapters.core.secrets import without_keys
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import FrozenDict, clean_text, plain_scalar, shown, stated
from jury_adapters.core.verdict import SCORECARD, Verdict


class Breakable(Protocol):
    """Part of the judge interface that reports failures; :class:`jury_adapters.Judge` describes the members."""

    @property
    def name(self) -> str: ...

    def failure(self, error: BaseException | str, reasoning: str = "") -> Judgment: ...


def run_failed(judge: Breakable, error: str) -> Judgment:
    """Return the judgment of an application run that failed.

    The judge is not asked about such a run. The judgment is FAIL with the score 0.0, and a verdict if the judge is a
    jury.

    Args:
        judge: the judge that would have judged the run.
        error: the error with which the run ended; API keys in it are redacted.
    """
    error = without_keys(error)
    return evolve(
        judge.failure("run_failed"), status=Status.FAIL, score=0.0, error=None, critic=judge.name,
        reasoning=f"the run failed: {error}", metadata=FrozenDict({RUN_ERROR: error}),
    )  # fmt: skip


def run_paused(judge: Breakable) -> Judgment:
    """Return the judgment of an application run that paused to ask a person: ABSTAIN, because it has no answer yet.

    The judge is not asked about such a run.
    """
    return evolve(
        judge.failure("run_paused"), status=Status.ABSTAIN, error=None, critic=judge.name,
        reasoning="the run paused to ask a person, so it has no answer yet: resume it in the target, or judge what it "
        "did so far with whole_thread=True or a field map",
    )  # fmt: skip


def is_failed_run(judgment: Judgment) -> bool:
    """Whether no judge was asked because the run of the application failed; see :func:`run_failed`.

    The verdict on several evaluators of one run is that of their criteria.
    """
    return run_error_of(judgment) is not None


def run_error_of(judgment: Judgment) -> str | None:
    """Return the error of the run of the application that failed; None if the run did not fail.

    See :func:`is_failed_run`.
    """
    if isinstance(judgment, Verdict) and judgment.voting == SCORECARD:
        return next((said for one in judgment.judgments if (said := run_error_of(one)) is not None), None)
    error = judgment.metadata.get(RUN_ERROR)
    return None if error is None else str(error)


def to_judgment(outcome: object, threshold: float = 0.5) -> Judgment:
    """Convert the return value of a judge: a bool, a score 0..1, a Status, a pair with the reason, or a Judgment.

    Raises:
        TypeError: it is none of these; the message lists what to return.
        ConfigurationError: a score is outside 0..1.
    """
    if outcome is True or outcome is False:  # the most frequent case
        return evolve(_PASSED if outcome else _FAILED)
    reason = ""
    if isinstance(outcome, Judgment):
        return outcome
    if isinstance(outcome, tuple) and len(outcome) == 2:
        outcome, text = outcome
        reason = "" if text is None else stated(shown(text), "")
    if isinstance(outcome, Judgment):
        return evolve(outcome, reasoning=clean_text(reason) or outcome.reasoning)  # a copy, it may be shared
    if outcome is Status.ABSTAIN:
        return Judgment(outcome, reasoning=reason or _NO_REASON)
    if outcome is Status.ERROR:
        return Judgment(outcome, reasoning=reason, error=reason or _NO_REASON)
    if isinstance(outcome, Status):
        return Judgment(outcome, reasoning=reason)
    outcome = plain_scalar(outcome)
    if isinstance(outcome, bool):
        return Judgment(Status.PASS if outcome else Status.FAIL, reasoning=reason)
    if isinstance(outcome, numbers.Real):
        score = float(outcome)
        return Judgment(Status.PASS if reaches(score, threshold) else Status.FAIL, score=score, reasoning=reason)
    raise TypeError(
        f"a judge returned {type(outcome).__name__}; return True or False, a score from 0 to 1, a Status, a pair "
        "(one of these, reason), or a Judgment (for a label: Judgment(None, label=...))"
    )


_NO_REASON = "no reason was given"
_PASSED, _FAILED = Judgment(Status.PASS), Judgment(Status.FAIL)  # to copy; building one takes longer
