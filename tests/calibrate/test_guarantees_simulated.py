"""A short version of `benchmarks/guarantees.py`: false guarantees are rare, and coverage is not below that of 0.2."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from jury_adapters.calibrate.thresholds import choose
from jury_adapters.stats import labels_for_guarantee

DRAWS = 40


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "guarantees.py"))


@pytest.mark.parametrize("part", ["false", "kept"])
def test_false_guarantees_are_rare(script, part):
    lines = [*script["PARTS"][part](DRAWS)]
    assert len(lines) == {"false": 20, "kept": 12}[part]
    assert all(line.holds(DRAWS) for line in lines), max(lines, key=lambda line: line.false)
    assert sum(line.false for line in lines) / len(lines) <= 0.1
    honest = [line.coverage for line in lines if (line.kind, line.labels) == ("honest", 400)]
    assert all(coverage > 0.6 for coverage in honest)


def test_recorded_votes_are_decided_as_often_as_by_version_02(script):
    chosen = {("llmbar", 300): script["BEFORE"]["llmbar", 300], ("all", 100): script["BEFORE"]["all", 100]}
    script["BEFORE"].clear()
    script["BEFORE"].update(chosen)
    lines = [*script["coverage_lines"](DRAWS)]
    assert (
        [line for line in lines if not line.holds(200)],
        script["table"](lines).count("\n") == len(lines) + 1 == 6,
    ) == ([], True)


def test_so_many_labels_as_planned_show_the_agreement():
    random, draws = np.random.default_rng(0), 300
    for tiers in (1, 2, 3):
        labels = labels_for_guarantee(0.9, 0.95, tiers=tiers)
        drawn = (np.tile(random.random((labels, 1)) < 0.95, tiers) for _ in range(draws))
        granted = sum(choose(np.ones(right.shape), right, 0.1, 0.1) is not None for right in drawn)
        assert granted / draws >= 0.8 - 2 * (0.8 * 0.2 / draws) ** 0.5
