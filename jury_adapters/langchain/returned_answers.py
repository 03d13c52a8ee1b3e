"""Answers that a tool with ``return_direct=True`` gave in the state of an agent.

The messages alone do not say that such a tool ended the run: they are those of a run that was cut off after a tool. So
the caller names these tools.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.errors import ConfigurationError, plain_repr


def direct_tools_of(given: Collection[str]) -> frozenset[str]:
    """Return the names in a ``direct_tools`` option.

    Raises:
        ConfigurationError: the option is not a list of names.
    """
    if isinstance(given, str):
        raise ConfigurationError(f"direct_tools= takes names in a list: direct_tools=[{plain_repr(given)}]")
    if not isinstance(given, Collection):
        raise ConfigurationError(f"direct_tools= takes names of tools in a list, not {plain_repr(given)}")
    if wrong := [name for name in given if not isinstance(name, str)]:
        name = getattr(wrong[0], "name", None)
        fix = f"; give its name: {plain_repr(name)}" if isinstance(name, str) else ""
        raise ConfigurationError(f"direct_tools= takes names of tools, not {plain_repr(wrong[0])}{fix}")
    return frozenset(given)


def with_returned_answer(case: Case, direct_tools: Collection[str]) -> Case:
    """Return a case whose answer is the last result if its run ended with calls of these tools only.

    As in an agent, the error of such a tool is an answer, too.
    """
    last = last_calls(case)
    if not last or any(step.tool not in direct_tools for step in last):
        return case
    return case.model_copy(update={"answer": last[-1].output if last[-1].error is None else last[-1].error})


def last_calls(case: Case) -> Sequence[Step]:
    """Return the calls of the message with which a run without an answer ended; empty if one of them has no result."""
    steps = case.trajectory
    if case.answer is not None or case.candidates or not steps:
        return ()
    beside = list(takewhile(lambda step: step.parallel, reversed(steps)))
    last = steps[-len(beside) - 1 :]
    return last if all(step.tool is not None and _is_finished(step) for step in last) else ()


def note_on_last_calls(case: Case) -> str:
    """Return a sentence on the tool whose result ended a run without an answer; empty for any other case."""
    names = list(dict.fromkeys(step.tool for step in last_calls(case)))
    if not names:
        return ""
    ended = "the result of a tool" if len(names) == 1 else "results of tools"
    return f"the run ended with {ended}; if that was its answer (return_direct=True), give direct_tools={names}"


def _is_finished(step: Step) -> bool:
    return step.output is not None or step.error is not None
