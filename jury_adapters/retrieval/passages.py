"""Judge that asks another judge about every retrieved passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.core.parts import EachPart, Part
from jury_adapters.retrieval.measures import MEASURES

PassageMeasure: TypeAlias = Literal["average_precision", "precision", "hit_rate", "reciprocal_rank"]
_PASSAGE_MEASURES: tuple[str, ...] = get_args(PassageMeasure)


class EachPassage(EachPart):
    """Judge of a retriever that asks another judge about every passage in ``contexts``, one at a time.

    The judge sees the case with a single passage. A passage that it passes is relevant. The score is a measure of the
    relevant passages in their order; ``average_precision`` is what ragas calls context precision
    (https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_precision/). The judgment has a finding
    for each passage: ``passage 1``, ``passage 2`` and so on. A passage that repeats an earlier one is judged again, and
    a blank one is not relevant; among contexts with images it may be one of these, and is not judged.

    A case without contexts is ABSTAIN. If the judge abstains or breaks on a passage, the score is unknown, and the
    judgment is ABSTAIN, or ERROR if an error is the cause.

    Args:
        judge: the judge of one passage, such as ``Critic(model, "passage_relevance")`` or a panel of critics.
        measure: ``average_precision`` (relevant passages first), ``precision`` (the share of relevant passages),
            ``hit_rate`` (at least one is relevant) or ``reciprocal_rank`` (of the first relevant one).
        threshold: the lowest score that passes, from 0 to 1.
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

    noun = "passages"

    def __init__(
        self,
        judge: JudgeLike,
        *,
        measure: PassageMeasure = "average_precision",
        threshold: float = 0.5,
        at_once: int = 5,
        name: str = "",
    ) -> None:
        super().__init__(judge, threshold, at_once)
        if measure not in _PASSAGE_MEASURES:
            raise ConfigurationError(unknown("measure of passages", measure, _PASSAGE_MEASURES))
        self.measure = measure
        self.name = name or (f"{measure} of {self.member.name}" if self.member.name else measure)

    @property
    def nothing(self) -> str:
        return "the case has no contexts: there is no passage to judge"

    def parts_of(self, case: Case) -> Sequence[Part]:
        blank = _PICTURE if any(image.role == "context" for image in case.attachments) else _BLANK
        return [
            Part(f"passage {number}", _with_passage(case, number - 1) if text.strip() else blank)
            for number, text in enumerate(case.contexts, start=1)
        ]

    def score_of(self, passed: Sequence[bool]) -> float:
        relevant = {rank for rank, one in enumerate(passed) if one}
        return MEASURES[self.measure](range(len(passed)), relevant, None) if relevant else 0.0

    def explanation(self, passed: Sequence[bool], score: float) -> str:
        return f"{self.measure} is {score:.3g}: {sum(passed)} of {len(passed)} passages are relevant"


def _with_passage(case: Case, position: int) -> Case:
    return case.model_copy(update={"contexts": case.contexts[position : position + 1]})


_BLANK = Judgment(Status.FAIL, score=0.0, reasoning="the passage is blank")
_PICTURE = abstain("the passage has no text, and may be one of the images, which are not judged one by one")
