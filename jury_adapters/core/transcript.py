"""Transcript, a conversation of any framework that can be converted to a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.conversation import Conversation
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_names import FIELD_NAMES


@dataclass(frozen=True, slots=True)
class Transcript(Conversation):
    """Conversation that can be converted to a case.

    Attributes:
        question: the last message of the user.
        answer: the last message of the assistant after the question. If the conversation ends with the call of a
            structured response (LangChain's ``ToolStrategy``), the arguments of that call; None if it ends with other
            calls.
        steps: the steps of the assistant in between: each tool call with its result, and intermediate texts.
        earlier: the conversation before the question.
        pending: True if the conversation ends with tool calls that have no result yet, so that it is only paused.
        ends_in_call: True if the conversation ends with tool calls, with or without results.

    >>> Transcript.of([("user", "2 + 2?"), ("assistant", "4")]).case(reference="4").answer
    '4'
    """

    def case(self, *, evidence_tools: EvidenceTools = None, **fields: Any) -> Case:
        """Return the conversation as a case.

        Args:
            evidence_tools: the tools whose outputs are the contexts if none are given: names, or a predicate of a step;
                see :class:`jury_adapters.core.evidence.Evidence`.
            **fields: further fields (``reference=``, ``metadata=``), as in :class:`Case`.

        Raises:
            ConfigurationError: ``evidence_tools`` is neither names nor a predicate.
        """
        evidence = Evidence(evidence_tools)
        if not fields.keys() & set(FIELD_NAMES["contexts"].exact):
            fields["contexts"] = evidence.contexts(self.steps)
        return Case(question=self.question, answer=self.answer, messages=self.earlier, trajectory=self.steps, **fields)
