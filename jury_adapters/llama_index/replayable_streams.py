"""Streams that can be read for a judge and are still available to the user."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class ReplayableStream(Generator[T, None, None]):
    """Generator that records its items, so that the user can still read it from the start after a judge has.

    It replaces the generator that it reads. It is thread-safe; an exception of the source is raised at the same
    position for every reader.

    Args:
        source: the generator to read.
    """

    def __init__(self, source: Iterable[T]) -> None:
        self._source: Iterator[T] = iter(source)
        self._kept: list[T] = []
        self._position = 0
        self._error: Exception | None = None
        self._lock = threading.Lock()
        self.complete = False

    def everything(self) -> list[T]:
        """Return all items, including those that the user has read; the user's position does not change."""
        with self._lock:
            while not self.complete:
                self._pull()
        if self._error is not None:
            raise self._error
        return self._kept

    def send(self, value: None, /) -> T:
        """Return the user's next item."""
        with self._lock:
            if self._position == len(self._kept) and not self.complete:
                self._pull()
            if self._position < len(self._kept):
                self._position += 1
                return self._kept[self._position - 1]
        raise self._error or StopIteration

    def throw(self, kind: Any, value: Any = None, traceback: Any = None, /) -> T:
        """End the stream for the user, as leaving a ``with`` block of ``contextlib.closing`` does."""
        self._position = len(self._kept)
        self.complete = True
        close = getattr(self._source, "close", None)
        if close is not None:
            close()
        return super().throw(kind, value, traceback)

    def _pull(self) -> None:
        try:
            self._kept.append(next(self._source))
        except StopIteration:
            self.complete = True
        except Exception as error:
            self.complete, self._error = True, error


class AsyncReplayableStream(AsyncGenerator[T, None]):
    """Asynchronous generator that records its items; see :class:`ReplayableStream`."""

    def __init__(self, source: AsyncIterator[T]) -> None:
        self._source = source
        self._kept: list[T] = []
        self._position = 0
        self._error: Exception | None = None
        self._lock = asyncio.Lock()
        self.complete = False

    def everything(self) -> list[T]:
        """Return all items, once :attr:`complete`."""
        if self._error is not None:
            raise self._error
        return self._kept

    async def read(self) -> list[T]:
        """Read to the end; the user's position does not change."""
        if not self.complete:
            async with self._lock:
                while not self.complete:
                    await self._pull()
        return self.everything()

    async def asend(self, value: None, /) -> T:
        """Return the user's next item."""
        if self._position == len(self._kept) and not self.complete:
            async with self._lock:
                if self._position == len(self._kept) and not self.complete:
                    await self._pull()
        if self._position < len(self._kept):
            self._position += 1
            return self._kept[self._position - 1]
        raise self._error or StopAsyncIteration

    async def athrow(self, kind: Any, value: Any = None, traceback: Any = None, /) -> T:
        """End the stream for the user."""
        self._position = len(self._kept)
        self.complete = True
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()
        return await super().athrow(kind, value, traceback)

    async def _pull(self) -> None:
        try:
            self._kept.append(await anext(self._source))
        except StopAsyncIteration:
            self.complete = True
        except Exception as error:
            self.complete, self._error = True, error
