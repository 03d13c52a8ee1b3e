"""Judge that asks another judge about every retrieved passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, OpinionStatuses, Status, abstain, total_usage
from jury_adapters.core.runner import run_judge
from jury_adapters.core.scheduling import Juror, ask_at_most
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.retrieval.measures import MEASURES

PassageMeasure: TypeAlias = Literal["average_precision", "precision", "hit_rate", "reciprocal_rank"]
_PASSAGE_MEASURES: tuple[str, ...] = get_args(PassageMeasure)


class EachPassage(Judge):
    """Judge of a retriever that asks another judge about every passage in ``contexts``, one at a time.

    The judge sees the case with a single passage. A passage that it passes is relevant. The score is a measure of the
    relevant passages in their order; ``average_precision`` is what ragas calls context precision
    (https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_precision/). The judgment has a finding
    for each passage: ``passage 1``, ``passage 2`` and so on. A passage that repeats an earlier one is judged again, and
    a blank one is not relevant.

    A case without contexts is ABSTAIN. If the judge abstains or breaks on a passage, the score is unknown, and the
    judgment is ABSTAIN, or ERROR if an error is the cause.

    Args:
        judge: the judge of one passage, such as ``Critic(model, "passage_relevance")`` or a panel of critics.
        measure: ``average_precision`` (relevant passages first), ``precision`` (the share of relevant passages),
            ``hit_rate`` (at least one is relevant) or ``reciprocal_rank`` (of the first relevant one).
        threshold: the least score that passes, from 0 to 1.
        at_once: how many passages are judged at a time; the next one begins as soon as one of them is judged.
        name: the judge's name in verdicts; by default ``"<measure> of <judge>"``, or the measure if
            the other judge has no name.

    Raises:
        ConfigurationError: an argument is invalid.

    >>> from jury_adapters import judge
    >>> @judge
    ... def names_the_year(case):
    ...     return "1998" in case.contexts[0]
    >>> passages = ["The bridge is red.", "It opened in 1998."]
    >>> EachPassage(names_the_year, measure="reciprocal_rank").judge(question="When?", contexts=passages).score
    0.5
    """

    def __init__(
        self,
        judge: JudgeLike,
        *,
        measure: PassageMeasure = "average_precision",
        threshold: float = 0.5,
        at_once: int = 5,
        name: str = "",
    ) -> None:
        self.member = judge_of(judge)
        if measure not in _PASSAGE_MEASURES:
            raise ConfigurationError(unknown("measure of passages", measure, _PASSAGE_MEASURES))
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise ConfigurationError(f"the threshold is a score from 0 to 1, not {plain_repr(threshold)}")
        if isinstance(at_once, bool) or not isinstance(at_once, int) or at_once < 1:
            raise ConfigurationError(f"at_once is a number of passages from 1, not {plain_repr(at_once)}")
        self.measure = measure
        self.threshold = threshold
        self.at_once = at_once
        self.name = name or (f"{measure} of {self.member.name}" if self.member.name else measure)
        self.cost = self.member.cost

    @property
    def members(self) -> tuple[Judge, ...]:
        return (self.member,)

    @property
    def inline(self) -> bool:
        return self.member.inline

    @property
    def size(self) -> int:
        return self.member.size

    @property
    def requests_at_once(self) -> int:
        return self.at_once * self.member.requests_at_once

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return PASS_OR_FAIL

    @property
    def estimated_whole(self) -> bool:
        return True

    def asking_everyone(self) -> EachPassage:
        return self._with(member=self.member.asking_everyone())

    def estimate(self, case: Case) -> Usage:
        passages = [number for number, text in enumerate(case.contexts) if text.strip()]
        return sum((self.member.estimate(_with_passage(case, number)) for number in passages), NO_USAGE)

    async def assess(self, case: Case) -> Judgment:
        if not case.contexts:
            return abstain("the case has no contexts: there is no passage to judge")
        jurors = [
            Juror(_OnPassage(self.member, position), f"passage {position + 1}", None)
            for position in range(len(case.contexts))
        ]
        return self._judgment(await ask_at_most(jurors, case, self.at_once))

    def _judgment(self, judgments: Sequence[Judgment]) -> Judgment:
        unjudged = [one for one in judgments if one.status not in (Status.PASS, Status.FAIL)]
        broken = next((one for one in unjudged if one.status is Status.ERROR), None)
        score = None if unjudged else self._score(judgments)
        if score is None:
            status = Status.ERROR if broken is not None else Status.ABSTAIN
        else:
            status = Status.PASS if score >= self.threshold else Status.FAIL
        return Judgment(
            status,
            score=score,
            reasoning=self._reasoning(judgments, unjudged, score),
            error=None if broken is None else broken.error,
            findings=tuple(_finding(one) for one in judgments),
            usage=total_usage(judgments),
        )

    def _score(self, judgments: Sequence[Judgment]) -> float:
        relevant = {rank for rank, one in enumerate(judgments) if one.status is Status.PASS}
        return MEASURES[self.measure](range(len(judgments)), relevant, None) if relevant else 0.0

    def _reasoning(self, judgments: Sequence[Judgment], unjudged: Sequence[Judgment], score: float | None) -> str:
        if score is None:
            first = unjudged[0]
            why = first.error or first.reasoning or first.label or first.status
            return f"{len(unjudged)} of {len(judgments)} passages could not be judged; {first.critic}: {why}"
        passed = sum(one.status is Status.PASS for one in judgments)
        least = f"; asked for at least {self.threshold:g}" if score < self.threshold else ""
        return f"{self.measure} is {score:.3g}: {passed} of {len(judgments)} passages are relevant{least}"


class _OnPassage(Judge):
    """Judge that shows another judge one of the passages."""

    def __init__(self, judge: Judge, position: int) -> None:
        self.name = judge.name
        self.cost = judge.cost
        self._judge = judge
        self._position = position

    @property
    def members(self) -> tuple[Judge, ...]:
        return (self._judge,)

    @property
    def inline(self) -> bool:
        return self._judge.inline and self._judge.timeout is None

    async def assess(self, case: Case) -> Judgment:
        if not case.contexts[self._position].strip():
            return Judgment(Status.FAIL, score=0.0, reasoning="the passage is blank")
        return await run_judge(self._judge, _with_passage(case, self._position))


def _with_passage(case: Case, position: int) -> Case:
    return case.model_copy(update={"contexts": case.contexts[position : position + 1]})


def _finding(judgment: Judgment) -> Finding:
    passed = {Status.PASS: True, Status.FAIL: False}.get(judgment.status) if judgment.status else None
    return Finding(judgment.critic, passed, judgment.reasoning, score=judgment.score)
