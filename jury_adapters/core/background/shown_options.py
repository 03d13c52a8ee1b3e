"""Options that a class passes on, shown by ``help()`` as its own: their names, types, defaults and meanings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from inspect import Parameter
from typing import TypeVar

C = TypeVar("C", bound=type)


def shows_options_of(*sources: type) -> Callable[[C], C]:
    """Return a decorator of a class whose constructor passes its ``**options`` on to other classes.

    In the signature of the class, and in the section ``Args`` of its docstring, the options take the place of
    ``**options``. A checker of types knows them from the annotation ``Unpack[...]``; ``help()`` does not.

    Args:
        sources: the classes that take the options by name, each with a docstring that has an entry for each of them.
    """

    def decorate(cls: C) -> C:
        shown = _shown_signature(cls, sources)
        parameters = list(shown.parameters.values())
        vars(cls).get("__init__", cls.__init__).__signature__ = shown  # type: ignore[misc]
        if "__signature__" in vars(cls):  # pydantic has made one of the constructor
            cls.__signature__ = shown.replace(parameters=parameters[1:])  # type: ignore[attr-defined]
        cls.__doc__ = _shown_docstring(cls, sources)
        return cls

    return decorate


def _shown_signature(cls: type, sources: tuple[type, ...]) -> inspect.Signature:
    """Return the signature of a constructor, ``self`` included, with the options by name."""
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]
    own = {name: one for name, one in signature.parameters.items() if one.kind is not Parameter.VAR_KEYWORD}
    for source in sources:
        for name, one in inspect.signature(source).parameters.items():
            if one.kind is Parameter.KEYWORD_ONLY:
                own.setdefault(name, one)
    return signature.replace(parameters=list(own.values()))


def _shown_docstring(cls: type, sources: tuple[type, ...]) -> str:
    """Return the docstring of a class with the entries of the options."""
    text = inspect.cleandoc(cls.__doc__ or "")
    known = set(_ENTRY.findall(text))
    entries: list[str] = []
    for source in sources:
        options = {name for name, one in inspect.signature(source).parameters.items() if one.kind is one.KEYWORD_ONLY}
        arguments = inspect.cleandoc(source.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
        for entry in _ENTRIES.findall(arguments):
            name = _ENTRY.match(entry)
            if name is not None and name[1] in options - known:
                known.add(name[1])
                entries.append(entry)
    return _OPTIONS.sub(lambda _: "\n".join(entries), text, count=1)


_ENTRY = re.compile(r"^    (\w+): ", re.MULTILINE)
_ENTRIES = re.compile(r"^    \w+: .*(?:\n {8}.*)*", re.MULTILINE)
_OPTIONS = re.compile(r"^    \*\*options: .*(?:\n {8}.*)*", re.MULTILINE)
