"""Plans of labels and cases: those of version 0.2, and exact powers beside SciPy and statsmodels."""

import numpy as np
import pytest
import scipy
from fact_tables import each_row

from jury_adapters.core.values import ConfigurationError
from jury_adapters.stats import cases_for_difference, labels_for_guarantee, labels_for_interval
from jury_adapters.stats.figures import wilson


@each_row(
    ("found", "n"),
    [
        (labels_for_interval(0.05, 0.8), 243),
        (labels_for_guarantee(0.95, 0.98), 286),
        (cases_for_difference(0.05, discordant=0.1), 337),
        (cases_for_difference(0.05, rate=0.8), 906),
    ],
)
def test_plans_are_those_of_version_0_2(found, n):
    assert found == n


@each_row(("half_width", "rate"), [(0.1, 0.5), (0.05, 0.9), (0.03, 0.99), (0.2, 0.0), (0.2, 1.0)])
def test_labels_for_an_interval_are_the_fewest(half_width, rate):
    def expected_half(n):
        ends = np.array([wilson(hits, n) for hits in range(n + 1)])
        return float(scipy.stats.binom.pmf(np.arange(n + 1), n, rate) @ (ends[:, 1] - ends[:, 0])) / 2

    n = labels_for_interval(half_width, rate)
    assert expected_half(n) <= half_width < expected_half(n - 1)


def power_of_guarantee(n, agreement, expected, level):
    allowed = max((c for c in range(n + 1) if scipy.stats.binom.cdf(c, n, 1 - agreement) <= level), default=-1)
    return float(scipy.stats.binom.cdf(allowed, n, 1 - expected))


@pytest.mark.parametrize(("agreement", "expected", "tiers"), [(0.9, 0.97, 1), (0.8, 0.9, 2), (0.95, 1.0, 3)])
def test_the_power_of_a_guarantee_is_kept_from_the_number_on(agreement, expected, tiers):
    n, level = labels_for_guarantee(agreement, expected, tiers=tiers), 0.1 / min(tiers, 2)
    assert power_of_guarantee(n - 1, agreement, expected, level) < 0.8 or n == 30
    assert all(power_of_guarantee(m, agreement, expected, level) >= 0.8 for m in range(n, n + 40))


def test_a_faultless_jury_needs_as_many_as_the_test():
    assert labels_for_guarantee(0.9, 1.0, tiers=1) == 30  # ln(0.1) / ln(0.9) is 22, and 30 must be decided
    assert labels_for_guarantee(0.95, 1.0, tiers=1) == 45


def test_a_threshold_that_decides_less_takes_more_labels():
    n = labels_for_guarantee(0.9, 0.97, coverage=0.5)
    assert 1.9 * labels_for_guarantee(0.9, 0.97) < n < 2.6 * labels_for_guarantee(0.9, 0.97)


def power_of_mcnemar(n, difference, discordant):
    better, power = (discordant + difference) / (2 * discordant), 0.0
    for pairs in range(n + 1):
        allowed = max((c for c in range(pairs + 1) if scipy.stats.binom.cdf(c, pairs, 0.5) <= 0.025), default=-1)
        tail = scipy.stats.binom.cdf(allowed, pairs, better) + scipy.stats.binom.cdf(allowed, pairs, 1 - better)
        power += float(scipy.stats.binom.pmf(pairs, n, discordant) * tail)
    return power


def test_the_power_of_mcnemars_test_is_exact():
    n = cases_for_difference(0.2, discordant=0.3)
    assert power_of_mcnemar(n - 1, 0.2, 0.3) < 0.8 <= power_of_mcnemar(n, 0.2, 0.3)


@pytest.mark.parametrize(
    ("plan", "n"),
    [
        (lambda **groups: labels_for_interval(0.05, 0.8, **groups), 243),
        (lambda **groups: cases_for_difference(0.05, discordant=0.1, **groups), 337),
        (lambda **groups: cases_for_difference(0.05, rate=0.8, **groups), 906),
    ],
)
def test_groups_multiply_the_number_by_their_design_effect(plan, n):
    assert plan(group_size=5, correlation=0.3) == int(np.ceil(round(n * 2.2, 6)))
    assert plan(group_size=5, correlation=0) == plan(group_size=1, correlation=1) == n


@each_row(
    "plan",
    [
        lambda: labels_for_interval(0, 0.5),
        lambda: labels_for_interval(0.5, 0.5),
        lambda: labels_for_interval(0.1, 1.1),
        lambda: labels_for_interval(0.1, float("nan")),
        lambda: labels_for_interval(0.1, 0.5, group_size=0.5),
        lambda: labels_for_interval(0.1, 0.5, correlation=-0.1),
        lambda: labels_for_guarantee(0.9, 0.9),
        lambda: labels_for_guarantee(1, 1),
        lambda: labels_for_guarantee(0.9, 0.95, delta=0),
        lambda: labels_for_guarantee(0.9, 0.95, tiers=0),
        lambda: labels_for_guarantee(0.9, 0.95, coverage=0),
        lambda: labels_for_guarantee(0.9, 0.95, power=1),
        lambda: cases_for_difference(0.1),
        lambda: cases_for_difference(0.1, discordant=0.2, rate=0.5),
        lambda: cases_for_difference(0.1, discordant=0.05),
        lambda: cases_for_difference(0.1, rate=0.95),
        lambda: cases_for_difference(0.1, rate=0.5, power=0.05),
    ],
)
def test_what_is_out_of_its_range_is_refused(plan):
    with pytest.raises(ConfigurationError, match=r"lies between|give discordant="):
        plan()


def test_numbers_beyond_reason_are_refused():
    with pytest.raises(ConfigurationError, match="more than 100,000"):
        labels_for_interval(0.0005, 0.5)
