"""Plans a run of millions of cases: a simulation fed with measured figures, and the tables of ``docs/scale.md``.

Run it from the repository: ``python tests/benchmarks/simulate_scale.py``. It needs no network and takes a few seconds.

Every worker is a process with one core. It works through its cases with so many in flight; each judgment first takes
CPU of the worker (one at a time), then a permit of the shared rate, then the vendor's time. A part of the run is
simulated call by call until the pace is steady; the whole run is that pace, and the time that its slowest parts add at
the end. Change the figures in :data:`MEASURED`, :data:`PANELS` and :data:`TIERS` to yours.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

CASES = 10_000_000
CASES_IN_FLIGHT = 256  # on each worker


@dataclass(frozen=True)
class Measured:
    """Measurements of ``bench_throughput.py``, ``bench_distributed.py`` and ``tests/on_ray/ray_table.py``.

    Attributes:
        cpu_s: CPU of a worker for one judgment over HTTP.
        store_s: more of it when every judgment is durable in a store.
        ray_s: more of it for reading the row and writing the result, per case.
        row_bytes: one result on the disk (canonical JSON and the case, compressed); assumed, it is mostly your texts.
        worker_bytes: a worker with the package, an SDK and Ray loaded.
        case_bytes: a case in flight; assumed.
        store_bytes: one judgment in a store.
        store_per_s: judgments per second that one store takes durably.
        rate_server_per_s: visits per second that the rate server takes.
        visits_per_s: visits per second of one worker and model while it waits for the rate.
    """

    cpu_s: float = 0.0007
    store_s: float = 0.0001
    ray_s: float = 0.00026
    row_bytes: int = 1_500
    worker_bytes: int = 250_000_000
    case_bytes: int = 40_000
    store_bytes: int = 750
    store_per_s: int = 2_400
    rate_server_per_s: int = 980
    visits_per_s: float = 8.0


@dataclass(frozen=True)
class Panel:
    """A jury, by what it asks.

    Attributes:
        calls: calls per case, on average.
        tokens_in: input tokens per call.
        tokens_out: output tokens per call.
        usd_in: US dollars per million input tokens.
        usd_out: US dollars per million output tokens.
        latency_s: how long the vendor takes, typically.
    """

    name: str
    calls: float
    tokens_in: int = 900
    tokens_out: int = 90
    usd_in: float = 0.15
    usd_out: float = 0.60
    latency_s: float = 1.2

    @property
    def tokens(self) -> int:
        """Tokens per call."""
        return self.tokens_in + self.tokens_out

    def cost(self, cases: int, *, batched: bool = False) -> float:
        """US dollars; through the vendors' batch APIs half of it."""
        each = (self.tokens_in * self.usd_in + self.tokens_out * self.usd_out) / 1e6
        return cases * self.calls * each * (0.5 if batched else 1.0)


@dataclass(frozen=True)
class Tier:
    """Limits of a vendor for an account.

    Attributes:
        requests: per minute.
        tokens: per minute.
    """

    name: str
    requests: int
    tokens: int

    def allows(self, panel: Panel) -> float:
        """Calls of the panel per second; the rate server uses about 96 % of the limit, so as never to exceed it."""
        return 0.96 * min(self.requests, self.tokens / panel.tokens) / 60


MEASURED = Measured()
PANELS = (
    Panel("one small model", 1.0),
    Panel("panel of three small models", 3.0),
    Panel('the same, `schedule="early_stop"`', 2.15),
    Panel("cascade: offline checks, then the early-stopping panel for 4 of 10", 0.86),
)
TIERS = (
    Tier("low: 500 requests, 200,000 tokens", 500, 200_000),
    Tier("middle: 5,000 requests, 4 million tokens", 5_000, 4_000_000),
    Tier("high: 30,000 requests, 150 million tokens", 30_000, 150_000_000),
    Tier("own servers, no limit", 10**9, 10**12),
)


def simulated_pace(
    panel: Panel, tier: Tier, workers: int, in_flight: int, *, store: bool = False, seconds: float = 40.0, seed: int = 1
) -> float:
    """Calls per second of a run, once it is steady: simulated call by call.

    Args:
        panel: what is asked; latencies scatter around its own, log-normally.
        tier: what is allowed, of all workers together.
        workers: processes with a core each.
        in_flight: calls in flight on each.
        store: whether each judgment is made durable.
        seconds: how long is simulated; the first half is left out.
        seed: of the scatter.
    """
    chance = random.Random(seed)
    cpu_s = MEASURED.cpu_s + MEASURED.ray_s / panel.calls + (MEASURED.store_s if store else 0.0)
    gap = 1 / tier.allows(panel)
    core_free = [0.0] * workers
    permit, finished, half = 0.0, 0, seconds / 2
    slots = [(chance.random() * panel.latency_s, worker) for worker in range(workers) for _ in range(in_flight)]
    heapq.heapify(slots)
    while slots[0][0] < seconds:
        free, worker = heapq.heappop(slots)
        core_free[worker] = started = max(free, core_free[worker]) + cpu_s
        permit = max(started, permit + gap)
        done = permit + chance.lognormvariate(0, 0.5) * panel.latency_s
        finished += half <= done < seconds
        heapq.heappush(slots, (done, worker))
    return finished / half


def workers_needed(panel: Panel, tier: Tier, in_flight: int, *, most: int = 16) -> tuple[int, float]:
    """The fewest workers that reach the vendor's rate, or else the most there are; and the pace."""
    seconds = min(2_000.0, max(12.0, 4_000 / tier.allows(panel)))
    for workers in range(1, most + 1):
        pace = simulated_pace(panel, tier, workers, in_flight, seconds=seconds if workers < 4 else 12)
        if pace >= 0.97 * tier.allows(panel):
            break
    return workers, min(pace, tier.allows(panel))


def time_and_cost(cases: int) -> list[list[str]]:
    """Per tier and panel: pace, time, workers, and what it is that holds the run up."""
    rows = []
    for tier in TIERS:
        for panel in PANELS:
            in_flight = round(CASES_IN_FLIGHT * max(1.0, panel.calls))
            workers, pace = workers_needed(panel, tier, in_flight)
            if pace >= 0.97 * tier.allows(panel):
                held = "the vendor's rate"
            else:
                held = "CPU" if pace > 0.85 * workers / MEASURED.cpu_s else "cases in flight"
            hours = _duration(cases * panel.calls / pace)
            rows.append([tier.name, panel.name, f"{pace:,.1f}", hours, str(workers), held])
    return rows


def costs(cases: int) -> list[list[str]]:
    """Per panel: calls, tokens, dollars, dollars through batch APIs."""
    return [
        [panel.name, f"{cases * panel.calls / 1e6:,.1f} million",
         f"{cases * panel.calls * panel.tokens / 1e9:,.1f} billion", f"${panel.cost(cases):,.0f}",
         f"${panel.cost(cases, batched=True):,.0f}"]
        for panel in PANELS
    ]  # fmt: skip


def in_flight_table() -> list[list[str]]:
    """Pace by workers and calls in flight, without any other limit."""
    panel, free = PANELS[1], TIERS[-1]
    rows = []
    for workers in (1, 4, 16):
        paces = [simulated_pace(panel, free, workers, each, seconds=8) for each in (64, 256, 1024)]
        rows.append([str(workers), *(f"{pace:,.0f}" for pace in paces)])
    return rows


def room(cases: int) -> list[list[str]]:
    """Memory and disk."""
    m, panel = MEASURED, PANELS[1]
    in_flight = CASES_IN_FLIGHT
    each = m.worker_bytes + in_flight * m.case_bytes
    return [
        [f"one worker, {in_flight} cases in flight", _bytes(each)],
        ["list of judged rows, on resume (four times as much while it is made)", _bytes(cases * 12)],
        ["Ray's object store, per worker, two blocks of 4,096 rows", _bytes(2 * 4096 * 3_000)],
        ["results (Parquet)", _bytes(cases * m.row_bytes)],
        ["parts of 256 cases", f"{ceil(cases / 256):,} files"],
        ["store with every judgment of the panel of three", _bytes(cases * panel.calls * m.store_bytes)],
    ]


def shared_parts() -> list[list[str]]:
    """Capacity of the parts that all workers share."""
    m = MEASURED
    models = 3
    return [
        ["rate server", f"{m.rate_server_per_s:,} visits a second",
         f"{m.rate_server_per_s / (models * m.visits_per_s):,.0f} workers with {models} models each"],
        ["SQLite store on one machine", f"{m.store_per_s:,} durable judgments a second",
         f"{m.store_per_s * (m.cpu_s + m.store_s):,.0f} workers at full CPU"],
    ]  # fmt: skip


def losses() -> list[list[str]]:
    """Judgments paid again after workers are lost: four batches of each worker, unless a store has them."""
    panel, rows = PANELS[1], []
    for lost in (1, 10, 100):
        again = lost * 4 * 256
        rows.append([f"{lost}", f"{again:,}", f"${panel.cost(again):,.2f}", f"{again / CASES:.4%}"])
    return rows


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _duration(seconds: float) -> str:
    if seconds < 36 * 3600:
        return f"{seconds / 3600:,.1f} h"
    return f"{seconds / 86400:,.1f} days"


def _bytes(number: float) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= 1e9 else f"{number / 1e6:,.0f} MB"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=CASES)
    cases = parser.parse_args().cases
    print(table(["jury", "calls", "tokens", "list price", "through batch APIs"], costs(cases)), end="\n\n")
    head = ["what the vendor allows a minute", "jury", "calls a second", "time", "workers", "held up by"]
    print(table(head, time_and_cost(cases)), end="\n\n")
    head = ["workers", "64 in flight each", "256", "1,024"]
    print(table(head, in_flight_table()), end="\n\n")
    print(table(["what", "memory or disk"], room(cases)), end="\n\n")
    print(table(["shared by all", "takes", "enough for"], shared_parts()), end="\n\n")
    print(table(["workers lost", "cases judged again", "cost", "of the run"], losses()))


if __name__ == "__main__":
    main()
