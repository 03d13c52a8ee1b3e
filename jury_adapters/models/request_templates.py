"""Requests of a framework's object, recorded once and then sent by this package.

A LangChain chat model or LlamaIndex LLM is asked a sample prompt through an HTTP client that sends nothing. The request
that it would have sent becomes a template: only the texts of the prompt differ between requests. So the request has all
settings of the object, in any version of the framework.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4
from weakref import WeakKeyDictionary

from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Prompt, Schema, Turn
from jury_adapters.models.credentials import secrets_in_request
from jury_adapters.models.endpoints import endpoint_in, recording_client
from jury_adapters.models.http import Endpoint, can_send
from jury_adapters.models.http_errors import error_in_body
from jury_adapters.models.reply_parts import text_in_answer
from jury_adapters.models.unsupported_parameters import Body
from jury_adapters.models.vendor_api import post_to


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """Answer to a request sent by this package.

    Attributes:
        raw: the parsed body.
        text: the text of the reply in it.
    """

    raw: Mapping[str, Any]
    text: str


class RequestTemplate:
    """Request whose prompt can be replaced.

    Args:
        endpoint: the address and the headers.
        seconds: the limit on the whole request; None for no limit.
        key: the keys in the headers, which are removed from replies and messages.
        body: the recorded body.
        sample: the texts of the recorded prompt; each is a separate string in the body.
    """

    def __init__(
        self, endpoint: Endpoint, seconds: float | None, key: Key, body: Body, sample: tuple[str, ...]
    ) -> None:
        self.endpoint = endpoint
        self._seconds = seconds
        self.key = key
        self._body = body
        self._sample = sample
        self._varying = tuple(name for name, value in body.items() if any(_count(value, text) for text in sample))

    def body(self, prompt: Prompt) -> Body:
        """Return the body with the texts of a prompt of the same shape."""
        texts = dict(zip(self._sample, _texts(prompt), strict=True))
        body = dict(self._body)
        for name in self._varying:
            body[name] = _replaced(body[name], texts)
        return body

    async def post(self, prompt: Prompt, name: str) -> DirectAnswer:
        """Send the request with the texts of a prompt.

        Args:
            prompt: a prompt of the same shape.
            name: the model's name, for error messages.

        Raises:
            ModelError: the request failed; the message does not contain the key.
        """
        answer = await post_to(self.endpoint, self.body(prompt), seconds=self._seconds, key=self.key, name=name)
        text = text_in_answer(answer)
        if text is None:
            raise error_in_body(answer, self.key.hidden_in, name)
        return DirectAnswer(answer, text)


class Templates:
    """Templates of one object, recorded at the first request of each kind in each event loop."""

    def __init__(self) -> None:
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Recorded] = WeakKeyDictionary()

    async def get(
        self, prompt: Prompt, schema: Schema | None, settings: Hashable, record: Callable[[], Recording]
    ) -> RequestTemplate | None:
        """Return the template for a kind of request, recorded at the first one; None if the object has to be called.

        Args:
            prompt: the prompt; prompts with the same roles share a template.
            schema: the schema of the answer.
            settings: all other properties that distinguish kinds of requests.
            record: records the template; simultaneous requests share one recording.
        """
        if not all(text and not text.isspace() for text in _texts(prompt)):
            return None  # objects may omit an empty text
        loop = asyncio.get_running_loop()
        recorded = self._loops.get(loop)
        if recorded is None:
            recorded = self._loops.setdefault(loop, _Recorded())
        key = (id(schema), settings, bool(prompt.system), *(turn.role for turn in prompt.turns))
        found = recorded.templates.get(key)
        if found is None:
            # The schema is kept too, so that its id is not reused.
            found = (schema, await recorded.record(key, record))
            if len(recorded.templates) >= _MOST_TEMPLATES:
                recorded.templates.clear()
            recorded.templates[key] = found
        return found[1]

    def forget(self) -> None:
        """Discard the templates of the running loop, so that the next request is recorded again."""
        self._loops.pop(asyncio.get_running_loop(), None)


Recording: TypeAlias = "Coroutine[Any, Any, RequestTemplate | None]"


@dataclass(slots=True, weakref_slot=True)
class _Recorded:
    """Templates of one event loop, and the recordings in progress."""

    templates: dict[Hashable, tuple[Schema | None, RequestTemplate | None]] = field(default_factory=dict)
    pending: dict[Hashable, asyncio.Task[RequestTemplate | None]] = field(default_factory=dict)

    async def record(self, key: Hashable, record: Callable[[], Recording]) -> RequestTemplate | None:
        task = self.pending.get(key)
        if task is None:
            task = self.pending[key] = asyncio.get_running_loop().create_task(record())
            task.add_done_callback(partial(self._end, key))
        return await asyncio.shield(task)

    def _end(self, key: Hashable, task: asyncio.Task[RequestTemplate | None]) -> None:
        self.pending.pop(key, None)  # a task would keep its loop in memory
        if not task.cancelled():
            task.exception()  # retrieves it: asyncio does not log it where every request was cancelled


async def record_template(
    sdk: str, ask: Callable[[Any, Prompt], Awaitable[object]], prompt: Prompt
) -> RequestTemplate | None:
    """Record the request for a prompt; None if this package cannot send what the object would send.

    It cannot if the object sends several requests or none, streams, changes the texts of the prompt, or uses another
    API than chat completions or messages, or if :func:`can_send` is false.

    Args:
        sdk: ``"openai"`` or ``"anthropic"``.
        ask: asks the object through an HTTP client.
        prompt: a prompt of the shape to record.
    """
    sample = _sample(prompt)
    async with recording_client(sdk) as (http_client, sent):
        with suppress(Exception):  # the answer is empty, which most objects refuse
            await ask(http_client, sample)
    if len(sent) != 1 or not _is_chat(sent[0]):
        return None
    [request] = sent
    text = request.content.decode()
    body, texts = json.loads(text), _texts(sample)
    if body.get("stream") or not can_send(str(request.url)):
        return None
    if any(_count(body, one) != 1 or text.count(one.strip()) != 1 for one in texts):
        return None
    seconds, connect_seconds = _time_limits(request)
    endpoint = replace(endpoint_in(request), connect_seconds=connect_seconds)
    return RequestTemplate(endpoint, seconds, _key_in(endpoint), body, texts)


def _sample(prompt: Prompt) -> Prompt:
    """Return a prompt of the same shape, with texts in which every change by an object shows."""
    turns = tuple(Turn(turn.role, _unique_text()) for turn in prompt.turns)
    return Prompt(_unique_text() if prompt.system else "", turns)


def _unique_text() -> str:
    return f"\n {uuid4().hex} \n"  # reveals an object that strips or joins texts


def _texts(prompt: Prompt) -> tuple[str, ...]:
    turns = (turn.text for turn in prompt.turns)
    return (prompt.system, *turns) if prompt.system else tuple(turns)


def _is_chat(request: Any) -> bool:
    """Return whether a request goes to chat completions or messages, with a JSON object."""
    path = urlsplit(str(request.url)).path
    json_body = request.headers.get("content-type", "").startswith("application/json")
    return request.method == "POST" and json_body and path.endswith(("/chat/completions", "/v1/messages"))


def _time_limits(request: Any) -> tuple[float | None, float | None]:
    """Return the limits on the whole request and on connecting; the latter is None if both are equal."""
    limits = request.extensions.get("timeout") or {}
    whole, connect = limits.get("read"), limits.get("connect")
    return whole, None if connect == whole else connect


def _key_in(endpoint: Endpoint) -> Key:
    key = Key(None, None, "")
    key.also_hide(secrets_in_request(endpoint.url, endpoint.headers))
    return key


def _count(value: object, text: str) -> int:
    """Count the strings that equal a text, at any depth."""
    if isinstance(value, Mapping):
        return sum(_count(one, text) for one in value.values())
    if isinstance(value, list):
        return sum(_count(one, text) for one in value)
    return int(value == text)


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return texts.get(value, value)
    if isinstance(value, dict):
        return {name: _replaced(one, texts) for name, one in value.items()}
    return [_replaced(one, texts) for one in value] if isinstance(value, list) else value


_MOST_TEMPLATES = 64
