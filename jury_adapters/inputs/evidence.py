"""Evidence: what a tool found, as against what the model wrote itself and the tool only gave back."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from jury_adapters.core.case import Step

# The names of tools that keep what the model writes, in snake case without a namespace.
_ECHOES = re.compile(
    r"_?exception|jury|final_answer|forward_message|hand_?off(_to_\w+)?|transfer_(back_)?to_\w+|think(_tool)?"
    r"|sequential_?thinking|plan(ning)?(_tool)?|(todo(_(list|write|read))?|note|read_todos)|(core|archival)_memory_(append|insert|replace)"
    r"|(write|update|create|add|manage|save|submit|exit|record|take)_(to_)?(todos?|plan|notes?|memory|thought|scratchpad)(_\w+)?"
)
# LangChain's messages about the call of a structured response, which is the answer or a failed try of it.
_STRUCTURED = re.compile(
    r"(?s)Returning structured response|\d+ validation errors? for "
    r"|.*(Failed to parse structured output|returned multiple structured responses)"
)
_CONFIRMING = re.compile(
    r"(ok(ay)?|done|(sav|stor|record|not|logg|add|creat|updat)ed|success(fully)?|notes?|entry|entries|items?|row|value|id"
    r"|the|an?|to|in|of|is|was|were|and)"
)


def evidence_in(step: Step, answer: str | None = None, evidence: Callable[[Step], bool] | None = None) -> str | None:
    """Return what a step found and the model did not write itself; None if there is nothing.

    These are no evidence: the call of a structured response, a step marked as echo, an output that is the answer,
    notes, plans and hand-offs (by the names of their tools), and an output without a word beyond the arguments of its
    call. A long argument that stands in an output is cut out of it. This compares words only. The output of a tool that
    writes counts as evidence if it says anything else, so that an invented fact may prove itself; the option
    ``evidence=`` of :func:`default_case` says which tools find things.

    Args:
        step: the step.
        answer: the answer of the run.
        evidence: tells whether a tool finds things. Then its output is compared neither with the arguments nor with the
            answer, and counts also if it is marked as echo, because the tool asks a model.

    >>> evidence_in(Step(tool="search", arguments={"query": "ferry"}, output="The ferry stopped in 2018."))
    'The ferry stopped in 2018.'
    >>> evidence_in(Step(tool="record", arguments={"year": 2018}, output="Recorded: 2018"))
    """
    output = step.output or ""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|[- ]", "_", re.split(r"__|[./:]", step.tool or "")[-1]).lower()
    if not output.strip() or _STRUCTURED.match(output) or _ECHOES.fullmatch(name):
        return None
    if evidence is not None or step.echo or is_answer(step, answer):
        return output if evidence is not None and evidence(step) else None
    told = _texts(step.arguments)
    for text in told:
        if len(text.split()) >= 6:  # a shorter one is found in pages too
            output = output.replace(text, "…")
    further = {*re.findall(r"\w+", output.casefold())} - {*re.findall(r"\w+", " ".join(told).casefold())}
    return None if all(map(_CONFIRMING.fullmatch, further)) else output


def is_answer(step: Step, answer: str | None) -> bool:
    """Return whether a tool returned the very answer, so that it may have found it, or a model may have written it."""
    return not step.echo and (step.output or "").strip() == (answer or "").strip() != ""


def _texts(value: Any) -> list[str]:
    """Return the texts and numbers in the arguments of a call."""
    if isinstance(value, Mapping | list | tuple):
        inside = value.values() if isinstance(value, Mapping) else value
        return [text for one in inside for text in _texts(one)]
    return [] if value is None else [str(value)]
