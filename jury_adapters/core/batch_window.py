"""The window of a batch: cases in flight, judgments that wait to be delivered, and room for more."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TypeVar

from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import BatchState
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Judgment, Status

F = TypeVar("F")

_log = logging.getLogger("jury_adapters.core.batch")  # the batch's own: the window is a part of it

# In multiples of the concurrency, little enough that memory stays flat: the most cases in flight, and the most that
# have been read and not delivered. In input order, a case that waits for a retry holds up verdicts that are there.
_AHEAD = 4
_UNDELIVERED = 16


@dataclass(frozen=True, slots=True)
class Judged:
    """One case of a batch with its judgment.

    Attributes:
        index: the case's position in the input, from 0.
        case: the case, or None when the input row is not a case (the judgment is ERROR and says why).
        judgment: the judge's result.
    """

    index: int
    case: Case | None
    judgment: Judgment


def input_order(batch: Sequence[object]) -> list[int]:
    """Return the positions of a batch in the order of its input, however its cases finished.

    A batch that is not all :class:`Judged`, or in which an index occurs twice, stays as it is.
    """
    indexes = [item.index for item in batch if isinstance(item, Judged)]
    positions = list(range(len(batch)))
    whole = len(indexes) == len(batch) == len(set(indexes))
    return sorted(positions, key=indexes.__getitem__) if whole else positions


class Window(Generic[F]):
    """The cases of a batch that are in flight or wait to be delivered.

    Args:
        max_concurrency: the number of cases that are worked on at once.
        batch: state of the batch; its idle cases do not count as worked on.
        ordered: whether judgments are delivered in the order of the cases.
        progress: called with the number of cases done, after each.
        on_error: called with each case whose judgment is ERROR.

    Raises:
        ConfigurationError: ``max_concurrency`` is not a whole number from 1.
    """

    def __init__(
        self,
        max_concurrency: int,
        batch: BatchState,
        *,
        ordered: bool = True,
        progress: Callable[[int], None] | None = None,
        on_error: Callable[[Judged], None] | None = None,
    ) -> None:
        if isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int) or max_concurrency < 1:
            raise ConfigurationError(f"max_concurrency is a whole number from 1, not {max_concurrency!r}")
        self._limit = max_concurrency
        self._batch = batch
        self._ordered = ordered
        self._progress = progress
        self._on_error = on_error
        self._raised: set[str] = set()
        self._running: dict[int, tuple[Case, F]] = {}
        self._waiting: dict[int, Judged] = {}
        self._order: deque[int] = deque()
        self._done = self._errors = 0
        self._started = perf_counter()

    @property
    def running(self) -> bool:
        """Whether any case is in flight."""
        return bool(self._running)

    @property
    def has_room(self) -> bool:
        """Whether another case may start."""
        in_flight = len(self._running)
        return (
            in_flight - self._batch.idle_cases < self._limit
            and in_flight < self._limit * _AHEAD
            and in_flight + len(self._waiting) < self._limit * _UNDELIVERED
        )

    def on_room(self, callback: Callable[[], None]) -> None:
        """Set what is called when a case in flight gives up its place, on the event loop that judges the case."""
        self._batch.on_idle = callback

    def start(self, index: int, case: Case, future: F) -> None:
        """Take in a case whose judging has started."""
        self._running[index] = (case, future)
        self._note(index)

    def add(self, item: Judged) -> None:
        """Take in a case that is judged already."""
        self._note(item.index)
        self._take(item)

    def future(self, index: int) -> F:
        """Return the future of a case in flight."""
        return self._running[index][1]

    def in_flight(self) -> list[F]:
        """Return the futures of all cases in flight."""
        return [future for _, future in self._running.values()]

    def finish(self, index: int, judgment: Judgment) -> None:
        """Take in the judgment of a case in flight."""
        case, _ = self._running.pop(index)
        self._take(Judged(index, case, judgment))

    def ready(self) -> Iterator[Judged]:
        """Yield what can be delivered now, in input order or as finished."""
        if not self._ordered:
            for index in list(self._waiting):
                yield self._waiting.pop(index)
            return
        while self._order and self._order[0] in self._waiting:
            yield self._waiting.pop(self._order.popleft())

    def log_end(self) -> None:
        """Log what became of the batch, also of one that was interrupted."""
        took, left = perf_counter() - self._started, len(self._running)
        _log.info("%d cases judged in %.1f s, %d of them ERROR; %d broken off", self._done, took, self._errors, left)

    def _note(self, index: int) -> None:
        if self._ordered:
            self._order.append(index)

    def _take(self, item: Judged) -> None:
        self._waiting[item.index] = item
        self._done += 1
        self._errors += item.judgment.status is Status.ERROR
        if self._progress is not None:
            self._call("progress", self._progress, self._done)
        if self._on_error is not None and item.judgment.status is Status.ERROR:
            self._call("on_error", self._on_error, item)

    def _call(self, name: str, callback: Callable[[Any], None], argument: object) -> None:
        """Call a callback of the user; what it raises is logged once, without its text, which may show a case."""
        try:
            callback(argument)
        except Exception as error:
            if name not in self._raised:
                self._raised.add(name)
                _log.warning("the %s callback of the batch raised %s; the batch goes on", name, type(error).__name__)
