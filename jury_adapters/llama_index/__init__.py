"""LlamaIndex: evaluators, a watcher of an application's runs, a guarded query engine and a filter of nodes.

Names are loaded when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; a test holds it to the table below
    from jury_adapters.llama_index.evaluator import JuryEvaluationResult, JuryEvaluator
    from jury_adapters.llama_index.guards import JuryGuardQueryEngine, JuryNodePostprocessor
    from jury_adapters.llama_index.presets import (
        JuryAnswerRelevancyEvaluator,
        JuryContextRelevancyEvaluator,
        JuryCorrectnessEvaluator,
        JuryFaithfulnessEvaluator,
        JuryGuidelineEvaluator,
        JuryHallucinationEvaluator,
        JuryPairwiseEvaluator,
        JuryRelevancyEvaluator,
    )
    from jury_adapters.llama_index.reading import run_of
    from jury_adapters.llama_index.spans import JurySpanHandler, judge_runs

_NAMES = {
    "evaluator": "JuryEvaluationResult JuryEvaluator",
    "guards": "JuryGuardQueryEngine JuryNodePostprocessor",
    "presets": "JuryAnswerRelevancyEvaluator JuryContextRelevancyEvaluator JuryCorrectnessEvaluator "
    "JuryFaithfulnessEvaluator JuryGuidelineEvaluator JuryHallucinationEvaluator JuryPairwiseEvaluator "
    "JuryRelevancyEvaluator",
    "reading": "run_of",
    "spans": "JurySpanHandler judge_runs",
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()}
__all__ = [
    "JuryAnswerRelevancyEvaluator",
    "JuryContextRelevancyEvaluator",
    "JuryCorrectnessEvaluator",
    "JuryEvaluationResult",
    "JuryEvaluator",
    "JuryFaithfulnessEvaluator",
    "JuryGuardQueryEngine",
    "JuryGuidelineEvaluator",
    "JuryHallucinationEvaluator",
    "JuryNodePostprocessor",
    "JuryPairwiseEvaluator",
    "JuryRelevancyEvaluator",
    "JurySpanHandler",
    "judge_runs",
    "run_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("llama_index"):
            raise
        raise ImportError(f"{name} needs llama-index-core: pip install 'jury-adapters[llama-index]'") from error
    found = globals()[name] = getattr(module, name)
    return found


def __dir__() -> list[str]:
    return [*__all__]
