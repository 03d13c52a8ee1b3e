"""Counts of the verdicts of a run, by status, error, juror, criterion and tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import deciding_votes, is_escalated
from jury_adapters.core.outage_bias import OutageBias
from jury_adapters.core.over_budget import is_over_budget
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.verdict import Verdict
from jury_adapters.report.counters import (
    NOT_COMPARED,
    OTHER,
    GivenUp,
    GroupedOutcomes,
    JurorCount,
    TierCount,
    add_agreement,
    add_bounded,
    models_not_asked,
    why_unusable,
    without_request_id,
)
from jury_adapters.report.juror_counts import JurorCounts

T = TypeVar("T")


class VerdictCounts:
    """Counts that depend only on the forms of verdicts; see :class:`~jury_adapters.core.forms.FormCounts`.

    Attributes:
        outcomes: PASS and FAIL by the group of the case; empty if cases have no groups.
        labelled: the labels without a PASS/FAIL meaning by the group of the case.
        outage_bias: the votes that are missing.
        by_juror: the votes of each juror.
        single: the votes of judges without a jury.
        agreements: the sum of the agreements in the cases with two votes or more.

    :class:`~jury_adapters.report.summary.Summary` describes the others.
    """

    def __init__(self) -> None:
        self.failed_by_errors = self.failed_runs = 0
        self.statuses: Counter[Status] = Counter()
        self.labels: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.answered = self.unanswered = 0
        self.causes: Counter[str] = Counter()
        self.by_juror = JurorCounts()
        self.single: dict[tuple[str, ...], JurorCount] = {}
        self.tiers: dict[str, TierCount] = {}
        self.broken_tiers = 0
        self.broken_by_path: Counter[str] = Counter()
        self.calls_saved = self.review = self.same_family = 0
        self.given_up: dict[str, GivenUp] = {}
        self.over_budget = self.decided_over_budget = self.abstained_over_budget = 0
        self.agreements = 0.0
        self.with_agreement = self.split = self.stopped_early = self.escalated = 0
        self.outage_bias = OutageBias()
        self.outcomes = GroupedOutcomes()
        self.labelled = GroupedOutcomes()

    def add(self, judgment: Judgment, group: Hashable | None, times: int) -> None:
        """Count verdicts of one form.

        Args:
            judgment: one of them.
            group: the group of their cases; None for independent cases.
            times: their number.
        """
        if judgment.status is None:
            add_bounded(self.labels, judgment.label or "", times)
        elif judgment.failed_by_errors:
            self.failed_by_errors += times
        else:
            self.statuses[judgment.status] += times
        self.failed_runs += times * is_failed_run(judgment)
        self.outage_bias.add(judgment, times)
        if group is not None:
            self._add_to_group(group, judgment, times)
        if judgment.status is Status.ERROR:
            add_bounded(self.errors, judgment.error or judgment.reasoning, times)
        self._add_causes(judgment, times)
        self.review += times * judgment.needs_review
        if is_over_budget(judgment):
            self.over_budget += times
            self.decided_over_budget += times * judgment.valid
            self.abstained_over_budget += times * (judgment.status is Status.ABSTAIN)
        for model, error in models_not_asked(judgment).items():
            self.given_up.setdefault(model, GivenUp(error)).cases += times
        if isinstance(judgment, Verdict):
            self._add_verdict(judgment, group, times)
        else:
            count = self.single.setdefault((judgment.critic,), JurorCount())
            count.add(judgment, NOT_COMPARED, fallback=judgment.fallback_used, times=times)

    def _add_causes(self, judgment: Judgment, times: int) -> None:
        votes = deciding_votes(judgment)
        if judgment.valid and not judgment.failed_by_errors and any(vote.valid for vote in votes):
            self.answered += times
            return
        causes = [why for why in map(why_unusable, votes) if why]
        self.unanswered += times * bool(causes)
        for why in causes:
            add_bounded(self.causes, without_request_id(why), times)

    def _add_to_group(self, group: Hashable, judgment: Judgment, times: int) -> None:
        if judgment.status is None:
            label = judgment.label or ""
            self.labelled.add(group, label if label in self.labels else OTHER, times)
        elif judgment.status in (Status.PASS, Status.FAIL) and not judgment.failed_by_errors:
            self.outcomes.add(group, judgment.status, times)

    def _add_verdict(self, verdict: Verdict, group: Hashable | None, times: int) -> None:
        self.calls_saved += times * verdict.calls_saved
        self.same_family += times * (verdict.same_family is True)
        if add_agreement(self, verdict, times):
            self.escalated += times * is_escalated(verdict)
        for name in (*(tier.name for tier in verdict.tiers), *(verdict.skipped if verdict.tiers else ())):
            self.tiers.setdefault(name, TierCount())
        self.broken_tiers += times * bool(verdict.failed_tiers)
        for broken_path in verdict.failed_tiers:
            add_bounded(self.broken_by_path, broken_path, times)
        for tier in verdict.tiers:
            self.tiers[tier.name].add(tier, verdict, times)
        self.by_juror.add(verdict, group, times)


class Counted(Generic[T]):
    """Attribute that is the count of the same name in ``counts``, a property of its object.

    >>> class Run:
    ...     review: Counted[int] = Counted()
    ...     counts = VerdictCounts()
    >>> Run().review
    0
    """

    def __set_name__(self, owner: type[object], name: str) -> None:
        self._name = name

    def __get__(self, counter: HasCounts, owner: type[object] | None = None) -> T:
        found: T = getattr(counter.counts, self._name)
        return found


class HasCounts(Protocol):
    """Object with counts of verdicts."""

    @property
    def counts(self) -> VerdictCounts: ...
