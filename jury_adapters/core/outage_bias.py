"""Bias of a pass rate by missing votes: without some judges, a jury can still say FAIL, but not PASS."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple, Self

from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.over_budget import is_over_budget
from jury_adapters.core.verdict import SCORECARD, Verdict, is_outage, outage_as_error

MATERIAL_SHARE: Final = 0.05
"""Smallest share of the cases left undecided, by judges whose votes are missing, that makes a pass rate biased."""

_NEED_EACH: Final = (SCORECARD, "all_of", "any_of")
"""Juries that may be unable to decide without one of their judges; other juries vote without those that abstain."""


class MissingVotes(NamedTuple):
    """Names of the judges of one verdict whose votes are missing.

    Attributes:
        broken: the jurors, criteria and tiers that broke.
        skipped: those that were not needed.
        abstained: the criteria that abstained; of other juries than scorecards, ``all_of`` and ``any_of`` none.
        over_budget: the tiers of a cascade in which a juror was not asked, because its call did not fit the budget.
    """

    broken: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    abstained: tuple[str, ...] = ()
    over_budget: tuple[str, ...] = ()

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """Return those of a judgment; a judgment without jurors has none."""
        if not isinstance(judgment, Verdict):
            return cls()
        broken = [one.critic for one in judgment.judgments if is_outage(outage_as_error(one))]
        if judgment.tiers and is_outage(outage_as_error(judgment)):
            broken.append(judgment.tiers[-1].name)
        counted_ones = (
            judgment.voting in _NEED_EACH and judgment.tally.abstained
        )  # not a criterion that is only reported
        abstained = [
            one.critic
            for one in judgment.judgments
            if counted_ones and one.status is Status.ABSTAIN and one.critic not in broken
        ]
        over_budget = [tier.name for tier in judgment.tiers if is_over_budget(tier.judgment)]
        return cls(tuple(broken), judgment.skipped, tuple(abstained), tuple(over_budget))


class OutageBias:
    """Counts of the cases that missing votes left undecided, and of those that were decided without such a vote.

    A scorecard whose criterion broke or abstained can be FAIL by another criterion, but not PASS, so that the pass rate
    of the decided cases is too low. The same holds for ``all_of``. For ``any_of`` it is the reverse. If a juror or tier
    broke, it also holds for a panel in which errors count as FAIL, and for a cascade that rejects before that tier.
    Once a budget is spent, it holds for a cascade, of which tiers without a model still reject.

    >>> from jury_adapters import Scorecard
    >>> card = Scorecard({"short": lambda case: len(case.answer) < 3, "down": lambda case: 1 / 0})
    >>> bias = OutageBias()
    >>> for answer in ("a", "ab", "long"):
    ...     bias.add(card.judge(answer=answer))
    >>> print(bias.warning)
    2 of 3 cases could not be decided because a judge broke. The only case decided without the vote of such a judge is \
FAIL, so the pass rate is probably too low: it would be 66.7 % if the 2 cases had passed.
    """

    def __init__(self) -> None:
        self.statuses: Counter[Status] = Counter()
        self._abstained = 0  # the cases that are undecided because a criterion abstained
        self._over_budget = 0  # the others that are undecided because a tier was over budget
        self._missing: set[str] = set()  # judges whose votes are missing on undecided cases
        self._decided: Counter[tuple[Status, bool, tuple[str, ...]]] = Counter()

    def add(self, judgment: Judgment) -> None:
        """Count the judgment of one case."""
        self.add_votes(outage_as_error(judgment).status, MissingVotes.of(judgment))

    def add_votes(self, status: Status | None, missing: MissingVotes) -> None:
        """Count one case by its status, where a FAIL that only broken jurors caused is ERROR.

        An abstention with broken jurors counts as undecided because of them, too.
        """
        if status is None:
            return
        if status is Status.ABSTAIN and missing.broken:
            status = Status.ERROR  # with `errors="ignore"`, a panel of which every juror broke abstains
        self.statuses[status] += 1
        if status is Status.ERROR:
            self._missing.update(missing.broken)
        elif status is Status.ABSTAIN:
            self._abstained += bool(missing.abstained)
            self._over_budget += bool(missing.over_budget and not missing.abstained)
            self._missing.update(missing.abstained, missing.over_budget)
        elif missing.broken or missing.skipped or missing.abstained:
            self._decided[status, bool(missing.broken or missing.abstained), missing.skipped] += 1

    @property
    def warning(self) -> str:
        """Sentences that say that the pass rate is biased, and how far; empty if it is not known to be.

        It is if missing votes left at least :data:`MATERIAL_SHARE` of the cases undecided, and the cases that were
        decided without a juror, criterion or tier whose vote is missing are all FAIL, or all PASS.
        """
        did = {"broke": self.statuses[Status.ERROR], "abstained": self._abstained, "was over budget": self._over_budget}
        undecided, total = sum(did.values()), self.statuses.total()
        without = self._decided_without()
        if not undecided or undecided < MATERIAL_SHARE * total or len(without) != 1:
            return ""
        ((status, number),) = without.items()
        decided = self.statuses[Status.PASS] + self.statuses[Status.FAIL]
        low = status is Status.FAIL
        bound = (self.statuses[Status.PASS] + (undecided if low else 0)) / (decided + undecided)
        of_these = "case" if undecided == 1 else f"{undecided:,} cases"
        what = " or ".join(kind for kind, cases in did.items() if cases)
        those = (
            f"The only case decided without the vote of such a judge is {status.value}"
            if number == 1
            else f"The {number:,} cases decided without the vote of such a judge are all {status.value}"
        )
        return (
            f"{undecided:,} of {counted(total, 'case')} could not be decided because a judge {what}. {those}, so the "
            f"pass rate is probably too {'low' if low else 'high'}: it would be {percent(bound)} if the {of_these} "
            f"had {'passed' if low else 'failed'}."
        )

    def _decided_without(self) -> Counter[Status]:
        """Return the numbers of PASS and FAIL of cases that were decided without a judge whose vote is missing.

        Either its vote is missing on the case itself, or the case did not need it and it is missing on others.
        """
        found: Counter[Status] = Counter()
        for (status, without, skipped), number in self._decided.items():
            if without or not self._missing.isdisjoint(skipped):
                found[status] += number
        return found
