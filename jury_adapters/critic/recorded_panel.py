"""Panel of jurors with recorded votes, judged without the steps that only live jurors need."""

from __future__ import annotations

from collections.abc import Sequence

from jury_adapters.core import instrumentation
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.scheduling import Juror
from jury_adapters.core.values import clean_text
from jury_adapters.critic.recorded import RecordedCritic


def verdicts_of(jury: Judge, cases: Sequence[Case]) -> list[Judgment]:
    """Return the verdict on each case, as ``jury.judge_many(cases)`` does.

    It takes half the time for an ensemble of :class:`RecordedCritic`, whose jurors never wait, are never out of time
    and ask no other judge. Its verdicts and their judgments have no times of their own.
    """
    if not isinstance(jury, Ensemble) or not _is_recorded(jury):
        return list(jury.judge_many(cases))
    return [_verdict(jury, case) if case.run_error is None else jury.judge(case) for case in cases]


def _is_recorded(jury: Ensemble) -> bool:
    if jury.__class__ is not Ensemble or jury.schedule == "early_stop" or jury.timeout is not None:
        return False
    if instrumentation.observer is not None:
        return False
    return all(juror.judge.__class__ is RecordedCritic and juror.inline and not juror.sample for juror in jury.jurors)


def _verdict(jury: Ensemble, case: Case) -> Judgment:
    votes = [_vote(juror, case) for juror in jury.jurors]
    return jury.verdict_of(
        votes, case.generator, critic=clean_text(jury.name), case_id=case.item_id, case_metadata=case.metadata
    )


def _vote(juror: Juror, case: Case) -> Judgment:
    critic = juror.judge
    assert isinstance(critic, RecordedCritic)
    try:
        vote = critic.recorded_judgment(case)
    except Exception as error:  # a vote of the file is invalid
        vote = critic.failure(error)
    return vote if vote.critic == juror.name else evolve(vote, critic=clean_text(juror.name))
