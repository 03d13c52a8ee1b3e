"""State that a jury adds to an agent."""

from __future__ import annotations

from typing import Annotated, Any, Final, NotRequired

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr


def _latest(_: Any, update: Any) -> Any:
    """Reduce a key that several tools may write at once: the latest update wins."""
    return update


def _joined(kept: Any, update: Any) -> list[Any]:
    """Reduce a list that several tools may extend at once; None empties it."""
    return [] if update is None else [*(kept or ()), *update]


class JuryState(AgentState[Any]):
    """Keys that a jury adds to the agent's state; their values are plain, so every checkpointer can store them.

    Attributes:
        jury_verdict: the last verdict of this turn, as returned by :meth:`Judgment.to_dict`; without its texts if the
            answer was withheld, since they may quote it.
        jury_attempts: private: the number of times that each jury has sent the model back in this turn.
        jury_turn: private: the id of this turn, its question, which a summary may remove from the messages, and the id
            of the message that asks it.
        jury_drafts: private: with ``keep_drafts=True``, the drafts of this turn that the user did not get.
    """

    jury_verdict: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput, _latest]]
    jury_attempts: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    jury_turn: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    jury_drafts: NotRequired[Annotated[list[dict[str, Any]] | None, PrivateStateAttr, _joined]]


OWN_KEYS: Final = JuryState.__annotations__.keys() - AgentState.__annotations__.keys()
"""Keys of the state that a jury adds."""
