"""Facts about functions of the user: where they are found, and what they take."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable


def attribute_at(module: object, name: str) -> object:
    """Return what a qualified name stands for in a module; None if it is not found."""
    found = sys.modules.get(module) if isinstance(module, str) else None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def is_async(function: object) -> bool:
    """Whether calling a function, or an object with ``__call__``, returns something to await."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def takes_one(function: Callable[..., object]) -> bool:
    """Return whether a function can be called with one argument; True where the signature is unknown."""
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # one of C without a signature
        return True
    return True
