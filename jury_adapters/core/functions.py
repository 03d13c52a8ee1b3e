"""Inspection of users' functions: lookup by name, asynchronous functions, and signatures."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable


def attribute_at(module: object, name: str) -> object:
    """Return the object with a qualified name in a module; None if it is not found."""
    found = sys.modules.get(module) if isinstance(module, str) else None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def is_async(function: object) -> bool:
    """Whether a function, or the ``__call__`` of an object, is asynchronous."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def yields(function: object) -> bool:
    """Whether calling a function, or an object with ``__call__``, returns a generator instead of a value."""
    called = function if inspect.isroutine(function) else getattr(function, "__call__", None)  # noqa: B004
    return inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called)


def takes_one(function: Callable[..., object]) -> bool:
    """Whether a function can be called with one argument; True if the signature is unknown."""
    return takes(function, 1)


def takes(function: Callable[..., object], number: int) -> bool:
    """Whether a function can be called with this number of arguments; True if the signature is unknown."""
    try:
        inspect.signature(function).bind(*[None] * number)
    except TypeError:
        return False
    except ValueError:  # a C function without a signature
        return True
    return True


def returns(function: object, kind: type) -> bool:
    """Whether the annotation of a function says that it returns an object of a class; False for a union.

    >>> from jury_adapters.core.judge_like import Judge, judge_of
    >>> returns(judge_of, Judge), returns(lambda: 1, Judge)
    (True, False)
    """
    found: object = getattr(function, "__annotations__", {}).get("return")
    if isinstance(found, str):
        found = attribute_at(getattr(function, "__module__", None), found)
    return isinstance(found, type) and issubclass(found, kind)


def takes_a_case(function: object) -> bool:
    """Whether the only parameter of a function is called ``case`` or annotated as a Case, so that it is a judge.

    >>> takes_a_case(lambda case: True), takes_a_case(lambda prompt: "Answer: YES")
    (True, False)
    """
    if not inspect.isroutine(function):
        return False
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    annotations = {getattr(one.annotation, "__name__", one.annotation) for one in parameters}
    return len(parameters) == 1 and (parameters[0].name == "case" or bool(annotations & {"Case", "jury_adapters.Case"}))
