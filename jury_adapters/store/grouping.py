"""Group commit: one thread commits for all writers that arrive within a short window."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from jury_adapters.core.errors import ConfigurationError

LARGEST_GROUP = 512

Item = TypeVar("Item")
Result = TypeVar("Result")


class GroupCommitter(Generic[Item, Result]):
    """Thread that processes items from many event loops and threads, a group at a time.

    Every error is passed to the waiting callers. The thread survives it, because otherwise they would wait forever.

    Args:
        work: takes a group and returns one result for each item. Runs in the thread, never twice at once.
        where: the target of the work, for messages: ``"the store runs.db"``.
        within_s: seconds that a group waits for more items, after its first.
    """

    def __init__(self, work: Callable[[list[Item]], Sequence[Result]], *, where: str, within_s: float) -> None:
        self._work = work
        self._where = where
        self._within_s = within_s
        self._waiting: list[_Asked[Item, Result]] = []
        self._changed = threading.Condition(threading.Lock())
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._closed = False

    @property
    def usable(self) -> bool:
        """Whether it is open, and this process made it."""
        return not self._closed and not self.forked

    @property
    def forked(self) -> bool:
        """Whether this process was forked from the one that made it."""
        return self._process != os.getpid()

    def check_usable(self) -> None:
        """Refuse use after closing, or in another process.

        Raises:
            ConfigurationError: it is not usable; the message says what to do.
        """
        if self._closed:
            raise ConfigurationError(f"{self._where} is closed; open it again")
        if self.forked:
            raise ConfigurationError(f"{self._where} was opened before this process was forked; open it here again")

    def submit(self, item: Item) -> asyncio.Future[Result]:
        """Submit one item, and return the future of its result.

        Raises:
            ConfigurationError: it is closed, or was made in another process.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        with self._changed:  # no item may be added after the thread has ended
            self.check_usable()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="jury-store", daemon=True)
                self._thread.start()
            self._waiting.append(_Asked(item, loop, done))
            if len(self._waiting) in (1, LARGEST_GROUP):  # waking the thread costs more than everything else here
                self._changed.notify()
        return done

    def close(self, timeout_s: float | None = None) -> bool:
        """Process pending items, then end the thread. May be called twice, and at once: each call waits for the end.

        Args:
            timeout_s: maximum wait for the end in seconds; None waits until it is reached.

        Returns:
            Whether the thread has ended.
        """
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        return not thread.is_alive()

    def _run(self) -> None:
        while group := self._next_group():
            try:
                results = self._work([asked.item for asked in group])
                succeeded = [
                    partial(_succeed, asked.done, result) for asked, result in zip(group, results, strict=True)
                ]
                _tell(group, succeeded)
            except Exception as error:
                _tell(group, [partial(_fail, asked.done, error) for asked in group])

    def _next_group(self) -> list[_Asked[Item, Result]]:
        """Wait for a group, and return it; an empty group means that all work is done and no more may come."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            self._changed.wait_for(lambda: len(self._waiting) >= LARGEST_GROUP or self._closed, self._within_s)
            group, self._waiting = self._waiting[:LARGEST_GROUP], self._waiting[LARGEST_GROUP:]
            return group


class _Asked(NamedTuple, Generic[Item, Result]):
    item: Item
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Result]


def _tell(group: Sequence[_Asked[Item, Result]], calls: Sequence[Callable[[], None]]) -> None:
    """Wake each event loop once, whatever the number of callers that wait in it."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Callable[[], None]]] = {}
    for asked, one in zip(group, calls, strict=True):
        by_loop.setdefault(asked.loop, []).append(one)
    for loop, all_of_it in by_loop.items():
        with suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(_call_all, all_of_it)


def _call_all(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


def _succeed(done: asyncio.Future[Result], result: Result) -> None:
    if not done.done():  # the wait may have been cancelled
        done.set_result(result)


def _fail(done: asyncio.Future[Result], error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
