"""Last tier of a calibrated cascade, which abstains, and the reason for which the cascade gets there."""

from __future__ import annotations

from collections.abc import Sequence

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, abstain
from jury_adapters.core.opinions import ABSTAINED, opinions_of
from jury_adapters.core.tier_policies import is_screening_policy
from jury_adapters.core.verdict import TierResult, Verdict


class AbstainingTier(Judge):
    """Judge that always abstains, with the reason.

    Args:
        agreement: the guaranteed agreement.
    """

    opinion_statuses = PASS_OR_FAIL
    name = ABSTAINED

    def __init__(self, agreement: float) -> None:
        self._agreement = agreement

    @property
    def size(self) -> int:
        """Return 0: this tier asks no juror, so a cascade that stops before it saves no call."""
        return 0

    def assess(self, case: Case) -> Judgment:
        return abstain(f"no tier is sure enough to keep the guaranteed agreement of {self._agreement:g}")


def why_no_juror_voted(tiers: Sequence[TierResult]) -> str:
    """Return the reasons of the jurors if none of them voted, such as that there are no contexts.

    They abstained or broke, and how sure the tiers are has nothing to do with it. The text is empty if a juror voted.

    Args:
        tiers: the results of the tiers before the one that abstains. Screening tiers do not vote.
    """
    asked = [juror for tier in tiers if not is_screening_policy(tier.policy) for juror in _jurors(tier.judgment)]
    if any(juror.valid for juror in asked):
        return ""
    reasons = "; ".join(dict.fromkeys(juror.reasoning for juror in asked if juror.reasoning))
    return reasons and f"no juror could judge: {reasons}"


def _jurors(judgment: Judgment) -> list[Judgment]:
    if not isinstance(judgment, Verdict):
        return [judgment]
    return [juror for _, juror in opinions_of(judgment)] or [judgment]
