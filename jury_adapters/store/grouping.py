"""Work that is dear once and cheap together, such as a commit: one thread does it for all who ask within 20 ms."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

from jury_adapters.core.errors import ConfigurationError

LARGEST_GROUP = 512

Item = TypeVar("Item")
Result = TypeVar("Result")


class Groups(Generic[Item, Result]):
    """A thread that works on what many event loops and threads hand in, a group at a time.

    Whatever goes wrong is told to those who wait; the thread itself lives on, or they would wait for ever.

    Args:
        work: takes a group, returns one result for each of it. Runs in the thread, never twice at once.
        where: what it is done to, for messages: ``"the store runs.db"``.
        within_s: seconds for which a group waits for more, after its first.
    """

    def __init__(self, work: Callable[[list[Item]], Sequence[Result]], *, where: str, within_s: float) -> None:
        self._work = work
        self._where = where
        self._within_s = within_s
        self._inbox: queue.SimpleQueue[_Asked[Item, Result] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._closed = False

    @property
    def usable(self) -> bool:
        """Whether it is open, and this is the process that made it."""
        return not self._closed and self._process == os.getpid()

    def check_usable(self) -> None:
        """Say what to do when it is closed, or was made in another process.

        Raises:
            ConfigurationError: it is not usable.
        """
        if self._closed:
            raise ConfigurationError(f"{self._where} is closed; open it again with Store(...)")
        if self._process != os.getpid():
            raise ConfigurationError(
                f"{self._where} was opened before this process was forked; open it here with Store(...)"
            )

    def submit(self, item: Item) -> asyncio.Future[Result]:
        """Hand in one item; the future has its result.

        Raises:
            ConfigurationError: it is closed, or was made in another process.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        with self._lock:  # nothing may slip in behind the word that ends the thread
            self.check_usable()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="jury-store", daemon=True)
                self._thread.start()
            self._inbox.put(_Asked(item, loop, done))
        return done

    def close(self, timeout_s: float | None = None) -> bool:
        """Work on what is waiting, then end the thread. May be called twice.

        Args:
            timeout_s: seconds to wait for that; None waits until it is done.

        Returns:
            Whether the thread has ended.
        """
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
            if thread is not None and thread.is_alive():
                self._inbox.put(None)
        if thread is not None and thread.is_alive():
            thread.join(timeout_s)
            return not thread.is_alive()
        return True

    def _run(self) -> None:
        last = False
        while not last and (first := self._inbox.get()) is not None:
            group, last = self._group(first)
            error: Exception | None = None
            results: Sequence[Result] = ()
            try:
                results = self._work([asked.item for asked in group])
            except Exception as problem:
                error = problem
            self._tell(group, results, error)

    def _group(self, first: _Asked[Item, Result]) -> tuple[list[_Asked[Item, Result]], bool]:
        group = [first]
        until = time.monotonic() + self._within_s
        while len(group) < LARGEST_GROUP:
            try:
                asked = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return group, False
            if asked is None:
                return group, True
            group.append(asked)
        return group, False

    def _tell(self, group: list[_Asked[Item, Result]], results: Sequence[Result], error: Exception | None) -> None:
        """Wake each event loop once, whatever the number of those who wait in it."""
        if error is None:
            by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Result], Result]]] = {}
            for asked, result in zip(group, results, strict=True):
                by_loop.setdefault(asked.loop, []).append((asked.done, result))
            for loop, done in by_loop.items():
                with suppress(RuntimeError):  # the loop that asked may be gone
                    loop.call_soon_threadsafe(_succeed, done)
            return
        for asked in group:
            with suppress(RuntimeError):
                asked.loop.call_soon_threadsafe(_fail, asked.done, error)


class _Asked(NamedTuple, Generic[Item, Result]):
    item: Item
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Result]


def _succeed(settled: list[tuple[asyncio.Future[Result], Result]]) -> None:
    for done, result in settled:
        if not done.done():
            done.set_result(result)


def _fail(done: asyncio.Future[Result], error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
