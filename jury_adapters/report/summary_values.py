"""JSON values of a summary."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from jury_adapters.core.judgment import Status
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.core.values import JsonValue
from jury_adapters.report.counters import CriterionCount, GivenUp, Jurors
from jury_adapters.report.stopped_runs import missing_cases

if TYPE_CHECKING:
    from jury_adapters.report.summary import Summary


def summary_values(summary: Summary) -> dict[str, JsonValue]:
    """Return a summary as JSON values."""
    recorded = summary.usage.recorded or NO_USAGE
    return {
        "label_comparison": summary.label_comparison.to_dict(),
        "cases": summary.cases, "missing_cases": missing_cases(summary.cases, summary.planned, summary.decision),
        "unreadable_rows": summary.unreadable,
        **{name: summary.statuses[status] for name, status in _COUNTED.items()},
        "failed_by_errors": summary.failed_by_errors,
        "failed_runs": summary.failed_runs,
        "empty_answers": summary.empty_answers,
        "labels": dict(summary.labels),
        "pass_rate": summary.pass_rate,
        "pass_rate_warning": summary.pass_rate_warning,
        "pass_rate_interval": None if summary.pass_interval is None else list(summary.pass_interval),
        "gate_decision": None if summary.decision is None else {
            "at_least": summary.decision.at_least, "met": summary.decision.met, "certain": summary.decision.certain,
            "error_at_most": summary.decision.alpha, "cases": summary.decision.cases,
            "cases_saved": summary.cases_saved, "cost_saved_usd": summary.cost_saved_usd, "seed": summary.decision.seed,
        },
        "group": summary.group or None,
        "groups": summary.groups,
        "errors_by_message": dict(summary.errors),
        "over_budget": summary.over_budget,
        "decided_over_budget": summary.decided_over_budget,
        "given_up": _given_up_rows(summary.given_up),
        "broken_tiers": summary.broken_tiers,
        "mean_agreement": summary.mean_agreement,
        "split": summary.split,
        "stopped_early": summary.stopped_early,
        "needs_review": summary.review,
        "same_family": summary.same_family,
        "same_family_unknown": summary.same_family_unknown,
        "calls": summary.usage.calls,
        "cost_usd": summary.usage.cost_usd,
        "cost_complete": summary.usage.cost_complete,
        "recorded": {
            "calls": recorded.calls, "cost_usd": recorded.cost_usd, "cost_complete": recorded.cost_complete,
        },
        "calls_saved": summary.calls_saved,
        "gates": None if summary.gates is None else summary.gates.to_dict(),
        "jurors": _juror_rows(summary.jurors, summary.screening_jurors, summary.criteria),
        "fallbacks": _fallback_rows(summary.fallback_votes),
        "criteria": _criterion_rows(summary.by_criterion),
        "tiers": [{"tier": name, **tier.to_dict()} for name, tier in summary.tiers.items()],
        "look_first": summary.look_first.rows(),
    }  # fmt: skip


_COUNTED = {"passed": Status.PASS, "failed": Status.FAIL, "abstained": Status.ABSTAIN, "errors": Status.ERROR}


def _juror_rows(
    jurors: Jurors, screening: Collection[tuple[str, ...]], criteria: Collection[tuple[str, ...]]
) -> list[JsonValue]:
    """Return the votes of jurors as JSON values, with whether they are in screening tiers or judge a criterion."""
    return [
        {"in": list(path[:-1]), "juror": path[-1], "votes": dict(count.votes), "dissent": count.dissent,
         "compared": count.compared, "screening": path in screening, "criterion": path in criteria}
        for path, count in jurors.items()
    ]  # fmt: skip


def _fallback_rows(jurors: Jurors) -> list[JsonValue]:
    """Return the votes that fallbacks gave as JSON values."""
    return [
        {"in": list(path[:-1]), "juror": path[-1], "votes": count.asked, "by_fallback": dict(count.by_fallback)}
        for path, count in jurors.items()
    ]


def _criterion_rows(criteria: Mapping[tuple[str, ...], CriterionCount]) -> list[JsonValue]:
    """Return the results of criteria as JSON values."""
    return [
        {"in": list(path[:-1]), "criterion": path[-1], "votes": dict(count.votes), "pass_rate": count.pass_rate,
         "agreement": count.mean_agreement, "with_agreement": count.with_agreement, "split": count.split}
        for path, count in criteria.items()
    ]  # fmt: skip


def _given_up_rows(given_up: Mapping[str, GivenUp]) -> dict[str, JsonValue]:
    """Return the models that were given up as JSON values."""
    return {model: {"cases_not_asked": count.cases, "error": count.error} for model, count in given_up.items()}
