"""Callbacks that judge the runs of an application in the background.

One handler judges every answer of a chain, a RAG chain, an agent or a retriever. The application does not wait for it
and does not fail because of it, and its answers are unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Unpack, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager

from jury_adapters.core.background.blocks import Block
from jury_adapters.core.background.shown_options import shows_options_of
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.langchain.collector import Collector, Kind
from jury_adapters.langchain.graph_events import GraphEvents
from jury_adapters.langchain.run_judging import RunOptions, RunWatcher
from jury_adapters.langchain.surrounding_runs import run_of_context, runs_around_traced

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult


class RunEvents(GraphEvents):
    """LangChain's run events, and those of LangGraph, forwarded to a collector."""

    _collector: Collector

    def on_chain_start(
        self, serialized: dict[str, Any], inputs: dict[str, Any], *, run_id: UUID,
        parent_run_id: UUID | None = None, **event: Any,
    ) -> None:  # fmt: skip
        self._started("chain", serialized, inputs, event, run_id=run_id, parent_run_id=parent_run_id)

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **event: Any) -> None:
        self._collector.end(run_id, outputs, event.get("inputs"))

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        self._collector.fail(run_id, error, event.get("inputs"))

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID,
        parent_run_id: UUID | None = None, **event: Any,
    ) -> None:  # fmt: skip
        self._started("chat", serialized, _only(messages), event, run_id=run_id, parent_run_id=parent_run_id)

    def on_llm_start(
        self, serialized: dict[str, Any], prompts: list[str], *, run_id: UUID,
        parent_run_id: UUID | None = None, **event: Any,
    ) -> None:  # fmt: skip
        self._started("chat", serialized, _only(prompts), event, run_id=run_id, parent_run_id=parent_run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **event: Any) -> None:
        self._collector.end(run_id, _generated(response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        self._collector.fail(run_id, error)

    def on_retriever_start(
        self, serialized: dict[str, Any], query: str, *, run_id: UUID,
        parent_run_id: UUID | None = None, **event: Any,
    ) -> None:  # fmt: skip
        self._started("retriever", serialized, query, event, run_id=run_id, parent_run_id=parent_run_id)

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **event: Any) -> None:
        self._collector.end(run_id, documents)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        self._collector.fail(run_id, error)

    def on_tool_start(
        self, serialized: dict[str, Any], input_str: str, *, run_id: UUID,
        parent_run_id: UUID | None = None, **event: Any,
    ) -> None:  # fmt: skip
        inputs = event.get("inputs")
        inputs = input_str if inputs is None else inputs
        self._started("tool", serialized, inputs, event, run_id=run_id, parent_run_id=parent_run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **event: Any) -> None:
        self._collector.end(run_id, output)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        self._collector.fail(run_id, error)

    def _started(
        self,
        kind: Kind,
        serialized: Mapping[str, Any] | None,
        inputs: object,
        event: Mapping[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None,
    ) -> None:
        self._hear_graphs()
        name = event.get("name") or (serialized or {}).get("name")
        known = parent_run_id is not None and self._collector.knows(parent_run_id)
        self._collector.start(
            kind,
            run_id,
            parent_run_id,
            inputs,
            name=name,
            tags=event.get("tags"),
            metadata=event.get("metadata"),
            traced=() if known or parent_run_id is None else runs_around_traced(parent_run_id),
            context_id=None if known else run_of_context(),
            call_id=event.get("tool_call_id"),
        )


@shows_options_of(RunWatcher)
class JuryCallbackHandler(RunWatcher, RunEvents, BaseCallbackHandler):
    """Callback handler that judges the runs of an application in the background, for synchronous and asynchronous code.

    Pass it wherever callbacks are accepted: ``invoke(..., config={"callbacks": [handler]})``, ``with_config``, or the
    constructor of a model. Streams, batches, nested chains, retries and agents are supported. In a conversation with a
    checkpointer, the current turn is judged. A pause for human input or at a breakpoint is not an answer; its run is
    judged after it was resumed. A run that fails is FAIL, with its error.

    LangGraph before 1.1.8 does not tell that a graph stopped at a breakpoint (``interrupt_before``,
    ``interrupt_after``), so its state is judged. Pause with ``interrupt()`` there.

    Args:
        jury: the jury, any other judge, or a function of a case.
        **options: as for the base class.

    Raises:
        ConfigurationError: an option is out of range, or a name in ``select`` is a misspelt ``"retriever"``.

    >>> handler = JuryCallbackHandler(jury, on_verdict=log_verdicts())  # doctest: +SKIP
    >>> chain.invoke("Why is the sky blue?", config={"callbacks": [handler]})  # doctest: +SKIP
    >>> handler.flush(timeout=30)  # doctest: +SKIP
    True
    """


@shows_options_of(JuryCallbackHandler)
class judge_runs(Block):  # noqa: N801  used like a function
    """Judge the runs inside a ``with`` (or ``async with``) block, in code that does not accept callbacks.

    Watches the runs in the block's own context, which includes tasks and LangChain's own threads. A plain new thread
    has no context and is not watched. Blocks can be nested; each one judges separately. A call without a block judges
    nothing, and the log says so.

    Args:
        jury: the jury, any other judge, or a function of a case; the end of the block then waits up to
            ``exit_timeout`` seconds for pending runs. Or a handler that outlives the block; the end then does not wait.
        **options: as for :class:`JuryCallbackHandler`.

    Raises:
        ConfigurationError: an option is out of range, or is given together with a handler, which has its own options.

    >>> with judge_runs(jury, on_verdict=log_verdicts()) as handler:  # doctest: +SKIP
    ...     answer_customers()
    >>> handler.counts.judged  # doctest: +SKIP
    12
    """

    forgotten = (
        "judge_runs() was called without a block, so it judges nothing; write `with judge_runs(jury):`, or give "
        "JuryCallbackHandler(jury) to the application as one of its callbacks"
    )

    def __init__(
        self,
        jury: JudgeLike | JuryCallbackHandler,
        **options: Unpack[RunOptions],
    ) -> None:
        self._owns = not isinstance(jury, RunWatcher)
        if isinstance(jury, RunWatcher):
            if options:
                raise ConfigurationError("judge_runs(handler) takes no further options; give them to the handler")
            self._handler: RunWatcher = jury
        else:
            self._handler = JuryCallbackHandler(jury, **options)
        self._entered: list[tuple[_Change, _Change]] = []
        self.entered = False

    def __enter__(self) -> RunWatcher:
        self.entered = True
        hook, config = _free_hook(), _config_of_context()
        changed = _with_handler(config.get(), self._handler)
        self._entered.append((_Change(hook, self._handler), _Change(config, changed)))
        return self._handler

    def __exit__(self, *exc: object) -> None:
        self._leave()
        if self._owns:
            self._handler.__exit__()

    async def __aenter__(self) -> RunWatcher:
        return self.__enter__()

    async def __aexit__(self, *exc: object) -> None:
        self._leave()
        if self._owns:
            await self._handler.__aexit__()

    def _leave(self) -> None:
        for change in self._entered.pop():
            change.undo()


class _Change:
    """Change of a variable of the context.

    Args:
        variable: the variable.
        value: its new value.
    """

    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[Any], value: object) -> None:
        self._variable = variable
        self._value = value
        self._token = variable.set(value)

    def undo(self) -> None:
        """Set the variable back."""
        try:
            self._variable.reset(self._token)
        except ValueError:  # the block began in another context, for example in a generator or a fixture
            if self._variable.get() is self._value:
                self._variable.set(None)


def _free_hook() -> ContextVar[RunWatcher | None]:
    """Return a variable in which LangChain looks for handlers, and that is unused in this context.

    Each surrounding block uses one of its own.
    """
    from langchain_core.tracers.context import register_configure_hook  # loads far more than callbacks need

    for hook in _HOOKS:
        if hook.get() is None:
            return hook
    hook = ContextVar(f"jury_runs_{len(_HOOKS)}", default=None)
    register_configure_hook(hook, inheritable=True)
    _HOOKS.append(hook)
    return hook


def _config_of_context() -> ContextVar[Any]:
    """Return the variable with the config of the context, where LangGraph looks for handlers of its own events."""
    from langchain_core.runnables.config import var_child_runnable_config

    return var_child_runnable_config


def _with_handler(config: Mapping[str, Any] | None, handler: RunWatcher) -> dict[str, Any]:
    """Return the config of a context with a further handler."""
    config = config or {}
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        callbacks.add_handler(cast(BaseCallbackHandler, handler))
    else:
        callbacks = [*(callbacks or ()), handler]
    return {**config, "callbacks": callbacks}


def _only(batch: Sequence[object]) -> object:
    """Return the input of one model call; LangChain reports each prompt of a batch as a separate run."""
    return batch[0] if len(batch) == 1 else list(batch)


def _generated(response: LLMResult) -> object:
    """Return the output of a model: its message, or its text."""
    first = response.generations[0][0] if response.generations and response.generations[0] else None
    return getattr(first, "message", None) or getattr(first, "text", None)


_HOOKS: list[ContextVar[RunWatcher | None]] = []
