"""Convert a judgment to the values that evaluation loops record: score, value, comment, metadata."""

from __future__ import annotations

import re
from typing import Any

from jury_adapters.core.feedback import feedback_of, notes_of, reasons_beside, without_errors
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import lacks_criteria


def value_of(judgment: Judgment) -> str:
    """Return the outcome as one word: ``pass``, ``fail``, ``abstain``, ``error``, or a label that is neither."""
    if judgment.status is None:
        return str(judgment.label)
    return judgment.status.value.lower()


def comment_of(judgment: Judgment) -> str:
    """Return the jury's reasoning, and the reasons and notes that it does not quote, each once.

    The error of a juror that broke is in the note that names the juror, and not in its reason, too.

    It also says why there is no score: FAIL is due to failed jurors alone, or a criterion is undecided.
    """
    if not isinstance(judgment, Verdict):
        return feedback_of(judgment)
    notes = list(notes_of(judgment))
    own = without_errors(judgment.reasoning, judgment, quoted_in=notes)
    unsaid = [reason for reason in reasons_beside(notes, judgment) if not _quotes(own, reason)]
    lines = [own, "; ".join([*unsaid, *notes])]
    if judgment.failed_by_errors:
        lines.append("FAIL only because jurors broke: there is no score")
    elif lacks_criteria(judgment):
        lines.append("a criterion is undecided: there is no score")
    return "\n".join(line for line in lines if line)


def metadata_of(judgment: Judgment) -> dict[str, Any]:
    """Return the other facts as plain JSON values: need for review, votes, agreement, tokens, cost.

    Times are omitted, so that results of equal judgments are equal. LangSmith measures the time of evaluators.
    """
    usage = judgment.usage
    found: dict[str, Any] = {
        "status": None if judgment.status is None else judgment.status.value,
        "label": judgment.label,
        "confidence": judgment.confidence,
        "error": judgment.error,
        "needs_review": judgment.needs_review,
        "model": judgment.model,
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "cost_complete": usage.cost_complete,
    }
    if isinstance(judgment, Verdict):
        found |= {
            "agreement": judgment.agreement,
            "agreement_band": judgment.agreement_band,
            "review_reasons": list(judgment.review_reasons),
            "votes": {juror.critic: value_of(juror) for juror in judgment.judgments},
            "stopped_at": judgment.stopped_at,
            "decision": judgment.decision,
            "bias_warning": judgment.bias_warning,
        }
    return {name: value for name, value in found.items() if value is not None}


def _quotes(text: str, reason: str) -> bool:
    """Return whether a text has the reason as a part of its own: not as a part of another reason."""
    return re.search(rf"(^|: |; |\(){re.escape(reason)}($|[;),])", text) is not None
