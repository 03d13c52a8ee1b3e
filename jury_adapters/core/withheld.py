"""Judgments of withheld answers, without the texts that must not be shown to the user."""

from __future__ import annotations

from typing import Any, Final

from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import freeze_mapping
from jury_adapters.core.verdict import Verdict

WITHHELD: Final = "withheld with the answer; on_verdict= gets it"
"""Text that :func:`without_texts` puts in place of the reasons of a judgment."""


def without_texts(judgment: Judgment) -> Judgment:
    """Return a judgment without its texts, which may quote the withheld answer.

    The result keeps the status, score, confidence, name of the judge, usage and time, and has the agreement of a
    verdict in its metadata. Reasoning, findings, label, error, raw reply, metadata and the judgments of single jurors
    are left out.

    >>> without_texts(Judgment("FAIL", reasoning="it says 'Rose Street'", critic="truth")).reasoning
    'withheld with the answer; on_verdict= gets it'
    """
    metadata: dict[str, Any] = {"withheld": True}
    if isinstance(judgment, Verdict) and judgment.agreement is not None:
        metadata["agreement"] = judgment.agreement
    status = Status.ABSTAIN if judgment.status is None else judgment.status
    return Judgment(
        status,
        score=judgment.score if status in (Status.PASS, Status.FAIL) else None,
        confidence=judgment.confidence,
        critic=judgment.critic,
        usage=judgment.usage,
        elapsed_s=judgment.elapsed_s,
        reasoning=WITHHELD,
        error=WITHHELD if status is Status.ERROR else None,
        metadata=freeze_mapping(metadata),
    )
