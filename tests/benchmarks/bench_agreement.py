"""Krippendorff's alpha with its bootstrap interval: how long it takes, beside the ``krippendorff`` package.

    python tests/benchmarks/bench_agreement.py [--items 5000] [--jurors 14] [--draws 1000] [--data DIR]

The package has no bootstrap: its time is that of one call, times the draws. A second table checks published numbers on
the recorded votes of DIR that cannot be copied into the tests (FaithBench is CC BY-NC-SA); DIR defaults to the
environment variable JURY_DATA, else to ``../shared/data`` beside the repository, and the table is left out without it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import krippendorff
import numpy as np

from jury_adapters.calibration import Votes, agreement_report, alpha, effective_votes, gwet_ac
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.core.agreement import Level

T = TypeVar("T")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
FAITHBENCH = {"krippendorff alpha (nominal)": 0.0626, "gwet AC1": 0.684, "effective number of votes": 1.7027}


def main() -> None:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--jurors", type=int, default=14)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("JURY_DATA", beside)))
    options = parser.parse_args()
    speed(options.items, options.jurors, options.draws)
    file = options.data / "faithbench_dev.jsonl.gz"
    if file.exists():
        faithbench(file)


def speed(items: int, jurors: int, draws: int) -> None:
    """Time alpha with its interval, at every level of measurement, and the whole report."""
    ratings = simulated(items, jurors)
    votes, built = timed(lambda: Votes.from_rows(ratings.tolist()))
    print(f"{items:,} items x {jurors} jurors, 10 % missing, {draws:,} draws; building the matrix took {built:.2f} s\n")
    print("| level | alpha | 95 % interval | ours, with interval | krippendorff, one alpha | that times the draws |")
    print("| --- | --- | --- | --- | --- | --- |")
    for level in LEVELS:
        ours, seconds = timed(lambda level=level: alpha(votes, level, resampling=Resampling(draws)))  # type: ignore[misc]
        theirs, once = timed(lambda level=level: krippendorff.alpha(ratings.T, level_of_measurement=level))  # type: ignore[misc]
        assert ours.value is not None
        assert abs(ours.value - theirs) < 1e-9
        low, high = ours.interval or (np.nan, np.nan)
        print(
            f"| {level} | {ours.value:.4f} | {low:.4f} to {high:.4f} | {seconds:.2f} s | {once:.3f} s "
            f"| {once * draws:.0f} s |"
        )
    truth = np.nanmedian(ratings, axis=1).round().tolist()
    labelled = Votes.from_rows(ratings.tolist(), gold=truth)
    _, seconds = timed(lambda: agreement_report(labelled, draws=draws))
    print(f"\nThe whole agreement report with {draws:,} draws per interval: {seconds:.2f} s\n")


def faithbench(file: Path) -> None:
    """Compare with the numbers that an independent script found on the same votes."""
    votes = Votes.from_recorded(file)
    print("| FaithBench, 8 judges | found | expected |\n| --- | --- | --- |")
    for finding in (alpha(votes), gwet_ac(votes), effective_votes(votes)):
        print(f"| {finding.name} | {finding.value:.4f} | {FAITHBENCH[finding.name]} |")


def simulated(items: int, jurors: int) -> np.ndarray:  # type: ignore[type-arg]
    """Ratings from 1 to 5 around a common truth."""
    chance = np.random.default_rng(0)
    truth = chance.integers(1, 6, (items, 1))
    ratings = np.clip(truth + chance.integers(-1, 2, (items, jurors)), 1, 5).astype(float)
    ratings[chance.random(ratings.shape) < 0.1] = np.nan
    return ratings


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result of some work, and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main()
