"""JuryCallbackHandler, which judges the runs of a LangChain application in the background; and judge_runs."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import cache, wraps
from threading import RLock
from time import monotonic
from typing import Any, Self
from uuid import UUID

from pydantic_core import to_json

from jury_adapters.core.asking import JudgedRun
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import NAMES, Case, Step
from jury_adapters.core.context import context
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.queue import JudgeQueue
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError, error_text
from jury_adapters.inputs.messages import field_of, role_of, text_of
from jury_adapters.inputs.run import Run, default_case, updated

try:  # LangGraph tells handlers of this class when a graph pauses, at a breakpoint too, and when it goes on
    from langgraph.callbacks import GraphCallbackHandler as _Handler
except ImportError:  # there is no LangGraph, or one that does not tell
    from langchain_core.callbacks import BaseCallbackHandler as _Handler  # type: ignore[assignment]

_log = logging.getLogger(__name__)
_MOST_OPEN = 20_000  # runs under way; the oldest is forgotten, so that runs that never end do not fill the memory
_MOST_OVER = 4_096  # ended runs that are remembered, because what they left behind may start further runs
_MOST_FOUND = 10_000  # steps and documents of one run


@dataclass(slots=True, eq=False)
class _Node:
    """Run under way."""

    kind: str
    name: str
    inputs: Any
    parent: "_Node | None"
    inside: bool  # a judged run is around it, or it began after the run around it was over
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    judged: bool = False
    documents: list[Any] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    model: str | None = None  # the model that wrote last
    wrote: bool = False  # whether a model was asked in it
    children: set[UUID] = field(default_factory=set)  # runs in it that are under way
    paused: bool = False
    before: "_Node | None" = None  # its run until it paused
    refusal: str | None = None  # the text with which a guard ended an agent in it
    started: float = field(default_factory=monotonic)

    def run(self, run_id: UUID, outputs: Any = None, error: BaseException | None = None) -> Run:
        """Return what the jury judges."""
        return Run(
            id=str(run_id),
            kind="agent" if self.kind == "chain" and self.steps else self.kind,
            name=self.name,
            inputs=self.inputs,
            outputs=_kept(outputs),
            documents=() if self.kind == "retriever" else tuple(self.documents),
            steps=tuple(self.steps),
            generator=self.model,
            error=None if error is None else error_text(error),
            tags=tuple(self.tags),
            metadata=dict(self.metadata),
            elapsed_s=monotonic() - self.started,
        )


def _quietly(method: Callable[..., None]) -> Callable[..., None]:
    """Count what a method raises as ``errors``; LangChain would print it into the application."""

    @wraps(method)
    def call(self: "JuryCallbackHandler", *args: Any, **event: Any) -> None:
        try:
            method(self, *args, **event)
        except Exception:
            _log.debug("an event could not be read", exc_info=True)
            self.count("errors")

    return call


class JuryCallbackHandler(JudgeQueue, _Handler):
    """Callback handler that judges the runs of a LangChain application, in the background and after they ended.

    It understands chains, retrievers, agents and LangGraph graphs, by ``invoke``, ``stream`` and ``batch``, synchronous
    and asynchronous. The outermost run is judged, once. Its contexts are what retrievers and tools found, and its steps
    all calls of tools in it, also those of agents inside tools and of sub-agents. It raises nothing into the
    application and does not make it wait. What a judge calls itself is not judged, unless it is called in a thread
    without a copy of the context. What a tool returned that asked a model is no context, but the documents that were
    retrieved in it are. Pass the handler in ``config={"callbacks": [handler]}``.

    Args:
        jury: the jury, or a function of a case.
        select: a function of a run, called as it starts, with its kind (of an agent ``chain``), name, inputs, tags and
            metadata: the runs to judge instead of the outermost one. Of selected runs inside each other, the outermost
            is judged.
        case: makes the case of a run.
        on_verdict: called with each :class:`JudgedRun`; a plain function runs in a thread.
        sample: the share of runs that are judged, 0..1.
        max_pending: the number of pending runs from which further ones are dropped.
        max_concurrency: the number of runs judged at once.
        store: where judgments are kept.
        budget: the limit on spending.
        exit_timeout: seconds to wait for pending runs at the end of the process.

    Attributes:
        counts: numbers of runs by what happened: ``judged``, ``unsampled`` and ``dropped``; not judged because they
            have no answer: ``paused`` (they wait for a person, or for the result of a call), ``abandoned`` (a stream
            that was left, a task that was cancelled) and ``skipped`` (the refusal of a guard, a hand-over to another
            agent, nothing returned); ``evicted`` (they did not end); ``unfinished`` (not judged when the handler was
            closed). Of exceptions: ``sink_errors`` of ``on_verdict``, and ``errors`` of ``select`` and of events.

    >>> handler = JuryCallbackHandler(lambda case: "2018" in case.answer)
    >>> chain.invoke("When?", config={"callbacks": [handler]})  # doctest: +SKIP
    >>> handler.close(), handler.counts["judged"]
    (True, 0)
    """

    run_inline = True  # microseconds of work, in the order of the events
    ignore_retry = ignore_custom_event = True

    def __init__(
        self,
        jury: JudgeLike,
        *,
        select: Callable[[Run], bool] | None = None,
        case: Callable[[Run], Case] = default_case,
        on_verdict: Callable[[JudgedRun], Any] | None = None,
        sample: float = 1.0,
        max_pending: int = 1000,
        max_concurrency: int = 16,
        store: Store | None = None,
        budget: Budget | None = None,
        exit_timeout: float = 10.0,
    ) -> None:
        super().__init__(
            jury,
            case=case,
            on_verdict=on_verdict,
            sample=sample,
            max_pending=max_pending,
            max_concurrency=max_concurrency,
            store=store,
            budget=budget,
            exit_timeout=exit_timeout,
        )
        if not (select is None or callable(select)):
            raise ConfigurationError(f"select= is a function of a run, not {select!r}")
        self.select = select

    def _reset(self) -> None:
        super()._reset()
        self._tree = RLock()  # the garbage collector may close a stream, and so end a run, while an event is read
        self._open: dict[UUID, _Node] = {}
        self._over: dict[UUID, None] = {}
        self._paused: dict[str, _Node] = {}  # of each checkpoint at which a graph paused, its run

    def __deepcopy__(self, memo: object) -> Self:
        return self  # a copied config reports to the same handler

    def on_chain_start(self, serialized: Any, inputs: Any, **event: Any) -> None:
        self._open_run("chain", inputs, serialized, **event)

    def on_chat_model_start(self, serialized: Any, messages: Any, **event: Any) -> None:
        self._open_run("llm", messages[0] if messages else [], serialized, **event)

    def on_llm_start(self, serialized: Any, prompts: Any, **event: Any) -> None:
        self._open_run("llm", prompts[0] if prompts else "", serialized, **event)

    def on_retriever_start(self, serialized: Any, query: str, **event: Any) -> None:
        self._open_run("retriever", query, serialized, **event)

    def on_tool_start(self, serialized: Any, input_str: str, inputs: Any = None, **event: Any) -> None:
        self._open_run("tool", {"input": input_str} if inputs is None else inputs, serialized, **event)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, inputs: Any = None, **_: Any) -> None:
        self._close_run(run_id, outputs, inputs)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        said = next((one for some in response.generations for one in some), None)
        self._close_run(run_id, getattr(said, "message", None) or getattr(said, "text", None))

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **_: Any) -> None:
        self._close_run(run_id, documents)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        self._close_run(run_id, output)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, inputs: Any = None, **_: Any) -> None:
        self._close_run(run_id, None, inputs, error)

    on_llm_error = on_retriever_error = on_tool_error = on_chain_error

    def on_interrupt(self, event: Any) -> None:
        """Note that a graph waits for a person."""
        if (node := self._open.get(event.run_id)) is not None:
            node.paused = True
            self._paused = dict([*self._paused.items(), (event.checkpoint_id, node)][-_MOST_OVER:])

    def on_resume(self, event: Any) -> None:
        """Note that a graph goes on, and with it what is around it."""
        node = self._open.get(event.run_id)
        if node is not None:
            node.before = self._paused.get(event.checkpoint_id)
        while node is not None:
            node.paused, node = False, node.parent

    @_quietly
    def _open_run(self, kind: str, inputs: Any, serialized: Any, **event: Any) -> None:
        run_id, parent_id = event["run_id"], event.get("parent_run_id")
        if context().judging or run_id in self._open:  # a handler may be listed and inherited
            return
        name = event.get("name") or (serialized or {}).get("name") or ""
        with self._tree:
            parent = next(filter(None, map(self._open.get, _ids_around(parent_id))), None)
            inside = parent_id in self._over if parent is None else parent.judged or parent.inside
            node = _Node(kind, name, inputs, parent, inside, event.get("tags") or (), event.get("metadata") or {})
            if not inside:
                node.judged = parent is None if self.select is None else bool(self.select(node.run(run_id)))
                node.inputs = _kept(inputs) if node.judged else inputs
            if parent is not None:
                parent.children.add(run_id)
            self._open[run_id] = node
            while len(self._open) > _MOST_OPEN:
                self._forget(next(iter(self._open)), evicted=True)

    def _forget(self, run_id: UUID, evicted: bool = False) -> _Node | None:
        node = self._open.pop(run_id, None)
        if node is not None:
            self._over[run_id] = None
            if len(self._over) > _MOST_OVER:
                del self._over[next(iter(self._over))]
            if evicted and node.judged:
                self.count("evicted")
        return node

    def _forget_inside(self, node: _Node) -> None:
        for run_id in node.children:
            if (inner := self._forget(run_id)) is not None:
                self._forget_inside(inner)

    @_quietly
    def _close_run(self, run_id: UUID, outputs: Any, inputs: Any = None, error: BaseException | None = None) -> None:
        with self._tree:
            node = self._forget(run_id)
            if node is None:
                return
            node.wrote |= node.kind == "tool" and bool(getattr(outputs, "goto", ()))  # a hand-over finds nothing
            outputs = updated(outputs)
            if inputs is not None:  # of a stream they are known at its end
                node.inputs = _kept(inputs)
            if (before := node.before) is not None:  # what it was asked and has found, it still has
                node.inputs = before.inputs
                node.steps, node.documents = [*before.steps, *node.steps], [*before.documents, *node.documents]
            elif _goes_on(node.inputs) and isinstance(outputs, Mapping):  # the state may have the question
                node.inputs = {name: outputs[name] for name in NAMES["question"] if isinstance(outputs.get(name), str)}
            if node.parent is not None:
                node.parent.children.discard(run_id)
                _pass_on(node, node.parent, outputs, error)
            why = _no_answer(node, outputs, inputs is not None, error) if node.judged else "inside"
            if node.parent is None:  # what a reader left behind may never end
                self._forget_inside(node)
        if not why:
            self.put(node.run(run_id, outputs, error))
        elif node.judged:
            self.count(why)

    async def _judge(self, run: Any) -> None:
        if self._context:  # it is untraced
            return await super()._judge(run)
        from langsmith import tracing_context  # takes long to import, and not in the application's thread

        with tracing_context(enabled=False):
            self._context = copy_context()  # of the next runs
            return await super()._judge(run)


def is_paused(outputs: Any) -> bool:
    """Return whether outputs are no answer: a graph waits for a person, or the last message calls a tool."""
    if isinstance(outputs, Mapping) and outputs.get("__interrupt__"):
        return True
    return bool(field_of(_last_message(outputs), "tool_calls")) and field_of(outputs, "structured_response") is None


def _pass_on(node: _Node, parent: _Node, outputs: Any, error: BaseException | None) -> None:
    """Add what was found in a run to the run around it."""
    parent.paused |= node.paused or _raised(error, "GraphInterrupt")
    left = _raised(error, "GraphBubbleUp")  # by an interrupt or a hand-over, which are no failures
    failed = error is not None and not left
    # What a failed attempt found is not what the answer rests on, but its calls were made.
    parent.steps += (step.model_copy(update={"echo": True}) for step in node.steps) if failed else node.steps
    if node.kind == "tool":
        if not left:
            parent.steps.append(_step_of(node, outputs, error))
        # The model reads what the tool returned, unless another model wrote that from the documents.
        parent.documents += node.documents if node.wrote and not failed else ()
    else:
        if not failed:
            parent.documents += outputs or () if node.kind == "retriever" else node.documents
            parent.model = (
                node.model or (node.metadata.get("ls_model_name") if node.kind == "llm" else None) or parent.model
            )
            parent.refusal = _blocked(outputs) or node.refusal or parent.refusal
        parent.wrote |= node.wrote or node.kind == "llm"
    del parent.steps[:-_MOST_FOUND], parent.documents[:-_MOST_FOUND]


def _step_of(node: _Node, outputs: Any, error: BaseException | None) -> Step:
    """Return the call of a tool. What a model inside the tool wrote is no evidence."""
    result = _last_message(outputs) if isinstance(outputs, Mapping) else outputs
    failed = error is not None or getattr(result, "status", None) == "error"
    said = error_text(error) if error is not None else _text(result)
    arguments = node.inputs if isinstance(node.inputs, Mapping) else {"input": node.inputs}
    return Step(tool=node.name, arguments=arguments, echo=node.wrote, **{"error" if failed else "output": said})


def _no_answer(node: _Node, outputs: Any, streamed: bool, error: BaseException | None) -> str:
    """Return why a run that ended is not judged, as the name of a count; empty if it is judged."""
    if node.paused or _raised(error, "GraphInterrupt"):
        return "paused"
    if _raised(error, "GraphBubbleUp"):
        return "skipped"
    if error is not None:
        return "" if isinstance(error, Exception) and not _raised(error, "CancelledError") else "abandoned"
    if streamed and (outputs is None or node.children):  # the reader left
        return "abandoned"
    refused = _blocked(outputs) or (node.refusal and node.refusal == _text(outputs))
    if outputs is None or refused:
        return "skipped"
    return "paused" if is_paused(outputs) else ""


def _blocked(outputs: Any) -> str | None:
    """Return the refusal of a guard, if it is the last message."""
    last = _last_message(outputs)
    return text_of(last) if is_marked(last, "blocked") else None


def is_marked(message: Any, kind: str, by: str = "") -> bool:
    """Return whether a message, of a model or of a tool, is one of a guard."""
    marks = field_of(field_of(message, "additional_kwargs"), "jury")
    told = field_of(marks, "kind") == kind and by in ("", field_of(marks, "by"))
    return told and role_of(message) in ("assistant", "tool")


def _last_message(outputs: Any) -> Any:
    messages = outputs.get("messages") if isinstance(outputs, Mapping) else outputs
    return messages[-1] if isinstance(messages, list | tuple) and messages else messages


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return text_of(value) if role_of(value) is not None else to_json(value, fallback=str).decode()


def _kept(value: Any) -> Any:
    """Return a copy to the second level: the application may go on with its lists."""
    if isinstance(value, dict):
        return {name: [*one] if isinstance(one, list) else one for name, one in value.items()}
    return [*value] if isinstance(value, list) else value


def _goes_on(inputs: Any) -> bool:
    """Return whether a graph was asked nothing, because it goes on."""
    return type(inputs).__name__ in ("Command", "NoneType") or (isinstance(inputs, Mapping) and not inputs)


def _raised(error: BaseException | None, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _ids_around(run_id: UUID | None) -> Iterator[UUID]:
    """Yield the runs around one, innermost first, where LangChain does not name them all."""
    if run_id is None:  # `with_fallbacks` does not name the parent of its attempts
        variable = getattr(sys.modules.get("langchain_core.runnables.config"), "var_child_runnable_config", None)
        callbacks = None if variable is None else (variable.get() or {}).get("callbacks")
        if (found := getattr(callbacks, "parent_run_id", None)) is not None:
            yield found
        return
    yield run_id
    # The parent may be a run of LangSmith (`@traceable`), whose trace has the runs of both.
    helpers = sys.modules.get("langsmith.run_helpers")
    tree = None if helpers is None else helpers.get_current_run_tree()
    if tree is not None and str(run_id) in tree.dotted_order:
        yield from (UUID(segment[-36:]) for segment in reversed(tree.dotted_order.split(".")))


class judge_runs(JuryCallbackHandler):  # noqa: N801 - it reads as a function: `with judge_runs(jury):`
    """Handler of a block whose runs are judged, for code that takes no callbacks; ``with`` or ``async with``.

    The block waits at its end until its runs are judged, at most ``exit_timeout`` seconds. Runs in threads that were
    started without a copy of the context are not seen. Of blocks inside each other, the innermost judges.

    Args:
        jury: the jury, or a function of a case.
        **options: as for :class:`JuryCallbackHandler`.

    >>> with judge_runs(lambda case: True) as handler:
    ...     pass  # chain.invoke("When?")
    >>> handler.counts["judged"]
    0
    """

    def __enter__(self) -> Self:
        _register()
        self._token = _HOOK.set(self)
        return self

    def _leave(self) -> None:
        with suppress(ValueError):  # the block was entered in another context
            _HOOK.reset(self._token)

    def __exit__(self, *_: object) -> None:
        self._leave()
        self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self._leave()
        await self.aclose()


_HOOK: ContextVar[JuryCallbackHandler | None] = ContextVar("jury_runs", default=None)


@cache
def _register() -> None:
    from langchain_core.tracers.context import register_configure_hook

    register_configure_hook(_HOOK, inheritable=True)
