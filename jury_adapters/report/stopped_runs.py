"""Warnings about figures of runs that ended as soon as a gate was decided, or that were stopped before their end.

Both are not those of a fixed sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jury_adapters.core.formatting import counted
from jury_adapters.core.sequential_gate import GateDecision

if TYPE_CHECKING:
    from jury_adapters.calibration.report import AgreementReport

_BIASED_SECTIONS = ("Labels", "Rates")


def missing_cases(judged: int, planned: int | None, decision: GateDecision | None = None) -> int:
    """Return the number of cases that the results of a run lack because it was stopped, as by Ctrl-C; 0 if it ended.

    Args:
        judged: number of cases in the results.
        planned: number of cases that the run was to judge; None if it is unknown.
        decision: that of a gate which may have ended the run early.

    >>> missing_cases(20, 60), missing_cases(60, 60), missing_cases(20, None)
    (40, 0, 0)
    """
    ended = planned is None or (decision is not None and decision.met is not None)
    return 0 if ended or planned is None else max(0, planned - judged)


def describe_missing(judged: int, missing: int) -> str:
    """Return how many cases the results have of a run that was stopped; empty for a run that ended.

    >>> describe_missing(20, 40)
    '20 of 60 cases of the run; it was stopped, or results were removed'
    """
    if not missing:
        return ""
    return f"{judged:,} of {counted(judged + missing, 'case')} of the run; it was stopped, or results were removed"


def warn_of_missing(
    judged: tuple[int, int], planned: tuple[int | None, int | None], gates: tuple[GateDecision | None, ...]
) -> Iterator[str]:
    """Yield a warning for each of two runs that was stopped; :func:`missing_cases` has the arguments for each run."""
    for run, done, of, gate in zip("ab", judged, planned, gates, strict=True):
        if missing := missing_cases(done, of, gate):
            yield f"the results of {run} have only {describe_missing(done, missing)}."


def describe_stop(decision: GateDecision | None) -> str:
    """Return when a run ended early; empty for a run that judged every case.

    >>> describe_stop(GateDecision(0.6, False, False, 0.05, cases=240, judged=57, seed=1))
    'stopped when its gate of 0.6 was decided, after 57 of 240 cases'
    """
    if decision is None or not decision.cases_saved:
        return ""
    of = f"{decision.judged:,} of {decision.cases:,} cases"
    return f"stopped when its gate of {decision.at_least:g} was decided, after {of}"


def warn_of_stops(a: GateDecision | None, b: GateDecision | None) -> Iterator[str]:
    """Yield a warning about the difference of the pass rates of two runs if one of them ended early."""
    stops = [f"{run} was {stop}" for run, stop in (("a", describe_stop(a)), ("b", describe_stop(b))) if stop]
    if stops:
        rates = "Their pass rates are" if len(stops) > 1 else "Its pass rate is"
        yield (
            f"{', and '.join(stops)}. {rates} on average too far from the gate, which biases the difference, and the "
            "interval and the test do not allow for it; judge the whole file to compare."
        )


def with_stop(measured: AgreementReport, decision: GateDecision | None) -> AgreementReport:
    """Add to the figures that are biased if the run ended early, that it did."""
    stop = describe_stop(decision)
    if not stop:
        return measured
    why = f"the run was {stop}, so this figure is biased, and its interval does not allow for it"
    sections = dict(measured.sections)
    for title in _BIASED_SECTIONS:
        if title in sections:
            sections[title] = tuple(
                replace(one, sentence=f"{one.sentence} {why[0].upper()}{why[1:]}.", warnings=(*one.warnings, why))
                for one in sections[title]
            )
    return replace(measured, sections=sections)
