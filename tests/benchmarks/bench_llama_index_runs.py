"""Cost of judging runs as they happen: the same queries with and without a jury that watches.

Run it by hand: ``python tests/benchmarks/bench_llama_index_runs.py [runs] [at once] [seconds]``.
The last argument is the time that the model takes. Rounds with and without a jury alternate, so that other load on the
machine affects both alike; the medians of their pairs are reported. The benchmark prints the latency of a run
with and without a jury, their ratio, and the CPU that watching and judging add per run.

LlamaIndex itself takes milliseconds of CPU per query. If this time, multiplied by the number of runs at once, exceeds
the time of the model, the process is saturated, and any added CPU increases the latency.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.llama_apps import Model, an_index, says_paris

from jury_adapters.core.background.judge_queue import JudgedRun
from jury_adapters.llama_index import judge_runs

ROUNDS = 7


class Round(NamedTuple):
    """One round of queries.

    Attributes:
        latencies: seconds each run took, as its caller saw it.
        cpu: CPU seconds of the whole process, judging included.
        tasks: tasks left on the caller's loop.
    """

    latencies: list[float]
    cpu: float
    tasks: int


def run_many(runs: int, at_once: int, delay: float = 0.05) -> Round:
    """Put ``runs`` queries to an engine whose model takes ``delay`` seconds, ``at_once`` of them at a time."""
    engine = an_index().as_query_engine(llm=Model(delay=delay))
    latencies: list[float] = []

    async def main() -> int:
        gate = asyncio.Semaphore(at_once)

        async def one(number: int) -> None:
            async with gate:
                started = time.perf_counter()
                await engine.aquery(f"question {number}")
                latencies.append(time.perf_counter() - started)

        await asyncio.gather(*(one(number) for number in range(runs)))
        return len(asyncio.all_tasks()) - 1

    started = time.process_time()
    tasks = asyncio.run(main())
    return Round(latencies, time.process_time() - started, tasks)


def run_watched(runs: int, at_once: int, delay: float = 0.05) -> tuple[Round, list[JudgedRun]]:
    """The same with a jury watching; its CPU includes the judging to the last verdict."""
    verdicts: list[JudgedRun] = []
    started = time.process_time()
    with judge_runs(says_paris(), on_verdict=verdicts.append, max_pending=runs) as watch:
        done = run_many(runs, at_once, delay)
        watch.flush(60)
    return done._replace(cpu=time.process_time() - started), verdicts


def main(runs: int = 1000, at_once: int = 64, delay: float = 0.05) -> None:
    run_many(50, at_once)
    run_watched(50, at_once)
    threads = threading.active_count()
    plain, watched, judged = [], [], set()
    for _ in range(ROUNDS):
        plain.append(run_many(runs, at_once, delay))
        done, verdicts = run_watched(runs, at_once, delay)
        watched.append(done)
        judged |= {one.run.id for one in verdicts}
        assert len(verdicts) == runs, len(verdicts)
    assert len(judged) == ROUNDS * runs
    print(f"{runs} runs, {at_once} at once, a model of {delay * 1e3:.0f} ms, {ROUNDS} pairs of rounds")
    print(f"{len(judged)} verdicts, none twice")
    before, after = ([median(one.latencies) for one in rounds] for rounds in (plain, watched))
    ratios = sorted(later / earlier for earlier, later in zip(before, after, strict=True))
    print(
        f"latency of a run: {median(before) * 1e3:.1f} ms without, {median(after) * 1e3:.1f} ms with, "
        f"ratio {median(ratios):.3f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )
    again = sorted(later / earlier for earlier, later in pairwise(before))
    print(f"the same from one round without to the next: {median(again):.3f} ({again[0]:.2f} to {again[-1]:.2f})")
    without = median(one.cpu for one in plain) / runs * 1e6
    added = median(later.cpu - earlier.cpu for earlier, later in zip(plain, watched, strict=True)) / runs * 1e6
    print(f"CPU per run: {without:.0f} us without, {added:.0f} us added")
    print(f"threads: {threads} before, {threading.active_count()} after; tasks left: {watched[-1].tasks}")
    tracemalloc.start()
    run_watched(runs, at_once)
    first = tracemalloc.get_traced_memory()[0]
    run_watched(runs, at_once)
    print(f"memory kept by {runs} further judged runs: {(tracemalloc.get_traced_memory()[0] - first) / 1024:.0f} KiB")


if __name__ == "__main__":
    numbers = sys.argv[1:]
    main(*map(int, numbers[:2]), *map(float, numbers[2:3]))
