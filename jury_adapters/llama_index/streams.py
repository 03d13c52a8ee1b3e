"""Streamed answers, watched while the user reads them.

Judging a stream directly would consume the user's tokens. Here, the tokens go to the user as they arrive, and the
watcher is notified once, at the end: of the answer, of an error, or that the stream was not read to its end.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse


@dataclass(frozen=True, slots=True)
class Ending:
    """End of the reading of a stream.

    Attributes:
        tokens: the whole answer, if it was read to its end. Structured output streams ever more complete objects.
        error: the exception that the stream raised.
        abandoned: whether the stream was left, or discarded, before its end.
    """

    tokens: Sequence[object] = ()
    error: BaseException | None = None
    abandoned: bool = False

    @property
    def answer(self) -> object:
        """Answer: the text, or the last object."""
        if all(isinstance(token, str) for token in self.tokens):
            return "".join(cast(Sequence[str], self.tokens))
        return self.tokens[-1]


OnEnd: TypeAlias = Callable[[Ending], object]


def watch(response: object, on_end: OnEnd) -> bool:
    """Watch the reading of a streamed answer.

    The tokens pass through in order, one by one and without delay. A chat answer gets a subclass of its class, since
    each reading creates new generators; a query's answer keeps its class and gets another generator.

    Args:
        response: the response of an engine.
        on_end: called once, with the :class:`Ending`, by the last reader. It must be quick and must not raise. It must
            not hold the response, which would then never be garbage-collected.

    Returns:
        False if there is no stream to read, so that the answer is already complete.
    """
    if isinstance(response, StreamingResponse):
        if response.response_txt is not None or response.response_gen is None:
            return False
        reading = _Reading(on_end)
        response.response_gen = _passed_on(response.response_gen, reading)
        reading.of(response.response_gen)
        return True
    if isinstance(response, AsyncStreamingResponse):
        if response.response_txt is not None or response.response_gen is None:
            return False
        reading = _Reading(on_end)
        response.response_gen = _apassed_on(response.response_gen, reading)
        reading.of(response.response_gen)
        return True
    if isinstance(response, StreamingAgentChatResponse):
        if response.chat_stream is None and response.achat_stream is None:
            return False
        vars(response).setdefault(_READINGS, []).append(_Reading(on_end).of(response))
        response.__class__ = _watched_class(type(response))
        return True
    return False


class _Reading:
    """One reading of a stream: it ends once, at the latest when the stream is garbage-collected."""

    def __init__(self, on_end: OnEnd) -> None:
        self._on_end = on_end
        self._left: weakref.finalize[..., Any] | None = None

    def of(self, held: object) -> _Reading:
        """Set the object that the user holds: once it is garbage-collected, nothing can be read any more."""
        self._left = weakref.finalize(held, self._on_end, Ending(abandoned=True))
        self._left.atexit = False
        return self

    def ended(self, ending: Ending) -> None:
        if self._left is not None and self._left.detach() is not None:  # true for one caller only
            self._on_end(ending)


def _passed_on(source: Any, reading: _Reading) -> Generator[str, None, None]:
    tokens: list[object] = []
    with closing(_closable(source)):
        try:
            for token in source:
                tokens.append(token)
                yield token
        except GeneratorExit:
            reading.ended(Ending(abandoned=True))
            raise
        except BaseException as error:
            reading.ended(Ending(error=error))
            raise
        reading.ended(Ending(tokens))


async def _apassed_on(source: Any, reading: _Reading) -> AsyncGenerator[str, None]:
    tokens: list[object] = []
    async with aclosing(_aclosable(source)):
        try:
            async for token in source:
                tokens.append(token)
                yield token
        except GeneratorExit:
            reading.ended(Ending(abandoned=True))
            raise
        except BaseException as error:
            reading.ended(Ending(error=error))
            raise
        reading.ended(Ending(tokens))


def _watched_class(kind: type[StreamingAgentChatResponse]) -> type[StreamingAgentChatResponse]:
    """Return a subclass, with the same name, whose methods of reading are watched.

    Reading may be interrupted and resumed, so only the end of the answer counts, or the end of the response.
    """
    if _READINGS in vars(kind):
        return kind
    known = _WATCHED.get(kind)
    if known is not None:
        return known

    def response_gen(self: Any) -> Generator[str, None, None]:
        source = cast(Any, super(watched, self)).response_gen
        try:
            yield from source
        except GeneratorExit:
            raise
        except BaseException as error:
            _tell(self, Ending(error=error))
            raise
        _tell(self, Ending((self.response,)))

    async def async_response_gen(self: Any) -> AsyncGenerator[str, None]:
        async with aclosing(cast(Any, super(watched, self)).async_response_gen()) as source:
            try:
                async for token in source:
                    yield token
            except GeneratorExit:
                raise
            except BaseException as error:
                _tell(self, Ending(error=error))
                raise
            _tell(self, Ending((self.response,)))

    def to_text(self: Any) -> str:
        text = cast(str, super(watched, self).__str__())
        if self.is_done:
            _tell(self, Ending((text,)))
        return text

    members = {
        "__doc__": kind.__doc__, "__module__": kind.__module__, "__qualname__": kind.__qualname__, "__str__": to_text,
        "__eq__": kind.__eq__, "__hash__": kind.__hash__, _READINGS: (),
        "response_gen": property(response_gen), "async_response_gen": async_response_gen,
    }  # fmt: skip
    watched: type[StreamingAgentChatResponse] = type(kind.__name__, (kind,), members)
    return _WATCHED.setdefault(kind, watched)


def _tell(response: Any, ending: Ending) -> None:
    for reading in vars(response)[_READINGS]:
        reading.ended(ending)


def _closable(source: Any) -> Any:
    return source if hasattr(source, "close") else _NOTHING_TO_CLOSE


def _aclosable(source: Any) -> Any:
    return source if hasattr(source, "aclose") else _NOTHING_TO_CLOSE


class _NothingToClose:
    """Placeholder for a stream that is not a generator, and cannot be closed."""

    def close(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""


_READINGS = "_jury_readings"
_NOTHING_TO_CLOSE = _NothingToClose()
_WATCHED: weakref.WeakKeyDictionary[type, type[StreamingAgentChatResponse]] = weakref.WeakKeyDictionary()
