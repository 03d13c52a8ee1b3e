"""Judging of a dataset with many workers."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

# Ray sends usage reports to its vendor by default. A user can enable them in the environment.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
import ray.data

from jury_adapters.config.permissions import Permissions
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.core.formatting import counted, money
from jury_adapters.core.judge import Judge
from jury_adapters.models.limits import Limits
from jury_adapters.progress import open_bar
from jury_adapters.ray.actors import ledger_actor, rate_actor
from jury_adapters.ray.counts import Counts, Progress
from jury_adapters.ray.parts import Folder, table_of
from jury_adapters.ray.reading import Cases, read_cases
from jury_adapters.ray.worker import PROBLEM, JudgeRows, Task, pack_jury
from jury_adapters.store import AnyStore, place_of

if TYPE_CHECKING:
    from ray.data import Dataset

_log = logging.getLogger(__name__)

_JURY_NOTE, _SUMMARY_NOTE = "_jury.json", "_summary.json"


def judge_dataset(
    cases: Cases,
    jury: Judge | Callable[[], Judge] | str | Path,
    *,
    out: str | Path | None = None,
    workers: int = 2,
    max_concurrency: int = 64,
    batch_size: int = 256,
    limits: Mapping[str, Limits] | None = None,
    store: AnyStore | str | Path | None = None,
    resume: bool = True,
    progress: Callable[[Progress], None] | None = None,
    total: int | None = None,
    cpus_per_worker: float = 0.5,
    allow_commands: bool = False,
    allow_base_url: bool = False,
) -> Dataset:
    """Judge every row of a dataset. The verdicts are the same as on one machine.

    Args:
        cases: a Ray Dataset, whose columns may have the names of any framework; or a file, a folder or a pattern of
            JSON lines, JSON, CSV (each also gzipped) or Parquet. Other files of a folder are left out. Images that a
            row names by path are in the folder of its file.
        jury: the path of a jury file (workers read it there), a judge that can be pickled, or a function without
            arguments that makes one on the worker. Keys come from the worker's environment; a jury with a literal key
            is refused.
        out: the folder of the results, shared by all machines (or an address such as ``s3://bucket/run``). Each batch
            becomes a Parquet part there, whole or not at all. Without it, judging starts when the returned dataset is
            read, and nothing is resumed.
        workers: the number of processes that judge.
        max_concurrency: the maximum number of cases in progress on each worker.
        batch_size: cases per part. The work in progress of a lost worker is repeated, up to four batches.
        limits: limits for all workers together, by model (``"openai:gpt-4o"``) or by vendor (``"openai"``: all its
            models with one key together). The workers share the limits of other models too, each model by itself. A
            name that no model of the jury has is refused.
        store: the store of judgments, as for ``judge_many``. All workers must reach it. For several machines, use a
            URL, because a file must not be on a network file system.
        resume: whether to skip rows with a result in ``out``, also if it is an ERROR. Equal rows are counted: two rows
            and one result leave one to judge.
        progress: called after each part; see :func:`progress_bar`.
        total: the number of rows, for the estimate of the time to the end.
        cpus_per_worker: the CPUs that Ray reserves for each worker.
        allow_commands: whether a jury file may run programs on the workers; see :func:`load_jury`.
        allow_base_url: whether a jury file may send the workers' keys to its own addresses; see :func:`load_jury`.

    Returns:
        A dataset of the results of all runs into this folder. Its columns are the verdict (``status``, ``score``,
        ``label``, ``confidence``, ``agreement``, ``escalated``, ``error``, the usage, ``canonical_json``) and the
        case. An invalid row has an ERROR verdict with the reason.

    Raises:
        ConfigurationError: there is no such jury, it cannot be sent to workers, or the folder has results of another
            jury.
        InputError: there is no such file of cases, or it cannot be read.

    >>> results = judge_dataset("rows.jsonl", "jury.yaml", out="verdicts", workers=8)  # doctest: +SKIP
    """
    _check(workers=workers, max_concurrency=max_concurrency, batch_size=batch_size)
    packed = pack_jury(jury)
    if store is not None and isinstance(jury, Judge):
        jury.check_store()
    _connect()
    folder = None if out is None else Folder(out)
    earlier = [] if folder is None else _earlier_parts(folder, packed, resume)
    task = Task(
        jury=packed,
        permissions=Permissions(allow_commands, allow_base_url),
        run=uuid4().hex[:8],
        max_concurrency=max_concurrency,
        folder=folder,
        store=place_of(store) if isinstance(store, str | Path) else store,  # workers may run in another folder
        limits=dict(limits or {}),
        rates=rate_actor(),
        ledger=ledger_actor(folder, earlier) if folder is not None and earlier else None,
    )
    # Several batches per task, so that few tasks end with a half idle worker. Few enough for all workers to have some.
    rows = read_cases(cases).repartition(target_num_rows_per_block=max(8 * batch_size, 16 * max_concurrency))
    judged = rows.map_batches(
        JudgeRows,
        fn_constructor_kwargs={"task": task},
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=cpus_per_worker,
    )
    judged.context.enable_progress_bars = False  # our progress bar shows the cost too
    if folder is None:
        return judged
    _run(judged, folder, progress, total)
    parts = folder.paths()
    return ray.data.read_parquet(parts) if parts else ray.data.from_arrow(table_of([]))


def progress_bar(description: str = "judging") -> Callable[[Progress], None]:
    """Return a callback for ``judge_dataset(..., progress=...)`` that draws a bar with cost and errors."""
    bar = open_bar(description=description)

    def advance(so_far: Progress) -> None:
        counts = so_far.counts
        bar.total = so_far.total
        cost = money(counts.cost_usd, complete=not counts.unpriced)
        bar.set_postfix_str(f"{counted(counts.errors, 'error')}, {cost}", refresh=False)
        bar.update(counts.cases + counts.skipped - bar.n)
        if so_far.ended:
            bar.close()

    return advance


def read_summary(out: str | Path) -> Progress:
    """Return the summary of the last run into a folder.

    Raises:
        InputError: no run into this folder has ended.
    """
    text = Folder(out).note(_SUMMARY_NOTE)
    if text is None:
        raise InputError(f"{out}: no run has ended here")
    content = json.loads(text)
    return Progress(**{**content, "counts": Counts(**content["counts"])})


def _check(**counts: int) -> None:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ConfigurationError(f"{name} is a whole number from 1, not {plain_repr(value)}")


def _connect() -> None:
    """Connect to a running cluster, or start a small one on this machine, without dashboard and log output."""
    if ray.is_initialized():
        return
    if os.environ.get("RAY_ADDRESS"):
        ray.init()
        return
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.WARNING, _node_ip_address="127.0.0.1")


def _earlier_parts(folder: Folder, packed: Path | bytes, resume: bool) -> list[str]:
    """Return the parts that exist already. The folder must belong to the same jury."""
    folder.create()
    earlier = folder.parts()
    if earlier and not resume:
        raise ConfigurationError(f"{folder.where} holds results already; give another folder, or resume=True")
    # Only for a jury file a change can be detected; a pickle of the same jury differs from process to process.
    print_ = sha256(packed.read_bytes()).hexdigest() if isinstance(packed, Path) else None
    noted = json.loads(folder.note(_JURY_NOTE) or "{}").get("jury_file")
    if earlier and noted and print_ and noted != print_:
        raise ConfigurationError(
            f"{folder.where} holds results of another jury (the jury file has changed); give another folder"
        )
    folder.leave_note(_JURY_NOTE, json.dumps({"jury_file": print_}))
    return earlier


def _run(judged: Dataset, folder: Folder, progress: Callable[[Progress], None] | None, total: int | None) -> None:
    started, counts, parts = time.monotonic(), Counts(), 0
    for table in judged.iter_batches(batch_size=None, batch_format="pyarrow"):
        columns = table.to_pydict()
        problem = next(filter(None, columns.pop(PROBLEM)), None)
        if problem is not None:
            raise ConfigurationError(f"a worker cannot judge: {problem}")
        counts += Counts.from_columns(columns)
        parts += table.num_rows
        if progress is not None:
            progress(Progress(counts, time.monotonic() - started, total, parts))
    summary = Progress(counts, time.monotonic() - started, total, parts, ended=True)
    folder.leave_note(_SUMMARY_NOTE, json.dumps(asdict(summary)))
    if progress is not None:
        progress(summary)
    _log.info("%s", summary)
