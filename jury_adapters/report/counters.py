"""Counters for a stream of verdicts: jurors, tiers, shares, and the cases to look at first.

Their size does not grow with the number of cases; if cases have groups, it grows with the number of groups.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import count

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.clustered_shares import clustered_wilson
from jury_adapters.core.gates import GateResult
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import votes_in
from jury_adapters.core.statistics import wilson
from jury_adapters.core.verdict import TierResult, Verdict, needs_review

OTHER = "(others)"
_MOST_KINDS = 50  # labels and error messages come from models and may be different every time


def add_bounded(counter: Counter[str], key: str) -> None:
    """Count a key of an unbounded set; after the first keys, new ones are counted together as :data:`OTHER`."""
    counter[key if key in counter or len(counter) < _MOST_KINDS else OTHER] += 1


class GroupedOutcomes:
    """Outcomes of cases, counted by the group of the case."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, Counter[str]] = {}

    def add(self, group: Hashable, outcome: str) -> None:
        """Count one case."""
        self._counts.setdefault(group, Counter())[outcome] += 1

    def interval(self, outcome: str) -> tuple[float, float]:
        """Return the 95 % interval of the share of one outcome."""
        return clustered_wilson((counts[outcome], counts.total()) for counts in self._counts.values())

    def __len__(self) -> int:
        return len(self._counts)


@dataclass(slots=True)
class JurorCount:
    """Votes of one juror.

    Attributes:
        votes: the numbers of PASS, FAIL, labels without such a meaning, ABSTAIN, and ERROR.
        compared: the number of cases that this juror and the verdict both decided.
        dissents: the number of these that they decided differently.
        silence: the reason, while the juror has only abstained or failed, and always for the same reason. It
            distinguishes a juror that cannot work (a misspelt name, a missing column) from one that is careful.
        by_group: its PASS and FAIL by the group of the case; empty if cases have no groups.
    """

    votes: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    dissents: int = 0
    silence: str | None = None
    by_group: GroupedOutcomes = field(default_factory=GroupedOutcomes)

    def add(self, judgment: Judgment, verdict: Judgment, group: Hashable | None = None) -> None:
        opinion = judgment.opinion
        if group is not None and opinion in (Status.PASS, Status.FAIL):
            self.by_group.add(group, opinion)
        reason = None if opinion is not None else judgment.error or judgment.reasoning
        self.silence = reason if not self.votes or self.silence == reason else None
        add_bounded(self.votes, opinion if opinion is not None else str(judgment.status))
        if opinion is not None and verdict.opinion is not None:
            self.compared += 1
            self.dissents += opinion != verdict.opinion

    @property
    def asked(self) -> int:
        """Number of cases the juror was asked about."""
        return self.votes.total()

    @property
    def abstained(self) -> int:
        """Number of cases on which the juror abstained."""
        return self.votes[Status.ABSTAIN]

    @property
    def errors(self) -> int:
        """Number of cases on which the juror failed."""
        return self.votes[Status.ERROR]

    @property
    def pass_rate(self) -> float | None:
        """Share of PASS among the juror's PASS and FAIL; None if it gave neither."""
        passed, failed = self.votes[Status.PASS], self.votes[Status.FAIL]
        return passed / (passed + failed) if passed + failed else None

    @property
    def pass_interval(self) -> tuple[float, float]:
        """95 % interval of :attr:`pass_rate`: Wilson's, or that of groups."""
        if self.by_group:
            return self.by_group.interval(Status.PASS)
        passed, failed = self.votes[Status.PASS], self.votes[Status.FAIL]
        return wilson(passed, passed + failed)

    @property
    def dissent(self) -> float | None:
        """Share of compared cases in which this juror differs from the verdict; None if there are none."""
        return self.dissents / self.compared if self.compared else None


@dataclass(slots=True)
class TierCount:
    """Outcomes at one tier of a cascade.

    Attributes:
        policy: the tier's policy, by name; empty while no case has reached it.
        reached: the number of cases judged at this tier.
        stopped: the number of cases decided here, by outcome.
        broken: the number of cases in which the tier, or a guard of it, failed.
    """

    policy: str = ""
    reached: int = 0
    stopped: Counter[str] = field(default_factory=Counter)
    broken: int = 0

    def add(self, tier: TierResult, verdict: Verdict) -> None:
        self.policy = tier.policy
        self.reached += 1
        self.broken += tier.broken
        if tier.stopped:
            add_bounded(self.stopped, verdict.opinion or str(verdict.status))


def why_unusable(vote: Judgment) -> str | None:
    """Return why a juror failed or had no usable reply; None if it voted, or abstained for another reason."""
    if vote.status is Status.ERROR:
        return vote.error or vote.reasoning
    if vote.error in (None, BUDGET_EXHAUSTED):
        return None
    return f"{vote.error}: {vote.reasoning}"


def models_not_asked(judgment: Judgment) -> dict[str, str]:
    """Return the models that were not asked about a case because the batch had given them up, with the reasons."""
    votes = (vote for _, vote in votes_in(judgment) if "not_asked" in vote.metadata)
    return {str(vote.metadata["not_asked"]): vote.error or "" for vote in votes}


@dataclass(slots=True)
class GivenUp:
    """Model that was given up within the batch, because every call to it fails.

    Attributes:
        error: the error for which it was given up.
        cases: number of cases for which it was not asked.
    """

    error: str
    cases: int = 0


@dataclass(frozen=True, slots=True)
class Concern:
    """Case that needs review.

    Attributes:
        where: the item's id or its line.
        judgment: the judgment on the case.
        why: the reason, in one sentence.
    """

    where: str
    judgment: Judgment
    why: str


@dataclass(slots=True)
class GateCount:
    """Verdicts that miss gates of a jury.

    Attributes:
        missed: the number of verdicts that miss at least one gate.
        by_gate: the number of verdicts that miss each gate.
        first: the first of these verdicts: the item's id or its line, and a sentence per missed gate.
    """

    missed: int = 0
    by_gate: Counter[str] = field(default_factory=Counter)
    first: list[tuple[str, list[str]]] = field(default_factory=list)

    def add(self, where: str, unmet: Sequence[GateResult], *, keep: int = 10) -> None:
        """Count the gates that one verdict misses, if any."""
        if not unmet:
            return
        self.missed += 1
        self.by_gate.update(gate.gate for gate in unmet)
        if len(self.first) < keep:
            self.first.append((where, [gate.note for gate in unmet]))


class LookFirst:
    """Cases to look at first: contested ones, the lowest agreement first, then failed, then undecided ones.

    Args:
        keep: the number of cases to keep; all are counted.
    """

    def __init__(self, keep: int = 10) -> None:
        self.total = 0
        self._keep = keep
        self._order = count(0, -1)  # of equal concerns, the first in the input is kept
        self._heap: list[tuple[float, int, Concern]] = []

    def add(self, where: str, judgment: Judgment) -> None:
        """Add one case, if it is of concern."""
        urgency = _urgency(judgment)
        if urgency is None:
            return
        self.total += 1
        order = next(self._order)
        if len(self._heap) == self._keep and (urgency, order) < self._heap[0][:2]:
            return
        entry = (urgency, order, Concern(where, judgment, _why(judgment)))
        (heapq.heappush if len(self._heap) < self._keep else heapq.heapreplace)(self._heap, entry)

    def cases(self) -> list[Concern]:
        """Return the kept cases, the most urgent first."""
        return [concern for _, _, concern in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]


def _urgency(judgment: Judgment) -> float | None:
    """Return the urgency of a review of the case; None if none is needed."""
    if not needs_review(judgment):
        return None
    if isinstance(judgment, Verdict) and judgment.escalate_for_review:
        return 4.0 - (judgment.agreement or 0.0)
    return 2.0 if judgment.status is Status.ERROR else 1.0


def _why(judgment: Judgment) -> str:
    if isinstance(judgment, Verdict) and judgment.failed_tiers:
        causes = [f"{'/'.join(path)} broke: {_cause(tier)}" for path, tier in judgment.find_broken_tiers()]
        return "; ".join([*causes, judgment.reasoning])
    if isinstance(judgment, Verdict) and judgment.escalate_for_review:
        sides: dict[str, list[str]] = {}
        for juror in judgment.judgments:
            sides.setdefault(juror.opinion or str(juror.status), []).append(juror.critic)
        votes = "; ".join(f"{side}: {', '.join(names)}" for side, names in sides.items())
        return f"{votes} (a juror of the author's vendor family)" if judgment.bias_warning else votes
    if isinstance(judgment, Verdict) and judgment.tiers:
        return _why(judgment.tiers[-1].judgment)  # the reason of the tier itself, without the path through the cascade
    return judgment.error or judgment.reasoning


def _cause(tier: TierResult) -> str:
    """Return why a tier failed: the error of its judge, or of the first of its jurors that failed."""
    jurors = tier.judgment.jurors() if isinstance(tier.judgment, Verdict) else ()
    return next((one.error for one in (tier.judgment, *jurors) if one.status is Status.ERROR and one.error), tier.why)
