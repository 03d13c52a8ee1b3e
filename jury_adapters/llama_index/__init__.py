"""Juries for LlamaIndex: evaluators, judged runs, guards.

Importing this package does not import LlamaIndex. Each name is loaded, together with LlamaIndex, when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.llama_index.evaluators import JuryEvaluator
    from jury_adapters.llama_index.external import from_evaluator
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
    from jury_adapters.llama_index.responses import atext_of, contexts_of, steps_of, text_of
    from jury_adapters.llama_index.results import JuryEvaluationResult
    from jury_adapters.llama_index.spans import JurySpanHandler, judge_runs

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
    "atext_of",
    "contexts_of",
    "from_evaluator",
    "judge_runs",
    "steps_of",
    "text_of",
]

_HOMES = {
    "evaluators": ("JuryEvaluator",),
    "external": ("from_evaluator",),
    "guards": ("JuryGuardQueryEngine", "JuryNodePostprocessor"),
    "presets": (
        "JuryAnswerRelevancyEvaluator", "JuryContextRelevancyEvaluator", "JuryCorrectnessEvaluator",
        "JuryFaithfulnessEvaluator", "JuryGuidelineEvaluator", "JuryHallucinationEvaluator", "JuryPairwiseEvaluator",
        "JuryRelevancyEvaluator",
    ),
    "responses": ("atext_of", "contexts_of", "steps_of", "text_of"),
    "results": ("JuryEvaluationResult",),
    "spans": ("JurySpanHandler", "judge_runs"),
}  # fmt: skip
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}
_LLAMA_INDEX = "LlamaIndex: pip install 'jury-adapters[llama-index]'"
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
