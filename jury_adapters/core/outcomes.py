"""From what a judge returned to a judgment."""

from __future__ import annotations

import numbers
from typing import Protocol

from jury_adapters.core.judgment import Judgment, Status, evolve
from jury_adapters.core.secrets import without_keys
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import FrozenDict, clean_text, plain_scalar, shown, stated


class Breakable(Protocol):
    """A judge, as far as its failures go; :class:`jury_adapters.Judge` describes the members."""

    @property
    def name(self) -> str: ...

    def failure(self, error: BaseException | str, reasoning: str = "") -> Judgment: ...


def run_failed(judge: Breakable, error: str) -> Judgment:
    """Return the judgment on a run of an application that failed.

    Such a run is not a case for the judge. It is FAIL with the score 0.0, in the shape of the judge's own judgments.

    Args:
        judge: the judge that was to judge the run.
        error: what the run ended with; keys in it are redacted.
    """
    error = without_keys(error)
    return evolve(
        judge.failure("run_failed"), status=Status.FAIL, score=0.0, error=None, critic=judge.name,
        reasoning=f"the run failed: {error}", metadata=FrozenDict({"run_error": error}),
    )  # fmt: skip


def to_judgment(outcome: object, threshold: float = 0.5) -> Judgment:
    """Read what a judge returned: a bool, a score 0..1, a Status, a pair with the reason, or a Judgment.

    Raises:
        TypeError: it is none of these; the message says what to return.
        ConfigurationError: a score outside 0..1.
    """
    reason = ""
    if isinstance(outcome, Judgment):
        return outcome
    if isinstance(outcome, tuple) and len(outcome) == 2:
        outcome, text = outcome
        reason = stated(shown(text), "")
    if isinstance(outcome, Judgment):
        return evolve(outcome, reasoning=clean_text(reason) or outcome.reasoning)  # a copy: others may hold it too
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
