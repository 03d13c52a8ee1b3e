"""One store, two servers that answer differently: which of them is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jury_adapters import Critic, Judge, Status
from jury_adapters.testing import a_case
from tests.support.vendor import VendorServer


def status_of(judge: Judge, store: Path | None = None) -> Status | None:
    """Judge one case on an event loop of its own."""
    return asyncio.run(astatus_of(judge, store))


async def astatus_of(judge: Judge, store: Path | None = None) -> Status | None:
    """Judge one case."""
    (judgment,) = [one async for one in judge.ajudge_many([a_case()], store=store)]
    return judgment.status


def critic(model: Any, **options: Any) -> Critic:
    """Return a critic without a name of its own."""
    return Critic(model, "faithfulness", **options)


def check_told_apart(
    judge: Callable[[VendorServer], Status | None], servers: tuple[VendorServer, VendorServer]
) -> None:
    """Check that the second server is asked although the store has the first one's answer, and each only once.

    Args:
        judge: asks a server about one case, with the same store each time and everything else made anew.
        servers: one that answers YES, and one that answers NO.
    """
    first, second = servers
    assert judge(first) is Status.PASS
    assert (first.count, second.count) == (1, 0)
    assert judge(second) is Status.FAIL
    assert (first.count, second.count) == (1, 1)
    assert [judge(server) for server in servers] == [Status.PASS, Status.FAIL]
    assert (first.count, second.count) == (1, 1)
