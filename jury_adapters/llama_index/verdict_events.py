"""Event of LlamaIndex's instrumentation for a judged run."""

from __future__ import annotations

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from pydantic import ConfigDict

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.runs import JudgedRun, Run


class JuryVerdictEvent(BaseEvent):
    """Event of a judged run. Its ``span_id`` and ``tags`` are those of the run.

    Attributes:
        judgment: the judgment; a Verdict if the judge is a jury.
        case: the judged case.
        run: the run.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    judgment: Judgment
    case: Case | None
    run: Run

    @classmethod
    def class_name(cls) -> str:
        return "JuryVerdictEvent"


def emit(judged: JudgedRun) -> None:
    """Notify other handlers; like any sink, it runs in a thread and cannot delay the judging."""
    run = judged.run
    event = JuryVerdictEvent(
        judgment=judged.judgment, case=judged.case, run=run, span_id=run.id, tags={**run.tags, **run.metadata}
    )
    get_dispatcher(__name__).event(event)
