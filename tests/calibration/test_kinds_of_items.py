"""In a large batch, alike items are drawn together; values and intervals are those of single items."""

import random

import numpy as np
import pytest

from jury_adapters.calibration import Votes
from jury_adapters.calibration.resampling import Resampling, distinct
from jury_adapters.statistics import full_report

ITEMS = 2_400
DRAWS = 600


def rows(items, seed=1):
    draw = random.Random(seed)
    for number in range(items):
        gold = draw.choice(("PASS", "FAIL"))
        votes = {}
        for name in "abc":
            label = gold if draw.random() < 0.8 else {"PASS": "FAIL", "FAIL": "PASS"}[gold]
            right = label == gold
            votes[name] = {
                "label": label,
                "confidence": draw.choice((0.6, 0.8, 0.9, 0.95) if right else (0.6, 0.7, 0.8)),
            }
        yield {"item_id": str(number), "gold": gold, "votes": votes}


@pytest.mark.slow
@pytest.mark.parametrize("halves", [(), (1, 1, 2)])
def test_kinds_are_drawn_as_often_as_their_items(halves):
    kind_of = np.repeat([0, 1, 2], [1500, 600, 300])
    kinds, counts = distinct(kind_of[:, None])
    assert (kinds.ravel().tolist(), counts.tolist()) == ([0, 1, 2], [1500, 600, 300])
    how = Resampling(3000, seed=3)
    together = np.concatenate(list(how.weights(counts, halves)))
    single = np.concatenate(list(how.weights(len(kind_of), halves)))
    summed = np.column_stack([*(single[:, : len(kind_of)][:, kind_of == kind].sum(axis=1) for kind in range(3)),
                              *(single[:, len(kind_of) + extra] for extra in range(len(halves)))])  # fmt: skip
    assert together.shape == summed.shape
    assert (together.sum(axis=1) == summed.sum(axis=1)).all()
    error = 4 * summed.std(axis=0) / np.sqrt(len(summed))
    assert (np.abs(together.mean(axis=0) - summed.mean(axis=0)) < 2 * error + 0.01).all()
    assert np.allclose(np.cov(together.T), np.cov(summed.T), atol=0.12 * np.cov(summed.T).max())


def test_few_units_and_units_of_many_kinds_stay_single():
    few = np.zeros((1999, 2))
    assert len(distinct(few)[0]) == 1999
    many = np.arange(4000.0)[:, None] // 2
    assert len(distinct(many)[0]) == 4000
    assert len(distinct(np.zeros((2000, 2)))[0]) == 1


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8, np.int64])
@pytest.mark.parametrize("columns", [1, 3, 9])
def test_the_kinds_are_the_different_rows_in_their_order(kind, columns):
    draw = np.random.default_rng(columns)
    for levels in ([0, 1], [0, 0.25, 1], [-1, 0, 7, 100]):
        values = draw.choice(levels, size=(4000, columns)).astype(kind)
        found, counts = distinct(values)
        kinds, times = np.unique(values, axis=0, return_counts=True)
        single = len(found) == len(values)
        assert (found == (values if single else kinds)).all()
        assert single == (4 * len(kinds) > len(values))
        assert single or (counts == times).all()


@pytest.mark.slow
def test_the_report_is_that_of_single_items():
    given = list(rows(ITEMS))
    together = full_report(Votes.from_recorded(given), draws=DRAWS)
    # Items in groups are never drawn together. Groups of two independent items have nearly the same intervals.
    grouped = [{**row, "pair": number // 2} for number, row in enumerate(given)]
    single = full_report(Votes.from_recorded(grouped, group="pair"), draws=DRAWS)
    compared = 0
    for one, other in zip(together.estimates, single.estimates, strict=True):
        assert (one.name, one.subject, one.n) == (other.name, other.subject, other.n)
        if one.value is not None:
            assert one.value == pytest.approx(other.value, abs=1e-9), one.name
        if one.interval is not None and other.interval is not None:
            width = one.interval[1] - one.interval[0]
            assert one.interval == pytest.approx(other.interval, abs=max(0.35 * width, 0.002)), one.name
            compared += 1
    assert compared > 25
