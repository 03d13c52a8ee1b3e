"""Runs of an application, and the same with their judgments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an application: a query, a chat turn, an agent's run, a chain.

    Attributes:
        id: the framework's id of the run (LlamaIndex: span id; LangChain: run id).
        kind: ``"query"``, ``"chat"``, ``"agent"``, ``"chain"``, ``"retriever"``.
        name: how the framework calls it.
        tags: tags, as the framework has them; a tag without a value has the value True.
        metadata: whatever else the framework attached to it.
        error: what the run ended with, when it failed.
        elapsed_s: seconds the run took, or None.
    """

    id: str
    kind: str = "chain"
    name: str = ""
    tags: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    error: str | None = None
    elapsed_s: float | None = None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run with its judgment: what ``on_verdict=`` gets.

    Attributes:
        run: the run.
        case: what was judged; None when nothing of the run could be made into a case.
        judgment: the judgment; a :class:`Verdict` when the judge is a jury. A run that failed is not put to the judge:
            it is FAIL, and its reasoning says with what it ended.
    """

    run: Run
    case: Case | None
    judgment: Judgment

    @property
    def question(self) -> str | None:
        """What was asked; None where that is not known, also because nothing could be made into a case."""
        return None if self.case is None else self.case.question

    @property
    def answer(self) -> str | None:
        """What came back; None where there is nothing."""
        return None if self.case is None else self.case.answer


Sink: TypeAlias = Callable[[JudgedRun], object] | Callable[[JudgedRun], Awaitable[object]]


def ending_of(error: BaseException) -> Literal["failed", "cancelled", "abandoned"]:
    """Return what the exception that ended a run means: a failure, or that the application ended the run itself."""
    if isinstance(error, GeneratorExit):
        return "abandoned"
    names = {kind.__name__ for kind in type(error).__mro__}
    return "failed" if isinstance(error, Exception) and not names & _CANCELLED else "cancelled"


_CANCELLED = {"CancelledError", "WorkflowCancelledByUser"}  # the second is LlamaIndex's
