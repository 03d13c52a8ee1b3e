"""Flat memory at full size: ``python tests/reliability/memory_nightly.py --cases 100000``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jury_adapters import Store
from tests.reliability.memory import bytes_grown, critic, waiting_judge

MOST = 4_000_000  # bytes; nine tenths of 100,000 cases are 90 MB of text alone


def main() -> None:
    """Judge, and fail when memory grew with the number of cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    count = parser.parse_args().cases
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "runs.db")) as store:
        for what, judge, kept in (
            ("a function that waits", waiting_judge(), None),
            ("a critic", critic(), None),
            ("a critic with a store", critic(), store),
        ):
            started = time.monotonic()
            grew = bytes_grown(judge, count, store=kept, max_concurrency=256)
            seconds = time.monotonic() - started
            print(f"{what}: {count} cases, {grew / 1000:.0f} kB more than early on, {seconds:.0f} s", flush=True)
            assert grew < MOST, f"memory grew by {grew} bytes"
        assert store.count() == count


if __name__ == "__main__":
    main()
