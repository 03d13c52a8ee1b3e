"""Batches of the two vendors, through their SDKs.

Like direct requests, these use ``client.post`` and ``client.get`` of the SDKs and return plain JSON. So they use the
SDKs' authentication and errors, without their response models, which the oldest SDKs cannot build with every pydantic.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, ClassVar, TypeAlias, TypeVar

from jury_adapters.batch_api.ledger import Sent
from jury_adapters.batch_api.rows import Row, json_lines
from jury_adapters.core.errors import ModelError
from jury_adapters.core.values import JsonValue
from jury_adapters.models.limits import Limits
from jury_adapters.models.retries import Limiter
from jury_adapters.models.token_counts import AbsurdCount, token_count
from jury_adapters.models.unsupported_parameters import Body
from jury_adapters.models.vendor_model import VendorModel

T = TypeVar("T")
Outcome: TypeAlias = Mapping[str, JsonValue] | ModelError

_A_DAY_S = 86_400.0
_MARK = "jury_adapters"  # key of our token in the metadata of an OpenAI batch


class Unclear(Exception):
    """Failure of a call that may have arrived and must not be repeated. It never leaves this package."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(str(error))
        self.error = error


class RowError(Exception):
    """Error in a result row, with the attributes of the SDKs' errors."""

    def __init__(self, status: int, body: object, request_id: str | None = None) -> None:
        super().__init__(str(body))
        self.status_code = status
        self.body = body
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a batch.

    Attributes:
        ended: whether the batch has ended.
        sources: places of its results: files of OpenAI, an address of Anthropic.
        failure: the reason that it failed as a whole, before any request was processed.
        crowded: whether it failed because the account has too much in the queue; it may be accepted later.
        ending: how it ended, in the vendor's word.
    """

    ended: bool
    sources: tuple[str, ...] = ()
    failure: ModelError | None = None
    crowded: bool = False
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search for a batch: its id, nothing, or (``unclear``) a batch that may be the one."""

    batch_id: str | None = None
    unclear: bool = False


class BatchVendor(ABC):
    """Batches of one vendor for one model.

    Calls that may be repeated are repeated when the vendor is busy or down. Sending a batch is repeated only after an
    answer that says that it was not accepted.

    Args:
        direct: the model that is asked; it provides the server, the key, and the reading of errors.
    """

    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]
    path: ClassVar[str]
    cursor: ClassVar[str]  # parameter of a listing: the last batch of the previous page

    def __init__(self, direct: VendorModel) -> None:
        self.direct = direct
        self._limiter = Limiter(Limits(deadline_s=None), f"batches of {direct.name}")

    @abstractmethod
    async def create(self, token: str, rows: Mapping[str, Body]) -> str:
        """Send a batch, and return its id.

        Raises:
            Unclear: the batch may have been created, or not.
            ModelError: the batch was not created.
        """

    @abstractmethod
    async def find(self, sent: Sent, known: Collection[str]) -> Found:
        """Look for a batch that may have been created; ``known`` are the ids of our other batches."""

    @abstractmethod
    async def progress(self, batch_id: str) -> Progress:
        """Return the progress of a batch."""

    @abstractmethod
    def outcome(self, row: Row) -> Outcome:
        """Return the outcome of a row: the answer that a direct request would have got, or its error."""

    async def results(self, sources: tuple[str, ...]) -> tuple[dict[str, Outcome], bool]:
        """Return the outcome of each request by its id, and whether every row could be read."""

        async def read(client: Any) -> tuple[dict[str, Outcome], bool]:
            found: dict[str, Outcome] = {}
            whole = True
            for source in sources:
                async for row in self._rows(client, source):
                    if row is None or not isinstance(row.get("custom_id"), str):
                        whole = False
                    else:
                        self.direct.api.redact_in(row)  # because answers are kept in the ledger
                        found[row["custom_id"]] = self.outcome(row)
            return found, whole

        return await self._often(read)

    async def newest(self) -> str | None:
        """Return the id of the newest batch of this account. By the vendor's order, a batch sent now is newer."""
        page = await self._often(lambda client: self._page(client, 1))
        return page[0]["id"] if page else None

    def unanswered(self, batch_id: str, ending: str) -> ModelError:
        """Return the error for a request of an ended batch that has no row."""
        if ending == "expired":
            return self._expired()
        if ending == "cancelled":
            return self._cancelled()
        return ModelError(f"{self.direct.name}: batch {batch_id} ended without a result for this request", "server")

    async def _since(self, client: Any, sent: Sent) -> AsyncGenerator[Row, None]:
        """Yield the batches of this account that may be the sent one, newest first."""
        after = None
        while page := await self._page(client, 100, after):
            for batch in page:
                if batch["id"] == sent.newest_before or _created_at(batch) < sent.sent_at - _A_DAY_S:
                    return
                yield batch
            after = page[-1]["id"]

    async def _page(self, client: Any, limit: int, after: str | None = None) -> list[Row]:
        params = {"limit": limit} if after is None else {"limit": limit, self.cursor: after}
        page = _object(await client.get(self.path, cast_to=object, options={"params": params}))
        found = page.get("data")
        return [batch for batch in found if isinstance(batch, Mapping) and "id" in batch] if found else []

    async def _batch(self, batch_id: str) -> Row:
        path = f"{self.path}/{batch_id}"
        return await self._often(lambda client: _json_of(client.get(path, cast_to=object)))

    async def _rows(self, client: Any, source: str) -> AsyncGenerator[Row | None, None]:
        """Yield the rows of a source of results as they arrive; None for one that cannot be read."""
        kind = import_module(self.direct.sdk).AsyncStream[object]
        # Only the bytes of the response are read, not the SDK's stream of events.
        stream = await client.get(source, cast_to=object, stream=True, stream_cls=kind)
        try:
            async for row in json_lines(stream.response.aiter_bytes()):
                yield row
        finally:
            await stream.response.aclose()

    async def _often(self, call: Callable[[Any], Awaitable[T]]) -> T:
        """Make a call that may safely be repeated."""
        return await self._limiter.call(lambda: self.direct.api.call(call, large=True), spent=_nothing)

    async def _once(self, body: Body) -> str:
        """Create a batch, which must not be done twice, and return its id."""

        async def attempt() -> str:
            try:
                made = await self.direct.api.call(
                    lambda client: _json_of(client.post(self.path, body=body, cast_to=object)), large=True
                )
            except ModelError as error:
                if error.kind in ("rate_limited", "authentication", "refused_request"):
                    raise
                unclear = Unclear(error)
            else:
                batch_id = made.get("id")
                if isinstance(batch_id, str) and batch_id:
                    return batch_id
                unclear = Unclear(ModelError(f"{self.direct.name}: the new batch has no id", "broken_body"))
            raise unclear

        return await self._limiter.call(attempt, spent=_nothing)

    def _expired(self) -> ModelError:
        return ModelError(f"{self.direct.name}: the batch expired before this request was answered", "timeout")

    def _cancelled(self) -> ModelError:
        return ModelError(
            f"{self.direct.name}: the batch was cancelled before this request was answered; ask again to send it anew",
            "refused_request",
        )


class OpenAIBatches(BatchVendor):
    """Batches of OpenAI: upload of a file of requests, download of a file of answers and one of errors.

    The limits are those of ``client.batches.create`` in the SDK's own documentation: 50,000 requests, 200 MB.
    """

    most_requests = 50_000
    most_bytes = 200_000_000
    path = "/batches"
    cursor = "after"

    async def create(self, token: str, rows: Mapping[str, Body]) -> str:
        url = "/v1" + self.direct.path
        lines = (
            json.dumps({"custom_id": custom_id, "method": "POST", "url": url, "body": body})
            for custom_id, body in rows.items()
        )
        file_id = await self._uploaded(f"jury-{token}.jsonl", "\n".join(lines).encode())
        return await self._once(
            {"completion_window": "24h", "endpoint": url, "input_file_id": file_id, "metadata": {_MARK: token}}
        )

    async def find(self, sent: Sent, known: Collection[str]) -> Found:
        async def search(client: Any) -> Found:
            async with aclosing(self._since(client, sent)) as batches:
                async for batch in batches:
                    if (batch.get("metadata") or {}).get(_MARK) == sent.token:
                        return Found(batch["id"])
            return Found()

        return await self._often(search)

    async def progress(self, batch_id: str) -> Progress:
        batch = await self._batch(batch_id)
        status = str(batch.get("status"))
        if status == "failed":
            problems = (batch.get("errors") or {}).get("data") or []
            said = "; ".join(dict.fromkeys(f"{problem.get('code')}: {problem.get('message')}" for problem in problems))
            failure = self.direct.api.failure(RowError(400, f"batch {batch_id} failed: {said or 'no reason given'}"))
            crowded = any(problem.get("code") == "token_limit_exceeded" for problem in problems)
            return Progress(True, failure=failure, crowded=crowded)
        # Without a file, the id may be an empty text.
        files = [file for file in (batch.get("error_file_id"), batch.get("output_file_id")) if file]
        sources = tuple(f"/files/{file}/content" for file in files)
        return Progress(status in ("completed", "expired", "cancelled"), sources, ending=status)

    async def _uploaded(self, name: str, data: bytes) -> str:
        file = await self._often(
            lambda client: _json_of(
                client.post(
                    "/files",
                    body={"purpose": "batch"},
                    files=[("file", (name, data))],
                    options={"headers": {"Content-Type": "multipart/form-data"}},
                    cast_to=object,
                )
            )
        )
        return str(file.get("id"))

    def outcome(self, row: Row) -> Outcome:
        response, error = row.get("response"), row.get("error")
        if isinstance(response, Mapping):
            status, body, request_id = (response.get(name) for name in ("status_code", "body", "request_id"))
            if status == 200 and isinstance(body, Mapping):
                return body
            number = status if isinstance(status, int) and status != 200 else 500
            return self.direct.api.failure(RowError(number, body, request_id if isinstance(request_id, str) else None))
        code = error.get("code") if isinstance(error, Mapping) else None
        if code == "batch_expired":
            return self._expired()
        if code == "batch_cancelled":
            return self._cancelled()
        return self.direct.api.failure(RowError(500, error))


class AnthropicBatches(BatchVendor):
    """Message batches of Anthropic: one request sends all requests, one stream returns all results.

    The limits are those of Anthropic's guide to batch processing: 100,000 requests, 256 MB. A message batch has no
    metadata. One that may have been created is recognised by the ids of its requests in its results.
    """

    most_requests = 100_000
    most_bytes = 256_000_000
    path = "/v1/messages/batches"
    cursor = "after_id"

    async def create(self, token: str, rows: Mapping[str, Body]) -> str:
        requests: list[JsonValue] = [{"custom_id": custom_id, "params": body} for custom_id, body in rows.items()]
        return await self._once({"requests": requests})

    async def find(self, sent: Sent, known: Collection[str]) -> Found:
        async def search(client: Any) -> Found:
            unclear = False
            async with aclosing(self._since(client, sent)) as batches:
                async for batch in batches:
                    if batch["id"] in known or _size(batch) != len(sent.custom_ids):
                        continue
                    if batch.get("processing_status") != "ended":
                        unclear = True  # its results will show
                    elif await self._holds(client, batch, sent.custom_ids):
                        return Found(batch["id"])
            return Found(unclear=unclear)

        return await self._often(search)

    async def progress(self, batch_id: str) -> Progress:
        batch = await self._batch(batch_id)
        ended = batch.get("processing_status") == "ended"
        # Results that are no longer kept have no address. The path is ours, so the key goes only to this server.
        sources = (self._results_of(batch),) if ended and batch.get("results_url") else ()
        return Progress(ended, sources, ending="ended")

    def outcome(self, row: Row) -> Outcome:
        result = row.get("result")
        kind = result.get("type") if isinstance(result, Mapping) else None
        if isinstance(result, Mapping) and kind == "succeeded" and isinstance(result.get("message"), Mapping):
            message: Mapping[str, JsonValue] = result["message"]
            return message
        if kind == "expired":
            return self._expired()
        if kind == "canceled":
            return self._cancelled()
        answer = result.get("error") if isinstance(result, Mapping) else None
        error = answer.get("error", answer) if isinstance(answer, Mapping) else None
        word = error.get("type") if isinstance(error, Mapping) else None
        request_id = answer.get("request_id") if isinstance(answer, Mapping) else None
        status = _STATUS.get(str(word), 500)
        return self.direct.api.failure(RowError(status, answer, request_id if isinstance(request_id, str) else None))

    def _results_of(self, batch: Row) -> str:
        return f"{self.path}/{batch['id']}/results"

    async def _holds(self, client: Any, batch: Row, custom_ids: Collection[str]) -> bool:
        if not batch.get("results_url"):
            return False
        async with aclosing(self._rows(client, self._results_of(batch))) as rows:
            async for row in rows:
                if row is not None:
                    return row.get("custom_id") in custom_ids
        return False


VENDORS: dict[str, type[BatchVendor]] = {"openai": OpenAIBatches, "anthropic": AnthropicBatches}

# Anthropic's error types with their HTTP statuses; a row has only the type.
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip


async def _json_of(answer: Awaitable[object]) -> Row:
    return _object(await answer)


def _object(answer: object) -> Row:
    """Return an answer that is a JSON object. The SDKs return a body of another content type as text."""
    if not isinstance(answer, Mapping):
        raise ModelError(f"no JSON object in the answer, but {type(answer).__name__}", "broken_body")
    return answer


def _size(batch: Row) -> int:
    counts = batch.get("request_counts") or {}
    try:
        return sum(token_count(count) for count in counts.values())
    except AbsurdCount:
        return 0


def _created_at(batch: Row) -> float:
    """Return the creation time in seconds since the epoch. OpenAI gives seconds, Anthropic a date."""
    found = batch.get("created_at")
    try:
        return datetime.fromisoformat(found).timestamp() if isinstance(found, str) else float(found or 0)
    except ValueError:
        return 0.0


def _nothing(_: object) -> int:
    return 0
