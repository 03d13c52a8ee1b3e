"""Calls of an evaluator by name, as openevals and LangSmith make them: their arguments and their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NotRequired, TypedDict

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.field_names import ALIASES
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.verdict_facts import case_score
from jury_adapters.langchain.results import comment_of, metadata_of
from jury_adapters.langchain.rows import RunParts


class EvaluatorResult(TypedDict):
    """Result of a call.

    Attributes:
        key: the name of the feedback.
        score: 0..1; None if the jury abstained or failed, or is FAIL only because jurors failed.
        comment: the reasons.
        metadata: the status, the need for review with its reasons, votes, agreement, tokens, and cost.
        results: only with ``per_juror`` or for a jury with a scorecard: this result, then one for each juror or
            criterion, named ``<key>.<name>``. LangSmith records all of them.
    """

    key: str
    score: float | None
    comment: str | None
    metadata: dict[str, Any] | None
    results: NotRequired[list[EvaluatorResult]]


def key_of(jury: Judge, name: str | None) -> str:
    """Return the key of a jury's results."""
    return name or jury.name or "jury"


def parts_of_call(given: RunParts, run: object, example: object, further: Mapping[str, object]) -> RunParts:
    """Fill the parts that were not given from the run and its example.

    Raises:
        ConfigurationError: a further argument was meant as a missing part.
    """
    of_run = RunParts.of(run, example)
    parts = RunParts(
        _either(given.inputs, of_run.inputs),
        _either(given.outputs, of_run.outputs),
        _either(given.reference_outputs, of_run.reference_outputs),
        of_run.error,
    )
    _refuse_other_names(further, inputs=parts.inputs, outputs=parts.outputs, reference_outputs=parts.reference_outputs)
    return parts


def _either(given: object, of_run: object) -> object:
    """Return the given part, or else that of the run; LangSmith passes an empty dictionary for a missing part."""
    empty = given is None or (isinstance(given, dict) and not given)
    return of_run if empty and of_run is not None else given


def _refuse_other_names(further: Iterable[str], **parts: object) -> None:
    """Refuse a further argument that was meant as a missing part.

    Raises:
        ConfigurationError: there is such an argument.
    """
    for name in further:
        part = _PART_OF.get(ALIASES.get(name, name)) or next(iter(get_close_matches(name, parts, 1, 0.8)), None)
        if part is not None and parts[part] is None:
            raise ConfigurationError(
                f"{name}= is none of this evaluator's arguments; did you mean {part}=? It takes {', '.join(parts)}, "
                "context, and what a rubric asks for"
            )


def result_of(key: str, judgment: Judgment, parts: Mapping[str, Judgment]) -> EvaluatorResult:
    """Return a judgment as the result of a call; ``parts`` are judgments inside it with results of their own."""
    whole = _result(key, judgment)
    each = [_result(f"{key}.{name}", part) for name, part in parts.items()]
    return {**whole, "results": [whole, *each]} if each else whole


def _result(key: str, judgment: Judgment) -> EvaluatorResult:
    return {
        "key": key,
        "score": case_score(judgment),
        "comment": comment_of(judgment) or None,
        "metadata": metadata_of(judgment),
    }


_PART_OF = {"question": "inputs", "answer": "outputs", "reference": "reference_outputs"}
