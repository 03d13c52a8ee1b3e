"""Gates: conditions that a verdict must meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal, TypedDict, Unpack

from jury_adapters.core.agreement import Band
from jury_adapters.core.errors import ConfigurationError, GateFailed, plain_repr, unknown
from jury_adapters.core.formatting import visible
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.tolerance import exceeds, reaches
from jury_adapters.core.verdict import SCORECARD, Verdict

_BANDS: dict[str, int] = {"low": 0, "medium": 1, "high": 2}
_UNKNOWN_FAMILY = "the vendor family of the model that wrote the answer (case.generator), or of a juror, is unknown"
_LONGEST = 300  # maximum number of characters of a reason


class GateOptions(TypedDict, total=False):
    """Conditions of :func:`check_gates`."""

    passed: bool | None
    decided: bool | None
    needs_review: bool | None
    broken_tiers: bool | None
    same_family: bool | None
    bias_warning: bool | None
    partial: bool | None
    min_agreement: Band | float | None
    min_confidence: float | None
    min_votes: int | None
    max_cost_usd: float | None
    undefined: Literal["skip", "fail"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """Result of one condition; ``note`` has the condition and the value that was found."""

    gate: str
    result: Literal["passed", "failed", "skipped"]
    note: str


def check_gates(verdict: Verdict, **conditions: Unpack[GateOptions]) -> tuple[GateResult, ...]:
    """Check the given conditions, and unless ``decided`` says otherwise that the verdict is decided.

    A condition is named after what it tests. True or False is the value that the verdict must have, and None lifts the
    condition, for example one of the jury file.

    Args:
        verdict: the verdict to check.
        **conditions:
            ``passed``: whether the status is PASS. A FAIL that only broken jurors caused meets neither True nor False.
            ``decided``: whether the verdict is neither ABSTAIN nor ERROR. It is True unless it is given, whatever the
            other conditions, because an outage must not count as a good answer. With None, verdicts without a
            decision meet it as well; with False, only they do.
            ``needs_review``: whether the verdict has ``review_reasons``; one that is not decided has.
            ``broken_tiers``: whether a tier broke, such as a screening tier whose check could not run, also in a nested
            cascade.
            ``same_family``: whether a juror is of the vendor family of the model that wrote the answer; undefined if
            a family is unknown.
            ``bias_warning``: whether there is such a juror, and agreement is low.
            ``partial``: whether some jurors were not asked, to save calls.
            ``min_agreement``: minimum agreement among the jurors, 0..1, or minimum band (``"medium"``). The agreement
            of a scorecard is the lowest of its criteria; undefined if fewer than two jurors voted.
            ``min_confidence``: minimum confidence of the verdict, 0..1.
            ``min_votes``: minimum number of jurors that voted. One that broke did not.
            ``max_cost_usd``: maximum cost of the verdict; undefined if the cost of a call is unknown.
            ``undefined``: the effect of an undefined value (for example, a verdict of one juror, or one that a
            screening tier decided, has no agreement): ``"skip"`` the condition with a note (default), or ``"fail"`` it.

    Raises:
        ConfigurationError: a condition or a band is unknown.
    """
    check_conditions(conditions)
    undefined = conditions.get("undefined", "skip")
    if undefined not in ("skip", "fail"):
        raise ConfigurationError(unknown("undefined=", undefined, ("skip", "fail")))
    results = []
    if not verdict.valid and "decided" not in conditions and conditions.get("passed") is not True:
        conditions = {"decided": True, **conditions}
    for gate, asked in conditions.items():
        if gate == "undefined" or asked is None:
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
    if gate == "min_agreement" and isinstance(asked, str):
        if asked not in _BANDS:
            raise ConfigurationError(f"min_agreement takes a number or a band; {unknown('band', asked, _BANDS)}")
        lowest = min(_with_agreement(verdict), key=lambda one: _BANDS[one[0].agreement_band or "low"], default=None)
        if lowest is None:
            return None, _why_no_agreement(verdict)
        band = lowest[0].agreement_band or "low"
        return _BANDS[band] >= _BANDS[asked], f"found {band}{lowest[1]}"
    if gate in ("min_agreement", "min_confidence", "min_votes", "max_cost_usd"):
        return _compare(verdict, gate, asked)
    if not isinstance(asked, bool):
        raise ConfigurationError(f"{gate} takes True or False, not {plain_repr(asked)}")
    value, found = _test(verdict, gate, asked)
    return None if value is None else value is asked, found


def _test(verdict: Verdict, gate: str, asked: bool) -> tuple[bool | None, str]:
    """Return what is tested by a condition that takes True or False, and its description."""
    if gate == "decided":
        return verdict.valid, found_in(verdict)
    if gate == "passed":
        if verdict.passed is None:
            return None, f"the label {verdict.label!r} has no PASS/FAIL meaning"
        if verdict.failed_by_errors:  # which shows neither that the answer is good nor that it is bad
            return not asked, f"{found_in(verdict)}, only because jurors broke"
        return verdict.passed, found_in(verdict)
    if gate == "needs_review":
        return verdict.needs_review, f"found {', '.join(verdict.review_reasons) or 'no reason'}"
    if gate == "broken_tiers":
        broken = verdict.failed_tiers
        return bool(broken), f"found {', '.join(map(visible, broken)) or 'none'}"
    if gate == "partial":
        return verdict.partial, f"found {verdict.partial}"
    same = verdict.same_family
    if gate == "bias_warning" and verdict.agreement_band != "low":
        same = False
    return same, _UNKNOWN_FAMILY if same is None else f"found {same}"


def _compare(verdict: Verdict, gate: str, asked: object) -> tuple[bool | None, str]:
    if isinstance(asked, bool) or not isinstance(asked, int | float):
        hint = (
            f"; a band of the agreement is min_agreement={asked!r}"
            if gate == "min_confidence" and asked in _BANDS
            else ""
        )
        raise ConfigurationError(f"{gate} takes a number, not {plain_repr(asked)}{hint}")
    highest = 1 if gate in ("min_agreement", "min_confidence") else inf
    if not 0 <= asked <= highest:
        allowed = "a number from 0 to 1" if highest == 1 else "a number that is not negative"
        raise ConfigurationError(f"{gate} takes {allowed}, not {plain_repr(asked)}")
    if gate == "max_cost_usd":
        usage = verdict.usage.total  # includes recorded calls, so that a verdict from a store gives the same result
        cost = usage.cost_usd
        if exceeds(cost, asked) or usage.cost_complete:
            return not exceeds(cost, asked), f"found {cost:.6g}"
        return None, "the cost of a call is unknown"
    if gate == "min_agreement":
        agreements = ((one.agreement or 0.0, criterion) for one, criterion in _with_agreement(verdict))
        agreement, criterion = min(agreements, default=(None, ""))
        if agreement is None:
            return None, _why_no_agreement(verdict)
        return reaches(agreement, asked), f"found {agreement:.6g}{criterion}"
    found = verdict.confidence if gate == "min_confidence" else _votes(verdict)
    if found is None:
        return None, "a scorecard has no confidence" if verdict.voting == SCORECARD else "no confidence"
    return reaches(found, asked), f"found {found:.6g}"


def _votes(verdict: Verdict) -> int:
    """Return the number of jurors that voted; one that broke did not, although its error may count as FAIL."""
    tally = verdict.tally
    if verdict.voting == SCORECARD or not tally.ballots:  # whose criteria cast no ballots
        return tally.eligible
    return min(tally.eligible, len(tally.valid_ballots))


def _with_agreement(verdict: Verdict, criteria: tuple[str, ...] = ()) -> Iterator[tuple[Verdict, str]]:
    """Yield the verdict if it has an agreement, else those of a scorecard's criteria, with words that name them."""
    if verdict.agreement is not None:
        yield verdict, f", of the criterion {' / '.join(criteria)}" if criteria else ""
    elif verdict.voting == SCORECARD and not verdict.by_rule:
        for judgment in verdict.judgments:
            if isinstance(judgment, Verdict):
                yield from _with_agreement(judgment, (*criteria, visible(judgment.critic)))


def _why_no_agreement(verdict: Verdict) -> str:
    if verdict.by_rule:
        return "decided by a screening tier, by rule"
    if verdict.voting == SCORECARD:
        return "a scorecard without a criterion that two jurors voted on"
    return "fewer than two ballots"
