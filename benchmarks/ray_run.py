"""A run on Ray with two workers and a store in PostgreSQL, of which one worker is killed: nothing is lost or doubled.

    python benchmarks/ray_run.py --cases 100000

It starts a PostgreSQL server of its own (Debian's package ``postgresql``) and a Ray of its own. Models are functions
that answer after ``--delay`` seconds and note each call. It prints the rows, what the store holds, and the calls that
were made twice: those in flight when the worker was killed.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "ray_batches"), str(TESTS / "store")]
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(TESTS / "ray_batches"), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]
)
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=100_000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--delay", type=float, default=0.2, help="seconds of one call")
    options.add_argument("--in-flight", type=int, default=64, help="cases that a worker judges at once")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(JURY_TEST_CALLS=folder, JURY_TEST_DELAY=str(given.delay))
        print(json.dumps(run(given, Path(folder)), indent=1))


def run(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    import ray
    from postgres_server import PostgresServer
    from ray_juries import make

    from jury_adapters.ray import judge_dataset
    from jury_adapters.store import open_store

    ray.init(
        address="local", num_cpus=given.workers + 2, include_dashboard=False, log_to_driver=False,
        logging_level=logging.ERROR, object_store_memory=200_000_000,
    )  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    with PostgresServer() as server:
        url = server.database("runs")
        rows = ray.data.range(given.cases, override_num_blocks=max(4, given.cases // 2000)).map_batches(cases)
        killed: list[int] = []
        killer = threading.Thread(target=kill, args=(folder, given.cases // 4, killed))
        killer.start()
        started = time.perf_counter()
        judged = judge_dataset(rows, make, workers=given.workers, store=url, max_concurrency=given.in_flight)
        found = [(row["id"], row["jury_status"]) for row in judged.select_columns(["id", "jury_status"]).iter_rows()]
        seconds = time.perf_counter() - started
        killer.join()
        with open_store(url) as store:
            stored = store.counts()
    ray.shutdown()
    calls = called(folder)
    return {
        "cases": given.cases,
        "seconds": round(seconds, 1),
        "worker_killed": len(killed),
        "rows": len(found),
        "different_rows": len({name for name, _ in found}),
        "statuses": dict(Counter(status for _, status in found)),
        "judgments_in_the_store": dict(stored),
        "calls": calls.total(),
        "cases_without_a_call": given.cases - len(calls),
        "calls_made_twice": calls.total() - len(calls),
    }


def cases(batch: dict[str, object]) -> dict[str, object]:
    numbers = [int(number) for number in batch["id"]]  # type: ignore[attr-defined]
    return {
        "id": [str(number) for number in numbers],
        "question": ["Is it so?" for _ in numbers],
        "answer": [f"Answer number {number}." for number in numbers],
    }


def kill(folder: Path, after: int, killed: list[int]) -> None:
    """Kill a worker once so many calls were made."""
    while called(folder).total() < after:
        time.sleep(0.5)
    worker = int(next(folder.iterdir()).name)
    killed.append(worker)
    os.kill(worker, 9)


def called(folder: Path) -> Counter[str]:
    return Counter(line for file in folder.iterdir() for line in file.read_text().split("\n")[:-1])


if __name__ == "__main__":
    main()
