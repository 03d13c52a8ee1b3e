import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import Ensemble, Judgment, Status, Usage
from jury_adapters.ray import Counts, Progress
from jury_adapters.ray.ledger import Ledger

identities = st.integers(0, 6).map(lambda number: f"{number * 7919:032x}"[::-1])


@given(st.lists(identities, max_size=30), st.lists(identities, max_size=30))
def test_each_result_stands_for_one_row(results, rows):
    ledger = Ledger(results)
    skipped = [ledger.claim(str(number), [row])[0] for number, row in enumerate(rows)]
    for identity in set(rows):
        done = sum(known for known, row in zip(skipped, rows, strict=True) if row == identity)
        assert done == min(results.count(identity), rows.count(identity))


def test_a_batch_that_is_run_again_gets_the_same_answer():
    ledger = Ledger(["a" * 32, "b" * 32])
    assert ledger.claim("one", ["a" * 32, "a" * 32, "c" * 32]) == [True, False, False]
    assert ledger.claim("one", ["a" * 32, "a" * 32, "c" * 32]) == [True, False, False]
    assert ledger.claim("two", ["a" * 32, "b" * 32]) == [False, True]


def test_counts_of_a_verdict_and_their_sum():
    paid = Judgment(Status.PASS, usage=Usage(input_tokens=100, output_tokens=10, calls=1, cost_usd=0.25))
    unpriced = Judgment(Status.ERROR, error="timeout", usage=Usage(calls=2, cost_complete=False))
    counts = Counts.of(paid) + Counts.of(unpriced) + Counts(skipped=3)
    assert counts == Counts(2, 1, 1, 3, 3, 100, 10, 0.25, 1)
    assert Counts.from_json(counts.to_json()) == counts
    assert Counts.from_columns({name: value * 2 for name, value in counts.to_columns().items()}) == counts + counts


def test_a_verdict_that_needs_review_is_counted():
    verdict = Ensemble([lambda case: True, lambda case: True, lambda case: False]).judge("?")
    assert Counts.of(verdict).escalated == 1


def test_progress_says_what_is_left_and_what_it_costs():
    progress = Progress(Counts(cases=500, skipped=100, errors=2, cost_usd=1.5, unpriced=1), 10.0, total=1600)
    assert progress.per_second == 50
    assert progress.eta_s == 20
    assert "500 cases judged in 10.0 s (50 per second), 100 judged before, 2 errors" in str(progress)
    assert "$1.50 or more, 20 s left" in str(progress)
    assert Progress(Counts(), 0.0).eta_s is None


@pytest.mark.parametrize("cost", [0.0, 1.25])
def test_counts_travel_as_json(cost):
    assert json.loads(Counts(cost_usd=cost).to_json())["cost_usd"] == cost
