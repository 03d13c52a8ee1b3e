"""Gates: conditions that a verdict must meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

from jury_adapters.core.agreement import Band
from jury_adapters.core.errors import ConfigurationError, GateFailed, unknown
from jury_adapters.core.formatting import visible
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.tolerance import exceeds, reaches
from jury_adapters.core.verdict import Verdict

_BANDS: dict[str, int] = {"low": 0, "medium": 1, "high": 2}
_LONGEST = 300  # maximum number of characters of a reason


class GateOptions(TypedDict, total=False):
    """Conditions of :func:`check_gates`."""

    passed: bool
    allow_undecided: bool
    min_agreement: float
    min_confidence: Band | float
    min_eligible: int
    allow_escalation: bool
    broken_tiers: bool
    allow_same_family: bool
    allow_bias_warning: bool
    allow_partial: bool
    max_cost_usd: float
    undefined: Literal["skip", "fail"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """Result of one condition; ``note`` has the condition and the value that was found."""

    gate: str
    result: Literal["passed", "failed", "skipped"]
    note: str


def check_gates(verdict: Verdict, **conditions: Unpack[GateOptions]) -> tuple[GateResult, ...]:
    """Check the given conditions, and in any case that the verdict is decided.

    Args:
        verdict: the verdict to check.
        **conditions:
            ``passed``: whether the verdict's status must be PASS (True) or must not be (False).
            ``allow_undecided=True``: the verdict may be ABSTAIN or ERROR. Otherwise such a verdict fails, whatever the
            other conditions, because an outage must not count as a good answer.
            ``min_agreement``: minimum agreement among the jurors, 0..1.
            ``min_confidence``: minimum band (``"medium"``) of the agreement, or minimum confidence of the verdict,
            0..1.
            ``min_eligible``: minimum number of jurors that voted.
            ``allow_escalation=False``: a verdict fails if it is split, has a broken tier, or was changed by jurors that
            broke (``escalate_for_review``).
            ``broken_tiers=False``: a verdict fails if a tier broke, such as a screening tier whose check could not run,
            also in a nested cascade.
            ``allow_same_family=False``, ``allow_bias_warning=False``, ``allow_partial=False``: a verdict fails if its
            ``same_family``, ``bias_warning`` or ``partial`` is set.
            ``max_cost_usd``: maximum cost of the verdict; undefined if a price is unknown.
            ``undefined``: the effect of an undefined value (for example, a verdict of one juror, or one that a guard
            decided, has no agreement): ``"skip"`` the condition with a note (default), or ``"fail"`` it.

    Raises:
        ConfigurationError: a condition or a band is unknown.
    """
    check_conditions(conditions)
    undefined = conditions.get("undefined", "skip")
    if undefined not in ("skip", "fail"):
        raise ConfigurationError(unknown("undefined=", undefined, ("skip", "fail")))
    results = []
    if not verdict.valid and "allow_undecided" not in conditions and conditions.get("passed") is not True:
        conditions = {"allow_undecided": False, **conditions}
    for gate, asked in conditions.items():
        if gate == "undefined":
            continue
        met, found = _measure(verdict, gate, asked)
        if met is None:
            result: Literal["passed", "failed", "skipped"] = "skipped" if undefined == "skip" else "failed"
            found = f"undefined ({found})"
        else:
            result = "passed" if met else "failed"
        results.append(GateResult(gate, result, f"{gate}={asked!r}: {found}"))
    return tuple(results)


def check_conditions(names: Iterable[str]) -> None:
    """Check the names of conditions without a verdict.

    Raises:
        ConfigurationError: there is no such condition; the message suggests the closest name.
    """
    strange = set(names) - set(GateOptions.__annotations__)
    if strange:
        raise ConfigurationError(unknown("condition", min(strange), GateOptions.__annotations__))


def found_in(judgment: Judgment) -> str:
    """Return the outcome of a judgment as text; for ABSTAIN and ERROR with the reason.

    >>> found_in(Judgment("FAIL")), found_in(Judgment("ERROR", error="timeout"))
    ('found FAIL', 'found ERROR (timeout)')
    """
    if judgment.valid:
        return f"found {judgment.opinion}"
    why = visible((judgment.error or judgment.reasoning)[:_LONGEST])
    return f"found {judgment.status} ({why})" if why else f"found {judgment.status}"


def require(verdict: Verdict, **conditions: Unpack[GateOptions]) -> tuple[GateResult, ...]:
    """Check every condition and return the results.

    Raises:
        GateFailed: some conditions are not met; the error lists them.
    """
    results = check_gates(verdict, **conditions)
    unmet = [result.note for result in results if result.result == "failed"]
    if unmet:
        raise GateFailed(unmet)
    return results


def _measure(verdict: Verdict, gate: str, asked: object) -> tuple[bool | None, str]:
    """Return whether the condition is met (None if undefined), and the value that was found."""
    if gate == "min_confidence" and isinstance(asked, str):
        if asked not in _BANDS:
            raise ConfigurationError(unknown("band", asked, _BANDS))
        band = verdict.confidence_band
        return (None, _why_no_agreement(verdict)) if band is None else (_BANDS[band] >= _BANDS[asked], f"found {band}")
    if gate in ("min_agreement", "min_confidence", "min_eligible", "max_cost_usd"):
        return _compare(verdict, gate, asked)
    if not isinstance(asked, bool):
        raise ConfigurationError(f"{gate} takes True or False, not {asked!r}")
    if gate == "allow_undecided":
        return asked or verdict.valid, found_in(verdict)
    if gate == "passed":
        if verdict.passed is None:
            return None, f"the label {verdict.label!r} has no PASS/FAIL meaning"
        return verdict.passed is asked, found_in(verdict)
    if gate == "broken_tiers":
        broken = verdict.failed_tiers
        return asked or not broken, f"found {', '.join(map(visible, broken))}" if broken else "found none"
    flagged = {
        "allow_escalation": verdict.escalate_for_review,
        "allow_same_family": verdict.same_family,
        "allow_bias_warning": verdict.bias_warning is not None,
        "allow_partial": verdict.partial,
    }[gate]
    return asked or not flagged, "found" if flagged else "not found"


def _compare(verdict: Verdict, gate: str, asked: object) -> tuple[bool | None, str]:
    if isinstance(asked, bool) or not isinstance(asked, int | float):
        raise ConfigurationError(f"{gate} takes a number, not {asked!r}")
    if gate == "max_cost_usd":
        usage = verdict.usage.total  # includes recorded calls, so that a verdict from a store gives the same result
        cost = usage.cost_usd
        if exceeds(cost, asked) or usage.cost_complete:
            return not exceeds(cost, asked), f"found {cost:.6g}"
        return None, "a price is unknown"
    found = {
        "min_agreement": verdict.agreement,
        "min_confidence": verdict.confidence,
        "min_eligible": verdict.tally.eligible,
    }[gate]
    if found is None:
        return None, _why_no_agreement(verdict) if gate == "min_agreement" else "no confidence"
    return reaches(found, asked), f"found {found:.6g}"


def _why_no_agreement(verdict: Verdict) -> str:
    return "decided by a guard, by rule" if verdict.by_rule else "fewer than two ballots"
