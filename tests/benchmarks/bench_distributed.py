"""The figures that ``simulate_scale.py`` needs and no other benchmark gives; takes about ten seconds.

Run it from the repository, with the extra ``ray`` installed: ``python tests/benchmarks/bench_distributed.py``. No
cluster is started. Per case: CPU to read its row and write its result, bytes of the result; per judgment: durable
puts per second and bytes in a store; per worker: its memory.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).parents[2]))

import pyarrow as pa

from jury_adapters import Case, Judgment, Status, Store, Usage
from jury_adapters.core.cache import CacheKey
from jury_adapters.ray.counts import Counts
from jury_adapters.ray.parts import Folder, record
from jury_adapters.ray.reading import _POSITION, _PROBLEM, _ROW, placed_rows
from jury_adapters.ray.worker import JudgeRows  # noqa: F401  loads what a worker loads
from tests.on_ray import juries

CASES = 2048
WORDS = "It says what was asked and what the passages have to say about it, at the length of a real answer. " * 6


def rows_and_parts(folder: Path) -> tuple[float, float]:
    """CPU seconds per case to read its row and write its result, and the bytes of the result."""
    import json

    rows = [{**row, "question": WORDS[:200] + str(n), "answer": WORDS + str(n)} for n, row in
            enumerate(juries.recorded_rows(CASES))]  # fmt: skip
    batch = pa.table({
        _POSITION: [str(n) for n in range(CASES)], _ROW: [json.dumps(row) for row in rows],
        _PROBLEM: pa.array([None] * CASES, pa.string()),
    })  # fmt: skip
    judge, out = juries.recorded(), Folder(folder / "out")
    out.create()
    started = process_time()
    placed = placed_rows(batch)
    read = process_time() - started
    verdicts = [judge.judge(row.case) for row in placed]
    started = process_time()
    for first in range(0, CASES, 256):
        pairs = zip(placed[first : first + 256], verdicts[first : first + 256], strict=True)
        records = [record(row.position, row.identity, row.case, verdict) for row, verdict in pairs]
        out.write(f"part-{first}.parquet", records, Counts())
    spent = read + process_time() - started
    size = sum(file.stat().st_size for file in (folder / "out").iterdir())
    return spent / CASES, size / CASES


def store(folder: Path) -> tuple[float, float]:
    """Durable judgments per second, and the bytes of one."""
    count = 10_000

    async def put(cache: Store) -> None:
        room = asyncio.Semaphore(1024)

        async def one(number: int) -> None:
            async with room:
                case = Case(question="?", answer=WORDS + str(number // 3))
                said = Judgment(
                    Status.PASS, score=1.0, reasoning=WORDS[:200], usage=Usage(900, 90, calls=1, cost_usd=0.1)
                )
                await cache.put(CacheKey(case.content_hash, "critic", "rubric", str(number)), case, said)

        await asyncio.gather(*(one(number) for number in range(count)))

    started = perf_counter()
    with Store(folder / "runs.db") as cache:
        asyncio.run(put(cache))
    took = perf_counter() - started
    size = sum(file.stat().st_size for file in folder.glob("runs.db*"))
    return count / took, size / count


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        spent, size = rows_and_parts(Path(name))
        print(f"row and result: {spent * 1000:.2f} ms CPU and {size:,.0f} bytes a case")
        rate, size = store(Path(name))
        print(f"store: {rate:,.0f} durable judgments a second, {size:,.0f} bytes each")
    print(f"a worker's memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:,.0f} MB at most")


if __name__ == "__main__":
    main()
