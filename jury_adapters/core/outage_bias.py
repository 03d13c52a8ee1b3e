"""Bias of a pass rate by missing votes: without some judges, a jury can still say FAIL, but not PASS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from typing import Final, NamedTuple, Self

from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.over_budget import is_over_budget
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.verdict import SCORECARD, Verdict
from jury_adapters.core.verdict_facts import is_outage, outage_as_error

MATERIAL_SHARE: Final = 0.05
"""Smallest share of the cases left undecided, by judges whose votes are missing, that makes a pass rate biased.

It is also the smallest change of a pass rate by undecided cases beside failed runs, as a share of the rate.
"""

_NEED_EACH: Final = (SCORECARD, "all_of", "any_of")
"""Juries that may be unable to decide without one of their judges; other juries vote without those that abstain."""


class MissingVotes(NamedTuple):
    """Names of the judges of one verdict whose votes are missing.

    Attributes:
        broken: the jurors, criteria and tiers that broke.
        skipped: those that were not needed.
        abstained: the criteria that abstained; of other juries than scorecards, ``all_of`` and ``any_of`` none.
        over_budget: the tiers of a cascade in which a juror was not asked, because its call did not fit the budget.
        run_failed: whether the run of the application failed, so that no judge was asked.
        inside: the paths of such judges inside the members of the jury; if it is undecided, only inside the members
            that left it undecided.
    """

    broken: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    abstained: tuple[str, ...] = ()
    over_budget: tuple[str, ...] = ()
    run_failed: bool = False
    inside: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """Return those of a judgment; a judgment without jurors has none."""
        if is_failed_run(judgment):
            return cls(run_failed=True)
        if not isinstance(judgment, Verdict):
            return cls()
        counted_ones = [one for one in judgment.judgments if _may_count(one, judgment)]
        broken = [one.critic for one in counted_ones if is_outage(outage_as_error(one))]
        if judgment.tiers and is_outage(outage_as_error(judgment)):
            broken.append(judgment.tiers[-1].name)
        abstained = [
            one.critic
            for one in (counted_ones if judgment.voting in _NEED_EACH else ())
            if one.status is Status.ABSTAIN and one.critic not in broken
        ]
        over_budget = [tier.name for tier in judgment.tiers if is_over_budget(tier.judgment)]
        causes = {*broken, *abstained, *over_budget}
        inside = [
            (one.critic, *path)
            for one in counted_ones
            if isinstance(one, Verdict) and (one.critic in causes or not _is_undecided(judgment))
            for path in cls.of(one)._paths(undecided=_is_undecided(one))
        ]
        return cls(tuple(broken), judgment.skipped, tuple(abstained), tuple(over_budget), inside=tuple(inside))

    def _paths(self, *, undecided: bool) -> Iterator[tuple[str, ...]]:
        """Yield the paths of these judges: of an undecided verdict those that left it undecided, else all of them."""
        names = (*self.broken, *self.abstained, *(self.over_budget if undecided else self.skipped))
        yield from ((name,) for name in names)
        yield from self.inside


class OutageBias:
    """Counts of the cases that missing votes left undecided, and of those that were decided without such a vote.

    A scorecard whose criterion broke or abstained can be FAIL by another criterion, but not PASS, so that the pass rate
    of the decided cases is too low. The same holds for ``all_of``. For ``any_of`` it is the reverse. If a juror or tier
    broke, it also holds for a panel in which errors count as FAIL, and for a cascade that rejects before that tier.
    Once a budget is spent, it holds for a cascade, of which tiers without a model still reject.

    A failed run of the application is FAIL without any judge. Only the other runs can be undecided, and whatever the
    reason is, the failed ones then weigh too much in the rate.

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
        self._failed_runs = 0  # they are FAIL
        self._abstained = 0  # the cases that are undecided because a criterion abstained
        self._over_budget = 0  # the others that are undecided because a tier was over budget
        self._missing: set[tuple[str, ...]] = set()  # paths of the judges that left cases undecided
        self._decided: Counter[tuple[Status, bool, frozenset[tuple[str, ...]]]] = Counter()

    def add(self, judgment: Judgment, times: int = 1) -> None:
        """Count cases with judgments of one form, of which this is one."""
        self.add_votes(outage_as_error(judgment).status, MissingVotes.of(judgment), times)

    def add_votes(self, status: Status | None, missing: MissingVotes, times: int = 1) -> None:
        """Count cases by their status, where a FAIL that only broken jurors caused is ERROR.

        An abstention with broken jurors counts as undecided because of them, too.
        """
        if status is None:
            return
        if status is Status.ABSTAIN and missing.broken:
            status = Status.ERROR  # with `errors="ignore"`, a panel of which every juror broke abstains
        self.statuses[status] += times
        if status is Status.ERROR:
            self._left_undecided(missing.broken, missing.inside)
        elif status is Status.ABSTAIN:
            self._abstained += times * bool(missing.abstained)
            self._over_budget += times * bool(missing.over_budget and not missing.abstained)
            self._left_undecided((*missing.abstained, *missing.over_budget), missing.inside)
        elif missing.run_failed:
            self._failed_runs += times
        elif missing.broken or missing.skipped or missing.abstained or missing.inside:
            others = frozenset([*((name,) for name in missing.skipped), *missing.inside])
            self._decided[status, bool(missing.broken or missing.abstained), others] += times

    def _left_undecided(self, names: Iterable[str], inside: Iterable[tuple[str, ...]]) -> None:
        self._missing.update(((name,) for name in names), inside)

    @property
    def warning(self) -> str:
        """Sentences that say that the pass rate is biased, and how far; empty if it is not known to be.

        It is if missing votes left at least :data:`MATERIAL_SHARE` of the cases undecided, and the cases that were
        decided without a juror, criterion or tier whose vote is missing are all FAIL, or all PASS. It also is if failed
        runs of the application are in the rate, and so many of the other runs are undecided that the rate would change
        by :data:`MATERIAL_SHARE` of itself if these had the rate of the judged ones.
        """
        one_sided, by_runs = self._one_sided(), self._is_low_by_failed_runs()
        if one_sided is None and not by_runs:
            return ""
        undecided = self._undecided(of_any_jury=by_runs)
        what = " or ".join(kind for kind, cases in undecided.items() if cases)
        why = [] if one_sided is None else [_decided_without_vote(*one_sided)]
        if by_runs:
            why.append(_counted_as_fail(self._failed_runs))
        because = ", and ".join(why)
        sides = {Status.FAIL} if by_runs else set()
        sides |= set() if one_sided is None else {one_sided[0]}
        number = sum(undecided.values())
        return (
            f"{number:,} of {counted(self.statuses.total(), 'case')} could not be decided because a judge {what}. "
            f"{because[0].upper()}{because[1:]}, so the pass rate {self._bound(number, sides)}."
        )

    def _undecided(self, *, of_any_jury: bool) -> dict[str, int]:
        """Return the numbers of cases that a judge left undecided, by what it did.

        Args:
            of_any_jury: whether abstentions count that do not depend on the kind of jury.
        """
        abstained = self.statuses[Status.ABSTAIN] - self._over_budget if of_any_jury else self._abstained
        return {"broke": self.statuses[Status.ERROR], "abstained": abstained, "was over budget": self._over_budget}

    def _one_sided(self) -> tuple[Status, int] | None:
        """Return the status of all cases that were decided without a judge whose vote is missing, and their number.

        None if they are both PASS and FAIL, or too few cases are undecided.
        """
        without = self._decided_without()
        undecided = sum(self._undecided(of_any_jury=False).values())
        if not undecided or undecided < MATERIAL_SHARE * self.statuses.total() or len(without) != 1:
            return None
        ((status, number),) = without.items()
        return status, number

    def _is_low_by_failed_runs(self) -> bool:
        """Whether failed runs weigh too much in the rate, because many of the other cases are undecided."""
        failed, total = self._failed_runs, self.statuses.total()
        undecided = self.statuses[Status.ERROR] + self.statuses[Status.ABSTAIN]
        if not (failed and undecided) or undecided < MATERIAL_SHARE * total:
            return False
        judged = self.statuses[Status.PASS] + self.statuses[Status.FAIL] - failed
        # The rate grows by this share of itself if the undecided cases pass as often as the judged ones.
        return failed * undecided >= MATERIAL_SHARE * total * judged

    def _bound(self, undecided: int, decided_without: Set[Status]) -> str:
        """Return in words how wrong the rate may be, by the statuses of the cases decided without a missing vote."""
        passed, cases = self.statuses[Status.PASS], undecided + self.statuses[Status.PASS] + self.statuses[Status.FAIL]
        these, they = ("the case", "it") if undecided == 1 else (f"the {undecided:,} cases", "they")
        if_passed, if_failed = percent((passed + undecided) / cases), percent(passed / cases)
        if decided_without == {Status.FAIL}:
            return f"is probably too low: it would be {if_passed} if {these} had passed"
        if decided_without == {Status.PASS}:
            return f"is probably too high: it would be {if_failed} if {these} had failed"
        both = f"{if_failed} if {these} had failed, and {if_passed} if {they} had passed"
        return f"may be too low or too high: it would be {both}"

    def _decided_without(self) -> Counter[Status]:
        """Return the numbers of PASS and FAIL of cases that were decided without a judge whose vote is missing.

        Either it is a member of the jury whose vote is missing on the case itself; or it left other cases undecided,
        and this case did not need it, or a member of the jury decided without it.
        """
        found: Counter[Status] = Counter()
        for (status, without, others), number in self._decided.items():
            if without or not self._missing.isdisjoint(others):
                found[status] += number
        return found


def _may_count(one: Judgment, verdict: Verdict) -> bool:
    """Whether a criterion may count in a scorecard, which does not say which of them it only reports."""
    if verdict.voting != SCORECARD:
        return True
    votes = verdict.tally
    of_status = {Status.FAIL: votes.failed, Status.ABSTAIN: votes.abstained, Status.ERROR: votes.errors}
    return one.status is not None and of_status.get(one.status, votes.passed) > 0


def _is_undecided(judgment: Judgment) -> bool:
    return outage_as_error(judgment).status in (Status.ABSTAIN, Status.ERROR)


def _decided_without_vote(status: Status, cases: int) -> str:
    if cases == 1:
        return f"the only case decided without the vote of such a judge is {status.value}"
    return f"the {cases:,} cases decided without the vote of such a judge are all {status.value}"


def _counted_as_fail(runs: int) -> str:
    if runs == 1:
        return "the failed run of the application counts as FAIL without a judge"
    return f"the {runs:,} failed runs of the application count as FAIL without a judge"
