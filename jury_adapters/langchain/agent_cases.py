"""Build cases from an agent's turn: from the draft of its answer, or from a tool call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.conversation import is_summary, text_of_message
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
    turn = state.get("jury_turn") or {}
    messages = _with_one_question(list(state["messages"]), turn.get("asked"))
    found = read_outputs({"messages": messages, "structured_response": state.get("structured_response")})
    found["trajectory"] = with_echoes(found.get("trajectory", ()), response_tool_names(response_format))
    if found.get("question") is None:
        found["question"] = turn.get("question")
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


def _with_one_question(messages: list[Any], asked: str | None) -> list[Any]:
    """Return messages in which those of the user that came during the turn are parts of its question.

    A tool or a middleware may add one, such as an image that the tool found. It does not begin another turn, in which
    the outputs of the tools so far would not be evidence.

    Args:
        messages: the messages of the agent's state.
        asked: the id of the message that began the turn; without it, the messages stay as they are.
    """
    place = next((n for n, one in enumerate(messages) if asked is not None and one.id == asked), len(messages))
    added = [one for one in messages[place + 1 :] if isinstance(one, HumanMessage) and not is_summary(one)]
    if not added:
        return messages
    parts = [part for one in (messages[place], *added) for part in _parts_of(one)]
    question = messages[place].model_copy(update={"content": parts})
    rest = (one for one in messages[place + 1 :] if not any(one is other for other in added))
    return [*messages[:place], question, *rest]


def _parts_of(message: HumanMessage) -> list[Any]:
    """Return the parts of a message's content."""
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def response_tool_names(response_format: object) -> frozenset[str]:
    """Return the names of the tools that a model calls to give a structured response; empty if it calls none."""
    if isinstance(response_format, AutoStrategy):
        response_format = ToolStrategy(response_format.schema)
    if not isinstance(response_format, ToolStrategy):
        return frozenset()
    return frozenset(spec.name for spec in response_format.schema_specs)
