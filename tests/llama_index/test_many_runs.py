"""Many runs at once: each is judged once, and nothing is left behind."""

import asyncio
import sys
import threading
from itertools import pairwise

import pytest
from support.garbage import collect_garbage
from support.llama_apps import Model, Verdicts, an_index, says_paris

from jury_adapters import Case, Judge
from jury_adapters.core import event_loop
from jury_adapters.llama_index import judge_runs
from jury_adapters.llama_index.run_tracking import inside

INDEX = an_index()


def watched(runs: int, at_once: int, judge: Judge | None = None, **options: int) -> tuple[Verdicts, object]:
    verdicts = Verdicts()
    engine = INDEX.as_query_engine(llm=Model(delay=0.05))

    async def main() -> None:
        gate = asyncio.Semaphore(at_once)

        async def one(number: int) -> None:
            async with gate:
                await engine.aquery(f"question {number}")
                assert inside() is None

        async with judge_runs(judge or says_paris(), on_verdict=verdicts, **options) as watch:
            await asyncio.gather(*(one(number) for number in range(runs)))
            assert await watch.aflush(60)
            assert not watch._open
            assert not watch.open_spans
        assert asyncio.all_tasks() == {asyncio.current_task()}
        counts.append(watch.counts)

    counts: list[object] = []
    asyncio.run(main())
    return verdicts, counts[0]


@pytest.mark.slow
def test_each_of_many_runs_at_once_is_judged_once_and_no_task_is_left():
    watched(20, 20)
    threads = threading.active_count()
    verdicts, counts = watched(120, 64)
    assert sorted(judged.case.question for judged in verdicts) == sorted(f"question {n}" for n in range(120))
    assert len({judged.run.id for judged in verdicts}) == 120
    assert (counts.judged, counts.dropped, counts.abandoned, counts.broken) == (120, 0, 0, 0)
    assert threading.active_count() <= threads + 20  # the pool that plain sinks run in, which is kept

    async def tasks_of_the_portal() -> int:
        return len(asyncio.all_tasks()) - 1

    assert event_loop.run(tasks_of_the_portal) == 0


@pytest.mark.slow
def test_memory_stays_flat():
    kept = []
    for _ in range(6):
        watched(40, 40)
        collect_garbage()
        kept.append(sys.getallocatedblocks())
    # Whatever is kept of each run grows in every round, by a block of memory per run at least. The tables of the
    # interpreter grow in some.
    growths = [after - before for before, after in pairwise(kept)]
    assert min(growths) < 20, growths


@pytest.mark.slow
def test_more_runs_than_may_wait_are_dropped_counted_and_unharmed():
    async def slowly(case: Case) -> bool:
        await asyncio.sleep(0.1)
        return True

    verdicts, counts = watched(60, 60, Judge.from_function(slowly), max_pending=5, max_concurrency=1)
    assert counts.judged == len(verdicts)
    assert counts.judged + counts.dropped == 60
    assert counts.dropped > 0
