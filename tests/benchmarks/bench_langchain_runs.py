"""Cost of a judging callback for an application: latency of agent runs with and without it, and the CPU that it adds.

Run it from the repository: ``python tests/benchmarks/bench_langchain_runs.py``. An agent with one tool, whose model
sleeps before each answer, is run many times, with many runs at once. The jury is made of plain functions. Runs with and
without the callback take turns, so that other load on the machine affects both alike. The benchmark also checks that
each run has exactly one verdict, that memory is flat, that the number of tasks is the same as before, and that there
are no more threads than sinks may have at once.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import statistics
import sys
import threading
import tracemalloc
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from langchain.agents import create_agent
from support.langchain_apps import Scripted, Watched, a_jury, ask, call, weather

SINK_THREADS = min(32, (os.cpu_count() or 1) + 4)
"""Plain sinks are called in asyncio's own pool of threads: as many as it needed stay and wait for work, never more."""


@dataclass
class Round:
    """One round of runs.

    Attributes:
        latencies: seconds of each run.
        cpu_s: CPU of the whole process, judging included.
    """

    latencies: list[float]
    cpu_s: float


async def one_round(app: Any, runs: int, at_once: int, config: Any, watched: Watched | None) -> Round:
    """Run the agent ``runs`` times, and wait for the verdicts."""
    slots = asyncio.Semaphore(at_once)
    latencies: list[float] = []

    async def one(number: int) -> None:
        async with slots:
            started = perf_counter()
            await app.ainvoke(ask(f"question {number}"), config)
            latencies.append(perf_counter() - started)

    cpu = process_time()
    await asyncio.gather(*(one(number) for number in range(runs)))
    if watched is not None:
        assert await watched.handler.aflush(60)
    assert len(asyncio.all_tasks()) == 1, "tasks are left over"
    return Round(latencies, process_time() - cpu)


async def measure(arguments: argparse.Namespace) -> None:
    """Measure, print, and check."""
    script = [call("weather", city="Oslo"), "It is 80F in Oslo."]
    app = create_agent(Scripted(script=script, delay=arguments.sleep), tools=[weather])
    per_round = arguments.runs // arguments.rounds
    plain: list[Round] = []
    judged: list[Round] = []
    verdicts: Counter[str] = Counter()
    kept: list[int] = []
    watched = Watched(a_jury())
    await one_round(app, arguments.at_once, arguments.at_once, watched.config, watched)  # threads, caches
    watched.runs.clear()
    threads = threading.active_count()
    for _ in range(arguments.rounds):
        plain.append(await one_round(app, per_round, arguments.at_once, None, None))
        judged.append(await one_round(app, per_round, arguments.at_once, watched.config, watched))
        verdicts.update(run.run.id for run in watched.runs)
        watched.runs.clear()
        gc.collect()
        kept.append(sum(1 for _ in gc.get_objects()))
    total = per_round * arguments.rounds
    medians = [statistics.median(s for one in rounds for s in one.latencies) for rounds in (plain, judged)]
    added = statistics.median(
        (after.cpu_s - before.cpu_s) / per_round for before, after in zip(plain, judged, strict=True)
    )
    print(f"{total} agent runs, {arguments.at_once} at once, models that sleep {arguments.sleep * 1000:.0f} ms")
    print(f"median latency without the callback: {medians[0] * 1000:8.1f} ms")
    print(f"median latency with it:              {medians[1] * 1000:8.1f} ms")
    print(f"ratio:                               {medians[1] / medians[0]:8.3f}")
    print(f"CPU per run without it:              {sum(one.cpu_s for one in plain) / total * 1e6:8.0f} us")
    print(f"CPU added per run, judging included: {added * 1e6:8.0f} us (median of {arguments.rounds} rounds)")
    print(f"verdicts:                            {sum(verdicts.values())}, of {len(verdicts)} runs")
    print(f"objects alive after each round:      {kept}")
    print(f"largest memory of the process:       {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MiB")
    print(f"threads before and after:            {threads}, {threading.active_count()}")
    assert len(verdicts) == total, "a run has no verdict"
    assert max(verdicts.values()) == 1, "a run has two verdicts"
    assert watched.handler.counts.dropped == watched.handler.counts.open == watched.handler.counts.evicted == 0
    assert threading.active_count() <= threads + SINK_THREADS
    print("memory kept per run:                ", await memory(app, arguments, watched))


async def memory(app: Any, arguments: argparse.Namespace, watched: Watched) -> str:
    """Traced memory that a round leaves; the rounds before it fill bounded collections (ids of the last runs)."""
    tracemalloc.start()
    sizes = []
    for _ in range(5):
        await one_round(app, 200, arguments.at_once, watched.config, watched)
        watched.runs.clear()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return f"{(sizes[-1] - sizes[-2]) / 200:.0f} bytes"


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--sleep", type=float, default=0.05, help="seconds each answer of the model takes")
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
