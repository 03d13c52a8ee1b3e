"""Tools that an agent can call, for rubrics with the variable ``available_tools``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.utils.function_calling import convert_to_openai_tool

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.core.loose_values import field_of
from jury_adapters.critic.rubric import Rubric

_VARIABLE: Final = "available_tools"


def shows_tools(judge: Judge) -> bool:
    """Return whether a rubric in a jury shows the available tools, as ``tool_selection`` and ``tool_arguments`` do."""
    rubric = getattr(judge, "rubric", None)
    shown = isinstance(rubric, Rubric) and _VARIABLE in rubric.variables
    return shown or any(map(shows_tools, judge.members))


def with_available_tools(case: Case, request: object) -> Case:
    """Return a case with the tools of an agent in its metadata, unless these have an entry of that name.

    Args:
        case: the case of an answer or of a tool call.
        request: the request of the model or of the tool call. An old LangGraph, such as 1.1.6, does not tell a call
            which tools there are; the case then stays as it is.
    """
    tools: Any = field_of(request, "tools") or field_of(field_of(request, "runtime"), "tools")
    if not tools or _VARIABLE in case.metadata:
        return case
    return case.model_copy(update={"metadata": {**case.metadata, _VARIABLE: _described(tools)}})


def _described(tools: Sequence[Any]) -> list[Any]:
    """Return the name, the description and the parameters of each tool, as the model gets them."""
    described: list[Any] = []
    for tool in tools:
        try:
            described.append(convert_to_openai_tool(tool)["function"])
        except Exception:  # a tool of the vendor, in a format of its own
            described.append(tool if isinstance(tool, dict) else str(field_of(tool, "name") or tool))
    return described
