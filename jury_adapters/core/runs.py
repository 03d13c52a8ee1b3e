"""Runs of an application, and what becomes of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

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


@dataclass(slots=True)
class Counts:
    """What became of the runs seen so far.

    Attributes:
        judged: have a judgment, which every sink was given.
        dropped: refused because ``max_pending`` others were waiting, or because the docket was closed.
        unsampled: left out by ``sample=``.
        skipped: left out by ``engines=``.
        cancelled: ended by whoever started them, so that there is nothing to judge.
        abandoned: streams that nobody read to the end, and runs that never ended.
        sink_errors: calls of a sink that raised.
        broken: errors of our own while a run was watched or judged; logged, and the run went on.
    """

    judged: int = 0
    dropped: int = 0
    unsampled: int = 0
    skipped: int = 0
    cancelled: int = 0
    abandoned: int = 0
    sink_errors: int = 0
    broken: int = 0
