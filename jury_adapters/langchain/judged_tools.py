"""Read the names of the tools whose calls a jury judges, and check that the agent has these tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.tools import BaseTool

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.loose_values import field_of


def read_judged_tools(option: object) -> frozenset[str]:
    """Return the tool names in a ``tools=`` option.

    Raises:
        ConfigurationError: ``option`` is not a list of names, or is empty.
    """
    if isinstance(option, str | bytes | BaseTool) or not isinstance(option, Iterable):
        raise ConfigurationError(f"tools= is a list of names, not {plain_repr(option)}")
    names = list(option)
    for name in names:
        if not isinstance(name, str) or not name.strip():
            tool_name = getattr(name, "name", None)
            fix = f"; give its name, {tool_name!r}" if isinstance(tool_name, str) else ""
            raise ConfigurationError(f"tools= takes names of tools, not {plain_repr(name)}{fix}")
    if not names:
        raise ConfigurationError("tools=[] judges no call; leave tools= out to judge the calls of all tools")
    return frozenset(names)


def check_judged_tools(names: Iterable[str], tools: Sequence[object]) -> None:
    """Check that an agent has the tools whose calls are to be judged.

    Args:
        names: the names in the option.
        tools: the tools offered to the model.

    Raises:
        ConfigurationError: the agent has no tool of such a name.
    """
    known = {name for tool in tools if (name := _name_of(tool)) is not None}
    missing = sorted(set(names) - known)
    if missing:
        raise ConfigurationError(
            f"tools= of a JuryMiddleware: {unknown('tool', missing[0], known)} If another middleware chooses the tools "
            "of each call, list it after this one"
        )


def _name_of(tool: object) -> str | None:
    """Return the name of a tool, which may be a dict in a vendor's format; None if it has none."""
    if isinstance(tool, BaseTool):
        return tool.name
    name = field_of(field_of(tool, "function") or tool, "name")
    return name if isinstance(name, str) else None
