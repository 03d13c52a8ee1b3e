"""The table of crashes and disks: ``python tests/reliability/disk_table.py > docs/reliability/disk.md``. One minute."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability import killing
from tests.reliability.disk_judge import logging_off
from tests.reliability.disk_runs import (
    Row,
    damaged,
    disk_full,
    not_writable,
    other_versions,
    torn_log,
    two_processes,
)

HEAD = """# The store in a file, through crashes and bad disks

Written by `python tests/reliability/disk_table.py`. Each trial judges with a store, does what the first column says,
and judges the same again. A judgment that was returned as durable is then *served*, or the store *reports* that it
cannot be used and what to do, at opening or in the judgment of the case. *Lost* are durable judgments that were asked
for again, or are missing; *wrong* are those that were served with another content.

| what happened | trials | durable before | served after | reported | lost or judged twice | wrong |
|---|--:|--:|--:|--:|--:|--:|"""


def rows() -> Iterator[Row]:
    """All runs, at full size."""
    for kills, seed in ((3, 11), (3, 12)):
        report = killing.run(kills, 300, seed=seed)
        durable = sum(report.durable)
        yield Row(f"kill -9, seed {seed}", kills, durable, durable - report.paid_again, lost=report.paid_again)
    for run in (disk_full, not_writable, damaged, torn_log, two_processes, other_versions):
        yield from run()


def main() -> None:
    """Run everything and print the table; fails when a row is not good."""
    logging_off()
    print(HEAD)
    found = []
    for row in rows():
        found.append(row)
        figures = (row.trials, row.durable, row.served, row.told, row.lost, row.wrong)
        print(f"| {row.damage} | {' | '.join(f'{figure:,}' for figure in figures)} |", flush=True)
    print("\nWhat is said, where something is told:\n")
    for row in found:
        for message in sorted(row.said):
            print(f"- {row.damage}: `{message}`")
    bad = [row.damage for row in found if not row.good]
    assert not bad, f"not as promised: {bad}"


if __name__ == "__main__":
    main()
