"""What a judgment costs over real HTTP: our panel of three against bare loops, CPU and wall time.

Run it from the repository: ``python tests/benchmarks/bench_throughput.py``. A local server in a process of its own
answers as OpenAI does, after 0 or 200 ms. Every job makes the same 1,536 judgments (512 cases x 3 jurors) with 64 in
flight. The jobs take turns in every round, so that a machine that slows down slows them all, and a ratio is the median
of the ratios to the best bare SDK loop of the same round. CPU is that of this process alone. Every job begins right
after a full garbage collection: one of all modules costs as much as a hundred judgments, and would fall on one job or
another by chance.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

CASES, JURORS, IN_FLIGHT = 512, 3, 64
SERVER = """
import asyncio, json, sys
from aiohttp import web
REPLY = json.dumps({"reasoning": "so it says", "answer": "YES", "confidence": 0.9})
asked = 0
async def answer(request):
    global asked
    asked += 1
    body = json.loads(await request.read())
    await asyncio.sleep(float(sys.argv[1]))
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": REPLY}}
    return web.json_response({"id": "x", "object": "chat.completion", "created": 1, "model": body["model"],
                              "choices": [choice], "usage": usage})
async def count(request):
    return web.json_response(asked)
async def main():
    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    app.router.add_get("/count", count)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


def request(number: int) -> dict[str, Any]:
    """The body that the bare loops send: what our critic sends for this case."""
    return {
        **BODY,
        "messages": [BODY["messages"][0], {"role": "user", "content": USER.replace("number 0", f"number {number}")}],
    }


async def bounded(one: Callable[[int], Awaitable[Any]]) -> None:
    """All judgments, 64 in flight."""
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def limited(number: int) -> None:
        async with gate:
            assert await one(number) == "YES"

    await asyncio.gather(*(limited(number) for number in range(CASES * JURORS)))


async def bare_aiohttp(url: str) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(number: int) -> str:
            async with session.post(f"{url}/v1/chat/completions", json=request(number)) as response:
                content = (await response.json())["choices"][0]["message"]["content"]
            return json.loads(content)["answer"]

        await bounded(one)


async def stock_sdk(url: str) -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0) as client:

        async def one(number: int) -> str:
            answer = await client.chat.completions.create(**request(number))
            return json.loads(answer.choices[0].message.content or "")["answer"]

        await bounded(one)


async def best_bare_sdk(url: str) -> None:
    from openai import AsyncOpenAI, DefaultAioHttpClient

    client = AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0, http_client=DefaultAioHttpClient())
    async with client:

        async def one(number: int) -> str:
            answer: Any = await client.post("/chat/completions", body=request(number), cast_to=object)
            return json.loads(answer["choices"][0]["message"]["content"])["answer"]

        await bounded(one)


def panel(url: str, **options: Any) -> Any:
    """Three critics that ask the same server."""
    from jury_adapters.core.ensemble import Ensemble
    from jury_adapters.critic.critic import Critic

    def critic(name: str) -> Critic:
        return Critic(name, f"openai:{name}", rubric="faithfulness", base_url=f"{url}/v1", api_key="none")

    return Ensemble([critic("gpt-4o-mini"), critic("gpt-4.1-mini"), critic("gpt-4.1-nano")], **options)


def our_request() -> dict[str, Any]:
    """The body of one of our requests, seen by a model that keeps it."""
    from jury_adapters.critic.critic import Critic
    from jury_adapters.testing import ScriptedModel

    model = ScriptedModel(["YES"])
    Critic("gpt-4o-mini", model, rubric="faithfulness").judge(cases()[0])
    call = model.calls[0]
    return {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": call.prompt.system},
            {"role": "user", "content": call.prompt.turns[0].text},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "v", "strict": True, "schema": call.schema}},
        "temperature": 0.0,
        "max_completion_tokens": 2000,
    }


def cases() -> list[Any]:
    """The cases of our panel."""
    from jury_adapters.core.case import Case

    return [Case(question="what?", contexts=["this"], answer=f"that, number {i}") for i in range(CASES)]


def ours(store: bool = False, **options: Any) -> Callable[[str], Awaitable[None]]:
    """Our panel over all cases."""

    async def run(url: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            kept = {"store": Path(folder) / "runs.db"} if store else {}
            jury = panel(url, **options)
            concurrency = IN_FLIGHT // JURORS + 1
            count = 0
            async for verdict in jury.ajudge_many(cases(), max_concurrency=concurrency, ordered=False, **kept):
                assert verdict.passed
                count += 1
            assert count == CASES

    return run


def measure(delay: float, rounds: int) -> None:
    """Run every job against a server with this latency, and print the table."""
    jobs: dict[str, Callable[[str], Awaitable[None]]] = {
        "aiohttp + client.post on AsyncOpenAI (best bare SDK loop)": best_bare_sdk,
        "plain AsyncOpenAI loop": stock_sdk,
        "bare aiohttp loop": bare_aiohttp,
        "our panel of 3": ours(),
        "our panel of 3, with a store": ours(store=True),
        "our panel of 3, schedule='frugal'": ours(schedule="frugal"),
    }
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(delay)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    try:
        cpu: dict[str, list[float]] = {name: [] for name in jobs}
        wall: dict[str, list[float]] = {name: [] for name in jobs}
        requests: dict[str, int] = {}
        for round_number in range(rounds + 1):  # the first one warms up
            for name, job in jobs.items():
                gc.collect()
                before, started, began = asked(url), process_time(), perf_counter()
                asyncio.run(job(url))
                if round_number:
                    cpu[name].append(process_time() - started)
                    wall[name].append(perf_counter() - began)
                    requests[name] = asked(url) - before
    finally:
        server.kill()
        server.wait()
    report(delay, cpu, wall, requests)


def asked(url: str) -> int:
    """How many requests the server has had."""
    from urllib.request import urlopen

    with urlopen(f"{url}/count") as response:
        return int(json.load(response))


def report(delay: float, cpu: dict[str, list[float]], wall: dict[str, list[float]], requests: dict[str, int]) -> None:
    """Print one table."""
    ideal = delay * CASES * JURORS / IN_FLIGHT
    print(f"\n{delay * 1000:.0f} ms latency, {IN_FLIGHT} in flight" + (f", ideal {ideal:.2f} s" if ideal else ""))
    print(
        f"{'':60}{'requests':>9}{'wall s':>8}{'x ideal':>8}{'CPU ms / judgment':>18}{'x best SDK':>11}{'from to':>12}"
    )
    base = next(iter(cpu.values()))
    for name, taken in cpu.items():
        seconds, median = statistics.median(wall[name]), statistics.median(taken)
        times = f"{seconds / ideal:8.2f}" if ideal and requests[name] == CASES * JURORS else f"{'':8}"
        each = median / CASES / JURORS * 1000
        ratios = sorted(mine / bare for mine, bare in zip(taken, base, strict=True))
        spread = f"{ratios[0]:7.2f}{ratios[-1]:5.2f}"
        print(f"{name:60}{requests[name]:9}{seconds:8.2f}{times}{each:18.2f}{statistics.median(ratios):11.2f}{spread}")


BODY = our_request()
USER: str = BODY["messages"][1]["content"]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="counted rounds per job (7)")
    parser.add_argument("--latency", type=float, nargs="*", default=[0.0, 0.2], help="seconds (0 0.2)")
    arguments = parser.parse_args()
    for seconds in arguments.latency:
        measure(seconds, arguments.rounds)
