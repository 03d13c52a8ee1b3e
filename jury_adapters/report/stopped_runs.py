"""Warnings about figures of runs that ended as soon as a gate was decided, which are not those of a fixed sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jury_adapters.core.sequential_gate import GateDecision

if TYPE_CHECKING:
    from jury_adapters.calibration.report import AgreementReport

_BIASED_SECTIONS = ("Labels", "Rates")


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
