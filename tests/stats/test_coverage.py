"""A short version of `benchmarks/coverage.py`: a few kinds of batches of each part, and looser bounds."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "coverage.py"
REPETITIONS = 30
EVERY = {
    "agreement": 60, "shares": 60, "unpaired": 16, "labels": 60, "corrected": 44, "confidence": 60, "alarms": 12,
}  # fmt: skip


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize(("part", "every"), EVERY.items(), ids=EVERY)
def test_intervals_cover(script, part, every):
    lines = script["simulate"]([part], REPETITIONS, every=every, again=0)
    for line in lines:
        assert line.lowest >= line.least - 0.15, line
    assert sum(line.mean for line in lines) / len(lines) >= 0.93
    assert script["table"](lines).count("\n") == len(lines) + 1
