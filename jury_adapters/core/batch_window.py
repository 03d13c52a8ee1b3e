"""Window of a batch: cases in flight, judgments that wait to be yielded, and room for further cases."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TypeVar

from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import BatchState
from jury_adapters.core.ending_early import READ_AHEAD
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict_facts import is_outage, outage_as_error

F = TypeVar("F")

_log = logging.getLogger("jury_adapters.core.batch")  # the logger of batches, because the window is a part of one

# Limits on the cases in flight, and on the cases that have been read and not yielded, in multiples of the concurrency.
# They bound the memory: in input order, a case that waits for a retry delays the verdicts after it.
_AHEAD = 4
_UNDELIVERED = 16


@dataclass(frozen=True, slots=True)
class Judged:
    """Case of a batch with its judgment.

    Attributes:
        index: the position of the case in the input, from 0.
        case: the case, or None if the input row is not a case (then the judgment is an ERROR with the reason).
        judgment: the judgment.
    """

    index: int
    case: Case | None
    judgment: Judgment


def input_order(batch: Sequence[object]) -> list[int]:
    """Return the positions of the items of a batch in input order.

    If some items are not :class:`Judged`, or an index occurs twice, the order is unchanged.
    """
    indexes = [item.index for item in batch if isinstance(item, Judged)]
    positions = list(range(len(batch)))
    whole = len(indexes) == len(batch) == len(set(indexes))
    return sorted(positions, key=indexes.__getitem__) if whole else positions


class Window(Generic[F]):
    """Cases of a batch that are in flight or wait to be yielded.

    Args:
        max_concurrency: the maximum number of cases that are judged at once.
        batch: state of the batch; its idle cases do not count.
        ordered: whether judgments are yielded in the order of the cases.
        ends_early: whether the cases end as soon as the judgments suffice, so that few are read ahead.
        progress: called after each case with the number of cases done.
        on_error: called with each case whose judgment is ERROR, of which every juror broke, or that is FAIL only
            because jurors broke.

    Raises:
        ConfigurationError: ``max_concurrency`` is not a whole number from 1.
    """

    def __init__(
        self,
        max_concurrency: int,
        batch: BatchState,
        *,
        ordered: bool = True,
        ends_early: bool = False,
        progress: Callable[[int], None] | None = None,
        on_error: Callable[[Judged], None] | None = None,
    ) -> None:
        if isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int) or max_concurrency < 1:
            raise ConfigurationError(f"max_concurrency is a whole number from 1, not {plain_repr(max_concurrency)}")
        self._limit = max_concurrency
        self._most_unyielded = max_concurrency * (READ_AHEAD if ends_early else _UNDELIVERED)
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
            and in_flight + len(self._waiting) < self._most_unyielded
        )

    def on_room(self, callback: Callable[[], None]) -> None:
        """Set the callback for a case in flight that becomes idle; it is called on the event loop of the case."""
        self._batch.on_idle = callback

    def start(self, index: int, case: Case, future: F) -> None:
        """Add a case whose judging has started."""
        self._running[index] = (case, future)
        self._note(index)

    def add(self, item: Judged) -> None:
        """Add a case that is already judged."""
        self._note(item.index)
        self._take(item)

    def future(self, index: int) -> F:
        """Return the future of a case in flight."""
        return self._running[index][1]

    def in_flight(self) -> list[F]:
        """Return the futures of all cases in flight."""
        return [future for _, future in self._running.values()]

    def finish(self, index: int, judgment: Judgment) -> None:
        """Add the judgment of a case in flight."""
        case, _ = self._running.pop(index)
        self._take(Judged(index, case, judgment))

    def ready(self) -> Iterator[Judged]:
        """Yield the cases that are ready, in input order or in the order in which they finished."""
        if not self._ordered:
            for index in list(self._waiting):
                yield self._waiting.pop(index)
            return
        while self._order and self._order[0] in self._waiting:
            yield self._waiting.pop(self._order.popleft())

    def log_end(self) -> None:
        """Log a summary of the batch, also if it was interrupted."""
        took, left = perf_counter() - self._started, len(self._running)
        done = counted(self._done, "case")
        _log.info("%s judged in %.1f s, %d of them ERROR; %d broken off", done, took, self._errors, left)

    def _note(self, index: int) -> None:
        if self._ordered:
            self._order.append(index)

    def _take(self, item: Judged) -> None:
        self._waiting[item.index] = item
        self._done += 1
        self._errors += item.judgment.status is Status.ERROR
        if self._progress is not None:
            self._call("progress", self._progress, self._done)
        if self._on_error is not None and is_outage(outage_as_error(item.judgment)):
            self._call("on_error", self._on_error, item)

    def _call(self, name: str, callback: Callable[[Any], None], argument: object) -> None:
        """Call a user's callback; its first exception is logged, without its text, which may contain a case."""
        try:
            callback(argument)
        except Exception as error:
            if name not in self._raised:
                self._raised.add(name)
                _log.warning("the %s callback of the batch raised %s; the batch goes on", name, type(error).__name__)
