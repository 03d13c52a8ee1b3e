"""A local server with OpenAI's batches and Anthropic's message batches, and their troubles.

A batch is worked off the first time that somebody looks at it (or later, see `polls`). Each request in it is answered
as `support.vendor` answers a direct one; a *plan* may say otherwise, request by request. `faults` hits the calls
themselves.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from support.vendor import WELL, Act, Ask, answer, anthropic_message, completion

from .looped import LoopServer

# What becomes of a request in a batch, besides an answer or an error.
EXPIRED, CANCELLED, MISSING, BROKEN = "expired", "cancelled", "missing", "broken"
Plan = Callable[[Ask], Act | str]
ANTHROPIC_WORDS = {400: "invalid_request_error", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}


@dataclass
class Batch:
    """One batch as the server has it."""

    id: str
    vendor: str
    requests: dict[str, dict[str, Any]]
    metadata: dict[str, str] = field(default_factory=dict)
    polls: int = 0
    status: str = "in_progress"
    rows: list[bytes] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Fault:
    """Fault of a call.

    Attributes:
        status: an HTTP status; 0 to break the connection off.
        midway: break off in the middle of the body.
        after: do first what was asked, and fail then.
        hang: answer never.
        delay: with status 200, do what was asked, and answer so many seconds later.
    """

    status: int = 0
    midway: bool = False
    after: bool = False
    hang: bool = False
    delay: float = 0.0
    message: str = "fake"


class BatchServer(LoopServer):
    """The server, in a thread of its own. Use it as a context manager.

    Attributes:
        plan: what becomes of each request in a batch.
        faults: for a call ("list", "files", "create", "poll", "content"), the faults to come, one for each call.
        polls: how many looks at a batch find it still in progress.
        batches: by id, oldest first.
        sent: how often each request was in a batch that was created.
        calls: how often each call came.
        reached: by call, set when a fault that hangs has begun.
        fail_with: for each batch to come, the problems for which it fails as a whole.
        on_create: called when a batch shall be created, whatever then becomes of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.plan: Plan = lambda ask: WELL
        self.faults: dict[str, list[Fault]] = {}
        self.polls = 0
        self.fail_with: list[list[dict[str, Any]]] = []
        self.batches: dict[str, Batch] = {}
        self.sent: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.reached: dict[str, threading.Event] = {}
        self.files: dict[str, bytes] = {}
        self.on_create: Callable[[], object] = lambda: None
        self._asked: Counter[str] = Counter()

    def base_url(self, vendor: str) -> str:
        """The address for the SDK of a vendor."""
        return f"{self.url}/v1" if vendor == "openai" else self.url

    def hang(self, call: str, *, after: bool = False) -> threading.Event:
        """Let the next such call hang; the event is set when it has come."""
        self.faults.setdefault(call, []).append(Fault(hang=True, after=after))
        self.reached[call] = threading.Event()
        return self.reached[call]

    def new_batch_of_others(self, vendor: str, count: int) -> None:
        """Somebody else uses the same account."""
        requests = {f"other-{len(self.batches)}-{number}": {"messages": []} for number in range(count)}
        batch = Batch(f"batch_{len(self.batches)}", vendor, requests)
        self.batches[batch.id] = batch

    def application(self) -> web.Application:
        app = web.Application(client_max_size=256 * 2**20)
        for method, path, call, handler in (
            ("POST", "/v1/files", "files", self._upload),
            ("POST", "/v1/batches", "create", self._create_openai),
            ("GET", "/v1/batches", "list", self._list),
            ("GET", "/v1/batches/{id}", "poll", self._poll),
            ("GET", "/v1/files/{id}/content", "content", self._file),
            ("POST", "/v1/messages/batches", "create", self._create_anthropic),
            ("GET", "/v1/messages/batches", "list", self._list),
            ("GET", "/v1/messages/batches/{id}", "poll", self._poll),
            ("GET", "/v1/messages/batches/{id}/results", "content", self._results),
        ):
            app.router.add_route(method, path, self._faulty(call, handler))
        app.router.add_post("/v1/chat/completions", self._direct)
        return app

    def _faulty(self, call: str, handler: Any) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.calls[call] += 1
            if call == "create":
                self.on_create()
            waiting = self.faults.get(call)
            fault = waiting.pop(0) if waiting else None
            if fault is None:
                response: web.StreamResponse = await handler(request)
                return response
            body = b""
            if fault.after or fault.midway:
                body = (await handler(request)).body
            else:
                await request.read()
            if fault.delay:
                await asyncio.sleep(fault.delay)
                return web.Response(body=body, content_type="application/json")
            if fault.hang:
                self.reached[call].set()
                await self.over.wait()
            if fault.midway:
                broken = web.StreamResponse(headers={"Content-Length": str(len(body))})
                await broken.prepare(request)
                await broken.write(body[: len(body) // 2])
            if fault.midway or not fault.status:
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            error = {"type": "error", "error": {"message": fault.message, "type": "fake"}}
            return web.json_response(error, status=fault.status, headers={"retry-after": "0"})

        return handle

    async def _direct(self, request: web.Request) -> web.Response:
        self.calls["direct"] += 1
        ask = self._ask("openai", await request.json(), "direct")
        act = self.plan(ask)
        assert isinstance(act, Act)
        if act.status != 200:
            return web.json_response({"error": dict(act.error or {})}, status=act.status)
        return web.json_response(completion(ask, act, answer(ask)))

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = file.file.read()
        file.file.close()
        described = {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": file.filename}
        return web.json_response({**described, "purpose": "batch", "status": "processed"})

    async def _create_openai(self, request: web.Request) -> web.Response:
        body = await request.json()
        assert body["endpoint"] == "/v1/chat/completions"
        assert body["completion_window"] == "24h"
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].split(b"\n")]
        assert all(line["url"] == body["endpoint"] and line["method"] == "POST" for line in lines)
        requests = {line["custom_id"]: line["body"] for line in lines}
        assert len(requests) == len(lines)
        return web.json_response(self._shown(self._new("openai", requests, body.get("metadata") or {})))

    async def _create_anthropic(self, request: web.Request) -> web.Response:
        body = await request.json()
        requests = {row["custom_id"]: row["params"] for row in body["requests"]}
        assert len(requests) == len(body["requests"])
        return web.json_response(self._shown(self._new("anthropic", requests, {})))

    def _new(self, vendor: str, requests: dict[str, dict[str, Any]], metadata: dict[str, str]) -> Batch:
        batch = Batch(f"batch_{len(self.batches)}", vendor, requests, metadata)
        self.batches[batch.id] = batch
        self.sent.update(requests.keys())
        return batch

    async def _list(self, request: web.Request) -> web.Response:
        vendor = "anthropic" if "messages" in request.path else "openai"
        newest_first = [batch for batch in reversed(self.batches.values()) if batch.vendor == vendor]
        for batch in newest_first:
            self._seen(batch)
        after = request.query.get("after_id") or request.query.get("after")
        if after:
            newest_first = newest_first[[batch.id for batch in newest_first].index(after) + 1 :]
        limit = int(request.query.get("limit", 20))
        page, rest = newest_first[:limit], newest_first[limit:]
        ids = {"first_id": page[0].id if page else None, "last_id": page[-1].id if page else None}
        shown = [self._shown(batch) for batch in page]
        return web.json_response({"object": "list", "data": shown, "has_more": bool(rest), **ids})

    async def _poll(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return web.json_response({"error": {"message": "no such batch"}}, status=404)
        self._seen(batch)
        return web.json_response(self._shown(batch))

    def _seen(self, batch: Batch) -> None:
        """Time passes with every look."""
        batch.polls += 1
        if batch.polls > self.polls and batch.status == "in_progress":
            self.work_off(batch)

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        if name not in self.files:
            return web.json_response({"error": {"message": "no such file"}}, status=404)
        return web.Response(body=self.files[name], content_type="application/octet-stream")

    async def _results(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        return web.Response(body=b"\n".join(batch.rows) + b"\n", content_type="application/binary")

    def work_off(self, batch: Batch) -> None:
        """Answer what is in a batch; in an order of the server's own."""
        if self.fail_with:
            batch.status, batch.problems = "failed", self.fail_with.pop(0)
            return
        expired = False
        for custom_id, body in reversed(batch.requests.items()):
            ask = self._ask(batch.vendor, body, custom_id)
            act = self.plan(ask)
            expired |= act == EXPIRED
            row = self._row(batch.vendor, custom_id, ask, act)
            failed = batch.vendor == "openai" and (isinstance(act, str) or act.status != 200)
            if row is not None:
                (batch.errors if failed and act != BROKEN else batch.rows).append(row)
        batch.status = "expired" if expired and batch.vendor == "openai" else "completed"
        if batch.vendor == "openai":
            for kind, rows in (("output", batch.rows), ("error", batch.errors)):
                if rows:
                    self.files[f"{kind}-{batch.id}"] = b"\n".join(rows) + b"\n"

    def _ask(self, vendor: str, body: dict[str, Any], custom_id: str) -> Ask:
        content = json.dumps(body, sort_keys=True)
        self._asked[content] += 1
        return Ask(vendor, custom_id, body, {}, sum(self._asked.values()), self._asked[content] - 1)

    def _row(self, vendor: str, custom_id: str, ask: Ask, act: Act | str) -> bytes | None:
        if act == MISSING:
            return None
        said: dict[str, Any]
        if vendor == "openai":
            said = {"id": f"row_{custom_id}", "custom_id": custom_id, "response": None, "error": None}
            if isinstance(act, Act):
                ok = act.status == 200
                body = completion(ask, act, act.text or answer(ask)) if ok else {"error": dict(act.error or {})}
                said["response"] = {"status_code": act.status, "request_id": f"req_{custom_id}", "body": body}
            else:
                said["error"] = {"code": f"batch_{act}", "message": "so it is"}
        else:
            result: dict[str, Any] = {"type": "canceled" if act == CANCELLED else act}
            if isinstance(act, Act) and act.status == 200:
                message = anthropic_message(ask, act, act.text or answer(ask))
                result = {"type": "succeeded", "message": message}
            elif isinstance(act, Act):
                error = {"type": ANTHROPIC_WORDS[act.status], **(act.error or {})}
                result = {"type": "errored", "error": {"type": "error", "error": error, "request_id": "req_row"}}
            said = {"custom_id": custom_id, "result": result}
        line = json.dumps(said, ensure_ascii=False).encode()
        return line[: len(line) // 2] if act == BROKEN else line

    def _shown(self, batch: Batch) -> dict[str, Any]:
        done = batch.status not in ("in_progress", "failed")
        if batch.vendor == "openai":
            return {
                "id": batch.id,
                "object": "batch",
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "input_file_id": "file",
                "created_at": 2_000_000_000,
                "status": batch.status,
                "metadata": batch.metadata,
                "errors": {"object": "list", "data": batch.problems} if batch.problems else None,
                "output_file_id": f"output-{batch.id}" if done and batch.rows else None,
                "error_file_id": f"error-{batch.id}" if done and batch.errors else "",
            }
        counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        counts["succeeded" if done else "processing"] = len(batch.requests)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if done else "in_progress",
            "request_counts": counts,
            "created_at": "2033-05-18T03:33:20Z",
            "expires_at": "2033-05-19T03:33:20Z",
            "results_url": f"{self.url}/v1/messages/batches/{batch.id}/results" if done else None,
        }
