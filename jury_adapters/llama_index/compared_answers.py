"""Judges that compare the response with ``second_response=``, and judges of one response."""

from __future__ import annotations

from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judge import Judge
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.pairwise import PairwiseCritic
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.judges.external import ExternalJudge


def may_compare(judge: Judge) -> bool:
    """Return whether a judge may read two candidates: a comparison, or code whose reading of a case is unknown.

    Runners pass each keyword to every evaluator. So a judge that is known to judge one answer gets the response alone.

    >>> from jury_adapters.checks import NotEmpty
    >>> may_compare(NotEmpty()), may_compare(Judge.from_function(lambda case: len(case.candidates) == 2))
    (False, True)
    """
    if isinstance(judge, PairwiseCritic | FunctionJudge | ExternalJudge | RecordedCritic):
        return True
    if isinstance(judge, AskingJudge) and judge.rubrics:
        return any("candidates" in rubric.requires for rubric in judge.rubrics)
    if not type(judge).__module__.startswith("jury_adapters."):
        return True
    return any(may_compare(member) for member in judge.members)


def must_compare(judge: Judge) -> bool:
    """Return whether every opinion of a judge is a preference between two candidates.

    >>> from jury_adapters.checks import NotEmpty
    >>> must_compare(PairwiseCritic(NotEmpty())), must_compare(NotEmpty())
    (True, False)
    """
    if isinstance(judge, PairwiseCritic):
        return True
    if isinstance(judge, AskingJudge) and judge.rubrics:
        return all("candidates" in rubric.requires for rubric in judge.rubrics)
    return bool(judge.members) and all(must_compare(member) for member in judge.members)
