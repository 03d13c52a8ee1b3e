"""Summary of a run: the figures that page, terminal, Markdown and Python show, counted verdict by verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence

from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.clustered_shares import IntraclassCorrelation
from jury_adapters.core.formatting import clip, counted, percent
from jury_adapters.core.forms import FormCounts
from jury_adapters.core.gates import GateResult
from jury_adapters.core.human_labels import GOLD
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.label_comparison import LabelComparison
from jury_adapters.core.over_budget import over_budget_note
from jury_adapters.core.sequential_gate import GateDecision
from jury_adapters.core.statistics import wilson
from jury_adapters.core.usage import NO_USAGE, Usage, UsageSum
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict
from jury_adapters.report.count_rows import criterion_rows, fallback_rows, gate_row, given_up_rows, juror_rows
from jury_adapters.report.counters import (
    CriterionCount,
    GateCount,
    GivenUp,
    JurorCount,
    TierCount,
    broken_jurors,
    failed_runs_note,
)
from jury_adapters.report.review_order import ReviewOrder
from jury_adapters.report.stopped_runs import missing_cases
from jury_adapters.report.verdict_counts import Counted, VerdictCounts


class Summary:
    """Figures of many cases; takes their verdicts one by one, and its size stays bounded.

    Args:
        look_first: the number of cases to look at that are kept.
        pass_labels: the human labels that mean PASS, if judgments do not show it.
        gold: the entry of a case's metadata that holds its human label.
        group: the field that identifies the group of a case, such as ``"document"`` or ``"meta.user"``; see
            :func:`jury_adapters.core.case_groups.group_of_case`. Intervals take it into account. Empty for independent
            cases.

    Attributes:
        label_comparison: comparison of the jury and its jurors with human labels; without figures if there are none.
        group: the field that identifies the group of a case; empty for independent cases.
        cases: the number of judged cases.
        statuses: the numbers of PASS, FAIL, ABSTAIN and ERROR.
        labels: for verdicts whose label has no PASS/FAIL meaning, the number of each label.
        failed_by_errors: verdicts that are FAIL only because jurors failed; not in ``statuses``, nor in a rate.
        failed_runs: runs of the application that failed; FAIL in ``statuses``, but in no rate of a juror or criterion.
        errors: the messages of verdicts with an error.
        answered: cases that are decided by an opinion of at least one juror, and not by errors that count as FAIL.
        unanswered: the other cases on which jurors failed or had no usable reply.
        causes: the errors of these jurors.
        jurors: votes per juror, by its tiers and juries and its name.
        screening_jurors: the jurors that are in screening tiers. Their PASS or FAIL is not an opinion on the case, so
            it is not compared with the verdict.
        criteria: the jurors that judge a criterion of a scorecard, and are not compared with the verdict.
        by_criterion: the results of each criterion, by its tiers and juries and its name. A FAIL that only failed
            jurors caused counts as an error. It has the agreement of the criterion's jurors, too.
        tiers: the outcomes at each tier, in order (cascades only).
        broken_tiers: the number of cases in which a tier failed, such as a screening tier that could not run.
        broken_by_path: the number of cases in which each tier failed, by its path; see :attr:`Verdict.failed_tiers`.
        usage: tokens, calls and cost of all; ``usage.recorded`` has those of judgments that were served from a store.
        calls_saved: juror calls that were not needed.
        review: cases that need review: those without a decision, and those for which the jury asks for it.
        with_agreement: cases with two votes or more before any escalation, so that there is an agreement.
        split: the number of these that split.
        stopped_early: the number of these in which some jurors were not asked, to save calls.
        escalated: the number of these that a later tier judged as well, so that their agreement is not that of the
            verdict.
        same_family: verdicts with a juror of the vendor family of the answer's author.
        same_family_unknown: verdicts of which it is unknown, although the case names the answer's author.
        unreadable: rows of the input that were not cases; set by the reader.
        gates: verdicts that miss a gate of their jury; None while no jury with gates was counted.
        decision: that of a gate which may end the run early, set by the code that stops it; None for all cases.
        planned: number of cases that the run was to judge, set by the reader; None if it is unknown.
        given_up: models that were no longer asked, by name.
        over_budget: cases about which a juror was not asked, because its call did not fit the budget.
        decided_over_budget: the number of these that the other jurors decided; the jury abstains on
            ``abstained_over_budget`` of them.

    >>> summary = Summary()
    >>> summary.add(Case(answer="4"), Judgment("PASS"), "line 1")
    >>> print(summary)
    1 case: 1 of 1 decided passed (100.0 %)
    """

    def __init__(
        self, *, look_first: int = 10, pass_labels: Collection[str] = (), gold: str = GOLD, group: str = ""
    ) -> None:
        self.label_comparison = LabelComparison(pass_labels, column=gold)
        self.group = group
        self.cases = self.unreadable = self.same_family_unknown = 0
        self._verdicts = VerdictCounts()
        self._waiting: FormCounts[Hashable] = FormCounts(self._verdicts.add)
        self._usage = UsageSum()
        self.gates: GateCount | None = None
        self.decision: GateDecision | None = None
        self.planned: int | None = None
        self.look_first = ReviewOrder(look_first)

    def add(self, case: Case | None, judgment: Judgment, where: str, *, key: str | None = None) -> None:
        """Count one verdict.

        Args:
            case: the case; None if none could be built.
            judgment: the judgment on it.
            where: the name by which a reader can find the case: the item's id, or its line.
            key: the hash of the content of a case that is not known.

        Raises:
            InputError: cases have groups, and neither this case nor its verdict names its group.
        """
        group = group_of_case(case, judgment, self.group, where) if self.group else None
        self.label_comparison.add(case, judgment, where, group, key=key)
        self.cases += 1
        self._waiting.add(judgment, group)
        self._usage.add(judgment.usage)
        self.look_first.add(where, judgment, case)
        if getattr(case, "generator", None) is not None and isinstance(judgment, Verdict):
            unknown = judgment.same_family is None
            self.same_family_unknown += unknown and any(juror.model is not None for juror in judgment.jurors())

    statuses: Counted[Counter[Status]] = Counted()
    labels: Counted[Counter[str]] = Counted()
    failed_by_errors: Counted[int] = Counted()
    failed_runs: Counted[int] = Counted()
    errors: Counted[Counter[str]] = Counted()
    answered: Counted[int] = Counted()
    unanswered: Counted[int] = Counted()
    causes: Counted[Counter[str]] = Counted()
    single: Counted[dict[tuple[str, ...], JurorCount]] = Counted()
    tiers: Counted[dict[str, TierCount]] = Counted()
    broken_tiers: Counted[int] = Counted()
    broken_by_path: Counted[Counter[str]] = Counted()
    calls_saved: Counted[int] = Counted()
    review: Counted[int] = Counted()
    with_agreement: Counted[int] = Counted()
    split: Counted[int] = Counted()
    stopped_early: Counted[int] = Counted()
    escalated: Counted[int] = Counted()
    same_family: Counted[int] = Counted()
    given_up: Counted[dict[str, GivenUp]] = Counted()
    over_budget: Counted[int] = Counted()
    decided_over_budget: Counted[int] = Counted()
    abstained_over_budget: Counted[int] = Counted()

    def add_gates(self, where: str, results: Sequence[GateResult]) -> None:
        """Count the gates that a verdict misses, and those that could not be measured on it; there may be none."""
        if self.gates is None:
            self.gates = GateCount()
        self.gates.add(where, results)

    @property
    def counts(self) -> VerdictCounts:
        """The counts of all verdicts so far."""
        self._waiting.hand_on()
        return self._verdicts

    @property
    def jurors(self) -> dict[tuple[str, ...], JurorCount]:
        return self.counts.by_juror.jurors

    @property
    def screening_jurors(self) -> set[tuple[str, ...]]:
        return self.counts.by_juror.screening

    @property
    def criteria(self) -> set[tuple[str, ...]]:
        return self.counts.by_juror.of_criteria

    @property
    def by_criterion(self) -> dict[tuple[str, ...], CriterionCount]:
        return self.counts.by_juror.by_criterion

    @property
    def usage(self) -> Usage:
        return self._usage.usage

    @property
    def passed(self) -> int:
        return self.statuses[Status.PASS]

    @property
    def decided(self) -> int:
        """Number of cases that are PASS or FAIL, without those that are FAIL only because jurors failed."""
        return self.statuses[Status.PASS] + self.statuses[Status.FAIL]

    @property
    def broken(self) -> int:
        """Number of cases whose result is an error: an ERROR, or a FAIL that only failed jurors caused."""
        return self.statuses[Status.ERROR] + self.failed_by_errors

    @property
    def valid(self) -> int:
        """Number of cases with an opinion: PASS, FAIL or a label."""
        return self.decided + self.labels.total()

    @property
    def pass_rate(self) -> float | None:
        """Share of PASS among PASS and FAIL; None if nothing was decided."""
        return self.passed / self.decided if self.decided else None

    @property
    def pass_rate_warning(self) -> str:
        """Sentences that say that missing votes bias :attr:`pass_rate`; empty if they are not known to do so."""
        return self.counts.outage_bias.warning

    @property
    def pass_interval(self) -> tuple[float, float] | None:
        """95 % interval of :attr:`pass_rate`: Wilson's, or that of groups; None if nothing was decided.

        It is also None for a run that ended early, because the interval is for a number of cases that is fixed
        beforehand.
        """
        if not self.decided or self.cases_saved:
            return None
        return self.counts.outcomes.interval(Status.PASS) if self.group else wilson(self.passed, self.decided)

    @property
    def cases_saved(self) -> int:
        """Number of cases that were not judged, because a gate was decided without them."""
        return 0 if self.decision is None or self.decision.met is None else self.decision.cases - self.cases

    @property
    def cost_saved_usd(self) -> float:
        """Estimated cost of the saved cases in US dollars, at the mean cost of the judged ones, now or on record."""
        return self.cases_saved * self.usage.total.cost_usd / self.cases if self.cases else 0.0

    def label_interval(self, label: str) -> tuple[float, float]:
        """Return the 95 % interval of the share of a label among the labels without a PASS/FAIL meaning."""
        return self.counts.labelled.interval(label) if self.group else wilson(self.labels[label], self.labels.total())

    @property
    def groups(self) -> int | None:
        """Number of groups with a decided case (or a label, if no case is decided); None without groups."""
        return (len(self.counts.outcomes) or len(self.counts.labelled)) if self.group else None

    @property
    def empty_answers(self) -> int:
        """Number of empty answers about which a juror was not asked; they are in no figure of the jurors."""
        return max((juror.empty_answers for juror in self.jurors.values()), default=0)

    @property
    def intraclass_correlation(self) -> IntraclassCorrelation | None:
        """Correlation of passing among decided cases of one group; None without groups, or if nothing shows it."""
        return self.counts.outcomes.intraclass_correlation(Status.PASS) if self.group else None

    @property
    def interval_words(self) -> str:
        """Words before the bounds of an interval: ``95 % interval``, with the number of groups."""
        return "95 % interval" if self.groups is None else f"95 % interval, {counted(self.groups, 'group')}:"

    @property
    def same_family_note(self) -> str:
        """Words for :attr:`same_family` and :attr:`same_family_unknown`; empty if both are 0."""
        if not (self.same_family or self.same_family_unknown):
            return ""
        found = f"{counted(self.same_family, 'answer')} by a model of a juror's own vendor family"
        unknown = f"; unknown for {self.same_family_unknown:,} of {self.cases:,}"
        return found + (unknown if self.same_family_unknown else "")

    @property
    def fallback_votes(self) -> dict[tuple[str, ...], JurorCount]:
        """The jurors, and single judges without a jury, for which a fallback gave votes; see ``by_fallback``."""
        return {path: count for path, count in {**self.single, **self.jurors}.items() if count.by_fallback}

    @property
    def mean_agreement(self) -> float | None:
        """Mean agreement of the jurors, over the cases with two votes or more.

        For a cascade, it is the agreement in the first tier that votes, before any escalation. Votes in different tiers
        are not compared, and decisions of screening tiers have no agreement.
        """
        return self.counts.agreements / self.with_agreement if self.with_agreement else None

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the summary as JSON values."""
        recorded, alike = self.usage.recorded or NO_USAGE, self.intraclass_correlation
        return {
            "label_comparison": self.label_comparison.to_dict(),
            "cases": self.cases, "missing_cases": missing_cases(self.cases, self.planned, self.decision),
            "unreadable_rows": self.unreadable,
            **{name: self.statuses[status] for name, status in _COUNTED.items()},
            "failed_by_errors": self.failed_by_errors,
            "failed_runs": self.failed_runs,
            "empty_answers": self.empty_answers,
            "labels": dict(self.labels),
            "pass_rate": self.pass_rate,
            "pass_rate_warning": self.pass_rate_warning,
            "pass_rate_interval": None if self.pass_interval is None else list(self.pass_interval),
            "gate_decision": None if self.decision is None else gate_row(
                self.decision, cases_saved=self.cases_saved, cost_saved_usd=self.cost_saved_usd
            ),
            "group": self.group or None,
            "groups": self.groups,
            "group_size": None if alike is None else alike.size,
            "icc": None if alike is None else alike.correlation,
            "errors_by_message": dict(self.errors),
            "over_budget": self.over_budget,
            "decided_over_budget": self.decided_over_budget,
            "given_up": given_up_rows(self.given_up),
            "broken_tiers": self.broken_tiers,
            "mean_agreement": self.mean_agreement,
            "split": self.split,
            "stopped_early": self.stopped_early,
            "needs_review": self.review,
            "same_family": self.same_family,
            "same_family_unknown": self.same_family_unknown,
            "calls": self.usage.calls,
            "cost_usd": self.usage.cost_usd,
            "cost_complete": self.usage.cost_complete,
            "recorded": {
                "calls": recorded.calls, "cost_usd": recorded.cost_usd, "cost_complete": recorded.cost_complete,
            },
            "calls_saved": self.calls_saved,
            "gates": None if self.gates is None else self.gates.to_dict(),
            "jurors": juror_rows(self.jurors, self.screening_jurors, self.criteria),
            "fallbacks": fallback_rows(self.fallback_votes),
            "criteria": criterion_rows(self.by_criterion),
            "tiers": [{"tier": name, **tier.to_dict()} for name, tier in self.tiers.items()],
            "look_first": self.look_first.rows(),
        }  # fmt: skip

    def __str__(self) -> str:
        """Return the outcomes in words, with the jurors that broke and :attr:`pass_rate_warning`."""
        rate = f"{self.passed:,} of {self.decided:,} decided passed ({percent(self.pass_rate)})"
        counts = [*self.labels.most_common(4), ("abstained", self.statuses[Status.ABSTAIN])]
        parts = [rate] * bool(self.decided or not self.labels)
        parts += [f"{times:,} {clip(what, 40)}" for what, times in counts if times]
        parts += [counted(self.broken, "error")] * bool(self.broken)
        budget = over_budget_note(self.over_budget, self.decided_over_budget)
        parts += [*filter(None, [failed_runs_note(self.failed_runs), budget]), *broken_jurors(self.jurors)]
        return ". ".join(filter(None, (f"{counted(self.cases, 'case')}: {', '.join(parts)}", self.pass_rate_warning)))

    def __repr__(self) -> str:
        return f"<Summary of {self}>"


_COUNTED = {"passed": Status.PASS, "failed": Status.FAIL, "abstained": Status.ABSTAIN, "errors": Status.ERROR}
