"""Memory of a batch, which must not depend on its number of cases."""

from __future__ import annotations

import asyncio
import gc
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

from jury_adapters import Case, Critic, Judge, Store
from jury_adapters.testing import ScriptedModel

REPLY = '{"reasoning": "so it says", "answer": "YES"}'


def waiting_judge() -> Judge:
    """A plain asynchronous function that gives way once, as one that asks a model does."""

    async def waits(case: Case) -> bool:
        await asyncio.sleep(0)
        return len(case.answer or "") > 0

    return Judge.from_function(waits)


def critic() -> Critic:
    """A critic whose model answers at once and keeps nothing of what it was asked."""
    return Critic(_Forgetful([REPLY]), "correctness_without_reference", name="juror")


class _Forgetful(ScriptedModel):
    async def complete(self, *args: Any, **options: Any) -> Any:
        self.calls.clear()
        return await super().complete(*args, **options)


def cases(count: int, size: int = 1000) -> Iterator[dict[str, str]]:
    """Rows of about this many bytes."""
    return ({"question": f"question {number}", "answer": "x" * size + str(number)} for number in range(count))


def bytes_grown(
    judge: Judge, count: int, *, store: Store | None = None, max_concurrency: int = 64, size: int = 1000
) -> int:
    """Bytes by which the traced peak of a batch exceeds the bytes traced after its first tenth."""
    early = 0
    tracemalloc.start()
    try:
        for number, _ in enumerate(judge.judge_many(cases(count, size), max_concurrency=max_concurrency, store=store)):
            if number == count // 10:
                gc.collect()
                early = tracemalloc.get_traced_memory()[0]
                tracemalloc.reset_peak()
        return tracemalloc.get_traced_memory()[1] - early
    finally:
        tracemalloc.stop()


def blocks_grown(judge: Judge, count: int, *, max_concurrency: int = 64) -> int:
    """Number of memory blocks that are allocated near the end of a batch beyond those after its first tenth.

    Any data kept of a case takes at least one block. Counting blocks costs nothing; tracing bytes doubles the time.
    """
    counts = []
    for number, _ in enumerate(judge.judge_many(cases(count), max_concurrency=max_concurrency)):
        if number in (count // 10, count - 2 * max_concurrency):
            gc.collect()
            counts.append(sys.getallocatedblocks())
    early, late = counts
    return late - early
