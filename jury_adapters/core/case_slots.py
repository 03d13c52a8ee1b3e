"""Places of a batch window: one per case, released while every open call of the case waits for a retry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class CaseSlot:
    """Place of one case in the window of a batch.

    The batch counts a slot as occupied unless all open calls of its case wait for a retry. Calls report themselves with
    :meth:`call`, and their waits with :meth:`waiting`.

    Args:
        on_change: called without arguments whenever :attr:`idle` changes; on the event loop that judges the case.
        batch: state that all slots of one batch share; see :class:`BatchState`.

    Attributes:
        idle: True while every open call of the case waits for a retry.
    """

    __slots__ = ("_on_change", "_open", "_waiting", "batch", "idle")

    def __init__(self, on_change: Callable[[], None], batch: BatchState) -> None:
        self._on_change = on_change
        self._open = self._waiting = 0
        self.batch = batch
        self.idle = False

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count one open call for the duration of the block."""
        self._open += 1
        self._update()
        try:
            yield
        finally:
            self._open -= 1
            self._update()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count one open call as waiting for a retry for the duration of the block."""
        self._waiting += 1
        self._update()
        try:
            yield
        finally:
            self._waiting -= 1
            self._update()

    def _update(self) -> None:
        idle = 0 < self._open <= self._waiting
        if idle is not self.idle:
            self.idle = idle
            self._on_change()


class BatchState:
    """State that lives as long as one batch.

    Attributes:
        failing_models: for each model (by any hashable key), what :mod:`jury_adapters.models.retries` remembers of its
            consecutive final failures.
    """

    __slots__ = ("failing_models",)

    def __init__(self) -> None:
        self.failing_models: dict[object, object] = {}


CASE_SLOT: ContextVar[CaseSlot | None] = ContextVar("jury_case_slot", default=None)
"""The slot of the case that is being judged; None outside a batch."""
