"""Juries as middleware of ``create_agent``: answers and tool calls are judged before they take effect."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from inspect import Signature, signature
from threading import Lock
from typing import Any, ClassVar, Literal, Self
from weakref import WeakKeyDictionary

from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.runs import JudgedRun, Sink
from jury_adapters.core.withheld import without_texts

try:
    from langchain.agents.middleware import AgentMiddleware, hook_config
    from langchain.agents.middleware.types import ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.prebuilt.tool_node import ToolCallRequest
except ImportError as missing:
    raise ConfigurationError(needs_extra("JuryMiddleware", "langchain 1.x", "langchain", "langchain>=1.2")) from missing

from jury_adapters.core.undecided import OnUndecided
from jury_adapters.langchain.agent_cases import case_of_call
from jury_adapters.langchain.agent_guard import MAX_RETRIES, REFUSAL, AgentGuard, OnFail
from jury_adapters.langchain.agent_turns import is_blocked, last_ai, marked, new_turn, rejected_rounds, with_mark
from jury_adapters.langchain.direct_answers import DirectAnswer, ToolResult, ends_turn
from jury_adapters.langchain.drafts import TURNS, Review, Reviewed, attempt_of, is_draft
from jury_adapters.langchain.judged_tools import NamedTools, read_judged_tools
from jury_adapters.langchain.jury_state import JuryState

__all__ = ["REFUSAL", "JuryMiddleware", "JuryState"]

When = Literal["final", "every_model", "tools"]


class JuryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Middleware that judges the answers of an agent, or its tool calls, and acts on the verdict.

    An answer is judged inside the call of the model, before it enters the state. On FAIL with ``on_fail="retry"``, the
    draft and the jury's reasons go back to the model, in that call only, up to ``max_retries`` times per turn. After
    that, or immediately with ``"block"``, the user gets ``refusal``. ``"annotate"`` accepts the answer and
    marks it. A rejected draft is not in the messages, the result, the checkpoints, or the streams of updates and
    values; ``on_verdict`` gets it, and ``keep_drafts=True`` keeps it in a private key of the state.

    Tokens cannot be withheld: ``stream_mode="messages"`` and ``astream_events`` emit the tokens of a draft before it is
    judged. Stream an agent with a jury by ``"updates"`` or ``"values"``. Traces and callbacks also receive every call
    of the model.

    The message with ``refusal`` is marked in ``additional_kwargs["jury"]``: ``kind`` is ``"blocked"``, with
    ``by`` and ``status``. The ``kind`` of an answer that failed and is shown is ``"annotated"``, that of one on which
    the jury did not decide is ``"unjudged"``, and that of the message that replaces a rejected tool call is ``"tool"``.

    Args:
        jury: any judge, or a function of a case. Its case has the question, the answer, the trajectory of this turn,
            the outputs of tools as contexts, and the earlier conversation.
        on_fail: ``"retry"``, ``"block"`` or ``"annotate"``.
        max_retries: the maximum number of retries per turn, only with ``on_fail="retry"``; 0 is the same as
            ``"block"``.
        when: ``"final"``: the final answer of the agent, also a structured one or that of a ``return_direct`` tool,
            unless a tool of another kind is called beside it. The result of a tool is never retried, because no model
            wrote it; if it is withheld, its command is dropped too; a command for the parent graph is a handoff and not
            an answer. ``"every_model"``: every output of the model, including tool calls before they are made.
            ``"tools"``: each tool call, before it is made; a rejected call is not made, and if its result would have
            been the answer, the user gets ``refusal``. List this middleware after those that change a call, such as
            ``HumanInTheLoopMiddleware``: it judges the call that the middlewares before it pass on.
        on_undecided: ``"allow"`` or ``"block"``, without a retry, if the verdict is neither PASS nor FAIL because the
            jury abstains or fails. Default: ``"block"`` for tool calls, unless ``on_fail`` is ``"annotate"``;
            ``"allow"`` for answers. If it is given, it also decides about a FAIL that only failed jurors caused; by
            default such a FAIL is one. For tool calls, a PASS is also no decision if a tier of the jury, or of a nested
            jury, failed; for answers it is one, unless that tier has ``if_broken="reject"``.
        tools: for ``when="tools"``: the names of the tools whose calls to judge; all by default. A name that is not the
            name of a tool of the agent is refused when the model is first called.
        refusal: the text that the user gets instead of a rejected answer. By default, it says that the answer did not
            pass its review, or that it could not be reviewed, where no juror found a fault.
        feedback: a function from the verdict to the text for the model. If it raises, the default text is used.
        field_map: as in :meth:`jury_adapters.Case.from_row`, applied to the agent's state with the draft as its last
            message: paths by field, ``{"contexts": "passages"}``, in addition to the fields that are always read; or a
            function from the state to the case. With ``when="tools"``, the answer and the last step are those of the
            call.
        evidence_tools: names of the agent's tools whose outputs become contexts for the jury, or a predicate of a step.
            :class:`jury_adapters.core.evidence.Evidence` has the default. Unknown names are refused, as in ``tools``.
        on_verdict: called with a :class:`jury_adapters.results.JudgedRun` for each judged draft or tool call, also
            rejected ones, before the agent continues; one function or several, plain or asynchronous. Exceptions are
            logged. ``run.metadata["outcome"]`` is ``"accepted"``, ``"annotated"``, ``"unjudged"`` (let through
            because ``on_undecided`` is ``"allow"``), ``"rejected"`` or ``"blocked"``. A report of the runs counts the
            drafts of one answer as one case.
        keep_drafts: whether ``jury_drafts`` in the state keeps the drafts of this turn that the user did not get. The
            key is not in the result, but it is in checkpoints and in the streams of updates and values.
        name: the name of this middleware, and of its nodes; by default that of the jury, with a number while another
            middleware of the process uses that name for another jury. Set it if it must be the same in every process.
        store: a :class:`jury_adapters.Store`, or its path. It keeps the judgments of drafts and tool calls, and the
            same draft in the same conversation is judged again without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this middleware judges; a juror whose call does not
            fit abstains with ``budget_exhausted``, and ``on_undecided`` decides.

    Raises:
        ConfigurationError: ``jury`` is not a judge, every judge in it needs a field that a turn does not come with,
            such as a reference or a second answer, so that it would judge none, or the value of an option is invalid.
            When the agent runs: it has no tool with one of the names in ``tools`` or ``evidence_tools``.

    >>> agent = create_agent(model, tools, middleware=[JuryMiddleware(jury)])  # doctest: +SKIP
    >>> agent.invoke({"messages": [("user", "...")]})["jury_verdict"]["status"]  # doctest: +SKIP
    'PASS'
    """

    state_schema = JuryState
    _advice = "Put that right and try again. Do not speak of the review."
    _kinds: ClassVar[dict[str, type[JuryMiddleware]]] = {}
    __signature__: ClassVar[Signature]

    def __new__(cls, *_: object, when: str = "final", **__: object) -> JuryMiddleware:
        """Create an object of the class for ``when``; LangChain inspects the class to find its hooks."""
        if not isinstance(when, str) or when not in JuryMiddleware._kinds:
            raise ConfigurationError(unknown("when=", when, JuryMiddleware._kinds))
        return object.__new__(JuryMiddleware._kinds[when] if cls is JuryMiddleware else cls)

    @explains_wrong_calls(
        "JuryMiddleware(jury, on_fail='retry')",
        order="the jury comes first, the rest by name",
        needs="a jury is missing",
    )
    def __init__(
        self,
        jury: JudgeLike,
        *,
        on_fail: OnFail = "retry",
        max_retries: int = MAX_RETRIES,
        when: When = "final",
        on_undecided: OnUndecided | None = None,
        tools: Sequence[str] | None = None,
        refusal: str = REFUSAL,
        feedback: Callable[[Judgment], str] | None = None,
        field_map: FieldMapLike | None = None,
        evidence_tools: EvidenceTools = None,
        on_verdict: Sink | Sequence[Sink] | None = None,
        keep_drafts: bool = False,
        name: str | None = None,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        super().__init__()
        if tools is not None and when != "tools":
            raise ConfigurationError("tools= is a list of names, and goes with when='tools'")
        if feedback is not None and on_fail in ("block", "annotate") and when != "tools":
            raise ConfigurationError(f"feedback= goes with on_fail='retry': with on_fail={on_fail!r} no model gets it")
        self._guard = AgentGuard(
            jury,
            on_fail=on_fail,
            max_retries=max_retries,
            on_undecided=on_undecided,
            refusal=refusal,
            feedback=feedback,
            field_map=field_map,
            evidence_tools=evidence_tools,
            on_verdict=on_verdict,
            keep_drafts=keep_drafts,
            store=store,
            budget=budget,
            advice=self._advice,
        )
        self.when = when
        self._judged_tools = None if tools is None else read_judged_tools(tools)
        self._named_tools = NamedTools(self._judged_tools, self._guard.evidence)
        self._guard.name = _name(self, jury, name)

    def __copy__(self) -> Self:
        made: Self = object.__new__(type(self))
        vars(made).update(vars(self))
        with _NAMING:
            _GIVEN[made] = _GIVEN[self]
        return made

    def __deepcopy__(self, memo: object) -> Self:
        """Return a copy with the same judge, store and budget, which cannot be copied themselves."""
        return self.__copy__()

    @property
    def name(self) -> str:
        return self._guard.name

    @property
    def jury(self) -> Judge:
        """Judge of the middleware."""
        return self._guard.jury


class _ModelJury(JuryMiddleware):
    """Middleware around the model, which judges a draft before it becomes a message of the state."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Start a turn: reset the verdict, the attempts and the drafts."""
        turn = new_turn(state["messages"])
        drafts: dict[str, Any] = {"jury_drafts": None} if self._guard.keep_drafts else {}
        return {"jury_verdict": None, "jury_attempts": {}, "jury_turn": turn, **drafts}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Reviewed:
        self._named_tools.check(request)
        review = Review.of(self._guard, request)
        while True:
            with review.asking() as wanted:
                response = handler(wanted)
            if not is_draft(response, every=self.when == "every_model"):
                return review.leave(response)
            case, judgment = self._guard.judged(partial(review.case_of, response), request)
            outcome, run = review.decide(response, case, judgment)
            self._guard.tell(run)
            if outcome != "rejected":
                return review.conclude(response, outcome, judgment)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Reviewed:
        self._named_tools.check(request)
        review = Review.of(self._guard, request)
        while True:
            with review.asking() as wanted:
                response = await handler(wanted)
            if not is_draft(response, every=self.when == "every_model"):
                return review.leave(response)
            case, judgment = await self._guard.ajudged(partial(review.case_of, response), request)
            outcome, run = review.decide(response, case, judgment)
            await self._guard.atell(run)
            if outcome != "rejected":
                return review.conclude(response, outcome, judgment)

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """End the turn after a refusal, also if a structured response is still due.

        Another middleware may have used an earlier answer of the model than the last one, or changed the refusal.
        """
        said, turn = last_ai(state["messages"]), TURNS.of(state)
        if turn.outermost in (None, self.name):
            TURNS.forget(state)
        update: dict[str, Any] = {}
        if is_blocked(said, self.name) or (turn.blocked_by == self.name and said is not None and not said.tool_calls):
            update["jump_to"] = "end"
            if state.get("structured_response") is not None:  # from an earlier turn; older releases leave it in place
                update["structured_response"] = None
        verdict = turn.verdicts.get(None if said is None else said.id)
        if verdict is not None and verdict != state.get("jury_verdict"):
            update["jury_verdict"] = verdict
        return update or None


class _FinalJury(_ModelJury):
    """Middleware around the model, and around tools whose result is the answer."""

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]) -> ToolResult:
        result = handler(request)
        answer = DirectAnswer.of(request, result)
        if answer is None:
            return result
        case, judgment = self._guard.judged(lambda: self._guard.case_of(answer.after(request.state)), request)
        run, given = self._decided(answer, request.state, case, judgment)
        self._guard.tell(run)
        return given

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        result = await handler(request)
        answer = DirectAnswer.of(request, result)
        if answer is None:
            return result
        case, judgment = await self._guard.ajudged(lambda: self._guard.case_of(answer.after(request.state)), request)
        run, given = self._decided(answer, request.state, case, judgment)
        await self._guard.atell(run)
        return given

    def _decided(
        self, answer: DirectAnswer, state: Mapping[str, Any], case: Case | None, judgment: Judgment
    ) -> tuple[JudgedRun, ToolResult]:
        """Decide on a tool result that is the answer; no model wrote it, so there is no retry."""
        guard = self._guard
        outcome = guard.outcome_of(judgment, calls=False, attempts=guard.max_retries)
        run = guard.run_of(None, "agent", case, judgment, outcome=outcome, **attempt_of(state, guard.name))
        if outcome == "blocked":
            update: dict[str, Any] = {"jury_verdict": without_texts(judgment).to_dict()}
            if guard.keep_drafts:
                update["jury_drafts"] = [guard.draft_of(case, judgment, text=answer.text)]
            return run, answer.refused(guard.refusal_of(judgment, like=None), update)
        mark = None if outcome == "accepted" else partial(with_mark, kind=outcome, by=guard.name, judgment=judgment)
        return run, answer.given({"jury_verdict": judgment.to_dict()}, mark)


class _ToolJury(JuryMiddleware):
    """Middleware around each tool call, and around the model to end a turn in which too many calls were rejected."""

    # A forbidden action cannot be corrected, so the model needs an alternative to another try.
    _advice = (
        "Do not make the same call again. Go on without it, or with a call that this does not speak against; where "
        "neither is possible, tell the user what you could not do."
    )

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Start a turn, unless a jury of answers has started it."""
        turn = new_turn(state["messages"])
        return None if turn["asked"] == (state.get("jury_turn") or {}).get("asked") else {"jury_turn": turn}

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]) -> ToolResult:
        if not self._is_judged(request):
            return handler(request)
        case, judgment = self._guard.judged(lambda: case_of_call(request, self._guard.case_of), request)
        run, refusal = self._decided(request, case, judgment)
        self._guard.tell(run)
        return self._noted(handler(request), run) if refusal is None else refusal

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        if not self._is_judged(request):
            return await handler(request)
        case, judgment = await self._guard.ajudged(lambda: case_of_call(request, self._guard.case_of), request)
        run, refusal = self._decided(request, case, judgment)
        await self._guard.atell(run)
        return self._noted(await handler(request), run) if refusal is None else refusal

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        self._named_tools.check(request)
        return self._ended(request) or handler(request)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        self._named_tools.check(request)
        return self._ended(request) or await handler(request)

    def _ended(self, request: ModelRequest[Any]) -> AIMessage | None:
        """Return the refusal if the last round had a rejected call and exceeded the number of attempts."""
        state: Any = request.state
        messages = state["messages"]
        rounds, judgment = rejected_rounds(messages, self.name, (state.get("jury_turn") or {}).get("asked"))
        if judgment is None or rounds <= self._guard.max_retries:
            return None
        return self._guard.refusal_of(judgment, like=last_ai(messages))

    def _is_judged(self, request: ToolCallRequest) -> bool:
        return self._judged_tools is None or request.tool_call["name"] in self._judged_tools

    def _decided(
        self, request: ToolCallRequest, case: Case | None, judgment: Judgment
    ) -> tuple[JudgedRun, ToolMessage | None]:
        """Decide on a call: return the run for the sinks, and the message that replaces a rejected call."""
        call, guard = request.tool_call, self._guard
        outcome = guard.outcome_of(judgment, calls=True, attempts=0)
        rejected, ends = outcome in ("rejected", "blocked"), ends_turn(request)
        if rejected:
            outcome = "blocked" if ends else "rejected"
        run = guard.run_of(call["id"], "tool", case, judgment, outcome=outcome, tool=call["name"])
        if not rejected:
            return run, None
        if ends:  # the user reads the message, and no model does
            refusal = guard.refusal_of(judgment, like=None)
            said, extra = str(refusal.text), refusal.additional_kwargs
        else:
            said, extra = f"This call was not made. {guard.feedback_of(judgment)}", marked("tool", guard.name, judgment)
        instead = ToolMessage(said, tool_call_id=call["id"], name=call["name"], status="error", additional_kwargs=extra)
        return run, instead

    def _noted(self, result: ToolResult, run: JudgedRun) -> ToolResult:
        if not isinstance(result, ToolMessage):
            return result
        return with_mark(result, str(run.run.metadata["outcome"]), self.name, run.judgment)


def _name(middleware: JuryMiddleware, jury: object, name: str | None) -> str:
    """Return the given name, or one derived from the jury's name that no middleware with another jury uses.

    Middlewares of one jury share a name, so an application that builds its agent for each request gets the same node
    names every time.
    """
    if name is not None and (not isinstance(name, str) or not name.strip() or set(name) & set(_RESERVED)):
        raise ConfigurationError(
            f"name= is a text without ':' and '|', which LangGraph reserves; not {plain_repr(name)}"
        )
    with _NAMING:
        if name is None:
            stem = re.sub(f"[{_RESERVED}]+", " ", middleware.jury.name).strip() or "jury"
            stem = stem if middleware.when == "final" else f"{stem} {middleware.when}"
            taken = {one.name for one, given in _GIVEN.items() if given is not jury}
            numbered = (f"{stem} {number}" for number in range(2, len(taken) + 3))
            name = next(one for one in (stem, *numbered) if one not in taken)
        _GIVEN[middleware] = jury
        middleware._guard.name = name
    return name


def _without_self(method: Callable[..., object]) -> Signature:
    shown = signature(method)
    return shown.replace(parameters=list(shown.parameters.values())[1:])


JuryMiddleware._kinds.update(final=_FinalJury, every_model=_ModelJury, tools=_ToolJury)
# Shown by help() and editors; `__new__` only declares `when`.
JuryMiddleware.__signature__ = _without_self(JuryMiddleware.__init__)
_RESERVED = ":|"
_NAMING = Lock()
_GIVEN: WeakKeyDictionary[JuryMiddleware, object] = WeakKeyDictionary()
