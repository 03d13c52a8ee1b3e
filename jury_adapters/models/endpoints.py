"""Addresses and headers of requests, as a vendor's SDK sends them.

An SDK client sends one empty request through a transport that records it. So the SDK itself, in any version, reads
keys, base URL, organisation and project headers, default headers and environment variables.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from jury_adapters.core import event_loop
from jury_adapters.models.http import Endpoint
from jury_adapters.models.sdk_clients import sdk_module


async def endpoint_of(sdk: str, client_on: Callable[[Any], Any], path: str) -> Endpoint:
    """Return the address and the headers with which an SDK client sends requests for a path.

    Args:
        sdk: ``"openai"`` or ``"anthropic"``.
        client_on: returns the asynchronous SDK client on the HTTP client that it is given.
        path: such as ``"/chat/completions"``.

    Raises:
        ConfigurationError: the SDK is not installed.
    """
    async with recording_client(sdk) as (http_client, sent):
        await client_on(http_client).post(path, body={}, cast_to=object)
    return endpoint_in(sent[0])


@asynccontextmanager
async def recording_client(sdk: str) -> AsyncIterator[tuple[Any, list[Any]]]:
    """Create an HTTP client for an SDK that sends nothing, and the list of the requests that it receives.

    Each request is answered with an empty object.

    Raises:
        ConfigurationError: the SDK is not installed.
    """
    load = partial(sdk_module, sdk)
    http = http_package(await event_loop.in_worker_thread(load))  # the import takes a large part of a second
    sent: list[Any] = []

    class Transport(http.AsyncBaseTransport):  # type: ignore[name-defined,misc]
        """Transport that records requests and answers each with an empty object."""

        async def handle_async_request(self, request: Any) -> Any:
            sent.append(request)
            return http.Response(200, json={})

    logging.getLogger(http.__name__).addFilter(_is_sent)
    async with http.AsyncClient(transport=Transport(), trust_env=False) as keeping:
        token = _RECORDING.set(True)
        try:
            yield keeping, sent
        finally:
            _RECORDING.reset(token)


def endpoint_in(request: Any) -> Endpoint:
    """Return the address of a request, with the headers that are the same for every such request."""
    headers = {name: value for name, value in request.headers.items() if name.lower() not in _PER_REQUEST}
    url = request.url.copy_with(userinfo=b"")  # user and password of a URL are already in a header
    return Endpoint(str(url), {**headers, "accept-encoding": "gzip, deflate"})


def http_package(module: ModuleType) -> Any:
    """Return the package on which an SDK is built: httpx, or httpx2."""
    kinds = module.DefaultAsyncHttpxClient.__mro__
    return import_module(next(kind for kind in kinds if kind.__name__ == "AsyncClient").__module__.partition(".")[0])


def _is_sent(record: logging.LogRecord) -> bool:
    """Filter of the HTTP package's log, which would report a recorded request as one that was answered with 200."""
    return not _RECORDING.get()


_RECORDING: ContextVar[bool] = ContextVar("jury_recording", default=False)
_PER_REQUEST = frozenset({
    "host", "connection", "content-length", "transfer-encoding", "accept-encoding", "x-stainless-retry-count",
    "x-stainless-read-timeout", "x-stainless-timeout", "idempotency-key",
    "traceparent", "tracestate", "baggage",
})  # fmt: skip
