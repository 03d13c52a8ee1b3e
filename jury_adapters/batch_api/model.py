"""Model that is asked in batches."""

from __future__ import annotations

import asyncio
import hashlib
import json
from concurrent.futures import Future
from dataclasses import replace
from math import inf
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

from pydantic import SecretStr

from jury_adapters.batch_api.model_queue import BatchingPolicy, PendingRequest
from jury_adapters.batch_api.submitter import Request, submitter_of
from jury_adapters.batch_api.vendors import VENDORS
from jury_adapters.core.context import run_context
from jury_adapters.core.errors import ConfigurationError, ModelError, plain_repr
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.limits import Limits
from jury_adapters.models.prices import batch_vendor, cost_of
from jury_adapters.models.registry import LimitedModel, resolve_model
from jury_adapters.models.unsupported_parameters import Body
from jury_adapters.models.vendor_model import VendorModel

_WITH_BATCHES = ("openai", "anthropic", "local")  # "local": a server of the user with OpenAI's protocol
_NO_LIMIT = 10**9


class BatchModel(LimitedModel):
    """Model asked in the vendor's batches: half the price, within a day, for work that can wait.

    Each request joins the batch that is being collected. A batch is sent when it is full, or after ``batch_window_s``
    seconds without a new request; then all its requests wait for the results. So make many requests at once: with
    ``judge_many(cases, max_concurrency=10_000)``, ten thousand cases are sent in one batch.

    The folder records what was sent, and the results. After a crash, a kill or a run that exceeded ``timeout_s``, the
    same requests find their batch again, and are not sent or paid for a second time. The folder keeps the answers
    indefinitely, so use one folder per job, and a new one to ask again.

    Requests that the vendor did not process are put into the next batch automatically. Parameters that the model
    refuses are learned as in direct calls, at the price of a further batch.

    Args:
        model: ``"openai:..."`` or ``"anthropic:..."``; or a name with ``base_url=``, for a server that has OpenAI's
            batches.
        folder: the folder of the record; created if it is missing, and readable only by its owner. One process at a
            time may use it; any number of critics and models may share it.
        vendor: the vendor, when the name does not include it.
        base_url: the address of a server that speaks the vendor's protocol.
        api_key: the key; from the vendor's environment variable by default. It is never written to the folder.
        request_timeout: the maximum duration of one request to the vendor, in seconds; a batch may be an upload of 200
            MB.
        max_requests: the number of requests that fills a batch; the vendor's limit by default (OpenAI 50,000, Anthropic
            100,000).
        batch_window_s: seconds without a new request after which a batch is sent.
        poll_s: seconds between two polls of a batch.
        timeout_s: the time a request waits for its result, in seconds, including further batches. Then it fails with
            ``timeout``, and a later run finds the result. None waits forever.
        attempts: the maximum number of batches per request, if the vendor fails or lets the request expire.

    Raises:
        ConfigurationError: the vendor has no batches, or a number is invalid; see also :class:`Critic`.

    >>> model = BatchModel("openai:gpt-4o-mini", folder="batches")  # doctest: +SKIP
    >>> critic = Critic(model, "faithfulness", name="truth")  # doctest: +SKIP
    >>> for judged in critic.judge_many(cases, max_concurrency=10_000): ...  # doctest: +SKIP
    """

    inner: _Batched

    def __init__(
        self,
        model: str,
        *,
        folder: str | PathLike[str],
        vendor: str | None = None,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        request_timeout: float = 600.0,
        max_requests: int | None = None,
        batch_window_s: float = 2.0,
        poll_s: float = 30.0,
        timeout_s: float | None = 90_000.0,
        attempts: int = 3,
    ) -> None:
        if not isinstance(model, str):
            raise ConfigurationError(f"a batch model is named 'vendor:model'; {type(model).__name__} cannot be batched")
        if not isinstance(folder, str | PathLike):
            raise ConfigurationError(f"folder is where the batches are remembered, a path; not {plain_repr(folder)}")
        direct = resolve_model(
            model, vendor=vendor, base_url=base_url, api_key=api_key, request_timeout=request_timeout
        ).inner
        if not isinstance(direct, VendorModel) or direct.vendor not in _WITH_BATCHES:
            raise ConfigurationError(
                f"{direct.name}: no batches are known of this vendor; openai and anthropic have them, and base_url= "
                "names a server of your own that does"
            )
        policy = _policy(max_requests, batch_window_s, poll_s, VENDORS[direct.sdk].most_requests)
        limits = Limits(attempts=attempts, deadline_s=timeout_s, max_concurrency=_NO_LIMIT, open_after=None)
        super().__init__(_Batched(direct, Path(folder).absolute(), policy), limits)

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        started = monotonic()
        patience = self.limiter.limits.deadline_s
        try:
            return await super().complete(prompt, schema, options)
        except ModelError as error:
            if error.kind != "timeout" or patience is None or monotonic() - started < patience:
                raise
        raise ModelError(
            f"{self.name}: no result within the patience of {patience:g} s; the batch stays known in "
            f"{self.inner.folder}, and a later run picks its result up",
            "timeout",
        )

    def __reduce__(self) -> Any:
        return (_unpickled, (self.inner, self.limiter.limits))

    def __repr__(self) -> str:
        return f"BatchModel({self.name!r}, folder={str(self.inner.folder)!r})"


class _Batched:
    """Model inside a :class:`BatchModel`: the direct model, with batches instead of requests."""

    def __init__(self, direct: VendorModel, folder: Path, policy: BatchingPolicy) -> None:
        self._direct = direct
        self.folder = folder
        self._policy = policy
        self.takes_images = direct.takes_images

    @property
    def name(self) -> str:
        return self._direct.name

    @property
    def model(self) -> str:
        return self._direct.model

    @property
    def address(self) -> str:
        """Address of the direct model, so that batches and direct requests share one store key."""
        return self._direct.address

    @property
    def price_vendor(self) -> str:
        """Vendor name under which the prices of batches are listed."""
        return batch_vendor(self._direct.vendor)

    @property
    def identity(self) -> tuple[object, ...]:
        return ("batch", self.folder, self._policy, *self._direct.identity)

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        reply = await self._direct.answered_by(self._ask, prompt, schema, options)
        return replace(reply, usage=cost_of(reply.usage, self.price_vendor, self.model))

    async def _ask(self, body: Body) -> Any:
        """Submit a request and wait for its answer. A cancelled wait leaves the batch unchanged."""
        asked = asked_of(body, run_context().sample)
        waiter: Future[Any] = Future()
        asked.waiters.append(waiter)
        submitter_of(self.folder).hand_in(Request(self._direct, self._policy, asked))
        return await asyncio.wrap_future(waiter)

    def __repr__(self) -> str:
        return f"{self._direct!r} in batches"


def asked_of(body: Body, sample: str) -> PendingRequest:
    """Return a request with its id: a hash of its content and of its sample, which tells repeated requests apart."""
    content = json.dumps(body, sort_keys=True)
    custom_id = hashlib.sha256(f"{sample}\n{content}".encode()).hexdigest()[:40]
    return PendingRequest(custom_id, body, len(content))


def _unpickled(inner: _Batched, limits: Limits) -> BatchModel:
    model = BatchModel.__new__(BatchModel)
    LimitedModel.__init__(model, inner, limits)
    return model


def _policy(max_requests: int | None, batch_window_s: float, poll_s: float, most: int) -> BatchingPolicy:
    if max_requests is not None and not (
        isinstance(max_requests, int) and not isinstance(max_requests, bool) and 1 <= max_requests <= most
    ):
        raise ConfigurationError(f"max_requests is a whole number from 1 to {most}, not {plain_repr(max_requests)}")
    for name, value in (("batch_window_s", batch_window_s), ("poll_s", poll_s)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < inf:
            raise ConfigurationError(f"{name} is a positive number of seconds, not {plain_repr(value)}")
    return BatchingPolicy(max_requests, batch_window_s, poll_s)
