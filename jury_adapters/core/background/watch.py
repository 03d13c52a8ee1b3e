"""Base of the handlers that observe an application and judge its runs in the background."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Self, Unpack

from jury_adapters.core.background.counts import Counts
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.background.options import EXIT_TIMEOUT, JudgeQueueOptions, check_whole
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judge_like import JudgeLike


class RunWatch:
    """Base class of handlers: counts, flushing and closing. Subclasses add the part of a framework."""

    _queue: JudgeQueue

    @property
    def counts(self) -> Counts:
        """Number of runs by outcome so far."""
        return replace(self._queue.counts, open=self._open_runs())

    def flush(self, timeout: float | None = None) -> bool:
        """Wait at most ``timeout`` seconds until every finished run is judged; return whether all are."""
        return self._queue.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """Wait like :meth:`flush`, for asynchronous code."""
        return await self._queue.aflush(timeout)

    def close(self, timeout: float | None = EXIT_TIMEOUT) -> bool:
        """Stop accepting runs and wait for pending ones; return whether all were judged."""
        self._detach()
        return self._queue.close(timeout)

    async def aclose(self, timeout: float | None = EXIT_TIMEOUT) -> bool:
        """Close the handler like :meth:`close`, for asynchronous code."""
        self._detach()
        return await self._queue.aclose(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close(self._queue.exit_timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose(self._queue.exit_timeout)

    @abstractmethod
    def _open_runs(self) -> int:
        """Return the number of open runs."""

    def _detach(self) -> None:
        """Stop observing, if the framework supports it."""


def queue_of(judge: JudgeLike, max_open: int, own: Iterable[str], **options: Unpack[JudgeQueueOptions]) -> JudgeQueue:
    """Return the queue of a handler after checking its options.

    Args:
        judge: the judge.
        max_open: the maximum number of open runs.
        own: names of further options of the handler, for messages.
        **options: the options of the queue.

    Raises:
        ConfigurationError: an option is unknown or out of its range.
    """
    known = JudgeQueueOptions.__annotations__.keys()
    if strange := sorted(options.keys() - known):
        raise ConfigurationError(unknown("option", strange[0], {*known, "max_open", *own}))
    check_whole(max_open=max_open)
    return JudgeQueue(judge, **options)
