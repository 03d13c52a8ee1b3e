"""Result of the evaluators: LlamaIndex's own result class with the whole verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from llama_index.core.evaluation.base import EvaluationResult
from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from jury_adapters.core.case import Case, item_id_in
from jury_adapters.core.evidence import note_on_left_out
from jury_adapters.core.feedback import agreeing_jurors, notes_of, reason_of, without_errors
from jury_adapters.core.field_names import FIELD_NAMES, columns_of
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status, evolve
from jury_adapters.core.serial import judgment_from_dict, to_dict
from jury_adapters.core.verdict import Verdict, is_pairwise_opinion
from jury_adapters.core.verdict_facts import case_score


# No quoted types in the signatures: the oldest supported pydantic inspects them.
def _read(value: Any) -> Any:
    if value is None or isinstance(value, Judgment):
        return value
    if isinstance(value, Mapping):
        return judgment_from_dict(value)
    raise ValueError(f"expected a judgment, not {type(value).__name__}")


def _write(value: Any) -> Any:
    return None if value is None else to_dict(value)


AnyJudgment = Annotated[
    Judgment | None, PlainValidator(_read), PlainSerializer(_write), WithJsonSchema({"type": ["object", "null"]})
]


class JuryEvaluationResult(EvaluationResult):
    """``EvaluationResult`` with the verdict behind it.

    ``passing`` is True for PASS and False for FAIL, ``feedback`` is a text, and ``score`` is from 0 to 1. If the
    judge abstains (ABSTAIN) or fails (ERROR), ``passing`` and ``score`` are None, as in LlamaIndex's own evaluators;
    ``invalid_result`` is True and ``invalid_reason`` gives the reason. A FAIL that only failed jurors caused is also
    invalid and has no score; its ``passing`` stays False. A scorecard in
    which a criterion is undecided has no score either. ``passing`` is also None for a tie.

    Attributes (in addition to those of ``EvaluationResult``):
        verdict: the judgment of the judge; for a jury, a :class:`Verdict`. ``model_dump`` writes it as JSON values, and
            ``model_validate`` reads them back.
        agreement: agreeing pairs of ballots / all pairs, 0..1; None below two ballots.
        cost_usd: the cost in US dollars; None if the price of a call is unknown (``verdict.usage`` then has the
            known part).
        item_id: the id of the item, if ``evaluate()`` or the runner was given one as ``id=`` or ``item_id=``.
        reference: the reference of the case.
        metadata: the metadata of the case: all keywords of ``evaluate()`` or the runner that are not fields of it, such
            as ``gold=`` for human labels.
        comparison: whether the evaluator compares two responses. A report does not count its result among those of
            others, also if it is invalid.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    verdict: AnyJudgment = None
    agreement: float | None = None
    cost_usd: float | None = None
    item_id: str | None = None
    reference: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    comparison: bool = False

    @property
    def jurors(self) -> tuple[Judgment, ...]:
        """Judgments of the single jurors, nested juries expanded; the judgment itself if the judge is not a jury."""
        if isinstance(self.verdict, Verdict) and self.verdict.judgments:
            return self.verdict.jurors()
        return () if self.verdict is None else (self.verdict,)


def result_of(
    judgment: Judgment, case: Case, contexts: Sequence[str] | None, *, comparison: bool = False
) -> JuryEvaluationResult:
    """Return a judgment as a LlamaIndex result.

    A comparison (label ``A``, ``B`` or ``tie`` of two candidates) scores 1.0, 0.0 or 0.5 for the response against the
    second response. It passes if the response is better, fails if it is worse, and is None for a tie.

    Args:
        judgment: the judgment.
        case: the case that was judged.
        contexts: the contexts to echo; None if none were given.
        comparison: whether the evaluator compares two responses.
    """
    compared = _comparison(judgment, case)
    if compared is not None and compared[2] == "neither" and judgment.label != "tie":
        judgment = evolve(judgment, label="tie")  # a report of the results counts the label
    passing, score, source = compared or (_PASSING.get(judgment.status), case_score(judgment), None)
    feedback = feedback_of(judgment)
    if judgment.status in (Status.FAIL, Status.ABSTAIN):
        note = note_on_left_out(case.contexts, case.trajectory)
        feedback += f"\n{note}" if note and note not in feedback else ""
    meaningless = judgment.status is None and compared is None
    invalid = meaningless or not judgment.valid or _unheard(judgment) or judgment.failed_by_errors
    reason = f"the label {judgment.label!r} means neither PASS nor FAIL" if meaningless else feedback
    return JuryEvaluationResult(
        query=case.question,
        contexts=contexts,
        response=case.answer or next(iter(case.candidates), ""),  # a retry engine refuses a result without a response
        passing=passing,
        score=None if invalid else score,
        feedback=feedback,
        pairwise_source=source,
        invalid_result=invalid,
        invalid_reason=reason if invalid else None,
        verdict=judgment,
        agreement=judgment.agreement if isinstance(judgment, Verdict) else None,
        cost_usd=judgment.usage.cost_usd if judgment.usage.cost_complete else None,
        item_id=case.item_id,
        reference=case.reference,
        metadata=case.metadata,
        comparison=comparison or compared is not None,
    )


def refused(
    judge: Judge,
    error: Exception,
    query: object,
    response: object,
    given: Mapping[str, object],
    *,
    comparison: bool = False,
) -> JuryEvaluationResult:
    """Return the result for an item that cannot be judged, such as an object without a text, or a broken stream.

    Args:
        judge: the judge that was to be asked.
        error: the reason.
        query: the query, as it was given.
        response: the response, as it was given.
        given: the other arguments, which may have the id of the item and its metadata.
        comparison: whether the evaluator compares two responses.
    """
    judgment = judge.failure(error, "the item cannot be judged")
    return JuryEvaluationResult(
        query=query if isinstance(query, str) else None,
        response=response if isinstance(response, str) else "",
        feedback=feedback_of(judgment),
        invalid_result=True,
        invalid_reason=feedback_of(judgment),
        verdict=judgment,
        cost_usd=0.0,
        item_id=item_id_in(given),
        metadata=_metadata_in(given),
        comparison=comparison,
    )


def _metadata_in(given: Mapping[str, object]) -> dict[str, object]:
    """Return the metadata among the arguments of an item of which no case could be made: texts and numbers."""
    own, fields = given.get("metadata"), columns_of(given, FIELD_NAMES).of.values()
    named = {**(own if isinstance(own, Mapping) else {}), **{k: v for k, v in given.items() if k not in fields}}
    return {str(name): value for name, value in named.items() if isinstance(value, str | int | float)}


def feedback_of(judgment: Judgment, *, errors: bool = True) -> str:
    """Return the reasons in words that a retry can use: the judge's own reason, and those of the jurors.

    See :func:`jury_adapters.core.feedback.feedback_of`; this function gives each juror a line.
    """
    head = judgment.reasoning or judgment.label or judgment.status or ""
    notes = list(notes_of(judgment, errors=errors))
    told = "\n".join([head, *notes])
    codes: dict[str, None] = {}
    lines = [head]
    for name, juror in agreeing_jurors(judgment):
        if juror is judgment:
            lines = [(reason_of(judgment) if errors else judgment.reasoning) or head]
        elif juror.status is Status.ERROR:
            continue  # the notes name it
        elif (juror.reasoning or juror.error or "") not in told:
            lines.append(f"{name}: {reason_of(juror)}")
        elif errors and juror.error and juror.error not in told:
            codes[juror.error] = None
    if codes:
        lines[0] += f" ({', '.join(codes)})"
    quoted = notes if errors else None
    return "\n".join([*(without_errors(line, judgment, quoted_in=quoted) for line in lines), *notes])


def _unheard(judgment: Judgment) -> bool:
    """Whether no juror decided, whatever the jury concluded: many juries count a failed juror as FAIL."""
    return isinstance(judgment, Verdict) and bool(judgment.judgments) and not any(j.valid for j in judgment.jurors())


def _comparison(judgment: Judgment, case: Case) -> tuple[bool | None, float, str] | None:
    """Return whether the first candidate won, its score, and the order of the candidates behind the result."""
    if judgment.status is not None or judgment.label not in _SCORES or len(case.candidates) != 2:
        return None
    source = _source(judgment)
    label = "tie" if source == "neither" else judgment.label
    return None if label == "tie" else label == "A", _SCORES[label], source


def _source(judgment: Judgment) -> str:
    """Return ``original``, unless only the other order was shown (``flipped``), or no preference won (``neither``)."""
    if _is_tied(judgment):
        return "neither"
    if isinstance(judgment, Verdict) and not is_pairwise_opinion(judgment):
        for_it = [juror for juror in judgment.judgments if juror.label == judgment.label]
        sources = {_source(juror) for juror in for_it} - {"neither"}
        if not sources:
            return "neither"
        return "original" if "original" in sources else "flipped"
    if judgment.metadata.get("position_consistent") is False:
        return "neither"
    return "flipped" if judgment.metadata.get("shown_order") == ("B", "A") else "original"


def _is_tied(judgment: Judgment) -> bool:
    """Whether a vote was tied, and no rule for ties that the user gave decided it."""
    if not isinstance(judgment, Verdict):
        return False
    if is_pairwise_opinion(judgment):
        return judgment.label == "tie" and any(map(_is_tied, judgment.judgments))
    by_rule = judgment.label != "tie" and any(map(is_pairwise_opinion, judgment.judgments))
    return judgment.tally.tied and not by_rule


_PASSING: Mapping[Status | None, bool] = {Status.PASS: True, Status.FAIL: False}
_SCORES = {"A": 1.0, "tie": 0.5, "B": 0.0}
