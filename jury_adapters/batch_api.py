"""Judging through the vendors' batch APIs: half the price, and answers within a day.

>>> batches = Batches("batches")  # doctest: +SKIP
>>> critic = batches.critic("openai:gpt-4o-mini", "faithfulness")  # doctest: +SKIP
>>> for judgment in critic.judge_many(cases, store=store, max_concurrency=10_000):  # doctest: +SKIP
...     print(judgment)

A folder records what was sent, before it is sent. After a crash or a kill the same code finds the batches again, and
nothing is paid twice. A store knows the judgments by the same keys as those of direct requests.
"""

import asyncio
import hashlib
import json
import logging
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate, islice
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

from pydantic import SecretStr
from pydantic_core import from_json

from jury_adapters.core import loop
from jury_adapters.core.context import context
from jury_adapters.core.values import ConfigurationError
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import NO_OPTIONS, ModelError, Options, Prompt, Reply, Schema
from jury_adapters.models.errors import NOTHING, bad_reply, error_in_answer, error_of
from jury_adapters.models.limits import Limits
from jury_adapters.models.names import open_model
from jury_adapters.models.protocols import Body
from jury_adapters.models.sdk import SdkModel

_log = logging.getLogger(__name__)
DISCOUNT = 0.5
"""Price of a request in a batch, as a share of its list price, at OpenAI and Anthropic."""
_LIMITS = Limits(attempts=1, max_concurrency=1_000_000, deadline_s=4 * 86_400.0, open_after=1_000_000)
_LOOKS = 10  # for so long, times poll_s, a batch that may exist is looked for: the lists of vendors lag
_EARLIER_S = 3600.0  # how much the clocks of vendor and sender may differ
_HTTP: dict[str, Any] = {"timeout": 600.0, "follow_redirects": False, "headers": {"accept-encoding": "identity"}}
_TABLES = """
BEGIN EXCLUSIVE;
CREATE TABLE IF NOT EXISTS batches (token TEXT PRIMARY KEY, batch_id TEXT, sent_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS requests (
    model TEXT NOT NULL, request TEXT NOT NULL, token TEXT NOT NULL, answer TEXT, PRIMARY KEY (model, request));
CREATE INDEX IF NOT EXISTS by_batch ON requests (token);
COMMIT;
"""


class Batches:
    """Folder with the record of batches, and what sends them.

    Each request of its critics joins the batch that is being collected. A batch is sent when it is full, or when no
    request has come for ``window_s`` seconds, and its requests wait for its results. So let many cases be judged at
    once, with ``max_concurrency=10_000``. A request that expires or fails at the vendor goes into a further batch, as
    does the repair of a reply that cannot be read. Any number of critics and models may share a folder, and one process
    at a time uses it. It holds answers, but no requests and no keys; who judges anew takes a new folder. Usage and
    budgets count an answer from the record like a new one; a store does not.

    Args:
        folder: the folder; it is made if it is missing, readable only by its owner.
        window_s: seconds without a new request after which a batch is sent.
        poll_s: seconds between two looks at a batch.
        max_requests: the most requests of a batch, at most 50,000, which OpenAI takes.
        attempts: the most batches for one request.

    Raises:
        ConfigurationError: the folder cannot be used, or another process uses it.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        window_s: float = 2.0,
        poll_s: float = 30.0,
        max_requests: int = 50_000,
        attempts: int = 3,
    ) -> None:
        if not (window_s > 0 and poll_s > 0 and attempts >= 1 and max_requests >= 1):
            raise ConfigurationError(
                "window_s= and poll_s= are seconds above 0, attempts= and max_requests= numbers from 1; not "
                f"{window_s!r}, {poll_s!r}, {attempts!r} and {max_requests!r}"
            )
        self.window_s, self.poll_s, self.max_requests, self.attempts = window_s, poll_s, max_requests, attempts
        self.record = Record(Path(folder))

    def critic(
        self,
        model: str,
        rubric: Rubric | str | Path | None = None,
        *,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        **options: Any,
    ) -> Critic:
        """Return a critic that asks its model in batches. Its estimates and costs are half the list price.

        Args:
            model: ``"openai:..."`` or ``"anthropic:..."``; with ``base_url``, any server that has OpenAI's batches.
            rubric: the rubric.
            base_url: the server's address, if it is not that of the vendor.
            api_key: the key; by default that in the vendor's environment variable.
            **options: further options of :class:`Critic`, but for ``limits``.

        Raises:
            ConfigurationError: the vendor has no batches, or see :class:`Critic`.
        """
        direct = open_model(model, base_url=base_url, api_key=api_key)
        if not isinstance(direct, SdkModel) or (base_url is None and not direct._own):
            raise ConfigurationError(
                f"{direct.name}: openai and anthropic have batches, and servers given by base_url="
            )
        return Critic(BatchModel(direct, self), rubric, limits=_LIMITS, **options)

    def close(self) -> None:
        """Close the record, so that another process may use the folder."""
        self.record.close()


class BatchModel(SdkModel):
    """Named model that is asked in batches, with the identity of the named model; :meth:`Batches.critic` makes it."""

    def __init__(self, direct: SdkModel, batches: Batches) -> None:
        super().__init__(*direct._again.args, **direct._again.keywords)
        self._queue = Queue(batches, (OpenAIBatches if self._vendor.sdk == "openai" else AnthropicBatches)(self))

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = NO_OPTIONS) -> Reply:
        """Answer one request from a batch, and again without what the model refuses."""
        reply = await super().complete(prompt, schema, options)
        return replace(reply, usage=reply.usage.but(cost_usd=reply.usage.cost_usd * DISCOUNT))

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the cost of so many tokens in US dollars; None if the price is unknown."""
        full = super().price(input_tokens, output_tokens)
        return None if full is None else full * DISCOUNT

    async def _post(self, body: Body) -> Any:
        return await asyncio.wrap_future(loop.start(self._queue.ask(body)))  # all batches are on one event loop

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a critic of Batches cannot be pickled: one process at a time uses the folder")


class Record:
    """Record of the batches of a folder, on disk when a method returns. One process at a time may open it.

    A batch has a token, our name for it. A request is known by a hash of its body and of the number of the sample.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = sqlite3.connect(folder / "batches.db", timeout=0, check_same_thread=False)
            # The lock on the file lasts as long as the connection, and ends with the process.
            self._connection.executescript(f"PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL; {_TABLES}")
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"the folder of batches {folder} cannot be used: "
                f"{'another process uses it' if 'locked' in str(error) else error}"
            ) from None
        self.rows, self.close = self._connection.execute, self._connection.close

    def requests(self, token: str) -> set[str]:
        """Return the requests of a batch."""
        return {request for (request,) in self.rows("SELECT request FROM requests WHERE token = ?", (token,))}

    def claim(self, token: str, model: str, requests: Collection[str]) -> None:
        """Note that requests are about to be sent in a batch."""
        with self._connection as changing:
            changing.execute("INSERT INTO batches VALUES (?, NULL, ?)", (token, time.time()))
            rows = [(model, request, token) for request in requests]
            changing.executemany("INSERT INTO requests VALUES (?, ?, ?, NULL)", rows)

    def created(self, token: str, batch_id: str) -> None:
        """Note the vendor's id of a batch."""
        with self._connection as changing:
            changing.execute("UPDATE batches SET batch_id = ? WHERE token = ?", (batch_id, token))

    def finish(self, token: str, outcomes: Mapping[str, Any]) -> None:
        """Note the answers of a batch that has ended or was not created; its other requests may be sent again."""
        rows = [(json.dumps(one), token, name) for name, one in outcomes.items() if not isinstance(one, ModelError)]
        with self._connection as changing:
            changing.executemany("UPDATE requests SET answer = ? WHERE token = ? AND request = ?", rows)
            changing.execute("DELETE FROM requests WHERE token = ? AND answer IS NULL", (token,))


class Vendor(ABC):
    """Batches of one vendor for one model, through its SDK, which repeats calls while the vendor is busy or down."""

    most_requests = 50_000  # the limits of OpenAI; those of Anthropic are larger
    most_bytes = 200_000_000
    batches: Callable[[Any], Any]  # returns the batches of the SDK's client

    def __init__(self, model: SdkModel) -> None:
        self.model = model

    @abstractmethod
    async def create(self, token: str, rows: Mapping[str, Body]) -> str:
        """Send a batch, and return the vendor's id for it. This is never repeated."""

    @abstractmethod
    async def results(self, batch: Any) -> tuple[list[bytes], ModelError]:
        """Return the files of results of a batch, and the error of a request that is in none of them.

        Raises:
            ModelError: it has not ended, or the call failed.
        """

    @abstractmethod
    def outcome(self, row: Mapping[str, Any]) -> Any:
        """Return the answer in a line of results, as a direct request would have got it, or a :class:`ModelError`."""

    @abstractmethod
    async def is_ours(self, batch: Any, token: str) -> bool:
        """Return whether a batch has our token.

        Raises:
            ModelError: that cannot be told before it has ended.
        """

    async def find(self, client: Any, token: str, sent_at: float, others: Collection[str]) -> str:
        """Return the id of a batch that may have been created; "" if there is none."""
        async for batch in self.batches(client).list(limit=100):  # the newest comes first
            if getattr(batch.created_at, "timestamp", lambda: batch.created_at)() < sent_at - _EARLIER_S:  # noqa: B023
                break
            if batch.id not in others and await self.is_ours(batch, token):
                return str(batch.id)
        return ""

    def missing(self, batch: Any, *, ended: bool) -> ModelError:
        """Return the error of a request without a result; raise it before the batch has ended."""
        error = bad_reply(
            f"{self.model.name}: batch {batch.id} {'has no result for this request' if ended else 'has not ended'}"
        )
        if not ended:
            raise error
        return error

    async def call(self, use: Callable[[Any], Awaitable[Any]], *, retries: int = 6) -> Any:
        """Use a client of the SDK.

        Raises:
            ModelError: a call failed.
        """
        model = self.model
        try:
            # Plain HTTP needs no certificates, which take 25 ms to load.
            async with model._sdk.DefaultAsyncHttpxClient(
                **_HTTP, verify=not model.address.lower().startswith("http:")
            ) as http:
                return await use(model.client(http, max_retries=retries))
        except Exception as error:
            failure = error_of(error, model.name, model._key.hidden_in)
        raise failure


class OpenAIBatches(Vendor):
    """Batches of OpenAI: a file of requests is uploaded, and files of answers and errors are downloaded."""

    batches = attrgetter("batches")

    async def create(self, token: str, rows: Mapping[str, Body]) -> str:
        """Upload the requests, and make a batch of them."""
        url = f"/v1{self.model._protocol.path}"
        lines = [
            json.dumps({"custom_id": f"{token}-{name}", "method": "POST", "url": url, "body": body})
            for name, body in rows.items()
        ]
        upload = (f"jury-{token}.jsonl", "\n".join(lines).encode())
        file = await self.call(lambda client: client.files.create(file=upload, purpose="batch"))
        batch = {
            "input_file_id": file.id,
            "endpoint": url,
            "completion_window": "24h",
            "metadata": {"jury_adapters": token},
        }
        return str((await self.call(lambda client: client.batches.create(**batch), retries=0)).id)

    async def results(self, batch: Any) -> tuple[list[bytes], ModelError]:
        """Return the files of answers and errors."""
        if batch.status == "failed":
            said = "; ".join(f"{one.code}: {one.message}" for one in (batch.errors and batch.errors.data) or [])
            return [], ModelError(f"{self.model.name}: the batch failed: {said}", sent=False)
        missing = self.missing(batch, ended=batch.status in ("completed", "expired", "cancelled"))
        files = filter(None, (batch.output_file_id, batch.error_file_id))
        return [
            (await self.call(lambda client, file=file: client.files.content(file))).content  # type: ignore[misc]
            for file in files
        ], missing

    def outcome(self, row: Mapping[str, Any]) -> Any:
        """Return the answer in a line of results, or its error."""
        response, error = row.get("response") or NOTHING, row.get("error") or NOTHING
        if str(error.get("code")).startswith("batch_"):
            said = f"{self.model.name}: {error['code']}: the batch ended before this request was answered"
            return ModelError(said, "timeout", transient=error["code"] == "batch_expired", sent=False)
        body = response.get("body") or {"error": error}
        is_answer = response.get("status_code") == 200 and isinstance(body, Mapping)
        return body if is_answer else error_in_answer(body, self.model.name, self.model._key.hidden_in)

    async def is_ours(self, batch: Any, token: str) -> bool:
        """Return whether the metadata of a batch have our token."""
        return bool((batch.metadata or NOTHING).get("jury_adapters") == token)


class AnthropicBatches(Vendor):
    """Message batches of Anthropic: one request sends all requests, and one response has all results.

    They have no metadata. Which one is ours shows in the ids of its requests, in its results.
    """

    batches = attrgetter("messages.batches")

    async def create(self, token: str, rows: Mapping[str, Body]) -> str:
        """Send the requests."""
        requests = [{"custom_id": f"{token}-{name}", "params": body} for name, body in rows.items()]
        return str((await self.call(lambda client: self.batches(client).create(requests=requests), retries=0)).id)

    async def results(self, batch: Any) -> tuple[list[bytes], ModelError]:
        """Return the results. Their address in the batch is not used: it might be another server's."""
        missing = self.missing(batch, ended=batch.processing_status == "ended")
        path, kind = f"/v1/messages/batches/{batch.id}/results", self.model._http.Response
        return [(await self.call(lambda client: client.get(path, cast_to=kind))).content], missing

    def outcome(self, row: Mapping[str, Any]) -> Any:
        """Return the answer in a line of results, or its error."""
        result = row.get("result") or NOTHING
        if isinstance(result.get("message"), Mapping):
            return result["message"]
        if result.get("type") in ("expired", "canceled"):
            said = f"{self.model.name}: {result['type']}: the batch ended before this request was answered"
            return ModelError(said, "timeout", transient=result["type"] == "expired", sent=False)
        return error_in_answer(result.get("error"), self.model.name, self.model._key.hidden_in)

    async def is_ours(self, batch: Any, token: str) -> bool:
        """Return whether the results of a batch have our token."""
        return f'"{token}-'.encode() in (await self.results(batch))[0][0]


class Queue:
    """Requests for one model: those that are being collected, and those that wait for a batch. It runs on one loop."""

    def __init__(self, batches: Batches, vendor: Vendor) -> None:
        self._batches, self._record, self._vendor = batches, batches.record, vendor
        self._name, self._new = vendor.model.name, dict[str, Body]()
        # A future is here as long as somebody waits for it.
        self._waiting: WeakValueDictionary[str, asyncio.Future[Any]] = WeakValueDictionary()
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by the token of a batch; that which collects has none

    async def ask(self, body: Body) -> Any:
        """Return the answer to a request, from the record or from a batch.

        Raises:
            ModelError: the vendor refused it, or did not answer it in several batches.
        """
        request = hashlib.sha256(f"{context().sample} {json.dumps(body, sort_keys=True)}".encode()).hexdigest()[:40]
        query = "SELECT token, answer FROM requests WHERE model = ? AND request = ?"
        for _ in range(self._batches.attempts):
            known = self._record.rows(query, (self._vendor.model.identity, request)).fetchone()
            if known and known[1] is not None:
                return from_json(known[1])
            waiter = self._waiting.setdefault(request, asyncio.get_running_loop().create_future())
            if not known:
                self._new[request] = body
                self._start("", self._collect)
            else:
                self._start(known[0], partial(self._carry, known[0], self._record.requests(known[0])))
            outcome = await asyncio.shield(waiter)
            if not isinstance(outcome, Exception):
                return outcome
            if not getattr(outcome, "transient", False):
                break
            await asyncio.sleep(self._batches.poll_s)
        raise outcome

    def _start(self, token: str, work: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
        if token not in self._tasks:
            self._tasks[token] = asyncio.create_task(self._deliver(token, work))

    async def _deliver(self, token: str, work: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
        """Do the work for a batch, and give the outcomes of its requests to those that wait for them."""
        try:
            outcomes = await work()
            if outcomes:  # the answers are on disk before anybody has them
                self._record.finish(token, outcomes)
        except Exception as error:
            outcomes = dict.fromkeys(self._record.requests(token) if token else [*self._new], error)
        finally:
            del self._tasks[token]
        for request in {*self._waiting} & outcomes.keys():
            self._waiting.pop(request).set_result(outcomes[request])

    async def _collect(self) -> Mapping[str, Any]:
        """Wait until no more requests come, or enough are there, and send them."""
        most = min(self._batches.max_requests, self._vendor.most_requests)
        while self._new:
            number = -1
            while number < len(self._new) < most:
                number = len(self._new)
                await asyncio.sleep(self._batches.window_s)
            self._new = {request: body for request, body in self._new.items() if request in self._waiting}
            sizes = accumulate(len(json.dumps(body)) + 200 for body in self._new.values())
            fitting = sum(size <= self._vendor.most_bytes for size in islice(sizes, most))
            rows = dict(islice(self._new.items(), max(1, fitting)))
            if not rows:  # nobody wants an answer any more
                break
            token = uuid4().hex[:20]
            self._record.claim(token, self._vendor.model.identity, rows)
            self._new = {request: body for request, body in self._new.items() if request not in rows}
            self._start(token, partial(self._carry, token, rows, rows))
        return {}

    async def _carry(
        self, token: str, requests: Collection[str], rows: Mapping[str, Body] = NOTHING
    ) -> Mapping[str, Any]:
        """Send a batch, if it is new, and return the outcomes of its requests when it has ended."""
        if rows:
            try:
                self._record.created(token, await self._vendor.create(token, rows))
            except ModelError as error:
                if (error.status or 500) < 500:  # else it may have been created, and will be looked for
                    return dict.fromkeys(requests, error)
        while {*self._waiting} & {*requests}:
            try:
                return await self._looked(token, requests)
            except ModelError as error:
                if not error.transient:
                    raise
                _log.info("%s: looked at again in %g s", error, self._batches.poll_s)
            await asyncio.sleep(self._batches.poll_s)
        return {}

    async def _looked(self, token: str, requests: Collection[str]) -> Mapping[str, Any]:
        """Return the outcomes of the requests of a batch.

        Raises:
            ModelError: it has not ended, or was not found yet.
        """
        (batch_id, sent_at), *_ = self._record.rows("SELECT batch_id, sent_at FROM batches WHERE token = ?", (token,))
        if batch_id is None:
            others = {one for (one,) in self._record.rows("SELECT batch_id FROM batches")}
            batch_id = await self._vendor.call(lambda client: self._vendor.find(client, token, sent_at, others))
            if not batch_id:
                lost = ModelError(f"{self._name}: the batch was not created", "unavailable", transient=True)
                if time.time() < sent_at + _LOOKS * self._batches.poll_s:
                    raise lost
                return dict.fromkeys(requests, lost)
            self._record.created(token, batch_id)
        batch = await self._vendor.call(lambda client: self._vendor.batches(client).retrieve(batch_id))
        files, missing = await self._vendor.results(batch)
        outcomes: dict[str, Any] = dict.fromkeys(requests, missing)
        for line in b"\n".join(files).split(b"\n"):  # an answer may have any other separator of lines
            with suppress(ValueError, TypeError, AttributeError):  # of a strange line, whose request counts as missing
                row = from_json(self._vendor.model._key.hidden_in(line.decode("utf-8", "replace")) or "{}")
                name = str(row.get("custom_id")).removeprefix(f"{token}-")
                if name in outcomes:
                    outcomes[name] = self._vendor.outcome(row)
        return outcomes
