"""Counters for a stream of verdicts: jurors, tiers, shares, gates.

Their size does not grow with the number of cases; if cases have groups, it grows with the number of groups.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.clustered_shares import (
    GroupSum,
    IntraclassCorrelation,
    clustered_wilson,
    intraclass_correlation,
)
from jury_adapters.core.formatting import clip, counted, to_word, two_decimals
from jury_adapters.core.gates import GateResult
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.core.opinions import first_vote, votes_in
from jury_adapters.core.statistics import wilson
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import TierResult, Verdict
from jury_adapters.core.verdict_facts import outage_as_error

OTHER = "(others)"
NOT_COMPARED = abstain("there is no verdict to compare with")
_REQUEST_ID = re.compile(r", request [^\s,()]+(?=\)$)| \(request [^\s,()]+\)$")
_MOST_BROKEN = 5
_STATUSES = frozenset(map(str, Status))
_MOST_KINDS = 50  # labels and error messages come from models and may be different every time


def add_bounded(counter: Counter[str], key: str, times: int = 1) -> None:
    """Count a key of an unbounded set; after the first keys, new ones are counted together as :data:`OTHER`."""
    counter[key if key in counter or len(counter) < _MOST_KINDS else OTHER] += times


def without_request_id(error: str) -> str:
    """Return an error without the id of its request, which differs in each error.

    >>> without_request_id("server: openai: the vendor is down (status 503, request req_1)")
    'server: openai: the vendor is down (status 503)'
    """
    return _REQUEST_ID.sub("", error)


class GroupedOutcomes:
    """Outcomes of cases, counted by the group of the case."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, Counter[str]] = {}

    def add(self, group: Hashable, outcome: str, times: int = 1) -> None:
        """Count cases of one group."""
        self._counts.setdefault(group, Counter())[outcome] += times

    def interval(self, outcome: str) -> tuple[float, float]:
        """Return the 95 % interval of the share of one outcome."""
        return clustered_wilson((counts[outcome], counts.total()) for counts in self._counts.values())

    def intraclass_correlation(self, outcome: str) -> IntraclassCorrelation | None:
        """Return how far the cases of a group are alike in having one outcome; None if nothing shows it."""
        hits = [(counts[outcome], counts.total()) for counts in self._counts.values()]
        return intraclass_correlation([GroupSum(cases, times, times) for times, cases in hits])

    def __len__(self) -> int:
        return len(self._counts)


@dataclass(slots=True)
class JurorCount:
    """Votes of one juror.

    Attributes:
        votes: the numbers of PASS, FAIL, labels without such a meaning, ABSTAIN, and ERROR.
        compared: the number of cases that this juror and the verdict both decided.
        dissents: the number of these that they decided differently.
        only_reason: the reason, while the juror has only abstained or failed, and always for the same reason. It
            distinguishes a juror that cannot work (a misspelt name, a missing column) from one that is careful.
        by_group: its PASS and FAIL by the group of the case; empty if cases have no groups.
        by_fallback: the number of its votes that each of its fallbacks gave.
        uncounted: the number of its votes whose calls are unknown; see :attr:`jury_adapters.Usage.uncounted`.
        over_budget: the number of cases about which it was not asked because its call did not fit the budget; they are
            in no other number.
        empty_answers: the number of empty answers, about which it was not asked; they are in no other number either.
    """

    votes: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    dissents: int = 0
    only_reason: str | None = None
    by_group: GroupedOutcomes = field(default_factory=GroupedOutcomes)
    by_fallback: Counter[str] = field(default_factory=Counter)
    uncounted: int = 0
    over_budget: int = 0
    empty_answers: int = 0

    def add(
        self,
        judgment: Judgment,
        verdict: Judgment,
        group: Hashable | None = None,
        *,
        fallback: str | None = None,
        times: int = 1,
    ) -> None:
        if fallback is not None:
            add_bounded(self.by_fallback, fallback, times)
        self.uncounted += times * judgment.usage.total.uncounted
        opinion = judgment.opinion
        if group is not None and opinion in (Status.PASS, Status.FAIL):
            self.by_group.add(group, opinion, times)
        reason = None if opinion is not None else without_request_id(judgment.error or judgment.reasoning)
        self.only_reason = reason if not self.votes or self.only_reason == reason else None
        add_bounded(self.votes, opinion if opinion is not None else str(judgment.status), times)
        if opinion is not None and (decided := verdict.opinion) is not None:
            self.compared += times
            self.dissents += times * (opinion != decided)

    @property
    def asked(self) -> int:
        """Number of cases the juror was asked about."""
        return self.votes.total()

    @property
    def fallback_share(self) -> str:
        """Words for the votes that a fallback gave: ``3 of 10 votes by a fallback``; empty without any."""
        given = self.by_fallback.total()
        return f"{given:,} of {counted(self.asked, 'vote')} by a fallback" if given else ""

    @property
    def fallback_names(self) -> str:
        """The fallbacks that voted, each with the number of its votes if there are several; empty without any."""
        if len(self.by_fallback) == 1:
            return next(iter(self.by_fallback))
        return ", ".join(f"{name} {times:,}" for name, times in self.by_fallback.most_common())

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
class CriterionCount(JurorCount):
    """Results of one criterion, and the agreement of the jurors that judged it.

    Attributes:
        agreements: the sum of the agreement in each case.
        with_agreement: the number of cases in which the criterion has two votes or more.
        split: the number of these that split.
        stopped_early: the number of these in which some jurors were not asked, to save calls.
    """

    agreements: float = 0.0
    with_agreement: int = 0
    split: int = 0
    stopped_early: int = 0

    def add_result(self, result: Judgment, group: Hashable | None, times: int = 1) -> None:
        """Count a result, and the agreement of the jurors behind it; for a cascade, that of its first vote."""
        self.add(outage_as_error(result), NOT_COMPARED, group, times=times)
        add_agreement(self, result, times)

    @property
    def mean_agreement(self) -> float | None:
        """Mean agreement of the criterion's jurors, over the cases with two votes or more."""
        return self.agreements / self.with_agreement if self.with_agreement else None

    @property
    def agreement_words(self) -> str:
        """Words for :attr:`mean_agreement`, with the number of cases, of those that split, and of those stopped early.

        They are empty without any.
        """
        if not self.with_agreement:
            return ""
        split = f", {self.split:,} split" if self.split else ""
        stopped = f", {self.stopped_early:,} stopped early" if self.stopped_early else ""
        return f"{two_decimals(self.mean_agreement)} of {self.with_agreement:,}{split}{stopped}"

    @property
    def label_words(self) -> str:
        """Words for the labels without a PASS/FAIL meaning, such as those of a comparison: ``A 2, tie 1``."""
        labels = ((opinion, times) for opinion, times in self.votes.most_common() if opinion not in _STATUSES)
        return ", ".join(f"{clip(opinion, 20)} {times:,}" for opinion, times in labels)


Jurors: TypeAlias = Mapping[tuple[str, ...], JurorCount]
"""Counts by the path of a juror: the names of its tiers and juries, and its own."""


def broken_jurors(jurors: Jurors) -> list[str]:
    """Return words for the jurors that broke, also on cases that others decided, the most often broken first."""
    broke = sorted(((path, juror) for path, juror in jurors.items() if juror.errors), key=lambda one: -one[1].errors)
    words = [f"{clip(path[-1], 40)} broke {juror.errors:,} of {counted(juror.asked, 'time')}" for path, juror in broke]
    return words if len(broke) <= _MOST_BROKEN else [*words[:_MOST_BROKEN], f"{len(broke) - _MOST_BROKEN} more broke"]


@dataclass(slots=True)
class TierCount:
    """Outcomes at one tier of a cascade.

    Attributes:
        policy: the policy of the tier in the first case that reached it, by name; empty while there is none.
        reached: the number of cases judged at this tier.
        stopped: the number of cases of which this tier is the last, by outcome.
        decided: the number of these that are PASS, FAIL or have a label; not those that are FAIL by errors alone.
        broken: the number of cases in which the tier, or a judge in it, failed.
    """

    policy: str = ""
    reached: int = 0
    stopped: Counter[str] = field(default_factory=Counter)
    decided: int = 0
    broken: int = 0

    @property
    def undecided(self) -> int:
        """Number of cases that stopped here without a decision."""
        return self.stopped.total() - self.decided

    def add(self, tier: TierResult, verdict: Verdict, times: int = 1) -> None:
        self.policy = self.policy or tier.policy
        self.reached += times
        self.broken += times * tier.broken
        if tier.stopped:
            by_errors = verdict.failed_by_errors
            self.decided += times * (verdict.valid and not by_errors)
            add_bounded(self.stopped, "failed by errors" if by_errors else to_word(verdict), times)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the counts as JSON values."""
        return {
            "policy": self.policy, "reached": self.reached, "stopped": dict(self.stopped), "decided": self.decided,
            "broken": self.broken,
        }  # fmt: skip


class AgreementCounts(Protocol):
    """Object with the counts of agreement that :class:`CriterionCount` describes."""

    agreements: float
    with_agreement: int
    split: int
    stopped_early: int


def add_agreement(counts: AgreementCounts, result: Judgment, times: int) -> bool:
    """Count the agreement of the first vote in results of one form, and return whether there is any."""
    vote = first_vote(result)
    if vote is None or vote.agreement is None:
        return False
    counts.agreements += times * vote.agreement
    counts.with_agreement += times
    counts.split += times * vote.disagreement
    counts.stopped_early += times * vote.partial
    return True


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


def failed_runs_note(failed_runs: int) -> str:
    """Return words for the runs of the application that failed; empty without any.

    >>> failed_runs_note(2)
    '2 runs of the application failed'
    """
    return f"{counted(failed_runs, 'run')} of the application failed" if failed_runs else ""


def empty_answers_note(number: int) -> str:
    """Return words for the empty answers about which no model was asked; empty without any."""
    return f"{counted(number, 'empty answer')} without a model: in no figure of the jurors" if number else ""


@dataclass(slots=True)
class GateCount:
    """Verdicts that miss gates of a jury.

    Attributes:
        verdicts: the number of verdicts.
        missed: the number of verdicts that miss at least one gate.
        by_gate: the number of verdicts that miss each gate.
        not_measured: the number of verdicts on which each gate could not be measured, if there are any.
        first: the first of the verdicts that miss a gate: the item's id or its line, and a sentence per missed gate.
    """

    verdicts: int = 0
    missed: int = 0
    by_gate: Counter[str] = field(default_factory=Counter)
    not_measured: Counter[str] = field(default_factory=Counter)
    first: list[tuple[str, list[str]]] = field(default_factory=list)

    def add(self, where: str, results: Sequence[GateResult], *, keep: int = 10) -> None:
        """Count the results of the gates on one verdict."""
        self.verdicts += 1
        self.not_measured.update(gate.gate for gate in results if gate.result == "skipped")
        unmet = [gate for gate in results if gate.result == "failed"]
        if not unmet:
            return
        self.missed += 1
        self.by_gate.update(gate.gate for gate in unmet)
        if len(self.first) < keep:
            self.first.append((where, [gate.note for gate in unmet]))

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the counts as JSON values."""
        return {
            "missed": self.missed, "by_gate": dict(self.by_gate),
            "verdicts": self.verdicts, "not_measured": dict(self.not_measured),
            "first": [{"where": where, "unmet": list(unmet)} for where, unmet in self.first],
        }  # fmt: skip
