"""HTTP server of the tests: it speaks both protocols, answers by a plan, and can break every rule of HTTP."""

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

KEY = "wire-key-that-matches-no-known-pattern"
CLOSE, RESET = "close", "reset"
Pieces = Iterable[bytes | float | str]
"""What is written: bytes, seconds to pause, and at its end CLOSE or RESET."""


@dataclass
class Received:
    """Request as it arrived; `number` counts from 0."""

    target: str
    headers: dict[str, str]
    body: Any
    number: int

    @property
    def vendor(self) -> str:
        return "anthropic" if self.target.split("?")[0].endswith("/messages") else "openai"

    @property
    def key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def question(self) -> str:
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else content[-1]["text"]


def response(body: bytes | str | dict, status: str = "200 OK", **headers: str) -> bytes:
    data = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
    fields = {"content-type": "application/json", "content-length": str(len(data)), **headers}
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data


def answer(request: Received, text: str | None = None, **changes: Any) -> dict[str, Any]:
    """The right answer in the protocol of the request: it echoes the question."""
    said = f"echo: {request.question}" if text is None else text
    if request.vendor == "anthropic":
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": said}], "usage": {"input_tokens": 11, "output_tokens": 7}, **changes,
        }  # fmt: skip
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-test", "choices": [choice],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}, **changes,
    }  # fmt: skip


def well(request: Received) -> Pieces:
    return [response(answer(request))]


def error(status: str, message: str = "no", **detail: Any) -> Callable[[Received], Pieces]:
    """An error as both vendors write it."""
    headers = {name: detail.pop(name) for name in ("retry_after", "retry_after_ms", "date") if name in detail}
    body = {"type": "error", "error": {"message": message, **detail}}
    return lambda request: [response(body, status, **headers)]


@dataclass
class Server:
    """Server in a thread of its own; `plan` may be replaced at any time."""

    plan: Callable[[Received], Pieces] = well
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    port: int = 0

    tls: ssl.SSLContext | None = None

    def __enter__(self) -> "Server":
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def base_url(self, vendor: str) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{'' if vendor == 'anthropic' else '/v1'}"

    def plans(self, *plans: Callable[[Received], Pieces]) -> None:
        """Use the plans in order, and the last again and again, from now on."""
        begun = len(self.requests)
        self.plan = lambda request: plans[min(request.number - begun, len(plans) - 1)](request)

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(started))
        self._loop.close()

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**20, backlog=512, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0.05)  # in which the transports close their sockets

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections, self.open = self.connections + 1, self.open + 1
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._exchange(reader, writer):
                    pass
        except asyncio.CancelledError:
            pass
        finally:
            self.open -= 1
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Received(first.split(" ")[1], headers, json.loads(data) if data else None, len(self.requests))
        self.requests.append(request)
        for piece in self.plan(request):
            if isinstance(piece, float):
                await asyncio.sleep(piece)
            elif isinstance(piece, bytes):
                writer.write(piece)
                await writer.drain()
            else:
                if piece == RESET:
                    linger = struct.pack("ii", 1, 0)
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return False
        return headers.get("connection", "").lower() != "close"
