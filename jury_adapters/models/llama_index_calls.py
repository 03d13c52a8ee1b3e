"""Calls of a LlamaIndex LLM, without a change to the user's object.

A call never blocks the event loop, does not retry, and uses connections that never cross event loops.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import suppress
from inspect import unwrap
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, finalize

from llama_index.core.base.llms.generic_utils import completion_response_to_chat_response, messages_to_prompt
from llama_index.core.llms import LLM, ChatMessage, ChatResponse, CustomLLM, ImageBlock, TextBlock

from jury_adapters.core.event_loop import in_daemon_thread
from jury_adapters.core.images import Image
from jury_adapters.models.base import Prompt, Turn

Chat: TypeAlias = Callable[[LLM, Sequence[ChatMessage], dict[str, Any]], Awaitable[ChatResponse]]

_LONGEST_CALL_S = 86_400.0  # of a thread; the deadline of the limits comes long before


class Calls:
    """Calls of one LLM, from any event loop.

    An LLM that has retries or connections is asked through a copy per event loop. Any other is asked directly: it may
    count its calls, for example, for its owner.

    Args:
        llm: the LLM; it is not changed.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self._chat = _way_to_chat(llm)
        self._copied = "max_retries" in type(llm).model_fields or any("client" in name for name in _private(llm))
        self._copies: WeakKeyDictionary[asyncio.AbstractEventLoop, _Copy] = WeakKeyDictionary()

    async def chat(self, messages: Sequence[ChatMessage], settings: dict[str, Any]) -> ChatResponse:
        """Return the LLM's answer. Exceptions of the LLM pass through.

        Args:
            messages: the messages.
            settings: keyword arguments of the call, as the LLM's vendor names them.
        """
        llm = await self._for_this_loop() if self._copied else self._llm
        return await self._chat(llm, messages, settings)

    @property
    def takes_messages(self) -> bool:
        """Whether the calls pass messages on; a completion model gets one text, without the images."""
        if isinstance(self._llm, CustomLLM):
            own = "achat" if self._chat is _achat else "chat"
            return self._chat is not _acomplete and _has_its_own(self._llm, own)
        try:
            return bool(self._llm.metadata.is_chat_model)
        except Exception:  # of the LLM's class
            return False

    async def _for_this_loop(self) -> LLM:
        loop = asyncio.get_running_loop()
        found = self._copies.get(loop)
        if found is None:
            _forget_closed_loops()
            found = self._copies[loop] = _Copy(self._llm, self, self._copies)
            await anext(found.closer)  # started, so that the loop registers it and closes it at its end
        return found.llm


def messages_of(prompt: Prompt) -> list[ChatMessage]:
    """Return the prompt as LlamaIndex messages."""
    messages = [ChatMessage(role="system", content=prompt.system)] if prompt.system else []
    return messages + [ChatMessage(role=turn.role, content=_content(turn)) for turn in prompt.turns]


def _content(turn: Turn) -> str | list[TextBlock | ImageBlock]:
    """Return the content of a message: its text, or blocks if it has images. Nothing is fetched or decoded."""
    if not turn.images:
        return turn.text
    return [TextBlock(text=part) if isinstance(part, str) else _block(part) for part in turn.parts()]


def _block(image: Image) -> ImageBlock:
    if image.base64 is not None:
        return ImageBlock(image=image.base64.encode(), image_mimetype=image.mime_type)
    return ImageBlock(url=image.url, image_mimetype=image.mime_type)


# LLMs with only synchronous methods -----------------------------------------------------------------------------------


def _way_to_chat(llm: LLM) -> Chat:
    """Return ``achat``, except where it would run a synchronous method on the event loop."""
    if not isinstance(llm, CustomLLM) or _has_its_own(llm, "achat"):
        return _achat
    if _has_its_own(llm, "acomplete"):
        return _acomplete
    return _chat_alone if "_model" in type(llm).__private_attributes__ else _chat_in_thread


def _has_its_own(llm: CustomLLM, method: str) -> bool:
    """Return whether a method is not that of ``CustomLLM``, even if LlamaIndex has wrapped the inherited one."""
    return unwrap(getattr(type(llm), method)) is not unwrap(getattr(CustomLLM, method))


async def _achat(llm: LLM, messages: Sequence[ChatMessage], settings: dict[str, Any]) -> ChatResponse:
    return await llm.achat(messages, **settings)


async def _acomplete(llm: LLM, messages: Sequence[ChatMessage], settings: dict[str, Any]) -> ChatResponse:
    prompt = (llm.messages_to_prompt or messages_to_prompt)(messages)
    return completion_response_to_chat_response(await llm.acomplete(prompt, formatted=True, **settings))


async def _chat_in_thread(llm: LLM, messages: Sequence[ChatMessage], settings: dict[str, Any]) -> ChatResponse:
    return await in_daemon_thread(lambda: llm.chat(messages, **settings), _LONGEST_CALL_S)


async def _chat_alone(llm: LLM, messages: Sequence[ChatMessage], settings: dict[str, Any]) -> ChatResponse:
    """Compute one answer at a time, because local models are seldom safe to use from two threads, and not faster."""

    def chat() -> ChatResponse:
        with _COMPUTING:
            return llm.chat(messages, **settings)

    return await in_daemon_thread(chat, _LONGEST_CALL_S)


_COMPUTING = threading.Lock()


# Copies without retries, one per event loop ---------------------------------------------------------------------------


class _Copy:
    """Copy of an LLM for one event loop, closed at the end of the loop, or when no caller can use it any more."""

    def __init__(self, original: LLM, owner: Calls, copies: MutableMapping[asyncio.AbstractEventLoop, _Copy]) -> None:
        self.llm = _fresh_copy(original)
        self.closer = self._until_the_loop_ends()
        self._theirs = tuple(_private(original).values())
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


def _fresh_copy(llm: LLM) -> LLM:
    """Return a copy without retries of its own. An SDK's client in it gets connections of its own.

    An HTTP client that the user made is kept, because it may have proxies and certificates.
    """
    copy = llm.model_copy(update={"max_retries": 0} if "max_retries" in type(llm).model_fields else None)
    for name, value in _private(copy).items():
        if _is_async_client(value):
            own = (
                {"http_client": type(value._client)(timeout=value.timeout, follow_redirects=False)}
                if _made_by_sdk(value)
                else {}
            )
            setattr(copy, name, value.with_options(max_retries=0, **own))
    return copy


def _private(llm: LLM) -> dict[str, Any]:
    return llm.__pydantic_private__ or {}


def _is_async_client(value: object) -> bool:
    """Return whether the value is an asynchronous client of the OpenAI or Anthropic SDK, or a similar one."""
    return type(value).__name__.startswith("Async") and hasattr(value, "with_options") and hasattr(value, "max_retries")


def _made_by_sdk(client: object) -> bool:
    """Return whether the SDK made the HTTP client inside, and not the user."""
    return type(getattr(client, "_client", None)).__name__ == "AsyncHttpxClientWrapper"
