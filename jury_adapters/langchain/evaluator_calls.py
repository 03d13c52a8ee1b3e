"""Calls of an evaluator by name, as openevals and LangSmith make them: their arguments and their results."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NotRequired, TypedDict

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES
from jury_adapters.core.input_output import read_outputs
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.loose_values import json_text
from jury_adapters.langchain.results import comment_of, metadata_of, score_of
from jury_adapters.langchain.rows import RunParts

_NAMED = 5
_log = logging.getLogger(__name__)


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


class AnswerGuess:
    """Warning, given once, that the whole outputs are judged as the answer because it is unclear which text it is.

    Args:
        is_mapped: whether a field map is given; then there is no warning.
    """

    __slots__ = ("_done",)

    def __init__(self, *, is_mapped: bool) -> None:
        self._done = is_mapped

    def tell(self, inputs: object, outputs: object, key: str) -> None:
        """Check one row; the check is cheap if there is nothing to warn about."""
        if self._done or not isinstance(outputs, Mapping) or any(name in outputs for name in _ANSWERS):
            return
        texts = [name for name, given in outputs.items() if isinstance(given, str)]
        given = {name: value for name, value in outputs.items() if value is not None}
        if len(texts) < 2 or read_outputs(outputs).get("answer") != json_text(given):
            return
        self._done = True
        asked = next(iter(inputs), "question") if isinstance(inputs, Mapping) else "question"
        _log.warning(
            "%s: which of the outputs %s is the answer? All of them are judged as one JSON text; say where it is with "
            "a field map, such as field_map={'answer': %r, 'question': %r}",
            key, ", ".join(map(repr, texts[:_NAMED])), _path("outputs", _likely_answer(outputs)),
            _path("inputs", asked),
        )  # fmt: skip


def _likely_answer(outputs: Mapping[str, object]) -> str:
    """Return the name of the longest text that is not a label of the reply; without one, the name of another value."""
    rest = {str(name): given for name, given in outputs.items() if name not in _LABELS and given is not None} or outputs
    lengths = {str(name): len(given) if isinstance(given, str) else 0 for name, given in rest.items()}
    return max(lengths, key=lambda name: lengths[name])


def _path(part: str, name: object) -> str:
    """Return the path of a name in a part of the row, quoted if it is not a plain name."""
    plain = isinstance(name, str) and name.replace(" ", "_").isidentifier() and not name.startswith("_")
    return f"{part}.{name}" if plain else f"{part}[{str(name)!r}]"


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
        "score": score_of(judgment),
        "comment": comment_of(judgment) or None,
        "metadata": metadata_of(judgment),
    }


_LABELS = frozenset({
    "id", "object", "type", "model", "role", "status", "name", "provider", "finish_reason", "created_at", "run_id",
    "thread_id", "session_id", "request_id",
})  # fmt: skip
_ANSWERS = FIELD_NAMES["answer"].in_its_part
_PART_OF = {"question": "inputs", "answer": "outputs", "reference": "reference_outputs"}
