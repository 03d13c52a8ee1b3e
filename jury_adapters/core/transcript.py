"""Conversations of any framework as cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.conversation import Conversation
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_names import FIELD_NAMES


@dataclass(frozen=True, slots=True)
class Transcript(Conversation):
    """A conversation, read, that can be made a case.

    Attributes:
        question: the last thing the user said.
        answer: what the assistant said last after it. Where the conversation ends with the call of a structured
            response (LangChain's ``ToolStrategy``), the arguments of that call; None where it ends with other calls.
        steps: what the assistant did in between: each tool call with its result, and what it said on the way.
        earlier: the conversation before the question.
        pending: True when the conversation ends with tool calls that have no result yet: a pause, not an answer.
        ends_in_call: True when the conversation ends with tool calls, with or without results.

    >>> Transcript.of([("user", "2 + 2?"), ("assistant", "4")]).case(reference="4").answer
    '4'
    """

    def case(self, *, evidence_tools: EvidenceTools = None, **fields: Any) -> Case:
        """Return the conversation as a case.

        Args:
            evidence_tools: the tools whose outputs are its contexts, where none are given: names, or a predicate of a
                step; see :class:`jury_adapters.core.evidence.Evidence`.
            **fields: further fields (``reference=``, ``metadata=``), as in :class:`Case`.

        Raises:
            ConfigurationError: ``evidence_tools`` is neither names nor a predicate.
        """
        evidence = Evidence(evidence_tools)
        if not fields.keys() & set(FIELD_NAMES["contexts"].exact):
            fields["contexts"] = evidence.contexts(self.steps)
        return Case(question=self.question, answer=self.answer, messages=self.earlier, trajectory=self.steps, **fields)
