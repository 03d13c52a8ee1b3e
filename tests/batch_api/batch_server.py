"""Server with OpenAI's batches and Anthropic's message batches, and their troubles; and critics that ask it."""

import asyncio
import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from model_server import KEY, Received, Server, answer, response

from jury_adapters import Critic
from jury_adapters.batch_api import Batches

EXPIRED, CANCELLED, MISSING, BROKEN, STRANGE = "expired", "cancelled", "missing", "broken", "strange"
YES = '{"reasoning": "It is so.", "answer": "YES", "confidence": 0.9}'
NAMES = {"openai": "openai:gpt-4o-mini", "anthropic": "anthropic:claude-haiku-4-5"}
WORDS = {400: "invalid_request_error", 429: "rate_limit_error", 500: "api_error"}
CALLS = {
    "POST /v1/files": "upload",
    "POST /v1/batches": "create",
    "POST /v1/messages/batches": "create",
    "GET /v1/batches": "list",
    "GET /v1/messages/batches": "list",
}


@dataclass(frozen=True)
class Fault:
    """Fault of a call: a status, 0 to drop the connection, or to answer never; after or before doing what was asked."""

    status: int = 0
    after: bool = False
    hang: bool = False
    message: str = "no"


@dataclass
class VendorBatch:
    id: str
    vendor: str
    requests: dict[str, dict[str, Any]]
    metadata: dict[str, str]
    made: float = field(default_factory=time.time)
    looks: int = 0
    status: str = "in_progress"
    problems: list[dict[str, str]] = field(default_factory=list)


@dataclass
class BatchServer(Server):
    """The server.

    `says` gives for a body, and how often it was seen before, a text, the status of an error, or a word above.
    `looks` is the number of looks at a batch that find it in progress, `hidden` that of lists without the newest batch.
    """

    says: Callable[[dict[str, Any], int], str | int] = lambda body, seen: YES
    looks: int = 0
    hidden: int = 0
    failures: list[list[dict[str, str]]] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    batches: dict[str, VendorBatch] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    direct: int = 0
    reached: threading.Event = field(default_factory=threading.Event)
    seen: Counter[str] = field(default_factory=Counter)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        method, target, _ = first.split(" ")
        path, _, query = target.partition("?")
        call = CALLS.get(f"{method} {path}", "content" if path.endswith(("content", "results")) else "look")
        self.calls[call] += 1
        waiting = self.faults.get(call)
        fault = waiting.pop(0) if waiting else None
        said = b"" if fault and not fault.after else response(self._answer(call, path, query, headers, data))
        if fault and fault.hang:
            self.reached.set()
            await asyncio.sleep(60)
        if fault and not fault.status:
            return False
        if fault:
            error = {"type": "error", "error": {"message": fault.message, "type": "fake"}}
            said = response(error, f"{fault.status} So", retry_after_ms="1")
        writer.write(said)
        await writer.drain()
        return True

    def _answer(self, call: str, path: str, query: str, headers: dict[str, str], data: bytes) -> bytes | dict[str, Any]:
        vendor = "anthropic" if "/messages" in path else "openai"
        name = path.rsplit("/", maxsplit=1)[-1]
        if call == "upload":
            file = re.search(rb'filename="[^"]*".*?\r\n\r\n(.*?)\r\n--', data, re.DOTALL)
            assert file is not None
            assert b"batch" in data.split(b"filename")[0]
            self.files[f"file-{len(self.files)}"] = file[1]
            return {"id": f"file-{len(self.files) - 1}", "object": "file", "purpose": "batch"}
        if call == "create":
            return self._shown(self._made(vendor, json.loads(data)))
        if call == "list":
            newest = [one for one in reversed(self.batches.values()) if one.vendor == vendor]
            newest, self.hidden = newest[self.hidden > 0 :], self.hidden - 1
            after = re.search(r"after(?:_id)?=([^&]+)", query)
            newest = newest[[one.id for one in newest].index(after[1]) + 1 :] if after else newest
            page = [*map(self._shown, newest[:2])]  # a small page, so that there are several
            return {"data": page, "has_more": len(newest) > 2, "last_id": page[-1]["id"] if page else None}
        if call == "content":
            batch = self.batches.get(path.split("/")[-2])
            return self._results(batch) if batch else self.files[path.split("/")[-2]]
        if name in ("messages", "completions"):
            self.direct += 1
            return answer(Received(path, headers, json.loads(data), 0), YES)
        return self._shown(self.batches[name]) if name in self.batches else {"error": {"message": "no such batch"}}

    def _made(self, vendor: str, body: dict[str, Any]) -> VendorBatch:
        if vendor == "openai":
            assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
            lines = [json.loads(line) for line in self.files[body["input_file_id"]].split(b"\n")]
            assert {(line["method"], line["url"]) for line in lines} == {("POST", body["endpoint"])}
            requests = {line["custom_id"]: line["body"] for line in lines}
        else:
            requests = {line["custom_id"]: line["params"] for line in body["requests"]}
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in requests)
        return self.add(vendor, requests, body.get("metadata") or {})

    def add(self, vendor: str, requests: dict[str, dict[str, Any]], metadata: dict[str, str]) -> VendorBatch:
        """Make a batch; somebody else may use the account too."""
        batch = VendorBatch(f"batch_{len(self.batches)}", vendor, requests, metadata)
        self.batches[batch.id] = batch
        self.sent.update(json.dumps(one, sort_keys=True) for one in requests.values())
        return batch

    def _shown(self, batch: VendorBatch) -> dict[str, Any]:
        batch.looks += 1
        if batch.looks > self.looks + 1 and batch.status == "in_progress":  # the first is at its creation
            batch.problems = self.failures.pop(0) if self.failures else []
            batch.status = "failed" if batch.problems else "completed"
        if batch.vendor == "anthropic":
            made = datetime.fromtimestamp(batch.made, UTC).isoformat().replace("+00:00", "Z")
            ended = batch.status == "completed"
            return {
                "id": batch.id, "type": "message_batch", "created_at": made, "expires_at": made,
                "processing_status": "ended" if ended else "in_progress",
                "request_counts": {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
                "results_url": "http://127.0.0.1:9/elsewhere" if ended else None,
            }  # fmt: skip
        return {
            "id": batch.id, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h",
            "created_at": int(batch.made), "status": batch.status, "metadata": batch.metadata, "input_file_id": "f",
            "output_file_id": batch.id if batch.status == "completed" else None, "error_file_id": "",
            "errors": {"object": "list", "data": batch.problems} if batch.problems else None,
        }  # fmt: skip

    def _results(self, batch: VendorBatch) -> bytes:
        rows = [self._row(batch, name, body) for name, body in reversed(batch.requests.items())]
        return b"\n".join(filter(None, rows)) + b"\n"

    def _row(self, batch: VendorBatch, name: str, body: dict[str, Any]) -> bytes | None:
        content = json.dumps(body, sort_keys=True)
        said = self.says(body, self.seen[content])
        self.seen[content] += 1
        found: dict[str, Any] = {"custom_id": name}
        paid = isinstance(said, str) and said not in (EXPIRED, CANCELLED, MISSING)
        path = "/v1/messages" if batch.vendor == "anthropic" else "/v1/chat/completions"
        done = answer(Received(path, {}, body, 0), str(said))
        error = {"message": f"no, {KEY}", "type": WORDS.get(said, "") if isinstance(said, int) else ""}
        if batch.vendor == "anthropic" and paid:
            found["result"] = {"type": "succeeded", "message": done}
        elif batch.vendor == "anthropic" and isinstance(said, int):
            found["result"] = {"type": "errored", "error": {"type": "error", "error": error}}
        elif batch.vendor == "anthropic":
            found["result"] = {"type": "canceled" if said == CANCELLED else said}
        elif paid or isinstance(said, int):
            status = 200 if paid else said
            found["response"] = {"status_code": status, "request_id": "r", "body": done if paid else {"error": error}}
        else:
            found |= {"response": None, "error": {"code": f"batch_{said}", "message": "so it is"}}
        line = json.dumps(found, ensure_ascii=False).encode()
        if said == STRANGE:
            return json.dumps({"custom_id": name, "response": [1], "result": "x"}).encode() + b'\n[1]\n"x"'
        return None if said == MISSING else line[: len(line) // 2] if said == BROKEN else line


def rows(count: int) -> list[dict[str, Any]]:
    return [{"question": "Is it so?", "answer": f"Answer {number}.", "contexts": "It is."} for number in range(count)]


def opened(folder: Path, **options: Any) -> Batches:
    return Batches(folder, **{"window_s": 0.05, "poll_s": 0.01, **options})


def asking(server: BatchServer, batches: Batches, vendor: str, rubric: str = "faithfulness", **options: Any) -> Critic:
    return batches.critic(NAMES[vendor], rubric, base_url=server.base_url(vendor), api_key=KEY, **options)
