"""Speed of the SQLite store, beside version 0.2, in one run.

Each round runs both versions in turn, in processes of their own, in one folder. Printed are medians, and the ratios of
the rounds. A judgment is durable when it is counted, so the disk decides much of the time; CPU is counted apart.

Usage: python benchmarks/bench_store.py FOLDER_OF_0.2 [ROUNDS]
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from time import perf_counter, process_time

HERE = Path(__file__).resolve()
COUNT, WRITERS, SPREAD = 6_000, 64, 1_000
TEXT = "The ferry between the islands stopped running in 2018, after forty years. "


def measure(version: str, folder: str) -> dict[str, float]:
    """Return what was measured, in this process."""
    from jury_adapters import Case, Judgment, Status

    if version == "1.0":
        from jury_adapters.core.store import Key, get_or_ask
        from jury_adapters.store import Store

        judgment = Judgment(status=Status.PASS, score=1.0, reasoning=TEXT * 4, critic="truth", model="gpt")
        keys = [Key(f"{number // 3:032}", f"{number % 3:032}", 0) for number in range(COUNT)]

        async def ask(store: object, number: int, call: Callable[[], Awaitable[Judgment]]) -> Judgment:
            return await get_or_ask(store, keys[number], cases[number // 3], call)  # type: ignore[arg-type]

    else:
        from jury_adapters.core.cache import CacheKey, get_or_run  # type: ignore[import-not-found]

        from jury_adapters import Store  # type: ignore[no-redef]

        judgment = Judgment(Status.PASS, score=1.0, reasoning=TEXT * 4, critic="truth", model="gpt")  # type: ignore
        keys = [CacheKey(f"{number // 3:032}", f"{number % 3:032}", "rubric", "0") for number in range(COUNT)]

        async def ask(store: object, number: int, call: Callable[[], Awaitable[Judgment]]) -> Judgment:
            return await get_or_run(keys[number], cases[number // 3], store, call)  # type: ignore[no-any-return]

    cases = [Case(question=TEXT, answer=f"{number} {TEXT}", contexts=[TEXT * 20]) for number in range(COUNT // 3)]
    dice = Random(7)

    async def at_once() -> Judgment:
        return judgment

    async def later() -> Judgment:
        await asyncio.sleep(dice.random())
        return judgment

    found: dict[str, float] = {}
    runs = {
        f"{WRITERS} writers": (WRITERS, COUNT, at_once),
        f"{WRITERS} readers": (WRITERS, COUNT, at_once),
        "1 writer": (1, 200, at_once),
        f"{SPREAD:,} calls of 0 to 1 s": (SPREAD, COUNT, later),
    }
    for place, (name, (workers, count, call)) in enumerate(runs.items()):
        # The second run finds what the first has stored.
        with Store(Path(folder, f"{version}-{0 if place == 1 else place}.db")) as store:
            wall, cpu = asyncio.run(timed(workers, count, lambda number, s=store, c=call: ask(s, number, c)))
        found[f"{name}, µs of time"], found[f"{name}, µs of CPU"] = 1e6 * wall / count, 1e6 * cpu / count
    return found


async def timed(workers: int, count: int, work: Callable[[int], Awaitable[object]]) -> tuple[float, float]:
    """Return the seconds, and those of CPU, of so much work by so many workers at once."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await work(number)

    started, cpu = perf_counter(), process_time()
    await asyncio.gather(*(worker() for _ in range(workers)))
    return perf_counter() - started, process_time() - cpu


def main(old: str, rounds: int) -> None:
    """Run both versions in turn and print the table."""
    sources = {"0.2": str(Path(old).resolve()), "1.0": str(HERE.parents[1])}
    found: dict[str, list[dict[str, float]]] = {version: [] for version in sources}
    for _ in range(rounds):
        for version, source in sources.items():
            with tempfile.TemporaryDirectory(dir=".") as folder:
                command = [sys.executable, str(HERE), "--measure", version, folder]
                environment = {**os.environ, "PYTHONPATH": source}
                said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            found[version].append(json.loads(said.stdout))
    print(
        f"{'per judgment, medians of ' + str(rounds) + ' rounds':40}{'0.2':>8}{'1.0':>8}   1.0 / 0.2 (lowest, highest)"
    )
    for name in found["1.0"][0]:
        before, after = ([one[name] for one in found[version]] for version in ("0.2", "1.0"))
        ratios = [new / past for past, new in zip(before, after, strict=True)]
        print(
            f"{name:40}{statistics.median(before):8.0f}{statistics.median(after):8.0f}   "
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f}, {max(ratios):.2f})"
        )


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(*sys.argv[2:])))
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
