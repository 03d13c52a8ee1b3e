"""Runs of an application, and runs with their judgments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.field_names import OWN_COLUMNS
from jury_adapters.core.judgment import Judgment


@dataclass(frozen=True, slots=True)
class Run:
    """Run of an application: a query, a chat turn, an agent's run, a chain.

    Attributes:
        id: the framework's id of the run (LlamaIndex: span id; LangChain: run id).
        kind: ``"query"``, ``"chat"``, ``"agent"``, ``"chain"``, ``"retriever"``; ``"node"`` for a retrieved node;
            ``"result"`` if no run is known.
        name: the framework's name of the run.
        tags: tags of the framework, by name; a tag without a value, as all of LangChain's are, has the value True.
        metadata: other data that the framework attached to the run.
        error: the error with which the run failed, or None.
        elapsed_s: duration of the run in seconds, or None.
    """

    id: str
    kind: str = "chain"
    name: str = ""
    tags: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    error: str | None = None
    elapsed_s: float | None = None

    def as_metadata(self) -> dict[str, object]:
        """Return entries for the metadata of the run's case, so that a verdict leads back to the trace.

        They are the texts and numbers of the run's own metadata, such as a ``thread_id``, without those that commands
        look up; and ``run_id``, ``run_name`` and ``run_tags``.
        """
        own = {
            str(name): value
            for name, value in self.metadata.items()
            if name not in OWN_COLUMNS and isinstance(value, str | int | float)
        }
        tags = [name if value is True else f"{name}={value}" for name, value in self.tags.items()]
        facts = {"run_id": self.id, "run_name": self.name, "run_tags": tags}
        return {**own, **{name: value for name, value in facts.items() if value}}


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Run with its judgment, which is passed to ``on_verdict=``.

    Attributes:
        run: the run.
        case: the judged case; None if the run could not be converted to a case.
        judgment: the judgment; a :class:`Verdict` if the judge is a jury. The judge is not asked about a run that
            failed: the judgment is FAIL, with the error in its reasoning.
    """

    run: Run
    case: Case | None
    judgment: Judgment

    @property
    def question(self) -> str | None:
        """The question of the case; None if it is not known or there is no case."""
        return None if self.case is None else self.case.question

    @property
    def answer(self) -> str | None:
        """The answer of the case; None if it has none or there is no case."""
        return None if self.case is None else self.case.answer


Sink: TypeAlias = Callable[[JudgedRun], object] | Callable[[JudgedRun], Awaitable[object]]


def ending_of(error: BaseException) -> Literal["failed", "cancelled", "abandoned"]:
    """Return whether the exception that ended a run means a failure, or that the application ended the run itself."""
    if isinstance(error, GeneratorExit):
        return "abandoned"
    names = {kind.__name__ for kind in type(error).__mro__}
    return "failed" if isinstance(error, Exception) and not names & _CANCELLED else "cancelled"


_CANCELLED = {"CancelledError", "WorkflowCancelledByUser"}  # the second one is from LlamaIndex
