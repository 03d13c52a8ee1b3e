"""Build cases from an agent's turn: from the draft of its answer, or from a tool call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.conversation import text_of_message
from jury_adapters.core.evidence import Evidence, with_echoes
from jury_adapters.core.input_output import read_outputs
from jury_adapters.core.run_parts import merged


def case_of_turn(state: Mapping[str, Any], evidence: Evidence, response_format: object = None) -> Case:
    """Return the case of a turn: its question, its draft and its steps.

    Args:
        state: the agent's state, with the draft as its last message.
        evidence: rule that decides which tool outputs are contexts.
        response_format: the agent's response format. Calls to the tools that a model uses to give a structured
            response are not evidence, even if their arguments could not be parsed.

    Raises:
        Exception: any exception that a predicate of the rule raises.
    """
    messages = list(state["messages"])
    found = read_outputs({"messages": messages, "structured_response": state.get("structured_response")})
    found["trajectory"] = with_echoes(found.get("trajectory", ()), response_tool_names(response_format))
    if found.get("question") is None:
        found["question"] = (state.get("jury_turn") or {}).get("question")
    last = messages[-1] if messages else None
    if found.get("answer") is None and last is not None and (text := text_of_message(last)):
        found["answer"] = text
    models = [message.response_metadata.get("model_name") for message in messages if isinstance(message, AIMessage)]
    found["generator"] = next((model for model in reversed(models) if isinstance(model, str)), None)
    return Case(**merged({}, found, {}, evidence=evidence))


def case_of_call(request: ToolCallRequest, case_of: Callable[[Mapping[str, Any]], Case]) -> Case:
    """Return the case of a tool call: the turn so far, with the call as its answer and its last step."""
    call = request.tool_call
    found = case_of({**request.state, "structured_response": None})
    finished = tuple(step for step in found.trajectory if step.output is not None or step.error is not None)
    step = Step(tool=call["name"], arguments=call["args"])
    answer = f"Calls the tool {call['name']} with {json.dumps(call['args'], ensure_ascii=False, default=str)}"
    return found.model_copy(update={"answer": answer, "trajectory": (*finished, step)})


def response_tool_names(response_format: object) -> frozenset[str]:
    """Return the names of the tools that a model calls to give a structured response; empty if it calls none."""
    if isinstance(response_format, AutoStrategy):
        response_format = ToolStrategy(response_format.schema)
    if not isinstance(response_format, ToolStrategy):
        return frozenset()
    return frozenset(spec.name for spec in response_format.schema_specs)
