"""Juries as middleware of ``create_agent``: what the agent says or does is judged before it counts."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import Signature, signature
from typing import Annotated, Any, ClassVar, Literal, NotRequired

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.context import judging
from jury_adapters.core.conversation import MARK, is_review, mark_of
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.given import JudgeLike, judge_of
from jury_adapters.core.journal import StoreLike
from jury_adapters.core.judgment import Judgment, Status, broken
from jury_adapters.core.loose_values import text_of
from jury_adapters.core.scope import Scope
from jury_adapters.langchain.fields import Fields
from jury_adapters.langchain.runnable import reasons_of
from jury_adapters.langchain.turns import answers, asked_last, spoke, this_turn, without_mark
from jury_adapters.models.langchain_binding import unheard

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
    from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
    from langgraph.channels.untracked_value import UntrackedValue
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command
except ImportError as missing:
    raise ConfigurationError(
        "JuryMiddleware needs langchain 1.x: pip install 'jury-adapters[langchain]' 'langchain>=1.2'"
    ) from missing

_log = logging.getLogger(__name__)

OnFail = Literal["retry", "block", "annotate"]
When = Literal["final", "every_model", "tools"]
BLOCKED = "I cannot give an answer to this: what I had to say did not pass its review."


class JuryState(AgentState[Any]):
    """What a jury keeps in the agent's state: plain values, so that every checkpointer can store them.

    Attributes:
        jury_verdict: the last verdict of this turn, as :meth:`Judgment.to_dict` gives it.
        jury_attempts: how often each jury has sent the model back in this turn; never stored.
    """

    jury_verdict: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    jury_attempts: NotRequired[Annotated[dict[str, int], UntrackedValue, PrivateStateAttr]]


class JuryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Judges what an agent answers, or does, and acts on it.

    On FAIL with ``on_fail="retry"`` the jury's reasons go to the model as a message, up to ``max_attempts`` times a
    turn; then, as with ``"block"`` at once, the answer is replaced by ``blocked_message``. ``"annotate"`` only marks
    it. Every message that a jury has rejected, written or marked says so in ``additional_kwargs["jury"]``: ``kind``
    (``"rejected"``, ``"feedback"``, ``"blocked"``, ``"annotated"``, ``"tool"``), status and reasons. The last verdict
    of the turn is ``jury_verdict`` in the state.

    What was streamed to the user before it was judged, was streamed. An agent with a jury should stream its updates,
    not its tokens.

    Args:
        jury: any judge, or a function of a case. Its case has the question, the answer, the trajectory of this turn, as
            contexts what the tools returned, and the conversation before.
        on_fail: ``"retry"``, ``"block"`` or ``"annotate"``.
        max_attempts: how often a turn the model is sent back at most; 0 is ``"block"``.
        when: ``"final"``: the answer with which the agent ends (structured ones and those of ``return_direct`` tools
            too). ``"every_model"``: everything that the model says, tool calls included, before they are made.
            ``"tools"``: each tool call, before it is made; a rejected one is not made.
        on_abstain: what ABSTAIN means (and a label that neither passes nor fails): ``"pass"`` or ``"fail"``.
        on_error: what it means when the jury breaks (its verdict is ERROR): ``"pass"`` (fail open) or ``"block"`` (fail
            closed; no retry, as the model can do nothing about it). What a broken juror means to a panel in which
            others still vote, says the panel's own ``errors=``.
        tools: for ``when="tools"``: the names of those to judge; all by default.
        blocked_message: what the user is told instead.
        feedback: from the verdict to what the model is told. Where it raises, that is logged, and the model is told
            what it would be told without it.
        case: from the agent's state to the case, in place of the above; the messages that the jury rejected or wrote
            are not in it.
        name: the name of this middleware; an agent with several juries needs one for each. ``jury_verdict`` is then
            that of the jury which judged last: for ``"final"`` the first one in the list, for LangChain goes through
            it backwards there.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for all that this middleware judges; a juror whose call does not fit
            abstains with ``budget_exhausted``, and ``on_abstain`` decides.

    Raises:
        ConfigurationError: what is given is no judge, or an option is none of its values.

    >>> agent = create_agent(model, tools, middleware=[JuryMiddleware(jury)])  # doctest: +SKIP
    >>> agent.invoke({"messages": [("user", "...")]})["jury_verdict"]["status"]  # doctest: +SKIP
    'PASS'
    """

    state_schema = JuryState
    _advice = "Put that right and try again. Do not speak of the review."
    _kinds: ClassVar[dict[str, type[JuryMiddleware]]] = {}
    __signature__: ClassVar[Signature]

    def __new__(cls, *_: object, when: str = "final", **__: object) -> JuryMiddleware:
        """Each ``when`` hooks into the agent elsewhere, and LangChain looks at the class to see where."""
        if when not in JuryMiddleware._kinds:
            raise ConfigurationError(unknown("when=", when, JuryMiddleware._kinds))
        return object.__new__(JuryMiddleware._kinds[when] if cls is JuryMiddleware else cls)

    def __init__(
        self,
        jury: JudgeLike,
        *,
        on_fail: OnFail = "retry",
        max_attempts: int = 2,
        when: When = "final",
        on_abstain: Literal["pass", "fail"] = "pass",
        on_error: Literal["pass", "block"] = "pass",
        tools: Sequence[str] | None = None,
        blocked_message: str = BLOCKED,
        feedback: Callable[[Judgment], str] | None = None,
        case: Callable[[Mapping[str, Any]], Case] | None = None,
        name: str = "JuryMiddleware",
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        super().__init__()
        self.jury = judge_of(jury)
        self._scope = Scope.of(self.jury, store, budget)
        for option, value, known in (
            ("on_fail=", on_fail, ("retry", "block", "annotate")),
            ("on_abstain=", on_abstain, ("pass", "fail")),
            ("on_error=", on_error, ("pass", "block")),
        ):
            if value not in known:
                raise ConfigurationError(unknown(option, value, known))
        if isinstance(max_attempts, bool) or not isinstance(max_attempts, int) or max_attempts < 0:
            raise ConfigurationError(f"max_attempts is a whole number from 0, not {max_attempts!r}")
        if tools is not None and (when != "tools" or isinstance(tools, str)):
            raise ConfigurationError("tools= is a list of names, and goes with when='tools'")
        if not isinstance(blocked_message, str) or not blocked_message.strip():
            raise ConfigurationError(f"blocked_message is what the user is told instead, not {blocked_message!r}")
        self.when = when
        self._on_fail = on_fail
        self._max_attempts = max_attempts if on_fail == "retry" else 0
        self._on_abstain = on_abstain
        self._on_error = on_error
        self._judged_tools = None if tools is None else frozenset(tools)
        self._blocked_message = blocked_message
        self._feedback = feedback
        self._case = case
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """A new turn: no verdict yet, no attempts, and nothing that the user passes off as a jury's."""
        unmarked = [without_mark(one) for one in asked_last(state["messages"]) if mark_of(one)]
        return {"jury_verdict": None, "jury_attempts": {}, **({"messages": unmarked} if unmarked else {})}

    def _judged(self, make: Callable[[], Case]) -> Judgment:
        try:
            with judging(), unheard(), self._scope.applied():
                return self.jury.judge(make())
        except Exception as error:  # the user's function that makes the case
            return broken(error)

    async def _ajudged(self, make: Callable[[], Case]) -> Judgment:
        try:
            with judging(), unheard(), self._scope.applied():
                return await self.jury.ajudge(make())
        except Exception as error:
            return broken(error)

    def _told(self, judgment: Judgment) -> str:
        """What the model is told."""
        if self._feedback is not None:
            try:
                return str(self._feedback(judgment))
            except Exception:
                _log.exception("feedback= raised, so the model is told the jury's reasons as they are")
        why = _clipped(reasons_of(judgment)) or "no reason was given"
        return f"It was reviewed and not accepted: {why}\n{self._advice}"

    def _accepts(self, judgment: Judgment) -> bool:
        if judgment.status is Status.ERROR:
            return self._on_error == "pass"
        if judgment.status in (Status.PASS, Status.FAIL):
            return judgment.status is Status.PASS
        return self._on_abstain == "pass"

    def _attempts(self, state: Any) -> int:
        """How often the model was sent back in this turn: by the state, and after a pause by the messages."""
        counted: dict[str, int] = state.get("jury_attempts") or {}
        marks = [mark_of(one) for one in this_turn(state["messages"])]
        sent_back = sum(mark.get("kind") == "feedback" and mark.get("by") == self._name for mark in marks)
        return max(counted.get(self._name, 0), sent_back)

    def _counted(self, state: Any, attempts: int) -> dict[str, int]:
        return {**(state.get("jury_attempts") or {}), self._name: attempts}

    def _marked(self, kind: str, judgment: Judgment) -> dict[str, Any]:
        said = {"kind": kind, "by": self._name, "status": judgment.status and str(judgment.status)}
        return {MARK: {**said, "reasons": _clipped(reasons_of(judgment) or judgment.error or "")}}

    def _with_mark(self, message: Any, kind: str, judgment: Judgment, **update: Any) -> Any:
        """The same message (so the one in the state is replaced), marked."""
        extra = {**message.additional_kwargs, **self._marked(kind, judgment)}
        return message.model_copy(update={"additional_kwargs": extra, **update})

    def _blocked(self, judgment: Judgment, message_id: str | None = None) -> AIMessage:
        return AIMessage(self._blocked_message, id=message_id, additional_kwargs=self._marked("blocked", judgment))

    def _acted_on(self, state: Any, judgment: Judgment) -> dict[str, Any]:
        """What becomes of the model's last words."""
        verdict = {"jury_verdict": judgment.to_dict()}
        last = state["messages"][-1]
        if self._accepts(judgment):
            return verdict
        if self._on_fail == "annotate" and judgment.status is not Status.ERROR:
            return {**verdict, "messages": [self._with_mark(last, "annotated", judgment)]}
        attempts = self._attempts(state)
        calls = last.tool_calls if isinstance(last, AIMessage) else ()
        if judgment.status is Status.ERROR or attempts >= self._max_attempts:
            if isinstance(last, AIMessage):
                messages = [self._blocked(judgment, last.id)]
            else:
                withheld = self._with_mark(last, "blocked", judgment, content=self._blocked_message, artifact=None)
                messages = [withheld, self._blocked(judgment)]
            gone = {"structured_response": None} if "structured_response" in state else {}
            return {**verdict, **gone, "messages": messages, "jump_to": "end"}
        said = self._told(judgment)
        # A tool call without its result in the conversation is an error to most vendors.
        refused = [ToolMessage(said, tool_call_id=call["id"], name=call["name"], status="error",
                               additional_kwargs=self._marked("rejected", judgment)) for call in calls]  # fmt: skip
        asked = HumanMessage(said, additional_kwargs=self._marked("feedback", judgment))
        return {
            **verdict,
            "messages": [self._with_mark(last, "rejected", judgment), *refused, asked],
            "jury_attempts": self._counted(state, attempts + 1),
            "jump_to": "model",
        }

    def _case_of(self, state: Mapping[str, Any], structured: object = None) -> Case:
        """The turn as a case, without what a jury rejected or wrote in it."""
        kept = [one for one in state["messages"] if not is_review(one)]
        if self._case is not None:
            return self._case({**state, "messages": kept})
        found = _FIELDS.case(None, {"messages": kept})
        last = kept[-1] if kept else None
        update: dict[str, Any] = {}
        if structured is not None:
            update["answer"] = text_of(structured)
        elif found.answer is None and last is not None and last.text:
            update["answer"] = str(last.text)
        named = [one.response_metadata.get("model_name") for one in kept if isinstance(one, AIMessage)]
        update["generator"] = next((name for name in reversed(named) if isinstance(name, str)), None)
        return found.model_copy(update=update)


class _FinalJury(JuryMiddleware):
    """After the agent: whichever way it ended."""

    @hook_config(can_jump_to=["model", "end"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._acted_on(state, self._judged(lambda: self._ended(state))) if answers(state) else None

    @hook_config(can_jump_to=["model", "end"])
    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._acted_on(state, await self._ajudged(lambda: self._ended(state))) if answers(state) else None

    def _ended(self, state: Any) -> Case:
        by_tool = isinstance(state["messages"][-1], ToolMessage)
        return self._case_of(state, state.get("structured_response") if by_tool else None)


class _ModelJury(JuryMiddleware):
    """After each time the model spoke."""

    @hook_config(can_jump_to=["model", "end"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._acted_on(state, self._judged(lambda: self._case_of(state))) if spoke(state) else None

    @hook_config(can_jump_to=["model", "end"])
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._acted_on(state, await self._ajudged(lambda: self._case_of(state))) if spoke(state) else None


class _ToolJury(JuryMiddleware):
    """Around each tool call; and before the model, to end a turn in which too many were rejected."""

    # What may not be done at all cannot be put right: the model must have a way out beside another try.
    _advice = (
        "Do not make the same call again. Go on without it, or with a call that this does not speak against; where "
        "neither is possible, tell the user what you could not do."
    )

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        if not self._is_judged(request):
            return handler(request)
        judgment = self._judged(lambda: self._call_case(request))
        return self._refused(request, judgment) or self._noted(handler(request), judgment)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        if not self._is_judged(request):
            return await handler(request)
        judgment = await self._ajudged(lambda: self._call_case(request))
        return self._refused(request, judgment) or self._noted(await handler(request), judgment)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Count the round if a call of it was rejected, and end the turn when that was one too many."""
        messages = state["messages"]
        last = max((i for i, one in enumerate(messages) if isinstance(one, AIMessage)), default=len(messages))
        rejected = [mark for one in messages[last + 1 :] if (mark := mark_of(one)).get("kind") == "tool"]
        own = [mark for mark in rejected if mark.get("by") == self._name]
        if not own:
            return None
        attempts = max((state.get("jury_attempts") or {}).get(self._name, 0) + 1, self._rounds(messages))
        counted = {"jury_attempts": self._counted(state, attempts)}
        if attempts <= self._max_attempts and own[-1].get("status") != Status.ERROR:
            return counted
        ended = AIMessage(self._blocked_message, additional_kwargs={MARK: {**own[-1], "kind": "blocked"}})
        return {**counted, "messages": [ended], "jump_to": "end"}

    def _rounds(self, messages: Sequence[AnyMessage]) -> int:
        rounds, rejected = 0, False
        for one in (*this_turn(messages), AIMessage("")):
            if isinstance(one, AIMessage):
                rounds, rejected = rounds + rejected, False
            mark = mark_of(one)
            rejected = rejected or (mark.get("kind") == "tool" and mark.get("by") == self._name)
        return rounds

    def _is_judged(self, request: ToolCallRequest) -> bool:
        return self._judged_tools is None or request.tool_call["name"] in self._judged_tools

    def _call_case(self, request: ToolCallRequest) -> Case:
        """The turn so far, and the one call to judge as its last step."""
        call = request.tool_call
        found = self._case_of(request.state)
        done = tuple(step for step in found.trajectory if step.output is not None or step.error is not None)
        step = Step(tool=call["name"], arguments=call["args"])
        wanted = f"Calls the tool {call['name']} with {json.dumps(call['args'], ensure_ascii=False, default=str)}"
        return found.model_copy(update={"answer": wanted, "trajectory": (*done, step)})

    def _refused(self, request: ToolCallRequest, judgment: Judgment) -> ToolMessage | None:
        if self._accepts(judgment) or (self._on_fail == "annotate" and judgment.status is not Status.ERROR):
            return None
        call = request.tool_call
        said = f"This call was not made. {self._told(judgment)}"
        extra = self._marked("tool", judgment)
        return ToolMessage(said, tool_call_id=call["id"], name=call["name"], status="error", additional_kwargs=extra)

    def _noted(self, result: ToolMessage | Command[Any], judgment: Judgment) -> ToolMessage | Command[Any]:
        if self._accepts(judgment) or not isinstance(result, ToolMessage):
            return result
        noted: ToolMessage = self._with_mark(result, "annotated", judgment)
        return noted


def _without_self(method: Callable[..., object]) -> Signature:
    shown = signature(method)
    return shown.replace(parameters=list(shown.parameters.values())[1:])


JuryMiddleware._kinds.update(final=_FinalJury, every_model=_ModelJury, tools=_ToolJury)
# What help() and editors show; `__new__` knows only of `when`.
JuryMiddleware.__signature__ = _without_self(JuryMiddleware.__init__)


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_REASONS else f"{text[:_LONGEST_REASONS]}..."


_LONGEST_REASONS = 4000
_FIELDS = Fields()
