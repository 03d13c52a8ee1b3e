"""Inputs of paused runs, kept until the runs are resumed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Final


class PausedRuns:
    """The inputs of runs that stopped to ask a person, by the tasks that asked.

    A LangGraph run that resumes is given a ``Command`` or None, and its question is in the inputs of the run that
    paused. LangGraph gives each task of a graph an id, made of the checkpoint before it, and a resumed run goes on with
    the tasks that asked. So graphs that share a thread and a name are told apart. The 1,000 tasks that asked last are
    kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inputs: OrderedDict[str, object] = OrderedDict()

    def pause(self, inputs: object, tasks: Iterable[str], waiting: Iterable[str]) -> None:
        """Keep the inputs of a run that paused; one that had been resumed before keeps its first inputs.

        Args:
            inputs: the inputs of the run.
            tasks: the tasks that ran in it.
            waiting: those of them that ask.
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
        """Return the inputs with which a run began; None for a resumed run whose first inputs are unknown."""
        if not resumes(inputs):
            return inputs
        with self._lock:
            found = [self._inputs.pop(task) for task in tasks if task in self._inputs]
        return found[0] if found else None


def resumes(inputs: object) -> bool:
    """Return whether a LangGraph run went on from a checkpoint: it was given nothing, or a ``Command``."""
    return inputs is None or (type(inputs).__name__ == "Command" and hasattr(inputs, "resume"))


def task_of(metadata: Mapping[str, object]) -> str | None:
    """Return the id of the task of a graph in which a run is."""
    found = metadata.get("langgraph_checkpoint_ns")
    return found if isinstance(found, str) and found else None


_MOST_PAUSED: Final = 1_000
