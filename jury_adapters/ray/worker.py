"""Code that runs on each worker: it gets batches and returns verdicts, with many cases in progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from ray import cloudpickle

from jury_adapters.config import load_jury
from jury_adapters.config.permissions import Permissions
from jury_adapters.core import event_loop
from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import BatchState
from jury_adapters.core.errors import ConfigurationError, JuryError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.scope import Scope
from jury_adapters.models.limits import Limits
from jury_adapters.ray.actors import ActorPermitSource
from jury_adapters.ray.counts import Counts
from jury_adapters.ray.parts import Folder, record, table_of
from jury_adapters.ray.reading import PlacedRow, batch_token, placed_rows
from jury_adapters.ray.sharing import share_limits
from jury_adapters.store import AnyStore

PROBLEM = "problem"
"""Column with the reason that a worker cannot judge at all."""


@dataclass(frozen=True)
class Task:
    """Task of a worker.

    Attributes:
        jury: the path of a jury file, or a pickled judge or function that makes one.
        permissions: the permissions of a jury file.
        run: the name of this run in the names of its parts.
        max_concurrency: the maximum number of cases in progress on one worker.
        folder: the folder of the parts; None to return the verdicts.
        store: the store of judgments, as for ``judge_many``.
        limits: limits to share instead of those of the models.
        rates: the actor that keeps the limits.
        ledger: the actor that knows the judged rows; None if there are none.
    """

    jury: Path | bytes
    permissions: Permissions
    run: str
    max_concurrency: int
    folder: Folder | None
    store: AnyStore | str | Path | None
    limits: dict[str, Limits]
    rates: Any
    ledger: Any


class JudgeRows:
    """Callable of Ray Data that judges batches; several at once, so that the slow cases of one do not idle the worker.

    The work itself runs on the package's own event loop. Ray's may be blocked while its consumer is slow, and the calls
    in flight must not wait for that.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._room = asyncio.Semaphore(task.max_concurrency)
        self._problem: JuryError | None = None
        try:
            self._judge = build_judge(task.jury, task.permissions)
            share_limits(self._judge, ActorPermitSource(task.rates), task.limits)
            self._scope = Scope.of(self._judge, task.store, None, batch=BatchState())
        except JuryError as error:  # raised here, Ray would report the death of an actor without its cause
            self._problem = error

    async def __call__(self, batch: pa.Table) -> AsyncIterator[pa.Table]:
        if self._problem is not None:
            if self._task.folder is None:
                raise self._problem
            yield _report(Counts(), str(self._problem))  # an exception would arrive as text inside one of Ray's
            return
        yield await asyncio.wrap_future(event_loop.submit(self._judged(batch)))

    async def _judged(self, batch: pa.Table) -> pa.Table:
        """Judge a batch, and return its verdicts, or its counts when they are written to a part."""
        rows = placed_rows(batch)
        token = batch_token(rows)
        folder, part = self._task.folder, f"part-{self._task.run}-{token}.parquet"
        if folder is not None:
            known = await asyncio.to_thread(folder.counts, part)
            if known is not None:  # written by a worker that was lost afterwards
                return _report(known)
        skipped = await self._judged_before(token, rows)
        rows = [row for row, before in zip(rows, skipped, strict=True) if not before]
        judgments = await asyncio.gather(*(self._judgment(row) for row in rows))
        records = [
            record(row.position, row.identity, row.case, judgment)
            for row, judgment in zip(rows, judgments, strict=True)
        ]
        if folder is None:
            return table_of(records)
        counts = sum(map(Counts.of, judgments), Counts(skipped=sum(skipped)))
        if records:
            await asyncio.to_thread(folder.write, part, records, counts)
        return _report(counts)

    async def _judged_before(self, token: str, rows: list[PlacedRow]) -> list[bool]:
        if self._task.ledger is None:
            return [False] * len(rows)
        claims: list[bool] = await self._task.ledger.claim.remote(token, [row.identity for row in rows])
        return claims

    async def _judgment(self, row: PlacedRow) -> Judgment:
        if row.case is None:
            assert row.failure is not None
            return row.failure
        async with self._room:
            return event_loop.unwrap(await event_loop.run_and_capture(self._on_case, row.case))

    async def _on_case(self, case: Case) -> Judgment:
        return await self._scope.run_judge(self._judge, case)


def _report(counts: Counts, problem: str | None = None) -> pa.Table:
    """Return a worker's report to the program that started it, made after each batch."""
    return pa.table({**counts.to_columns(), PROBLEM: pa.array([problem], pa.string())})


def pack_jury(jury: Judge | Callable[[], Judge] | str | Path) -> Path | bytes:
    """Return what is sent to the workers: the path of a jury file, or a pickle without any key in it.

    Raises:
        ConfigurationError: the object is not a jury, or cannot be pickled; the message says what to do.
    """
    if isinstance(jury, str | Path):
        path = Path(jury).absolute()
        if not path.is_file():
            raise ConfigurationError(f"{jury}: there is no such jury file")
        return path
    if not isinstance(jury, Judge) and not callable(jury):
        raise ConfigurationError(
            f"a jury is a judge, the path of a jury file, or a function without arguments that makes one; "
            f"not {plain_repr(jury)}"
        )
    try:
        packed: bytes = cloudpickle.dumps(jury)
    except Exception as error:
        raise ConfigurationError(
            f"this jury cannot be sent to workers ({error}); give the path of a jury file, or a function without "
            "arguments that makes the jury on the worker"
        ) from error
    return packed


def build_judge(packed: Path | bytes, permissions: Permissions) -> Judge:
    """Build the jury on the worker. Keys come from the worker's own environment.

    Args:
        packed: the result of :func:`pack_jury`.
        permissions: the permissions of a jury file.

    Raises:
        ConfigurationError: the jury cannot be built here; the message says why.
    """
    try:
        if isinstance(packed, Path):
            return load_jury(packed, allow_commands=permissions.commands, allow_base_url=permissions.base_url)
        found = cloudpickle.loads(packed)
        judge = found if isinstance(found, Judge) else found()
    except JuryError:
        raise
    except Exception as error:  # for example because of something that the user's function needs and this machine lacks
        raise ConfigurationError(
            f"the jury cannot be made here ({type(error).__name__}: {error}); modules, files and keys that it needs "
            "must be there on every worker"
        ) from error
    if not isinstance(judge, Judge):
        raise ConfigurationError(f"the function made no judge, but {type(judge).__name__}")
    return judge
