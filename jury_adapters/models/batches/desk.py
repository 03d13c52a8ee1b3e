"""One thread for the batches of one folder, as long as anybody waits for them.

Batches outlive calls and event loops: a judge may be asked synchronously, from a notebook, or from several loops at
once, and all of it belongs into the same batches. So the work has a thread and an event loop of its own. It starts with
the first request and ends, clients closed and folder released, when nobody waits any more.
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

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.models.batches.lane import Asked, Lane, Pace, Waiter, deliver
from jury_adapters.models.batches.ledger import Ledger
from jury_adapters.models.batches.vendors import VENDORS
from jury_adapters.models.vendor_model import VendorModel

_GRACE_S = 4.0  # for a batch that is just being sent, when nobody waits for it any more

_IDLE_S = 0.5  # after the last answer: what failed is often asked again at once, over the connections there are


@dataclass(frozen=True, slots=True)
class Request:
    """A request on its way to a batch.

    Attributes:
        direct: the model that is asked.
        pace: how its batches are made.
        asked: the request with the one who waits for it.
    """

    direct: VendorModel
    pace: Pace
    asked: Asked


class Desk:
    """Where requests for the batches of a folder are handed in; one per folder and process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._session: _Session | None = None

    def hand_in(self, request: Request) -> None:
        """Hand in a request; its waiter is told what came of it."""
        with self._lock:
            if self._session is None or not self._session.take(request):
                self._session = _Session(self._folder, self._session)
                self._session.take(request)
                self._session.thread.start()

    def close(self) -> None:
        """End the work; what is out stays known."""
        if self._session is not None:
            self._session.stop()

    def abandon(self) -> None:
        """Let go of what a parent process had opened; the parent keeps it."""
        if self._session is not None and self._session.ledger is not None:
            self._session.ledger.abandon()


def desk_of(folder: Path) -> Desk:
    """The desk of a folder."""
    path = folder.absolute()
    with _LOCK:
        return _DESKS.setdefault(path, Desk(path))


class _Session:
    """The thread, from the first request until nobody waits."""

    def __init__(self, folder: Path, before: _Session | None) -> None:
        self.thread = threading.Thread(target=self._run, name="jury-batches", daemon=True)
        self.ledger: Ledger | None = None
        self._folder = folder
        self._before = before
        self._lock = threading.Lock()
        self._waiters: set[Waiter] = set()
        self._inbox: deque[Request] = deque()
        self._lanes: dict[str, Lane] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self._over = False

    def take(self, request: Request) -> bool:
        """Take a request on; False when the session is over."""
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
        """End the session, and wait a little until it has."""
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
            self._before.thread.join()  # it holds the folder until then
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
                await asyncio.gather(*(lane.close(_GRACE_S) for lane in self._lanes.values()))

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
                self._lane(request.direct).ask(request.asked, request.pace)
            except Exception as error:
                deliver(request.asked.waiters, error)

    def _lane(self, direct: VendorModel) -> Lane:
        """The lane of a model.

        Raises:
            ConfigurationError: it is there, with another key or timeout.
        """
        assert self.ledger is not None
        name = f"{direct.name} {direct.address or ''}".strip()
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = Lane(name, VENDORS[direct.sdk](direct), self.ledger)
        elif lane.vendor.direct.identity != direct.identity:
            raise ConfigurationError(
                f"{direct.name} is asked with two keys, or two timeouts, in the folder of batches {self._folder}; "
                "give each a folder of its own"
            )
        return lane


def _close_all() -> None:
    for desk in list(_DESKS.values()):
        desk.close()


def _after_fork() -> None:
    """A child process has the parent's memory, and neither its threads nor its right to the folder."""
    for desk in _DESKS.values():
        desk.abandon()
    _DESKS.clear()


_LOCK = threading.Lock()
_DESKS: dict[Path, Desk] = {}
atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
