"""Conversations of any framework as cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Transcript(Conversation):
    """A conversation, read, that can be made a case; see :class:`Conversation` for its attributes.

    >>> Transcript.of([("user", "2 + 2?"), ("assistant", "4")]).case(reference="4").answer
    '4'
    """

    def case(self, **fields: Any) -> Case:
        """Return the conversation as a case; further fields (``reference=``, ``metadata=``) as in :class:`Case`."""
        return Case(question=self.question, answer=self.answer, messages=self.earlier, trajectory=self.steps, **fields)
