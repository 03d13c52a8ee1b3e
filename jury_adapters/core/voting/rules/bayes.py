"""Voting rule ``bayes``: jurors count according to how often they are right."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, fsum, log
from typing import ClassVar, TypeAlias

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, OpinionStatuses, Status
from jury_adapters.core.tally import Tally
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.core.voting.base import ALL_PASS, VoteResult, Votes, VotingStrategy, Weights, collect
from jury_adapters.core.voting.options import Probability

Reliability: TypeAlias = float | tuple[float, float]

# Logarithms of equal odds do not cancel exactly, but PASS and FAIL of two jurors with reliability 0.6 must be a tie.


@dataclass(frozen=True, kw_only=True)
class Bayes(VotingStrategy):
    """Rule that passes if the posterior probability of PASS, given the votes, reaches ``threshold``.

    Attributes:
        reliabilities: one per juror: ``{'gpt': 0.9, 'claude': (0.95, 0.8)}``, or a list in juror order. Each is the
            probability that the vote of the juror is right, or the pair (probability of PASS on cases that should pass,
            probability of FAIL on cases that should fail). All are strictly between 0 and 1: no finite number of labels
            proves certainty. A juror below 1/2 counts against its own vote; but an error that counts as FAIL always
            counts against the case.
        prior: the probability of PASS before any vote.
        threshold: pass from this posterior on, strictly between 0 and 1. Above 1/2 a wrong PASS is worse than a wrong
            FAIL; ``jury_adapters.calibration.reliabilities.fit_threshold`` learns it from labels.

    Votes are assumed to be independent given the truth (naive Bayes): log-odds = ln(prior / (1 - prior)) + the sum over
    votes of ln(P(vote | PASS) / P(vote | FAIL)). The errors of real jurors are correlated, so the posterior is
    overconfident; calibrate it before you rely on its value. The score is the posterior of PASS. The confidence is the
    posterior of the winner, which with a threshold other than 1/2 may be the less probable of the two.
    """

    name: ClassVar[str] = "bayes"
    passes_when: ClassVar[str] = "the posterior reaches `threshold` (0.5, inclusive)"
    good_for: ClassVar[str] = "jurors of unequal accuracy, with labels to learn from"

    reliabilities: Mapping[str, Reliability] | Sequence[Reliability]
    prior: Probability = 0.5
    threshold: Probability = 0.5
    _evidence: tuple[dict[str, float], ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_probability(self.prior, "prior")
        _check_probability(self.threshold, "threshold")
        if not isinstance(self.reliabilities, Mapping | Sequence) or isinstance(self.reliabilities, str):
            raise ConfigurationError(
                f"reliabilities= takes one per juror, [0.9, 0.8], not {plain_repr(self.reliabilities)}"
            )
        evidence = tuple(map(_evidence_of, self._reliabilities))
        if not evidence:
            raise ConfigurationError("bayes needs reliabilities=, one per juror: {'gpt': 0.9, 'claude': (0.95, 0.8)}")
        object.__setattr__(self, "_evidence", () if isinstance(self.reliabilities, Mapping) else evidence)

    @property
    def _reliabilities(self) -> Collection[Reliability]:
        return self.reliabilities.values() if isinstance(self.reliabilities, Mapping) else self.reliabilities

    @property
    def supports_early_stop(self) -> bool:
        return super().supports_early_stop and bool(self._evidence)

    @property
    def pass_score(self) -> float:
        return self.threshold

    @property
    def reads_numbers(self) -> bool:
        # A FAIL that counts for PASS counts against the case if only jurors that broke caused it. A jury inside cannot
        # know that before it has asked all its jurors.
        return any(evidence["FAIL"] > evidence["PASS"] for evidence in map(_evidence_of, self._reliabilities))

    def opinion_statuses(self, members: OpinionStatuses) -> OpinionStatuses:
        return PASS_OR_FAIL

    def bind(self, names: Sequence[str]) -> Bayes:
        if not isinstance(self.reliabilities, Mapping):
            if len(names) != len(self.reliabilities):
                raise ConfigurationError(f"bayes has {len(self.reliabilities)} reliabilities for {len(names)} jurors")
            return self
        missing = [name for name in names if name not in self.reliabilities]
        if missing:
            known = ", ".join(self.reliabilities)
            raise ConfigurationError(f"bayes has no reliability for {', '.join(missing)}; it knows {known}")
        return replace(self, reliabilities=tuple(self.reliabilities[name] for name in names))

    def _count(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        bound = self.bind([judgment.critic for judgment in judgments])
        propagated = self._propagated(judgments, "status")
        if propagated is not None:
            return propagated
        box = collect(judgments, weights, self.errors or "fail", lambda judgment: judgment.status, "FAIL")
        passed = sum(ballot == "PASS" for _, ballot in box.voted)
        n = len(box.voted)
        tally = Tally("status", n, passed, n - passed, box.abstained, box.errors, box.ignored, False, box.cast)
        if n < self.min_votes:
            return VoteResult(Status.ABSTAIN, tally, reasoning=f"{n} voted, at least {self.min_votes} must")
        evidence = (
            min(bound._evidence[i].values())
            if outage_as_error(judgments[i]).status is Status.ERROR
            else bound._evidence[i][ballot]
            for i, ballot in box.voted
        )
        log_odds = fsum((_log_odds(self.prior), *evidence))
        won = reaches(log_odds, _log_odds(self.threshold))
        likelier = 1 / (1 + exp(-abs(log_odds)))
        score = likelier if reaches(log_odds, 0.0) else 1 - likelier
        sure = score if won else 1 - score
        return VoteResult(Status.PASS if won else Status.FAIL, tally, score=score, confidence=sure,
                          reasoning=f"posterior {sure:.3f} from {counted(n, 'vote')}")  # fmt: skip

    def hypothetical_votes(self, judgments: Votes, positions: Sequence[int]) -> Iterator[list[Judgment | None]]:
        """Yield the votes with each juror at its own extreme; a FAIL of a juror below 1/2 is evidence for PASS."""
        for sign in (1, -1):
            filled = list(judgments)
            for position in positions:
                filled[position] = self._vote_for(position, sign)
            yield filled

    def _as_passes(self, judgments: Sequence[Judgment], without: Sequence[Judgment]) -> list[Judgment]:
        bound = self.bind([judgment.critic for judgment in judgments])
        filled = super()._as_passes(judgments, without)
        return [bound._vote_for(at, 1) if vote is ALL_PASS else vote for at, vote in enumerate(filled)]

    def _vote_for(self, position: int, sign: int) -> Judgment:
        """Return the vote of a juror that is evidence for PASS (1) or against it (-1)."""
        return _VOTES["PASS" if self._evidence[position]["PASS"] * sign >= 0 else "FAIL"]


def _evidence_of(reliability: Reliability) -> dict[str, float]:
    """Return the log-odds for PASS that a PASS vote and a FAIL vote each add."""
    true_pass, true_fail = reliability if isinstance(reliability, tuple) else (reliability, reliability)
    _check_probability(true_pass, "a reliability")
    _check_probability(true_fail, "a reliability")
    return {"PASS": log(true_pass / (1 - true_fail)), "FAIL": log((1 - true_pass) / true_fail)}


def _log_odds(probability: float) -> float:
    return log(probability / (1 - probability))


def _check_probability(value: float, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise ConfigurationError(
            f"{what} lies strictly between 0 and 1, not {plain_repr(value)}; at most 0.999 is a good habit"
        )


_VOTES = {"PASS": Judgment(Status.PASS), "FAIL": Judgment(Status.FAIL)}
