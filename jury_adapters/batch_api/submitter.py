"""Thread for the batches of one folder, which runs as long as a request waits for them.

Batches outlive calls and event loops. A judge may be asked synchronously, from a notebook, or from several loops at
once, and all these requests belong into the same batches. Therefore the work has a thread and an event loop of its own.
It starts with the first request. It ends when no request waits, and then closes the clients and releases the folder.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jury_adapters.batch_api.ledger import Ledger
from jury_adapters.batch_api.model_queue import BatchingPolicy, ModelQueue, PendingRequest, Waiter, deliver
from jury_adapters.batch_api.vendors import VENDORS
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.models.vendor_model import VendorModel

_GRACE_S = 4.0  # for a batch that is being sent when the last request stops waiting

_IDLE_S = 0.5  # after the last answer, because failed requests are often repeated at once, over the open connections


@dataclass(frozen=True, slots=True)
class Request:
    """Request on its way to a batch.

    Attributes:
        direct: the model that is asked.
        policy: the rules by which its batches are made.
        asked: the request with those that wait for it.
    """

    direct: VendorModel
    policy: BatchingPolicy
    asked: PendingRequest


class Submitter:
    """Entry point for the batch requests of a folder; one per folder and process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._session: _Session | None = None

    def hand_in(self, request: Request) -> None:
        """Submit a request. Its waiter gets the result."""
        with self._lock:
            if self._session is None or not self._session.take(request):
                self._session = _Session(self._folder, self._session)
                self._session.take(request)
                self._session.thread.start()

    def close(self) -> None:
        """End the work. Batches that were sent stay on record."""
        if self._session is not None:
            self._session.stop()

    def abandon(self) -> None:
        """Release what a parent process had opened. The parent keeps it."""
        if self._session is not None and self._session.ledger is not None:
            self._session.ledger.abandon()


def submitter_of(folder: Path) -> Submitter:
    """Return the submitter of a folder."""
    path = folder.absolute()
    with _LOCK:
        return _SUBMITTERS.setdefault(path, Submitter(path))


class _Session:
    """Thread that runs from the first request until no request waits."""

    def __init__(self, folder: Path, before: _Session | None) -> None:
        self.thread = threading.Thread(target=self._run, name="jury-batches", daemon=True)
        self.ledger: Ledger | None = None
        self._folder = folder
        self._before = before
        self._lock = threading.Lock()
        self._waiters: set[Waiter] = set()
        self._inbox: deque[Request] = deque()
        self._queues: dict[str, ModelQueue] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self._over = False

    def take(self, request: Request) -> bool:
        """Accept a request, or return False when the session is over."""
        with self._lock:
            if self._over:
                return False
            (waiter,) = request.asked.waiters
            self._waiters.add(waiter)
            self._inbox.append(request)
            if self._loop is not None and len(self._inbox) == 1:
                self._loop.call_soon_threadsafe(self._admit)
        waiter.add_done_callback(self._left)
        return True

    def stop(self) -> None:
        """End the session, and wait a few seconds for its end."""
        with self._lock:
            if self._loop is not None and self._work is not None and not self._over:
                self._loop.call_soon_threadsafe(self._work.cancel)
        self.thread.join(_GRACE_S + 1)

    def _left(self, waiter: Waiter) -> None:
        with self._lock:
            self._waiters.discard(waiter)
            if not self._waiters and self._loop is not None and not self._over:
                self._loop.call_soon_threadsafe(self._quiet.set)

    def _run(self) -> None:
        if self._before is not None:
            self._before.thread.join()  # until its end, it locks the folder
            self._before = None
        problem: Exception = ConfigurationError("the work on batches was ended; ask again")
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self._serve())
        except Exception as error:
            problem = error
        with self._lock:
            self._over = True
            left = list(self._waiters)
        deliver(left, problem)

    async def _serve(self) -> None:
        self._quiet = asyncio.Event()
        self._work = asyncio.current_task()
        with Ledger(self._folder) as self.ledger:
            with self._lock:
                self._loop = asyncio.get_running_loop()
            try:
                self._admit()
                while not self._finished():
                    await self._quiet.wait()
                    self._quiet.clear()
                    await asyncio.sleep(_IDLE_S)
            finally:
                with self._lock:
                    self._over = True
                await asyncio.gather(*(queue.close(_GRACE_S) for queue in self._queues.values()))

    def _finished(self) -> bool:
        with self._lock:
            self._over = not self._waiters
            return self._over

    def _admit(self) -> None:
        with self._lock:
            arrived = list(self._inbox)
            self._inbox.clear()
        for request in arrived:
            try:
                self._queue_for(request.direct).ask(request.asked, request.policy)
            except Exception as error:
                deliver(request.asked.waiters, error)

    def _queue_for(self, direct: VendorModel) -> ModelQueue:
        """Return the queue of a model.

        Raises:
            ConfigurationError: the queue exists with another key or timeout.
        """
        assert self.ledger is not None
        name = f"{direct.name} {direct.address or ''}".strip()
        queue = self._queues.get(name)
        if queue is None:
            queue = self._queues[name] = ModelQueue(name, VENDORS[direct.sdk](direct), self.ledger)
        elif queue.vendor.direct.identity != direct.identity:
            raise ConfigurationError(
                f"{direct.name} is asked with two keys, or two timeouts, in the folder of batches {self._folder}; "
                "give each a folder of its own"
            )
        return queue


def _close_all() -> None:
    for submitter in list(_SUBMITTERS.values()):
        submitter.close()


def _after_fork() -> None:
    """Discard all submitters in a child process, which has the parent's memory but not its threads or locks."""
    for submitter in _SUBMITTERS.values():
        submitter.abandon()
    _SUBMITTERS.clear()


_LOCK = threading.Lock()
_SUBMITTERS: dict[Path, Submitter] = {}
atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
