"""Secrets that clients send: keys, passwords, cookies, and secrets in headers and query parameters.

A value is a secret if its header or parameter has a name of secrets (:data:`_SECRET_NAME`). With any other name, it is
a secret if it looks like one: it has no blanks, is not an address, and contains at least 16 letters and digits in a
row, of both kinds.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit


def secrets_in_client(client: object) -> Iterator[str]:
    """Yield the secrets that an SDK client or an HTTP client sends, as far as they are known before a request.

    The HTTP client inside an SDK client is included. Keys that a function provides, and additions by hooks of an HTTP
    client, are in the request only; see :func:`secrets_in_request`.
    """
    yield from keys_in_client(client)
    for holder in _holders(client):
        for name in ("_custom_headers", "headers"):
            yield from secrets_in_headers(_attribute(holder, name))
        for name in ("_custom_query", "params"):
            yield from secrets_in_query(_attribute(holder, name))
        for cookie in _cookies(_attribute(holder, "cookies")):
            yield from _if_long(cookie)
        yield from _secrets_in_auth(_attribute(holder, "auth"))


def keys_in_client(client: object) -> Iterator[str]:
    """Yield the keys and tokens that an SDK client was given as text."""
    for holder in _holders(client):
        for name in _KEYS:
            found = _attribute(holder, name)
            if isinstance(found, str) and found:
                yield found


def secrets_in_request(url: str, headers: object) -> Iterator[str]:
    """Yield the secrets of a request: in its headers, and in the query of its address."""
    yield from secrets_in_headers(headers)
    with suppress(ValueError):
        yield from secrets_in_query(parse_qsl(urlsplit(url).query))


def secrets_sent_with(carrier: object) -> Iterator[str]:
    """Yield the secrets of the request in an HTTP response, or in an exception of an SDK."""
    # httpx raises RuntimeError if there is no request.
    with suppress(Exception):
        request: Any = getattr(carrier, "request", None) or getattr(carrier, "_request", None)
        if request is not None:
            yield from secrets_in_request(str(request.url), request.headers)


@contextmanager
def noting_sent(note: Callable[[Iterable[str]], None]) -> Iterator[None]:
    """Call a function with the secrets of every request that is sent in the body through a client of ours.

    An HTTP client is one of ours when :func:`note_request` is among its request hooks.
    """
    token = _NOTE.set(note)
    try:
        yield
    finally:
        _NOTE.reset(token)


async def note_request(request: Any) -> None:
    """Report the secrets of a request. This is a request hook of an HTTP client; see :func:`noting_sent`."""
    note = _NOTE.get()
    if note is not None:
        note(secrets_in_request(str(request.url), request.headers))


def secrets_in_headers(headers: object) -> Iterator[str]:
    """Yield the secrets in headers; of ``Bearer k`` only ``k``, and of ``Basic`` also the password in it."""
    if isinstance(headers, Mapping):
        for name, value in headers.items():
            plain = str(name).lower()
            if not isinstance(value, str) or plain in _NOT_SECRET or plain.startswith("x-stainless-"):
                continue
            if plain in ("cookie", "set-cookie"):
                yield from _secrets_in_cookie(value)
            elif _SECRET_NAME.search(plain):
                yield from _secrets_in_authorization(value)
            elif _looks_secret(value):
                yield value


def secrets_in_query(parameters: object) -> Iterator[str]:
    """Yield the secrets in query parameters, given as a mapping or as pairs of names and values."""
    items: Any = getattr(parameters, "multi_items", None) or getattr(parameters, "items", None)
    pairs: Iterable[Any] = items() if items is not None else parameters if isinstance(parameters, list) else ()
    for name, value in pairs:
        if isinstance(value, str) and (_SECRET_NAME.search(str(name)) or _looks_secret(value)):
            yield value


def _secrets_in_authorization(value: str) -> Iterator[str]:
    scheme, _, rest = value.strip().partition(" ")
    secret = rest.strip() if rest and scheme.isalpha() else value.strip()
    if scheme.lower() == "digest" and rest:
        return  # hashes of the password, which are valid for one request only
    yield secret
    if scheme.lower() == "basic" and rest:
        with suppress(binascii.Error, ValueError):
            user, _, password = base64.b64decode(secret).decode("utf-8", "replace").partition(":")
            yield password
            yield from _if_long(user)


def _secrets_in_cookie(value: str) -> Iterator[str]:
    yield value.strip()
    with suppress(CookieError):
        for morsel in SimpleCookie(value).values():
            yield from _if_long(morsel.value)


def _secrets_in_auth(auth: object) -> Iterator[str]:
    """Yield the user and the password, or the tokens, of the authentication of an HTTP client."""
    for name, value in getattr(auth, "__dict__", {}).items():
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        if not isinstance(text, str):
            continue
        if "user" in name:
            yield from _if_long(text)
        elif _SECRET_NAME.search(name):
            yield from _secrets_in_authorization(text)


def _cookies(cookies: object) -> Iterator[str]:
    for cookie in getattr(cookies, "jar", ()):
        if isinstance(cookie.value, str):
            yield cookie.value


def _if_long(text: str) -> Iterator[str]:
    """Yield a text unless it may be a plain word, such as the name of a user."""
    if len(text) >= _LONG:
        yield text


def _holders(client: object) -> Iterator[object]:
    """Yield a client and those inside it: a resource of an SDK has the SDK's client, which has an HTTP client."""
    for _ in range(3):
        if client is None:
            return
        yield client
        client = _attribute(client, "_client")


def _attribute(holder: object, name: str) -> Any:
    with suppress(Exception):  # raised by a property of an unknown client
        return getattr(holder, name, None)
    return None


def _looks_secret(value: str) -> bool:
    if "://" in value or any(map(str.isspace, value)):
        return False
    return any(not run.isalpha() and not run.isdigit() for run in _RUN.findall(value))


_NOTE: ContextVar[Callable[[Iterable[str]], None] | None] = ContextVar("jury_note_sent", default=None)
_LONG: Final = 8
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_SECRET_NAME = re.compile(r"(?i)auth|key|token|secret|passw|pwd|credential|cookie|session|signature|^sig$")
_KEYS: Final = (
    "api_key", "auth_token", "admin_api_key", "access_token", "_azure_ad_token", "aws_secret_key", "aws_session_token",
)  # fmt: skip
# Values that differ from request to request, or that vendors quote in their messages.
_NOT_SECRET = frozenset({
    "accept", "accept-encoding", "anthropic-beta", "anthropic-version", "baggage", "connection", "content-length",
    "content-type", "host", "http-referer", "idempotency-key", "openai-beta", "openai-organization", "openai-project",
    "referer", "traceparent", "tracestate", "user-agent",
})  # fmt: skip
