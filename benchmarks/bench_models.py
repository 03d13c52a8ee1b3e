"""CPU time per call of a model, side by side: bare aiohttp, loops over the openai SDK, and ours.

The server is the fast one of ``servers.py``. Rounds are interleaved, and the median counts.

    python benchmarks/bench_models.py [CALLS] [ROUNDS]
"""

import asyncio
import json
import os
import statistics
import sys
from collections.abc import Awaitable, Callable
from time import perf_counter, process_time
from typing import Any

from servers import says, serving

IN_FLIGHT = 64
SYSTEM = "You judge answers. " * 60
SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["reasoning", "answer"],
    "properties": {"reasoning": {"type": "string"}, "answer": {"type": "string", "enum": ["YES", "NO"]}},
}  # fmt: skip
REPLY = json.dumps({"reasoning": "The passage says so. " * 20, "answer": "YES"})


def question(number: int) -> str:
    """Return the text of a case."""
    return f"Question {number}: is the answer supported? " + "A passage of the case. " * 60


def reply_to(asked: bytes) -> dict[str, Any]:
    """Return the message of the server."""
    return says(REPLY)


def body(number: int) -> dict[str, Any]:
    """Return the request that all ways send."""
    schema = {"type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": SCHEMA}}
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question(number)}]
    return {
        "model": "gpt-4o-mini", "messages": messages, "response_format": schema, "temperature": 0.0,
        "max_completion_tokens": 2000,
    }  # fmt: skip


async def measured(call: Callable[[int], Awaitable[str]], calls: int) -> tuple[float, float]:
    """Return the milliseconds of CPU and of time that a call takes, with many in flight."""
    for number in range(IN_FLIGHT):
        assert await call(number) == REPLY
    left = iter(range(calls))

    async def worker() -> None:
        for number in left:
            assert await call(number) == REPLY

    cpu, wall = process_time(), perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return 1000 * (process_time() - cpu) / calls, 1000 * (perf_counter() - wall) / calls


async def bare_aiohttp(url: str, calls: int) -> tuple[float, float]:
    """Post by aiohttp, without any care."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(number: int) -> str:
            headers = {"Authorization": "Bearer k"}
            async with session.post(f"{url}/chat/completions", json=body(number), headers=headers) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        return await measured(call, calls)


def sdk_loop(http: str, *, create: bool) -> Callable[[str, int], Awaitable[tuple[float, float]]]:
    """Return a loop over the openai SDK: `create()`, or `post()` without its types, over one of its HTTP clients."""

    async def run(url: str, calls: int) -> tuple[float, float]:
        import httpx2
        import openai

        async with openai.AsyncOpenAI(
            api_key="k", base_url=url, max_retries=0, http_client=getattr(openai, http)(timeout=60)
        ) as client:

            async def call(number: int) -> str:
                if create:
                    return (await client.chat.completions.create(**body(number))).choices[0].message.content or ""
                response = await client.post("/chat/completions", body=body(number), cast_to=httpx2.Response)
                return json.loads(response.content)["choices"][0]["message"]["content"]

            return await measured(call, calls)

    return run


def ours(*, wire: bool) -> Callable[[str, int], Awaitable[tuple[float, float]]]:
    """Return a loop over `ask_model`: with limits, retries, bounds, reading and prices."""

    async def run(url: str, calls: int) -> tuple[float, float]:
        from jury_adapters.models import Options, Prompt, Turn, open_model
        from jury_adapters.models.limits import Limits, ask_model

        os.environ.pop("FTP_PROXY", None)
        if not wire:  # any proxy leaves requests to the SDK; this one is for no request of ours
            os.environ["FTP_PROXY"] = "http://127.0.0.1:9"
        model = open_model("openai:gpt-4o-mini", base_url=url, api_key="bench-key-1234")
        options, limits = Options(0.0, 2000), Limits()

        async def call(number: int) -> str:
            prompt = Prompt(SYSTEM, (Turn("user", question(number)),))
            return (await ask_model(model, prompt, SCHEMA, options, limits)).text

        return await measured(call, calls)

    return run


WAYS = {
    "bare aiohttp": bare_aiohttp,
    "SDK create()": sdk_loop("DefaultAsyncHttpxClient", create=True),
    "SDK post()": sdk_loop("DefaultAsyncHttpxClient", create=False),
    "SDK create(), aiohttp": sdk_loop("DefaultAioHttpClient", create=True),
    "SDK post(), aiohttp": sdk_loop("DefaultAioHttpClient", create=False),
    "ours, by the SDK": ours(wire=False),
    "ours, by wire.py": ours(wire=True),
}


def main(calls: int, rounds: int) -> None:
    """Measure all ways in turn, and print medians and ratios."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    with serving("fast", reply_to) as url:
        for _ in range(rounds):
            for name, way in WAYS.items():
                found[name].append(asyncio.run(way(url, calls)))
    medians = {name: statistics.median(cpu for cpu, _ in times) for name, times in found.items()}
    best = min(cpu for name, cpu in medians.items() if name.startswith("SDK"))
    print(f"{'':24}{'CPU ms':>8}{'wall ms':>9}{'x best SDK':>12}{'x aiohttp':>11}")
    for name, times in found.items():
        wall = statistics.median(wall for _, wall in times)
        ratios = f"{medians[name] / best:12.2f}{medians[name] / medians['bare aiohttp']:11.2f}"
        print(f"{name:24}{medians[name]:8.3f}{wall:9.3f}{ratios}")


if __name__ == "__main__":
    main(*(int(given) for given in (*sys.argv[1:], *("2000", "5")[len(sys.argv) - 1 :])))
