"""Copies of LlamaIndex LLMs, one per event loop, so that connections never cross event loops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary, finalize

from llama_index.core.llms import LLM


class CopiesPerLoop:
    """Copies of an LLM for the event loops in which it is asked. The user's object is not changed.

    Args:
        llm: the LLM.
        retries: whether the copies keep the retries of the LLM.
    """

    def __init__(self, llm: LLM, *, retries: bool) -> None:
        self.llm = llm
        self._retries = retries
        self._copies: WeakKeyDictionary[asyncio.AbstractEventLoop, _Copy] = WeakKeyDictionary()

    async def for_this_loop(self) -> LLM:
        """Return the copy for the running event loop."""
        loop = asyncio.get_running_loop()
        found = self._copies.get(loop)
        if found is None:
            _forget_closed_loops()
            found = self._copies[loop] = _Copy(_fresh_copy(self.llm, self._retries), self, self._copies)
            await anext(found.closer)  # started, so that the loop registers it and closes it at its end
        return found.llm


def has_connections(llm: LLM) -> bool:
    """Return whether an LLM keeps a client, whose connections belong to one event loop."""
    return any("client" in name for name in _private(llm))


class _Copy:
    """Copy of an LLM for one event loop, closed at the end of the loop, or when no caller can use it any more."""

    def __init__(
        self, llm: LLM, owner: CopiesPerLoop, copies: MutableMapping[asyncio.AbstractEventLoop, _Copy]
    ) -> None:
        self.llm = llm
        self.closer = self._until_the_loop_ends()
        self._theirs = tuple(_private(owner.llm).values())
        self._copies = copies
        self._loop = asyncio.get_running_loop()
        self._closing: asyncio.Task[None] | None = None
        self._unowned = finalize(owner, self._abandon)
        self._unowned.atexit = False
        _OPEN.setdefault(self._loop, set()).add(self)

    async def close(self) -> None:
        """Close the clients of this copy. Simultaneous calls wait for the same work."""
        if self._closing is None or self._closing.cancelled():
            self._closing = asyncio.ensure_future(self._close())
        await self._closing

    def forget(self) -> None:
        """Remove all references between the loop and this copy."""
        self._unowned.detach()
        self._copies.pop(self._loop, None)
        open_there = _OPEN.get(self._loop, set())
        open_there.discard(self)
        if not open_there:
            _OPEN.pop(self._loop, None)  # a client refers to its loop, which would never be freed

    async def _close(self) -> None:
        self.forget()
        for value in _private(self.llm).values():
            if _is_async_client(value) and _made_by_sdk(value) and not any(value is one for one in self._theirs):
                with suppress(Exception):
                    await value.close()

    async def _until_the_loop_ends(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self.close()

    def _abandon(self) -> None:
        with suppress(RuntimeError):  # raised if the loop is closed
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self.close()))


def _forget_closed_loops() -> None:
    """Forget the copies on loops that were closed without notice, which would keep the loops in memory."""
    for loop in [loop for loop in tuple(_OPEN) if loop.is_closed()]:
        for copy in _OPEN.pop(loop, ()):
            copy.forget()


# Kept until closed, because a discarded copy would leave its connections open.
_OPEN: dict[asyncio.AbstractEventLoop, set[_Copy]] = {}


def _fresh_copy(llm: LLM, retries: bool) -> LLM:
    """Return a copy, with or without its retries. An SDK's client in it gets connections of its own.

    An HTTP client that the user made is kept, because it may have proxies and certificates.
    """
    once: dict[str, Any] = {} if retries else {"max_retries": 0}
    copy = llm.model_copy(update=once if "max_retries" in type(llm).model_fields else None)
    for name, value in _private(copy).items():
        if _is_async_client(value):
            own = (
                {"http_client": type(value._client)(timeout=value.timeout, follow_redirects=False)}
                if _made_by_sdk(value)
                else {}
            )
            setattr(copy, name, value.with_options(**once, **own))
    return copy


def _private(llm: LLM) -> dict[str, Any]:
    return llm.__pydantic_private__ or {}


def _is_async_client(value: object) -> bool:
    """Return whether the value is an asynchronous client of the OpenAI or Anthropic SDK, or a similar one."""
    return type(value).__name__.startswith("Async") and hasattr(value, "with_options") and hasattr(value, "max_retries")


def _made_by_sdk(client: object) -> bool:
    """Return whether the SDK made the HTTP client inside, and not the user."""
    return type(getattr(client, "_client", None)).__name__ == "AsyncHttpxClientWrapper"
