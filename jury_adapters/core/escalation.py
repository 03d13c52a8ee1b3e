"""Policies that say when a cascade stops at a tier."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.values import unit_interval


class Policy(StrEnum):
    """Rule by which a cascade stops at a tier."""

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
        confidence: the threshold of ``escalate_below``, 0..1.
    """

    kind: Policy
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in list(Policy):
            raise ConfigurationError(unknown("policy", self.kind, Policy))
        object.__setattr__(self, "kind", Policy(self.kind))  # policies are compared by identity
        if self.confidence is not None:
            unit_interval(self.confidence, "the threshold of a policy")

    def __str__(self) -> str:
        return self.kind.value if self.confidence is None else f"{self.kind.value}({self.confidence:g})"


PolicyName: TypeAlias = Literal["reject_on_any_fail", "accept_on_all_pass", "escalate_on_split", "final", "FINAL_TIER"]
PolicyLike: TypeAlias = PolicyName | Policy | TierPolicy


def escalate_below(confidence: float) -> TierPolicy:
    """Return the policy that accepts a tier's verdict from this confidence on, 0..1, and escalates below it."""
    return TierPolicy(Policy.ESCALATE_BELOW, unit_interval(confidence, "escalate_below"))


def policy_of(policy: PolicyLike | str) -> TierPolicy:
    """Return the policy of this name, in any case and with or without a final ``_tier``, or a policy as it is.

    Raises:
        ConfigurationError: an unknown policy, or ``escalate_below`` without its threshold.

    >>> policy_of("FINAL_TIER").kind
    <Policy.FINAL: 'final'>
    """
    if isinstance(policy, TierPolicy):
        if policy.kind is Policy.ESCALATE_BELOW and policy.confidence is None:
            raise ConfigurationError("escalate_below needs its threshold: escalate_below(0.8)")
        return policy
    name = str(policy).strip().lower().removesuffix("_tier")
    if name == Policy.ESCALATE_BELOW:
        raise ConfigurationError("escalate_below needs its threshold: policy=escalate_below(0.8)")
    if name not in list(Policy):
        known = [kind.value if kind is not Policy.FINAL else "final (FINAL_TIER)" for kind in Policy]
        raise ConfigurationError(unknown("policy", policy, known))
    return TierPolicy(Policy(name))


def check_policy_text(text: object) -> None:
    """Check that a text is what ``str(policy)`` returns; results, which may come from a file, hold it.

    Raises:
        ConfigurationError: it is not the text of a policy.

    >>> check_policy_text("escalate_below(0.8)")
    """
    if text not in list(Policy) and not (isinstance(text, str) and _WITH_THRESHOLD.fullmatch(text)):
        raise ConfigurationError(unknown("policy of a tier", text, Policy))


_WITH_THRESHOLD = re.compile(rf"{Policy.ESCALATE_BELOW}\([0-9.e+-]{{1,30}}\)")
