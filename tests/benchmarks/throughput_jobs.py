"""Jobs of the throughput benchmark: bare loops, and our panel of three over several kinds of models.

Each makes the same requests and returns how many judgments came out right.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

JURORS = 3
MODELS = ("gpt-4o-mini", "gpt-4.1-mini", "gpt-4.1-nano")
IN_FLIGHT = 63
"""Requests in flight: 21 cases of three jurors each, and as many for the bare loops."""

Job = Callable[[str, int], Awaitable[int]]
"""Takes the server's URL and how many cases to judge; returns how many of the judgments are right."""


def request(number: int) -> dict[str, Any]:
    """Return the body that the bare loops send: what our critics send for this judgment."""
    case, juror = divmod(number, JURORS)
    system, user = _body()["messages"]
    text = user["content"].replace("number 0", f"number {case}")
    return {**_body(), "model": MODELS[juror], "messages": [system, {**user, "content": text}]}


async def bare_aiohttp(url: str, cases: int) -> int:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(number: int) -> str:
            async with session.post(f"{url}/v1/chat/completions", json=request(number)) as response:
                return _answer_in(await response.json())

        return await _bounded(one, cases)


async def stock_sdk(url: str, cases: int) -> int:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=5) as client:

        async def one(number: int) -> str:
            answer = await client.chat.completions.create(**request(number))
            return str(json.loads(answer.choices[0].message.content or "")["answer"])

        return await _bounded(one, cases)


async def best_bare_sdk(url: str, cases: int) -> int:
    """Raw posts on the SDK's aiohttp transport; the SDK retries as often as our limits do."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    client = AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=5, http_client=DefaultAioHttpClient())
    async with client:

        async def one(number: int) -> str:
            return _answer_in(await client.post("/chat/completions", body=request(number), cast_to=object))

        return await _bounded(one, cases)


def ours(model: Callable[[str, str], Any] | None = None, *, store: bool = False, **options: Any) -> Job:
    """Return our panel of three, 21 cases in flight.

    Args:
        model: makes a model object of a name and the server's URL; our own models by default.
        store: whether every judgment is made durable.
        **options: of the ensemble.
    """

    async def run(url: str, count: int) -> int:
        from jury_adapters import Case

        cases = [Case(question="what?", contexts=["this"], answer=f"that, number {i}") for i in range(count)]
        jury = _panel(url, model, **options)
        right = 0
        with tempfile.TemporaryDirectory() as folder:
            kept = {"store": Path(folder) / "runs.db"} if store else {}
            verdicts = jury.ajudge_many(cases, max_concurrency=IN_FLIGHT // JURORS, ordered=False, **kept)
            async for verdict in verdicts:
                right += sum(bool(judgment.passed) for judgment in verdict.judgments)
        return right

    return run


def chat_openai(name: str, url: str) -> Any:
    """Return LangChain's model object."""
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=name, base_url=f"{url}/v1", api_key="none")  # type: ignore[arg-type]


def llama_index_openai(name: str, url: str) -> Any:
    """Return LlamaIndex's model object."""
    from llama_index.llms.openai import OpenAI

    return OpenAI(model=name, api_base=f"{url}/v1", api_key="none")


def llama_index_openai_like(name: str, url: str) -> Any:
    """Return LlamaIndex's model object for other servers."""
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(model=name, api_base=f"{url}/v1", api_key="none", is_chat_model=True)


def _panel(url: str, model: Callable[[str, str], Any] | None, **options: Any) -> Any:
    from jury_adapters import Critic, Ensemble

    def critic(name: str) -> Critic:
        if model is not None:
            return Critic(model(name, url), "faithfulness", name=name)
        return Critic(f"openai:{name}", "faithfulness", name=name, base_url=f"{url}/v1", api_key="none")

    return Ensemble([critic(name) for name in MODELS], **options)


async def _bounded(one: Callable[[int], Awaitable[str]], cases: int) -> int:
    """Make all judgments of one loop; a request that fails for good is a lost judgment."""
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def limited(number: int) -> bool:
        async with gate:
            try:
                return await one(number) == "YES"
            except Exception:
                return False

    return sum(await asyncio.gather(*(limited(number) for number in range(cases * JURORS))))


def _answer_in(completion: Any) -> str:
    return str(json.loads(completion["choices"][0]["message"]["content"])["answer"])


@cache
def _body() -> dict[str, Any]:
    """Return the body of one of our requests, seen by a model that keeps it."""
    from jury_adapters import Case, Critic
    from jury_adapters.testing import ScriptedModel

    model = ScriptedModel(["YES"])
    Critic(model, "faithfulness", name="x").judge(Case(question="what?", contexts=["this"], answer="that, number 0"))
    call = model.calls[0]
    return {
        "model": MODELS[0],
        "messages": [
            {"role": "system", "content": call.prompt.system},
            {"role": "user", "content": call.prompt.turns[0].text},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "judgment", "strict": True, "schema": call.schema},
        },
        "temperature": 0.0,
        "max_completion_tokens": 2000,
    }
