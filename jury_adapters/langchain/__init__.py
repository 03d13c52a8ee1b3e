"""LangChain: evaluators for LangSmith and openevals, a callback handler, guards of agents, and a Runnable.

Names are loaded when they are used, so that the callback handler needs ``langchain-core`` alone.
"""

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import loader

if TYPE_CHECKING:  # for type checkers and editors; a test holds it to the table below
    from jury_adapters.langchain.callbacks import JuryCallbackHandler, judge_runs
    from jury_adapters.langchain.evaluator import JuryEvaluationResult, JuryEvaluator, JuryPairwiseEvaluator
    from jury_adapters.langchain.langsmith import feedback_sink, offline_client, pass_rate
    from jury_adapters.langchain.middleware import JuryMiddleware
    from jury_adapters.langchain.runnable import JuryRunnable, jury_node
    from jury_adapters.langchain.string import JuryStringEvaluator
    from jury_adapters.langchain.tool_guard import JuryToolGuard

_NAMES = {
    "callbacks": "JuryCallbackHandler judge_runs",
    "evaluator": "JuryEvaluationResult JuryEvaluator JuryPairwiseEvaluator",
    "langsmith": "feedback_sink offline_client pass_rate",
    "middleware": "JuryMiddleware",
    "runnable": "JuryRunnable jury_node",
    "string": "JuryStringEvaluator",
    "tool_guard": "JuryToolGuard",
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()}
__all__ = [
    "JuryCallbackHandler",
    "JuryEvaluationResult",
    "JuryEvaluator",
    "JuryMiddleware",
    "JuryPairwiseEvaluator",
    "JuryRunnable",
    "JuryStringEvaluator",
    "JuryToolGuard",
    "feedback_sink",
    "judge_runs",
    "jury_node",
    "offline_client",
    "pass_rate",
]
__getattr__ = loader(__name__, _HOMES, "langchain")
__dir__ = __all__.copy
