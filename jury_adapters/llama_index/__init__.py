"""Juries for LlamaIndex: evaluators, judged runs, guards.

Importing this package does not import LlamaIndex. Each name is loaded, together with LlamaIndex, when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.llama_index.case_reader import ato_case, to_case
    from jury_adapters.llama_index.evaluators import JuryEvaluator
    from jury_adapters.llama_index.external import from_evaluator
    from jury_adapters.llama_index.guards import JuryGuardQueryEngine
    from jury_adapters.llama_index.postprocessors import JuryNodePostprocessor
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
    from jury_adapters.llama_index.results import JuryEvaluationResult
    from jury_adapters.llama_index.retrieval_metrics import JuryRetrievalMetric
    from jury_adapters.llama_index.run_judging import judge_runs
    from jury_adapters.llama_index.spans import JurySpanHandler
    from jury_adapters.llama_index.verdict_events import JuryVerdictEvent

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
    "JuryRetrievalMetric",
    "JurySpanHandler",
    "JuryVerdictEvent",
    "ato_case",
    "from_evaluator",
    "judge_runs",
    "to_case",
]

_HOMES = {
    "case_reader": ("ato_case", "to_case"),
    "evaluators": ("JuryEvaluator",),
    "external": ("from_evaluator",),
    "guards": ("JuryGuardQueryEngine",),
    "postprocessors": ("JuryNodePostprocessor",),
    "presets": (
        "JuryAnswerRelevancyEvaluator", "JuryContextRelevancyEvaluator", "JuryCorrectnessEvaluator",
        "JuryFaithfulnessEvaluator", "JuryGuidelineEvaluator", "JuryHallucinationEvaluator", "JuryPairwiseEvaluator",
        "JuryRelevancyEvaluator",
    ),
    "results": ("JuryEvaluationResult",),
    "retrieval_metrics": ("JuryRetrievalMetric",),
    "run_judging": ("judge_runs",),
    "spans": ("JurySpanHandler",),
    "verdict_events": ("JuryVerdictEvent",),
}  # fmt: skip
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}
_LLAMA_INDEX = ("LlamaIndex", "llama-index")
# Other packages add sub-packages to `llama_index`, so it may exist without LlamaIndex itself.
_FRAMEWORKS = dict.fromkeys(("llama_index", "llama_index.core", "llama_index_instrumentation"), _LLAMA_INDEX)


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = load(home, name, _FRAMEWORKS)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
