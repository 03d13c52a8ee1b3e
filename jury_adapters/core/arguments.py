"""Errors of calls with wrong arguments: they say what to write, which Python's TypeError does not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown

P = ParamSpec("P")
T = TypeVar("T")

_NOTHING: Mapping[str, str] = MappingProxyType({})


def explains_wrong_calls(
    example: str,
    renamed: Mapping[str, str] = _NOTHING,
    *,
    order: str = "the arguments are given by name",
    needs: str = "an argument is missing",
    hint: str = "",
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator of a function: a call with wrong arguments raises an error that says what to write.

    Args:
        example: a right call.
        renamed: names that people know from other packages, and those of the function.
        order: what to say of too many positional arguments.
        needs: what to say of a missing argument.
        hint: what to add to the message for an unknown argument.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        known = [
            one.name for one in signature.parameters.values() if one.name != "self" and one.kind != one.VAR_POSITIONAL
        ]

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            __tracebackhide__ = True
            problem = ""
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                problem = str(error)
            if problem:  # outside the handler, so that the error has no other one before it
                refuse_renamed(kwargs, renamed, example)
                refuse_unknown(kwargs, known, hint)
                surplus = "too many" in problem or "multiple values" in problem
                message = order if surplus else f"{needs} ({problem})"
                raise ConfigurationError(f"{message}: {example}")
            return function(*args, **kwargs)

        return checked

    return decorate


def refuse_renamed(given: Iterable[str], renamed: Mapping[str, str], example: str) -> None:
    """Refuse arguments by names that people know from elsewhere.

    Args:
        given: the names of the arguments.
        renamed: such names, and the right ones.
        example: a right call.

    Raises:
        ConfigurationError: there is such an argument; the message has its right name.
    """
    for name in given:
        if name in renamed:
            raise ConfigurationError(f"the argument {name}= is called {renamed[name]}= here: {example}")


def refuse_unknown(given: Iterable[str], known: Sequence[str], hint: str = "") -> None:
    """Refuse arguments by unknown names.

    Args:
        given: the names of the arguments.
        known: the right names.
        hint: what to add to the message.

    Raises:
        ConfigurationError: there is such an argument; the message has the closest right name, and all of them.
    """
    for name in given:
        if name not in known:
            raise ConfigurationError(unknown("argument", name, known) + hint)


def check_texts(**given: object) -> None:
    """Check options that are texts, such as names and keys; None is a text that was not given.

    Raises:
        ConfigurationError: an option is something else.
    """
    for option, value in given.items():
        if value is not None and not isinstance(value, str):
            raise ConfigurationError(f"{option}= is a text, not {plain_repr(value)}")
