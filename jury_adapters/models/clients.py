"""What the SDK adapters share: one client per event loop, keys that do not leak, errors in our own words."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from jury_adapters.core.errors import ConfigurationError, ModelError, ModelErrorKind
from jury_adapters.core.secrets import without_keys
from jury_adapters.core.values import clean_text

C = TypeVar("C", bound="Closable")


class Closable(Protocol):
    """An SDK's asynchronous client."""

    async def close(self) -> None: ...


async def shared_client(identity: Hashable, make: Callable[[], C]) -> C:
    """The running loop's client of this identity, made when there is none.

    An async client must not cross event loops, and a new one per call would be slow: so there is one per loop and
    identity (server, key, settings), whichever critics ask. It is closed when its loop shuts down its asynchronous
    generators, as ``asyncio.run`` does at its end.
    """
    loop = asyncio.get_running_loop()
    clients = _CLIENTS.get(loop)
    if clients is None:
        clients = _CLIENTS.setdefault(loop, {})
    found = clients.get(identity)
    if found is None:
        client = make()
        closer = _closer(client)
        clients[identity] = found = (client, closer)
        await anext(closer)  # started, so that the loop knows it and closes it at its end
    return found[0]  # type: ignore[return-value]


class Key:
    """A vendor's API key: from an environment variable, or given literally.

    The key itself is read when a client is made. A pickled model carries the variable's name and never the key.
    """

    def __init__(self, literal: str | SecretStr | None, variable: str | None, vendor: str) -> None:
        self._literal = SecretStr(literal) if isinstance(literal, str) else literal
        self._variable = variable
        self._vendor = vendor

    def reveal(self) -> str:
        """The key, for the SDK only.

        Raises:
            ConfigurationError: there is none; the message names the variable to set.
        """
        if self._literal is not None:
            return self._literal.get_secret_value()
        if self._variable is None:
            return "none"  # local servers take any key, and the SDKs insist on one
        found = os.environ.get(self._variable)
        if not found:
            raise ConfigurationError(
                f"no key for {self._vendor}: set the environment variable {self._variable}, or give api_key="
            )
        return found

    @cached_property
    def identity(self) -> str:
        """Tells keys apart without showing them; in memory only."""
        return hashlib.sha256(self.reveal().encode()).hexdigest()[:12]

    def hidden_in(self, text: str) -> str:
        """The text with the key, and whatever looks like one, blotted out."""
        known = self._literal.get_secret_value() if self._literal else os.environ.get(self._variable or "", "")
        if len(known) > 3:  # a shorter one would blot out plain words
            text = text.replace(known, "[key]")
        return without_keys(text)

    def __repr__(self) -> str:
        return f"Key({'given' if self._literal else self._variable})"

    def __reduce__(self) -> tuple[type[Key], tuple[None, str | None, str]]:
        if self._literal is not None:
            raise TypeError(
                f"a critic built with a literal api_key is not pickled, so that the key cannot leak; set it in the "
                f"environment{f' ({self._variable})' if self._variable else ''} and leave api_key= out"
            )
        return (Key, (None, self._variable, self._vendor))


def aiohttp_client(kind: Callable[..., Any], timeout: float) -> Any:
    """The SDK's HTTP client on aiohttp, or None for its default where aiohttp is not installed.

    The default transport spends several times as much CPU per request, the more the more connections are open.
    """
    try:
        return kind(timeout=timeout)
    except RuntimeError:
        return None


def as_model_error(error: Exception, key: Key, what: str) -> ModelError:
    """An SDK's exception in our words, without the key.

    Raise it *after* the except block that caught the other: an exception raised inside keeps the SDK's as its context,
    and that one may carry the request with its key.
    """
    status = getattr(error, "status_code", None)
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    body = getattr(error, "body", None)
    detail = body.get("error", body) if isinstance(body, Mapping) else None
    parameter = detail.get("param") if isinstance(detail, Mapping) else None
    message = detail.get("message") if isinstance(detail, Mapping) else None
    kind = _kind(error, status)
    said = _origin(error)[-1] if kind == "connection" else error  # "Connection error." alone says nothing
    text = message if isinstance(message, str) else str(said)
    return ModelError(
        clean_text(f"{what}: {type(said).__name__}: {key.hidden_in(text)[:500]}"),
        kind,
        status=status,
        request_id=getattr(error, "request_id", None) or headers.get("x-request-id"),
        retry_after=retry_after(headers),
        parameter=parameter if isinstance(parameter, str) else None,
    )


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds the server asks to wait (``retry-after-ms``, or ``retry-after`` as seconds or date); None if it does not.

    A date is measured against the server's own ``date`` header where there is one, so a wrong clock here does no harm.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    then, server_now = _timestamp(value), _timestamp(headers.get("date"))
    return None if then is None else max(0.0, then - (now() if server_now is None else server_now))


def _kind(error: Exception, status: int | None) -> ModelErrorKind:
    if status is None:
        # What happened first decides: httpx-aiohttp calls a refused connection a timeout.
        for cause in reversed(_origin(error)):
            names = {kind.__name__ for kind in type(cause).__mro__}
            if names & {"APITimeoutError", "TimeoutError", "TimeoutException"}:
                return "timeout"
            if names & {"APIConnectionError", "ClientConnectionError", "ConnectionError", "OSError"}:
                return "connection"
            if names & {"JSONDecodeError", "UnicodeDecodeError"}:
                return "broken_body"
        return "malformed"
    return "broken_body" if status < 400 else kind_of_status(status)


def kind_of_status(status: int) -> ModelErrorKind:
    """What an HTTP status from 400 on means."""
    if status == 429:
        return "rate_limited"
    if status == 408:
        return "timeout"
    if status == 409 or status >= 500:
        return "server"
    return "authentication" if status in (401, 403) else "refused_request"


def _origin(error: BaseException) -> list[BaseException]:
    """The error, and what it came from; the first cause last."""
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _timestamp(value: str | None) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp() if value else None
    except (TypeError, ValueError, OverflowError):
        return None


def plain_int(value: Any) -> int:
    """A token count as the vendor gave it, 0 when it is missing or no number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def address_of(client: Any, base_url: str | None) -> str | None:
    """The server: that of a ready client, else the given one; None for the vendor's own."""
    return base_url if client is None else str(client.base_url)


async def _closer(client: Closable) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _CLIENTS.pop(asyncio.get_running_loop(), None)  # a client holds its loop, which would then live for ever
        await client.close()


_CLIENTS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, tuple[Closable, AsyncGenerator[None, None]]]] = (
    WeakKeyDictionary()
)
