"""Local vendor for the throughput benchmark: OpenAI's chat completions with latency, faults and a rate limit.

``python throughput_server.py '{"latency": 0.2}'`` prints its port. ``GET /stats`` returns what it has counted since the
last ``POST /reset``.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import zlib
from collections import Counter
from time import monotonic
from typing import Any

from aiohttp import web

REPLY = json.dumps({"reasoning": "so it says", "answer": "YES", "confidence": 0.9})


class Vendor:
    """Server that answers YES to everything, as far as its settings let it.

    Args:
        latency: seconds before each answer.
        too_many: share of requests that get 429 with ``Retry-After: 1``, whatever the load.
        broken: share of requests that get 500.
        malformed: share of requests that get a body cut off in the middle.
        rate: requests that are answered in each second of the clock; the others get 429 with ``Retry-After: 1``.
    """

    def __init__(
        self,
        latency: float = 0.0,
        too_many: float = 0.0,
        broken: float = 0.0,
        malformed: float = 0.0,
        rate: int | None = None,
    ) -> None:
        self.latency = latency
        self.shares = {"too_many": too_many, "broken": broken, "malformed": malformed}
        self.rate = rate
        self.reset_counts()

    def reset_counts(self) -> None:
        """Start counting anew."""
        self.started = monotonic()
        self.answers: Counter[str] = Counter()
        self.tries: Counter[int] = Counter()
        self.by_second: dict[int, Counter[str]] = {}
        self.in_flight = self.most_in_flight = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one chat completion."""
        raw = await request.read()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            kind = self._kind(raw)
            self.answers[kind] += 1
            if self.latency:
                await asyncio.sleep(self.latency)
        finally:
            self.in_flight -= 1
        if kind == "too_many":
            return web.json_response({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "1"})
        if kind == "broken":
            return web.json_response({"error": {"message": "broken"}}, status=500)
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": REPLY}}
        model = json.loads(raw)["model"]
        body = json.dumps(
            {"id": "x", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}
        )
        return web.Response(text=body if kind == "good" else body[:100], content_type="application/json")

    def _kind(self, raw: bytes) -> str:
        """Decide by the request and how often it came, so that every job meets the same faults."""
        second = self.by_second.setdefault(int(monotonic() - self.started), Counter())
        if self.rate is not None:
            kind = "good" if second["good"] < self.rate else "too_many"
            second[kind] += 1
            return kind
        if not any(self.shares.values()):
            return "good"
        content = zlib.crc32(raw)
        self.tries[content] += 1
        dice = random.Random(f"{content} {self.tries[content]}").random()
        for kind, share in self.shares.items():
            if dice < share:
                return kind
            dice -= share
        return "good"

    async def stats(self, request: web.Request) -> web.Response:
        """Return the counts."""
        found: dict[str, Any] = {
            "requests": sum(self.answers.values()),
            "answers": dict(self.answers),
            "most_in_flight": self.most_in_flight,
            "by_second": {str(second): dict(counts) for second, counts in self.by_second.items()},
        }
        return web.json_response(found)

    async def reset(self, request: web.Request) -> web.Response:
        """Forget the counts."""
        self.reset_counts()
        return web.json_response({})

    async def serve(self) -> None:
        """Serve until the process is killed."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.answer)
        app.router.add_get("/stats", self.stats)
        app.router.add_post("/reset", self.reset)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(Vendor(**json.loads(sys.argv[1])).serve())
