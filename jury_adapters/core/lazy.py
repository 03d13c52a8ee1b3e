"""Public names that are loaded when they are used, so that importing a package loads no framework."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def loader(package: str, homes: Mapping[str, str], extra: str, needed: str = "") -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, which says what to install where a framework is missing.

    Args:
        package: the name of the package.
        homes: the module of each public name.
        extra: the extra of this distribution that installs the framework.
        needed: the distribution to name if a module is missing; by default that of the module's name.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            found = getattr(import_module(homes[name]), name)
        except ModuleNotFoundError as error:
            if not error.name or error.name.startswith("jury_adapters"):
                raise
            missing = needed or error.name.partition(".")[0].replace("_", "-")
            raise ImportError(f"{name} needs {missing}: pip install 'jury-adapters[{extra}]' {missing}") from error
        setattr(sys.modules[package], name, found)
        return found

    return load
