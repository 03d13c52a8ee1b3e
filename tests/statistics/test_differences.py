"""Differences of two pass rates from counts, and whether the sentence fits the number."""

import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jury_adapters.statistics import compare
from jury_adapters.statistics.difference_sentences import better, cases_needed, difference_sentence
from jury_adapters.statistics.differences import PairedCounts, paired_difference, unpaired_difference

CELLS = st.tuples(*[st.integers(0, 400)] * 4).filter(any)
NUMBERS = re.compile(r"95 % interval (\S+) to ([^;)]+)")


def counts(both, a_only, b_only, neither):
    n = both + a_only + b_only + neither
    return PairedCounts(both, a_only, b_only, neither, n, n, n)


def checked(found):
    """The sentence says of each number what the number is."""
    told, value, (low, high) = found.sentence, found.value, found.interval
    assert ("more cases" in told, "fewer cases" in told, "as many cases" in told) == (value > 0, value < 0, value == 0)
    shown_low, shown_high = (float(text) for text in NUMBERS.search(told).groups())
    assert (shown_low > 0, shown_low < 0, shown_high > 0, shown_high < 0) == (low > 0, low < 0, high > 0, high < 0)
    assert shown_low <= shown_high
    points = re.search(r"b passes (\S+) percentage", told)
    assert (points is None) == (value == 0)
    if points:
        assert float(points[1]) > 0
    winner = found.details["better"]
    assert ("b is better" in told, "a is better" in told) == (winner == "b", winner == "a")
    assert ("not tell" in told) == (winner is None)
    assert ("includes 0" in told) == (low <= 0 <= high)
    p = found.details.get("p_value")
    if winner:
        assert p is None or p < 0.05
    if match := re.search(r"p = ([\d.]+)", told):
        assert (float(match[1]) < 0.05) == (p < 0.05)
    if needed := re.search(r"about ([\d,]+)", told):
        assert int(needed[1].replace(",", "")) > found.n


@given(CELLS)
@example((0, 0, 1, 0))
@example((0, 1, 0, 0))
@example((1, 0, 0, 0))
@example((25, 5, 5, 15))
@example((40, 0, 5, 5))  # Newcombe's interval excludes 0, McNemar's test does not reject
@example((0, 0, 6, 0))
@example((199, 1, 0, 100_000))
def test_the_sentence_never_contradicts_its_number(cells):
    checked(paired_difference(counts(*cells)))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
@example(0, 1, 0, 1)
def test_nor_does_that_of_independent_samples(passed_a, failed_a, passed_b, failed_b):
    found = unpaired_difference(passed_a, passed_a + failed_a, passed_b, passed_b + failed_b)
    if found.value is None:
        assert not (passed_a + failed_a and passed_b + failed_b)
    else:
        checked(found)


@pytest.mark.parametrize(
    ("value", "interval", "told"),
    [
        (0.04, (0.0, 0.08), "The interval includes 0: these 200 cases do not tell which is better; about 410 would"),
        (0.04, (0.0004, 0.08), "0.04 to 8.00): b is better"),
        (-0.0004, (-0.0007, -0.0001), "b passes 0.04 percentage points fewer cases than a (b minus a, 95 % interval "
         "-0.07 to -0.01): a is better"),
        (0.0, (-0.1, 0.1), "b passes as many cases as a (b minus a, 95 % interval -10.0 to 10.0). The interval "
         "includes 0: these 200 cases do not tell which is better."),
        (-1e-17, (-0.1, 0.1), "b passes as many cases as a"),
        (1e-5, (-0.1, 0.1), "a difference of this size would take more than 1,000,000 cases"),
    ],
)  # fmt: skip
def test_the_edges(value, interval, told):
    assert told in difference_sentence(value, interval, 200)


def test_an_interval_above_zero_that_the_exact_test_does_not_confirm():
    found = paired_difference(counts(40, 0, 5, 5))
    assert found.interval[0] > 0
    assert found.details["p_value"] == pytest.approx(0.0625)
    assert found.details["better"] is None
    assert "The interval excludes 0, but the exact test does not rule out chance" in found.sentence


def test_one_case_is_one_case():
    assert "this case does not tell which is better" in paired_difference(counts(0, 0, 1, 0)).sentence


def test_juries_of_the_same_answers_are_not_better():
    found = paired_difference(counts(50, 0, 30, 20), same_answers=True)
    assert found.sentence.endswith("b is the more lenient jury.")


def test_as_many_cases_as_are_needed_have_the_power():
    """80 % power: the difference is 1.96 + 0.84 standard errors."""
    assert cases_needed(0.05, (-0.05, 0.15), 100) == 820  # 100 * 4 * ((1.96 + 0.8416) / 1.96) ** 2 = 817
    assert cases_needed(0.0, (-0.05, 0.05), 100) is None
    assert cases_needed(0.05, (-0.05, 0.15), 29) is None
    assert cases_needed(-0.05, (-0.15, 0.05), 100) == 820


def test_cases_that_only_one_decides_are_told():
    pairs = [(True, True)] * 40 + [(True, None)] * 10
    found = paired_difference(PairedCounts.of(pairs))
    assert (found.n, found.details["coverage_a"], found.details["coverage_b"]) == (40, 1.0, 0.8)
    assert "a decides 100.0 % of the cases and b 80.0 %" in found.warnings[0]
    assert paired_difference(PairedCounts.of([(None, True)])).value is None


def test_better_needs_the_interval_and_the_test():
    assert better((0.1, 0.2)) == "b"
    assert better((-0.2, -0.1), 0.01) == "a"
    assert better((0.1, 0.2), 0.05) is None
    assert better((0.0, 0.2)) is None
    assert better((-0.2, 0.0)) is None


@pytest.mark.parametrize("groups", range(1, 6))
@pytest.mark.parametrize("size", [21, 400])
def test_no_number_of_cases_is_named_where_too_few_groups_decide_nothing(groups, size):
    a = [case % 5 < 3 for _ in range(groups) for case in range(size)]
    b = [case % 5 < 4 for _ in range(groups) for case in range(size)]
    found = compare(a, b, groups=[group for group in range(groups) for _ in range(size)])
    assert found.details["better"] is None
    assert found.details["p_value"] == 2 / 2**groups  # b is better in every group, and no result is more extreme
    assert "6 groups or more" in found.sentence
    assert "about" not in found.sentence
    assert found.sentence.endswith(f"has p = {2 / 2**groups:.2g} at best, so it takes 6 groups or more.")


def test_six_groups_that_agree_decide():
    a = [case % 5 < 3 for _ in range(6) for case in range(400)]
    b = [case % 5 < 4 for _ in range(6) for case in range(400)]
    assert compare(a, b, groups=[group for group in range(6) for _ in range(400)]).details["better"] == "b"


def test_more_cases_in_groups_are_more_groups():
    draw = random.Random(5)
    groups = [group for group in range(40) for _ in range(5)]
    shifts = [draw.choice((-1, 1, 1)) for _ in range(40)]  # cases of a group change in one direction
    a = [draw.random() < 0.5 for _ in groups]
    b = [one if draw.random() < 0.8 else shifts[group] > 0 for one, group in zip(a, groups, strict=True)]
    sentence = compare(a, b, groups=groups).sentence
    cases, more = map(int, re.search(r"about (\d+) from (\d+) groups", sentence.replace(",", "")).groups())
    assert cases / 200 == pytest.approx(more / 40, rel=0.11)  # both are rounded up to two digits


@pytest.mark.parametrize(
    ("groups", "needed"),
    [
        (None, "about 1,600, 400 of them labelled, would show"),
        (50, "about 1,600, from 200 groups like these, 400 of the cases labelled, would show"),
    ],
)
def test_cases_are_labelled_and_not_groups(groups, needed):
    assert needed in difference_sentence(0.08, (-0.03, 0.19), 400, groups=groups, labelled=100)


@pytest.mark.parametrize(
    ("interval", "p", "groups", "reason"),
    [
        (
            (-0.124, 0.009),
            0.034,
            None,
            "The exact test alone would rule out chance, but the interval includes 0, and it",
        ),
        (
            (-0.124, 0.009),
            0.034,
            40,
            "The sign-flip test alone would rule out chance, but the interval includes 0, and",
        ),
        (
            (-0.124, -0.009),
            0.061,
            40,
            "The interval excludes 0, but the sign-flip test does not rule out chance: these",
        ),
        ((-0.124, 0.009), 0.2, 40, "The interval includes 0: these"),
        ((-0.124, 0.009), None, None, "The interval includes 0: these"),
    ],
)
def test_where_interval_and_test_disagree_the_sentence_says_that_it_takes_both(interval, p, groups, reason):
    assert f". {reason}" in difference_sentence(-0.055, interval, 400, p=p, groups=groups)
