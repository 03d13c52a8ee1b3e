"""Writes ``docs/reliability/ray.md``: runs on two local Ray workers, disturbed or not, against one process.

Run it from the repository, with the extra ``ray`` and ``aiohttp`` installed: ``python tests/on_ray/ray_table.py``.
It takes about five minutes; the rate is measured over more than a minute at the local server.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jury_adapters import Limits
from tests.on_ray import runs
from tests.on_ray.clusters import local_cluster
from tests.on_ray.windows import most_within
from tests.support.vendor import Act, Ask, error

ROOT = Path(__file__).parents[2]
PAGE = """# Ray on two workers

This page has the results of runs on two local workers, with and without faults. Every verdict was compared: with
`canonical_json()` of one process for recorded votes, and over HTTP with the answers of the server.

| run on 2 workers | cases | delivered | right | lost | doubled | measured | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- |
{lines}

The server counts the requests itself: *any minute* is the most that came within 60 seconds, wherever they begin.
Made with Ray {version} on {day}, on two cores that had other work too, by

```sh
python tests/on_ray/ray_table.py
```
"""


def line(name: str, outcome: runs.Outcome, measured: str) -> str:
    """One line of the table."""
    parts = "; ".join(part for part in (outcome.disturbed, measured) if part)
    return (
        f"| {name} | {outcome.cases:,} | {outcome.delivered:,} | {outcome.right:,} | {outcome.lost} | "
        f"{outcome.doubled} | {parts or '-'} | {outcome.seconds:.0f} |"
    )


def recorded(folder: Path) -> str:
    return line("recorded votes, five jurors", runs.recorded_run(10_000, folder), "equal bytes for every case")


def lost_worker(folder: Path) -> str:
    outcome = runs.recorded_run(10_000, folder, seconds=0.1, disturb=runs.kill_a_worker)
    return line("the same, slowly, and a worker is lost", outcome, "equal bytes for every case")


def lost_worker_with_store(folder: Path) -> str:
    outcome = runs.http_run(1_000, folder, Limits(), disturb=runs.kill_a_worker, store=True)
    again = len(outcome.asked) - 2 * outcome.cases
    return line(
        "over HTTP with a store, and a worker is lost", outcome, f"{again} of {len(outcome.asked):,} calls repeated"
    )


def rate(folder: Path) -> str:
    limit = 1_200
    outcome = runs.http_run(750, folder, Limits(requests_per_minute=limit))
    took = outcome.asked[-1] - outcome.asked[0]
    measured = f"limit {limit:,} a minute; any minute: {most_within(outcome.asked, 60):,} at most, over {took:.0f} s"
    return line("over HTTP, a shared rate", outcome, measured)


def slots(folder: Path) -> str:
    outcome = runs.http_run(400, folder, Limits(max_concurrency=9))
    return line("over HTTP, shared slots", outcome, f"limit 9 in flight; {outcome.most_in_flight} at most")


def lost_rate_server(folder: Path) -> str:
    limit = 3_000
    limits = Limits(requests_per_minute=limit, max_concurrency=20)
    outcome = runs.http_run(500, folder, limits, disturb=runs.kill_the_rate_server)
    measured = f"limit {limit:,} a minute and 20 in flight; {outcome.most_in_flight} at most"
    return line("over HTTP, and the rate server is lost", outcome, measured)


def refusing_vendor(folder: Path) -> str:
    def plan(ask: Ask) -> Act:
        return error(429) if ask.number % 40 < 3 else Act(delay=0.05)

    outcome = runs.http_run(400, folder, Limits(attempts=10, max_wait_s=0.5, max_concurrency=32), plan=plan)
    return line("over HTTP, the vendor says 429 to 7 % of the requests", outcome, f"{len(outcome.asked):,} requests")


RUNS: tuple[Callable[[Path], str], ...] = (
    recorded, lost_worker, lost_worker_with_store, rate, slots, lost_rate_server, refusing_vendor,
)  # fmt: skip


def main() -> None:
    """Run all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reliability" / "ray.md")
    out: Path = parser.parse_args().out
    import ray

    lines = []
    with local_cluster():
        for run in RUNS:
            with tempfile.TemporaryDirectory() as folder:
                lines.append(run(Path(folder)))
            print(lines[-1], flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(PAGE.format(lines="\n".join(lines), version=ray.__version__, day=date.today().isoformat()))


if __name__ == "__main__":
    main()
