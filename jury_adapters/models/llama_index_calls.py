"""Calls of a LlamaIndex LLM, without a change to the user's object.

A call never blocks the event loop, does not retry, and uses connections that never cross event loops.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Sequence
from inspect import unwrap
from typing import Any, TypeAlias

from llama_index.core.base.llms.generic_utils import completion_response_to_chat_response, messages_to_prompt
from llama_index.core.llms import LLM, ChatMessage, ChatResponse, CustomLLM, ImageBlock, TextBlock

from jury_adapters.core.event_loop import in_daemon_thread
from jury_adapters.core.images import Image
from jury_adapters.models.base import Prompt, Turn
from jury_adapters.models.llama_index_copies import CopiesPerLoop, has_connections

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
        self._copied = "max_retries" in type(llm).model_fields or has_connections(llm)
        self._copies = CopiesPerLoop(llm, retries=False)

    async def chat(self, messages: Sequence[ChatMessage], settings: dict[str, Any]) -> ChatResponse:
        """Return the LLM's answer. Exceptions of the LLM pass through.

        Args:
            messages: the messages.
            settings: keyword arguments of the call, as the LLM's vendor names them.
        """
        llm = await self._copies.for_this_loop() if self._copied else self._llm
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
