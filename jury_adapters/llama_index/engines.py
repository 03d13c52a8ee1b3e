"""Choice of the watched engines: by kind, class, name of a class, or a function."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.functions import is_async, takes
from jury_adapters.llama_index.run_tracking import METHODS, is_base, kind_of

Engine: TypeAlias = type | str
Engines: TypeAlias = Engine | Sequence[Engine] | Callable[[object, str], bool]


def wanted_engines(engines: Engines) -> Callable[[object, str], bool]:
    """Return a predicate of whether to watch a method of an engine.

    An unknown name only causes a warning, because its class may be defined later.

    Raises:
        ConfigurationError: ``engines`` is none of the accepted forms, is a function that cannot be called with an
            engine and a method, or is an empty list, which would watch nothing.
    """
    if callable(engines) and not isinstance(engines, type):
        return _checked_function(engines)
    named = [engines] if isinstance(engines, type | str) or not isinstance(engines, Sequence) else list(engines)
    for one in named:
        if not isinstance(one, type | str):
            raise ConfigurationError(
                f"select= takes kinds, classes, their names, or one function of engine and method; not an instance of "
                f"{type(one).__name__}"
            )
    if not named:
        raise ConfigurationError("select= is empty, so that nothing would be judged; leave it out to judge all")
    _warn_of_unknown(named)
    classes = tuple(one for one in named if isinstance(one, type))
    names = {one for one in named if isinstance(one, str)}
    kinds = names & METHODS.keys()
    return lambda instance, method: (
        isinstance(instance, classes)
        or (bool(kinds) and kind_of(type(instance)) in kinds)
        or any(base.__name__ in names for base in type(instance).__mro__)
    )


def _checked_function(function: Callable[[object, str], bool]) -> Callable[[object, str], bool]:
    if is_async(function) or not takes(function, 2):
        raise ConfigurationError(
            "select= takes a plain function of the engine and the name of the method called on it: select=lambda "
            'engine, method: getattr(engine, "tenant", None) == "a". To judge one kind of runs, name it: select="query"'
        )
    return function


def _warn_of_unknown(named: Sequence[Engine]) -> None:
    """Warn of names and classes that match no engine defined so far."""
    known = list(_engine_classes())
    if not known:  # LlamaIndex's engines are not loaded
        return
    names = {base.__name__ for cls in known for base in cls.__mro__} | METHODS.keys()
    for one in named:
        if isinstance(one, str) and one not in names:
            said = unknown("engine", one, names - {"object"}).partition(" Known:")[0]
            kinds = ", ".join(METHODS)
            warnings.warn(
                f"select=: {said} No class has that name so far; the kinds are {kinds}",
                UserWarning,
                stacklevel=_callers_level(),
            )
        elif isinstance(one, type) and not any(issubclass(cls, one) for cls in known):
            warnings.warn(
                f"select=: {one.__name__} is the class of no engine or agent", UserWarning, stacklevel=_callers_level()
            )


def _engine_classes() -> Iterator[type]:
    """Yield every class of query engines, chat engines, agents, workflows and retrievers that is defined so far."""
    waiting, seen = [object], set[type]()
    while waiting:
        cls = waiting.pop()
        if cls in seen:
            continue
        seen.add(cls)
        if is_base(cls):
            yield from _with_subclasses(cls)
        else:
            waiting += type.__subclasses__(cls)


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    inner: type
    for inner in type.__subclasses__(cls):
        yield from _with_subclasses(inner)


def _callers_level() -> int:
    """Return the stack level of the first caller outside this package, as seen from the caller of this function."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("jury_adapters."):
        frame, level = frame.f_back, level + 1
    return level
