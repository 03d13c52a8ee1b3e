"""Collector that turns LangChain's events into finished runs.

A handler receives the events of every step of an application, from any thread and in any order. The collector keeps
only what it needs: which run is inside which, and what was retrieved and called on the way. When a chosen run ends, the
collector delivers it with that context and forgets it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Final, Literal, TypeAlias
from uuid import UUID
from weakref import WeakSet

from jury_adapters.core.background.counts import Outcome
from jury_adapters.core.context import run_context
from jury_adapters.core.graph_commands import state_update
from jury_adapters.core.loose_values import field_of
from jury_adapters.core.runs import Run
from jury_adapters.core.secrets import error_text
from jury_adapters.judges.guard_outcomes import guard_facts
from jury_adapters.langchain.finished_runs import FinishedRun
from jury_adapters.langchain.guard_marks import mark_in, refusal_in, repeats, review_of
from jury_adapters.langchain.open_runs import Failure, OpenRun
from jury_adapters.langchain.paused_runs import PausedRuns, task_of
from jury_adapters.langchain.run_outcomes import Ending, calls_asked_for, ending_of, missing_answer, result_of_tool

_log = logging.getLogger(__name__)

Kind: TypeAlias = Literal["chain", "chat", "retriever", "tool"]
Chooser: TypeAlias = Callable[[Run, Run | None, bool], bool]
"""Predicate of whether to judge a run, given its parent (None for a root), and whether an enclosing run is chosen."""


class Collector:
    """Registry of the runs under way.

    It never raises and never waits. It ignores the runs of judges, and repeated events.

    Args:
        chosen: the predicate that chooses the runs to judge.
        deliver: receives each chosen run when it has ended; called without a lock held.
        count: receives the outcome of each run that is not delivered; called without a lock held.
        max_open: the maximum number of roots under way; a further one makes the collector forget the oldest.
    """

    def __init__(
        self,
        chosen: Chooser,
        deliver: Callable[[FinishedRun], object],
        count: Callable[[Outcome], object],
        *,
        max_open: int,
    ) -> None:
        self._chosen = chosen
        self._deliver = deliver
        self._count = count
        self._max_open = max_open
        self._raised = 0
        self._begin_anew()
        _COLLECTORS.add(self)

    @property
    def open(self) -> int:
        """Number of roots under way."""
        return len(self._roots)

    @property
    def remembered(self) -> int:
        """Number of runs under way, nested runs included."""
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
        traced: Sequence[UUID] = (),
        context_id: UUID | None = None,
        call_id: str | None = None,
    ) -> None:
        """Record the start of a run.

        The run is a root if none of the runs around it is known. Where ``parent_id`` is unknown, these are the runs
        around it in its trace (``traced``, the innermost first), and the run in whose context it begins
        (``context_id``). The run of a tool may have the ``call_id`` of a model's call.
        """
        tags = tags or ()
        key = run_id.int  # the hash of an int is computed in C, that of a UUID in Python
        with self._lock:
            if key in self._open or self._past.get(key):
                return
            parent, foreign = self._parent_of(parent_id, traced, context_id)
        if foreign or run_context().judging or CRITIC_TAG in tags:
            self._pass_by(key)
            return
        run = Run(str(run_id), kind, name or "", dict.fromkeys(tags, True), metadata or _NONE)
        inside = parent is not None and parent.wanted
        chosen = self._choose(run, parent, inside)
        kept = snapshot(inputs) if chosen or kind == "tool" else None
        node = OpenRun(key, run, kept, bool(chosen), parent, wanted=bool(chosen) or inside, call_id=call_id)
        if chosen:
            node.root.outcome = None
        elif chosen is None and node.root.outcome is not None:
            node.root.outcome = "broken"
        with self._lock:
            evicted = self._enter(node)
        for root in evicted:
            self._count("evicted")
            _deliver(root.take_failures())

    def knows(self, run_id: UUID) -> bool:
        """Return whether a run is under way, or ended or was passed by recently."""
        return run_id.int in self._open or run_id.int in self._past

    def end(self, run_id: UUID, outputs: object, inputs: object = None) -> None:
        """Record that a run ended without an error, or that its reader left its stream.

        LangChain reports a synchronous stream that was left early like one that was read to its end. The difference is
        that runs inside it, such as the model's, have not ended. Only the end of a stream comes with inputs.
        """
        node = self._leave(run_id)
        if node is None:
            return
        self._bring_home(node, outputs)
        outputs = state_update(outputs)
        _deliver(node.take_failures())
        if not node.chosen:
            self._leave_out(node)
            return
        given = node.inputs if inputs is None else snapshot(inputs)
        if inputs is not None and node.unfinished:
            self._count("abandoned")
            return
        if node.run.kind != RETRIEVER and (missing := missing_answer(outputs, paused=node.has_paused(outputs))):
            self._set_aside(node, given, missing)
            return
        if refusal_in(outputs) is not None or (node.refusal is not None and repeats(outputs, node.refusal)):
            self._paused.finish(given, node.tasks)
            self._count("skipped")
            return
        self._hand_over(node, given, snapshot(outputs))

    def fail(self, run_id: UUID, error: BaseException, inputs: object = None) -> None:
        """Record that a run raised an exception: it failed, was cancelled, pauses, or is handed over."""
        node = self._leave(run_id)
        if node is None:
            return
        ending = ending_of(error)
        self._bring_down(node, error, ending)
        failures = node.take_failures()
        if not node.chosen:
            self._leave_out(node)
        elif ending != "failed":
            self._set_aside(node, node.inputs if inputs is None else snapshot(inputs), ending)
        else:
            node.found = node.everything()
            given = node.inputs if inputs is None else snapshot(inputs)
            failures.append(partial(self._hand_over, node, given, None, error_text(error), monotonic()))
        _deliver(self._keep_attempt(node, failures) if ending == "failed" else failures)

    def pause(self, run_id: UUID, checkpoint: str) -> None:
        """Record that the graph of a run paused at a checkpoint: its run ends, and another one goes on from there."""
        with self._lock:
            node = self._open.get(run_id.int)
            if node is not None:
                node.paused = True
                node.waiting.add(checkpoint)

    def resume(self, run_id: UUID, checkpoint: str) -> None:
        """Record that the graph of a run goes on from a checkpoint."""
        with self._lock:
            node = self._open.get(run_id.int)
            if node is not None:
                node.note_task(checkpoint)

    def _keep_attempt(self, node: OpenRun, failures: list[Failure]) -> list[Failure]:
        """Keep the failures of a step that may be retried in the run around it; return those to deliver now."""
        if not failures:
            return failures
        with self._lock:
            around = node.parent
            while around is not None and around.key not in self._open:
                around = around.parent
            return failures if around is None else around.keep_attempt(node, failures)

    def _parent_of(
        self, parent_id: UUID | None, traced: Sequence[UUID], context_id: UUID | None
    ) -> tuple[OpenRun | None, bool]:
        """Return the innermost known run around a run that begins; and whether that run is over, or a judge's."""
        for run_id in traced if parent_id is None else (parent_id, *traced):
            node = self._open.get(run_id.int)
            if node is not None or run_id.int in self._past:
                return node, node is None
        return None if context_id is None else self._open.get(context_id.int), False

    def _choose(self, run: Run, parent: OpenRun | None, inside: bool) -> bool | None:
        """Return whether to judge a run; None if the application's filter raised."""
        try:
            return self._chosen(run, None if parent is None else parent.run, inside)
        except Exception:
            self._raised += 1
            if self._raised & (self._raised - 1) == 0:  # the 1st, 2nd, 4th, 8th, ...
                _log.exception("select= raised for run %s, which is not judged", run.id)
            return None

    def _leave_out(self, node: OpenRun) -> None:
        """Count a root that ended and in which no run was chosen."""
        if node.parent is None and node.outcome is not None:
            self._count(node.outcome)

    def _begin_anew(self) -> None:
        """Reset the collector; also called in a child process, where the open runs are the parent's."""
        # Reentrant: an abandoned stream may be garbage-collected, and send its end event, while this thread holds the
        # lock.
        self._lock = threading.RLock()
        self._open: dict[int, OpenRun] = {}
        self._roots: OrderedDict[int, OpenRun] = OrderedDict()
        self._past: OrderedDict[int, bool] = OrderedDict()  # finished runs, and whether each was delivered
        self._paused = PausedRuns()

    def _enter(self, node: OpenRun) -> list[OpenRun]:
        """Add a run that has begun; return the roots that were evicted for it."""
        evicted: list[OpenRun] = []
        if self._open.setdefault(node.key, node) is not node:
            return evicted
        if node.parent is not None:
            node.root.members.add(node.key)
            node.tell_task()
            node.parent.forget_attempts_at(node)
            return evicted
        self._roots[node.key] = node
        while len(self._roots) > self._max_open:
            _, oldest = self._roots.popitem(last=False)
            self._forget(oldest)
            evicted.append(oldest)
        return evicted

    def _leave(self, run_id: UUID) -> OpenRun | None:
        """Remove a run from those under way, and return it; None if it is not under way any more."""
        key = run_id.int
        with self._lock:
            node = self._open.get(key)
            if node is None:
                return None
            node.unfinished = any(self._open[member].is_inside(node) for member in node.root.members)
            if node.parent is None:
                self._roots.pop(key, None)
                self._forget(node)
            else:
                node.root.members.discard(key)
                del self._open[key]
                self._remember(key, handed_over=node.chosen)
            return node

    def _forget(self, root: OpenRun) -> None:
        """Remove a root that is over; open runs inside it can no longer contribute."""
        del self._open[root.key]
        self._remember(root.key, handed_over=root.chosen)
        while root.members:
            member = root.members.pop()
            left = self._open.pop(member, None)
            if left is not None:
                root.attempts += left.attempts
            self._remember(member, handed_over=False)

    def _pass_by(self, key: int) -> None:
        with self._lock:
            self._remember(key, handed_over=False)

    def _remember(self, key: int, *, handed_over: bool) -> None:
        self._past[key] = handed_over
        self._past.move_to_end(key)
        while len(self._past) > _MOST_PAST:
            self._past.popitem(last=False)

    def _bring_home(self, node: OpenRun, outputs: object) -> None:
        """Record what a successful run found, and add it to the findings of its parent."""
        found = node.found
        if node.run.kind == RETRIEVER:  # it has already selected from the results of nested retrievers
            found.documents = list(outputs) if isinstance(outputs, Sequence) else []
            found.answered = False  # a model inside rewrites the query or chooses, and answers nothing
        elif node.run.kind == "tool":
            result = result_of_tool(outputs)
            node.found = found = node.tool_call(result, documents=found.all_documents() or _documents_in(result))
        elif node.run.kind == "chat":
            name = node.run.metadata.get("ls_model_name")
            found.model = name if isinstance(name, str) and name else None
            found.answered, found.asked = True, calls_asked_for(outputs)
        if node.parent is not None and node.parent.wanted:
            refusal = refusal_in(outputs) or node.refusal
            reviews = _reviews_of(node, outputs)
            with self._lock:
                node.parent.note_reviews(reviews)
                node.parent.found.add(found)
                node.parent.waiting |= node.waiting
                node.parent.halted = outputs if node.paused else None
                node.parent.refusal = refusal or node.parent.refusal

    def _bring_down(self, node: OpenRun, error: BaseException, ending: Ending) -> None:
        """Record in the parent that a run ended with an exception."""
        parent = node.parent
        if parent is None:
            return
        with self._lock:
            if ending == "paused":
                parent.paused = True
                parent.waiting |= node.waiting | ({task} if (task := task_of(node.run.metadata)) else set())
            if ending == "handed_over":
                parent.found.add(node.everything())
            elif node.run.kind == "tool" and ending != "paused":
                parent.found.add(node.tool_call(error=error_text(error)))
            else:
                parent.tried = node.everything()

    def _hand_over(
        self, node: OpenRun, inputs: object, outputs: object, error: str | None = None, at: float | None = None
    ) -> None:
        run = node.run
        elapsed = (monotonic() if at is None else at) - node.started
        inputs = self._paused.finish(inputs, node.tasks)
        agent = bool(node.found.calls) or _is_agent(run.metadata)
        kind = "agent" if run.kind == "chain" and agent else run.kind
        mark = mark_in(outputs)
        metadata = {**run.metadata, **guard_facts(_reviews_of(node, outputs) or ([mark] if mark else []))}
        ended = Run(run.id, kind, run.name, run.tags, metadata, error, elapsed)
        self._deliver(FinishedRun(ended, inputs, outputs, node.found, metadata))

    def _set_aside(self, node: OpenRun, inputs: object, why: Outcome) -> None:
        if why == "paused":
            self._paused.pause(inputs, node.tasks, node.waiting)
        self._count(why)


def _reviews_of(node: OpenRun, outputs: object) -> Sequence[str]:
    """Return what middlewares did with the answers in a run.

    A state with the key of the middleware has the review of its own answer. Any other run has those of the agents
    inside it.
    """
    review = "" if node.run.kind == "tool" else review_of(state_update(outputs))
    return [review] if review else node.reviews


def _deliver(failures: list[Failure]) -> None:
    for failure in failures:
        failure()


def snapshot(value: object) -> object:
    """Copy a value as deeply as the application is likely to change it: a dictionary, its lists, a list."""
    if isinstance(value, dict):
        return {name: list(inner) if isinstance(inner, list) else inner for name, inner in value.items()}
    return list(value) if isinstance(value, list) else value


def _is_agent(metadata: Mapping[str, object]) -> bool:
    """Whether the metadata belong to an agent's own run, and not to a step of the agent.

    Metadata may hold any value of the application, and not every value can be compared: an array cannot.
    """
    marked = any(isinstance(value, str) and value == _AGENT for value in metadata.values())
    return marked and "langgraph_node" not in metadata


def _documents_in(output: object) -> list[object]:
    """Return the documents that a retriever's tool returns in addition to its text."""
    artifact = field_of(output, "artifact")
    if not isinstance(artifact, list):
        return []
    return [item for item in artifact if isinstance(field_of(item, "page_content"), str)]


def _after_fork() -> None:
    for collector in tuple(_COLLECTORS):
        collector._begin_anew()


RETRIEVER: Final = "retriever"  # the kind of a retriever's own run
CRITIC_TAG: Final = "jury_adapters:critic"  # on the runs of critics that use a LangChain model
_AGENT: Final = "langchain_create_agent"
_NONE: Final[Mapping[str, object]] = {}
_MOST_PAST: Final = 4_096
_COLLECTORS: WeakSet[Collector] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
