"""JuryMiddleware, which judges the answers of an agent before they enter its state; and what both guards share."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NotRequired, get_args

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    OmitFromInput,
    PrivateStateAttr,
)
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from jury_adapters.core import loop
from jury_adapters.core.asking import REFUSAL, Asking, JudgedRun, reported, review_of, without_texts
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.store import Store
from jury_adapters.core.values import check_whole, check_word
from jury_adapters.inputs.messages import text_of
from jury_adapters.inputs.run import Run, default_case
from jury_adapters.langchain.callbacks import is_marked
from jury_adapters.langchain.runnable import asked_apart, plain_values

ToolResult = ToolMessage | Command[Any]
OnFail = Literal["retry", "block", "annotate"]
OnUndecided = Literal["allow", "block"]
_inner: ContextVar[list[dict[str, Any]] | None] = ContextVar("jury_updates", default=None)
"""What the guards inside this one write to the state for the present draft."""


class Guard(AgentMiddleware[Any, Any, Any]):
    """Base of both guards: asks the jury, and reports to ``on_verdict``."""

    def __init__(
        self,
        jury: JudgeLike,
        *,
        max_retries: int,
        on_undecided: OnUndecided,
        refusal: str,
        case: Callable[[Run], Case],
        on_verdict: Callable[[JudgedRun], Any] | None,
        name: str,
        store: Store | None,
        budget: Budget | None,
    ) -> None:
        super().__init__()
        check_word("on_undecided", on_undecided, *get_args(OnUndecided))
        check_whole("max_retries", max_retries, 0)
        self.asking = Asking(jury, case, store, budget, on_undecided)
        self.max_retries, self.refusal, self.on_verdict = max_retries, refusal, on_verdict
        # LangGraph uses the name for nodes, and refuses these two signs.
        self._name = re.sub("[:|]+", " ", name or self.asking.judge.name).strip() or type(self).__name__

    @property
    def name(self) -> str:
        """The name of the middleware; two in one agent need different names."""
        return self._name

    def judged(self, run: Run) -> Judgment:
        """Return the judgment of a draft or a call, after ``on_verdict`` was called."""
        return loop.run(self.ajudged(run))

    async def ajudged(self, run: Run) -> Judgment:
        """Return the judgment of a draft or a call like :meth:`judged`, for asynchronous code."""
        return await reported(await asked_apart(self.asking, run), self.on_verdict)

    def marks(self, kind: Literal["blocked", "tool"]) -> dict[str, Any]:
        """Return what marks a message of this guard."""
        return {"jury": {"kind": kind, "by": self.name}}


class JuryState(AgentState[Any]):
    """State of an agent with a verdict. Several guards, and several tools, may write in one step."""

    jury_verdict: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput, lambda _, new: new]]
    jury_asked: NotRequired[Annotated[Any, PrivateStateAttr, lambda _, new: new]]
    jury_retries: NotRequired[
        Annotated[dict[str, int], PrivateStateAttr, lambda old, new: {**(old or {}), **new} if new else {}]
    ]


class JuryMiddleware(Guard):
    """Middleware of ``create_agent`` that judges the answers of an agent.

    A draft is judged inside the call of the model, so that a rejected one is in no message, state, checkpoint or stream
    of the agent; ``on_verdict`` gets it. On FAIL, the model is asked again with the jury's reasons, in that call only,
    at most ``max_retries`` times a turn; after that, or with ``on_fail="block"``, the user gets ``refusal``. With
    ``on_fail="annotate"`` the answer is shown. List the middleware last: one after it sees the drafts.

    A draft is the text of an answer, or a structured response, which is judged as JSON. So is the answer of a tool with
    ``return_direct=True``, which no model can be asked again for. What stands beside it passes: calls of tools with
    their arguments (see :class:`JuryToolGuard`), thoughts, files, and artifacts of tools.

    The jury sees the messages: what a tool returned counts as found, also if the tool asked a model or only wrote.
    ``case=partial(default_case, evidence=...)`` names the tools that find things.

    The state has ``jury_verdict``, the judgment of the answer as JSON values, without texts if the answer was withheld.
    The message with the refusal has ``additional_kwargs["jury"]`` with the kind ``blocked``.

    Tokens that are sent cannot be taken back, so ``stream_mode="messages"`` gives the answer as one message after its
    review, and ``astream_events`` has no events of the model, unless every answer is shown. The result of a tool with
    ``return_direct`` is withheld from both, but not from the events of the tool itself, which ``astream_events`` and
    ``stream_mode="tools"`` show. Callbacks and traces see every call of the model. Do not show these to users.

    Args:
        jury: the jury, or a function of a case.
        on_fail: ``retry``, ``block`` or ``annotate``.
        max_retries: how often the model is asked again in a turn, from 0.
        on_undecided: whether an answer is shown if the jury abstains or breaks: ``allow``, since an outage of the judge
            is not one of the application, or ``block``. The model is not asked again for that.
        refusal: what the user gets instead of the answer.
        case: makes the case of a draft from a :class:`Run` whose inputs are the state.
        on_verdict: called with the :class:`JudgedRun` of each draft before the agent goes on, in a thread if it is a
            plain function; what it raises is logged.
        name: the name of the middleware; by default that of the jury.
        store: where judgments are kept.
        budget: the limit on spending.

    Raises:
        ConfigurationError: an option has another value.

    >>> guard = JuryMiddleware(lambda case: "2018" in case.answer, name="year")
    >>> agent = create_agent(model, tools, middleware=[guard])  # doctest: +SKIP
    >>> guard.name
    'year'
    """

    state_schema = JuryState

    def __init__(
        self,
        jury: JudgeLike,
        *,
        on_fail: OnFail = "retry",
        max_retries: int = 2,
        on_undecided: OnUndecided = "allow",
        refusal: str = REFUSAL,
        case: Callable[[Run], Case] = default_case,
        on_verdict: Callable[[JudgedRun], Any] | None = None,
        name: str = "",
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        check_word("on_fail", on_fail, *get_args(OnFail))
        super().__init__(
            jury,
            max_retries=max_retries if on_fail == "retry" else 0,
            on_undecided=on_undecided,
            refusal=refusal,
            case=case,
            on_verdict=on_verdict,
            name=name,
            store=store,
            budget=budget,
        )
        self.keeps_failed = on_fail == "annotate"
        self.shows_all = self.keeps_failed and on_undecided == "allow"

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Begin a turn without a verdict and a response; a checkpointer keeps those of the turn before."""
        stale = {"structured_response": None} if state.get("structured_response") is not None else {}
        asked = next((one for one in reversed(state["messages"]) if isinstance(one, HumanMessage)), None)
        return {"jury_verdict": None, "jury_retries": {}, "jury_asked": asked, **stale}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Ask the model until the jury lets its answer pass, or the retries are used up."""
        review = _Review(self, request)
        while review.ended is None:
            with review.drafting():
                response = handler(review.request)
            review.take(response, self.judged(review.run_of(response)) if _is_answer(response) else None)
        return review.ended

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """Ask the model like :meth:`wrap_model_call`, for asynchronous code."""
        review = _Review(self, request)
        while review.ended is None:
            with review.drafting():
                response = await handler(review.request)
            review.take(response, await self.ajudged(review.run_of(response)) if _is_answer(response) else None)
        return review.ended

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]) -> Any:
        """Judge the answer of a tool with ``return_direct``."""
        result: Any = handler(request)
        answer = _direct_answer(request, result)
        return result if answer is None else self._direct(request, result, self.judged(_run_of_tool(request, answer)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> Any:
        """Judge the answer of a tool like :meth:`wrap_tool_call`, for asynchronous code."""
        result: Any = await handler(request)
        answer = _direct_answer(request, result)
        if answer is None:
            return result
        return self._direct(request, result, await self.ajudged(_run_of_tool(request, answer)))

    def shows(self, judgment: Judgment) -> bool:
        """Return whether the user gets the answer."""
        return self.asking.lets_through(judgment) or (self.keeps_failed and judgment.passed is False)

    def _direct(self, request: ToolCallRequest, result: Any, judgment: Judgment) -> Any:
        """Return the result of a tool with its verdict; or the refusal, without the state that the tool writes."""
        if not self.shows(judgment):
            call = request.tool_call
            refusal = ToolMessage(
                self.refusal, tool_call_id=call["id"], name=call["name"], additional_kwargs=self.marks("blocked")
            )
            return Command(update={"messages": [refusal], "jury_verdict": plain_values(without_texts(judgment))})
        update = {"jury_verdict": plain_values(judgment)}
        if isinstance(result, Command):
            written = result.update if isinstance(result.update, Mapping) else None
            return result if written is None else replace(result, update={**written, **update})
        return (
            [*result, Command(update=update)]
            if isinstance(result, list)
            else Command(update={"messages": [result], **update})
        )


@dataclass
class _Review:
    """One call of the model with its drafts.

    Attributes:
        guard: the middleware.
        request: what the model is asked next.
        retried: how often it was asked again in this turn.
        updates: what guards inside this one write to the state for the present draft.
        ended: what enters the state; None while the model is to be asked.
    """

    guard: JuryMiddleware
    request: ModelRequest[Any]
    updates: list[dict[str, Any]] = field(default_factory=list)
    ended: Any = None

    def __post_init__(self) -> None:
        self.state: dict[str, Any] = {**self.request.state}
        self.retried = (self.state.get("jury_retries") or {}).get(self.guard.name, 0)

    @contextmanager
    def drafting(self) -> Iterator[None]:
        """Keep a draft, which may be withheld, out of the streams that show what models say."""
        self.updates = []
        token = _inner.set(self.updates)
        config: RunnableConfig = {**(var_child_runnable_config.get() or {})}
        if not self.guard.shows_all:
            config["callbacks"] = _without_streams(config.get("callbacks"))
        outer = var_child_runnable_config.set(config)
        try:
            yield
        finally:
            var_child_runnable_config.reset(outer)
            _inner.reset(token)

    def run_of(self, response: ModelResponse[Any]) -> Run:
        """Return the run that ends with a draft."""
        said = _said(response)
        return Run(
            kind="agent",
            inputs=_asked(self.state),
            outputs={"messages": response.result, "structured_response": response.structured_response},
            generator=None if said is None else said.response_metadata.get("model_name"),
        )

    def take(self, response: ModelResponse[Any], judgment: Judgment | None) -> None:
        """End the review, or prepare the next request."""
        retries = {"jury_retries": {self.guard.name: self.retried}}
        if judgment is None:  # the model calls tools, or a guard inside has refused the answer
            self.ended = ExtendedModelResponse(response, Command(update=retries)) if self.retried else response
        elif self.guard.shows(judgment):
            self._end(response, {"jury_verdict": plain_values(judgment), **retries})
        elif judgment.status is Status.FAIL and self.retried < self.guard.max_retries:
            self.retried += 1
            self.request = _asked_again(self.request, response, judgment)
        else:
            for update in self.updates:  # their reasons may quote what is withheld
                update.pop("jury_verdict", None)
            said = _said(response)
            refusal = AIMessage(
                self.guard.refusal, name=said and said.name, additional_kwargs=self.guard.marks("blocked")
            )
            verdict = plain_values(without_texts(judgment))
            self._end(ModelResponse(result=[refusal]), {"jury_verdict": verdict, **retries})

    def _end(self, response: ModelResponse[Any], update: dict[str, Any]) -> None:
        around = _inner.get()
        if around is not None:
            around += [*self.updates, update]
        self.ended = ExtendedModelResponse(response, Command(update=update))


def _asked_again(request: ModelRequest[Any], response: ModelResponse[Any], judgment: Judgment) -> ModelRequest[Any]:
    """Return the request with the draft and the reasons. The call of a structured response needs a result."""
    said = (
        f"This answer was reviewed and not accepted. {review_of(judgment)}\n"
        "Put that right and answer again. Do not mention the review."
    )
    answered = {one.tool_call_id for one in response.result if isinstance(one, ToolMessage)}
    calls = [call for one in response.result if isinstance(one, AIMessage) for call in one.tool_calls]
    refused = [
        ToolMessage(said, tool_call_id=call["id"], name=call["name"], status="error")
        for call in calls
        if call["id"] not in answered
    ]
    messages: list[Any] = [*request.messages, *response.result, *refused, HumanMessage(said)]
    return request.override(messages=messages)


def ends_turn(request: ToolCallRequest) -> bool:
    """Return whether an agent answers with the result of a call: all tools that the model called are return_direct."""
    if not getattr(request.tool, "return_direct", False):
        return False
    direct = {tool.name: tool.return_direct for tool in getattr(request.runtime, "tools", None) or ()}
    said = next((one for one in reversed(request.state["messages"]) if isinstance(one, AIMessage)), None)
    return all(direct.get(call["name"], True) for call in (said.tool_calls if said else ()))


def _without_streams(callbacks: Any) -> Any:
    """Return callbacks without those that stream messages and events; the others see every call of the model."""
    if not isinstance(callbacks, BaseCallbackManager):
        return callbacks
    quiet = callbacks.copy()
    for handlers in (quiet.handlers, quiet.inheritable_handlers):
        handlers[:] = [one for one in handlers if not hasattr(one, "tap_output_iter")]
    return quiet


def _said(response: ModelResponse[Any]) -> AIMessage | None:
    return next((one for one in reversed(response.result) if isinstance(one, AIMessage)), None)


def _is_answer(response: ModelResponse[Any]) -> bool:
    said = _said(response)
    if said is None or is_marked(said, "blocked"):
        return False
    return response.structured_response is not None or not said.tool_calls


def _direct_answer(request: ToolCallRequest, result: Any) -> str | None:
    """Return the text with which a tool ends the turn; None if the agent goes on, or hands over to another."""
    parts = result if isinstance(result, list) else [result]
    messages = [one for part in parts for one in _messages_in(part)]
    own = any(isinstance(one, ToolMessage) and one.tool_call_id == request.tool_call["id"] for one in messages)
    left = any(isinstance(part, Command) and part.graph is not None for part in parts)
    if not own or left or not ends_turn(request) or is_marked(messages[-1], "blocked"):
        return None
    return text_of(messages[-1])


def _messages_in(part: Any) -> list[BaseMessage]:
    if not isinstance(part, Command):
        return [part]
    written = part.update.get("messages") if isinstance(part.update, Mapping) else None
    return [*written] if isinstance(written, list | tuple) else []


def _run_of_tool(request: ToolCallRequest, answer: str) -> Run:
    return Run(kind="agent", name=request.tool_call["name"], inputs=_asked(request.state), outputs={"answer": answer})


def _asked(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state with the question of the turn, also if a summary has replaced it."""
    asked, messages = state.get("jury_asked"), state["messages"]
    lost = asked is not None and all(one.id != asked.id for one in messages)
    return {**state, "messages": [asked, *messages] if lost else messages}
