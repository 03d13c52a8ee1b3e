"""Finished runs of LangChain: what they took and gave, and what was retrieved and called inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from jury_adapters.core.runs import Run


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as the events tell it.

    Attributes:
        tool: its name.
        arguments: what it was called with.
        output: whatever it returned.
        error: what it raised instead.
        documents: what was retrieved in it, which is then what its output says; the last 1,000.
    """

    tool: str
    arguments: object
    output: object = None
    error: str | None = None
    documents: Sequence[object] = ()


@dataclass(slots=True)
class Found:
    """Findings inside a run: steps, retrieved documents and the like.

    Attributes:
        documents: what was retrieved outside of tools, the last 1,000 of it.
        calls: the tools called, in the order in which they ended, the last 1,000 of them.
        model: the name of the model that answered last.
    """

    documents: list[object] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    model: str | None = None

    def all_documents(self) -> list[object]:
        """Return what was retrieved, in tools and outside of them."""
        return [*self.documents, *(document for call in self.calls for document in call.documents)][-_MOST_KEPT:]

    def add(self, other: Found) -> None:
        """Take over what turned up in a run inside."""
        self.documents += other.documents
        self.calls += other.calls
        self.model = other.model or self.model
        del self.documents[:-_MOST_KEPT], self.calls[:-_MOST_KEPT]


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that is over, with what is needed to judge it.

    Attributes:
        run: what it is called, and how it ended.
        inputs: what it took; of a stream, what it really took; of a resumed run, what it took before it paused, or
            None where that is unknown.
        outputs: what it gave; None when it failed.
        found: what was retrieved and called inside.
        metadata: the run's own metadata, to which something may still be added.
    """

    run: Run
    inputs: object
    outputs: object
    found: Found
    metadata: dict[str, object]


_MOST_KEPT: Final = 1_000
