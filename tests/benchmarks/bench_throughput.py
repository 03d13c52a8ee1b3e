"""Cost of a judgment over real HTTP: our panel of three against bare loops.

Run it from the repository: ``python tests/benchmarks/bench_throughput.py``, or one of its scenarios:

- ``cpu``: the server answers at once. CPU of this process per judgment, the bare loops beside our panel, with a store,
  with early stopping, and with the model objects of LangChain and LlamaIndex where they are installed.
- ``latency``: the server answers after 200 ms. Wall time against the time that the waiting alone takes.
- ``faults``: 200 ms, and 5 % of the requests get 429 with ``Retry-After: 1``, 2 % get 500, and 1 % a broken body.
- ``load``: the server answers 100 requests a second, and all others get 429.

Every job keeps 63 requests in flight. In the first three scenarios the jobs take turns in every round, so that a
slower machine affects all of them. A ratio is the median of the ratios within the rounds, with the lowest and the
highest of them. Every job begins right after a full garbage collection, which would otherwise fall on one job or
another by chance.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.util
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from urllib.request import urlopen

import throughput_jobs as jobs
from ratios import spread, spread_of_ratios
from throughput_jobs import IN_FLIGHT, JURORS, Job

CASES = 512
BARE_SDK = "aiohttp + client.post on AsyncOpenAI (best bare SDK loop)"
AIOHTTP = "bare aiohttp loop"
PANEL = "our panel of 3"


@dataclass(frozen=True)
class Run:
    """One run of one job.

    Attributes:
        cpu: seconds of CPU of this process.
        wall: seconds.
        right: judgments that are right.
        stats: what the server counted.
    """

    cpu: float
    wall: float
    right: int
    stats: dict[str, Any]


def cpu(rounds: int) -> None:
    """Compare CPU per judgment."""
    rows: dict[str, Job] = {
        BARE_SDK: jobs.best_bare_sdk,
        "plain AsyncOpenAI loop": jobs.stock_sdk,
        AIOHTTP: jobs.bare_aiohttp,
        PANEL: jobs.ours(),
        "our panel of 3, with a store": jobs.ours(store=True),
        "our panel of 3, schedule='early_stop'": jobs.ours(schedule="early_stop"),
        **_model_objects(),
    }
    with vendor() as url:
        runs = take_turns(url, rows, rounds, CASES)
    print(f"\nCPU per judgment, {IN_FLIGHT} in flight, medians of {rounds} rounds")
    print(f"{'':60}{'requests':>9}{'CPU ms':>8}{'x SDK':>18}{'x aiohttp':>21}{'x panel':>18}")
    for name, found in runs.items():
        each = statistics.median(run.cpu for run in found) / CASES / JURORS * 1000
        to_sdk, to_aiohttp, to_panel = (ratio(runs, name, other) for other in (BARE_SDK, AIOHTTP, PANEL))
        requests = found[-1].stats["requests"]
        print(f"{name:60}{requests:9}{each:8.3f}{to_sdk:>18}{to_aiohttp:>21}{to_panel:>18}")
    added = statistics.median(
        stored.cpu - plain.cpu for stored, plain in zip(runs["our panel of 3, with a store"], runs[PANEL], strict=True)
    )
    print(f"a store adds {added / CASES / JURORS * 1000:.3f} ms a judgment")


def latency(rounds: int) -> None:
    """Compare wall time where waiting is most of it."""
    seconds = 0.2
    rows: dict[str, Job] = {
        BARE_SDK: jobs.best_bare_sdk,
        "plain AsyncOpenAI loop": jobs.stock_sdk,
        AIOHTTP: jobs.bare_aiohttp,
        PANEL: jobs.ours(),
        "our panel of 3, with a store": jobs.ours(store=True),
    }
    with vendor(latency=seconds) as url:
        runs = take_turns(url, rows, rounds, CASES)
    ideal = seconds * CASES * JURORS / IN_FLIGHT
    print(f"\nWall time at {seconds * 1000:.0f} ms latency, ideal {ideal:.2f} s, medians of {rounds} rounds")
    for name, found in runs.items():
        most = max(run.stats["most_in_flight"] for run in found)
        print(f"{name:60}{spread([run.wall / ideal for run in found])} x ideal, at most {most} in flight")


def faults(rounds: int) -> None:
    """Compare wall time, requests and losses under random faults."""
    rows: dict[str, Job] = {BARE_SDK: jobs.best_bare_sdk, PANEL: jobs.ours()}
    with vendor(latency=0.2, too_many=0.05, broken=0.02, malformed=0.01) as url:
        runs = take_turns(url, rows, rounds, CASES)
    total = CASES * JURORS
    print(f"\nFaults: 5 % 429 with Retry-After 1, 2 % 500, 1 % broken bodies; {total} judgments, {rounds} rounds")
    print(f"{'':60}{'wall s':>8}{'x SDK':>18}{'requests':>9}{'broken':>8}{'lost':>6}")
    for name, found in runs.items():
        wall = statistics.median(run.wall for run in found)
        times = ratio(runs, name, BARE_SDK, wall=True)
        last = found[-1].stats
        lost = max(total - run.right for run in found)
        print(f"{name:60}{wall:8.2f}{times:>18}{last['requests']:9}{last['answers'].get('malformed', 0):8}{lost:6}")


def load(rounds: int, rate: int = 100) -> None:
    """Show how our panel behaves where the server answers so many requests a second."""
    total = CASES * 2 * JURORS
    runs = []
    for _ in range(rounds):  # each with an address of its own, whose rate is not known yet
        with vendor(latency=0.05, rate=rate) as url:
            runs += take_turns(url, {PANEL: jobs.ours()}, 1, CASES * 2, warm=False)[PANEL]
    print(f"\nLoad: the server answers {rate} requests a second; {total} judgments need {total / rate:.1f} s")
    for run in runs:
        seconds = {int(second): counts for second, counts in run.stats["by_second"].items()}
        above = sum(sum(counts.values()) > rate for counts in seconds.values())
        later = [counts for second, counts in seconds.items() if second >= 10]
        refused = sum(counts.get("too_many", 0) for counts in later)
        share = refused / max(1, sum(sum(counts.values()) for counts in later))
        print(
            f"{run.wall:.1f} s, {run.wall * rate / total:.2f} x ideal; {above} s above the rate; "
            f"{100 * share:.1f} % refused after 10 s; {total - run.right} lost; {run.stats['requests']} requests"
        )


def take_turns(url: str, rows: dict[str, Job], rounds: int, cases: int, *, warm: bool = True) -> dict[str, list[Run]]:
    """Run every job once a round, after one round that is not counted."""
    runs: dict[str, list[Run]] = {name: [] for name in rows}
    for number in range(rounds + warm):
        for name, job in rows.items():
            urlopen(f"{url}/reset", data=b"").close()
            gc.collect()
            used, began = process_time(), perf_counter()
            right = asyncio.run(job(url, cases))  # type: ignore[arg-type]
            used, took = process_time() - used, perf_counter() - began
            with urlopen(f"{url}/stats") as response:
                stats = json.load(response)
            if number >= warm:
                runs[name].append(Run(used, took, right, stats))
    return runs


def ratio(runs: dict[str, list[Run]], name: str, other: str, *, wall: bool = False) -> str:
    """Return the median of the ratios of two jobs within the rounds, and their range."""
    of, base = ([one.wall if wall else one.cpu for one in runs[job]] for job in (name, other))
    return spread_of_ratios(of, base)


@contextmanager
def vendor(**settings: Any) -> Iterator[str]:
    """Run the server in a process of its own; yields its URL."""
    script = Path(__file__).with_name("throughput_server.py")
    command = [sys.executable, str(script), json.dumps(settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.kill()


def _model_objects() -> dict[str, Job]:
    """Return the jobs with the model objects of frameworks that are installed."""
    kinds = {
        "langchain_openai": ("LangChain ChatOpenAI", jobs.chat_openai),
        "llama_index.llms.openai": ("LlamaIndex OpenAI", jobs.llama_index_openai),
        "llama_index.llms.openai_like": ("LlamaIndex OpenAILike", jobs.llama_index_openai_like),
    }
    return {
        f"our panel of 3, {what} objects": jobs.ours(model)
        for module, (what, model) in kinds.items()
        if _installed(module)
    }


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


SCENARIOS = {"cpu": cpu, "latency": latency, "faults": faults, "load": load}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="all by default")
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds per job (5)")
    arguments = parser.parse_args()
    for scenario in arguments.scenario or SCENARIOS:
        SCENARIOS[scenario](arguments.rounds)
