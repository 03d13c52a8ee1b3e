"""Numbers of a report, counted in one pass over its entries. Needs only the standard library."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from sys import float_info
from typing import TypeAlias

from jury_adapters.core.agreement import pairwise_agreement
from jury_adapters.core.early_stops import early_stops_note
from jury_adapters.core.forms import by_form
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import comparable_opinions_of, juror_names, opinions_of
from jury_adapters.core.statistics import cohen_kappa
from jury_adapters.core.tier_policies import is_screening_policy
from jury_adapters.core.unasked import is_unasked
from jury_adapters.core.usage import NO_USAGE, Usage, UsageSum
from jury_adapters.core.verdict import SCORECARD, Verdict
from jury_adapters.report.counters import JurorCount, TierCount
from jury_adapters.report.entries import Entry
from jury_adapters.report.summary import Summary

BINS = 10
_NO_DECISION: Mapping[Status | None, float] = {Status.ERROR: 0.3, Status.ABSTAIN: 0.1}

_Cast: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]
"""Opinions in one verdict that may be compared, with the paths of their jurors; many cases have the same."""


@dataclass(slots=True)
class JurorFigures:
    """Figures of one juror over all cases.

    Attributes:
        name: its name, prefixed with its tiers and juries if the name alone would be ambiguous.
        count: its votes with their rates, and how often it differs from the verdict.
        kappa: Cohen's kappa with the majority of the other jurors; None if there is none, or no variation.
        compared: the number of cases in which the other jurors had a majority to compare with.
        seconds: the median of its times, in seconds, without judgments on record; None if unknown.
        slowest: the longest of these times, in seconds; None if unknown.
        usage: tokens, calls and cost.
        model: the model behind it, or None.
        scores: the number of its scores in each tenth of 0..1; empty if it gave none.
        path: the names of the tiers and juries around it, then its own name.
    """

    name: str
    count: JurorCount
    kappa: float | None = None
    compared: int = 0
    seconds: float | None = None
    slowest: float | None = None
    usage: Usage = NO_USAGE
    model: str | None = None
    scores: tuple[int, ...] = ()
    path: tuple[str, ...] = ()

    @property
    def asked(self) -> int:
        """Number of cases the juror was asked about."""
        return self.count.asked

    @property
    def errors(self) -> int:
        """Number of cases on which the juror failed."""
        return self.count.errors

    @property
    def pass_rate(self) -> float | None:
        """Share of PASS among the juror's PASS and FAIL; None if it gave neither."""
        return self.count.pass_rate

    @property
    def pass_interval(self) -> tuple[float, float]:
        """95 % interval of :attr:`pass_rate`: Wilson's, or that of groups."""
        return self.count.pass_interval


@dataclass(frozen=True, slots=True)
class TierFigures:
    """Figures of one tier of a cascade: the cases that reached it and stopped there, and the cost."""

    name: str
    count: TierCount
    usage: Usage


@dataclass(frozen=True, slots=True)
class Pair:
    """Agreement of two jurors.

    Attributes:
        n: the number of cases that both decided.
        share: the share of these that they decided alike; None without any.
        kappa: Cohen's kappa; None if it is undefined.
    """

    n: int
    share: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """All numbers of one run.

    Attributes:
        summary: the counters that ``jury judge`` prints.
        jurors: one per juror, in order of appearance.
        tiers: one per tier (cascades only).
        pairs: the agreement of two jurors, by their positions in ``jurors``.
        scores: the number of scores of verdicts in each tenth of 0..1; empty if there are none.
        agreement: :attr:`Summary.mean_agreement`, as ``jury judge`` prints it; None without any.
    """

    summary: Summary
    jurors: tuple[JurorFigures, ...]
    tiers: tuple[TierFigures, ...]
    pairs: Mapping[tuple[int, int], Pair]
    scores: tuple[int, ...]
    agreement: float | None

    @property
    def criteria_note(self) -> str:
        """Sentences that say where the agreement of the jurors of criteria is; empty without such jurors."""
        criteria = self.summary.by_criterion.values()
        if not any(criterion.with_agreement for criterion in criteria):
            return ""
        stopped = early_stops_note(sum(criterion.stopped_early for criterion in criteria))
        biased = f" Of these, {stopped}." if stopped else ""
        return (
            "Criteria are different questions, so jurors are compared only within their own criterion: the table of "
            f"criteria has the mean agreement in each.{biased} For dissent, kappa and further measures, make a report "
            "of each criterion by itself."
        )

    @classmethod
    def of(cls, entries: Iterable[Entry], *, pass_labels: Collection[str] = (), group: str = "") -> Figures:
        """Count these entries; the options are those of :class:`~jury_adapters.report.summary.Summary`."""
        summary = Summary(pass_labels=pass_labels, group=group)
        tapes: dict[tuple[str, ...], _Tape] = {}
        tiers: dict[str, Usage] = {}
        scores = array("d")
        votes: Counter[_Cast] = Counter()
        for entry in entries:
            judgment = entry.judgment
            summary.add(entry.case, judgment, entry.place, key=entry.key)
            if judgment.score is not None:
                scores.append(judgment.score)
            if isinstance(judgment, Verdict):
                for tier in judgment.tiers:
                    tiers[tier.name] = tiers.get(tier.name, NO_USAGE) + tier.judgment.usage.total
            _record(judgment, tapes)
            votes[_cast_in(judgment)] += 1
        summary.label_comparison.forget_items()
        names = juror_names(tapes)
        paths = list(tapes)
        kappas = [_with_rest(path, votes) for path in paths]
        return cls(
            summary,
            tuple(
                tapes[path].figures(path, names[path], summary.jurors.get(path, JurorCount()), *kappa)
                for path, kappa in zip(paths, kappas, strict=True)
            ),
            tuple(TierFigures(name, count, tiers.get(name, NO_USAGE)) for name, count in summary.tiers.items()),
            _pairs(paths, votes),
            histogram(scores),
            summary.mean_agreement,
        )


def contest(judgment: Judgment) -> tuple[float, float | None]:
    """Return how contested a case is (0: not at all; from 1 upwards: needs review), and the verdict's own agreement.

    For a cascade, the first number is based on the agreement within each tier: a case on which the first tier split is
    contested, however certain the last tier is. Screening tiers are excluded, because letting a case through is not
    an opinion on it.
    """
    least = min((value for value in _agreements(judgment) if value is not None), default=1.0)
    no_decision = _NO_DECISION.get(judgment.status, 0.0)
    contested = judgment.needs_review + no_decision + 1.0 - least
    return contested, judgment.agreement if isinstance(judgment, Verdict) else None


def _agreements(judgment: Judgment) -> Iterator[float | None]:
    """Yield the agreement of jurors, by tier and criterion, in the votes and in single opinions."""
    if not isinstance(judgment, Verdict):
        return
    if judgment.tiers:
        for tier in judgment.tiers:
            if not is_screening_policy(tier.policy):
                yield from _agreements(tier.judgment)
        return
    if judgment.voting == SCORECARD:
        for criterion in judgment.judgments:
            yield from _agreements(criterion)
        return
    yield judgment.agreement
    asked = (vote for _, vote in opinions_of(judgment) if not is_unasked(vote))
    yield pairwise_agreement([opinion for vote in asked if (opinion := vote.opinion) is not None])


def histogram(scores: Sequence[float]) -> tuple[int, ...]:
    """Return the number of scores in each tenth of 0..1; 1.0 belongs to the last one. Empty without scores."""
    if not scores:
        return ()
    counts = [0] * BINS
    for score in scores:
        counts[min(int(score * BINS), BINS - 1)] += 1
    return tuple(counts)


@dataclass(slots=True)
class _Tape:
    """Usage, times and scores of one juror over the cases."""

    usage: UsageSum = field(default_factory=UsageSum)
    model: str | None = None
    seconds: array[float] = field(default_factory=lambda: array("d"))
    scores: array[float] = field(default_factory=lambda: array("d"))

    def add(self, vote: Judgment) -> None:
        usage = vote.usage
        self.usage.add(usage.total)
        self.model = self.model or vote.model
        on_record = usage.recorded is not None and not usage.calls  # the time is that of reading the store
        if vote.elapsed_s is not None and not on_record:
            self.seconds.append(min(vote.elapsed_s, float_info.max))  # a file may have an integer beyond it
        if vote.score is not None:
            self.scores.append(vote.score)

    def figures(
        self, path: tuple[str, ...], name: str, count: JurorCount, kappa: float | None, compared: int
    ) -> JurorFigures:
        return JurorFigures(
            name, count, kappa, compared,
            median(self.seconds) if self.seconds else None, max(self.seconds, default=None),
            self.usage.usage, self.model, histogram(self.scores), path,
        )  # fmt: skip


def _record(judgment: Judgment, tapes: dict[tuple[str, ...], _Tape]) -> None:
    """Record the vote of every juror; that of a juror that was not asked only has a name."""
    for asked, (path, vote) in zip(_asked_in(judgment), opinions_of(judgment), strict=True):
        tape = tapes.get(path)
        if tape is None:
            tape = tapes[path] = _Tape()
        if asked:
            tape.add(vote)


@by_form
def _asked_in(judgment: Judgment) -> tuple[bool, ...]:
    return tuple(not is_unasked(vote) for _, vote in opinions_of(judgment))


@by_form
def _cast_in(judgment: Judgment) -> _Cast:
    """Return the opinions in one judgment that may be compared.

    Opinions in screening tiers and of the criteria of a scorecard are not compared with others.
    """
    opinions = ((path, vote.opinion) for path, vote in comparable_opinions_of(judgment))
    return tuple({path: str(opinion) for path, opinion in opinions if opinion is not None}.items())


def _with_rest(path: tuple[str, ...], votes: Mapping[_Cast, int]) -> tuple[float | None, int]:
    """Return the kappa of one juror with the majority of the others, without the cases on which these tie."""
    met: Counter[tuple[str, str]] = Counter()
    for opinions, times in votes.items():
        cast = dict(opinions)
        own = cast.get(path)
        if own is None or len(cast) < 2:
            continue
        rest = Counter(cast.values())
        rest[own] -= 1
        ranked = rest.most_common(2)
        if len(ranked) == 1 or ranked[0][1] > ranked[1][1]:
            met[own, ranked[0][0]] += times
    return cohen_kappa(met), met.total()


def _pairs(paths: Sequence[tuple[str, ...]], votes: Mapping[_Cast, int]) -> dict[tuple[int, int], Pair]:
    met: dict[tuple[int, int], Counter[tuple[str, str]]] = {}
    place = {path: position for position, path in enumerate(paths)}
    for cast, times in votes.items():
        opinions = sorted((place[path], opinion) for path, opinion in cast)
        for position, (first, one) in enumerate(opinions):
            for second, other in opinions[position + 1 :]:
                met.setdefault((first, second), Counter())[one, other] += times
    return {
        pair: Pair(
            counts.total(),
            sum(times for (a, b), times in counts.items() if a == b) / counts.total(),
            cohen_kappa(counts),
        )
        for pair, counts in met.items()
    }
