"""HTTP proxy for tests, which forwards absolute requests and opens tunnels, and records both."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from .wire import Received, WireServer, response


@dataclass(frozen=True)
class Forwarded:
    """One request to the proxy.

    Attributes:
        method: the method; ``CONNECT`` for a tunnel.
        target: where it led, as the client wrote it.
        authorization: the ``Proxy-Authorization`` header, or None.
        names: the names of all headers, in lower case.
        model: the model that is asked, where the proxy can read that.
    """

    method: str
    target: str
    authorization: str | None
    names: frozenset[str]
    model: str | None


class ProxyServer(WireServer):
    """Proxy on a loopback port. Use it as a context manager.

    Attributes:
        forwarded: every request to the proxy so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.forwarded: list[Forwarded] = []

    async def exchange(self, connection: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        received = await self._read(connection, reader)
        self.forwarded.append(
            Forwarded(
                received.method, received.target, received.headers.get("proxy-authorization"),
                frozenset(received.headers), received.json["model"] if received.body else None,
            )
        )  # fmt: skip
        parts = urlsplit(f"//{received.target}" if received.method == "CONNECT" else received.target)
        if not parts.hostname or not parts.port:  # asked as if it were the server itself
            writer.write(response("{}", "421 Misdirected Request"))
            return True
        there, upstream = await asyncio.open_connection(parts.hostname, parts.port)
        if received.method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_pipe(there, writer), _pipe(reader, upstream))
        else:
            upstream.write(_forwarded(received, parts.path))
            answer = await there.read()
            writer.write(answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            upstream.close()
        return False


def _forwarded(received: Received, path: str) -> bytes:
    """Return a request as the proxy sends it on: for the path alone, without what was meant for the proxy."""
    kept = [
        line for line in received.head.decode("latin-1").rstrip().split("\r\n")[1:]
        if not line.lower().startswith(("proxy-", "connection:"))
    ]  # fmt: skip
    lines = [f"{received.method} {path} HTTP/1.1", *kept, "Via: 1.1 tests", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + received.body


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    writer.close()
