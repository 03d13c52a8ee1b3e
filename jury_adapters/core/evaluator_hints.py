"""Advice for evaluators of other packages that are given where a judge is expected."""

from __future__ import annotations

import inspect
from typing import Final

from jury_adapters.core.judge import Judge

# Class names of evaluators, with the first part of their module and the package whose `from_evaluator` takes them.
_EVALUATORS: Final = {
    ("llama_index", "BaseEvaluator"): "llama_index",
    ("langchain_classic", "StringEvaluator"): "langchain",
    ("langchain_classic", "PairwiseStringEvaluator"): "langchain",
    ("langsmith", "RunEvaluator"): "langchain",
}
_PARAMETERS: Final = frozenset({"inputs", "outputs", "reference_outputs", "run", "example"})


def evaluator_hint(given: object) -> str:
    """Return what to write for an evaluator of LlamaIndex, LangChain or LangSmith, or of the adapters for them.

    The text is empty for any other object.

    >>> def exact(outputs, reference_outputs): ...
    >>> evaluator_hint(exact)
    'jury_adapters.langchain.from_evaluator(exact) makes a judge of it'
    """
    kind = given if isinstance(given, type) else type(given)
    if kind.__module__.startswith("jury_adapters.") and isinstance(getattr(given, "jury", None), Judge):
        return "give evaluator.jury, the judge inside it, which comes without the evaluator's store and budget"
    home = next((home for one in kind.__mro__ if (home := _EVALUATORS.get((_root(one), one.__name__)))), None)
    if home is None and inspect.isroutine(given) and _is_evaluator(given):
        home = "langchain"
    if home is None:
        return ""
    name = getattr(given, "__name__", "")
    written = f"{name}(...)" if kind is given else name if name.isidentifier() else "evaluator"
    return f"jury_adapters.{home}.from_evaluator({written}) makes a judge of it"


def _root(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _is_evaluator(function: object) -> bool:
    """Whether a function has two or more parameters by the names of LangSmith."""
    try:
        names = inspect.signature(function).parameters.keys()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return len(names & _PARAMETERS) > 1
