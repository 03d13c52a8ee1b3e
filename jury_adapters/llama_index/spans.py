"""JurySpanHandler, which judges the runs of a LlamaIndex application in the background; and judge_runs."""

import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from inspect import BoundArguments
from threading import RLock
from time import monotonic
from typing import Any, Self

from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import active_instrument_tags
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from jury_adapters.core.asking import JudgedRun
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case, Step
from jury_adapters.core.context import context
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.queue import JudgeQueue
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError, error_text
from jury_adapters.inputs.messages import field_of
from jury_adapters.inputs.run import Run, default_case
from jury_adapters.llama_index.reading import (
    asked_in,
    earlier_in,
    is_blocked,
    joined,
    nodes_of,
    retrieved,
    run_of,
    step_of,
    unread,
)

_MOST_OPEN = 20_000
"""Spans under way, and steps and nodes of a run; the oldest are forgotten, so that they do not fill the memory."""
_KINDS = ("query", "chat", "agent", "workflow", "retriever")
# The kind of a span, by the base class of whose method it is. A span of another method, or without an object, has none.
_METHODS = {
    "BaseQueryEngine": ("query", ("query", "aquery")),
    "BaseChatEngine": ("chat", ("chat", "achat", "stream_chat", "astream_chat")),
    "BaseWorkflowAgent": ("agent", ("run",)),
    "AgentWorkflow": ("agent", ("run",)),
    "Workflow": ("workflow", ("run",)),
    "BaseRetriever": ("retriever", ("retrieve", "aretrieve")),
    "BaseTool": ("tool", ("__call__", "call", "acall")),
    "BaseLLM": ("llm", ()),
}
_FLOWS = ("agent", "workflow")
_READINGS = "_jury_readings"  # where a streamed chat answer keeps who is told of its end


@dataclass(slots=True, eq=False)
class _Node:
    """Run under way, or the call of a tool in it.

    Attributes:
        begun: what is known at its start.
        parent: what it runs in.
        judged: whether it is judged.
        documents: the nodes that were found in it.
        answers: the responses of the engines in it.
        steps: the calls of tools in it, and when each began.
        model: the model that was asked last.
        wrote: whether a model was asked in it.
        earlier: the conversation before the question, as a model got it.
        refusal: the outputs of a guard in it that replaced an answer.
        memory: that of a chat engine.
    """

    begun: Run
    parent: "_Node | None"
    judged: bool = False
    documents: list[Any] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    steps: list[tuple[float, Step]] = field(default_factory=list)
    model: str | None = None
    wrote: bool = False
    earlier: list[Any] = field(default_factory=list)
    refusal: Any = None
    memory: Any = None
    started: float = field(default_factory=monotonic)

    def run(self, response: Any = None, error: str | None = None) -> Run:
        """Return what the jury judges."""
        told, is_flow = Run() if response is None else run_of(None, response), self.begun.kind in _FLOWS
        inputs: Any = self.begun.inputs
        return replace(
            self.begun,
            inputs={**inputs, "messages": self.earlier} if self.earlier and not inputs.get("messages") else inputs,
            outputs=told.outputs,
            # An engine tells what its writer saw; an agent does not know what was found inside its tools.
            documents=(self.documents if is_flow else ()) or self.found(nodes_of(response)) or self.documents,
            steps=[*_in_order(self.calls(), told.steps)],
            generator=self.model,
            error=error,
            elapsed_s=monotonic() - self.started,
        )

    def found(self, nodes: list[Any]) -> list[Any]:
        """Return the nodes that were found; what an engine found stands for the nodes with its answer."""
        kept = retrieved(nodes, self.answers, self.documents)
        return kept if len(kept) == len(nodes) else kept + self.documents

    def calls(self) -> list[Step]:
        """Return the calls of tools in their order; those inside a tool come before its own."""
        return [step for _, step in sorted(self.steps, key=lambda one: one[0])]


class JurySpanHandler(JudgeQueue):
    """Watcher that judges the runs of a LlamaIndex application, in the background and after they ended.

    It hears LlamaIndex's instrumentation from :meth:`attach` to :meth:`close`, in the whole process: queries, chats and
    agents, synchronous, asynchronous and streamed. The outermost run is judged, once. Its contexts are the source nodes
    of its response, else what retrievers and tools found; its steps are all calls of tools in it, also those of agents
    inside tools and of sub-agents. What a tool returned that asked a model is no context, and neither is a node with
    the answer of an engine, but the nodes that were retrieved for them are. It raises nothing into the application and
    does not make it wait. What a judge of this package calls itself is not judged, except in threads without its
    context, such as those of ``run_in_executor``, where each judgment calls the next without end. LlamaIndex's own
    evaluators are queries like any other, which ``select=`` can leave out.

    A streamed query is judged when it was read to its end; a streamed chat when LlamaIndex has written its answer into
    the memory, whoever reads it. A run that raised is FAIL without asking the jury.

    Args:
        jury: the jury, or a function of a case.
        select: the kinds of runs to judge, of ``query``, ``chat``, ``agent``, ``workflow`` (of your own) and
            ``retriever``; or a function of a run, called as it starts, with its kind, name (such as
            ``RetrieverQueryEngine.query``), inputs and metadata. Of selected runs inside each other, the outermost is
            judged.
        case: makes the case of a run.
        on_verdict: called with each :class:`JudgedRun`; a plain function runs in a thread.
        sample: the share of runs that are judged, 0..1.
        max_pending: the number of pending runs from which further ones are dropped.
        max_concurrency: the number of runs judged at once.
        store: where judgments are kept.
        budget: the limit on spending.
        exit_timeout: seconds to wait for pending runs at the end of the process.

    Attributes:
        counts: numbers of runs by what happened: ``judged``, ``unsampled`` and ``dropped``, also because they were
            under way at :meth:`close`; not judged because they have no answer: ``abandoned`` (a stream that was left, a
            run that was cancelled) and ``skipped`` (the refusal of a guard, nothing returned); ``evicted`` (they did
            not end). Of exceptions: ``sink_errors`` of ``on_verdict``, and ``errors`` of ``select`` and of spans.

    Raises:
        ConfigurationError: an option has another value.

    >>> handler = JurySpanHandler(lambda case: "2018" in case.answer).attach()
    >>> index.as_query_engine().query("When?")  # doctest: +SKIP
    >>> handler.close(), handler.counts["judged"]
    (True, 0)
    """

    def __init__(
        self,
        jury: JudgeLike,
        *,
        select: Sequence[str] | Callable[[Run], bool] = ("query", "chat", "agent"),
        case: Callable[[Run], Case] = default_case,
        on_verdict: Callable[[JudgedRun], Any] | None = None,
        sample: float = 1.0,
        max_pending: int = 1000,
        max_concurrency: int = 16,
        store: Store | None = None,
        budget: Budget | None = None,
        exit_timeout: float = 10.0,
    ) -> None:
        if not callable(select) and (isinstance(select, str) or not select or not {*select} <= {*_KINDS}):
            raise ConfigurationError(
                f"select= is a list of kinds ({', '.join(_KINDS)}) or a function of a run, not {select!r}"
            )
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
        self.select = select
        self._spans = _Spans(self)

    def _reset(self) -> None:
        super()._reset()
        self._tree = RLock()  # the garbage collector may close a stream, and so end a run, while a span is read
        self._open: dict[str, _Node] = {}  # spans inside a judged run, and the innermost run or tool around each

    def attach(self) -> Self:
        """Judge the runs that begin from now on, and return the handler.

        Raises:
            ConfigurationError: the handler was closed.
        """
        if self._closed:
            raise ConfigurationError("this handler was closed; make another one")
        if not any(one is self._spans for one in get_dispatcher().span_handlers):
            get_dispatcher().add_span_handler(self._spans)
        return self

    def close(self, timeout: float | None = None) -> bool:
        """Take no more runs, and wait for the pending ones; return whether all were judged."""
        # A new list: others may iterate over it.
        get_dispatcher().span_handlers = [one for one in get_dispatcher().span_handlers if one is not self._spans]
        with self._tree, self._changed:
            # Adding leaves out a count of nothing.
            self.counts += Counter(dropped=sum(one.judged and one.begun.id == id_ for id_, one in self._open.items()))
            self._open.clear()
        return super().close(timeout)

    def __enter__(self) -> Self:
        return self.attach()

    async def __aenter__(self) -> Self:
        return self.attach()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def enter(self, id_: str, instance: Any, arguments: Mapping[str, Any], parent_id: str | None) -> None:
        """Note that a span begins."""
        if context().judging or self._closed:
            return
        name = id_.partition("-")[0]
        kind = _kind_of(instance.__class__, name.rpartition(".")[2])
        with self._tree:
            parent = self._writing(instance, arguments) or self._open.get(parent_id or "")
            if kind and parent and parent.begun.id == parent_id and parent.begun.kind in _FLOWS:
                # The parts of a workflow run in its steps. Older ones leave their span in the context of the caller.
                parent = parent.parent
            if id_ in self._open or (parent is None and kind not in _KINDS):
                return
            if kind == "tool":
                name = str(instance.metadata.name)
                kind = "" if parent and (parent.begun.kind, parent.begun.name) == ("tool", name) else kind  # an adapter
            if kind in ("", "llm") and parent is not None:
                self._keep(id_, parent)
                if kind:
                    _hear(parent, instance, arguments)
                return
            node = _Node(
                Run(
                    id=id_,
                    kind=kind,
                    name=name,
                    inputs=asked_in(kind, arguments),
                    metadata={
                        tag: one
                        for tag, one in active_instrument_tags.get().items()
                        if not tag.startswith("llamaindex.")
                    },
                ),
                parent,
                memory=getattr(instance, "_memory", None) if kind == "chat" else None,
            )
            self._keep(id_, node)  # also if the choice raises, so that it is made once
            if parent is None:
                node.judged = bool(self.select(node.begun)) if callable(self.select) else kind in self.select
                if not node.judged:
                    del self._open[id_]

    def _writing(self, instance: Any, arguments: Mapping[str, Any]) -> _Node | None:
        """Return the chat whose streamed answer a span writes, in a thread that knows nothing of it."""
        if not isinstance(instance, StreamingAgentChatResponse):
            return None
        reading = vars(instance).get(_READINGS, {}).get(id(self))
        node = (
            next(
                (
                    one
                    for one in self._open.values()
                    if one.memory is not None and one.memory is arguments.get("memory")
                ),
                None,
            )
            if reading is None
            else reading.node
        )
        if node is not None and node.judged:
            self._read(node, instance, "achat_stream" if instance.chat_stream is None else "chat_stream")
        return node

    def _read(self, node: _Node, response: Any, name: str = "") -> None:
        """Have a run judged when a stream of its response was read; ``name`` is the field with the stream."""
        readings = vars(response).setdefault(_READINGS, {})
        if id(self) not in readings:
            readings[id(self)] = _Reading(
                self,
                node,
                AgentChatResponse(source_nodes=[*response.source_nodes], sources=[*getattr(response, "sources", ())]),
            )
            readings[id(self)].watch(response)
        if name:
            stream = getattr(response, name)
            passed = _apassed_on if hasattr(stream, "__aiter__") else _passed_on
            setattr(response, name, passed(stream, readings[id(self)]))

    def _keep(self, id_: str, node: _Node) -> None:
        self._open[id_] = node
        while len(self._open) > _MOST_OPEN:
            lost = self._open.pop(oldest := next(iter(self._open)))
            if lost.judged and lost.begun.id == oldest:
                self.count("evicted")

    def leave(self, id_: str, result: Any, error: BaseException | None = None) -> None:
        """Note that a span ended."""
        with self._tree:
            node = self._open.pop(id_, None)
            # A tool that waits for a person is called again with the answer.
            if node and node.begun.id == id_ and node.parent and type(error).__name__ != "WaitingForEvent":
                _pass_on(node, node.parent, result, error)
        if node and node.begun.id == id_ and node.judged:
            self._finish(node, result, error)

    def _finish(self, node: _Node, result: Any, error: BaseException | None = None) -> None:
        """Have a run judged that ended, or count why it is not."""
        if isinstance(error, Exception):
            self.put(node.run(error=error_text(error)))
        elif error is not None or (result is None and node.begun.kind in _FLOWS):  # cancelled, or its reader left
            self.count("abandoned")
        elif result is None or is_blocked(result):
            self.count("skipped")
        elif not self._wait_for_stream(node, result):
            run = node.run(result)
            if node.refusal and run.outputs == node.refusal:
                self.count("skipped")
            else:
                self.put(run)

    def _wait_for_stream(self, node: _Node, response: Any) -> bool:
        """Return whether the answer is a stream, which is judged when it ends."""
        name = unread(response)
        has_writer = isinstance(response, StreamingAgentChatResponse) and response.is_writing_to_memory
        if name or has_writer:  # a writer reads the stream itself
            self._read(node, response, name)
        if name:
            vars(response)[_READINGS].pop(id(self)).watch(getattr(response, name))
        return bool(name or has_writer)


class _Reading:
    """Reading of a streamed answer. It ends once: with the answer, with an error, or as nobody can read any more.

    Attributes:
        node: the run.
        tokens: what was read.
    """

    def __init__(self, handler: JurySpanHandler, node: _Node, beside: Any) -> None:
        self.node, self._handler, self._beside = node, handler, beside
        self.tokens: list[Any] = []
        self._left: Any = None

    def watch(self, held: Any) -> None:
        """Count the run as abandoned when this object, and no other, is gone."""
        if self._left is not None:
            self._left.detach()
        self._left = weakref.finalize(held, self._handler.count, "abandoned")
        self._left.atexit = False

    def end(self, answer: Any, error: BaseException | None) -> None:
        """Tell the end, of which only the first counts."""
        if self._left.detach() is not None:
            self._beside.response = answer
            self._handler._finish(self.node, self._beside, error)

    def __enter__(self) -> None:
        """Begin to read a stream."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.end(joined(self.tokens), error)


def _passed_on(stream: Any, reading: _Reading) -> Iterator[Any]:
    with reading:
        for token in stream:
            reading.tokens.append(token)
            yield token


async def _apassed_on(stream: Any, reading: _Reading) -> AsyncIterator[Any]:
    with reading:
        async for token in stream:
            reading.tokens.append(token)
            yield token


class _Spans(BaseSpanHandler[BaseSpan]):
    """What the dispatcher of LlamaIndex tells. It keeps no spans itself."""

    _handler: JurySpanHandler = PrivateAttr()

    def __init__(self, handler: JurySpanHandler) -> None:
        super().__init__(open_spans={}, completed_spans=[], dropped_spans=[], current_span_ids={})
        self._handler = handler

    def new_span(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        self._quietly(self._handler.enter, id_, instance, bound_args.arguments, parent_span_id)

    def prepare_to_exit_span(
        self, id_: str, bound_args: BoundArguments, instance: Any = None, result: Any = None, **_: Any
    ) -> None:
        self._quietly(self._handler.leave, id_, result)

    def prepare_to_drop_span(
        self, id_: str, bound_args: BoundArguments, instance: Any = None, err: BaseException | None = None, **_: Any
    ) -> None:
        self._quietly(self._handler.leave, id_, None, err or RuntimeError("the run ended without a reason"))

    def _quietly(self, hear: Callable[..., None], *span: Any) -> None:
        """Count what a span raises; LlamaIndex would drop it without a word."""
        try:
            hear(*span)
        except Exception:
            self._handler.count("errors")


def _pass_on(node: _Node, parent: _Node, result: Any, error: BaseException | None) -> None:
    """Add what was found in a run or a tool to the run around it."""
    refused = is_blocked(result)
    failed = error is not None or refused or bool(getattr(result, "is_error", False))
    # What a failed or withheld attempt found is not what the answer rests on, but its calls were made.
    steps = [step.model_copy(update={"echo": True}) if failed else step for step in node.calls()]
    kind = node.begun.kind
    if kind == "tool":
        steps.append(step_of(node.begun.name, node.begun.inputs, result, error, wrote=node.wrote))
    else:
        parent.wrote |= node.wrote
    if not failed:
        # A model reads what a tool returned, unless another model wrote that from the nodes.
        behind = node.documents if (node.wrote if kind == "tool" else kind != "retriever") else []
        parent.documents += node.found(nodes_of(getattr(result, "raw_output", result))) or behind
    if error is None and kind != "tool":
        parent.refusal = (run_of(None, result).outputs if refused else node.refusal) or parent.refusal
        parent.model = node.model or parent.model
    parent.steps += ((node.started, step) for step in steps)
    parent.answers += [*node.answers, result] if kind == "query" else node.answers
    del parent.steps[:-_MOST_OPEN], parent.documents[:-_MOST_OPEN], parent.answers[:-_MOST_OPEN]


def _in_order(heard: list[Step], told: Sequence[Step]) -> Iterator[Step]:
    """Yield the calls that were heard, and between them those that only the agent tells, as of unknown tools."""
    rest = [*heard]
    for step in told:
        past = next((place for place, one in enumerate(rest, start=1) if one.tool == step.tool), 0)
        yield from rest[:past] if any(step.tool == one.tool for one in heard) else [step]
        del rest[:past]
    yield from rest


def _hear(node: _Node, model: Any, arguments: Mapping[str, Any]) -> None:
    """Note the call of a model, and the conversation that it was given."""
    node.wrote = True
    name = getattr(model, "model", None) or model.metadata.model_name
    node.model = name if isinstance(name, str) and name not in ("", "unknown") else node.model
    while node.parent is not None:
        node = node.parent
    asked = field_of(node.begun.inputs, "question") if node.begun.kind in ("chat", "agent") else None
    found = earlier_in(arguments, asked) if isinstance(asked, str) and asked.strip() else []
    # Messages are better than the pairs that were read from one text, in which a message may contain others.
    if found and (len(found) > len(node.earlier) or isinstance(node.earlier[0], tuple)):
        node.earlier = found


@lru_cache(4096)
def _kind_of(cls: type, method: str) -> str:
    """Return the kind of a run, ``tool`` or ``llm``, by the names of the base classes; empty for other spans."""
    bases = {one.__name__ for one in cls.__mro__ if one.__module__.partition(".")[0] in ("llama_index", "workflows")}
    return next((kind for name, (kind, ways) in _METHODS.items() if name in bases and (method in ways or not ways)), "")


def judge_runs(jury: JudgeLike, **options: Any) -> JurySpanHandler:
    """Return a handler for a block, ``with`` or ``async with``, in which the runs of the whole process are judged.

    The block waits at its end until its runs are judged, at most ``exit_timeout`` seconds.

    Args:
        jury: the jury, or a function of a case.
        **options: as for :class:`JurySpanHandler`.

    >>> with judge_runs(lambda case: True) as handler:
    ...     pass  # index.as_query_engine().query("When?")
    >>> handler.counts["judged"]
    0
    """
    return JurySpanHandler(jury, **options)
