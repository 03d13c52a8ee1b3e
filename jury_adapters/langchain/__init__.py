"""Juries for LangChain: evaluators, callbacks, runnables and middleware.

Importing this package does not import LangChain. Each name is loaded when it is first used, together with only the
packages that it needs. ``langchain-core`` is enough for most names; the classic evaluators need ``langchain-classic``,
the middleware needs ``langchain``, and the decision model needs langchain-core 1.8. ``__all__`` lists the names that
the installed packages allow.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.langchain.callbacks import AsyncJuryCallbackHandler, JuryCallbackHandler, judge_runs
    from jury_adapters.langchain.comparison import jury_comparison_evaluator
    from jury_adapters.langchain.decisions import JuryDecisionModel
    from jury_adapters.langchain.evaluators import (
        JuryPairwiseStringEvaluator,
        JuryStringEvaluator,
        JuryTrajectoryEvaluator,
    )
    from jury_adapters.langchain.external import (
        conversation,
        expected_conversation,
        from_evaluator,
        from_string_evaluator,
    )
    from jury_adapters.langchain.fields import Fields
    from jury_adapters.langchain.functions import async_jury_evaluator, jury_evaluator
    from jury_adapters.langchain.langsmith import JuryRunEvaluator
    from jury_adapters.langchain.middleware import JuryMiddleware
    from jury_adapters.langchain.offline import examples, offline_client
    from jury_adapters.langchain.presets import (
        correctness_evaluator,
        faithfulness_evaluator,
        hallucination_evaluator,
        relevance_evaluator,
        trajectory_evaluator,
    )
    from jury_adapters.langchain.runnable import JuryRunnable, JuryTool, jury_node, route_on_verdict
    from jury_adapters.langchain.sinks import langsmith_feedback
    from jury_adapters.langchain.summaries import agreement_summary, cost_summary, jury_summary, pass_rate_summary

    __all__ = [
        "AsyncJuryCallbackHandler",
        "Fields",
        "JuryCallbackHandler",
        "JuryDecisionModel",
        "JuryMiddleware",
        "JuryPairwiseStringEvaluator",
        "JuryRunEvaluator",
        "JuryRunnable",
        "JuryStringEvaluator",
        "JuryTool",
        "JuryTrajectoryEvaluator",
        "agreement_summary",
        "async_jury_evaluator",
        "conversation",
        "correctness_evaluator",
        "cost_summary",
        "examples",
        "expected_conversation",
        "faithfulness_evaluator",
        "from_evaluator",
        "from_string_evaluator",
        "hallucination_evaluator",
        "judge_runs",
        "jury_comparison_evaluator",
        "jury_evaluator",
        "jury_node",
        "jury_summary",
        "langsmith_feedback",
        "offline_client",
        "pass_rate_summary",
        "relevance_evaluator",
        "route_on_verdict",
        "trajectory_evaluator",
    ]

_HOMES = {
    "callbacks": ("AsyncJuryCallbackHandler", "JuryCallbackHandler", "judge_runs"),
    "comparison": ("jury_comparison_evaluator",),
    "decisions": ("JuryDecisionModel",),
    "evaluators": ("JuryPairwiseStringEvaluator", "JuryStringEvaluator", "JuryTrajectoryEvaluator"),
    "fields": ("Fields",),
    "external": ("conversation", "expected_conversation", "from_evaluator", "from_string_evaluator"),
    "functions": ("async_jury_evaluator", "jury_evaluator"),
    "langsmith": ("JuryRunEvaluator",),
    "middleware": ("JuryMiddleware",),
    "offline": ("examples", "offline_client"),
    "presets": (
        "correctness_evaluator", "faithfulness_evaluator", "hallucination_evaluator", "relevance_evaluator",
        "trajectory_evaluator",
    ),
    "runnable": ("JuryRunnable", "JuryTool", "jury_node", "route_on_verdict"),
    "sinks": ("langsmith_feedback",),
    "summaries": ("agreement_summary", "cost_summary", "jury_summary", "pass_rate_summary"),
}  # fmt: skip
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}
# A few modules need more packages (langchain, langgraph, langchain_classic); their own errors say so.
_EXTRA = {"evaluators": "'jury-adapters[classic]'", "middleware": "'jury-adapters[langchain]' 'langchain>=1.2'"}
_NEEDS = {"decisions": "langchain_core.decisions", "evaluators": "langchain_classic", "middleware": "langchain"}


def __getattr__(name: str) -> object:
    if name == "__all__":  # computed on access: a star import must not fail because of a missing optional package
        return __dir__()
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    extra = _EXTRA.get(home.rpartition(".")[2], "'jury-adapters[langchain]'")
    value = load(home, name, dict.fromkeys(("langchain_core", "langsmith"), f"LangChain: pip install {extra}"))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    missing = {module for module, needed in _NEEDS.items() if not _is_installed(needed)}
    return sorted(name for module, names in _HOMES.items() if module not in missing for name in names)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package is missing too
        return False
