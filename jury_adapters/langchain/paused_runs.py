"""Inputs of paused runs, kept until the runs are resumed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Final

from jury_adapters.core.field_names import columns_of
from jury_adapters.core.graph_commands import fields_of_state


class PausedRuns:
    """Inputs of runs that paused for human input, by the tasks that paused.

    A resumed LangGraph run gets a ``Command`` or None, and its question is in the inputs of the run that paused.
    LangGraph gives each task of a graph an id that depends on the checkpoint before it, and a resumed run continues
    with the tasks that paused. These ids distinguish graphs that share a thread and a name. The 1,000 tasks that paused
    last are kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inputs: OrderedDict[str, object] = OrderedDict()

    def pause(self, inputs: object, tasks: Iterable[str], waiting: Iterable[str]) -> None:
        """Keep the inputs of a run that paused; for a run that had been resumed before, keep its first inputs.

        Args:
            inputs: the inputs of the run.
            tasks: the tasks that ran in it.
            waiting: the tasks that paused.
        """
        first = self.finish(inputs, tasks)
        if first is None:
            return
        with self._lock:
            for task in waiting:
                self._inputs[task] = first
                self._inputs.move_to_end(task)
            while len(self._inputs) > _MOST_PAUSED:
                self._inputs.popitem(last=False)

    def finish(self, inputs: object, tasks: Iterable[str]) -> object:
        """Return the inputs with which a run began; None for a resumed run whose first inputs are unknown.

        An update in the ``Command`` that resumes a run (``Command(resume=..., update={"question": ...})``) changes the
        inputs like the state.
        """
        if not resumes(inputs):
            return inputs
        with self._lock:
            found = [self._inputs.pop(task) for task in tasks if task in self._inputs]
        return _updated(found[0], getattr(inputs, "update", None)) if found else None


def resumes(inputs: object) -> bool:
    """Return whether a LangGraph run resumed from a checkpoint: its input was None or a ``Command``."""
    return inputs is None or (type(inputs).__name__ == "Command" and hasattr(inputs, "resume"))


def _updated(inputs: object, update: object) -> object:
    """Return the inputs with the changes of an update to their fields, the question, and the messages.

    Other fields of an update, such as a decision, belong to the state and not to the inputs.
    """
    given, changed = fields_of_state(inputs), fields_of_state(update)
    if given is None or not changed:
        return inputs
    asked = {"messages", *columns_of(changed, ("question",)).of.values()}
    made = {**given, **{name: value for name, value in changed.items() if name in given or name in asked}}
    earlier, added = given.get("messages"), changed.get("messages")
    if isinstance(earlier, list | tuple) and added is not None:
        made["messages"] = [*earlier, *(added if isinstance(added, list) else [added])]
    return made


def task_of(metadata: Mapping[str, object]) -> str | None:
    """Return the id of the graph task that a run belongs to."""
    found = metadata.get("langgraph_checkpoint_ns")
    return found if isinstance(found, str) and found else None


_MOST_PAUSED: Final = 1_000
