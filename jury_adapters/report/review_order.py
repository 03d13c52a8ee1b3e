"""Review order: the cases of a run that need review, the most urgent first.

The size of the list does not grow with the number of cases.
"""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass
from itertools import count

from jury_adapters.core.case import Case
from jury_adapters.core.formatting import to_word
from jury_adapters.core.forms import by_form
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import SCORECARD, TierResult, Verdict
from jury_adapters.core.verdict_facts import is_doubtful


class ReviewOrder:
    """Cases that need review: contested ones, the lowest agreement first, then failed ones, then abstentions.

    Args:
        keep: the number of cases to keep; all are counted.
    """

    def __init__(self, keep: int = 10) -> None:
        self.total = 0
        self._keep = keep
        self._order = count(0, -1)  # of equal concerns, the first in the input is kept
        self._heap: list[tuple[float, int, Concern]] = []

    def add(self, where: str, judgment: Judgment, case: Case | None = None) -> None:
        """Add one case, if it is of concern; the case itself, if it is known, for its question."""
        urgency = _urgency(judgment)
        if urgency is None:
            return
        self.total += 1
        order = next(self._order)
        if len(self._heap) == self._keep and (urgency, order) < self._heap[0][:2]:
            return
        entry = (urgency, order, Concern(where, judgment, _why(judgment), (case and case.question) or ""))
        (heapq.heappush if len(self._heap) < self._keep else heapq.heapreplace)(self._heap, entry)

    def cases(self) -> list[Concern]:
        """Return the kept cases, the most urgent first."""
        return [concern for _, _, concern in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]

    def rows(self) -> list[JsonValue]:
        """Return the kept cases as JSON values, the most urgent first."""
        return [{"where": one.where, "verdict": to_word(one.judgment), "why": one.why} for one in self.cases()]


@dataclass(frozen=True, slots=True)
class Concern:
    """Case that needs review.

    Attributes:
        where: the item's id or its line.
        judgment: the judgment on the case.
        why: the reason, in one sentence.
        question: the question of the case; empty if it is not known.
    """

    where: str
    judgment: Judgment
    why: str
    question: str = ""

    @property
    def asked(self) -> str:
        """The question, if the id of the case is a UUID, which says nothing to a reader; otherwise empty."""
        return self.question if _UUID.match(self.where) else ""


_UNDECIDED = (Status.ABSTAIN, Status.ERROR)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


@by_form
def _urgency(judgment: Judgment) -> float | None:
    """Return the urgency of a review of the case; None if none is needed."""
    if not judgment.needs_review:
        return None
    if isinstance(judgment, Verdict) and is_doubtful(judgment):
        return 4.0 - (judgment.agreement or 0.0)
    return 2.0 if judgment.status is Status.ERROR else 1.0


def _why(judgment: Judgment) -> str:
    if isinstance(judgment, Verdict) and judgment.failed_tiers:
        causes = [f"{'/'.join(path)} broke: {_cause(tier)}" for path, tier in judgment.find_broken_tiers()]
        return "; ".join([*causes, judgment.reasoning])
    if isinstance(judgment, Verdict) and judgment.voting == SCORECARD and is_doubtful(judgment):
        return _why_of_scorecard(judgment) or judgment.error or judgment.reasoning
    if isinstance(judgment, Verdict) and is_doubtful(judgment):
        sides: dict[str, list[str]] = {}
        for juror in judgment.judgments:
            sides.setdefault(juror.opinion or str(juror.status), []).append(juror.critic)
        votes = "; ".join(f"{side}: {', '.join(names)}" for side, names in sides.items())
        return f"{votes} (a juror of the author's vendor family)" if judgment.bias_warning else votes
    if "over_budget" in judgment.review_reasons:
        return f"decided without every juror, because of the budget: {judgment.reasoning}"
    if isinstance(judgment, Verdict) and judgment.tiers:
        return _why(judgment.tiers[-1].judgment)  # the reason of the tier itself, without the path through the cascade
    return judgment.error or judgment.reasoning


def _why_of_scorecard(verdict: Verdict) -> str:
    """Return the criteria that left a scorecard undecided, then the doubts about others, with their own statuses.

    Terminal and Markdown cut long texts, so the reasons of the former are left out.
    """
    doubtful = [one for one in verdict.judgments if isinstance(one, Verdict) and is_doubtful(one)]
    if not doubtful:
        return ""
    causes = [
        f"{one.critic}: {one.status}"
        for one in verdict.judgments
        if verdict.status in _UNDECIDED and one.status is verdict.status and one not in doubtful
    ]
    doubts = [
        f"{one.critic}{'' if one.status is verdict.status else f' ({to_word(one)})'}: {_why(one)}" for one in doubtful
    ]
    return "; ".join(causes + doubts)


def _cause(tier: TierResult) -> str:
    """Return why a tier failed: the error of its judge, or of the first of its jurors that failed."""
    jurors = tier.judgment.jurors() if isinstance(tier.judgment, Verdict) else ()
    return next((one.error for one in (tier.judgment, *jurors) if one.status is Status.ERROR and one.error), tier.why)
