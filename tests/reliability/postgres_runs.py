"""Runs with a store in PostgreSQL: many processes at once, and a server that is killed meanwhile."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jury_adapters import Judgment
from jury_adapters.store import AnyStore, Entry, open_store
from tests.reliability.panel import JURORS, cases, panel, truth
from tests.reliability.postgres_writer import is_error, key_of
from tests.support.postgres import PostgresServer
from tests.support.vendor import Act, VendorServer

WRITER = Path(__file__).with_name("postgres_writer.py")
AWAY_S = 1.0


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        run: what was done.
        kills: how often the server was killed and brought back.
        put: how many judgments were put, or asked for.
        kept: how many there are to serve at the end.
        errors: how many ERROR rows there are at the end.
        lost: judgments that were said to be durable and are not there, or are not right.
        doubled: rows too many, and requests too many for what was durable.
        refused: judgments that the store did not take.
        seconds: how long it took.
    """

    run: str
    kills: int
    put: int
    kept: int
    errors: int
    lost: int
    doubled: int
    refused: int
    seconds: float

    @property
    def good(self) -> bool:
        """Whether nothing was lost, doubled or refused."""
        return self.lost == self.doubled == self.refused == 0 and self.kept > 0


def each_its_own(server: PostgresServer, name: str, processes: int, each: int, kills: int = 0) -> Row:
    """Processes that write judgments of their own, while the server is killed now and then."""
    ranges = [(each * number, each * (number + 1)) for number in range(processes)]
    return _written(server, name, f"{processes} processes, each its own", ranges, kills)


def all_the_same(server: PostgresServer, name: str, processes: int, each: int, kills: int = 0) -> Row:
    """Processes that all write the same judgments, each with its own reasoning: the first stays."""
    return _written(server, name, f"{processes} processes, all the same", [(0, each)] * processes, kills)


def a_jury(server: PostgresServer, name: str, count: int, kills: int) -> Row:
    """A jury of three critics over real HTTP, in one process; the server is killed meanwhile."""
    started = time.monotonic()
    url, total = server.database(name), count * JURORS
    with VendorServer(lambda ask: Act(delay=0.002)) as vendor:

        def judged(store: AnyStore) -> list[Judgment]:
            jury = panel(vendor.openai, vendor.anthropic)
            return list(jury.judge_many(cases(count), store=store, max_concurrency=16))

        moments = [total * (kill + 1) // (kills + 2) for kill in range(kills)]
        with open_store(url) as store:
            with _kills(server, moments, lambda: len(vendor.asks)):
                verdicts = judged(store)
            requests = len(vendor.asks)
            again, kept = judged(store), store.count()
        paid_again = len(vendor.asks) - requests
    judgments = [judgment for verdict in verdicts for judgment in getattr(verdict, "judgments", ())]
    wrong = sum(verdict.status is not truth(number) for number, verdict in enumerate(verdicts))
    wrong += sum(one.status is not other.status for one, other in zip(verdicts, again, strict=True))
    refused = sum("store_error" in judgment.metadata for judgment in judgments)
    return Row(
        "a jury of 3 over HTTP, then the same again", kills, total, kept, 0, wrong + total - kept,
        requests - total + paid_again, refused, time.monotonic() - started,
    )  # fmt: skip


def _written(server: PostgresServer, name: str, run: str, ranges: list[tuple[int, int]], kills: int) -> Row:
    started = time.monotonic()
    url = server.database(name)
    open_store(url).close()
    durable_at_kills: list[set[int]] = []
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder, str(number)) for number in range(len(ranges))]
        processes = [_start(url, output, *numbers) for output, numbers in zip(outputs, ranges, strict=True)]
        total = sum(last - first for first, last in ranges)
        for kill in range(kills):
            _wait_for(outputs, total * (kill + 1) // (kills + 2), processes)
            durable_at_kills.append(_told(outputs)[0])
            server.kill()
            time.sleep(AWAY_S)
            server.start()
            with open_store(url) as store:
                there = {entry.key for entry in store.entries()}
            lost_by_kill = [n for n in durable_at_kills[-1] if not is_error(n) and key_of(n) not in there]
            assert not lost_by_kill, f"durable before the kill and not after: {lost_by_kill[:5]}"
        for process in processes:
            assert process.wait(timeout=600) == 0
        told, refused = _told(outputs)
    with open_store(url) as store:
        entries = list(store.entries())
    errors = Counter(
        server.sql("SELECT case_key FROM jury_judgments WHERE status = 'ERROR'", database=name).split("\n")
    )
    shared = len(ranges) if len(set(ranges)) == 1 else 1
    lost, doubled = _compared(entries, told, errors, shared)
    return Row(
        run, kills, total, len(entries), errors.total(), lost, doubled, refused, time.monotonic() - started
    )  # fmt: skip


def _compared(entries: list[Entry], told: set[int], errors: Counter[str], shared: int) -> tuple[int, int]:
    """Number of judgments that are lost or wrong, and number of surplus ones."""
    kept = Counter(entry.key for entry in entries)
    right = {
        entry.key for entry in entries
        if entry.judgment.reasoning.endswith(f" of {int(entry.key.case_key.removeprefix('case '))}")
    }  # fmt: skip
    lost = sum(key_of(number) not in right for number in told if not is_error(number))
    doubled = sum(count - 1 for count in kept.values())
    for number in filter(is_error, told):
        found = errors[key_of(number).case_key]
        lost += max(0, shared - found)
        doubled += max(0, found - shared)
    return lost, doubled


def _start(url: str, output: Path, first: int, last: int) -> subprocess.Popen[bytes]:
    with output.open("wb") as lines:
        return subprocess.Popen(
            [sys.executable, str(WRITER), url, f"process {output.name}", str(first), str(last)], stdout=lines
        )


def _told(outputs: list[Path]) -> tuple[set[int], int]:
    """The numbers said to be durable, and how many were refused."""
    lines = [line for output in outputs for line in output.read_text().splitlines(keepends=True) if line[-1] == "\n"]
    return {int(line) for line in lines if line.strip().isdigit()}, sum(not line.strip().isdigit() for line in lines)


def _wait_for(outputs: list[Path], lines: int, processes: list[subprocess.Popen[bytes]]) -> None:
    """Wait for so many lines, and at least one of each process: all are connected, and a kill meets them at work."""
    until = time.monotonic() + 300
    while min(counts := [output.read_bytes().count(b"\n") for output in outputs]) < 1 or sum(counts) < lines:
        assert time.monotonic() < until, "the writers make no progress"
        assert any(process.poll() is None for process in processes), "the writers ended before the kill"
        time.sleep(0.02)


@contextmanager
def _kills(server: PostgresServer, moments: list[int], progress: Callable[[], int]) -> Iterator[None]:
    """Kill the server and bring it back, in a thread, whenever the block has come so far."""
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for moment in moments:
                until = time.monotonic() + 300
                while progress() < moment:
                    assert time.monotonic() < until, "the jury makes no progress"
                    time.sleep(0.005)
                server.kill()
                time.sleep(AWAY_S)
                server.start()
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert not problems, problems
