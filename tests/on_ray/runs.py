"""Runs on two local workers, disturbed or not, and what became of their cases; for the tests and the table."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from jury_adapters import Case, Limits
from tests.on_ray import juries
from tests.support.vendor import Act, Ask, VendorServer

WORKERS = 2

Disturb = Callable[[Path, Path], str]
"""Gets the folder of the results and that of the workers' process numbers; says what it did."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run.

    Attributes:
        cases: how many cases there were.
        delivered: how many results there are.
        lost: cases without a result.
        doubled: results beyond one per case.
        right: results that are what they must be: equal to one process, or what the server said.
        seconds: how long it took.
        disturbed: what was done to it.
        asked: when each request reached the server.
        most_in_flight: of them.
    """

    cases: int
    delivered: int
    lost: int
    doubled: int
    right: int
    seconds: float
    disturbed: str = ""
    asked: list[float] = field(default_factory=list)
    most_in_flight: int = 0

    @property
    def whole(self) -> bool:
        """Whether every case has one result, and the right one."""
        return self.delivered == self.right == self.cases and not self.lost and not self.doubled


def recorded_run(count: int, folder: Path, *, seconds: float = 0.0, disturb: Disturb | None = None) -> Outcome:
    """Judge recorded votes on the workers, and compare every verdict with that of one process."""
    from jury_adapters.ray import judge_dataset

    rows = juries.written(folder / "rows.jsonl", juries.recorded_rows(count))
    out, pids = _folders(folder)
    jury = partial(juries.slow, str(pids), seconds) if seconds else juries.recorded
    started = time.monotonic()
    with _Hand(disturb, out, pids) as hand:
        results = judge_dataset(rows, jury, out=out, workers=WORKERS, batch_size=128, max_concurrency=64)
    took = time.monotonic() - started
    found = [(json.loads(row["metadata"])["item_id"], row["canonical_json"]) for row in results.iter_rows()]
    expected = _one_process(count)
    return Outcome(
        count, len(found), *_missing_and_doubled(expected, [item for item, _ in found]),
        sum(expected.get(item) == text for item, text in found), took, hand.told,
    )  # fmt: skip


def http_run(
    count: int, folder: Path, limits: Limits, *, disturb: Disturb | None = None, store: bool = False,
    plan: Callable[[Ask], Act] = lambda ask: Act(delay=0.05),
) -> Outcome:  # fmt: skip
    """Judge over HTTP on the workers, two jurors a case, with limits that both workers and both jurors share."""
    from jury_adapters.ray import judge_dataset

    asked: list[float] = []

    def noted(ask: Ask) -> Act:
        asked.append(time.monotonic())
        return plan(ask)

    rows = juries.written(folder / "rows.jsonl", juries.numbered_rows(count))
    out, pids = _folders(folder)
    with VendorServer(noted) as server:
        jury = partial(juries.panel, server.openai, str(pids), limits)
        started = time.monotonic()
        with _Hand(disturb, out, pids) as hand:
            results = judge_dataset(
                rows, jury, out=out, workers=WORKERS, batch_size=16, max_concurrency=16, limits={"openai": limits},
                store=folder / "runs.db" if store else None,
            )  # fmt: skip
        took = time.monotonic() - started
        most = server.most_in_flight
    expected = {row["response"]: "FAIL" if row["response"].endswith("NO") else "PASS" for row in _numbered(count)}
    found = [(row["answer"], row["status"]) for row in results.iter_rows()]
    return Outcome(
        count, len(found), *_missing_and_doubled(expected, [item for item, _ in found]),
        sum(expected.get(item) == status for item, status in found), took, hand.told, asked, most,
    )  # fmt: skip


def kill_a_worker(out: Path, pids: Path) -> str:
    """Kill the busier of the workers once some parts are there."""
    while len(list(out.glob("part-*"))) < 4:
        time.sleep(0.01)
    # Whoever built the jury left a number here; some may have ended since.
    os.kill(max((int(path.name) for path in pids.iterdir()), key=_cpu_ticks), signal.SIGKILL)
    return f"kill -9 of a worker after {len(list(out.glob('part-*')))} parts"


def kill_the_rate_server(out: Path, pids: Path) -> str:
    """Kill the actor that keeps the rates; Ray starts it again."""
    import ray

    from jury_adapters.ray.actors import RATE_SERVER_NAME

    while len(list(out.glob("part-*"))) < 2:
        time.sleep(0.01)
    ray.kill(ray.get_actor(RATE_SERVER_NAME), no_restart=False)
    return f"rate server killed after {len(list(out.glob('part-*')))} parts"


def _cpu_ticks(process: int) -> int:
    """The CPU time a process has used; -1 for one that has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return -1


class _Hand:
    """Disturbs a run from a thread of its own."""

    def __init__(self, disturb: Disturb | None, out: Path, pids: Path) -> None:
        self.told = ""
        self._disturb = disturb
        self._thread = threading.Thread(target=self._act, args=(out, pids), daemon=True)

    def _act(self, out: Path, pids: Path) -> None:
        if self._disturb is not None:
            self.told = self._disturb(out, pids)

    def __enter__(self) -> _Hand:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(10)


def _folders(folder: Path) -> tuple[Path, Path]:
    out, pids = folder / "out", folder / "pids"
    pids.mkdir(exist_ok=True)
    return out, pids


def _one_process(count: int) -> dict[str, str]:
    cases = [Case.from_row(row) for row in juries.recorded_rows(count)]
    said = (verdict.canonical_json() for verdict in juries.recorded().judge_many(cases))
    return {str(case.metadata["item_id"]): text for case, text in zip(cases, said, strict=True)}


def _numbered(count: int) -> list[dict[str, str]]:
    return list(juries.numbered_rows(count))


def _missing_and_doubled(expected: dict[str, str], found: list[str]) -> tuple[int, int]:
    times = Counter(found)
    return len(expected.keys() - times.keys()), sum(times.values()) - len(times)
