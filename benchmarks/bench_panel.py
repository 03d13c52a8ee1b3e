"""A panel of three critics over HTTP, beside bare loops that send the same three requests, and beside version 0.2.

The servers are those of ``servers.py``: *fast* shows the CPU time per case, *faults* the time of the run, and *limited*
the time of the run beside the shortest that the limit allows.

Each way runs in a process of its own; rounds are interleaved, and the median counts. Nothing may be lost: a case
without three votes is counted and printed.

    python benchmarks/bench_panel.py [ROUNDS] [PYTHON_OF_0.2] [SERVER ...]
"""

import asyncio
import json
import random
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from time import perf_counter, process_time
from typing import Any

from servers import PER_SECOND, says, serving

CASES = {"fast": 1500, "faults": 600, "limited": 700}
IN_FLIGHT = 64  # cases at once, of three requests each
MODELS = ("gpt-4o-mini", "gpt-4o", "gpt-4.1-mini")
SYSTEM = "You judge answers. " * 60
PASSAGE = "The ferry between the islands stopped running in 2018, after forty years. " * 30
SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["reasoning", "answer"],
    "properties": {"reasoning": {"type": "string"}, "answer": {"type": "string", "enum": ["YES", "NO"]}},
}  # fmt: skip
RETRIES = 60


def reply_to(asked: bytes) -> dict[str, Any]:
    """Return the message of the servers."""
    reply = {"reasoning": "The passage says so. " * 20, "answer": "YES"}
    if b'"confidence"' in asked:  # which 0.2 asks for
        reply["confidence"] = "1.0"
    return says(json.dumps(reply))


def body(model: str, number: int) -> dict[str, Any]:
    """Return a request of the bare loops, about as long as ours."""
    schema = {"type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": SCHEMA}}
    text = f"Question {number}: when?\n{PASSAGE}"
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
    return {
        "model": model, "messages": messages, "response_format": schema, "temperature": 0.0,
        "max_completion_tokens": 2000,
    }  # fmt: skip


Call = Callable[[str, int], Awaitable[str]]


async def loop_over(call: Call, cases: int) -> int:
    """Ask three models about each case, vote, and return how many cases have three votes."""
    left = iter(range(cases))
    whole = 0

    async def worker() -> None:
        nonlocal whole
        for number in left:
            replies = await asyncio.gather(*(again(call, model, number) for model in MODELS))
            whole += sum(json.loads(reply)["answer"] == "YES" for reply in replies) == 3

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return whole


async def again(call: Call, model: str, number: int) -> str:
    """Ask again where the answer is no JSON, as a plain loop would."""
    for _ in range(RETRIES):
        try:
            return await call(model, number)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return '{"answer": "lost"}'


async def bare_aiohttp(url: str, cases: int) -> int:
    """Post by aiohttp, without any care but three lines for refusals."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(model: str, number: int) -> str:
            headers = {"Authorization": "Bearer k"}
            for attempt in range(100):
                async with session.post(
                    f"{url}/chat/completions", json=body(model, number), headers=headers
                ) as response:
                    if response.status == 200:
                        return json.loads(await response.read())["choices"][0]["message"]["content"]
                    wait = float(response.headers.get("retry-after", min(8, 0.5 * 2**attempt)))
                await asyncio.sleep(wait * random.uniform(0.75, 1.0))
            raise RuntimeError("refused a hundred times")

        return await loop_over(call, cases)


async def sdk(url: str, cases: int, *, create: bool) -> int:
    """Ask by the openai SDK: `create()` as in its README, or `post()` over its aiohttp client, its fastest way."""
    import openai

    async with AsyncExitStack() as stack:
        given: dict[str, Any] = {} if create else {"http_client": openai.DefaultAioHttpClient(timeout=60)}
        client = await stack.enter_async_context(
            openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=RETRIES, **given)
        )

        async def call(model: str, number: int) -> str:
            if create:
                return (await client.chat.completions.create(**body(model, number))).choices[0].message.content or ""
            import httpx2

            response = await client.post("/chat/completions", body=body(model, number), cast_to=httpx2.Response)
            return json.loads(response.content)["choices"][0]["message"]["content"]

        return await loop_over(call, cases)


def panel(url: str, cases: int) -> int:
    """Judge by a panel of three critics of 1.0."""
    from jury_adapters import Case, Critic, Ensemble, open_model

    critics = [
        Critic(open_model(f"openai:{name}", base_url=url, api_key="bench-key-1234"), "faithfulness") for name in MODELS
    ]
    rows = (
        Case(question=f"Question {number}: when?", answer="In 2018.", contexts=(PASSAGE,)) for number in range(cases)
    )
    jury = Ensemble(dict(zip(MODELS, critics, strict=True)))
    judgments = jury.judge_many(rows, max_concurrency=IN_FLIGHT)
    return sum([one.status for one in judgment.judgments] == ["PASS"] * 3 for judgment in judgments)


def panel_02(url: str, cases: int) -> int:
    """Judge by a panel of three critics of 0.2."""
    from jury_adapters import Case, Critic, Ensemble

    critics = [Critic(name, rubric="faithfulness", name=name, base_url=url) for name in MODELS]
    rows = (
        Case(question=f"Question {number}: when?", answer="In 2018.", contexts=[PASSAGE]) for number in range(cases)
    )
    judgments = Ensemble(critics).judge_many(rows, max_concurrency=IN_FLIGHT)
    return sum([str(one.status) for one in judgment.judgments] == ["PASS"] * 3 for judgment in judgments)


def alone(way: Callable[..., Any], url: str, cases: int) -> int:
    """Run a loop of its own."""
    return asyncio.run(way(url, cases))


WAYS: dict[str, Callable[[str, int], int]] = {
    "bare aiohttp": partial(alone, bare_aiohttp),
    "SDK post(), aiohttp": partial(alone, partial(sdk, create=False)),
    "SDK create()": partial(alone, partial(sdk, create=True)),
    "panel of 1.0": panel,
    "panel of 0.2": panel_02,
}


def work(way: str, url: str, cases: int, *, warm: bool) -> None:
    """Measure one way in this process, and print what was found."""
    WAYS[way](url, 64 if warm else 0)  # imports do not count
    cpu, wall = process_time(), perf_counter()
    whole = WAYS[way](url, cases)
    print(json.dumps({"cpu": process_time() - cpu, "wall": perf_counter() - wall, "lost": cases - whole}))


def main(rounds: int, old: str, kinds: list[str]) -> None:
    """Measure all ways in turn on each server, and print medians and ratios."""
    for kind in kinds or CASES:
        cases = CASES[kind]
        found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS if old or way != "panel of 0.2"}
        with serving(kind, reply_to) as url:
            for _ in range(rounds):
                for way, times in found.items():
                    python = old if way == "panel of 0.2" else sys.executable
                    command = [python, __file__, "work", way, url, str(cases), kind]
                    environment = {"OPENAI_API_KEY": "bench-key-1234", "PATH": ""}
                    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
                    times.append(json.loads(output.splitlines()[-1]))
        show(kind, cases, found)


def show(kind: str, cases: int, found: dict[str, list[dict[str, float]]]) -> None:
    """Print the table of one server."""
    cpu = {way: statistics.median(one["cpu"] for one in times) for way, times in found.items()}
    wall = {way: statistics.median(one["wall"] for one in times) for way, times in found.items()}
    # A second of requests is in the bucket at the start, and the last answer takes a second.
    allowed = (
        cases * len(MODELS) / PER_SECOND
        if kind == "limited"
        else min(wall["SDK create()"], wall["SDK post(), aiohttp"])
    )
    print(f"\n{kind}: {cases:,} cases{f', at least {allowed:.1f} s by the limit' if kind == 'limited' else ''}")
    print(f"{'':22}{'CPU ms/case':>12}{'x best SDK':>12}{'x aiohttp':>11}{'wall s':>9}{'x bound':>9}{'lost':>6}")
    best = min(cpu["SDK create()"], cpu["SDK post(), aiohttp"])
    for way, times in found.items():
        ratios = f"{cpu[way] / best:12.2f}{cpu[way] / cpu['bare aiohttp']:11.2f}"
        lost = max(one["lost"] for one in times)
        print(f"{way:22}{1000 * cpu[way] / cases:12.3f}{ratios}{wall[way]:9.2f}{wall[way] / allowed:9.2f}{lost:6.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(*sys.argv[2:4], int(sys.argv[4]), warm=sys.argv[5] == "fast")
    else:
        main(int([*sys.argv, "5"][1]), [*sys.argv, "", ""][2], sys.argv[3:])
