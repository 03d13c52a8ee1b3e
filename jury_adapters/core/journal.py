"""The record that makes a judgment count once: asked for again it is served, asked for twice at once it is shared."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from importlib import import_module
from os import PathLike
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable
from weakref import WeakKeyDictionary

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import CaseSlot
from jury_adapters.core.deadlines import Deadline
from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.values import FrozenDict

T = TypeVar("T")

_log = logging.getLogger(__name__)


class JournalKey(NamedTuple):
    """What makes two judgments the same one.

    Attributes:
        case_key: the case, and whatever else of it the judge reads.
        critic: fingerprint of the model and its parameters.
        rubric: fingerprint of what is asked.
        sample: which of several asks of the same judge it is: ``"0"``, and ``"0.1"``, ``"0.2"`` for repeated ones.

    Candidates shown in another order are another case, with a key of its own.
    """

    case_key: str
    critic: str
    rubric: str
    sample: str


@runtime_checkable
class Journal(Protocol):
    """Where judgments are kept; :class:`jury_adapters.store.Store` is one.

    A journal that takes long to look something up has ``async def find`` beside :meth:`get`, and is asked by that, so
    that nothing else waits; :class:`jury_adapters.store.postgres.PostgresStore` is one.
    """

    def get(self, key: JournalKey) -> Judgment | None:
        """The judgment kept under the key; never one with status ERROR."""

    async def put(self, key: JournalKey, case: Case, judgment: Judgment) -> None:
        """Keep a judgment; return when it is durable."""


StoreLike: TypeAlias = Journal | str | PathLike[str]
"""A store, its path, or its URL."""


def open_journal(store: Journal | str | PathLike[str] | None) -> Journal | None:
    """A journal, or the one in a file or at a URL.

    The core knows journals, not files: the store is looked up by name, and only when a path or URL is given.
    """
    if store is None or isinstance(store, Journal):
        return store
    opened: Journal = import_module("jury_adapters.store").open_store(store)
    return opened


async def once(
    key: JournalKey,
    case: Case,
    journal: Journal | None,
    ask: Callable[[], Awaitable[Judgment]],
    slot: CaseSlot | None = None,
) -> Judgment:
    """Return the judgment under this key: from the journal, from a call for it that is under way, or by asking.

    A judgment that was not asked for here counts its usage as recorded; see :attr:`Usage.recorded`.

    A judgment that is not recorded, because the disk is full or the store does not answer for 120 seconds, is returned
    all the same and says so in its metadata: what was paid for is not thrown away. An abstention for want of budget is
    neither recorded nor shared, so that a run with more budget asks.

    Args:
        key: what makes two judgments the same one.
        case: the case.
        journal: where judgments are kept; None for none.
        ask: asks for the judgment.
        slot: the place of the case in its batch, which is free while another case asks for the same judgment.
    """
    find = getattr(journal, "find", None)  # only a journal on another machine has it
    recorded = journal.get(key) if journal is not None and find is None else None
    if recorded is not None:
        return _served(recorded)
    loop = asyncio.get_running_loop()
    flying = _FLYING.get(loop)
    if flying is None:
        flying = _FLYING.setdefault(loop, {})
    while (flight := flying.get(key)) is not None:
        shared = flight.shared()
        with slot.waiting() if slot is not None else nullcontext():  # the case that asks keeps a place, not this one
            await asyncio.wait((shared,))
        if shared.cancelled():
            continue
        judgment = shared.result()
        if not _unasked(judgment):
            same_journal = journal is None or journal is flight.journal
            return _served(judgment if same_journal else await _recorded(journal, key, case, judgment))
    flight = flying[key] = _Flight(journal)
    try:
        # Looked for inside the flight: who asks meanwhile shares the answer, or would ask for what is being recorded.
        found: Judgment | None = await _within_limit(find(key)) if find is not None else None
        judgment = await ask() if found is None else found
        if journal is not None and found is None and not _unasked(judgment):
            judgment = await _recorded(journal, key, case, judgment)
        flight.landed(judgment)
        return judgment if found is None else _served(judgment)
    except BaseException as error:
        flight.lost(error)
        raise
    finally:
        del flying[key]


class _Flight:
    """A judgment being asked for, and where it will be recorded. The future is there once somebody else wants it."""

    __slots__ = ("_shared", "journal")

    def __init__(self, journal: Journal | None) -> None:
        self.journal = journal
        self._shared: asyncio.Future[Judgment] | None = None

    def shared(self) -> asyncio.Future[Judgment]:
        """To be waited for by all who want the same judgment."""
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
            self._shared.exception()  # looked at, so that nobody is warned when those who waited have gone


def _served(judgment: Judgment) -> Judgment:
    usage = judgment.usage.as_recorded()
    return judgment if usage is judgment.usage else evolve(judgment, usage=usage)


def _unasked(judgment: Judgment) -> bool:
    return judgment.error == BUDGET_EXHAUSTED


async def _recorded(journal: Journal | None, key: JournalKey, case: Case, judgment: Judgment) -> Judgment:
    if journal is None:
        return judgment
    try:
        await _within_limit(journal.put(key, case, judgment))
    except Exception as error:
        _log.exception("a judgment could not be recorded")
        return evolve(judgment, metadata=FrozenDict({**judgment.metadata, "store_error": str(error)}))
    return judgment


async def _within_limit(answer: Awaitable[T]) -> T:
    """Wait for a store.

    Raises:
        InputError: it does not answer.
    """
    limit = Deadline(_LONGEST_S)
    try:
        with limit:
            return await answer
    except TimeoutError:
        if not limit.expired:  # the store's own
            raise
    raise InputError(f"the store does not answer within {_LONGEST_S:g} s")


_LONGEST_S = 120.0  # beyond what the stores of this package wait for others: 30 s, for two groups of writes
_FLYING: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[JournalKey, _Flight]] = WeakKeyDictionary()
