"""Batching of the requests of one model: collecting, sending, polling and delivery."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from jury_adapters.batch_api.ledger import Ledger, Sent
from jury_adapters.batch_api.vendors import BatchVendor, Outcome, Progress, Unclear
from jury_adapters.core.cleanup import cancel_and_wait
from jury_adapters.core.errors import InputError, ModelError
from jury_adapters.models.unsupported_parameters import Body

E = TypeVar("E", bound=Exception)
Waiter: TypeAlias = "Future[Any]"

_log = logging.getLogger(__name__)

_LOOKS = 3  # searches of the vendor's list, before a batch counts as never created
_DOWNLOADS = 3  # before a missing result counts as missing
_LONGEST_LINGER = 30  # a slow sequence of requests keeps a batch open for at most this many lingers
_CROWDED_POLLS = 10  # polls to wait before sending a batch again that exceeded the vendor's queue
_GONE = (404, 410)  # results are kept only for a limited time
_GLANCE_S = 0.02  # between two checks whether a batch has been recorded
_ROW_BYTES = 300  # upper estimate of the JSON around a request in a batch


@dataclass(frozen=True, slots=True)
class BatchingPolicy:
    """Rules for closing and polling batches.

    Attributes:
        max_requests: number of requests that closes a batch; None for the vendor's limit.
        batch_window_s: seconds without a new request that close a batch.
        poll_s: seconds between two polls.
    """

    max_requests: int | None
    batch_window_s: float
    poll_s: float


@dataclass(slots=True)
class PendingRequest:
    """Request with those that wait for its result."""

    custom_id: str
    body: Body
    size: int
    waiters: list[Waiter] = field(default_factory=list)

    @property
    def wanted(self) -> bool:
        """Whether at least one waiter has not cancelled."""
        return any(not waiter.cancelled() for waiter in self.waiters)


class ModelQueue:
    """Requests of one model at one server. All its methods run on the event loop of the submitter.

    A request is in one of four states: answered in the ledger, out in a batch that is polled, collected for the next
    batch, or unknown. A batch is in the ledger from before it is sent until its results are there. So a batch that a
    killed process had sent is found again, by the vendor's id if it was recorded, else by a search.

    Args:
        name: model and server.
        vendor: the vendor's batches for this model.
        ledger: the record of the folder.
    """

    def __init__(self, name: str, vendor: BatchVendor, ledger: Ledger) -> None:
        self._name = name
        self.vendor = vendor
        self._ledger = ledger
        self._policy = BatchingPolicy(None, 0.0, 0.0)
        self._asked: dict[str, PendingRequest] = {}
        self._collected: dict[str, PendingRequest] = {}
        self._bytes = 0
        self._first_at = self._last_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sending: set[str] = set()

    def ask(self, asked: PendingRequest, policy: BatchingPolicy) -> None:
        """Deliver the result of a request to its waiters: from the record, from a batch that is out, or from the next.

        Raises:
            InputError: the record cannot be read.
        """
        self._policy = policy
        same = self._asked.get(asked.custom_id)
        if same is not None:
            same.waiters += asked.waiters
            return
        known = self._ledger.known(self._name, asked.custom_id)
        if known is not None and known.answer is not None:
            deliver(asked.waiters, known.answer)
            return
        self._asked[asked.custom_id] = asked
        if known is None:
            self._collect(asked)
        elif known.token not in self._tasks:
            sent = self._ledger.sent(known.token)
            self._process(sent.token, sent.custom_ids, partial(self._resumed, sent))

    async def close(self, grace_s: float) -> None:
        """Stop polling. A batch that is being sent gets the time to be recorded."""
        if self._timer is not None:
            self._timer.cancel()
        until = asyncio.get_running_loop().time() + grace_s
        while self._sending and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(_GLANCE_S)
        await cancel_and_wait(list(self._tasks.values()))

    # Collecting

    def _collect(self, asked: PendingRequest) -> None:
        size, most_bytes = asked.size + _ROW_BYTES, self.vendor.most_bytes
        if size > most_bytes:
            text = f"{self._name}: a request of {asked.size} bytes fits no batch, which holds {most_bytes}"
            self._settle(asked.custom_id, ModelError(text, "refused_request"))
            return
        if self._bytes + size > most_bytes:
            self._send_collected()
        now = asyncio.get_running_loop().time()
        self._last_at = now
        self._first_at = now if not self._collected else self._first_at
        self._collected[asked.custom_id] = asked
        self._bytes += size
        most = min(self._policy.max_requests or self.vendor.most_requests, self.vendor.most_requests)
        if len(self._collected) >= most:
            self._send_collected()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._policy.batch_window_s, self._lingered)

    def _lingered(self) -> None:
        self._timer = None
        if not self._collected:
            return
        loop = asyncio.get_running_loop()
        linger = self._policy.batch_window_s
        due = min(self._last_at + linger, self._first_at + _LONGEST_LINGER * linger)
        if loop.time() >= due:
            self._send_collected()
        else:
            self._timer = loop.call_at(due, self._lingered)

    def _send_collected(self) -> None:
        collected, self._collected, self._bytes = self._collected, {}, 0
        for custom_id in [custom_id for custom_id, asked in collected.items() if not asked.wanted]:
            del collected[custom_id], self._asked[custom_id]
        if collected:
            token = uuid4().hex
            bodies = {custom_id: asked.body for custom_id, asked in collected.items()}
            self._process(token, bodies, partial(self._sent, token, bodies))

    # Sending, and finding batches that were sent

    def _process(self, token: str, custom_ids: Iterable[str], work: Callable[[], Awaitable[None]]) -> None:
        """Process a batch until its results, or its failure, are delivered."""

        async def process() -> None:
            try:
                await work()
            except Exception as error:
                _log.warning("%s: %s", self._name, error)
                for custom_id in custom_ids:
                    self._settle(custom_id, error)
            finally:  # at once, so that a repeated request starts again
                self._sending.discard(token)
                del self._tasks[token]

        self._tasks[token] = asyncio.get_running_loop().create_task(process())

    async def _sent(self, token: str, bodies: dict[str, Body]) -> None:
        newest = await self.vendor.newest()
        self._sending.add(token)
        sent = self._ledger.sending(token, self._name, bodies, newest)
        try:
            batch_id: str | None = await self.vendor.create(token, bodies)
        except Unclear as problem:
            batch_id = await self._found(sent)
            if batch_id is None:
                self._ledger.forget(token)
                raise problem.error from None
        except ModelError:
            self._ledger.forget(token)
            raise
        assert batch_id is not None
        self._record(sent, batch_id)
        _log.info("%s: %d requests sent in batch %s", self._name, len(bodies), batch_id)
        await self._watched(sent, batch_id)

    async def _resumed(self, sent: Sent) -> None:
        """Continue a batch of an earlier run, which may have been killed at any moment."""
        batch_id = sent.batch_id
        if batch_id is None:
            batch_id = await self._found(sent)
            if batch_id is None:  # the run was killed before the batch was created
                self._ledger.forget(sent.token)
                self._again(sent)
                return
            self._record(sent, batch_id)
        _log.info("%s: going on with batch %s of an earlier run", self._name, batch_id)
        await self._watched(sent, batch_id)

    async def _found(self, sent: Sent) -> str | None:
        """Look for a batch that may have been created, several times, because it may not be in the list yet."""
        looks = 0
        while True:
            found = await self.vendor.find(sent, self._ledger.batch_ids())
            if found.batch_id is not None:
                return found.batch_id
            looks += not found.unclear
            if looks == _LOOKS:
                return None
            await asyncio.sleep(self._policy.poll_s)

    def _record(self, sent: Sent, batch_id: str) -> None:
        self._sending.discard(sent.token)
        try:
            self._ledger.waiting(sent.token, batch_id)
        except InputError:  # the batch exists anyway, and a later run would search for it
            _log.exception("%s: batch %s could not be recorded", self._name, batch_id)

    # Polling and delivering

    async def _watched(self, sent: Sent, batch_id: str) -> None:
        progress = await self._ended(batch_id)
        if progress.failure is not None:
            self._ledger.forget(sent.token)
            if not progress.crowded:
                raise progress.failure
            _log.info("%s: the queue is full, batch %s will go out again", self._name, batch_id)
            await asyncio.sleep(_CROWDED_POLLS * self._policy.poll_s)
            self._again(sent)
            return
        outcomes = await self._results(sent, progress)
        answers = {
            custom_id: outcome
            for custom_id, outcome in outcomes.items()
            if custom_id in sent.custom_ids and not isinstance(outcome, ModelError)
        }
        _log.info("%s: batch %s %s, %d answers", self._name, batch_id, progress.ending, len(answers))
        try:
            self._ledger.done(sent.token, self._name, answers)
        except InputError:  # the results were paid for, so they are delivered
            _log.exception("%s: the results of batch %s could not be recorded", self._name, batch_id)
        for custom_id in sent.custom_ids:
            outcome = outcomes.get(custom_id)
            self._settle(custom_id, self.vendor.unanswered(batch_id, progress.ending) if outcome is None else outcome)

    async def _ended(self, batch_id: str) -> Progress:
        """Wait until a batch has ended. A vendor that is temporarily unavailable is asked again."""
        while True:
            try:
                progress = await self.vendor.progress(batch_id)
            except ModelError as error:
                if not error.transient:
                    raise
                _log.warning("%s: no word of batch %s: %s", self._name, batch_id, error)
            else:
                if progress.ended:
                    return progress
            await asyncio.sleep(self._policy.poll_s)

    async def _results(self, sent: Sent, progress: Progress) -> dict[str, Outcome]:
        """Return the results of a batch. Broken or missing ones are downloaded again, which costs nothing."""
        found: dict[str, Outcome] = {}
        failure: ModelError | None = None
        for number in range(_DOWNLOADS):
            if number:
                await asyncio.sleep(self._policy.poll_s)
            try:
                outcomes, whole = await self.vendor.results(progress.sources)
            except ModelError as error:
                if not error.transient and error.status not in _GONE:
                    raise
                failure = error
                continue
            failure = None
            found.update(outcomes)
            if whole and found.keys() >= sent.custom_ids:
                break
        if failure is not None and failure.transient:
            raise failure
        return found

    def _again(self, sent: Sent) -> None:
        """Put the requests of a batch that was not processed into the next one."""
        for custom_id in sent.custom_ids:
            asked = self._asked.get(custom_id)
            if asked is not None:
                self._collect(asked)

    def _settle(self, custom_id: str, outcome: Outcome | Exception) -> None:
        asked = self._asked.pop(custom_id, None)
        if asked is not None:
            deliver(asked.waiters, outcome)


def deliver(waiters: Iterable[Waiter], outcome: Outcome | Exception) -> None:
    """Give an answer, or an error, to all waiters. Each waiter gets an error object of its own to raise."""
    for waiter in waiters:
        if not waiter.set_running_or_notify_cancel():
            continue
        if isinstance(outcome, Exception):
            waiter.set_exception(_twin(outcome))
        else:
            waiter.set_result(outcome)


def _twin(error: E) -> E:
    other = type(error).__new__(type(error), *error.args)
    other.__dict__.update(error.__dict__)
    return other
