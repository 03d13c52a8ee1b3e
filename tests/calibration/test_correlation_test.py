"""Claims about biases are those of a test: a few votes that differ are not more than chance explains."""

from itertools import combinations

import numpy as np
import pytest

from jury_adapters.calibration import Votes, drift, self_preference, verbosity
from jury_adapters.calibration.bias import mid_ranks
from jury_adapters.calibration.correlation_test import correlation_p_value

N = 151
LENGTHS = np.random.default_rng(3).permutation(np.arange(100, 100 + N))


def said(fails, **more):
    """Return the votes of one juror: FAIL on these items, and PASS on all others."""
    return Votes.from_recorded(
        [
            {"item_id": str(at), "answer": "x" * int(LENGTHS[at]), "votes": {"j": {"label": label}}}
            for at, label in enumerate("FAIL" if at in fails else "PASS" for at in range(N))
        ],
        pass_label="PASS",
        **more,
    )


@pytest.mark.parametrize("rank", [1, 2, 10, 76])
def test_one_fail_never_shows_that_a_juror_prefers_short_answers(rank):
    (found,) = verbosity(said({int(np.argsort(-LENGTHS)[rank - 1])}))
    assert found.interval[0] <= 0 <= found.interval[1]
    assert "which may be chance" in found.sentence
    assert "it rests on the one vote that differs from the other 150" in found.warnings


def test_a_few_fails_on_the_longest_answers_are_found_and_warned_of():
    longest = np.argsort(-LENGTHS)
    (few,) = verbosity(said(set(longest[:3].tolist())))
    assert few.interval[1] < 0
    assert "more than chance explains" in few.sentence
    assert "it rests on the 3 votes that differ from the other 148" in few.warnings
    (enough,) = verbosity(said(set(longest[:5].tolist())))
    assert not any("differ" in warning for warning in enough.warnings)


def correlated(r, n):
    """Return two series of n items with this correlation; n is a multiple of 4."""
    one, across = np.resize([1.0, -1.0], n), np.resize([1.0, 1.0, -1.0, -1.0], n)
    return one, r * one + np.sqrt(1 - r * r) * across


@pytest.mark.parametrize(
    ("r", "n", "p"), [(0.576, 12, 0.05), (0.708, 12, 0.01), (0.444, 20, 0.05), (0.561, 20, 0.01), (0.164, 136, 0.0564)]
)
def test_the_test_is_students_of_a_correlation(r, n, p):
    """Fisher and Yates's table of the correlation coefficient, for n - 2 degrees of freedom; the last from SciPy."""
    one, other = correlated(r, n)
    assert correlation_p_value(one, other, np.arange(n)) == pytest.approx(p, rel=0.01)
    assert correlation_p_value(one, -other, np.arange(n)) == pytest.approx(p, rel=0.01)


def test_series_that_do_not_vary_or_are_the_same():
    one = np.arange(12.0)
    assert correlation_p_value(one, np.ones(12), np.arange(12)) == 1.0
    assert correlation_p_value(one, 2 * one, np.arange(12)) == 0.0


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_it_is_valid_for_a_few_fails_as_the_exact_permutation_test_is(fails):
    """All ways in which the FAILs can fall on 30 answers: about 5 % at most are significant, of one FAIL none."""
    ranks, p_values = mid_ranks(np.arange(30.0)), []
    for places in combinations(range(30), fails):
        votes = np.ones(30)
        votes[list(places)] = 0
        p_values.append(correlation_p_value(votes, ranks, np.arange(30)))
    significant = np.mean(np.array(p_values) < 0.05)
    assert significant <= 0.051
    assert (significant > 0) == (fails > 1)


@pytest.mark.parametrize(("fails", "more_than_chance"), [(4, False), (5, False), (6, True)])
def test_a_few_fails_late_in_a_run_are_not_yet_drift(fails, more_than_chance):
    """Fisher's exact test: 5 FAILs in one half have p = 0.06 about, as 5 heads in a row."""
    (found,) = drift(said(set(range(100, 100 + fails))))
    assert ("more than chance explains" in found.sentence) == more_than_chance
    assert (found.interval[1] < 0) == more_than_chance


def test_items_that_belong_together_count_once():
    one = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], 10)
    other = np.repeat([1.0, 0.0, 1.0, 0.0, 0.0, 1.0], 10)
    assert correlation_p_value(one, other, np.arange(60)) < 0.05
    assert correlation_p_value(one, other, np.repeat(np.arange(6), 10)) > 0.2


def test_a_juror_that_passes_few_of_its_own_answers_more_is_not_shown_to_prefer_them():
    rows = [
        {"item_id": str(at), "meta": {"generator": "gpt-4o" if at < 100 else "llama-3"}, "gold": "FAIL",
         "votes": {"gpt-4o": {"label": "PASS" if at < 4 else "FAIL"}, "b": {"label": "FAIL"}}}
        for at in range(200)
    ]  # fmt: skip
    (found,) = self_preference(Votes.from_recorded(rows, pass_label="PASS"))
    assert found.interval[0] <= 0
    assert "which may be chance" in found.sentence
