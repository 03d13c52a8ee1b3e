"""A short version of `benchmarks/coverage.py`: every 22nd kind of batches, and looser bounds."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "coverage.py"
REPETITIONS = 30


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("part", ["agreement", "shares", "unpaired", "labels", "corrected", "confidence", "alarms"])
def test_intervals_cover(script, part):
    lines = script["simulate"]([part], REPETITIONS, every=22, again=0)
    assert lines
    for line in lines:
        assert line.lowest >= line.least - 0.15, line
    assert sum(line.mean for line in lines) / len(lines) >= 0.93
    assert script["table"](lines).count("\n") == len(lines) + 1
