"""JSON over HTTP: the request path to OpenAI-compatible and Anthropic APIs, on aiohttp.

An SDK's own request costs several times as much CPU. So the SDK only provides the address and the headers of a request
(:mod:`jury_adapters.models.endpoints`), and this module sends it. It follows no redirects, reads bodies up to a limit,
and raises :class:`ModelError` for every transport failure.

There is one session per event loop, with keep-alive and without cookies. It is closed with its loop.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from ssl import SSLCertVerificationError, SSLError
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from jury_adapters.core.errors import ModelError, ModelErrorKind
from jury_adapters.core.values import clean_text
from jury_adapters.models.clients import shared_client
from jury_adapters.models.proxies import proxy_for, ssl_context

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, StreamReader

MAX_BODY_BYTES = 32 * 2**20
"""Maximum size of a decompressed body in bytes. A reply with a larger one counts as broken."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address of an API, and the headers of every request to it.

    Attributes:
        url: the whole address.
        headers: the headers that the vendor's SDK would send, including the key; never shown.
        connect_seconds: the time limit on connecting; None for no separate limit.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    connect_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """Answer of a server, completely read.

    Attributes:
        status: the HTTP status.
        headers: the headers; names are looked up in any case.
        body: the decompressed body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


def load_http() -> None:
    """Import aiohttp, if it is installed; without this, the first request does."""
    if _aiohttp_installed():
        import_module("aiohttp")


def can_send(url: str) -> bool:
    """Return whether this module can send to an address: aiohttp is installed, and any proxy is an HTTP proxy."""
    proxy = proxy_for(url)
    return _aiohttp_installed() and (proxy is None or urlsplit(proxy).scheme in ("http", "https"))


async def post_json(endpoint: Endpoint, body: Mapping[str, Any], *, max_bytes: int = MAX_BODY_BYTES) -> Response:
    """Send a JSON object and read the answer, whatever its status.

    The caller sets the time limit.

    Args:
        endpoint: the address and the headers.
        body: the object.
        max_bytes: the limit on the body of the answer, compressed or not.

    Raises:
        ModelError: kind ``"connection"`` or ``"broken_body"``; no answer arrived that can be read.
    """
    session: ClientSession = await shared_client(_SESSION, _make_session)
    data = encode_body(body).encode()
    route = _route(endpoint.url)
    try:
        response = await session.post(
            route.url, data=data if len(data) <= _LARGE else BytesIO(data), headers=endpoint.headers,
            allow_redirects=False, proxy=route.proxy, ssl=route.ssl,
            timeout=_timeout(endpoint.connect_seconds),
        )  # fmt: skip
    except Exception as error:  # aiohttp has dozens of exceptions, and its parsers raise others
        failure = _failure(error)
    else:
        return Response(response.status, response.headers, await _body_of(response, max_bytes))
    raise failure


def parse_json(body: bytes, hidden_in: Callable[[str], str]) -> Any:
    """Parse a JSON body. Integers too long for Python become infinite.

    Args:
        body: the body.
        hidden_in: removes the key from a text.

    Raises:
        ModelError: kind ``"broken_body"``; the body is not JSON.
    """
    try:
        try:
            return json.loads(body)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of more digits than Python converts; the rest of the reply may be valid
            return json.loads(body, parse_int=float)
    except (ValueError, RecursionError) as error:
        said = type(error).__name__
    # The text is shortened after the key is removed, because a part of a key would not be found.
    shown = clean_text(hidden_in(body[:_LONGEST_ERROR].decode("utf-8", "replace"))[:200])
    raise ModelError(f"the body is not JSON ({said}): {shown!r}", "broken_body")


class EncodedList(list[Any]):
    """List with its JSON text, so that requests that share it are encoded faster."""

    json: str

    @classmethod
    def of(cls, items: list[Any]) -> EncodedList:
        """Encode a list that will not change any more."""
        made = cls(items)
        made.json = _encode(items)
        return made


class EncodedDict(dict[str, Any]):
    """Dictionary with its JSON text; see :class:`EncodedList`."""

    json: str

    @classmethod
    def of(cls, items: dict[str, Any]) -> EncodedDict:
        """Encode a dictionary that will not change any more."""
        made = cls(items)
        made.json = _encode(items)
        return made


def encode_body(body: Mapping[str, Any]) -> str:
    """Encode a JSON object, as compactly as the SDKs do.

    >>> encode_body({"model": "m", "messages": EncodedList.of([1, 2]), "n": 1})
    '{"model":"m","n":1,"messages":[1,2]}'
    """
    ready = [f'"{name}":{value.json}' for name, value in body.items() if value.__class__ in _ENCODED]
    if not ready:
        return _encode(body)
    rest = _encode({name: value for name, value in body.items() if value.__class__ not in _ENCODED})
    return f"{rest[:-1]}{',' if rest != '{}' else ''}{','.join(ready)}}}"


async def _body_of(response: ClientResponse, limit: int) -> bytes:
    """Read the body of an answer. If its status is an error, a part of the body is enough.

    Raises:
        ModelError: kind ``"broken_body"``; the status is 200, and the body is broken or too large.
    """
    final = response.status != 200
    try:
        return await _read(response, _LONGEST_ERROR if final else limit)
    except ModelError:
        if final:
            return b""
        raise
    except Exception as error:
        failure = ModelError(f"the body broke off ({type(error).__name__})", "broken_body")
    finally:
        if not response.content.at_eof():
            response.close()
    if final:
        return b""
    raise failure


async def _read(response: ClientResponse, limit: int) -> bytes:
    """Read a body up to the limit."""
    content = response.content
    declared = response.content_length
    if declared is not None and declared > limit:
        raise _too_large(limit)
    if content.is_eof():  # the usual case, once the headers have been read
        body = content.read_nowait()
    else:
        with _closing_noticed(response):
            body = await _pieces(content, limit)
    if len(body) > limit:
        raise _too_large(limit)
    coding = response.headers.get("Content-Encoding")
    return body if coding is None else _decompress(body, coding.lower().strip(), limit)


async def _pieces(content: StreamReader, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while size <= limit and not content.at_eof():
        piece = await content.readany()
        size += len(piece)
        pieces.append(piece)
    return b"".join(pieces)


@contextmanager
def _closing_noticed(response: ClientResponse) -> Iterator[None]:
    """Make a closed connection end the wait for the rest of a body.

    After an invalid chunk size, aiohttp's parser closes the connection and leaves the reader waiting.
    """
    connection = response.connection
    closed = getattr(connection.protocol, "closed", None) if connection is not None else None
    if closed is None:
        yield
        return
    readers = _READERS.get(closed)
    if readers is None:  # once per connection
        readers = _READERS[closed] = []
        closed.add_done_callback(partial(_notice_closing, readers))
    readers.append(response.content)
    try:
        yield
    finally:
        readers.remove(response.content)


def _notice_closing(readers: list[StreamReader], closed: asyncio.Future[None]) -> None:
    if not closed.cancelled():
        closed.exception()  # retrieve the exception, so that asyncio does not log it
    for reader in readers:
        if not reader.is_eof() and reader.exception() is None:
            reader.set_exception(ConnectionError("the connection was closed"))


# Bodies that are being read on a connection, by the future of its end.
_READERS: WeakKeyDictionary[asyncio.Future[None], list[StreamReader]] = WeakKeyDictionary()


def _decompress(body: bytes, coding: str, limit: int) -> bytes:
    """Decompress a whole body, up to the limit."""
    if coding in ("identity", ""):
        return body
    if coding not in _WINDOW_BITS:
        raise ModelError(
            f"the body is compressed by {clean_text(coding)[:40]!r}, which was not asked for", "broken_body"
        )
    bits = _WINDOW_BITS[coding]
    if coding == "deflate" and body[:1] and body[0] & 0x0F != zlib.DEFLATED:
        bits = -zlib.MAX_WBITS  # some servers omit the zlib header
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


def _failure(error: Exception) -> ModelError:
    """Convert aiohttp's exception to an error.

    The texts of aiohttp's exceptions may quote what the server sent, and proxies with their passwords. So they are not
    used, except for the texts of the system's own errors.
    """
    names = [kind.__name__ for kind in type(error).__mro__]
    if "ClientHttpProxyError" in names:
        status = getattr(error, "status", 0)
        kind: ModelErrorKind = "refused_request" if 400 <= status < 500 else "connection"
        return ModelError(f"the proxy refused the connection with status {status}", kind)
    if "ClientProxyConnectionError" in names:
        return ModelError("the proxy cannot be reached", "connection")
    if "ClientResponseError" in names or "HttpProcessingError" in names:
        return ModelError("the answer is not HTTP that can be read", "connection")
    if isinstance(error, TimeoutError):
        return ModelError("no connection in time", "timeout")
    inside = next((found for name in _INSIDE if (found := getattr(error, name, None)) is not None), error)
    if isinstance(inside, SSLError):
        return ModelError(
            f"no TLS connection: {inside.verify_message or inside.reason}"
            if isinstance(inside, SSLCertVerificationError)
            else f"no TLS connection: {inside.reason}",
            "connection",
        )
    said = getattr(inside, "strerror", None)
    return ModelError(f"{names[0]}: {said}" if said else names[0], "connection")


@dataclass(frozen=True, slots=True)
class _Route:
    """Route to an address: parsed URL, proxy and TLS settings."""

    url: Any
    proxy: str | None
    ssl: Any


@cache
def _route(url: str) -> _Route:
    from yarl import URL

    proxy = proxy_for(url)
    secure = url.lower().startswith("https:") or (proxy or "").lower().startswith("https:")
    return _Route(URL(url, encoded=True), proxy, ssl_context() if secure else True)


def _make_session() -> Any:
    aiohttp = import_module("aiohttp")
    return aiohttp.ClientSession(
        connector=_connector_class()(limit=0),  # calls are limited in `retries`
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # aiohttp's own decompression has no limit in some versions
        trust_env=False,  # it would add passwords from .netrc
    )


@cache
def _timeout(connect_seconds: float | None) -> Any:
    return import_module("aiohttp").ClientTimeout(total=None, sock_connect=connect_seconds)


@cache
def _connector_class() -> Any:
    from aiohttp import TCPConnector

    class Connector(TCPConnector):
        """Connector that never reuses a connection on which bytes arrived while it was idle.

        aiohttp would treat them as the answer to the next request.
        """

        async def connect(self, *args: Any, **kwargs: Any) -> Any:
            while True:
                connection = await super().connect(*args, **kwargs)
                if connection.protocol is None or not connection.protocol.should_close:
                    return connection
                connection.close()

    return Connector


@cache
def _aiohttp_installed() -> bool:
    return find_spec("aiohttp") is not None


_SESSION = ("aiohttp session",)
_ENCODED = frozenset({EncodedList, EncodedDict})
_INSIDE = ("os_error", "certificate_error")
_LONGEST_ERROR = 2**16  # bytes of an error's body that are read
_LARGE = 2**20  # bytes; aiohttp warns about larger bodies given as bytes
_WINDOW_BITS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
