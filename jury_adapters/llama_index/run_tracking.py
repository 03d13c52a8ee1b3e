"""Detection of root runs, and of the runs inside them.

A run is a root if no other run encloses it. The enclosing run is kept in the context, which is passed on to tasks and
threads, so no record of the spans in between is needed.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Iterator, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from inspect import BoundArguments
from time import monotonic
from typing import TYPE_CHECKING, Any

from jury_adapters.core.background.counts import Outcome
from jury_adapters.core.context import run_context
from jury_adapters.core.runs import Run
from jury_adapters.judges.guard_outcomes import guard_facts
from jury_adapters.observability.sinks import note_span

if TYPE_CHECKING:
    from jury_adapters.llama_index.runs import Asked, Heard

_log = logging.getLogger(__name__)

METHODS = {
    "query": frozenset({"query", "aquery"}),
    "chat": frozenset({"chat", "achat", "stream_chat", "astream_chat"}),
    "agent": frozenset({"run"}),
    "workflow": frozenset({"run"}),
    "retriever": frozenset({"retrieve", "aretrieve"}),
}
ONLY_NAMED = frozenset({"workflow", "retriever"})
"""Kinds that are judged only if ``select=`` names them."""
INPUT_STEP = ".setup_agent-"
"""Part of the id of the span in which an agent gets its conversation."""
_KIND_OF = (
    ("llama_index.BaseQueryEngine", "query"),
    ("llama_index.BaseChatEngine", "chat"),
    ("llama_index.BaseWorkflowAgent", "agent"),
    ("llama_index.AgentWorkflow", "agent"),
    ("workflows.Workflow", "workflow"),
    ("llama_index.BaseRetriever", "retriever"),
    ("llama_index.BaseLLM", "llm"),
)
_KINDS: weakref.WeakKeyDictionary[type, str] = weakref.WeakKeyDictionary()


def kind_of(cls: type) -> str:
    """Return the kind of a class's instances: a key of :data:`METHODS`, ``"llm"`` or ``""``.

    It is found by the names of the base classes, so that LlamaIndex need not be imported.
    """
    kind = _KINDS.get(cls)
    if kind is None:
        bases = {_called(base) for base in cls.__mro__}
        kind = next((kind for name, kind in _KIND_OF if name in bases), "")
        _KINDS[cls] = kind
    return kind


def is_base(cls: type) -> bool:
    """Whether a class is one of the base classes that define a kind that can be judged."""
    name = _called(cls)
    return any(base == name and kind in METHODS for base, kind in _KIND_OF)


def _called(cls: type) -> str:
    module = cls.__module__
    return (
        f"{module.partition('.')[0] if isinstance(module, str) else ''}.{cls.__name__}"  # some classes have a property
    )


@dataclass(slots=True, eq=False)
class Root:
    """Run that is not part of another run, or a retriever that a handler judges apart from the run around it.

    Attributes:
        id: the id of its span.
        holders: the handlers for which it has not ended; while there are any, runs in its context are part of it.
        task: the task that started it, if it continues concurrently with that task in the same context.
        heard: the inputs of the models in it.
        parent: for a retriever, the run around it.
        guards: the outcomes of the guard engines in it, in order.
        refusals: the refusals of the guard engines in it.
    """

    id: str
    holders: set[int] = field(default_factory=set)
    task: weakref.ref[asyncio.Task[Any]] | None = None
    heard: Heard | None = None
    parent: Root | None = None
    guards: list[str] = field(default_factory=list)
    refusals: set[str] = field(default_factory=set)

    def is_refusal(self, answer: object) -> bool:
        """Whether the answer of the run, or the response that has it, is the refusal of a guard engine in it."""
        if not self.refusals:
            return False
        from jury_adapters.llama_index.responses import text_of

        try:
            return text_of(answer) in self.refusals
        except Exception:  # an answer that cannot be read is judged as such
            return False

    def chain(self) -> Iterator[Root]:
        """Yield this run and the runs around it."""
        root: Root | None = self
        while root is not None:
            yield root
            root = root.parent

    def is_beside(self) -> bool:
        """Whether a run that begins now, in the context of this run, is nevertheless not part of it.

        Older workflows enter the span of a run in the caller's context and cannot leave it there. A run that the caller
        starts next, in the same task, is a separate one; the parts of this run are in tasks of their own.
        """
        task = None if self.task is None else self.task()
        return task is not None and task is _current_task()


@dataclass(slots=True, eq=False)
class OpenRun:
    """Root run under way, as one handler sees it.

    ``asked`` is None if the handler is not to judge it. ``outcome`` is then what to count at its end: ``"skipped"``, or
    ``"broken"`` if the filter raised; None if another handler judges the run, or this one judges a retriever inside it.
    """

    root: Root
    kind: str
    name: str
    token: Token[Root | None] | None
    tags: Mapping[str, object]
    asked: Asked | None = None
    outcome: Outcome | None = None
    started: float = field(default_factory=monotonic)

    def run(self, error: str | None = None) -> Run:
        """Return the facts of the run, which has ended."""
        own = {name: value for name, value in self.tags.items() if not name.startswith("llamaindex.")}
        metadata: dict[str, object] = {name: self.tags[name] for name in ("llamaindex.run_id",) if name in self.tags}
        metadata |= guard_facts(self.root.guards)
        note_span(metadata)
        return Run(self.root.id, self.kind, self.name, own, metadata, error, monotonic() - self.started)

    def note_retriever(self, outcome: Outcome | None, *, judged: bool) -> None:
        """Record that a retriever inside this run is judged by itself, or that the filter raised for it."""
        if self.outcome is not None and (judged or outcome == "broken"):
            self.outcome = None if judged else outcome

    def leave(self) -> None:
        """Restore the context; if it is another context by now, the ended root that stays there is ignored."""
        if self.token is not None:
            try:
                INSIDE.reset(self.token)
            except ValueError:
                _log.debug("run %s ended in another context than it began in", self.root.id)


INSIDE: ContextVar[Root | None] = ContextVar("jury_inside_run", default=None)


def inside() -> Root | None:
    """Return the innermost enclosing run that has not ended."""
    found = INSIDE.get()
    return None if found is None else next((root for root in found.chain() if root.holders), None)


def note_model(model: object, arguments: BoundArguments) -> None:
    """Record the call of a language model in the enclosing runs."""
    for heard in _heard():
        heard.note(model, arguments)


def note_input(arguments: BoundArguments) -> None:
    """Record the conversation that an agent begins with in the enclosing runs; it includes the agent's memory."""
    for heard in _heard():
        heard.note_input(getattr(arguments.arguments.get("ev"), "input", None))


def note_guard(outcome: str, refusal: str | None) -> None:
    """Record the outcome of a guard engine in the enclosing runs, and its refusal if it blocked the answer."""
    innermost = None if run_context().judging else inside()
    for root in () if innermost is None else innermost.chain():
        root.guards.append(outcome)
        if refusal is not None:
            root.refusals.add(refusal)


def _heard() -> Iterator[Heard]:
    """Yield the record of the model inputs in each enclosing run."""
    innermost = inside()
    if innermost is None or run_context().judging:
        return
    for root in innermost.chain():
        if root.heard is None:
            from jury_adapters.llama_index.runs import Heard

            root.heard = Heard()
        yield root.heard


def starting_task(kind: str, arguments: BoundArguments) -> weakref.ref[asyncio.Task[Any]] | None:
    """Return the task that starts a run which continues concurrently with it; see :meth:`Root.is_beside`."""
    if kind not in ("agent", "workflow") or "init_state" in arguments.arguments:  # newer workflows use their own task
        return None
    task = _current_task()
    return None if task is None else weakref.ref(task)


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
