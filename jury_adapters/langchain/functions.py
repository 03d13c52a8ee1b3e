"""A jury as a plain function, like the evaluators of openevals and agentevals."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NotRequired, Protocol, TypedDict

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES
from jury_adapters.core.input_output import read_outputs
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.loose_values import json_text
from jury_adapters.langchain.criteria import Criteria
from jury_adapters.langchain.fields import Fields, Part
from jury_adapters.langchain.results import comment_of, metadata_of, score_of
from jury_adapters.langchain.rows import RowJudge, RunParts

_NAMED = 5
_log = logging.getLogger(__name__)


class EvaluatorResult(TypedDict):
    """Result of an evaluator function.

    Attributes:
        key: the name of the feedback.
        score: 0..1; None if the jury abstained or failed, or is FAIL only because jurors failed.
        comment: the reasons.
        metadata: the status, the need for review with its reasons, votes, agreement, tokens, and cost.
        results: only for a jury with a scorecard: this result, then one for each criterion, named
            ``<key>.<criterion>``. LangSmith records all of them.
    """

    key: str
    score: float | None
    comment: str | None
    metadata: dict[str, Any] | None
    results: NotRequired[list[EvaluatorResult]]


class EvaluatorFunction(Protocol):
    """Plain function with keyword arguments only."""

    __name__: str

    def __call__(
        self, *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **kwargs: Any
    ) -> EvaluatorResult: ...


class AsyncEvaluatorFunction(Protocol):
    """Asynchronous function with keyword arguments only."""

    __name__: str

    def __call__(
        self, *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **kwargs: Any
    ) -> Awaitable[EvaluatorResult]: ...


def jury_evaluator(
    jury: JudgeLike,
    *,
    inputs: Part | None = None,
    outputs: Part | None = None,
    reference_outputs: Part | None = None,
    field_map: FieldMapLike | None = None,
    name: str | None = None,
    whole_thread: bool = False,
    evidence_tools: EvidenceTools = None,
    trace: bool = False,
    store: StoreLike | None = None,
    budget: Budget | None = None,
) -> EvaluatorFunction:
    """Return a jury as an evaluator function, for direct calls and ``langsmith.evaluate``, in openevals' format.

    The function takes ``inputs``, ``outputs`` and ``reference_outputs`` of any shape, by name. A further argument
    ``context=`` (or ``documents=`` and similar) gives the contexts, and all others go to the case's metadata, where a
    rubric's variables are looked up. LangSmith also passes ``run`` and ``example``: a run that failed scores 0.0
    without a call, as with :class:`JuryRunEvaluator`, and both fill the parts that are not given. The function never
    raises because of the data to judge. It refuses an argument with another name for a missing part (``input=``,
    ``answer=``, ``reference=``), which would be judged as missing. For a jury with a scorecard, the result also has
    ``results``, with one for each criterion.

    Args:
        jury: a jury, another judge, or a function of a case.
        inputs: where the question is, if its shape is not recognized; see :class:`Fields`.
        outputs: where the answer is.
        reference_outputs: where the reference is.
        field_map: as in :meth:`jury_adapters.Case.from_row`, instead of the three arguments above; see :class:`Fields`.
        name: the function's name, and the key of its results; by default the jury's name.
        whole_thread: whether every turn of a conversation is judged, or only the last one.
        evidence_tools: names of the tools whose outputs in a row's trajectory become contexts, or a predicate of a
            step. :class:`jury_adapters.core.evidence.Evidence` has the default.
        trace: whether LangSmith traces the requests to the jury's LangChain models.
        store: a :class:`jury_adapters.Store`, or its path. It keeps the judgments of all rows, so that a second
            evaluation of the same rows does not call a model.
        budget: a :class:`jury_adapters.Budget` for everything that this function judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.

    Raises:
        ConfigurationError: ``jury`` is not a judge, a path cannot be read, ``evidence_tools`` is neither names nor a
            predicate, the store or the budget is invalid, or a budget in dollars meets a juror whose price is unknown.

    >>> from jury_adapters import Equals
    >>> evaluate = jury_evaluator(Equals(), name="exact")
    >>> result = evaluate(inputs={"q": "2 + 2?"}, outputs={"a": "4"}, reference_outputs={"a": "4"})
    >>> result["key"], result["score"]
    ('exact', 1.0)
    """
    fields = Fields(
        inputs=inputs,
        outputs=outputs,
        reference_outputs=reference_outputs,
        field_map=field_map,
        whole_thread=whole_thread,
        evidence_tools=evidence_tools,
    )
    rows = RowJudge(jury, fields, trace=trace, store=store, budget=budget)
    key = key_of(rows.judge, name)
    criteria = Criteria(rows.judge)
    guess = _Guess(outputs)

    # A plain function, because LangSmith drops the key of a callable object.
    def evaluator(
        *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None,
        run: Any = None, example: Any = None, **kwargs: Any,
    ) -> EvaluatorResult:  # fmt: skip
        *parts, error = _parts(RunParts(inputs, outputs, reference_outputs), run, example, kwargs)
        guess.tell(parts[0], parts[1], key)
        return _results(key, rows.judged(*parts, error=error, further=kwargs), criteria)

    evaluator.__name__ = evaluator.__qualname__ = key
    return evaluator


def async_jury_evaluator(
    jury: JudgeLike,
    *,
    inputs: Part | None = None,
    outputs: Part | None = None,
    reference_outputs: Part | None = None,
    field_map: FieldMapLike | None = None,
    name: str | None = None,
    whole_thread: bool = False,
    evidence_tools: EvidenceTools = None,
    trace: bool = False,
    store: StoreLike | None = None,
    budget: Budget | None = None,
) -> AsyncEvaluatorFunction:
    """Return a jury as an asynchronous evaluator function; see :func:`jury_evaluator`."""
    fields = Fields(
        inputs=inputs,
        outputs=outputs,
        reference_outputs=reference_outputs,
        field_map=field_map,
        whole_thread=whole_thread,
        evidence_tools=evidence_tools,
    )
    rows = RowJudge(jury, fields, trace=trace, store=store, budget=budget)
    key = key_of(rows.judge, name)
    criteria = Criteria(rows.judge)
    guess = _Guess(outputs)

    async def evaluator(
        *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None,
        run: Any = None, example: Any = None, **kwargs: Any,
    ) -> EvaluatorResult:  # fmt: skip
        *parts, error = _parts(RunParts(inputs, outputs, reference_outputs), run, example, kwargs)
        guess.tell(parts[0], parts[1], key)
        return _results(key, await rows.ajudged(*parts, error=error, further=kwargs), criteria)

    evaluator.__name__ = evaluator.__qualname__ = key
    return evaluator


def key_of(jury: Judge, name: str | None) -> str:
    """Return the key of a jury's results."""
    return name or jury.name or "jury"


class _Guess:
    """Warning, given once, that the whole outputs are judged as the answer because it is unclear which text it is.

    Args:
        part: the given position of the answer; if it is given, there is no warning.
    """

    __slots__ = ("_told",)

    def __init__(self, part: Part | None) -> None:
        self._told = part is not None

    def tell(self, inputs: object, outputs: object, key: str) -> None:
        """Check one row; the check is cheap if there is nothing to warn about."""
        if self._told or not isinstance(outputs, Mapping) or any(name in outputs for name in _ANSWERS):
            return
        texts = [name for name, given in outputs.items() if isinstance(given, str)]
        given = {name: value for name, value in outputs.items() if value is not None}
        if len(texts) < 2 or read_outputs(outputs).get("answer") != json_text(given):
            return
        self._told = True
        asked = next(iter(inputs), "question") if isinstance(inputs, Mapping) else "question"
        _log.warning(
            "%s: which of the outputs %s is the answer? All of them are judged as one JSON text; say where it is with "
            "outputs=%r (and where the question is with inputs=, such as inputs=%r)",
            key, ", ".join(map(repr, texts[:_NAMED])), _likely_answer(outputs), asked,
        )  # fmt: skip


def _likely_answer(outputs: Mapping[str, object]) -> str:
    """Return the name of the longest text that is not a label of the reply; without one, the name of another value."""
    rest = {str(name): given for name, given in outputs.items() if name not in _LABELS and given is not None} or outputs
    lengths = {str(name): len(given) if isinstance(given, str) else 0 for name, given in rest.items()}
    return max(lengths, key=lambda name: lengths[name])


def _parts(given: RunParts, run: object, example: object, further: Mapping[str, object]) -> RunParts:
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
                f"{name}= is none of this function's arguments; did you mean {part}=? It takes {', '.join(parts)}, "
                "context, and what a rubric asks for"
            )


def _results(key: str, judgment: Judgment, criteria: Criteria) -> EvaluatorResult:
    whole = _result(key, judgment)
    each = [_result(f"{key}.{name}", result) for name, result in criteria.results(judgment).items()]
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
