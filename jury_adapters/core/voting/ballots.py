"""Bases of the rules that vote on statuses or labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import ClassVar, Literal

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judgment import ANY_OPINION, PASS_OR_FAIL, Judgment, OpinionStatuses, Status
from jury_adapters.core.tally import Tally, only_vote
from jury_adapters.core.voting.base import (
    ALL_ABSTAIN,
    ALL_BROKEN,
    ALL_FAIL,
    ALL_PASS,
    Box,
    VoteResult,
    Votes,
    VotingStrategy,
    Weights,
    collect,
    filled_with,
    too_few,
)

On = Literal["auto", "status", "label"]
Mode = Literal["status", "label"]


@dataclass(frozen=True, kw_only=True)
class BallotVote(VotingStrategy):
    """Base of the rules on statuses and labels.

    Attributes:
        on: the kind of ballots. ``"status"``: PASS and FAIL. ``"label"``: labels (a judgment without a label votes with
            its status). ``"auto"``: statuses, unless a judgment has a label without a PASS/FAIL meaning.
        default_label: the label of a verdict without a winner, because too few votes are eligible, or because ballots
            differ and there is no ``disagree_label``.
        disagree_label: the label of a verdict whose ballots differ and none wins: a tie that abstains, an insufficient
            share, or a split that abstains. The status is still ABSTAIN.
        error_label: the label for which an ERROR votes under ``errors="fail"`` in a vote on labels.
    """

    on: On = "auto"
    default_label: str | None = None
    disagree_label: str | None = None
    error_label: str | None = None

    _decided_by_a_split: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on not in ("auto", "status", "label"):
            raise ConfigurationError(unknown("on=", self.on, ("auto", "status", "label")))
        label = self.disagree_label
        if label is not None and (not isinstance(label, str) or not label.strip()):
            raise ConfigurationError(f"disagree_label is a label, such as 'SPLIT'; not {plain_repr(label)}")
        if self.on == "label" and self.errors == "fail" and self.error_label is None:
            raise ConfigurationError(
                "errors='fail' in a vote on labels needs error_label=, the label an error counts as; "
                "or choose errors='ignore', 'abstain' or 'propagate'"
            )

    def mode(self, judgments: Iterable[Judgment | None]) -> Mode:
        """Return whether the vote is on statuses or on labels."""
        if self.on != "auto":
            return self.on
        return "label" if any(j is not None and j.status is None for j in judgments) else "status"

    @property
    def reads_numbers(self) -> bool:
        return False

    def opinion_statuses(self, members: OpinionStatuses) -> OpinionStatuses:
        return PASS_OR_FAIL if self.on == "status" or (self.on == "auto" and None not in members) else ANY_OPINION

    def possible_results(
        self, judgments: Votes, weights: Weights = None, opinions: Sequence[OpinionStatuses] | None = None
    ) -> Iterator[tuple[list[Judgment], VoteResult]]:
        """Yield the results at the extremes, for every kind of vote that this vote can still become.

        Under ``on="auto"`` one label without a PASS/FAIL meaning turns a vote on statuses into a vote on labels. As
        long as a missing vote may be such a label, the results of both kinds must be equal.
        """
        out = [position for position, judgment in enumerate(judgments) if judgment is None]
        open_to = ANY_OPINION if opinions is None else frozenset().union(*(opinions[position] for position in out))
        modes: tuple[Mode, ...] = (self.mode(judgments),)
        if self.on == "auto" and modes == ("status",) and None in open_to:
            modes = ("status", "label")
        for mode in modes:
            extremes = _STATUS_EXTREMES if mode == "status" else self._label_extremes(judgments, open_to)
            for filled in filled_with(extremes, judgments):
                yield filled, self._unless_broken(self._count_as(mode, filled, weights), filled)

    def _label_extremes(self, judgments: Votes, open_to: OpinionStatuses) -> Iterator[Judgment]:
        """Yield the extreme values of the missing votes in a vote on labels: every label in play, and a new one.

        The status of the winner is that of the first juror that voted for it, so each label is tried with every status.
        """
        for label in self._labels_in_play(judgments):
            yield from (Judgment(status, label=label, confidence=1.0) for status in sorted(open_to, key=str))
        yield from _STATUS_EXTREMES

    def extreme_votes(self, judgments: Votes) -> Sequence[Judgment]:
        if self.mode(judgments) == "status":
            decided = self.on == "status" or any(j is not None and j.valid for j in judgments)
            # Before the first opinion, "auto" may still become a vote on labels.
            return (*super().extreme_votes(judgments), *(() if decided else (_NEW_LABEL_VOTE,)))
        return [Judgment(None, label=label, confidence=1.0) for label in self._labels_in_play(judgments)]

    def hypothetical_votes(self, judgments: Votes, positions: Sequence[int]) -> Iterator[list[Judgment | None]]:
        yield from super().hypothetical_votes(judgments, positions)
        if self._decided_by_a_split and len(positions) > 1:
            one, other = (
                super().extreme_votes(judgments)
                if self.mode(judgments) == "status"
                else (_NEW_LABEL_VOTE, _OTHER_LABEL_VOTE)
            )
            filled = list(judgments)
            for position in positions:
                filled[position] = one if position == positions[0] else other
            yield filled

    def _labels_in_play(self, judgments: Votes) -> list[str]:
        """Return the labels that have votes or that the rule names, and one further label."""
        labels = {j.ballot for j in judgments if j is not None} | {self.error_label, *self._known_labels()}
        labels.add(_NEW_LABEL if _NEW_LABEL not in labels else _NEWER_LABEL)  # hypothetical votes may be for the first
        return sorted(label for label in labels if label is not None)

    def _known_labels(self) -> Iterable[str]:
        return ()

    def _count(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        return self._count_as(self.mode(judgments), judgments, weights)

    def _count_as(self, mode: Mode, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        propagated = self._propagated(judgments, mode)
        if propagated is not None:
            return propagated
        if mode == "status":
            box = collect(judgments, weights, self.errors or "fail", _status_ballot, "FAIL")
        else:
            box = collect(judgments, weights, self.errors or "ignore", _label_ballot, self.error_label)
        if len(box.voted) < self.min_votes or not box.total_weight():
            result = self._no_result(mode, box, too_few(len(box.voted), self.min_votes), label=self.default_label)
        else:
            result = self._decide(mode, box, judgments)
        if mode == "label" and box.errors and self.errors == "fail" and self.error_label is None:
            # Only on="auto" comes here, which needs judgments to see that labels vote; the constructor rejects "label".
            left = f"{box.errors} error{'s are' if box.errors > 1 else ' is'} left out"
            why = f"{left}: among labels errors='fail' needs error_label="
            return replace(result, reasoning=f"{result.reasoning}; {why}")
        return result

    @abstractmethod
    def _decide(self, mode: Mode, box: Box[str], judgments: Sequence[Judgment]) -> VoteResult:
        """Return the result of at least ``min_votes`` ballots."""

    def _disagreement(self, mode: Mode, box: Box[str], reason: str, *, tied: bool = False) -> VoteResult:
        """Return the result if ballots differ and none wins."""
        label = self.default_label if self.disagree_label is None else self.disagree_label
        return self._no_result(mode, box, reason, label=label, tied=tied)

    def _no_result(
        self, mode: Mode, box: Box[str], reason: str, *, label: str | None, tied: bool = False
    ) -> VoteResult:
        confidence = None if not box.voted else share_of(box, None)
        return VoteResult(Status.ABSTAIN, tally_of(mode, box, tied=tied), label=label, confidence=confidence,
                          reasoning=reason)  # fmt: skip

    def _won(
        self, mode: Mode, box: Box[str], judgments: Sequence[Judgment], winner: str, *,
        confidence: float | None = None, tied: bool = False, reason: str = "",
    ) -> VoteResult:  # fmt: skip
        """Return the result if one ballot wins."""
        if confidence is None:
            confidence = share_of(box, winner)
        tally = tally_of(mode, box, tied=tied)
        if not reason:
            votes = sum(ballot == winner for _, ballot in box.voted)
            broke = 0
            if box.errors:
                broke = sum(ballot == winner and box.cast[position] is None for position, ballot in box.voted)
            alone = len(box.voted) == 1 < len(box.cast) and not broke
            reason = only_vote(winner, len(box.cast)) if alone else f"{votes} of {len(box.voted)} voted {winner}"
            reason += " (a tie)" if tied else ""
            reason += f", {broke} of them by breaking" if broke else ""
        if mode == "status":
            return VoteResult(_STATUS[winner], tally, confidence=confidence, reasoning=reason)
        status = next((j.status for j in judgments if j.valid and j.ballot == winner), None)
        return VoteResult(status, tally, label=winner, confidence=confidence, reasoning=reason)


def agreement_in(box: Box[str]) -> str:
    """Return the sentence about votes that are all the same; empty for one vote, which agrees with no other."""
    if len(box.voted) == 1:
        return ""
    return (
        f"all {len(box.voted)} agree" if len(box.voted) == len(box.cast) else f"all {len(box.voted)} that voted agree"
    )


def _status_ballot(judgment: Judgment) -> str | None:
    return judgment.status


def _label_ballot(judgment: Judgment) -> str | None:
    return judgment.ballot


def share_of(box: Box[str], winner: str | None) -> float:
    """Return the winner's share of the eligible weight; without a winner (None) the largest share of a ballot."""
    if not box.weights and box.voted:
        ballots = [ballot for _, ballot in box.voted]
        return (max(map(ballots.count, ballots)) if winner is None else ballots.count(winner)) / len(ballots)
    masses: dict[str, list[float]] = {}
    for position, ballot in box.voted:
        masses.setdefault(ballot, []).append(box.weight(position))
    total = box.total_weight()
    if not total:
        return 0.0
    if winner is None:
        return max(fsum(mass) for mass in masses.values()) / total
    return fsum(masses.get(winner, ())) / total


def tally_of(mode: Mode, box: Box[str], *, tied: bool = False) -> Tally:
    """Return the counts of the votes."""
    passed = failed = 0
    if mode == "status":
        for _, ballot in box.voted:
            if ballot == "PASS":
                passed += 1
            else:
                failed += 1
    return Tally(mode, len(box.voted), passed, failed, box.abstained, box.errors, box.ignored, tied, box.cast)


_STATUS_EXTREMES = (ALL_PASS, ALL_FAIL, ALL_ABSTAIN, ALL_BROKEN)
_STATUS = {"PASS": Status.PASS, "FAIL": Status.FAIL}
_NEW_LABEL = "\0 a label without a vote so far"
_NEWER_LABEL = "\0 another one"
_NEW_LABEL_VOTE = Judgment(None, label=_NEW_LABEL, confidence=1.0)
_OTHER_LABEL_VOTE = Judgment(None, label=_NEWER_LABEL, confidence=1.0)
