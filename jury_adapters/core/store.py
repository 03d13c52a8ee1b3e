"""What a store of judgments offers, and how a judge that asks a model uses it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import error_text

_log = logging.getLogger(__name__)


class Key(NamedTuple):
    """What a judgment depends on: the content of the case, the judge with its settings, the number of the sample."""

    case: str
    judge: str
    sample: int


class Store(Protocol):
    """Judgments by key, kept so that nothing is paid twice.

    A judgment is durable when ``put`` returns. Either method may raise; a failed ``put`` loses nothing.
    """

    async def get(self, key: Key) -> Judgment | None:
        """Return the judgment with this key."""

    async def put(self, key: Key, case: Case, judgment: Judgment) -> None:
        """Keep a judgment under this key."""


_asking: "WeakValueDictionary[tuple[int, int, Key], asyncio.Lock]" = WeakValueDictionary()


async def get_or_ask(store: Store | None, key: Key, case: Case, ask: Callable[[], Awaitable[Judgment]]) -> Judgment:
    """Return the stored judgment, or ask and store.

    The same question at once is asked once. An ERROR is not stored, so it is asked again. If the judgment cannot be
    stored, it is returned all the same, with ``store_error`` in its metadata, because it is paid for.
    """
    if store is None:
        return await ask()
    lock = _asking.setdefault((id(asyncio.get_running_loop()), id(store), key), asyncio.Lock())
    async with lock:
        found = await store.get(key)
        if found is not None:
            return found.but(usage=found.usage.as_recorded())
        judgment = await ask()
        if judgment.status is not Status.ERROR:
            try:
                await store.put(key, case, judgment)
            except Exception as error:
                _log.exception("a judgment could not be stored")
                return judgment.but(metadata={**judgment.metadata, "store_error": error_text(error)})
        return judgment
