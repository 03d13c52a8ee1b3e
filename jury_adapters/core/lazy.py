"""Names that are loaded when they are first used, and what to install where their framework is missing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from jury_adapters.core.errors import ConfigurationError


def load(home: str, name: str, frameworks: Mapping[str, str]) -> object:
    """Get a name from a module, which is loaded now.

    Args:
        home: the module.
        name: what to get from it.
        frameworks: what the module may need, by the name under which it is imported: who it is, and how to install it.

    Raises:
        ConfigurationError: one of the frameworks is not installed. Another module that is missing, also one inside a
            framework, raises ``ModuleNotFoundError``, since installing the framework would not help.

    >>> load("jury_adapters.core.errors", "InputError", {}).__name__
    'InputError'
    """
    try:
        return getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        fix = frameworks.get(error.name or "")
        if fix is None:
            raise
        raise ConfigurationError(f"{name} needs {fix}") from error
