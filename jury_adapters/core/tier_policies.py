"""Policies that decide whether a cascade stops at a tier: their names, and one class with the rule of each.

To add a policy, add a value to :class:`Policy`, its name to :data:`PolicyName` for type checkers, and a class with that
``kind``. The schema of jury files, the messages and the table in the documentation are derived from them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.tally import only_vote
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import unit_interval

Decision: TypeAlias = Literal["rejected", "accepted", "final", "error"]


class Policy(StrEnum):
    """Name of a policy: the rule by which a cascade stops at a tier."""

    REJECT_ON_ANY_FAIL = "reject_on_any_fail"
    ACCEPT_ON_ALL_PASS = "accept_on_all_pass"
    ESCALATE_ON_SPLIT = "escalate_on_split"
    ESCALATE_BELOW = "escalate_below"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """Policy of a tier, with its threshold.

    Attributes:
        kind: the policy.
        confidence: the threshold of a policy that has one, such as ``escalate_below``, 0..1.
    """

    kind: Policy
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in list(Policy):
            raise ConfigurationError(unknown("policy", self.kind, Policy))
        object.__setattr__(self, "kind", Policy(self.kind))  # policies are compared by identity
        if self.confidence is not None:
            unit_interval(self.confidence, "the threshold of a policy")
            if self.kind not in THRESHOLD_POLICIES:
                raise ConfigurationError(f"{self.kind} has no threshold; {' and '.join(THRESHOLD_POLICIES)} has")

    @property
    def rule(self) -> TierRule:
        """The rule of the policy."""
        return POLICIES[self.kind](self.confidence or 0.0)

    def __str__(self) -> str:
        return self.kind.value if self.confidence is None else f"{self.kind.value}({self.confidence:g})"


PolicyName: TypeAlias = Literal["reject_on_any_fail", "accept_on_all_pass", "escalate_on_split", "final", "FINAL_TIER"]
PolicyLike: TypeAlias = PolicyName | Policy | TierPolicy


def escalate_below(confidence: float) -> TierPolicy:
    """Return the policy that accepts a tier's verdict with at least this confidence, 0..1, and else escalates."""
    return TierPolicy(Policy.ESCALATE_BELOW, unit_interval(confidence, "escalate_below"))


def policy_of(policy: PolicyLike | str) -> TierPolicy:
    """Return the policy with this name, in any case and with or without the suffix ``_tier``, or a policy unchanged.

    Raises:
        ConfigurationError: the policy is unknown, or lacks the threshold that it needs.

    >>> policy_of("FINAL_TIER").kind
    <Policy.FINAL: 'final'>
    """
    if isinstance(policy, TierPolicy):
        if POLICIES[policy.kind].takes_threshold and policy.confidence is None:
            raise ConfigurationError(f"{policy.kind} needs its threshold: {policy.kind}(0.8)")
        return policy
    name = str(policy).strip().lower().removesuffix("_tier")
    if name in THRESHOLD_POLICIES:
        raise ConfigurationError(f"{name} needs its threshold: policy={name}(0.8)")
    if name not in list(Policy):
        known = [kind.value if kind is not Policy.FINAL else "final (FINAL_TIER)" for kind in Policy]
        raise ConfigurationError(unknown("policy", policy, known))
    return TierPolicy(Policy(name))


def check_policy_text(text: object) -> None:
    """Check that a text is the ``str`` of a policy, because results may come from a file.

    Raises:
        ConfigurationError: the text is not that of a policy.

    >>> check_policy_text("escalate_below(0.8)")
    """
    if text not in list(Policy) and not (isinstance(text, str) and _WITH_THRESHOLD.fullmatch(text)):
        raise ConfigurationError(unknown("policy of a tier", text, Policy))


def is_screening_policy(text: str) -> bool:
    """Whether a text is the ``str`` of a policy of screening tiers, which decide by rule and not by a vote.

    >>> is_screening_policy("reject_on_any_fail"), is_screening_policy("escalate_below(0.8)")
    (True, False)
    """
    return text.partition("(")[0] in _SCREENING


class TierOutcome(NamedTuple):
    """Result of a tier's judge on a case.

    Attributes:
        tier: the name of the tier.
        judgment: the judgment of the tier's judge.
        individuals: the judgments of its jury; the judgment itself if the judge is not a jury, and none if it broke.
        reject_errors: whether a broken judge rejects.
    """

    tier: str
    judgment: Judgment
    individuals: Sequence[Judgment]
    reject_errors: bool = False


class TierRule(ABC):
    """Rule of one policy: whether the cascade stops at a tier, why, and with which status.

    Attributes:
        kind: the policy.
        is_screening: whether the tier decides by rule, and not by a vote.
        takes_if_broken: whether the policy uses ``if_broken=`` of the tier.
        takes_threshold: whether the policy has a threshold.
        accepted_as: the status of an accepted case; None for the status of the tier's own verdict.
        stops_when: the condition, for the table in the documentation.
        verdict_is: the verdict if the cascade stops, for the table.
        otherwise: the effect if the cascade does not stop, for the table.
        threshold: the threshold of the policy; 0.0 if it has none.
    """

    kind: ClassVar[Policy]
    is_screening: ClassVar[bool] = False
    takes_if_broken: ClassVar[bool] = False
    takes_threshold: ClassVar[bool] = False
    accepted_as: ClassVar[Status | None] = None
    stops_when: ClassVar[str]
    verdict_is: ClassVar[str]
    otherwise: ClassVar[str] = "go on"

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold

    @abstractmethod
    def decide(self, outcome: TierOutcome) -> tuple[Decision | None, str]:
        """Return the decision (None if the cascade continues) and the reason for it."""

    def is_broken(self, outcome: TierOutcome) -> bool:
        """Whether the tier broke, that is, could not do its work."""
        return outcome.judgment.status is Status.ERROR

    def errors_decided(self, individuals: Sequence[Judgment]) -> bool | None:
        """Whether errors decided the outcome; None to use ``errors_decided`` of the tier's tally."""
        return None


class EarlyStop(TierRule):
    """Base of the rules that some of the votes can settle, whatever the vote of the jury would be."""

    def settled(self, votes: Sequence[Judgment | None]) -> bool:
        """Whether the missing votes can no longer change the decision of the tier."""
        cast = [vote for vote in votes if vote is not None]
        return len(cast) == len(votes) or self.is_settled_by(cast)

    @abstractmethod
    def is_settled_by(self, cast: Sequence[Judgment]) -> bool:
        """Whether these votes settle the decision before all votes are cast."""

    def min_remaining(self, votes: Sequence[Judgment | None], order: Sequence[int]) -> int:
        """Return the smallest number of jurors in ``order`` whose votes could settle the decision."""
        return 1


class RejectOnAnyFail(EarlyStop):
    """Stop if any individual is FAIL; the verdict is FAIL, whatever the tier voted."""

    kind = Policy.REJECT_ON_ANY_FAIL
    is_screening = True
    takes_if_broken = True
    stops_when = "any individual says FAIL"
    verdict_is = "FAIL, whatever the tier voted"

    def decide(self, outcome: TierOutcome) -> tuple[Decision | None, str]:
        failed = [one.critic or outcome.tier for one in outcome.individuals if one.status is Status.FAIL]
        if failed:
            return "rejected", f"{', '.join(failed)} said FAIL, and one FAIL rejects"
        if outcome.reject_errors and self.is_broken(outcome):
            return "rejected", "a judge broke, and a broken judge rejects"
        return None, "no FAIL"

    def is_settled_by(self, cast: Sequence[Judgment]) -> bool:
        return any(vote.status is Status.FAIL for vote in cast)

    def is_broken(self, outcome: TierOutcome) -> bool:
        return super().is_broken(outcome) or any(one.status is Status.ERROR for one in outcome.individuals)

    def errors_decided(self, individuals: Sequence[Judgment]) -> bool:
        return all(one.status is not Status.FAIL for one in individuals)


class AcceptOnAllPass(EarlyStop):
    """Stop if there is at least one individual and all are PASS; the verdict is PASS."""

    kind = Policy.ACCEPT_ON_ALL_PASS
    is_screening = True
    accepted_as = Status.PASS
    stops_when = "there is an individual and all say PASS"
    verdict_is = "PASS"
    otherwise = "go on; a mixed tier does not reject"

    def decide(self, outcome: TierOutcome) -> tuple[Decision | None, str]:
        count = len(outcome.individuals)
        if not count:
            return None, "no juror gave an answer"
        if self.is_settled_by(outcome.individuals):
            return None, "did not say PASS" if count == 1 else "not all said PASS"
        return "accepted", "said PASS" if count == 1 else f"all {count} said PASS"

    def is_settled_by(self, cast: Sequence[Judgment]) -> bool:
        return any(vote.status is not Status.PASS for vote in cast)


class EscalateOnSplit(EarlyStop):
    """Stop on a unanimous PASS or FAIL that is also the tier's vote. Abstentions do not count; an ERROR escalates.

    The vote may differ from an opinion that all jurors share, such as a mean of low scores that each pass.
    """

    kind = Policy.ESCALATE_ON_SPLIT
    stops_when = "all opinions are the same, PASS or FAIL, and so is the tier's vote"
    verdict_is = "that opinion"

    def decide(self, outcome: TierOutcome) -> tuple[Decision | None, str]:
        if not outcome.individuals:
            return None, "no juror gave an answer"
        if not (outcome.judgment.valid and is_unanimous(outcome.individuals)):
            return None, "not unanimous"
        if not _is_opinion_of(outcome.judgment, outcome.individuals):
            return None, "the vote is not the opinion of the jurors"
        opinion, count = outcome.judgment.opinion, len(outcome.individuals)
        alone = sum(one.valid for one in outcome.individuals) == 1 < count
        return "accepted", only_vote(opinion, count) if alone else f"unanimous: {opinion}"

    def is_settled_by(self, cast: Sequence[Judgment]) -> bool:
        opinions = {vote.opinion for vote in cast if vote.valid}
        return len(opinions) > 1 or any(vote.status is Status.ERROR for vote in cast)

    def min_remaining(self, votes: Sequence[Judgment | None], order: Sequence[int]) -> int:
        return min(len(order), 1 if any(vote is not None and vote.valid for vote in votes) else 2)


class EscalateBelow(TierRule):
    """Stop if the tier's confidence reaches the threshold; a missing confidence, ABSTAIN and ERROR escalate."""

    kind = Policy.ESCALATE_BELOW
    takes_threshold = True
    stops_when = "the tier's confidence reaches the threshold"
    verdict_is = "the tier's verdict"

    def decide(self, outcome: TierOutcome) -> tuple[Decision | None, str]:
        confidence = outcome.judgment.confidence
        if not outcome.judgment.valid:
            return None, "the tier broke" if self.is_broken(outcome) else "the tier abstained"
        if confidence is None:
            return None, "no verdict with a confidence"
        if reaches(confidence, self.threshold):
            return "accepted", f"confidence {confidence:.3f} reaches {self.threshold:g}"
        return None, f"confidence {confidence:.3f} is below {self.threshold:g}"


class Final(TierRule):
    """Always stop."""

    kind = Policy.FINAL
    stops_when = "always"
    verdict_is = "the tier's verdict"
    otherwise = ""

    def decide(self, outcome: TierOutcome) -> tuple[Decision | None, str]:
        if outcome.judgment.status is Status.ERROR:
            return "error", "the final tier broke"
        return "final", "the final tier decides"


def is_unanimous(judgments: Sequence[Judgment]) -> bool:
    """Whether there is at least one opinion, no ERROR, and all opinions are the same."""
    if any(judgment.status is Status.ERROR for judgment in judgments):
        return False
    return len({judgment.opinion for judgment in judgments if judgment.valid}) == 1


def _is_opinion_of(vote: Judgment, judgments: Sequence[Judgment]) -> bool:
    """Whether a vote is the opinion, or the label, of one of the jurors."""
    shared = {one.opinion for one in judgments if one.valid} | {one.label for one in judgments if one.valid}
    return vote.opinion in shared


def _policies() -> dict[Policy, type[TierRule]]:
    """Return the class of each policy, in the order of their names."""
    classes = [kind for kind in globals().values() if isinstance(kind, type) and issubclass(kind, TierRule)]
    by_policy = {kind.kind: kind for kind in classes if "kind" in vars(kind)}
    return {policy: by_policy[policy] for policy in Policy}


POLICIES: Mapping[Policy, type[TierRule]] = _policies()
"""Rule class of each policy."""
_SCREENING = frozenset(kind.value for kind, rule in POLICIES.items() if rule.is_screening)
THRESHOLD_POLICIES: tuple[str, ...] = tuple(kind.value for kind, rule in POLICIES.items() if rule.takes_threshold)
"""Names of the policies that have a threshold."""
_WITH_THRESHOLD = re.compile(rf"(?:{'|'.join(THRESHOLD_POLICIES)})\([0-9.e+-]{{1,30}}\)")
