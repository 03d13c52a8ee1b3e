"""Juries for LangChain: evaluators, callbacks, runnables and middleware.

Importing this package does not import LangChain. Each name is loaded when it is first used, together with only the
packages that it needs. ``langchain-core`` is enough for most names; the middleware needs ``langchain``, and the
decision model needs langchain-core 1.8. ``__all__`` lists the names that the installed packages allow.

:mod:`jury_adapters.langchain.langsmith` has helpers for LangSmith, and :mod:`jury_adapters.langchain.classic` the
evaluators of ``langchain_classic``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.langchain.callbacks import JuryCallbackHandler, judge_runs
    from jury_adapters.langchain.case_reader import to_case
    from jury_adapters.langchain.decisions import JuryDecisionModel
    from jury_adapters.langchain.evaluators import JuryEvaluator
    from jury_adapters.langchain.external import conversation, expected_conversation, from_evaluator
    from jury_adapters.langchain.middleware import JuryMiddleware
    from jury_adapters.langchain.pairwise import JuryPairwiseEvaluator
    from jury_adapters.langchain.runnable import JuryRunnable, jury_node, route_on_verdict
    from jury_adapters.langchain.tool import JuryTool

    __all__ = [
        "JuryCallbackHandler",
        "JuryDecisionModel",
        "JuryEvaluator",
        "JuryMiddleware",
        "JuryPairwiseEvaluator",
        "JuryRunnable",
        "JuryTool",
        "conversation",
        "expected_conversation",
        "from_evaluator",
        "judge_runs",
        "jury_node",
        "route_on_verdict",
        "to_case",
    ]

_HOMES = {
    "callbacks": ("JuryCallbackHandler", "judge_runs"),
    "case_reader": ("to_case",),
    "decisions": ("JuryDecisionModel",),
    "evaluators": ("JuryEvaluator",),
    "external": ("conversation", "expected_conversation", "from_evaluator"),
    "middleware": ("JuryMiddleware",),
    "pairwise": ("JuryPairwiseEvaluator",),
    "runnable": ("JuryRunnable", "jury_node", "route_on_verdict"),
    "tool": ("JuryTool",),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}
# The middleware needs more packages (langchain, langgraph); its own errors say so.
_MORE = {"middleware": ("langchain>=1.2",)}
_NEEDS = {"decisions": "langchain_core.decisions", "middleware": "langchain"}


def __getattr__(name: str) -> object:
    if name == "__all__":  # computed on access: a star import must not fail because of a missing optional package
        return __dir__()
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    needed = ("LangChain", "langchain", *_MORE.get(home.rpartition(".")[2], ()))
    value = load(home, name, dict.fromkeys(("langchain_core", "langsmith"), needed))
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
