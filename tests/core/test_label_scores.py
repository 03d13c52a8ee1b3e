"""Figures against human labels, beside independent implementations."""

from itertools import pairwise, product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score, confusion_matrix
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from jury_adapters.core.label_scores import LabelScore, Rate, headings, mean_interval, table_lines, warn_of_constants
from jury_adapters.core.statistics import Score, wilson

SIDES = ("PASS", "FAIL")


def scored(pairs, *, pass_fail=True, kind="jury", name="the jury"):
    score = Score()
    for truth, said in pairs:
        score.add(truth, said)
    return LabelScore(name, kind, score, pass_fail)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(SIDES), st.sampled_from((*SIDES, None))), min_size=1, max_size=60))
def test_every_figure_is_that_of_scikit_learn_and_statsmodels(pairs):
    row = scored(pairs)
    decided = [(truth, said) for truth, said in pairs if said is not None]
    assert (row.coverage.hits, row.coverage.n) == (len(decided), len(pairs))
    if not decided:
        assert row.accuracy.share is row.balanced_accuracy is row.balanced_interval is row.kappa is None
        assert row.false_passes.share is row.false_fails.share is row.false_passes.interval is None
        return
    truths, said = zip(*decided, strict=True)
    assert row.accuracy.share == pytest.approx(accuracy_score(truths, said), abs=1e-9)
    assert row.accuracy.interval == pytest.approx(
        proportion_confint(row.accuracy.hits, row.accuracy.n, method="wilson"), abs=1e-6
    )
    cells = confusion_matrix(truths, said, labels=list(SIDES))
    assert (row.false_fails.hits, row.false_fails.n) == (cells[0, 1], cells[0].sum())
    assert (row.false_passes.hits, row.false_passes.n) == (cells[1, 0], cells[1].sum())
    if len(set(truths)) == 2:
        assert row.balanced_accuracy == pytest.approx(balanced_accuracy_score(truths, said), abs=1e-9)
        assert row.balanced_accuracy == pytest.approx(1 - (row.false_passes.share + row.false_fails.share) / 2)
        if len(set(said)) == 2 or len(truths) > 1:
            assert row.kappa == pytest.approx(cohen_kappa_score(truths, said), abs=1e-9)
        low, high = row.balanced_interval
        assert 0 <= low <= row.balanced_accuracy <= high <= 1
    else:
        assert row.balanced_accuracy is row.balanced_interval is None


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 40), st.integers(1, 40))
def test_the_interval_of_a_mean_is_newcombes_of_a_difference(hits, n, other_hits, other_n):
    hits, other_hits = min(hits, n), min(other_hits, other_n)
    # The mean of p and q is half the difference of p and 1 - q, plus a half.
    low, high = confint_proportions_2indep(hits, n, other_n - other_hits, other_n, compare="diff", method="newcomb")
    found = mean_interval([Rate(hits, n), Rate(other_hits, other_n)])
    assert found == pytest.approx((max(0.0, (low + 1) / 2), min(1.0, (high + 1) / 2)), abs=1e-6)


@pytest.mark.parametrize(("n", "other_n"), [(10, 10), (10, 100), (9, 60), (30, 30)])
def test_the_interval_of_balanced_accuracy_covers_its_value(n, other_n):
    """Exact coverage, over all outcomes of two independent binomials."""
    grid = [0.1, 0.3, 0.5, 0.7, 0.9, 0.97]
    covered = dict.fromkeys(product(grid, grid), 0.0)
    for hits, other in product(range(n + 1), range(other_n + 1)):
        low, high = mean_interval([Rate(hits, n), Rate(other, other_n)])
        for (p, q), so_far in covered.items():
            if low <= (p + q) / 2 <= high:
                covered[p, q] = so_far + _chance(hits, n, p) * _chance(other, other_n, q)
    assert min(covered.values()) > 0.90
    assert sum(covered.values()) / len(covered) > 0.945


def _chance(hits, n, p):
    return comb(n, hits) * p**hits * (1 - p) ** (n - hits)


def test_one_share_has_wilsons_interval_and_none_has_none():
    assert mean_interval([Rate(9, 10)]) == pytest.approx(wilson(9, 10))
    assert mean_interval([]) is None
    assert (Rate(0, 0).share, Rate(0, 0).interval) == (None, None)


def test_labels_without_pass_and_fail_have_no_false_passes():
    row = scored([("A", "A"), ("B", "A"), ("tie", None), ("B", "B")], pass_fail=False)
    assert (row.false_passes, row.false_fails, row.balanced_accuracy) == (None, None, 0.75)
    assert row.to_dict()["false_passes"] is None
    assert len(row.cells()) == len(headings(pass_fail=False)) == 4


def test_a_constant_answer_has_no_interval_but_that_of_its_accuracy():
    row = scored([("PASS", "PASS")] * 9 + [("FAIL", "PASS")], kind="constant", name="always PASS")
    assert (row.balanced_accuracy, row.balanced_interval, row.kappa) == (0.5, None, 0.0)
    decided, accuracy, balanced, _, passes, fails = row.cells()
    assert [cell.interval for cell in (decided, balanced, passes, fails)] == [""] * 4
    assert (accuracy.interval, passes.counts, passes.value) == ("59.6 to 98.2 %", "1/1", "100.0 %")


def test_columns_of_the_table_are_aligned_and_names_cannot_break_it():
    rows = [scored([("PASS", "PASS"), ("FAIL", "PASS")], name=name) for name in ("a\x1b[31m\nb", "x" * 90)]
    lines = table_lines(rows)
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert len(lines) == 6
    ends = [line.index("50.0 %") for line in lines if "50.0 %" in line]
    assert all(one == other for one, other in pairwise(ends))
    assert table_lines([]) == []


@pytest.mark.parametrize(
    ("worse", "who"), [(1, "1 of these 4 is no more often right"), (2, "2 of these 4 are no more")]
)
def test_jurors_that_are_no_better_than_a_constant_are_counted_in_plain_words(worse, who):
    truth = ["PASS"] * 7 + ["FAIL"] * 3
    good, bad = [(one, one) for one in truth], [(one, "FAIL") for one in truth]
    rows = [scored(bad if at < worse else good, kind="juror", name=f"j{at}") for at in range(4)]
    constant = scored([(one, "PASS") for one in truth], kind="constant", name="always PASS")
    assert who in next(warn_of_constants([*rows, constant]))
