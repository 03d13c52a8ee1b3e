"""Correctness as factual overlap: precision, recall and F1 of the claims of an answer and its reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from jury_adapters.core.case import Case
from jury_adapters.core.claims import supported_share
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.hidden_characters import is_blank
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain, broken, total_usage
from jury_adapters.core.parts import EachPart, Part
from jury_adapters.critic.asking import AskingJudge

OverlapMeasure: TypeAlias = Literal["f1", "precision", "recall"]


class FactualOverlap(EachPart):
    """Judge of the correctness of an answer by the claims that it shares with the reference.

    The judge is asked twice: which claims of the answer the reference supports (precision), and which claims of the
    reference the answer supports (recall). F1 is 2 x precision x recall / (precision + recall), and 0 if either is 0.
    The measures are those of ragas' ``FactualCorrectness``
    (https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/factual_correctness/); the quotations of the
    model are verified here. Claims that are unclear do not count.

    The judgment has the findings ``precision`` and ``recall``, with their values as scores. Its claims are those of
    the answer, and those of the reference that the answer lacks.

    - An empty answer scores 0, and the judge is not asked.
    - If one of the two is 0, F1 is 0, also if the other is unknown. So an answer that makes no claim fails.
    - A case without a reference is ABSTAIN. If the judge abstains on one of the two, or no claim of it is decided, the
      score that needs it is unknown, and the judgment is ABSTAIN; if the judge breaks, it is ERROR.

    Args:
        judge: a judge that judges claims: ``Critic(model, "faithfulness_claims")``, or a panel of such critics, which
            combines their claims.
        measure: the score: ``"f1"``, ``"precision"`` or ``"recall"``.
        threshold: the lowest score that passes, from 0 to 1.
        name: the judge's name in verdicts; by default ``"factual overlap (<measure>)"``.

    Raises:
        ConfigurationError: an argument is invalid, or a critic of the judge has a rubric without claims.

    >>> FactualOverlap(Critic("openai:gpt-4o-mini", "faithfulness_claims"))  # doctest: +SKIP
    """

    noun = "directions"

    def __init__(
        self, judge: JudgeLike, *, measure: OverlapMeasure = "f1", threshold: float = 0.5, name: str = ""
    ) -> None:
        super().__init__(judge, threshold, at_once=2)
        if measure not in get_args(OverlapMeasure):
            raise ConfigurationError(unknown("measure of factual overlap", measure, get_args(OverlapMeasure)))
        for critic in _critics_in(self.member):
            if any(rubric.claims != "verified" for rubric in critic.rubrics):
                raise ConfigurationError(
                    f"{critic.name} does not judge claims: give critics with the rubric 'faithfulness_claims'"
                )
        self.measure = measure
        self.name = name or f"factual overlap ({measure})"

    @property
    def required_fields(self) -> tuple[str, ...]:
        return ("answer", "reference")

    @property
    def nothing(self) -> str:
        return "the case has no answer, or no reference to compare it with"

    def parts_of(self, case: Case) -> Sequence[Part]:
        if case.answer is None or not (case.reference or "").strip():
            return ()
        forward = case.model_copy(update={"contexts": [case.reference]})
        backward = case.model_copy(update={"answer": case.reference, "contexts": [case.answer]})
        return [Part("precision", forward), Part("recall", backward)]

    async def assess(self, case: Case) -> Judgment:
        if case.answer is not None and is_blank(case.answer) and (case.reference or "").strip():
            return Judgment(Status.FAIL, score=0.0, reasoning="the answer is empty")
        return await super().assess(case)

    def judgment_of(self, judgments: Sequence[Judgment]) -> Judgment:
        precision, recall = judgments
        usage = total_usage(judgments)
        error = next((one for one in judgments if one.status is Status.ERROR), None)
        if error is not None:
            return broken(error.error or "unknown", f"{error.critic}: {error.reasoning}", usage=usage)
        found = dict(zip(("precision", "recall"), (supported_share(one.claims) for one in judgments), strict=True))
        score = self._score(found["precision"], found["recall"])
        if score is None:
            unknown_one = next(one for one in judgments if found[one.critic] is None)
            why = unknown_one.reasoning or unknown_one.error
            return abstain(f"{unknown_one.critic} is unknown: {why}", error=unknown_one.error, usage=usage)
        missing = [replace(claim, sentence="") for claim in recall.claims if claim.verdict == "unsupported"]
        least = f"; asked for at least {self.threshold:g}" if score < self.threshold else ""
        values = ", ".join(f"{name} {_shown(value)}" for name, value in found.items())
        return Judgment(
            Status.PASS if score >= self.threshold else Status.FAIL,
            score=score,
            reasoning=f"{self.measure} is {score:.3g}: {values}{least}",
            findings=tuple(Finding(one.critic, None, _counted(one), score=found[one.critic]) for one in judgments),
            claims=(*precision.claims, *missing),
            usage=usage,
        )

    def _score(self, precision: float | None, recall: float | None) -> float | None:
        """Return the score; None if it is unknown. F1 is 0 if one of the two is 0, whatever the other one is."""
        if self.measure != "f1":
            return precision if self.measure == "precision" else recall
        if precision == 0 or recall == 0:
            return 0.0
        return None if precision is None or recall is None else 2 * precision * recall / (precision + recall)


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _counted(judgment: Judgment) -> str:
    verdicts = [claim.verdict for claim in judgment.claims]
    supported = verdicts.count("supported")
    return f"{supported} of {supported + verdicts.count('unsupported')} decided claims supported"


def _critics_in(judge: Judge) -> Iterator[AskingJudge]:
    """Yield the critics of a judge, which has rubrics of its own or members."""
    if isinstance(judge, AskingJudge) and judge.rubrics:
        yield judge
    for member in judge.members:
        yield from _critics_in(member)
