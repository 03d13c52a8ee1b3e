"""Cache of judgments: a recorded judgment is reused, and simultaneous requests for one judgment share one call.

Without a cache, every request is a call, whether it is simultaneous with an equal one or not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from importlib import import_module
from os import PathLike
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable
from weakref import WeakKeyDictionary

from jury_adapters.core.bounded_cache import BoundedCache
from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import CaseSlot
from jury_adapters.core.deadlines import Deadline
from jury_adapters.core.errors import InputError, JuryError
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.values import FrozenDict

T = TypeVar("T")

_log = logging.getLogger(__name__)


class CacheKey(NamedTuple):
    """Cache key of a judgment.

    Attributes:
        case_key: the key of the case and of everything else that the judge reads of it.
        critic: fingerprint of the model and its parameters.
        rubric: fingerprint of the question to the model.
        sample: number of the sample if the same judge is asked several times: ``"0"``, then ``"0.1"``, ``"0.2"``.
            A plus follows the number for each level inside at which the jury has samples of its own.

    Candidates in another order are another case with another key.
    """

    case_key: str
    critic: str
    rubric: str
    sample: str


@runtime_checkable
class JudgmentCache(Protocol):
    """Interface of a store of judgments, such as :class:`jury_adapters.store.Store`.

    A cache with slow lookups also has ``async def find``, which is called instead of :meth:`get`, so that the event
    loop is not blocked; :class:`jury_adapters.store.postgres.PostgresStore` is an example.
    """

    def get(self, key: CacheKey) -> Judgment | None:
        """Return the judgment under the key, or None; never one with status ERROR."""

    async def put(self, key: CacheKey, case: Case, judgment: Judgment) -> None:
        """Store a judgment, and return when it is durable."""


StoreLike: TypeAlias = JudgmentCache | str | PathLike[str]
"""Store, or the path or the URL of one."""


def open_cache(store: JudgmentCache | str | PathLike[str] | None) -> JudgmentCache | None:
    """Return a cache unchanged, or open the one in a file or at a URL.

    The store package is imported only if a path or URL is given, so that the core does not depend on it.
    """
    if store is None or isinstance(store, JudgmentCache):
        return store
    opened: JudgmentCache = import_module("jury_adapters.store").open_store(store)
    return opened


async def get_or_run(
    key: CacheKey,
    case: Case,
    cache: JudgmentCache | None,
    ask: Callable[[], Awaitable[Judgment]],
    slot: CaseSlot | None = None,
) -> Judgment:
    """Return the judgment for this key: from the cache, from a running call for the same key, or from a new call.

    Without a cache, it is always from a new call: whether equal cases are judged anew must not depend on whether they
    happen to be judged at the same time.

    The usage of a judgment that required no new call is counted as recorded; see :attr:`Usage.recorded`.

    If a judgment cannot be recorded, because the disk is full or the store does not answer for 120 seconds, it is still
    returned, with the error in its metadata, because it has been paid for. An abstention caused by an exhausted budget
    is neither recorded nor shared, so that a run with a larger budget asks again.

    Args:
        key: the cache key.
        case: the case.
        cache: the store of judgments; None for no store, and a new call.
        ask: calls the model for the judgment.
        slot: the slot of the case in its batch; it is idle while another case asks for the same judgment.
    """
    if cache is None:
        return await ask()
    find = getattr(cache, "find", None)  # only caches on another machine have it
    recorded = cache.get(key) if find is None else None
    if recorded is not None:
        return _served(recorded)
    loop = asyncio.get_running_loop()
    flying = _FLYING.get(loop)
    if flying is None:
        flying = _FLYING.setdefault(loop, {})
    while (flight := flying.get(key)) is not None:
        shared = flight.shared()
        with slot.waiting() if slot is not None else nullcontext():  # only the asking case occupies its slot
            await asyncio.wait((shared,))
        if shared.cancelled():
            continue
        judgment = shared.result()
        if not _unasked(judgment):
            return _served(judgment if cache is flight.cache else await _recorded(cache, key, case, judgment))
    flight = flying[key] = _Flight(cache)
    try:
        # Look it up inside the flight: a request that arrives meanwhile must share the answer, not ask again.
        found: Judgment | None = await _within_limit(find(key)) if find is not None else None
        judgment = await ask() if found is None else found
        if found is None and not _unasked(judgment):
            judgment = await _recorded(cache, key, case, judgment)
        flight.landed(judgment)
        return judgment if found is None else _served(judgment)
    except BaseException as error:
        flight.lost(error)
        raise
    finally:
        del flying[key]


class _Flight:
    """Running request for a judgment, with the cache that will record it.

    The future is created when another request for the same judgment arrives.
    """

    __slots__ = ("_shared", "cache")

    def __init__(self, cache: JudgmentCache) -> None:
        self.cache = cache
        self._shared: asyncio.Future[Judgment] | None = None

    def shared(self) -> asyncio.Future[Judgment]:
        """Return the future for all other requests for the same judgment."""
        if self._shared is None:
            self._shared = asyncio.get_running_loop().create_future()
        return self._shared

    def landed(self, judgment: Judgment) -> None:
        if self._shared is not None:
            self._shared.set_result(judgment)

    def lost(self, error: BaseException) -> None:
        if self._shared is None or self._shared.done():
            return
        if isinstance(error, asyncio.CancelledError):
            self._shared.cancel()
        else:
            self._shared.set_exception(error)
            self._shared.exception()  # marks it as retrieved: asyncio does not warn if all waiters have ended


def _served(judgment: Judgment) -> Judgment:
    usage = judgment.usage.as_recorded()
    return judgment if usage is judgment.usage else evolve(judgment, usage=usage)


def _unasked(judgment: Judgment) -> bool:
    return judgment.error == BUDGET_EXHAUSTED


async def _recorded(cache: JudgmentCache, key: CacheKey, case: Case, judgment: Judgment) -> Judgment:
    try:
        await _within_limit(cache.put(key, case, judgment))
    except Exception as error:
        _report(error)
        return evolve(judgment, metadata=FrozenDict({**judgment.metadata, "store_error": str(error)}))
    return judgment


def _report(error: Exception) -> None:
    """Log that a judgment could not be recorded: the first, second, fourth, ... time with the same error."""
    what = f"{type(error).__name__}: {error}"
    number = _UNRECORDED.put(what, (_UNRECORDED.get(what) or 0) + 1)
    if number & (number - 1) == 0:
        known = isinstance(error, JuryError)
        _log.error(
            "%s could not be recorded so far; such judgments have store_error in their metadata: %s",
            counted(number, "judgment"), error if known else what, exc_info=None if known else error,
        )  # fmt: skip


async def _within_limit(answer: Awaitable[T]) -> T:
    """Wait for the answer of a store.

    Raises:
        InputError: the store does not answer in time.
    """
    limit = Deadline(_LONGEST_S)
    try:
        with limit:
            return await answer
    except TimeoutError:
        if not limit.expired:  # a timeout of the store itself
            raise
    raise InputError(f"the store does not answer within {_LONGEST_S:g} s")


_LONGEST_S = 120.0  # longer than the stores of this package wait for locks: 30 s, for two groups of writes
_UNRECORDED: BoundedCache[str, int] = BoundedCache(64)
_FLYING: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[CacheKey, _Flight]] = WeakKeyDictionary()
