"""Sample sizes: exact enumeration, independent implementations, published figures, and what is refused."""

import re
from functools import cache
from math import ceil, inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint, samplesize_proportions_2indep_onetail
from support.examples import examples

from jury_adapters.calibration.power import MOST, binomial_weights, power_of_guarantee, power_of_mcnemar
from jury_adapters.calibration.thresholds import Trials, choose_thresholds
from jury_adapters.core.clustered_shares import GroupSum, intraclass_correlation
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.statistics import wilson
from jury_adapters.statistics import (
    SampleSize,
    cases_for_difference,
    compare,
    labels_for_guarantee,
    labels_for_interval,
)
from jury_adapters.statistics.half_width import JudgedCases, wilson_half_width

SHARES = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)  # scipy overflows below 1e-300


def expected_width(n: int, rate: float) -> float:
    """The expected half-width by statsmodels' Wilson interval and scipy's binomial."""
    hits = np.arange(n + 1)
    low, high = proportion_confint(hits, n, method="wilson")
    return float((binom.pmf(hits, n, rate) * (high - low) / 2).sum())


@given(st.integers(1, 400), SHARES)
@examples(60)
def test_the_expected_half_width_is_that_of_other_libraries(n: int, rate: float) -> None:
    assert wilson_half_width(n, rate) == pytest.approx(expected_width(n, rate), abs=1e-6)


@given(st.integers(1, 3000), SHARES)
@examples(60)
def test_the_weights_are_the_binomial(n: int, p: float) -> None:
    counts, weights = binomial_weights(n, p)
    assert weights == pytest.approx(binom.pmf(counts, n, p), abs=1e-9)
    assert weights.sum() == pytest.approx(1)


@pytest.mark.slow
@given(st.floats(0.02, 0.3), SHARES)
@examples(20)
def test_labels_for_an_interval_are_the_fewest(half_width: float, rate: float) -> None:
    n = labels_for_interval(half_width, rate).n
    assert expected_width(n, rate) <= half_width + 1e-9
    assert n == 1 or expected_width(n - 1, rate) > half_width - 1e-9


def test_the_normal_formula_is_close_where_it_is_good() -> None:
    assert labels_for_interval(0.05, 0.5).n == pytest.approx(385, abs=6)  # z^2 / (4 * 0.05^2), as in every textbook


@pytest.mark.parametrize(("rate", "tpr", "tnr"), [(0.8, 0.95, 0.9), (0.5, 0.7, 0.6), (0.97, 0.99, 0.5), (0.9, 1, 1)])
def test_labels_beside_verdicts_are_the_fewest_by_a_scan(rate: float, tpr: float, tnr: float) -> None:
    cases = JudgedCases(400, rate, tpr, tnr)
    widths = [cases.half_width(n) for n in range(1, 401)]
    for half_width in (0.08, 0.06, 0.05):
        found = labels_for_interval(half_width, rate, judged=400, tpr=tpr, tnr=tnr)
        assert found.n == 1 + next(at for at, width in enumerate(widths) if width <= half_width)
        assert found.gives[found.n] <= half_width
        assert max(found.gives) <= 400


@pytest.mark.slow
def test_a_better_jury_saves_labels_and_a_useless_one_none() -> None:
    def n(tpr: float, tnr: float) -> int:
        return labels_for_interval(0.05, 0.8, judged=5000, tpr=tpr, tnr=tnr).n

    alone = labels_for_interval(0.05, 0.8).n
    assert n(0.99, 0.97) < n(0.95, 0.9) < n(0.9, 0.7) < alone
    assert n(0.5, 0.5) == pytest.approx(alone, rel=0.03)  # two more disagreements are counted
    assert n(0.95, 0.9) == labels_for_interval(0.05, 0.8, judged=5000, tpr=0.95, tnr=0.9).n
    assert labels_for_interval(0.05, 0.8, judged=5000, tpr=0.95, tnr=0.9).details["labels_alone"] == alone


@pytest.mark.parametrize(
    ("half_width", "rate", "judged", "tpr", "tnr", "groups"),
    [(0.06, 0.6, 256, 0.98, 0.97, {}), (0.06, 0.8, 245, 0.9, 0.8, {"group_size": 4, "icc": 0.15})],
)
def test_no_label_saved_for_want_of_judged_cases_is_not_blamed_on_the_jury(
    half_width: float, rate: float, judged: int, tpr: float, tnr: float, groups: dict[str, float]
) -> None:
    found = labels_for_interval(half_width, rate, judged=judged, tpr=tpr, tnr=tnr, **groups)
    alone = found.details["labels_alone"]
    assert isinstance(alone, int)
    assert found.n >= alone
    assert "tells good from bad" not in found.sentence
    advised = re.search(
        r"only where it judges more cases than are labelled. If it judges ([\d,]+), it takes ([\d,]+)", found.sentence
    )
    assert advised is not None, found.sentence
    more, fewer = (int(number.replace(",", "")) for number in advised.groups())
    assert labels_for_interval(half_width, rate, judged=more, tpr=tpr, tnr=tnr, **groups).n == fewer < alone


@pytest.mark.parametrize("judged", [260, 4000])
def test_a_jury_that_saves_no_label_in_any_batch_is_said_to_tell_nothing(judged: int) -> None:
    found = labels_for_interval(0.06, 0.6, judged=judged, tpr=0.5, tnr=0.52)
    assert "hardly tells good from bad and saves no labels" in found.sentence
    assert "If it judges" not in found.sentence


def granted(n: int, alpha: float, level: float, error_rate: float, least: int) -> float:
    """The probability of a guarantee, from scipy alone."""
    if n < least:
        return 0.0
    allowed = int((binom.cdf(np.arange(n), n, alpha) <= level).sum()) - 1
    return float(binom.cdf(allowed, n, error_rate)) if allowed >= 0 else 0.0


@pytest.mark.slow
@given(st.integers(30, 250), st.floats(0.02, 0.3), st.floats(0.01, 0.3), st.floats(0, 0.3))
@examples(25)
def test_the_power_of_a_guarantee_is_exact(n: int, alpha: float, level: float, error_rate: float) -> None:
    found = power_of_guarantee(n, alpha=alpha, level=level, error_rate=error_rate, share=1, least=30)
    assert found == pytest.approx(granted(n, alpha, level, error_rate, 30), abs=1e-6)
    mixed = power_of_guarantee(n, alpha=alpha, level=level, error_rate=error_rate, share=0.6, least=30)
    each = [granted(k, alpha, level, error_rate, 30) for k in range(n + 1)]
    assert mixed == pytest.approx(float(binom.pmf(np.arange(n + 1), n, 0.6) @ each), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agreement", "expected", "least"), [(0.95, 0.98, 59), (0.9, 0.95, 30), (0.8, 0.9, 30), (0.95, 0.999, 59)]
)
def test_the_power_of_a_guarantee_is_kept_from_the_number_on(agreement: float, expected: float, least: int) -> None:
    found = labels_for_guarantee(agreement, expected)
    alpha, n = 1 - agreement, found.n

    def power(labels: int) -> float:
        return granted(labels, alpha, 0.05, 1 - expected, least)

    assert all(power(labels) >= 0.8 for labels in range(n, n + 400))
    assert n == least or power(n - 1) < 0.8
    assert found.gives[n] == pytest.approx(power(n), abs=1e-6)
    assert found.details["fewest"] == least


def test_the_calibration_itself_allows_as_many_errors() -> None:
    found = labels_for_guarantee(0.9, 0.95, delta=0.2, method="path")
    allowed = found.details["errors_allowed"]
    assert isinstance(allowed, int)
    for errors, decides in ((allowed, found.n), (allowed + 1, 0)):
        right = (np.arange(found.n) >= errors)[:, None]
        trials = Trials(np.full(right.shape, 0.9), right)
        assert choose_thresholds(trials, 1 - 0.9, 0.2, "path")[0].decided == decides


def test_methods_and_tiers_change_the_level() -> None:
    def n(**how: object) -> int:
        return labels_for_guarantee(0.9, 0.95, **how).n  # type: ignore[arg-type]

    assert n(method="path") < n(method="both") == n(method="per_tier", tiers=2)
    assert n(delta=0.2) == n(delta=0.1, method="path")
    assert n(coverage=0.5) > 1.8 * n()  # a random number of decided cases smooths the saw


@cache
def rejected(pairs: int, level: float) -> np.ndarray:
    """Whether the exact test rejects, for each number of pairs that favour the better system."""
    favours = np.arange(pairs + 1)
    return 2 * binom.cdf(np.minimum(favours, pairs - favours), pairs, 0.5) <= level + 1e-12


@pytest.mark.parametrize("pairs", [0, 1, 6, 17, 40])
def test_the_exact_test_here_is_that_of_scipy(pairs: int) -> None:
    theirs = [bool(pairs) and binomtest(favour, pairs).pvalue <= 0.05 for favour in range(pairs + 1)]
    assert rejected(pairs, 0.05).tolist() == theirs


def mcnemar_power(n: int, difference: float, discordant: float, level: float) -> float:
    better = (discordant + difference) / (2 * discordant)
    total = 0.0
    for pairs, weight in enumerate(binom.pmf(np.arange(n + 1), n, discordant)):
        total += weight * binom.pmf(np.arange(pairs + 1), pairs, better)[rejected(pairs, level)].sum()
    return float(total)


@pytest.mark.parametrize(
    ("n", "difference", "discordant"), [(6, 0.9, 0.9), (30, 0.3, 0.5), (50, 0.2, 0.2), (45, 0.1, 0.4), (40, 0.3, 1.0)]
)
def test_the_power_of_mcnemars_test_is_exact(n: int, difference: float, discordant: float) -> None:
    for level in (0.05, 0.01):
        found = power_of_mcnemar(n, difference=difference, discordant=discordant, level=level)
        assert found == pytest.approx(mcnemar_power(n, difference, discordant, level), abs=1e-6)


@pytest.mark.parametrize(
    ("difference", "rate", "discordant"), [(0.3, 0.3, 0.5), (0.5, 0.3, 0.6), (0.8, 0.1, 0.9), (0.2, 0.7, 0.2)]
)
def test_the_power_of_a_paired_comparison_is_kept_from_the_number_on(
    difference: float, rate: float, discordant: float
) -> None:
    n = cases_for_difference(difference, rate, discordant=discordant).n
    assert all(mcnemar_power(more, difference, discordant, 0.05) >= 0.8 for more in range(n, n + 12))
    assert mcnemar_power(n - 1, difference, discordant, 0.05) < 0.8


def connor(difference: float, discordant: float) -> float:
    """Connor 1987, for a two-sided level of 0.05 and a power of 0.8."""
    return ((1.959964 * discordant**0.5 + 0.8416212 * (discordant - difference**2) ** 0.5) / difference) ** 2


@pytest.mark.parametrize(("difference", "discordant"), [(0.05, 0.1), (0.05, 0.3), (0.1, 0.2), (0.1, 0.4), (0.03, 0.1)])
def test_the_exact_number_of_pairs_is_a_little_above_connors(difference: float, discordant: float) -> None:
    rough = connor(difference, discordant)
    assert rough < cases_for_difference(difference, 0.5, discordant=discordant).n < 1.12 * rough + 10


@given(st.floats(0.02, 0.9), st.floats(0.05, 0.3), st.floats(0.5, 0.95), st.floats(0.01, 0.1))
@examples(40)
def test_unpaired_numbers_are_those_of_statsmodels(rate: float, difference: float, power: float, level: float) -> None:
    difference = min(difference, 0.99 - rate)
    exact = samplesize_proportions_2indep_onetail(difference, rate, power, alpha=level, alternative="two-sided")
    assert cases_for_difference(difference, rate, paired=False, power=power, level=level).n == ceil(exact - 1e-6)


def test_for_small_differences_the_effect_size_of_cohen_says_nearly_the_same() -> None:
    effect = 2 * (np.arcsin(0.55**0.5) - np.arcsin(0.5**0.5))
    n = NormalIndPower().solve_power(effect, power=0.8, alpha=0.05)
    assert cases_for_difference(0.05, 0.5, paired=False).n == pytest.approx(n, rel=0.005)


@pytest.mark.parametrize("percent", range(1, 100))
def test_a_system_that_passes_everything_is_planned_for(percent: int) -> None:
    difference, rate = percent / 100, (100 - percent) / 100
    by_default = cases_for_difference(difference, rate)
    assert 100 / percent < by_default.n < 900 / percent
    assert cases_for_difference(difference, rate, discordant=difference).n == by_default.n


def test_by_default_discordant_cases_are_those_of_independent_systems() -> None:
    assert cases_for_difference(0.1, 0.6) == cases_for_difference(0.1, 0.6, discordant=0.6 * 0.3 + 0.7 * 0.4)
    paired, unpaired = cases_for_difference(0.1, 0.6), cases_for_difference(0.1, 0.6, paired=False)
    assert paired.n == pytest.approx(
        unpaired.n, rel=0.1
    )  # pairing gains nothing then, and an exact test costs a little
    assert cases_for_difference(0.1, 0.6, discordant=0.2).n < paired.n / 2


@pytest.mark.parametrize("n_of", [
    lambda **groups: labels_for_interval(0.05, 0.8, **groups),
    lambda **groups: labels_for_interval(0.05, 0.8, judged=4000, tpr=0.9, tnr=0.9, **groups),
    lambda **groups: cases_for_difference(0.1, 0.6, **groups),
    lambda **groups: cases_for_difference(0.1, 0.6, paired=False, **groups),
])  # fmt: skip
def test_groups_multiply_the_number_by_their_design_effect(n_of) -> None:
    alone = n_of().n
    assert n_of(group_size=5, icc=0).n == n_of(group_size=1, icc=1).n == alone
    grouped = n_of(group_size=5, icc=0.3)
    assert grouped.details["design_effect"] == pytest.approx(2.2)
    assert grouped.n == pytest.approx(2.2 * alone, rel=0.05)  # judged cases are worth less, too
    assert grouped.gives[grouped.n] == pytest.approx(n_of().gives[alone], rel=0.01)
    assert "groups of 5" in " ".join(grouped.assumed)


def test_the_correlation_of_a_paired_question_is_that_of_differences() -> None:
    paired, unpaired = (cases_for_difference(0.1, 0.6, paired=one, group_size=5, icc=0.3) for one in (True, False))
    assert "the cases are a random sample of groups of 5 whose differences correlate by 0.3" in paired.assumed
    assert "the cases are a random sample of groups of 5 whose cases correlate by 0.3" in unpaired.assumed


@pytest.mark.slow
def test_the_printed_correlation_of_differences_plans_the_next_comparison() -> None:
    """Users are alike in how hard their questions are, for both systems, and not in the difference between these."""

    def judged(users: int, seed: int) -> tuple[list[int], list[int], list[int]]:
        draw = np.random.default_rng(seed)
        groups = np.repeat(np.arange(users), 4)
        hard = draw.normal(0, 1.5, users)[groups]
        rates = (1 / (1 + np.exp(-(shift + hard))) for shift in (0.6, 1.3))
        a, b = ((draw.random(len(groups)) < rate).astype(int).tolist() for rate in rates)
        return a, b, groups.tolist()

    first = judged(20_000, 0)
    known = compare(first[0], first[1], groups=first[2]).details
    assert known["group_size"] == 4
    assert known["icc"] < 0.02
    rate, cases = (known["both"] + known["a_only"]) / 80_000, 80_000
    passed = [sum(first[0][at : at + 4]) for at in range(0, cases, 4)]
    of_pass = intraclass_correlation([GroupSum(4, one, one) for one in passed])
    assert of_pass is not None
    assert of_pass.correlation > 0.2
    planned = cases_for_difference(
        (known["b_only"] - known["a_only"]) / cases, rate, discordant=(known["a_only"] + known["b_only"]) / cases,
        group_size=4, icc=known["icc"],
    )  # fmt: skip
    runs = (judged(planned.n // 4, seed) for seed in range(1, 301))
    better = [compare(a, b, groups=of).details["better"] for a, b, of in runs]
    assert planned.details["power"] - 0.07 < better.count("b") / 300 < planned.details["power"] + 0.07


@pytest.mark.parametrize(
    "found",
    [
        labels_for_interval(0.1, 0.8), labels_for_interval(0.1, 0.8, judged=300, tpr=0.9, tnr=0.8),
        labels_for_guarantee(0.9, 0.97), cases_for_difference(0.2, 0.5), cases_for_difference(0.2, 0.5, paired=False),
    ],
)  # fmt: skip
def test_a_result_says_what_half_and_twice_as_many_give(found: SampleSize) -> None:
    assert list(found.gives) == [found.n // 2, found.n, 2 * found.n]
    values = list(found.gives.values())
    assert values == sorted(values, reverse=found.measure == "half-width")
    assert f"{found.n:,}" in found.sentence
    plain = found.to_dict()
    assert plain["gives"] == [{"n": n, "value": value} for n, value in found.gives.items()]
    assert str(found).count("Assumed") == len(found.assumed)


REFUSED = {
    "a wide interval": (lambda: labels_for_interval(0.5, 0.8), "half-width"),
    "no interval": (lambda: labels_for_interval(0, 0.8), "half-width"),
    "NaN": (lambda: labels_for_interval(0.05, nan), "pass rate lies from 0 to 1, not nan"),
    "a NaN interval": (lambda: labels_for_interval(nan, 0.5), "half-width"),
    "too narrow": (lambda: labels_for_interval(0.0001, 0.5), f"more than {MOST:,} labels"),
    "TPR without cases": (lambda: labels_for_interval(0.05, 0.5, tpr=0.9, tnr=0.9), "how many cases it judges"),
    "no TNR": (lambda: labels_for_interval(0.05, 0.5, judged=100, tpr=0.9), "give both"),
    "too few judged": (lambda: labels_for_interval(0.05, 0.5, judged=100, tpr=0.9, tnr=0.9), "reaches 9.6 points"),
    "one judged": (lambda: labels_for_interval(0.05, 0.5, judged=1, tpr=0.9, tnr=0.9), "2 cases or more"),
    "endless groups": (lambda: labels_for_interval(0.05, 0.5, group_size=inf, icc=0.1), "one case or more"),
    "icc of 2": (lambda: labels_for_interval(0.05, 0.5, group_size=2, icc=2), "icc"),
    "not good enough": (lambda: labels_for_guarantee(0.95, 0.95), "cannot be shown to agree on 95.0 %"),
    "hardly better": (lambda: labels_for_guarantee(0.95, 0.9501), f"more than {MOST:,} labels"),
    "a sure guarantee": (lambda: labels_for_guarantee(1, 1), "strictly between 0 and 1"),
    "no delta": (lambda: labels_for_guarantee(0.9, 0.95, delta=0), "strictly between 0 and 1"),
    "no coverage": (lambda: labels_for_guarantee(0.9, 0.95, coverage=0), "decides nothing"),
    "no tiers": (lambda: labels_for_guarantee(0.9, 0.95, tiers=0), "tiers is a number from 1"),
    "another method": (lambda: labels_for_guarantee(0.9, 0.95, method="pth"), "Known: both"),  # type: ignore[arg-type]
    "no difference": (lambda: cases_for_difference(0, 0.5), "strictly between 0 and 1"),
    "above 1": (lambda: cases_for_difference(0.1, 0.95), "cannot be 10.0 points higher"),
    "few discordant": (lambda: cases_for_difference(0.1, 0.5, discordant=0.05), "from the difference, 0.1, to 0.9"),
    "many discordant": (lambda: cases_for_difference(0.1, 0.8, discordant=0.5), "to 0.3"),
    "discordant alone": (lambda: cases_for_difference(0.1, 0.5, discordant=0.2, paired=False), "unpaired systems"),
    "no power": (lambda: cases_for_difference(0.1, 0.5, power=0.05), "above the level"),
    "a tiny difference": (lambda: cases_for_difference(0.001, 0.5), f"more than {MOST:,} cases"),
    "next to no difference": (lambda: cases_for_difference(1e-300, 0.5), f"more than {MOST:,} cases"),
    "the same unpaired": (lambda: cases_for_difference(1e-12, 0.5, paired=False), f"more than {MOST:,} cases"),
    "huge groups": (lambda: labels_for_interval(0.05, 0.8, group_size=1e12, icc=1), f"more than {MOST:,} labels"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_answer_is_refused(case: str) -> None:
    ask, said = REFUSED[case]
    with pytest.raises(ConfigurationError, match=said):
        ask()


def test_extremes_have_an_answer() -> None:
    assert labels_for_interval(0.05, 0.8, judged=10**11, tpr=0.9, tnr=0.9).n == 130
    assert labels_for_guarantee(0.95, 1).n == 59
    assert labels_for_interval(0.05, 1).n == labels_for_interval(0.05, 0).n == 35
    assert labels_for_interval(0.49, 0.5).n == 1
    assert cases_for_difference(0.05, 0.95).details["discordant"] == pytest.approx(0.05)
    assert cases_for_difference(0.999, 0.0).n == 6  # 2 / 2^6 is the first below 0.05


def test_the_floor_of_labels_is_named_where_arithmetic_alone_would_need_fewer() -> None:
    floor = "calibrate grants nothing on fewer than 30 decided cases, however modest the guarantee"
    modest = labels_for_guarantee(0.7, 0.9)
    assert modest.gives[modest.n // 2] == 0
    assert floor in modest.assumed
    assert floor not in labels_for_guarantee(0.95, 0.98).assumed  # 59 are needed even without a disagreement


def test_a_jury_that_saves_no_labels_is_named():
    told = labels_for_interval(0.05, 0.75, judged=460, tpr=0.25, tnr=0.85).sentence
    assert told.endswith(": a jury with these rates hardly tells good from bad and saves no labels.")
    assert "saves no labels" not in labels_for_interval(0.05, 0.75, judged=460, tpr=0.95, tnr=0.85).sentence


@pytest.mark.parametrize(("half_width", "rate"), [(0.05, 1.0), (0.05, 0.99), (0.02, 0.97), (0.05, 0.02)])
def test_an_interval_near_an_end_names_how_far_it_reaches(half_width: float, rate: float) -> None:
    found = labels_for_interval(half_width, rate)
    hits = np.random.default_rng(1).binomial(found.n, rate, size=4000)
    low, high = np.mean([wilson(int(one), found.n) for one in hits], axis=0)
    said = re.search(r"expect an interval from ([\d.]+) to ([\d.]+) %", found.sentence)
    assert said is not None
    assert [float(end) for end in said.groups()] == pytest.approx([100 * low, 100 * high], abs=0.2)
    assert max(rate - low, high - rate) > 1.25 * half_width


def test_an_even_interval_reaches_as_far_to_either_side_of_its_centre() -> None:
    sentence = labels_for_interval(0.07, 0.8).sentence
    assert sentence.endswith("7.0 points to either side of its centre.")


def test_no_mcnemar_test_is_planned_for_cases_in_groups() -> None:
    for paired in (True, False):
        said = cases_for_difference(0.1, 0.5, paired=paired, group_size=10, icc=0.3).sentence
        assert "a test that allows for the groups then finds" in said
        assert said.endswith("about 5 %.")
    assert cases_for_difference(0.1, 0.5).sentence.endswith("with 5 % at most.")
    assert cases_for_difference(0.1, 0.5, paired=False).sentence.endswith("with about 5 %.")
