"""Base of the voting strategies: eligible votes, error policies, and early stopping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, inf
from operator import is_not
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar, cast

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import ANY_OPINION, Judgment, OpinionStatuses, Status
from jury_adapters.core.tally import Tally
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.core.voting.options import Count

ErrorPolicy = Literal["fail", "abstain", "ignore", "propagate"]
Weights: TypeAlias = Sequence[float] | None
Votes: TypeAlias = Sequence[Judgment | None]
B = TypeVar("B", str, float)

ERROR_POLICIES = ("fail", "abstain", "ignore", "propagate")


@dataclass(frozen=True, slots=True)
class VoteResult:
    """Result of a vote, from which a jury builds its verdict."""

    status: Status | None
    tally: Tally
    score: float | None = None
    label: str | None = None
    confidence: float | None = None
    reasoning: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Box(Generic[B]):
    """Ballots of a vote after the population rule (see :func:`collect`).

    Attributes:
        voted: ``(position, ballot)`` of every vote, in juror order; an error that counts as FAIL is a vote.
        cast: the ballot of each juror itself, in juror order; None for abstentions, errors and ignored judgments.
        weights: one per judgment, or None if all count alike.
        abstained: number of abstentions.
        errors: number of errors.
        ignored: number of judgments left out for other reasons.
    """

    voted: tuple[tuple[int, B], ...]
    cast: tuple[B | None, ...]
    weights: Weights
    abstained: int
    errors: int
    ignored: int

    def weight(self, position: int) -> float:
        return 1.0 if self.weights is None else self.weights[position]

    def total_weight(self) -> float:
        """Return the total weight of the votes; the weights of jurors that do not vote are not included."""
        return fsum(self.weight(position) for position, _ in self.voted) if self.weights else float(len(self.voted))


def too_few(voted: int, min_votes: int) -> str:
    """Return the reason of a jury that abstains because too few jurors voted, or none with a weight above 0."""
    if not voted:
        return "no juror voted"
    if voted < min_votes:
        return f"only {counted(voted, 'juror')} voted, and {min_votes} must"
    return "no juror with a weight above 0 voted"


def collect(
    judgments: Sequence[Judgment],
    weights: Weights,
    errors: ErrorPolicy,
    ballot_of: Callable[[Judgment], B | None],
    error_ballot: B | None,
) -> Box[B]:
    """Apply the population rule, which is the same for all strategies, and return the ballots.

    An ABSTAIN and a judgment without a ballot do not vote. An ERROR follows the error policy.

    Args:
        judgments: judgments in juror order.
        weights: one per judgment, or None if all count alike.
        errors: the error policy; the caller handles ``"propagate"``.
        ballot_of: returns the ballot of a valid judgment; None if it has none.
        error_ballot: the ballot of an ERROR under ``errors="fail"``; without one, errors are ignored and counted as
            ignored.
    """
    voted: list[tuple[int, B]] = []
    cast: list[B | None] = []
    abstained = failed = ignored = 0
    for position, judgment in enumerate(judgments):
        status = judgment.status
        ballot: B | None = None
        if status is Status.ABSTAIN:
            abstained += 1
        elif status is Status.ERROR:
            failed += 1
            if errors == "fail" and error_ballot is not None:
                voted.append((position, error_ballot))
            elif errors in ("fail", "ignore"):
                ignored += 1
        else:
            ballot = ballot_of(judgment)
            if ballot is None:
                ignored += 1
            else:
                voted.append((position, ballot))
        cast.append(ballot)
    return Box(tuple(voted), tuple(cast), weights, abstained, failed, ignored)


@dataclass(frozen=True, kw_only=True)
class VotingStrategy(ABC):
    """Base of the rules that combine judgments into one; the same judgments and weights give the same result.

    Attributes:
        errors: the effect of an ERROR. ``"fail"``: it counts as FAIL or 0.0. ``"abstain"``, ``"ignore"``: it does not
            vote. ``"propagate"``: one ERROR makes the verdict ERROR. None: ``"fail"`` for statuses and scores, but
            ERROR if every juror that did not abstain broke; ``"ignore"`` for labels.
        min_votes: the verdict is ABSTAIN if fewer judgments than this are eligible.

    A rule of the package also has these class attributes: ``name``, ``also_called`` (further names), and
    ``passes_when`` and ``good_for`` (cells of the table in the documentation).
    """

    name: ClassVar[str] = ""
    also_called: ClassVar[tuple[str, ...]] = ()
    passes_when: ClassVar[str] = ""
    good_for: ClassVar[str] = ""
    threshold_of_jurors: ClassVar[bool] = False
    """Whether the rule, given by name, passes by default from the score from which its jurors pass."""

    errors: ErrorPolicy | None = None
    min_votes: Count = 1

    def __post_init__(self) -> None:
        if self.errors is not None and self.errors not in ERROR_POLICIES:
            raise ConfigurationError(unknown("errors=", self.errors, ERROR_POLICIES))
        if isinstance(self.min_votes, bool) or not isinstance(self.min_votes, int) or self.min_votes < 1:
            raise ConfigurationError(f"min_votes is a whole number from 1, not {plain_repr(self.min_votes)}")

    def tally(self, judgments: Sequence[Judgment], weights: Weights = None) -> VoteResult:
        """Count the votes.

        Args:
            judgments: judgments in juror order.
            weights: one finite number >= 0 per judgment, not all zero; None if all count alike.

        Raises:
            ConfigurationError: the weights are unusable.
        """
        weights = checked_weights(weights, len(judgments))
        result = self._outcome(judgments, weights)
        if result.status is Status.ERROR:
            return result
        without = [outage_as_error(judgment) for judgment in judgments]
        by_policy = bool(result.tally.errors) and self.errors in (None, "fail")
        if not by_policy and not any(map(is_not, without, judgments)):
            return result
        rule = replace(self, errors="ignore")
        if not rule.supports_early_stop:  # a user's function is called only once
            return result
        decided = rule._count(without, weights).status is not result.status
        if not decided and result.status is Status.FAIL:
            decided = rule._count(self._as_passes(judgments, without), weights).status is Status.PASS
        return replace(result, tally=replace(result.tally, errors_decided=True)) if decided else result

    def settled(
        self, judgments: Votes, weights: Weights = None, opinions: Sequence[OpinionStatuses] | None = None
    ) -> bool:
        """Whether the missing votes (None) can no longer change status or label.

        Score, confidence, tally and reasoning may still change. A strategy without a proof (``errors="propagate"``,
        functions) returns False until every juror has voted.

        Args:
            judgments: judgments in juror order; None for a juror that has not voted yet.
            weights: as in :meth:`tally`.
            opinions: the statuses that the opinion of each juror may have; any by default.
        """
        if None not in judgments:
            return True
        results = (result for _, result in self.possible_results(judgments, weights, opinions))
        return self.supports_early_stop and all_alike((result.status, result.label) for result in results)

    def possible_results(
        self, judgments: Votes, weights: Weights = None, opinions: Sequence[OpinionStatuses] | None = None
    ) -> Iterator[tuple[list[Judgment], VoteResult]]:
        """Yield the results at the extremes, each with its votes; if these are equal, so is every other result.

        At an extreme all missing votes are PASS, or FAIL, or the same label, or an abstention, or an error. Every rule
        of the package is monotone in each vote, so results that are equal at the extremes are equal between them.
        Property tests compare this with the enumeration of all votes.
        """
        for filled in self._completions(judgments):
            yield filled, self._outcome(filled, weights)

    @property
    def supports_early_stop(self) -> bool:
        """Whether :meth:`settled` can return True before every juror has voted."""
        return self.errors != "propagate"

    @property
    def pass_score(self) -> float | None:
        """The score from which a verdict of the rule passes; None if its score does not decide."""
        return None

    @property
    def reads_numbers(self) -> bool:
        """Whether the rule reads more than the status and label of a judgment, such as its score or what broke."""
        return True

    def opinion_statuses(self, members: OpinionStatuses) -> OpinionStatuses:
        """Return the statuses that the rule's opinions may have, given those of the jurors' opinions."""
        return ANY_OPINION

    def extreme_votes(self, judgments: Votes) -> Sequence[Judgment]:
        """Return the hypothetical votes with which early stopping plans for the remaining jurors."""
        return (ALL_PASS, ALL_FAIL)

    def hypothetical_votes(self, judgments: Votes, positions: Sequence[int]) -> Iterator[list[Judgment | None]]:
        """Yield the votes for each extreme, with that extreme at all of these positions, which have no vote yet."""
        for vote in self.extreme_votes(judgments):
            filled = list(judgments)
            for position in positions:
                filled[position] = vote
            yield filled

    def bind(self, names: Sequence[str]) -> VotingStrategy:
        """Return the strategy for jurors with these names.

        Raises:
            ConfigurationError: the strategy cannot count the votes of these jurors.
        """
        return self

    @abstractmethod
    def _count(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult: ...

    def _outcome(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        """Return the count, or by default an ERROR if only jurors that broke would decide."""
        return self._unless_broken(self._count(judgments, weights), judgments)

    def _unless_broken(self, result: VoteResult, judgments: Sequence[Judgment]) -> VoteResult:
        if self.errors is not None or not result.tally.errors or result.tally.on == "label":
            return result
        if any(judgment.valid for judgment in judgments):
            return result
        return _broken(judgments, result.tally.on, "and no other juror could say")

    def _as_passes(self, judgments: Sequence[Judgment], without: Sequence[Judgment]) -> list[Judgment]:
        """Return the votes if every error that counts as FAIL, and every juror that was not asked, were a PASS.

        Args:
            judgments: the votes.
            without: the same votes with an ERROR for each verdict that is FAIL only because of errors.
        """
        counts = self.errors in (None, "fail")
        return [
            ALL_PASS if one is NOT_ASKED or one is not given or (counts and one.status is Status.ERROR) else one
            for given, one in zip(judgments, without, strict=True)
        ]

    def _completions(self, judgments: Votes) -> Iterator[list[Judgment]]:
        """Yield the extreme completions of the missing votes."""
        out = [position for position, judgment in enumerate(judgments) if judgment is None]
        yield from cast("Iterator[list[Judgment]]", self.hypothetical_votes(judgments, out))
        yield from filled_with((ALL_ABSTAIN, ALL_BROKEN), judgments)

    def _propagated(self, judgments: Sequence[Judgment], on: Literal["status", "label", "score"]) -> VoteResult | None:
        """Return the ERROR result if a judge broke under ``errors="propagate"``, else None."""
        if self.errors != "propagate":
            return None
        if not any(judgment.status is Status.ERROR for judgment in judgments):
            return None
        return _broken(judgments, on, "and errors propagate")


def filled_with(votes: Iterable[Judgment], judgments: Votes) -> Iterator[list[Judgment]]:
    """Yield the judgments once per vote, with that vote in place of every missing one."""
    for vote in votes:
        yield [vote if judgment is None else judgment for judgment in judgments]


def all_alike(outcomes: Iterable[object]) -> bool:
    """Whether all outcomes are equal; stops at the first that differs."""
    several = iter(outcomes)
    first = next(several)
    return all(outcome == first for outcome in several)


def checked_weights(weights: Sequence[float] | None, count: int) -> Weights:
    """Return the weights after checking them.

    Raises:
        ConfigurationError: the number of weights differs, or they are negative, not finite, or all zero.
    """
    if weights is None:
        return None
    if len(weights) != count:
        raise ConfigurationError(f"{len(weights)} weights for {count} judgments; give one weight per judgment")
    for weight in weights:
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < inf:
            raise ConfigurationError(f"a weight is a finite number >= 0, not {plain_repr(weight)}")
    try:
        total = fsum(weights)
    except OverflowError:
        raise ConfigurationError("the weights are too large to add up; only their ratios matter") from None
    if count and not total:
        raise ConfigurationError("all weights are zero; give at least one judge a weight above 0")
    return weights


def weights_in_order(
    weights: Sequence[float] | Mapping[str, float] | Mapping[int, float], names: Sequence[str]
) -> tuple[float, ...]:
    """Return the weights in juror order, from a sequence or from a mapping by name or position.

    A juror that the mapping does not name has the weight 1.

    Raises:
        ConfigurationError: the weights are unusable, or no juror has a given name.
    """
    if not isinstance(weights, Mapping):
        return tuple(checked_weights(tuple(weights), len(names)) or ())
    ordered = [1.0] * len(names)
    for key, weight in weights.items():
        if isinstance(key, int) and 0 <= key < len(names):
            ordered[key] = weight
        elif key in names:
            ordered[names.index(str(key))] = weight
        else:
            raise ConfigurationError(unknown("juror in weights", key, names))
    return tuple(checked_weights(ordered, len(names)) or ())


def _broken(judgments: Sequence[Judgment], on: Literal["status", "label", "score"], why: str) -> VoteResult:
    """Return an ERROR result that names the first judge that broke."""
    broken = [judgment for judgment in judgments if judgment.status is Status.ERROR]
    abstained = sum(judgment.status is Status.ABSTAIN for judgment in judgments)
    tally = Tally(on, abstained=abstained, errors=len(broken), ballots=(None,) * len(judgments))
    reason = f"{len(broken)} of {len(judgments)} judges broke, {why}"
    return VoteResult(
        Status.ERROR, tally, reasoning=reason, error=f"{broken[0].critic or 'a judge'}: {broken[0].error}"
    )


NOT_ASKED = Judgment(Status.ABSTAIN, reasoning="not asked")
"""Place of a juror that early stopping did not ask; it counts as an abstention."""

# Votes at the extremes.
ALL_PASS = Judgment(Status.PASS, score=1.0, confidence=1.0)
ALL_FAIL = Judgment(Status.FAIL, score=0.0, confidence=1.0)
ALL_ABSTAIN = Judgment(Status.ABSTAIN, reasoning="hypothetical")
ALL_BROKEN = Judgment(Status.ERROR, error="hypothetical")
