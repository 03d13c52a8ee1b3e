"""Many agents at once under one handler: each judged once, and everything back to where it was."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter

import pytest
from langchain.agents import create_agent
from support.examples import SLOW
from support.garbage import collect_garbage
from support.langchain_apps import Scripted, Watched, ask, call, weather

RUNS = 200 if SLOW else 100


@pytest.mark.slow
def test_many_agents_at_64_at_once() -> None:
    watched = Watched()
    app = create_agent(Scripted(script=[call("weather", city="Oslo"), "It is 80F."], delay=0.01), tools=[weather])

    async def all_of_them() -> int:
        slots = asyncio.Semaphore(64)

        async def one(number: int) -> None:
            async with slots:
                await app.ainvoke(ask(f"q{number}"), watched.config)

        await asyncio.gather(*(one(number) for number in range(RUNS)))
        assert await watched.handler.aflush(20)
        return len(asyncio.all_tasks())

    assert asyncio.run(all_of_them()) == 1
    cases = watched.cases()
    assert Counter(case.question for case in cases) == Counter(f"q{number}" for number in range(RUNS))
    assert all(case.answer == "It is 80F." and len(case.trajectory) == 1 for case in cases)
    assert watched.handler.counts.judged == RUNS
    assert watched.handler.counts.dropped == 0


@pytest.mark.slow
def test_nothing_is_kept_of_runs_that_are_judged() -> None:
    watched = Watched()
    app = create_agent(Scripted(script=[call("weather", city="Oslo"), "It is 80F."]), tools=[weather])

    def runs(number: int) -> int:
        for _ in range(number):
            app.invoke(ask("q"), watched.config)
        watched.all()
        watched.runs.clear()
        collect_garbage()
        return sum(type(thing).__name__ in ("FinishedRun", "_Open", "Found", "ToolCall") for thing in gc.get_objects())

    before = runs(30)
    threads = threading.active_count()
    assert runs(40) <= before
    assert threading.active_count() < threads + 20  # a pool may still grow; a thread kept by each run would be 40 more
