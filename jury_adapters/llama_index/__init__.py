"""LlamaIndex: evaluators, a watcher of an application's runs, a guarded query engine and a filter of nodes.

Names are loaded when they are used.
"""

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import loader

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
__getattr__ = loader(__name__, _HOMES, "llama-index", "llama-index-core")
__dir__ = __all__.copy
