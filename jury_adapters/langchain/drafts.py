"""Drafts of an agent's answer: judged before they enter the state, sent back, replaced or let through."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple, Self, TypeAlias

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.runs import JudgedRun
from jury_adapters.core.values import freeze_mapping
from jury_adapters.core.verdict import Verdict
from jury_adapters.langchain.agent_guard import AgentGuard, Outcome
from jury_adapters.langchain.turns import is_blocked, last_ai, marked, open_calls, sent_back

TurnKey: TypeAlias = tuple[str | None, str | None]
"""Ids of a turn and of a message."""


class Pending(NamedTuple):
    """Result of a review, to be written into the state.

    Attributes:
        verdict: of the last draft, as plain values; None where the model went on with a tool call.
        attempts: how often the model was sent back in this turn.
        drafts: the drafts that the user does not get.
    """

    verdict: dict[str, Any] | None
    attempts: int
    drafts: tuple[dict[str, Any], ...]


class PendingReviews:
    """Results of reviews between the node of the model and that of the middleware, by turn and message.

    A response of the model could carry further updates of the state itself, but the update of the model's node would
    then be a list in the stream, which most readers of ``stream_mode="updates"`` do not expect.

    Args:
        most: how many are kept. An agent that is stopped between the two nodes leaves its result here.
    """

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._kept: OrderedDict[TurnKey, Pending] = OrderedDict()
        self._lock = Lock()

    def put(self, key: TurnKey, review: Pending) -> None:
        """Keep a result; the oldest ones are forgotten."""
        with self._lock:
            self._kept[key] = review
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def pop(self, key: TurnKey) -> Pending | None:
        """Return a result, once."""
        with self._lock:
            return self._kept.pop(key, None)


@dataclass(slots=True)
class Review:
    """Review of the drafts that one call of the model gives.

    Attributes:
        guard: the jury and its options.
        request: the next request to the model; that of a retry ends with the rejected drafts and the feedback.
        attempts: how often the model was sent back in this turn.
        drafts: the drafts of this call that the user does not get, if the state is to keep them.
    """

    guard: AgentGuard
    request: ModelRequest[Any]
    attempts: int
    drafts: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, guard: AgentGuard, request: ModelRequest[Any]) -> Self:
        """Begin the review of one call."""
        state: Mapping[str, Any] = request.state
        attempts = state.get("jury_attempts") or {}
        return cls(guard, request, attempts.get(guard.name, 0))

    def case_of(self, response: ModelResponse[Any]) -> Case:
        """Return the case of a draft.

        Raises:
            Exception: whatever a function of the user's raises.
        """
        messages = [*self.request.state["messages"], *response.result]
        state = {**self.request.state, "messages": messages, "structured_response": response.structured_response}
        return self.guard.case_of(state, self.request.response_format)

    def decide(self, response: ModelResponse[Any], case: Case | None, judgment: Judgment) -> tuple[Outcome, JudgedRun]:
        """Return what becomes of a draft, and what the sinks get; a rejected one is sent back with the next request."""
        draft = last_ai(response.result)
        outcome = self.guard.outcome_of(judgment, calls=bool(open_calls(response.result)), attempts=self.attempts)
        told = self.guard.run_of(
            None if draft is None else draft.id, "agent", case, judgment, outcome=outcome, attempt=self.attempts
        )
        if outcome in ("rejected", "blocked") and self.guard.keep_drafts:
            text = "" if draft is None else str(draft.text)
            self.drafts.append(self.guard.draft_of(case, judgment, text=text))
        if outcome == "rejected":
            self.attempts += 1
            said = sent_back(response.result, self.guard.feedback_of(judgment))
            self.request = self.request.override(messages=[*self.request.messages, *said])
        return outcome, told

    def conclude(
        self, response: ModelResponse[Any], outcome: Outcome, judgment: Judgment, pending: PendingReviews
    ) -> ModelResponse[Any]:
        """Return the response that enters the state in place of a judged draft."""
        draft = last_ai(response.result)
        if outcome == "blocked":
            refusal = self.guard.refusal_of(judgment, like=draft)
            response = ModelResponse(result=[refusal], structured_response=None)
            judgment = withheld(judgment)
        elif outcome == "annotated" and draft is not None:
            extra = {**draft.additional_kwargs, **marked("annotated", self.guard.name, judgment)}
            response = _with_draft(response, draft, additional_kwargs=extra)
        return self.leave(response, pending, judgment.to_dict())

    def leave(
        self, response: ModelResponse[Any], pending: PendingReviews, verdict: dict[str, Any] | None = None
    ) -> ModelResponse[Any]:
        """Return a response, and put what is to be written into the state beside it."""
        draft = last_ai(response.result)
        if draft is None or (verdict is None and not self.drafts and not self.attempts):
            return response
        if draft.id is None:
            response = _with_draft(response, draft, id=str(uuid.uuid4()))
        key = turn_key(self.request.state, last_ai(response.result))
        pending.put(key, Pending(verdict, self.attempts, tuple(self.drafts)))
        return response


def turn_key(state: Mapping[str, Any], message: AIMessage | None) -> TurnKey:
    """Return the key of a review; a cached model gives messages with one id to many turns."""
    return (state.get("jury_turn") or {}).get("id"), None if message is None else message.id


def is_draft(response: ModelResponse[Any], *, every: bool) -> bool:
    """Whether a response is to be judged as an answer; with ``every``, also where it calls tools.

    The message that another jury wrote in place of an answer is not judged.
    """
    said = last_ai(response.result)
    if said is None or is_blocked(said):
        return False
    return every or response.structured_response is not None or not said.tool_calls


def withheld(judgment: Judgment) -> Judgment:
    """Return a judgment without its texts, which may quote the answer that is withheld."""
    metadata: dict[str, Any] = {"withheld": True}
    if isinstance(judgment, Verdict) and judgment.agreement is not None:
        metadata["agreement"] = judgment.agreement
    status = Status.ABSTAIN if judgment.status is None else judgment.status
    return Judgment(
        status,
        score=judgment.score if status in (Status.PASS, Status.FAIL) else None,
        confidence=judgment.confidence,
        critic=judgment.critic,
        usage=judgment.usage,
        elapsed_s=judgment.elapsed_s,
        reasoning=_WITHHELD,
        error=_WITHHELD if status is Status.ERROR else None,
        metadata=freeze_mapping(metadata),
    )


def _with_draft(response: ModelResponse[Any], draft: AIMessage, **update: Any) -> ModelResponse[Any]:
    """The response with a changed copy of its draft."""
    changed = draft.model_copy(update=update)
    return replace(response, result=[changed if one is draft else one for one in response.result])


_WITHHELD = "withheld with the answer; on_verdict= gets it"
