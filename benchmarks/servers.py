"""Local servers of chat completions for the benchmarks, each in a process of its own, whose CPU does not count.

- *fast* answers at once;
- *faults* answers after 200 ms, 5 % with 429, 2 % with 500, 1 % with garbage;
- *limited* answers after 1 s, and refuses more than 100 requests per second.
"""

import asyncio
import json
import multiprocessing
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

PER_SECOND = 100
DELAYS = {"fast": 0.0, "faults": 0.2, "limited": 1.0}
FAILURE = {"error": {"message": "try again", "type": "server_error"}}

Reply = Callable[[bytes], dict[str, Any]]


@contextmanager
def serving(kind: str, reply: Reply) -> Iterator[str]:
    """Yield the base URL of a server of this kind; `reply` makes the message of the body of a request."""
    mine, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(kind, reply, theirs), daemon=True)
    server.start()
    try:
        yield f"http://127.0.0.1:{mine.recv()}/v1"
    finally:
        server.terminate()


def says(text: str) -> dict[str, Any]:
    """Return the message with a text."""
    return {"role": "assistant", "content": text}


def _serve(kind: str, reply: Reply, port: Any) -> None:
    from aiohttp import web

    chance, bucket = random.Random(7), _Bucket()

    async def answer(request: web.Request) -> web.Response:
        asked = await request.read()
        if kind == "limited" and bucket.is_empty():
            return web.json_response(FAILURE, status=429, headers={"retry-after": "1"})
        if DELAYS[kind]:
            await asyncio.sleep(DELAYS[kind])
        luck = chance.random() if kind == "faults" else 1.0
        if luck < 0.07:
            return web.json_response(FAILURE, status=429 if luck < 0.05 else 500)
        body = b"<html>" if luck < 0.08 else _completion(reply(asked))
        return web.Response(body=body, content_type="application/json")

    async def main() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port.send(site._server.sockets[0].getsockname()[1])  # type: ignore[union-attr]
        await asyncio.Event().wait()

    asyncio.run(main())


def _completion(message: dict[str, Any]) -> bytes:
    return json.dumps({
        "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 100, "total_tokens": 600},
    }).encode()  # fmt: skip


class _Bucket:
    """The requests that are allowed now; a second of them at the start."""

    def __init__(self) -> None:
        self.left, self.filled = float(PER_SECOND), perf_counter()

    def is_empty(self) -> bool:
        """Take a request, or say that there is none."""
        now = perf_counter()
        self.left = min(PER_SECOND, self.left + (now - self.filled) * PER_SECOND)
        self.filled = now
        if self.left < 1:
            return True
        self.left -= 1
        return False
