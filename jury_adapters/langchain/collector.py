"""From LangChain's events to finished runs.

A handler hears of every step of an application, from any thread, in any order. The collector keeps just enough of it:
which run is inside which, and what was retrieved and called on the way. When a run that is to be judged ends, it is
handed over with all of that, and forgotten.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Literal, TypeAlias
from uuid import UUID
from weakref import WeakSet

from jury_adapters.core.context import run_context
from jury_adapters.core.docket import Run
from jury_adapters.core.loose_values import field_of
from jury_adapters.core.values import clean_text, shown
from jury_adapters.langchain.endings import Ending, ending_of, missing_answer

Kind: TypeAlias = Literal["chain", "chat", "retriever", "tool"]
Chooser: TypeAlias = Callable[[Run, Run | None, bool], bool]
"""Says whether to judge a run, given the run around it (None for a root), and whether one around it is chosen."""


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
    """What turned up inside a run.

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
        inputs: what it took; of a stream, what it really took.
        outputs: what it gave; None when it failed.
        found: what was retrieved and called inside.
        metadata: the run's own metadata, to which something may still be added.
    """

    run: Run
    inputs: object
    outputs: object
    found: Found
    metadata: dict[str, object]


@dataclass(slots=True)
class RunTally:
    """What became of the runs that were to be judged but gave nothing to judge.

    Attributes:
        paused: stopped to ask a person, or ended with tool calls that nobody has answered.
        handed_over: agents that handed over to another one; the run around them goes on, and is judged.
        aborted: cancelled, or left by the one who was reading the stream.
        unanswered: ended without any output; an abandoned stream may look so too.
        evicted: forgotten because too many others were open: they never ended, or ``max_open`` is too small.
    """

    paused: int = 0
    handed_over: int = 0
    aborted: int = 0
    unanswered: int = 0
    evicted: int = 0


class Collector:
    """Keeps the runs that are under way.

    It never raises and never waits. It ignores the runs of judges, and events it hears a second time.

    Args:
        chosen: says which runs to judge.
        deliver: gets each of them when it has ended; called without a lock held.
        max_open: how many roots may be under way at once; a further one makes it forget the oldest.
    """

    def __init__(self, chosen: Chooser, deliver: Callable[[FinishedRun], object], *, max_open: int) -> None:
        self._chosen = chosen
        self._deliver = deliver
        self._max_open = max_open
        self._begin_anew()
        _COLLECTORS.add(self)

    @property
    def open(self) -> int:
        """How many roots are under way."""
        return len(self._roots)

    @property
    def remembered(self) -> int:
        """How many runs are under way, those inside others included."""
        return len(self._open)

    def start(
        self,
        kind: Kind,
        run_id: UUID,
        parent_id: UUID | None,
        inputs: object,
        *,
        name: str | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, object] | None,
        context_id: UUID | None = None,
    ) -> None:
        """A run has begun.

        It is a root when the run around it is none that was heard of. Of a run that names none, ``context_id`` is the
        run in whose context it begins.
        """
        tags = tags or ()
        key = run_id.int  # its hash is C's work, that of a UUID is Python's
        around = context_id if parent_id is None else parent_id
        with self._lock:
            if key in self._open or self._past.get(key):
                return
            parent = None if around is None else self._open.get(around.int)
            # the tail of a run that is over, or of a judge's
            foreign = parent is None and parent_id is not None and parent_id.int in self._past
        if foreign or run_context().judging or CRITIC_TAG in tags:
            self._pass_by(key)
            return
        run = Run(str(run_id), kind, name or "", dict.fromkeys(tags, True), metadata or _NONE)
        inside = parent is not None and parent.wanted
        chosen = self._chosen(run, None if parent is None else parent.run, inside)
        kept = snapshot(inputs) if chosen or kind == "tool" else None
        node = _Open(key, run, kept, chosen, parent, wanted=chosen or inside)
        with self._lock:
            self._enter(node)

    def end(self, run_id: UUID, outputs: object, inputs: object = None) -> None:
        """A run has ended well."""
        node = self._leave(run_id)
        if node is None:
            return
        self._bring_home(node, outputs)
        if not node.chosen:
            return
        if node.run.kind != "retriever" and (missing := missing_answer(outputs, paused=node.paused)):
            self._count(missing)
            return
        self._hand_over(node, node.inputs if inputs is None else snapshot(inputs), snapshot(outputs))

    def fail(self, run_id: UUID, error: BaseException, inputs: object = None) -> None:
        """A run has ended with an exception: it failed, it was cancelled, it pauses, or another one goes on with it."""
        node = self._leave(run_id)
        if node is None:
            return
        ending = ending_of(error)
        self._bring_down(node, error, ending)
        if not node.chosen:
            return
        if ending != "failed":
            self._count(ending)
            return
        node.found = node.everything()
        given = node.inputs if inputs is None else snapshot(inputs)
        self._hand_over(node, given, None, error=_message_of(error))

    def tally(self) -> RunTally:
        """A copy of the counts so far."""
        with self._lock:
            return RunTally(**{name: getattr(self._tally, name) for name in RunTally.__slots__})

    def _begin_anew(self) -> None:
        """As new; also in a child process, where the runs under way are the parent's."""
        # Reentrant: an abandoned stream may be collected, and its end be heard, while this thread holds the lock.
        self._lock = threading.RLock()
        self._open: dict[int, _Open] = {}
        self._roots: OrderedDict[int, _Open] = OrderedDict()
        self._past: OrderedDict[int, bool] = OrderedDict()  # runs that are over, and whether they were handed over
        self._tally = RunTally()

    def _enter(self, node: _Open) -> None:
        if self._open.setdefault(node.key, node) is not node:
            return
        if node.parent is not None:
            node.root.members.add(node.key)
            return
        self._roots[node.key] = node
        while len(self._roots) > self._max_open:
            _, oldest = self._roots.popitem(last=False)
            self._forget(oldest)
            self._tally.evicted += 1

    def _leave(self, run_id: UUID) -> _Open | None:
        """Take a run from those under way; None when it is none of them any more."""
        key = run_id.int
        with self._lock:
            node = self._open.get(key)
            if node is None:
                return None
            if node.parent is None:
                self._roots.pop(key, None)
                self._forget(node)
            else:
                node.root.members.discard(key)
                del self._open[key]
                self._remember(key, handed_over=node.chosen)
            return node

    def _forget(self, root: _Open) -> None:
        """A root is over; what is still open inside it can tell nothing any more."""
        del self._open[root.key]
        self._remember(root.key, handed_over=root.chosen)
        while root.members:
            member = root.members.pop()
            self._open.pop(member, None)
            self._remember(member, handed_over=False)

    def _pass_by(self, key: int) -> None:
        with self._lock:
            self._remember(key, handed_over=False)

    def _remember(self, key: int, *, handed_over: bool) -> None:
        self._past[key] = handed_over
        self._past.move_to_end(key)
        while len(self._past) > _MOST_PAST:
            self._past.popitem(last=False)

    def _bring_home(self, node: _Open, outputs: object) -> None:
        """Note what a run that ended well is, and hand it to the run around it."""
        found = node.found
        if node.run.kind == "retriever":  # of what retrievers inside it found it has made its choice
            found.documents = list(outputs) if isinstance(outputs, Sequence) else []
        elif node.run.kind == "tool":
            documents = found.all_documents() or _documents_in(outputs)
            # what it called itself is its own business
            node.found = found = Found(calls=[ToolCall(node.run.name, node.inputs, outputs, documents=documents)])
        elif node.run.kind == "chat":
            found.model = _text_or_none(node.run.metadata.get("ls_model_name"))
        if node.parent is not None and node.parent.wanted:
            with self._lock:
                node.parent.found.add(found)

    def _bring_down(self, node: _Open, error: BaseException, ending: Ending) -> None:
        """Tell the run around it of one that ended with an exception."""
        parent = node.parent
        if parent is None:
            return
        with self._lock:
            if ending == "paused":
                parent.paused = True
            if ending == "handed_over":
                parent.found.add(node.everything())
            elif node.run.kind == "tool" and ending != "paused":
                parent.found.add(Found(calls=[ToolCall(node.run.name, node.inputs, error=_message_of(error))]))
            else:
                parent.tried = node.everything()

    def _hand_over(self, node: _Open, inputs: object, outputs: object, error: str | None = None) -> None:
        run = node.run
        agent = bool(node.found.calls) or _is_agent(run.metadata)
        kind = "agent" if run.kind == "chain" and agent else run.kind
        metadata = dict(run.metadata)
        ended = Run(run.id, kind, run.name, run.tags, metadata, error, monotonic() - node.started)
        self._deliver(FinishedRun(ended, inputs, outputs, node.found, metadata))

    def _count(self, what: str) -> None:
        with self._lock:
            setattr(self._tally, what, getattr(self._tally, what) + 1)


def snapshot(value: object) -> object:
    """A copy as deep as the application is likely to change it: a dictionary, its lists, a list."""
    if isinstance(value, dict):
        return {name: list(inner) if isinstance(inner, list) else inner for name, inner in value.items()}
    return list(value) if isinstance(value, list) else value


@dataclass(slots=True, eq=False)
class _Open:
    """A run under way.

    Attributes:
        chosen: it is to be judged.
        wanted: it, or a run around it, is to be judged, so what turns up in it matters.
        tried: what turned up in the last run inside that failed; a retry or a fallback makes it worthless.
        paused: a run inside it stopped to ask a person.
        members: of a root, the runs inside it that are under way.
    """

    key: int
    run: Run
    inputs: object
    chosen: bool
    parent: _Open | None
    wanted: bool
    found: Found = field(default_factory=Found)
    tried: Found | None = None
    paused: bool = False
    members: set[int] = field(default_factory=set)
    started: float = field(default_factory=monotonic)

    @property
    def root(self) -> _Open:
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def everything(self) -> Found:
        """What turned up, in what failed too."""
        if self.tried is not None:
            self.found.add(self.tried)
        return self.found


def _is_agent(metadata: Mapping[str, object]) -> bool:
    """Whether it is the metadata of an agent's own run, and not of a step in it.

    They may hold anything that the application puts there, and not everything can be compared: an array cannot.
    """
    marked = any(isinstance(value, str) and value == _AGENT for value in metadata.values())
    return marked and "langgraph_node" not in metadata


def _documents_in(output: object) -> list[object]:
    """The documents that a retriever's tool hands over beside its text."""
    artifact = field_of(output, "artifact")
    if not isinstance(artifact, list):
        return []
    return [item for item in artifact if isinstance(field_of(item, "page_content"), str)]


def _message_of(error: BaseException) -> str:
    message = clean_text(shown(error))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _after_fork() -> None:
    for collector in tuple(_COLLECTORS):
        collector._begin_anew()


CRITIC_TAG: Final = "jury_adapters:critic"  # on the runs of critics whose model is one of LangChain's
_AGENT: Final = "langchain_create_agent"
_NONE: Final[Mapping[str, object]] = {}
_MOST_KEPT: Final = 1_000
_MOST_PAST: Final = 4_096
_COLLECTORS: WeakSet[Collector] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
