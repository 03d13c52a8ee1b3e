"""JuryRunnable, a jury in a chain; jury_node, a jury in a graph; and how guards ask a jury inside an application."""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import Context
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langsmith import tracing_context
from pydantic import BaseModel

from jury_adapters.core import loop
from jury_adapters.core.asking import Asking, JudgedRun
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import NAMES, Case
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.store import Store
from jury_adapters.inputs.run import Run, default_case

_ASKED = tuple(name for field in ("question", "contexts", "reference") for name in NAMES[field])


class JuryRunnable(Runnable[Any, Judgment]):
    """Jury as a Runnable, with ``invoke``, ``batch``, ``stream``, ``|`` and ``with_config``, sync and async.

    Its input is what a chain or an agent returns: a mapping with usual names such as ``question``, ``answer`` and
    ``contexts``, the state of an agent, a text or a message (the answer), or a :class:`Case` or a :class:`Run`. Its
    output is the judgment; an input that makes no case gives an ERROR. Nothing of what the judges do is seen by the
    callbacks, traces and streams of the application.

    Args:
        jury: the jury, or a function of a case.
        case: makes the case of a run.
        store: where judgments are kept.
        budget: the limit on spending.

    >>> jury = JuryRunnable(lambda case: "2018" in case.answer)
    >>> jury.invoke({"question": "When?", "answer": "In 2018."}).status.value
    'PASS'
    """

    def __init__(
        self,
        jury: JudgeLike,
        *,
        case: Callable[[Run], Case] = default_case,
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.case = case
        self.asking = Asking(jury, self._case, store, budget)
        self.name = self.asking.judge.name or "jury"

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Judgment:  # noqa: A002
        """Judge one input."""
        return self._call_with_config(self._judged, input, config, run_type="chain")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Judgment:  # noqa: A002
        """Judge one input, for asynchronous code."""
        return await self._acall_with_config(self._ajudged, input, config, run_type="chain")

    def _case(self, run: Run) -> Case:
        return run.outputs if isinstance(run.outputs, Case) else self.case(run)

    def _judged(self, given: Any) -> Judgment:
        return loop.run(self._ajudged(given))

    async def _ajudged(self, given: Any) -> Judgment:
        return (await asked_apart(self.asking, run_of(given))).judgment


def jury_node(jury: JudgeLike, *, key: str = "verdict", **options: Any) -> Runnable[Any, dict[str, Any]]:
    """Return a node for a graph of LangGraph that judges its state, and writes the judgment as plain JSON values.

    Branch on it with ``add_conditional_edges("jury", lambda state: state["verdict"]["status"], {"PASS": END, ...})``.
    ``Judgment.model_validate(state["verdict"])`` is the judgment.

    Args:
        jury: the jury, or a function of a case.
        key: the key of the state to which it writes; the state must declare it.
        **options: ``case=``, ``store=`` and ``budget=``, as for :class:`JuryRunnable`.

    >>> jury_node(lambda case: True).invoke({"answer": "In 2018."})["verdict"]["status"]
    'PASS'
    """
    judges = JuryRunnable(jury, **options)
    plain: Runnable[Judgment, dict[str, Any]] = RunnableLambda(lambda judgment: {key: plain_values(judgment)})
    return (judges | plain).with_config(run_name=judges.name)


def plain_values(judgment: Judgment) -> dict[str, Any]:
    """Return a judgment as JSON values, which every checkpointer keeps."""
    return judgment.model_dump(mode="json", exclude_defaults=True)


def run_of(given: Any) -> Run:
    """Return the run of what a chain or a graph returned."""
    if isinstance(given, Run | Case):
        return given if isinstance(given, Run) else Run(outputs=given)
    fields = dict(given) if isinstance(given, Mapping | BaseModel) else {}
    return Run(inputs={name: fields[name] for name in _ASKED if name in fields} or None, outputs=given)


async def asked_apart(asking: Asking, run: Any) -> JudgedRun:
    """Return a run with its judgment; the callbacks, traces and streams around see nothing of it."""
    return await asyncio.create_task(_untraced(asking, run), context=Context())


async def _untraced(asking: Asking, run: Any) -> JudgedRun:
    with tracing_context(enabled=False):
        return await asking.ajudged(run)
