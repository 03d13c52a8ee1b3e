"""Runs in whose context a run begins, where LangChain does not name its parent, or names a run of LangSmith."""

from __future__ import annotations

import sys
from typing import Final
from uuid import UUID


def run_of_context() -> UUID | None:
    """Return the run of the current context; ``with_fallbacks`` does not name it as the parent of its attempts."""
    config_module = sys.modules.get("langchain_core.runnables.config")  # if it is not loaded, no Runnable is running
    variable = getattr(config_module, "var_child_runnable_config", None)
    config = None if variable is None else variable.get()
    found = getattr((config or {}).get("callbacks"), "parent_run_id", None)
    return found if isinstance(found, UUID) else None


def runs_around_traced(run_id: UUID) -> list[UUID]:
    """Return the runs around a run of LangSmith in the trace of the current context, the innermost first.

    LangSmith has runs of its own, such as those of ``@traceable`` functions and of the hooks of LangChain's
    middlewares, and LangChain names them as parents of its runs. A callback handler does not get their events. The
    trace has the runs of both: the dotted order of a run lists the ids from the outermost run to the run itself.

    Args:
        run_id: the run that LangChain names as the parent of a run that begins in the current context.
    """
    helpers = sys.modules.get("langsmith.run_helpers")  # if it is not loaded, nothing is traced
    current = getattr(helpers, "get_current_run_tree", None)
    tree = None if current is None else current()
    order = getattr(tree, "dotted_order", None)
    ids = [segment[-_ID_LENGTH:] for segment in order.split(".")] if isinstance(order, str) else []
    if str(run_id) not in ids:
        return []
    return [found for one in reversed(ids[: ids.index(str(run_id))]) if (found := _parsed(one)) is not None]


def _parsed(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


_ID_LENGTH: Final = 36
