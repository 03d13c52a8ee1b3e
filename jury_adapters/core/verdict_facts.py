"""Facts about judgments that counters, votes and reports share."""

from __future__ import annotations

from jury_adapters.core.judgment import Judgment, Status, broken
from jury_adapters.core.review_reasons import DOUBTFUL
from jury_adapters.core.values import EMPTY, FrozenDict
from jury_adapters.core.verdict import SCORECARD, Verdict


def lacks_criteria(judgment: Judgment) -> bool:
    """Whether a scorecard, or a cascade that a scorecard decided, has no score because a criterion is undecided.

    >>> from jury_adapters import Scorecard, abstain
    >>> card = Scorecard({"long": lambda case: False, "dated": lambda case: abstain("no date")})
    >>> verdict = card.judge(answer="a")
    >>> verdict.status, lacks_criteria(verdict)
    (<Status.FAIL: 'FAIL'>, True)
    """
    is_card = isinstance(judgment, Verdict) and judgment.voting == SCORECARD and not judgment.by_rule
    return is_card and judgment.valid and judgment.score is None


def case_score(judgment: Judgment) -> float | None:
    """Return the score that counts in a mean over cases, 0..1; without a score, 1.0 for PASS and 0.0 for FAIL.

    None if the case was not judged in full: in an abstention, an error, a FAIL that only failed jurors caused, and a
    scorecard in which a criterion is undecided. A zero would lower the mean although it is not known to be one.
    """
    return None if judgment.failed_by_errors or lacks_criteria(judgment) else judgment.numeric_score


def metadata_of_case(judgment: Judgment | None) -> FrozenDict:
    """Return the metadata of the case that a verdict keeps; empty for other judgments."""
    return judgment.case_metadata if isinstance(judgment, Verdict) else EMPTY


def outage_as_error(judgment: Judgment) -> Judgment:
    """Return an ERROR for a verdict that is FAIL only because of juror errors, and any other judgment unchanged.

    To vote without errors, vote over the results of this function.
    """
    return broken("jurors broke", critic=judgment.critic) if judgment.failed_by_errors else judgment


def is_outage(judgment: Judgment) -> bool:
    """Whether nothing was judged because a judge, or every juror, broke; the status need not be ERROR.

    >>> from jury_adapters import Ensemble
    >>> verdict = Ensemble([lambda case: 1 / 0] * 2, errors="ignore").judge(answer="a")
    >>> verdict.status, is_outage(verdict)
    (<Status.ABSTAIN: 'ABSTAIN'>, True)
    """
    if judgment.status is Status.ERROR:
        return True
    return isinstance(judgment, Verdict) and bool(judgment.judgments) and all(map(is_outage, judgment.judgments))


def is_doubtful(judgment: Judgment) -> bool:
    """Whether the reasons for review include split jurors or something that broke."""
    return not DOUBTFUL.isdisjoint(judgment.review_reasons)
