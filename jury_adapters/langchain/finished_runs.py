"""Finished runs of LangChain: their inputs and outputs, and the documents and tool calls inside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from jury_adapters.core.runs import Run


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call, as reported by the events.

    Attributes:
        tool: the name of the tool.
        arguments: its arguments.
        output: its return value.
        error: the error that it raised instead.
        of: the call that it is a try of: the call's id, and the task or the run in which it was made; None if unknown.
        documents: the documents retrieved in the call, the last 1,000.
        written: whether a model answered in the call.
    """

    tool: str
    arguments: object
    output: object = None
    error: str | None = None
    documents: Sequence[object] = ()
    written: bool = False
    of: tuple[str, object] | None = None


@dataclass(slots=True)
class Found:
    """Findings inside a run: retrieved documents, tool calls, and the model.

    Attributes:
        documents: the last 1,000 documents retrieved outside of tools.
        calls: the last 1,000 tool calls, in the order in which they ended; of several tries of one call, the last.
        model: the name of the model that answered last.
        answered: whether a model answered.
        asked: the ids of the last 1,000 calls that models asked for.
    """

    documents: list[object] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    model: str | None = None
    answered: bool = False
    asked: list[str] = field(default_factory=list)

    @property
    def written(self) -> bool:
        """Whether a model answered, also in a tool."""
        return self.answered or any(call.written for call in self.calls)

    def all_documents(self) -> list[object]:
        """Return the documents retrieved in tools and outside of them."""
        return [*self.documents, *(document for call in self.calls for document in call.documents)][-_MOST_KEPT:]

    def add(self, other: Found) -> None:
        """Add the findings of a nested run; a further try of a tool call replaces the try before it.

        Some models number the calls of each answer anew. A call that a model asks for later is another one.
        """
        if other.asked:
            self.calls = [replace(one, of=None) if one.of and one.of[0] in other.asked else one for one in self.calls]
        tried = {call.of for call in other.calls if call.of is not None}
        if tried:
            self.calls = [call for call in self.calls if call.of not in tried]
        self.documents += other.documents
        self.calls += other.calls
        self.asked += other.asked
        self.answered = self.answered or other.answered
        self.model = other.model or self.model
        del self.documents[:-_MOST_KEPT], self.calls[:-_MOST_KEPT], self.asked[:-_MOST_KEPT]


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """Finished run, with everything that is needed to judge it.

    Attributes:
        run: the name of the run, and how it ended.
        inputs: the inputs; for a stream, the inputs that it really took; for a resumed run, the inputs before it
            paused, or None if they are unknown.
        outputs: the outputs; None if the run failed.
        found: the documents and tool calls inside the run.
        metadata: the run's own metadata, to which entries may still be added.
    """

    run: Run
    inputs: object
    outputs: object
    found: Found
    metadata: dict[str, object]


_MOST_KEPT: Final = 1_000
