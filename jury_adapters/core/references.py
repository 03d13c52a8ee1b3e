"""Conversion of the references of runs to the fields of a case: an answer, and the messages and calls of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jury_adapters.core.field_names import RELEVANT_IDS, RELEVANT_TEXTS, columns_of, differ, ignored
from jury_adapters.core.input_output import (
    THREAD,
    Found,
    read_answer,
    read_outputs,
    reported,
)
from jury_adapters.core.loose_values import messages_in, opened, steps_text
from jury_adapters.core.row_formats import with_expected_calls
from jury_adapters.core.run_parts import REFERENCE_MESSAGES
from jury_adapters.core.values import is_missing

EXPECTED_CALLS = "expected_calls"
"""Metadata key under which judges of trajectories look for the calls of a reference run."""


def read_reference(value: object, read: Callable[[object], Found] = read_outputs) -> Found:
    """Read the expected outputs of a run: a reference answer, the steps of a trajectory, and relevant documents."""
    state = opened(value)
    if not isinstance(state, Mapping):
        return _as_reference(read(value))
    for column in ("expected_tools", "reference_tool_calls"):  # of DeepEval and ragas
        state = with_expected_calls(dict(state), column)
    columns = columns_of(state, ("reference",), part_of="reference")
    name = columns.of.get("reference")
    apart = {key: state[key] for key in (*RELEVANT_IDS, *RELEVANT_TEXTS) if not is_missing(state.get(key))}
    calls = state.get(EXPECTED_CALLS)
    if isinstance(calls, list | tuple):
        apart[EXPECTED_CALLS] = calls
    state = {key: given for key, given in state.items() if key not in apart}
    found = _as_reference(read(state)) if name is None else read_reference_value(state[name], read)
    found |= reported((*columns.conflicts, *_answers_beside(state, name)))
    if apart:
        found["metadata"] = {**found.get("metadata", {}), **apart}
    return found


def read_reference_value(value: object, read: Callable[[object], Found] = read_outputs) -> Found:
    """Read the value of the column of the reference; see :func:`read_answer`."""
    if isinstance(value, str):
        return {"reference": value}
    return _as_reference(read(value) if messages_in(value) is not None else read_answer(value))


def _answers_beside(state: Mapping[str, Any], name: str | None) -> tuple[str, ...]:
    """Return the sentences to report if a reference has both an answer and a reference with different values."""
    answers = columns_of(state, ("answer",), part_of="answer")
    answer = answers.of.get("answer")
    if name is None:
        return answers.conflicts
    return (ignored(answer, name),) if answer is not None and differ(state[answer], state[name]) else ()


def _as_reference(given: Found) -> Found:
    found: Found = {}
    metadata: dict[str, object] = {}
    if given.get("answer") is not None:
        found["reference"] = given["answer"]
    if THREAD in given:
        metadata[REFERENCE_MESSAGES] = given[THREAD].as_messages()
    steps = given.get("trajectory")
    if steps:
        metadata["reference_trajectory"] = steps_text(steps)
        calls = [{"tool": step.tool, "arguments": dict(step.arguments)} for step in steps if step.tool is not None]
        if calls:
            metadata[EXPECTED_CALLS] = calls
    return {**found, "metadata": metadata} if metadata else found
