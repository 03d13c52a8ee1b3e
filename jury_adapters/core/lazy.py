"""Lazy loading of names, with installation advice if their framework is missing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra


def load(home: str, name: str, frameworks: Mapping[str, tuple[str, ...]]) -> object:
    """Import a module and return a name from it.

    Args:
        home: the module.
        name: the name in the module.
        frameworks: the frameworks that the module may need, by import name: the framework's own name, the extra that
            installs it, and further requirements.

    Raises:
        ConfigurationError: one of the frameworks is not installed.
        ModuleNotFoundError: another module is missing, possibly inside a framework, so that installing the framework
            would not help.

    >>> load("jury_adapters.core.errors", "InputError", {}).__name__
    'InputError'
    """
    try:
        return getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        fix = frameworks.get(error.name or "")
        if fix is None:
            raise
        raise ConfigurationError(needs_extra(name, *fix)) from error
