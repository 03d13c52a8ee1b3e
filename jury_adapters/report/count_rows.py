"""JSON values of counters."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from jury_adapters.core.sequential_gate import GateDecision
from jury_adapters.core.values import JsonValue
from jury_adapters.report.counters import CriterionCount, GivenUp, Jurors


def juror_rows(
    jurors: Jurors, screening: Collection[tuple[str, ...]], criteria: Collection[tuple[str, ...]]
) -> list[JsonValue]:
    """Return the votes of jurors as JSON values, with whether they are in screening tiers or judge a criterion."""
    return [
        {"in": list(path[:-1]), "juror": path[-1], "votes": dict(count.votes), "dissent": count.dissent,
         "compared": count.compared, "screening": path in screening, "criterion": path in criteria}
        for path, count in jurors.items()
    ]  # fmt: skip


def fallback_rows(jurors: Jurors) -> list[JsonValue]:
    """Return the votes that fallbacks gave as JSON values."""
    return [
        {"in": list(path[:-1]), "juror": path[-1], "votes": count.asked, "by_fallback": dict(count.by_fallback)}
        for path, count in jurors.items()
    ]


def criterion_rows(criteria: Mapping[tuple[str, ...], CriterionCount]) -> list[JsonValue]:
    """Return the results of criteria as JSON values."""
    return [
        {"in": list(path[:-1]), "criterion": path[-1], "votes": dict(count.votes), "pass_rate": count.pass_rate,
         "agreement": count.mean_agreement, "with_agreement": count.with_agreement, "split": count.split}
        for path, count in criteria.items()
    ]  # fmt: skip


def given_up_rows(given_up: Mapping[str, GivenUp]) -> dict[str, JsonValue]:
    """Return the models that were given up as JSON values."""
    return {model: {"cases_not_asked": count.cases, "error": count.error} for model, count in given_up.items()}


def gate_row(decision: GateDecision, *, cases_saved: int, cost_saved_usd: float) -> JsonValue:
    """Return the decision of a gate that may have ended a run early as JSON values, with what it saved."""
    return {
        "at_least": decision.at_least, "met": decision.met, "certain": decision.certain,
        "error_at_most": decision.alpha, "cases": decision.cases, "cases_saved": cases_saved,
        "cost_saved_usd": cost_saved_usd, "seed": decision.seed,
    }  # fmt: skip
