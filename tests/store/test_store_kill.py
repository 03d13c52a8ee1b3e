"""`kill -9` at random moments: nothing that was acknowledged is lost, and nothing but calls in flight is paid twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from store_support import keys

from jury_adapters.core.judgment import Judgment
from jury_adapters.store import Store

COUNT, AT_ONCE, KILLS = 1000, 64, 3
VICTIM = """
import asyncio, os, sys
from store_support import CASE, keys, passed
from jury_adapters.core.store import get_or_ask
from jury_adapters.store import Store

paid = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
given = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
places = iter(keys(int(sys.argv[4])))

async def worker(store):
    for key in places:
        async def ask(key=key):
            await asyncio.sleep(0.001)
            os.write(paid, f"{key.case}\\n".encode())
            return passed(key.case)
        judgment = await get_or_ask(store, key, CASE, ask)
        assert judgment.reasoning == key.case and "store_error" not in judgment.metadata
        os.write(given, f"{key.case}\\n".encode())

async def main():
    with Store(sys.argv[1]) as store:
        await asyncio.gather(*(worker(store) for _ in range(int(sys.argv[5]))))
asyncio.run(main())
"""


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def count_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_run_that_is_killed_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    dice = random.Random(11)
    store, paid, given = tmp_path / "runs.db", tmp_path / "paid", tmp_path / "given"
    command = [sys.executable, "-c", VICTIM, *map(str, (store, paid, given, COUNT, AT_ONCE))]
    in_flight = 0
    for kill in range(KILLS):
        process = subprocess.Popen(command, cwd=Path(__file__).parent)
        moment = (kill + 1) * COUNT // (KILLS + 2)
        while count_of(paid) < moment and process.poll() is None:
            time.sleep(0.005)
        time.sleep(dice.uniform(0, 0.03))
        assert process.poll() is None, "the run ended before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        judgments = durable(store)
        assert set(lines(given)) <= judgments.keys(), "handed out before it was durable"
        in_flight += len(set(lines(paid)) - judgments.keys())
    assert subprocess.run(command, cwd=Path(__file__).parent, check=False, timeout=100).returncode == 0
    judgments = durable(store)
    assert judgments.keys() == {key.case for key in keys(COUNT)}
    assert all(judgment.reasoning == case for case, judgment in judgments.items())
    times = Counter(lines(paid))
    assert times.total() - COUNT == in_flight <= KILLS * AT_ONCE
    assert set(lines(given)) == judgments.keys()


def durable(path: Path) -> dict[str, Judgment]:
    with Store(path) as store:
        return {key.case: judgment for key, _, judgment in store.judgments()}
