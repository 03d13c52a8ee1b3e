"""Names of the tools whose calls a jury judges: reading the option, and checking it against the agent's tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.tools import BaseTool

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.loose_values import field_of


def judged_tools(given: object) -> frozenset[str]:
    """Return the names in a ``tools=`` option.

    Raises:
        ConfigurationError: ``given`` is not a list of names, or is empty.
    """
    if isinstance(given, str | bytes | BaseTool) or not isinstance(given, Iterable):
        shown = type(given).__name__ if isinstance(given, BaseTool) else repr(given)
        raise ConfigurationError(f"tools= is a list of names, not {shown}")
    names = list(given)
    for name in names:
        if not isinstance(name, str) or not name.strip():
            known = getattr(name, "name", None)
            fix = f"; give its name, {known!r}" if isinstance(known, str) else ""
            shown = repr(name) if isinstance(name, str) else type(name).__name__
            raise ConfigurationError(f"tools= takes names of tools, not {shown}{fix}")
    if not names:
        raise ConfigurationError("tools=[] judges no call; leave tools= out to judge the calls of all tools")
    return frozenset(names)


def check_judged_tools(names: Iterable[str], tools: Sequence[object]) -> None:
    """Check that an agent has the tools whose calls are to be judged.

    Args:
        names: the names in the option.
        tools: the tools offered to the model.

    Raises:
        ConfigurationError: a name is not the name of a tool.
    """
    known = {name for tool in tools if (name := _name_of(tool)) is not None}
    missing = sorted(set(names) - known)
    if missing:
        raise ConfigurationError(
            f"tools= of a JuryMiddleware: {unknown('tool', missing[0], known)} If another middleware chooses the tools "
            "of each call, list it after this one"
        )


def _name_of(tool: object) -> str | None:
    """Return the name of a tool, or of a vendor's description of one."""
    if isinstance(tool, BaseTool):
        return tool.name
    name = field_of(field_of(tool, "function") or tool, "name")
    return name if isinstance(name, str) else None
