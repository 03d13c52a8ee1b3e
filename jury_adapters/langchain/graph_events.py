"""LangGraph's own events, which say that a graph paused, at a breakpoint too, and that it goes on."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final, Protocol, final
from uuid import UUID

from jury_adapters.langchain.collector import Collector


class GraphEvent(Protocol):
    """Event of a graph; see ``langgraph.callbacks``."""

    @property
    def run_id(self) -> UUID | None: ...

    @property
    def checkpoint_id(self) -> str: ...


class GraphEvents:
    """LangGraph's events, forwarded to a collector.

    LangGraph sends them only to instances of its own class of handlers, which new versions have. A handler does not
    import LangGraph, because it may watch other runs only. So it becomes an instance of that class when it hears of the
    first run after LangGraph was imported: a graph looks for such handlers after its run began.
    """

    _collector: Collector

    def on_interrupt(self, event: GraphEvent) -> None:
        """Record that a graph paused."""
        if event.run_id is not None:
            self._collector.pause(event.run_id, event.checkpoint_id)

    def on_resume(self, event: GraphEvent) -> None:
        """Record that a graph goes on from a checkpoint."""
        if event.run_id is not None:
            self._collector.resume(event.run_id, event.checkpoint_id)

    @final
    def _hear_graphs(self) -> None:
        """Let LangGraph send its events, if it is imported and has them."""
        handlers = getattr(sys.modules.get("langgraph.callbacks"), "GraphCallbackHandler", None)
        if isinstance(handlers, type) and not isinstance(self, handlers):
            with suppress(TypeError):  # a subclass of the application may not allow further bases
                self.__class__ = _with_base(type(self), handlers)


def _with_base(own: type[GraphEvents], base: type) -> type[GraphEvents]:
    """Return a subclass of a class and a further base, with the name of the class."""
    made = _MADE.get((own, base))
    if made is None:
        made = type(own.__name__, (own, base), {"__module__": own.__module__, "__doc__": own.__doc__})
        _MADE[own, base] = made
    return made


_MADE: Final[dict[tuple[type, type], type[GraphEvents]]] = {}
