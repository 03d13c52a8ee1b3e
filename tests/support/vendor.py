"""A small local server that speaks as OpenAI and Anthropic do, and misbehaves on request.

The tests point the real SDKs at it. A *plan* is a function from what was asked to what to do; without one the server
answers every question well. The right answer is written in the judged text itself, as ``TRUTH=YES``, so that a test can
tell a right judgment from a wrong one.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from .looped import LoopServer

TRUTH = re.compile(r"TRUTH=([\w-]+)")


@dataclass(frozen=True)
class Ask:
    """One request as it arrived.

    Attributes:
        vendor: whose protocol it speaks.
        body: the JSON body.
        headers: the headers, in lower case.
        number: how many requests there were before it.
        attempt: how often this very body has come before.
        query: the query of the address.
    """

    vendor: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    number: int
    attempt: int
    query: str = ""

    @property
    def text(self) -> str:
        """Everything the model is shown."""
        contents = [self.body.get("system"), *(message["content"] for message in self.body.get("messages", []))]
        blocks = [block.get("text") for content in contents if isinstance(content, list) for block in content]
        return "\n".join(text for text in (*contents, *blocks) if isinstance(text, str))

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema the answer is held to."""
        wrapped = self.body.get("response_format", {}).get("json_schema", {})
        found = wrapped.get("schema") or self.body.get("output_config", {}).get("format", {}).get("schema")
        return found if isinstance(found, dict) else None


@dataclass(frozen=True)
class Act:
    """Action of the server; by default it answers well.

    Attributes:
        status: the HTTP status.
        text: the model's reply; made from the schema and the TRUTH in the prompt when None.
        finish: ``"stop"``, ``"length"``, ``"refusal"`` or ``"filter"``.
        delay: seconds before it answers.
        headers: further headers.
        raw: the whole response body, instead of a chat completion.
        content_type: of the response.
        drop: close the connection without an answer.
        cut: reset the connection after so many bytes of the body.
        drip: seconds between two pieces of the body, which then comes in thirty.
        error: the error object of a status other than 200.
        logprobs: ``[(token, logprob, {alternative: logprob})]`` for an answer with logprobs.
    """

    status: int = 200
    text: str | None = None
    finish: str = "stop"
    delay: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: str | bytes | None = None
    content_type: str = "application/json"
    drop: bool = False
    cut: int | None = None
    drip: float = 0.0
    error: Mapping[str, Any] | None = None
    logprobs: list[tuple[str, float, dict[str, float]]] | None = None


WELL = Act()


def error(status: int, message: str = "fake", **details: Any) -> Act:
    """An error as the vendors write it."""
    return Act(status=status, error={"message": message, **details})


class VendorServer(LoopServer):
    """The server, in a thread of its own. Use it as a context manager.

    Args:
        plan: what to do with each request.
        tls: speak TLS.
        keep: whether to remember the requests; else ``asks`` is empty, and ``count`` alone grows.

    Attributes:
        asks: every request so far.
        count: how many there were.
        plan: what to do with each; may be replaced at any time.
    """

    def __init__(
        self, plan: Callable[[Ask], Act] = lambda ask: WELL, *, tls: ssl.SSLContext | None = None, keep: bool = True
    ) -> None:
        super().__init__(tls=tls)
        self._keep = keep
        self.plan = plan
        self.asks: list[Ask] = []
        self.count = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self._seen: Counter[str] = Counter()

    @property
    def openai(self) -> str:
        """The base URL for the OpenAI SDK."""
        return f"{self.url}/v1"

    @property
    def anthropic(self) -> str:
        """The base URL for the Anthropic SDK."""
        return self.url

    def application(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/{path:.*}", self._handle)
        return app

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        vendor = "anthropic" if request.path.endswith("/messages") else "openai"
        headers = {name.lower(): value for name, value in request.headers.items()}
        ask = Ask(vendor, request.path, body, headers, self.count, self._seen[raw.decode()], request.query_string)
        self.count += 1
        if self._keep:
            self._seen[raw.decode()] += 1
            self.asks.append(ask)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._act(request, ask, self.plan(ask))
        finally:
            self.in_flight -= 1

    async def _act(self, request: web.Request, ask: Ask, act: Act) -> web.StreamResponse:
        if act.delay:
            await self._dawdle(act.delay)
        if act.drop:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        content: Any = act.raw
        if content is None and act.status != 200:
            content = json.dumps({"type": "error", "error": dict(act.error or {})})
        elif content is None and ask.path.endswith("/decisions"):
            content = json.dumps(decision(ask))
        elif content is None:
            text = answer(ask) if act.text is None else act.text
            content = json.dumps(
                anthropic_message(ask, act, text) if ask.vendor == "anthropic" else completion(ask, act, text)
            )
        data = content.encode() if isinstance(content, str) else content
        headers = {"x-request-id": f"req_{ask.number}", "request-id": f"req_{ask.number}", **act.headers}
        if act.cut is not None or act.drip:
            return await self._bit_by_bit(request, act, headers, data)
        return web.Response(body=data, status=act.status, headers=headers, content_type=act.content_type)

    async def _dawdle(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)

    async def _bit_by_bit(
        self, request: web.Request, act: Act, headers: Mapping[str, str], data: bytes
    ) -> web.StreamResponse:
        """Send the body in pieces, perhaps not all of it."""
        response = web.StreamResponse(status=act.status, headers=headers)
        response.content_type, response.content_length = act.content_type, len(data)
        await response.prepare(request)
        if act.cut is not None:
            await response.write(data[: act.cut])
            assert request.transport is not None
            request.transport.abort()
            return response
        size = len(data) // 30 + 1
        for start in range(0, len(data), size):
            try:
                await response.write(data[start : start + size])
            except ConnectionError:  # nobody listens any more
                return response
            await self._dawdle(act.drip)
        return response


def answer(ask: Ask) -> str:
    """A well-formed reply: the TRUTH of the judged text, in the shape of the schema."""
    found = TRUTH.findall(ask.text)
    truth = found[-1] if found else None
    if ask.schema is None:
        return f"Answer: {truth or 'YES'}\nReasoning: so it says."
    return json.dumps({name: _value(name, part, truth) for name, part in ask.schema["properties"].items()})


def _value(name: str, part: Mapping[str, Any], truth: str | None) -> Any:
    if "enum" in part:
        options = part["enum"]
        return next((option for option in options if str(option) == truth), options[0])
    if part.get("type") == "array":
        return []
    if name == "confidence":
        return 0.9
    if part.get("type") in ("number", "integer"):
        return float(truth) if truth and truth.replace(".", "").isdigit() else 1
    return "so it says"


def completion(ask: Ask, act: Act, text: str) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    reason = {"stop": "stop", "length": "length", "filter": "content_filter", "refusal": "stop"}[act.finish]
    if act.finish == "refusal":
        message |= {"content": None, "refusal": "I will not judge this."}
    logprobs = None
    if ask.body.get("logprobs") and act.logprobs:
        logprobs = {
            "content": [
                {
                    "token": token,
                    "logprob": logprob,
                    "top_logprobs": [{"token": other, "logprob": value} for other, value in others.items()],
                }
                for token, logprob, others in act.logprobs
            ]
        }
    return {
        "id": f"chatcmpl-{ask.number}",
        "object": "chat.completion",
        "created": 1,
        "model": ask.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": logprobs}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }


def anthropic_message(ask: Ask, act: Act, text: str) -> dict[str, Any]:
    """A message."""
    reason = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "filter": "refusal"}[act.finish]
    return {
        "id": f"msg_{ask.number}",
        "type": "message",
        "role": "assistant",
        "model": ask.body.get("model"),
        "content": [] if reason == "refusal" else [{"type": "text", "text": text}],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 36,
            "output_tokens": 20,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 0,
            "output_tokens_details": {"thinking_tokens": 5},
        },
    }


def decision(ask: Ask) -> dict[str, Any]:
    """Answers of a decision model: the TRUTH, with 90 %."""
    found = TRUTH.findall(str(ask.body.get("input")))
    truth = found[-1] if found else None
    answers: list[dict[str, Any]] = []
    for question in ask.body["questions"]:
        if truth == "REFUSE":
            answers.append({"type": "refusal", "name": None})
        elif question["type"] == "predicate":
            answers.append({"type": "predicate", "name": None, "probability": 0.1 if truth == "NO" else 0.9})
        else:
            named, key = ("value", "choices") if question["type"] == "choice" else ("label", "levels")
            options = [option[named] for option in question[key]]
            chosen = truth if truth in options else options[0]
            rest = 0.1 / (len(options) - 1)
            shares = [{named: option, "probability": 0.9 if option == chosen else rest} for option in options]
            answers.append({"type": question["type"], "name": None, "confidence": 0.8, "probabilities": shares})
    usage = {
        "input_tokens": 50,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 0},
    }
    return {"answers": answers, "model": ask.body["model"], "usage": usage}
