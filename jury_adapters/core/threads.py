"""Runs that are part of a conversation: all of its turns, or the turn in which a step of an agent goes on."""

from __future__ import annotations

from collections.abc import Mapping

from jury_adapters.core.case_parts import Step
from jury_adapters.core.conversation import Conversation
from jury_adapters.core.evidence import with_echoes
from jury_adapters.core.input_output import (
    ANSWERS,
    GIVEN_STEPS,
    SO_FAR,
    THREAD,
    THREADS,
    Found,
    mark_structured,
    read_inputs,
    read_outputs,
)
from jury_adapters.core.loose_values import messages_in, opened


def read_thread(value: object) -> Found:
    """Read the outputs of a run like :func:`read_outputs`, but with all turns of a conversation, not only the last."""
    found = read_outputs(value)
    thread = _thread_in(value)
    if thread is not None:
        found.pop("messages", None)
        found.update(_all_turns(Conversation.of(thread)))
        mark_structured(found, _structured_in(value))
    if not found.get("trajectory") and found.get("answer"):
        found["trajectory"] = (Step(text=found["answer"]),)  # an answer without steps is a trajectory of one step
    return found


def continued(took: Found, gave: Found, *, whole_thread: bool = False) -> Found:
    """Return the fields of outputs with the steps, the images and the messages of the turn that they go on with.

    A node of a graph, or a call of a model, gets the messages of the turn so far as its inputs, and its outputs are the
    next ones. They are read as one conversation, which has the steps of the whole run up to this point. Outputs with a
    question, such as the state of a graph, have the turn themselves.

    Args:
        took: the fields of the inputs.
        gave: the fields of the outputs.
        whole_thread: whether to add the steps of all turns, as to the fields of :func:`read_thread`.
    """
    before = _turn_so_far(took, gave, whole_thread=whole_thread)
    if before is None:
        return gave
    after, own = gave.get(THREAD, Conversation()), gave.get("trajectory", ())
    joined = before.followed_by(after)
    echoes = {step.tool for step in own if step.echo and step.tool is not None}
    if whole_thread:
        return {**gave, "trajectory": with_echoes(_all_turns(joined).get("trajectory", ()), echoes)}
    steps = joined.steps if len(own) == len(after.steps) else (*before.steps, *own)
    found = {**gave, "trajectory": with_echoes(steps, echoes), "messages": joined.earlier}
    return {**found, "attachments": joined.images} if joined.images else found


def steps_so_far(inputs: object, outputs: object) -> tuple[Step, ...]:
    """Return the finished tool calls of the turn that outputs go on with; empty if the outputs have them themselves."""
    try:
        before = _turn_so_far(read_inputs(inputs), read_outputs(outputs))
    except Exception:  # a function of the application reads values that have no text of their own
        before = None
    steps = () if before is None else before.steps
    return tuple(step for step in steps if step.output is not None or step.error is not None)


def _turn_so_far(took: Found, gave: Found, *, whole_thread: bool = False) -> Conversation | None:
    """Return the conversation in the inputs if the outputs go on with it, and if tools were called in it."""
    before = took.get(SO_FAR)
    if before is None or gave.get(GIVEN_STEPS) or gave.get("question") is not None:
        return None
    turns = before.turns() if whole_thread else [before]
    return before if any(step.tool is not None for turn in turns for step in turn.steps) else None


def _thread_in(value: object) -> list[object] | None:
    """Return the messages in the outputs of a run, also if they are nested; None without any."""
    value = opened(value)
    thread = messages_in(value)
    if thread is not None or not isinstance(value, Mapping):
        return thread
    inner = next((value[name] for name in (*THREADS, *ANSWERS) if value.get(name) is not None), None)
    return None if inner is None or isinstance(inner, str) else _thread_in(inner)


def _all_turns(thread: Conversation) -> Found:
    """Return the first question, the last answer, and the steps of every turn with the messages in between."""
    turns = thread.turns()
    steps: list[Step] = []
    question: str | None = None
    for position, turn in enumerate(turns):
        if question is None:
            question = turn.question
        elif turn.question is not None:
            steps.append(Step(text=f"(the user goes on: {turn.question})"))
        steps += turn.steps
        if turn.answer is not None and position < len(turns) - 1:
            steps.append(Step(text=turn.answer))
    found: Found = {"question": question, "answer": turns[-1].answer, "trajectory": tuple(steps)}
    return {name: given for name, given in found.items() if given is not None}


def _structured_in(value: object) -> object:
    """Return the structured response in the outputs of a run."""
    value = opened(value)
    return value.get("structured_response") if isinstance(value, Mapping) else None
