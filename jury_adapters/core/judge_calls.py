"""Cases of the calls ``judge(...)`` and ``ajudge(...)``, and errors for arguments that belong to their batch forms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError


def case_of_call(
    call: str,
    case: Case | str | Mapping[str, Any] | None,
    fields: Mapping[str, Any],
    batch_options: Callable[[], Collection[str]],
) -> Case:
    """Return the case for the arguments of a call.

    Args:
        call: the name of the method, ``"judge"`` or ``"ajudge"``.
        case: its positional argument.
        fields: its keyword arguments.
        batch_options: returns the names of the options of the method for many cases; called for a wrong call only.

    Raises:
        ConfigurationError: the arguments do not make a case; if one of them is an option of the method for many cases,
            the message says so.
    """
    try:
        return Case.of(case, fields)
    except ConfigurationError:
        known = batch_options()
        options = [name for name in fields if name in known]
        if not options:
            raise
    named = ", ".join(f"{name}=" for name in options)
    given = ", ".join(f"{name}=..." for name in options)
    raise ConfigurationError(f"{call}() takes no {named}; {call}_many([case], {given}) does")
