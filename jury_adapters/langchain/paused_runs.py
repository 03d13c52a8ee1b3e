"""Inputs of paused runs, kept until the runs are resumed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final
from uuid import UUID

from jury_adapters.core.runs import Run


class PausedRuns:
    """The inputs of runs that stopped to ask a person, by thread and name of the run.

    A LangGraph run that resumes is given a ``Command`` or None. Its question is in the inputs of the run that paused.
    The 1,000 threads that paused last are kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inputs: OrderedDict[tuple[str, str], object] = OrderedDict()

    def pause(self, run: Run, inputs: object) -> None:
        """Keep the inputs of a run that paused; one that had been resumed before keeps its first inputs."""
        key = _key_of(run)
        if key is None:
            return
        with self._lock:
            if not resumes(inputs):
                self._inputs[key] = inputs
            if key in self._inputs:
                self._inputs.move_to_end(key)
            while len(self._inputs) > _MOST_PAUSED:
                self._inputs.popitem(last=False)

    def finish(self, run: Run, inputs: object) -> object:
        """Return the inputs with which a run began; None for a resumed run whose first inputs are unknown."""
        key = _key_of(run)
        with self._lock:
            first = None if key is None else self._inputs.pop(key, None)
        return first if resumes(inputs) else inputs


def resumes(inputs: object) -> bool:
    """Return whether a LangGraph run went on from a checkpoint: it was given nothing, or a ``Command``."""
    return inputs is None or (type(inputs).__name__ == "Command" and hasattr(inputs, "resume"))


def _key_of(run: Run) -> tuple[str, str] | None:
    thread = run.metadata.get("thread_id")
    return (str(thread), run.name) if isinstance(thread, str | int | UUID) else None


_MOST_PAUSED: Final = 1_000
