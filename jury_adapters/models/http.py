"""JSON over HTTP: the request path to OpenAI-compatible and Anthropic APIs, on aiohttp.

An SDK's own request costs several times as much CPU. So the SDK only says where a request goes and with which headers
(:mod:`jury_adapters.models.endpoints`), and this module sends it. It follows no redirects, reads bodies up to a limit,
and raises :class:`ModelError` for whatever goes wrong on the wire.

There is one session per event loop, with keep-alive and without cookies. It is closed with its loop.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jury_adapters.core.errors import ModelError
from jury_adapters.core.values import clean_text
from jury_adapters.models.clients import shared_client
from jury_adapters.models.proxies import proxy_for, ssl_context

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

MAX_BODY_BYTES = 32 * 2**20
"""Bytes of a decompressed body from which on a reply counts as broken."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address of an API, and the headers that every request to it carries.

    Attributes:
        url: the whole address.
        headers: what the vendor's SDK would send, the key included; never shown.
        connect_seconds: the limit on making a connection; None for no limit of its own.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    connect_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """Answer of a server, read to its end.

    Attributes:
        status: the HTTP status.
        headers: the headers; names are looked up in any case.
        body: the decompressed body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


def can_send(url: str) -> bool:
    """Whether this module can send to an address: aiohttp is installed, and the proxy, if any, is an HTTP proxy."""
    proxy = proxy_for(url)
    return _aiohttp_installed() and (proxy is None or urlsplit(proxy).scheme in ("http", "https"))


async def post_json(endpoint: Endpoint, body: Mapping[str, Any], *, max_bytes: int = MAX_BODY_BYTES) -> Response:
    """Send a JSON object and read the answer, whatever its status.

    The time limit is the caller's.

    Args:
        endpoint: where to, and the headers.
        body: the object.
        max_bytes: the limit on the body of the answer, compressed or not.

    Raises:
        ModelError: kind ``"connection"`` or ``"broken_body"``; the request was not answered in a way that can be read.
    """
    session: ClientSession = await shared_client(_SESSION, _make_session)
    data = _encode(body).encode()
    route = _route(endpoint.url)
    response: ClientResponse | None = None
    try:
        response = await session.post(
            route.url, data=data if len(data) <= _LARGE else BytesIO(data), headers=endpoint.headers,
            allow_redirects=False, proxy=route.proxy, ssl=route.ssl,
            timeout=_timeout(endpoint.connect_seconds),
        )  # fmt: skip
        content = await _read(response, max_bytes)
        return Response(response.status, response.headers, content)
    except ModelError:
        raise
    except Exception as error:  # an SDK would not let aiohttp's dozens of exceptions through either
        failure = _failure(error, response)
    finally:
        if response is not None and not response.content.at_eof():
            response.close()
    raise failure


def parse_json(body: bytes) -> Any:
    """Parse a JSON body; integers too long for Python become infinite.

    Raises:
        ModelError: kind ``"broken_body"``; the body is not JSON.
    """
    try:
        try:
            return json.loads(body)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of more digits than Python converts; the reply around it may be sound
            return json.loads(body, parse_int=float)
    except (ValueError, RecursionError) as error:
        said = type(error).__name__
    shown = clean_text(body[:200].decode("utf-8", "replace"))
    raise ModelError(f"the body is not JSON ({said}): {shown!r}", "broken_body")


async def _read(response: ClientResponse, limit: int) -> bytes:
    """Read a body up to the limit."""
    declared = response.content_length
    if declared is not None and declared > limit:
        raise _too_large(limit)
    content = response.content
    body = await content.readany()
    if not content.at_eof():
        pieces = [body]
        size = len(body)
        while not content.at_eof():
            piece = await content.readany()
            size += len(piece)
            if size > limit:
                raise _too_large(limit)
            pieces.append(piece)
        body = b"".join(pieces)
    coding = response.headers.get("Content-Encoding", "")
    return body if coding in ("", "identity") else _decompress(body, coding.lower().strip(), limit)


def _decompress(body: bytes, coding: str, limit: int) -> bytes:
    """Decompress a whole body, and no more of it than the limit."""
    if coding in ("identity", ""):
        return body
    if coding not in _WINDOW_BITS:
        raise ModelError(
            f"the body is compressed by {clean_text(coding)[:40]!r}, which was not asked for", "broken_body"
        )
    bits = _WINDOW_BITS[coding]
    if coding == "deflate" and body[:1] and body[0] & 0x0F != zlib.DEFLATED:
        bits = -zlib.MAX_WBITS  # some servers leave the zlib header out
    decompressor = zlib.decompressobj(bits)
    try:
        plain = decompressor.decompress(body, limit + 1)
    except zlib.error:
        plain = b""
    if len(plain) > limit:
        raise _too_large(limit)
    if not decompressor.eof:
        raise ModelError(f"the body cannot be decompressed ({coding})", "broken_body")
    return plain


def _too_large(limit: int) -> ModelError:
    return ModelError(f"the body is larger than {limit / 2**20:g} MiB", "broken_body")


def _failure(error: Exception, response: ClientResponse | None) -> ModelError:
    """Describe a fault on the wire; the texts of aiohttp's exceptions may quote proxies with their passwords."""
    names = [kind.__name__ for kind in type(error).__mro__]
    if response is not None:
        return ModelError(f"the body broke off ({names[0]})", "broken_body", status=response.status)
    if "ClientHttpProxyError" in names:
        status = getattr(error, "status", 0)
        kind = "refused_request" if 400 <= status < 500 else "connection"
        return ModelError(f"the proxy refused the connection with status {status}", kind)  # type: ignore[arg-type]
    if "ClientProxyConnectionError" in names:
        return ModelError("the proxy cannot be reached", "connection")
    if "ClientConnectorCertificateError" in names or "ClientConnectorSSLError" in names:
        reason = getattr(getattr(error, "os_error", None) or getattr(error, "certificate_error", None), "reason", None)
        return ModelError(
            f"the certificate or TLS handshake failed: {clean_text(str(reason or names[0]))}", "connection"
        )
    if isinstance(error, TimeoutError):
        return ModelError("no connection in time", "timeout")
    system = getattr(error, "os_error", None) or error
    said = getattr(system, "strerror", None) or str(getattr(error, "message", "") or "")
    first_line = clean_text(said).partition("\n")[0][:200]
    return ModelError(f"{names[0]}: {first_line}" if first_line else names[0], "connection")


@dataclass(frozen=True, slots=True)
class _Route:
    """Way to an address: parsed URL, proxy and TLS settings."""

    url: Any
    proxy: str | None
    ssl: Any


@cache
def _route(url: str) -> _Route:
    from yarl import URL

    proxy = proxy_for(url)
    secure = url.lower().startswith("https:") or (proxy or "").lower().startswith("https:")
    return _Route(URL(url, encoded=True), proxy, ssl_context() if secure else True)


def forget_routes() -> None:
    """Look up proxies and certificates anew; for tests that change the environment."""
    _route.cache_clear()


def _make_session() -> Any:
    aiohttp = import_module("aiohttp")
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),  # the limits on calls are those of `retries`
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # aiohttp's own is not limited in all versions
        trust_env=False,  # it would add passwords from .netrc
    )


@cache
def _timeout(connect_seconds: float | None) -> Any:
    return import_module("aiohttp").ClientTimeout(total=None, sock_connect=connect_seconds)


@cache
def _aiohttp_installed() -> bool:
    return find_spec("aiohttp") is not None


_SESSION = ("aiohttp session",)
_LARGE = 2**20  # bytes; aiohttp warns about larger bodies given as bytes
_WINDOW_BITS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
