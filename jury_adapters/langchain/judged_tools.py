"""Read the names of the tools whose calls a jury judges, and check that the agent has the tools that are named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.evidence import Evidence
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


class NamedTools:
    """Check at the first call of its model that an agent has the tools that the options of a middleware name.

    Args:
        judged: the names in ``tools=``.
        evidence: the rule with the names in ``evidence_tools=``.
    """

    __slots__ = ("_evidence", "_judged", "_unseen")

    def __init__(self, judged: frozenset[str] | None, evidence: Evidence) -> None:
        self._judged = judged or frozenset()
        self._evidence = evidence
        self._unseen = bool(self._judged or evidence.names)

    def check(self, request: ModelRequest[Any]) -> None:
        """Check the names against the tools that are offered to the model.

        A name in ``evidence_tools=`` may also be that of a tool of another agent, if the messages show a call of it. An
        agent without tools is not checked for them.

        Raises:
            ConfigurationError: there is no tool of such a name.
        """
        if not self._unseen:
            return
        own = {name for tool in request.tools if (name := _name_of(tool)) is not None}
        if missing := sorted(self._judged - own):
            raise ConfigurationError(f"tools= of a JuryMiddleware: {unknown('tool', missing[0], own)} {_LATER}")
        called = {one.name for one in request.state["messages"] if isinstance(one, ToolMessage) and one.name}
        if own and (missing := sorted(self._evidence.names - own - called)):
            raise ConfigurationError(
                f"evidence_tools= of a JuryMiddleware: {unknown('tool', missing[0], own | called)} {_LATER}. If it is "
                f"a tool of another agent, give a predicate: evidence_tools=lambda step: step.tool in [{missing[0]!r}]"
            )
        if own:
            self._evidence.confirm()
        self._unseen = False


def _name_of(tool: object) -> str | None:
    """Return the name of a tool, which may be a dict in a vendor's format; None if it has none."""
    if isinstance(tool, BaseTool):
        return tool.name
    name = field_of(field_of(tool, "function") or tool, "name")
    return name if isinstance(name, str) else None


_LATER = "If another middleware chooses the tools of each call, list it after this one"
