"""Calls of functions of other packages, and the arguments that these functions take."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

from jury_adapters.core import event_loop
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.functions import is_async
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.judges.external import Call, Said

Arguments: TypeAlias = Callable[[Case], Mapping[str, object]]
"""Function that returns the arguments of a foreign evaluator, by name, for a case."""


def by_name(
    function: Callable[..., object],
    arguments: Arguments,
    ask: Callable[[Mapping[str, object]], Awaitable[Said]],
    *,
    checked: bool = True,
    fitted: bool = True,
) -> Callable[[Case], Call | Judgment]:
    """Return the function that prepares calls of an evaluator, with its arguments by name.

    Args:
        function: the evaluator; used only for its parameters.
        arguments: returns the arguments for a case.
        ask: makes the call with the arguments, and reads the answer.
        checked: whether a case without an argument that the evaluator requires is ABSTAIN.
        fitted: whether ``ask`` gets only the arguments that the evaluator takes.
    """

    def prepare(case: Case) -> Call | Judgment:
        given = arguments(case)
        missing = lacking(function, given) if checked else None
        if missing is not None:
            return abstain(f"the evaluator needs {missing!r}, which the case does not have")
        wanted = fitting(function, given) if fitted else given
        return Call(wanted, partial(ask, wanted))

    return prepare


async def called(function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
    """Call a function of another package: an asynchronous one directly, any other in a thread."""
    if is_async(function):
        answer = function(*args, **kwargs)
    else:
        answer = await event_loop.in_worker_thread(lambda: function(*args, **kwargs))
    return await answer if isinstance(answer, Awaitable) else answer


def own_name_of(judge: object) -> str:
    """Return the name of a function, or of an object's class; empty for an uninformative name."""
    judge = getattr(judge, "func", judge)  # the function inside functools.partial
    name = getattr(judge, "__name__", None)
    if not isinstance(name, str):
        name = type(judge).__name__
    return "" if name.startswith(("_", "<")) else name


def takes(function: Callable[..., object]) -> tuple[dict[str, inspect.Parameter], bool]:
    """Return the parameters that a function takes by name, and whether it takes any others too."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C, without a signature
        return {}, True
    named = {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    return named, any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


def lacking(function: Callable[..., object], given: Mapping[str, object]) -> str | None:
    """Return the name of an argument that a function requires and that is None; None if there is no such argument."""
    named, _ = takes(function)
    required = (name for name, parameter in named.items() if parameter.default is parameter.empty)
    return next((name for name in required if name in given and given[name] is None), None)


def fitting(function: Callable[..., object], given: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments that a function takes. For an argument that is None, the function's default applies."""
    named, others = takes(function)
    return {name: value for name, value in given.items() if value is not None and (name in named or others)}


def checked_arguments(arguments: object) -> Arguments | None:
    """Check the option ``arguments=``.

    Raises:
        ConfigurationError: the argument is not a function.
    """
    if arguments is None or callable(arguments):
        return arguments
    raise ConfigurationError(
        "arguments= is a function of a case that returns the arguments by name, such as "
        f"lambda case: {{'outputs': case.answer}}; not {plain_repr(arguments)}"
    )
