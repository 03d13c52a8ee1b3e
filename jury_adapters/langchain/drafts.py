"""Drafts of an agent's answer: judged before they enter the state, then accepted, sent back or replaced."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final, Self, TypeAlias

from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langgraph.types import Command

from jury_adapters.core.case import Case
from jury_adapters.core.conversation import text_of_message
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.runs import JudgedRun
from jury_adapters.core.withheld import without_texts
from jury_adapters.langchain.agent_guard import AgentGuard, Outcome
from jury_adapters.langchain.agent_turns import is_blocked, last_ai, open_calls, sent_back, with_mark

Reviewed: TypeAlias = ModelResponse[Any] | ExtendedModelResponse[Any]


@dataclass(slots=True)
class Turn:
    """Results of the reviews of a turn that may not be in the agent's state yet.

    Another middleware may ask the model several times within one step of the agent, and the state does not change
    before the step is over.

    Attributes:
        attempts: by the name of a jury, the number of times that it sent the model back in this turn.
        drafts: the drafts that the user does not get and that the state does not have yet, if it is to keep them.
        verdicts: the verdicts as plain values, by the id of the message that the agent continued with.
        blocked_by: the name of the jury that wrote a refusal in the last call of the model.
        outermost: the name of the jury that writes the results into the state.
    """

    attempts: dict[str, int] = field(default_factory=dict)
    drafts: list[dict[str, Any]] = field(default_factory=list)
    verdicts: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    blocked_by: str | None = None
    outermost: str | None = None


class Turns:
    """Turns under way, by their id.

    Args:
        most: the maximum number of turns kept. A turn in which the agent is stopped is never removed otherwise.
    """

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._kept: OrderedDict[str, Turn] = OrderedDict()
        self._lock = Lock()

    def of(self, state: Mapping[str, Any]) -> Turn:
        """Return the turn of a state; a new one if the state does not name one."""
        key = turn_id(state)
        if key is None:
            return Turn()
        with self._lock:
            turn = self._kept.setdefault(key, Turn())
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return turn

    def forget(self, state: Mapping[str, Any]) -> None:
        """Forget a turn, once the state has its results."""
        with self._lock:
            self._kept.pop(turn_id(state) or "", None)


@dataclass(slots=True)
class ModelCall:
    """Call of the model by the outermost jury, which also writes the results of the juries inside it.

    If several juries updated one key, the update of the model's node would become a list, which most readers of
    ``stream_mode="updates"`` do not expect.

    Attributes:
        turn_id: the id of the turn.
        turn: the results of the turn.
        verdict: the verdict of the outermost jury that judged the last draft, as plain values.
    """

    turn_id: str | None
    turn: Turn
    verdict: dict[str, Any] | None = None


@dataclass(slots=True)
class Review:
    """Review of the drafts of one model call.

    Attributes:
        guard: the jury and its options.
        request: the next request to the model; the request of a retry ends with the rejected drafts and the feedback.
        call: the call of the model.
        outermost: whether no other jury encloses this one.
    """

    guard: AgentGuard
    request: ModelRequest[Any]
    call: ModelCall
    outermost: bool

    @classmethod
    def of(cls, guard: AgentGuard, request: ModelRequest[Any]) -> Self:
        """Start the review of one call."""
        around, key = _CALL.get(), turn_id(request.state)
        if around is not None and key is not None and around.turn_id == key:
            return cls(guard, request, around, outermost=False)
        turn = TURNS.of(request.state)
        turn.blocked_by, turn.outermost = None, guard.name
        return cls(guard, request, ModelCall(key, turn), outermost=True)

    @contextmanager
    def asking(self) -> Iterator[ModelRequest[Any]]:
        """Yield the next request, for the model or for the juries inside this one."""
        self.call.verdict = None
        token = _CALL.set(self.call)
        try:
            yield self.request
        finally:
            _CALL.reset(token)

    @property
    def attempts(self) -> int:
        """Number of times that the jury has sent the model back in this turn."""
        known = _attempts_in(self.request.state).get(self.guard.name, 0)
        return max(known, self.call.turn.attempts.get(self.guard.name, 0))

    def case_of(self, response: ModelResponse[Any]) -> Case:
        """Return the case of a draft.

        Raises:
            Exception: any exception that a function of the application raises.
        """
        messages = [*self.request.state["messages"], *response.result]
        state = {**self.request.state, "messages": messages, "structured_response": response.structured_response}
        return self.guard.case_of(state, self.request.response_format)

    def decide(self, response: ModelResponse[Any], case: Case | None, judgment: Judgment) -> tuple[Outcome, JudgedRun]:
        """Return the outcome of a draft and the run for the sinks; a rejected draft is part of the next request."""
        draft = last_ai(response.result)
        outcome = self.guard.outcome_of(judgment, calls=bool(open_calls(response.result)), attempts=self.attempts)
        run = self.guard.run_of(
            None if draft is None else draft.id, "agent", case, judgment,
            outcome=outcome, **attempt_of(self.request.state, self.guard.name, self.attempts),
        )  # fmt: skip
        if outcome in ("rejected", "blocked") and self.guard.keep_drafts:
            text = "" if draft is None else text_of_message(draft)
            self.call.turn.drafts.append(self.guard.draft_of(case, judgment, text=text))
        if outcome == "rejected":
            self.call.turn.attempts[self.guard.name] = self.attempts + 1
            said = sent_back(response.result, self.guard.feedback_of(judgment))
            self.request = self.request.override(messages=[*self.request.messages, *said])
        return outcome, run

    def conclude(self, response: ModelResponse[Any], outcome: Outcome, judgment: Judgment) -> Reviewed:
        """Return the response that enters the state instead of a judged draft."""
        draft = last_ai(response.result)
        if outcome == "blocked":
            self.call.turn.blocked_by = self.guard.name
            refusal = self.guard.refusal_of(judgment, like=draft)
            response = ModelResponse(result=[refusal], structured_response=None)
            judgment = without_texts(judgment)
        elif outcome != "accepted" and draft is not None:
            shown = with_mark(draft, outcome, self.guard.name, judgment)
            response = _with_draft(response, draft, additional_kwargs=shown.additional_kwargs)
        self.call.verdict = judgment.to_dict()
        return self.leave(response)

    def leave(self, response: ModelResponse[Any]) -> Reviewed:
        """Return a response, together with the update to write into the state."""
        draft, turn, verdict = last_ai(response.result), self.call.turn, self.call.verdict
        if verdict is not None and draft is not None:
            if draft.id is None:
                response = _with_draft(response, draft, id=str(uuid.uuid4()))
            turn.verdicts[getattr(last_ai(response.result), "id", None)] = verdict
        if not self.outermost:
            return response
        update: dict[str, Any] = {}
        if verdict is not None:
            update["jury_verdict"] = verdict
        if turn.attempts:
            update["jury_attempts"] = {**_attempts_in(self.request.state), **turn.attempts}
        if turn.drafts:
            update["jury_drafts"] = list(turn.drafts)
        return ExtendedModelResponse(response, Command(update=update)) if update else response


def turn_id(state: Mapping[str, Any]) -> str | None:
    """Return the id of a turn; None for a state that no jury has seen."""
    found: str | None = (state.get("jury_turn") or {}).get("id")
    return found


def attempt_of(state: Mapping[str, Any], by: str, sent_back: int = 0) -> dict[str, object]:
    """Return the metadata of the run of an answer: the turn, and the number of the attempt at its answer, from 0.

    Args:
        state: the state of the agent.
        by: the name of the jury.
        sent_back: the number of times that the jury has sent the model back, if the state may not have all.
    """
    number, turn = max(sent_back, _attempts_in(state).get(by, 0)), turn_id(state)
    return {"attempt": number} if turn is None else {"attempt": number, "jury_turn": turn}


def is_draft(response: ModelResponse[Any], *, every: bool) -> bool:
    """Whether a response is to be judged as an answer; with ``every``, also if it calls tools.

    A message that another jury wrote to replace an answer is not judged.
    """
    said = last_ai(response.result)
    if said is None or is_blocked(said):
        return False
    return every or response.structured_response is not None or not said.tool_calls


def _attempts_in(state: Mapping[str, Any]) -> Mapping[str, int]:
    return state.get("jury_attempts") or {}


def _with_draft(response: ModelResponse[Any], draft: AIMessage, **update: Any) -> ModelResponse[Any]:
    """Return the response with a changed copy of its draft."""
    changed = draft.model_copy(update=update)
    return replace(response, result=[changed if one is draft else one for one in response.result])


_CALL: ContextVar[ModelCall | None] = ContextVar("jury_adapters_model_call", default=None)
TURNS: Final = Turns()
