"""Conversion of judge-like arguments (a judge or a function) to a :class:`Judge`."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evaluator_hints import evaluator_hint
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_settings import check_settings

JudgeLike: TypeAlias = Judge | Callable[[Case], Any]
"""Judge, or a function that takes a Case and returns a value that :func:`jury_adapters.judge` allows."""


def judge_of(given: object) -> Judge:
    """Convert a judge-like argument to a :class:`Judge`: a judge is returned unchanged, a function is wrapped.

    Raises:
        ConfigurationError: the argument is neither, or the judge has an invalid name, timeout or cost; for common
            mistakes the message says how to correct it.

    >>> judge_of(lambda case: len(case.answer) < 80).judge(answer="Yes.").passed
    True
    """
    if isinstance(given, Judge):
        check_settings(given)
        return given
    if callable(given) and not isinstance(given, type) and not _is_chat_model(given):
        return FunctionJudge(given)
    raise ConfigurationError(f"give a jury, another Judge or a function of a Case, not {_fix(given)}")


def _is_chat_model(given: object) -> bool:
    """Whether an object is a chat model of LangChain or an LLM of LlamaIndex."""
    return any(kind.__module__.startswith(_MODEL_MODULES) for kind in type(given).__mro__)


_MODEL_MODULES = ("langchain_core.language_models.", "llama_index.core.base.llms.base")


def _fix(given: object) -> str:
    if isinstance(given, str | PathLike):
        path = repr(str(given)) if str(given).endswith((".yaml", ".yml")) else "path"
        return f"text; load_jury({path}) reads a jury from its file, Critic(model, ..., name='name') asks a model"
    if _is_chat_model(given):
        return f"the model {type(given).__name__}; Critic(model, 'faithfulness') asks it, by that rubric or another"
    hint = evaluator_hint(given)
    if hint:
        return f"{'the class ' + given.__name__ if isinstance(given, type) else type(given).__name__}; {hint}"
    if isinstance(given, type):
        return f"the class {given.__name__}; a judge is {given.__name__}(), with its arguments"
    if isinstance(given, list | tuple):
        return f"a {type(given).__name__}; several judges make a jury: Ensemble([...])"
    if isinstance(getattr(given, "judge", None), Judge):  # a juror of another jury
        return f"a {type(given).__name__}; its judge is .judge"
    return type(given).__name__  # never its repr, which may contain an API key
