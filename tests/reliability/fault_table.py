"""Every fault, at size, as one table: ``python tests/reliability/fault_table.py --cases 300``."""

from __future__ import annotations

import argparse
import logging
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability.fault_runs import Run, run
from tests.reliability.faults import FAULTS
from tests.reliability.panel import JURORS

TABLE = Path(__file__).parents[2] / "docs" / "reliability" / "faults.md"
HEAD = (
    "Fault", "injected", "requests", "retries", "judgments expected", "delivered", "right", "lost", "duplicated",
    "by fallbacks", "wall time, s", "without faults, s",
)  # fmt: skip
ABOUT = """# Faults

A panel of {jurors} critics judges {cases} cases through the real SDKs of OpenAI and Anthropic, while a local server
with both protocols fails on purpose. Each case contains its right answer, so that a wrong judgment is noticed.

`python tests/reliability/fault_table.py --cases {cases}` makes this table (Python {python}); it fails when a row loses,
repeats or falsifies a judgment. *Delivered* are judgments that say something, so an ERROR or an ABSTAIN is *lost*.
*Retries* are requests beyond one per judgment: each fault costs one, and jitter none; under the time limit of half a
second a good answer may be late too. Waits between tries are real. The last column is the same run without faults.

"""


def main() -> int:
    """Run every fault, print the table as it grows, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--write", type=Path, default=TABLE)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # each call that gives up says so
    run(FAULTS[0], 10)  # the first run of a process imports the SDKs
    lines = [_line(HEAD), _line(["---"] + ["---:"] * (len(HEAD) - 1))]
    print(*lines, sep="\n", flush=True)
    runs: list[Run] = []
    for fault in FAULTS:
        runs.append(run(fault, options.cases))
        lines.append(_row(runs[-1], runs[0].seconds))
        print(lines[-1], flush=True)
    about = ABOUT.format(cases=options.cases, jurors=JURORS, python=platform.python_version())
    options.write.parent.mkdir(parents=True, exist_ok=True)
    options.write.write_text(about + "\n".join(lines) + "\n", encoding="utf-8")
    failed = [one.fault for one in runs if not one.kept]
    print(f"\nnot kept: {', '.join(failed)}" if failed else "\nnothing lost, nothing twice, everything right")
    return 1 if failed else 0


def _row(one: Run, ideal: float) -> str:
    numbers = (
        one.injected, one.requests, one.retries, one.expected, one.delivered, one.right, one.lost, one.duplicated,
        one.by_fallbacks,
    )  # fmt: skip
    return _line([one.fault, *(f"{number:,}" for number in numbers), f"{one.seconds:.1f}", f"{ideal:.1f}"])


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
