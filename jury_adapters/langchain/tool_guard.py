"""JuryToolGuard, which judges the calls of an agent's tools before they are made."""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from jury_adapters.core.asking import REFUSAL, JudgedRun, review_of
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError
from jury_adapters.inputs.messages import field_of
from jury_adapters.inputs.run import Run, default_case
from jury_adapters.langchain.callbacks import is_marked
from jury_adapters.langchain.middleware import Guard, OnUndecided, ToolResult, ends_turn


class JuryToolGuard(Guard):
    """Middleware of ``create_agent`` that judges calls of tools before they are made.

    A call that is rejected is not made, and the model reads the reasons instead of a result. A call on which the jury
    comes to no decision is not made either. If the model makes rejected calls in more than ``max_retries`` rounds of a
    turn, the turn ends with ``refusal``; so it does where the user, and no model, would read the result of the call, as
    with ``return_direct=True``. The case has the question, the call as answer and as last step, and the steps
    before it. List the guard after middlewares that change calls, such as ``HumanInTheLoopMiddleware``, and before
    those that choose tools, such as ``LLMToolSelectorMiddleware``.

    Args:
        jury: the jury, or a function of a case.
        tools: the names of the tools whose calls are judged; None for all.
        max_retries: the number of rounds with rejected calls after which the model may go on, from 0.
        on_undecided: whether a call is made if the jury abstains or breaks: ``allow`` or ``block``.
        refusal: what the user gets if the turn ends because of rejected calls.
        case: makes the case of a call from a :class:`Run` whose inputs are the state.
        on_verdict: called with the :class:`JudgedRun` of each call before it is made.
        name: the name of the middleware; by default that of the jury.
        store: where judgments are kept.
        budget: the limit on spending.

    Raises:
        ConfigurationError: an option has another value; or, as the agent first calls its model, ``tools`` has a name
            that is none of its tools, so that it would guard nothing.

    >>> JuryToolGuard(lambda case: case.steps[-1].arguments["path"] != "/", tools=["delete"], name="careful").name
    'careful'
    """

    def __init__(
        self,
        jury: JudgeLike,
        tools: Iterable[str] | None = None,
        *,
        max_retries: int = 2,
        on_undecided: OnUndecided = "block",
        refusal: str = REFUSAL,
        case: Callable[[Run], Case] = default_case,
        on_verdict: Callable[[JudgedRun], Any] | None = None,
        name: str = "",
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(
            jury,
            max_retries=max_retries,
            on_undecided=on_undecided,
            refusal=refusal,
            case=case,
            on_verdict=on_verdict,
            name=name,
            store=store,
            budget=budget,
        )
        names = [tools] if isinstance(tools, str) else None if tools is None else [*tools]
        if names is not None and not (names and all(isinstance(one, str) for one in names)):
            raise ConfigurationError(f"tools= is a list of names of tools, or None for all; not {tools!r}")
        self.guarded = None if names is None else frozenset(names)
        self._unknown = self.guarded or frozenset()

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """End a turn in which the model insists on rejected calls."""
        return self._ended(request) or handler(request)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """End a turn like :meth:`wrap_model_call`, for asynchronous code."""
        return self._ended(request) or await handler(request)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]) -> ToolResult:
        """Judge a call, and make it if the jury lets it pass."""
        judgment = self.judged(_run_of_call(request)) if self._guards(request) else None
        return self._rejected(request, judgment) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        """Judge a call like :meth:`wrap_tool_call`, for asynchronous code."""
        judgment = await self.ajudged(_run_of_call(request)) if self._guards(request) else None
        return self._rejected(request, judgment) or await handler(request)

    def _guards(self, request: ToolCallRequest) -> bool:
        return self.guarded is None or request.tool_call["name"] in self.guarded

    def _ended(self, request: ModelRequest[Any]) -> AIMessage | None:
        if self._unknown:  # checked once; later calls may offer fewer tools
            offered = {str(field_of(field_of(tool, "function") or tool, "name")) for tool in request.tools}
            if missing := self._unknown - offered:
                raise ConfigurationError(
                    f"tools= has {min(missing)!r}, which is none of the agent's tools: {', '.join(sorted(offered))}"
                )
            self._unknown = frozenset()
        rejected, rounds = set(), 0
        for one in reversed(request.state["messages"]):
            if isinstance(one, HumanMessage):
                break
            if isinstance(one, ToolMessage) and is_marked(one, "tool", self.name):
                rejected.add(one.tool_call_id)
            elif isinstance(one, AIMessage):
                rounds += any(call["id"] in rejected for call in one.tool_calls)
        return AIMessage(self.refusal, additional_kwargs=self.marks("blocked")) if rounds > self.max_retries else None

    def _rejected(self, request: ToolCallRequest, judgment: Judgment | None) -> ToolMessage | None:
        """Return what takes the place of a call that is not made."""
        if judgment is None or self.asking.lets_through(judgment):
            return None
        why = review_of(judgment) if judgment.decided else "Its review came to no decision."
        said, marks = f"This call was not made. {why}\nDo not make it again.", self.marks("tool")
        if ends_turn(request):  # the user reads it, and no model
            said, marks = self.refusal, self.marks("blocked")
        call = request.tool_call
        return ToolMessage(said, tool_call_id=call["id"], name=call["name"], status="error", additional_kwargs=marks)


def _run_of_call(request: ToolCallRequest) -> Run:
    """Return the run that ends with a call, without the calls that the model makes beside it."""
    call, state = request.tool_call, dict(request.state)
    messages = list(state["messages"])
    place = max((at for at, one in enumerate(messages) if isinstance(one, AIMessage)), default=len(messages))
    state["messages"] = [*messages[:place], AIMessage("", tool_calls=[call])]
    arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
    said = f"Calls the tool {call['name']} with {arguments}"
    return Run(kind="tool", name=call["name"], inputs=state, outputs={"answer": said})
