"""Raw HTTP/1.1 server for tests: it writes exactly the bytes that a plan gives, well-formed or not.

The right answer to a request is written in the judged text, as in :mod:`support.vendor`.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from .looped import ServerThread
from .vendor import WELL, Ask, answer, anthropic_message, completion

CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"
VENDORS = ("openai", "anthropic")


class End(Enum):
    """Ways to end a connection: an orderly close, or a reset."""

    CLOSE = "close"
    RESET = "reset"


Pieces: TypeAlias = Iterable["bytes | float | End"]
"""An answer: bytes to write, seconds to pause, and at most one end. Without an end the connection stays open."""


@dataclass(frozen=True)
class Received:
    """One request as it arrived.

    Attributes:
        method: the method.
        target: the request target, in the form that was sent.
        head: the request line and the headers, as bytes.
        headers: the headers by lower-case name; repeated ones are joined with a comma.
        body: the body.
        connection: the number of the connection, from 0.
        number: how many requests came before it.
        attempt: how many requests with the same body came before it.
    """

    method: str
    target: str
    head: bytes
    headers: Mapping[str, str]
    body: bytes
    connection: int
    number: int
    attempt: int

    @property
    def vendor(self) -> str:
        """The vendor whose protocol the request speaks."""
        return "anthropic" if self.target.split("?")[0].endswith("/messages") else "openai"

    @property
    def key(self) -> str:
        """The API key that came with the request."""
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")

    @cached_property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def reply(request: Received, **changes: Any) -> dict[str, Any]:
    """Return the right answer to a request, as the vendor writes it, with some members changed."""
    ask = Ask(request.vendor, request.target, request.json, dict(request.headers), request.number, request.attempt)
    make = anthropic_message if request.vendor == "anthropic" else completion
    return make(ask, WELL, answer(ask)) | changes


def response(body: bytes | str, status: str = "200 OK", **headers: str) -> bytes:
    """Return a whole response; an underscore in a header's name is written as a hyphen."""
    data = body.encode() if isinstance(body, str) else body
    fields = {"content_type": "application/json", "content_length": str(len(data)), **headers}
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data


def well(request: Received) -> Pieces:
    """Answer well; a request without a body, as a client that follows redirects sends it, finds nothing."""
    return [response(json.dumps(reply(request)))] if request.body else [response("{}", "404 Not Found")]


class WireServer(ServerThread):
    """Server that reads requests and answers by a plan. Use it as a context manager.

    Args:
        plan: what to write for each request; may be replaced at any time.
        tls: whether to speak TLS, with the certificate of the tests.

    Attributes:
        requests: every request so far.
        connections: how many connections were accepted so far.
        closed: how many of them have ended.
    """

    def __init__(self, plan: Callable[[Received], Pieces] = well, *, tls: bool = False) -> None:
        super().__init__(tls=server_tls() if tls else None)
        self.plan = plan
        self.requests: list[Received] = []
        self.connections = 0
        self.closed = 0
        self._seen: Counter[bytes] = Counter()
        self._writers: set[asyncio.StreamWriter] = set()

    def reset(self, plan: Callable[[Received], Pieces] = well) -> None:
        """Forget all requests and take another plan."""
        self.plan = plan
        self.requests.clear()
        self._seen.clear()

    def base_url(self, vendor: str, host: str = "127.0.0.1") -> str:
        """Return the base URL for a vendor's SDK."""
        url = self.url.replace("127.0.0.1", host)
        return url if vendor == "anthropic" else f"{url}/v1"

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def serve(self) -> None:
        server = await asyncio.start_server(
            self._serve_connection, "127.0.0.1", 0, limit=2**20, backlog=1024, ssl=self._tls
        )
        self.listening(*server.sockets[0].getsockname()[:2])
        await self.over.wait()
        server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number, self.connections = self.connections, self.connections + 1
        self._writers.add(writer)
        # A client that closes the connection ends it: that is how clients leave.
        with suppress(asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            while await self.exchange(number, reader, writer):
                pass
        self._writers.discard(writer)
        self.closed += 1
        writer.close()

    async def exchange(self, connection: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read a request and answer it; whether the connection stays open."""
        received = await self._read(connection, reader)
        self.requests.append(received)
        end = await self._write(writer, self.plan(received))
        if end is End.RESET:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        return end is None and received.headers.get("connection", "").lower() != "close"

    async def _read(self, connection: int, reader: asyncio.StreamReader) -> Received:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            before = headers.get(name.lower())
            headers[name.lower()] = value.strip() if before is None else f"{before}, {value.strip()}"
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        received = Received(method, target, head, headers, body, connection, len(self.requests), self._seen[body])
        self._seen[body] += 1
        return received

    async def _write(self, writer: asyncio.StreamWriter, pieces: Pieces) -> End | None:
        for piece in pieces:
            if self.over.is_set():
                return End.RESET
            if isinstance(piece, End):
                return piece
            if isinstance(piece, bytes):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)  # drain() alone lets nothing else run while the socket takes everything
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.over.wait(), piece)
        return None


def server_tls() -> ssl.SSLContext:
    """Return the TLS context of a server on this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context
