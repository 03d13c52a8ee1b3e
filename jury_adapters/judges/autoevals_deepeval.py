"""Scorers of autoevals and metrics of DeepEval as judges, for use in juries.

Neither package is imported here: their results are recognized by their attributes.

>>> class Exact:  # as a scorer of autoevals behaves
...     def eval(self, output, expected=None, **kwargs):
...         return {"name": "Exact", "score": float(output == expected)}
>>> from_autoevals(Exact()).judge(answer="4", reference="4").score
1.0
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Unpack

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.functions import is_async
from jury_adapters.core.loose_values import field_of
from jury_adapters.core.values import shown, stated
from jury_adapters.judges.external import Call, ExternalJudge, ExternalOptions, NotAskedError, Said
from jury_adapters.judges.external_calls import Arguments, by_name, called, checked_arguments, own_name_of, takes
from jury_adapters.judges.external_results import read_result

__all__ = ["from_autoevals", "from_deepeval"]


def from_autoevals(
    scorer: object, *, arguments: Arguments | None = None, **options: Unpack[ExternalOptions]
) -> ExternalJudge:
    """Return a scorer of autoevals, or a scorer function of Braintrust, as a judge.

    The scorer is called with those of ``output`` (the answer), ``expected`` (the reference), ``input`` (the question)
    and ``context`` (the contexts) that the case has and the scorer takes. Asynchronous scorers are awaited; all others
    run in a thread. ``score=None`` is ABSTAIN, an exception is ERROR, and the rationale of an LLM classifier is the
    reasoning.

    Args:
        scorer: an instance (``Levenshtein()``, ``Factuality(model=...)``), or a function of these arguments that
            returns a score 0..1, a bool, None, or an object with ``score``.
        arguments: a function from a case to the arguments to use instead, such as
            ``lambda case: {"output": float(case.answer), "expected": float(case.reference)}`` for ``NumericDiff()``.
        **options: see :class:`jury_adapters.judges.external.ExternalOptions`.

    Raises:
        ConfigurationError: ``scorer`` is a class instead of an instance, or neither a scorer nor a function.
    """
    function = _scoring(scorer)
    given = checked_arguments(arguments) or _autoevals_arguments

    async def ask(wanted: Mapping[str, object]) -> Said:
        return read_result(await called(function, **wanted))

    own = getattr(scorer, "_name", None)
    name = own() if callable(own) else own_name_of(scorer)
    return ExternalJudge(by_name(function, given, ask), name if isinstance(name, str) else "", **options)


def from_deepeval(
    metric: object,
    *,
    test_case: Callable[[Case], object] | None = None,
    **options: Unpack[ExternalOptions],
) -> ExternalJudge:
    """Return a metric of DeepEval as a judge.

    A metric stores its result in itself, so each case is measured by a copy, and cases can be judged concurrently. Its
    own ``success`` decides, its ``reason`` is the reasoning, its ``evaluation_cost`` the cost; a parameter that the
    case lacks, or a skipped measurement, is ABSTAIN.

    Args:
        metric: an instance, such as ``AnswerRelevancyMetric(threshold=0.7)``.
        test_case: returns the ``LLMTestCase`` of a case; by default it has ``input``, ``actual_output``,
            ``expected_output``, ``context`` and ``retrieval_context`` (both the contexts), and ``tools_called``.
        **options: see :class:`jury_adapters.judges.external.ExternalOptions`. Use ``scale=(1, 0)`` if less is better.

    Raises:
        ConfigurationError: ``metric`` is a class instead of an instance, or not a metric.
    """
    if isinstance(metric, type) or not (
        callable(getattr(metric, "a_measure", None)) or callable(getattr(metric, "measure", None))
    ):
        raise ConfigurationError(
            f"from_deepeval takes an instance of a metric, with its measure(); not {plain_repr(metric)}"
        )
    make = _deepeval_case if test_case is None else test_case

    def prepare(case: Case) -> Call:
        asked = make(case)
        return Call(asked, partial(ask, asked))

    async def ask(asked: object) -> Said:
        measuring = copy.copy(metric)
        measure = getattr(measuring, "a_measure", None) or measuring.measure  # type: ignore[attr-defined]
        try:
            returned = await called(measure, asked, **_quietly(measure))
        except Exception as error:
            if any(kind.__name__ == "MissingTestCaseParamsError" for kind in type(error).__mro__):
                raise NotAskedError(stated(shown(error), type(error).__name__)) from error
            raise
        kept = any(field_of(measuring, name) not in (None, False) for name in ("score", "skipped", "error"))
        return read_result(measuring if kept else returned)

    name = getattr(metric, "__name__", None) or type(metric).__name__
    own = getattr(metric, "threshold", None)
    return ExternalJudge(prepare, name if isinstance(name, str) else "", own_threshold=own, **options)


def _scoring(scorer: object) -> Callable[..., object]:
    """Return the method to call: the asynchronous form if the scorer has one of its own, else the synchronous one."""
    if isinstance(scorer, type):
        raise ConfigurationError(f"from_autoevals takes an instance: {scorer.__name__}(), not {scorer.__name__}")
    plain: Callable[..., object] | None = getattr(scorer, "eval", None)
    waiting: Callable[..., object] | None = getattr(scorer, "eval_async", None)
    if callable(waiting) and (_waits_itself(scorer) or not callable(plain)):
        return waiting
    if callable(plain):
        return plain
    if callable(scorer):
        return scorer
    raise ConfigurationError(f"from_autoevals takes a scorer or a function, not {plain_repr(scorer)}")


def _waits_itself(scorer: object) -> bool:
    """Whether ``eval_async`` is more than the base class's call of the synchronous form, which would block."""
    inner = getattr(type(scorer), "_run_eval_async", None)
    if inner is None:
        return is_async(getattr(scorer, "eval_async", None))
    return getattr(inner, "__qualname__", "") != "Scorer._run_eval_async"


def _autoevals_arguments(case: Case) -> dict[str, object]:
    return {
        "output": case.answer,
        "expected": case.reference,
        "input": case.question,
        "context": list(case.contexts) or None,
    }


def _deepeval_case(case: Case) -> object:
    """Return the case as DeepEval's own class if DeepEval is loaded; otherwise, as an object with the same fields."""
    module = sys.modules.get("deepeval.test_case")
    contexts = list(case.contexts) or None
    fields: dict[str, object] = {
        "input": case.question or "",
        "actual_output": case.answer,
        "expected_output": case.reference,
        "context": contexts,
        "retrieval_context": contexts,
    }
    called_tools = [step for step in case.trajectory if step.tool is not None]
    tool_call = SimpleNamespace if module is None else module.ToolCall
    if called_tools:
        fields["tools_called"] = [_tool_call(tool_call, step) for step in called_tools]
    return SimpleNamespace(**{"tools_called": None, **fields}) if module is None else module.LLMTestCase(**fields)


def _tool_call(make: Callable[..., object], step: Step) -> object:
    return make(name=step.tool, input_parameters=dict(step.arguments), output=step.output)


def _quietly(measure: Callable[..., object]) -> dict[str, object]:
    """Return the arguments that switch off the progress bar, if the metric has one."""
    return {"_show_indicator": False} if "_show_indicator" in takes(measure)[0] else {}
