"""Requests of a framework's object: as the object sends them itself, and as this package sends them for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any

from jury_adapters import Limits, ModelError
from jury_adapters.models.base import Options, Prompt, Schema
from jury_adapters.models.registry import resolve_model

from .vendor import Ask, VendorServer

FIRST = Prompt.of("Is it so? TRUTH=NO", 'You "judge".\n\tStrictly: é, 中, \u2028.')
REPAIR = FIRST.followed_by("perhaps", " YES or NO? \n")
BARE = Prompt.of("Is it so? TRUTH=NO")
SCHEMA: Schema = {"type": "object", "properties": {"answer": {"enum": ["YES", "NO"]}}, "required": ["answer"]}
# Headers of the connection, of one request, and of the SDK's way to read the answer.
OF_ONE_REQUEST = {"host", "connection", "content-length", "accept-encoding", "idempotency-key"}


def complete(model: Any, prompt: Prompt = FIRST, schema: Schema | None = SCHEMA, options: Options = Options()) -> Any:
    """The reply of a model to one attempt."""
    return asyncio.run(resolve_model(model, limits=Limits(attempts=1)).complete(prompt, schema, options))


def asked(server: VendorServer, model: Any, *args: Any) -> list[Ask]:
    """The requests that one call makes, whatever comes of it."""
    before = len(server.asks)
    with suppress(ModelError):
        complete(model, *args)
    return server.asks[before:]


def is_sent_by_sdk(ask: Ask) -> bool:
    """Whether an SDK has sent a request: it counts its own retries."""
    return "x-stainless-retry-count" in ask.headers


def assert_same_requests(ours: list[Ask], theirs: list[Ask]) -> None:
    """Assert that this package sent what the object sends."""
    assert [is_sent_by_sdk(ask) for ask in (*ours, *theirs)] == [False] * len(ours) + [True] * len(theirs)
    assert [_compared(ask) for ask in ours] == [_compared(ask) for ask in theirs] != []


def _compared(ask: Ask) -> tuple[Any, ...]:
    headers = {
        name: value
        for name, value in ask.headers.items()
        if name not in OF_ONE_REQUEST and not name.startswith("x-stainless-")
    }
    return ask.path, ask.query, ask.body, headers


@contextmanager
def wrapped_method(kind: type, name: str) -> Iterator[list[Any]]:
    """Wrap a method of a class, as tracers do; the list has an entry for every call."""
    original, calls = vars(kind)[name], []

    @wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(kwargs)
        return original(self, *args, **kwargs)

    setattr(kind, name, wrapper)
    try:
        yield calls
    finally:
        setattr(kind, name, original)
