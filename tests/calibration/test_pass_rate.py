"""The true pass rate: right on average, honest about its width, and never worse than the labels alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import ConfigurationError
from jury_adapters.calibration import Votes, agreement_report, prediction_powered_rate, rogan_gladen, true_pass_rate
from jury_adapters.calibration.binomial import exact_interval
from jury_adapters.core.clustered_shares import GroupSum, clustered_wilson, effective_cases
from jury_adapters.core.statistics import Z95, wilson

shares = st.lists(st.integers(0, 1), min_size=2, max_size=40)


def lenient_jury(chance, items, rate=0.7, tpr=0.95, tnr=0.5):
    truth = chance.random(items) < rate
    passed = np.where(truth, chance.random(items) < tpr, chance.random(items) > tnr)
    return truth.astype(float), passed.astype(float)


def test_ppi_by_hand():
    labels, predictions, rest = [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1, 0, 0, 1, 1]
    found = prediction_powered_rate(labels, predictions, rest)
    y, f, others = map(np.array, (labels, predictions, rest))
    lam = np.cov(y, f)[0, 1] / ((1 + 4 / 8) * np.concatenate([f, others]).var(ddof=1))
    assert found.details["lam"] == pytest.approx(lam)
    assert found.value == pytest.approx(lam * others.mean() + (y - lam * f).mean())
    error = np.sqrt(lam**2 * others.var(ddof=1) / 8 + (y - lam * f).var(ddof=1) / 4)
    assert found.details["standard_error"] == pytest.approx(error)
    assert "4 items only" in found.warnings[0]


@pytest.mark.slow
def test_the_interval_holds_the_truth_about_as_often_as_it_says_and_is_narrower_than_that_of_the_labels():
    chance = np.random.default_rng(11)
    held, naive_held, width, label_width = 0, 0, 0.0, 0.0
    for _ in range(400):
        truth, passed = lenient_jury(chance, 2000)
        found = prediction_powered_rate(truth[:200], passed[:200], passed[200:])
        held += found.interval[0] <= 0.7 <= found.interval[1]
        naive_held += abs(passed.mean() - 0.7) < 0.03
        width += np.ptp(found.interval)
        label_width += 2 * 1.96 * truth[:200].std(ddof=1) / np.sqrt(200)
    assert 0.92 <= held / 400 <= 0.98
    assert naive_held == 0  # this jury passes 81.5 %
    assert width < 0.9 * label_width


def test_useless_predictions_cost_nothing():
    labels = [1, 0] * 50
    found = prediction_powered_rate(labels, [1] * 100, [1] * 1000)
    assert (found.value, found.details["lam"]) == (0.5, 0.0)
    backwards = prediction_powered_rate(labels, [0, 1] * 50, [0, 1] * 500)
    assert (backwards.value, backwards.details["lam"]) == (0.5, 0.0)


def test_groups_widen_the_interval():
    chance = np.random.default_rng(2)
    truth, passed = (np.repeat(values, 5) for values in lenient_jury(chance, 60))
    alone = prediction_powered_rate(truth[:200], passed[:200], passed[200:])
    groups = np.repeat(np.arange(60), 5)
    together = prediction_powered_rate(
        truth[:200], passed[:200], passed[200:], groups=groups[:200], unlabelled_groups=groups[200:]
    )
    assert together.value == alone.value
    assert np.ptp(together.interval) > 1.8 * np.ptp(alone.interval)


@pytest.mark.slow
@examples(100)
@given(labels=shares, rest=shares, seed=st.integers(0, 99))
def test_ppi_stays_within_bounds(labels, rest, seed):
    predictions = np.random.default_rng(seed).integers(0, 2, len(labels))
    found = prediction_powered_rate(labels, predictions, rest)
    assert 0 <= found.interval[0] <= found.value <= found.interval[1] <= 1
    assert 0 <= found.details["lam"] <= 1
    assert found.interval[0] < found.interval[1]


def test_what_ppi_refuses():
    assert "2 items" in prediction_powered_rate([1], [1], [0, 1]).reason
    with pytest.raises(ConfigurationError, match="2 labels for 1 predictions"):
        prediction_powered_rate([1, 0], [1], [0])
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        prediction_powered_rate([1, 2], [1, 1], [0])
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        prediction_powered_rate([1, 0], [1, 1], [float("nan")])
    with pytest.raises(ConfigurationError, match="groups has 1"):
        prediction_powered_rate([1, 0], [1, 1], [0], groups=[1])


def test_the_interval_counts_two_more_disagreements():
    """By hand: 20 labels that all agree, lam 1: errors of 0 except one +1 and one -1."""
    labels = [1.0] * 15 + [0.0] * 5
    found = prediction_powered_rate(labels, labels, [1.0] * 750 + [0.0] * 250)
    lam = found.details["lam"]
    values = np.array([*(np.array(labels) - lam * np.array(labels)), 1, -lam])
    shift = values.mean() - values[:-2].mean()
    rest = np.array([1.0] * 750 + [0.0] * 250)
    verdicts = np.array([*rest, 1, 0])
    shift += lam * (verdicts.mean() - rest.mean())
    error = np.sqrt(values.var(ddof=1) / 20 + lam**2 * verdicts.var(ddof=1) / 1000)
    centre = found.value + shift
    assert found.interval == pytest.approx((centre - Z95 * error, min(1.0, centre + Z95 * error)), rel=1e-9)
    assert "disagrees with 0 of 20 labels" in " ".join(found.warnings)


def rate_of(labels, said, rest, **groups):
    found = prediction_powered_rate(labels, said, rest, **groups)
    return found, found.interval


LENIENT, STRICT = [1] * 24, [1] * 17 + [0] * 7


@pytest.mark.parametrize("said", [LENIENT, STRICT], ids=["lenient", "strict"])
@pytest.mark.parametrize("others", [3, 5, 1000])
@pytest.mark.parametrize("fails", [1, 2, 5])
def test_labels_that_fail_make_a_rate_of_one_impossible_and_labels_that_pass_a_rate_of_zero(said, others, fails):
    labels = [1] * (24 - fails) + [0] * fails
    found, (low, high) = rate_of(labels, said, [1] * others)
    most = exact_interval(24 - fails, 24, 0.99)[1]
    assert found.value <= (24 - fails + others) / (24 + others)
    assert found.value <= high <= max(most, found.value) < 1
    assert "100.0 %" not in found.sentence
    opposite, (lowest, highest) = rate_of(*([1 - one for one in given] for given in (labels, said, [1] * others)))
    assert (lowest, highest) == pytest.approx((1 - high, 1 - low))
    assert opposite.value == pytest.approx(1 - found.value)
    assert "interval 0.0 %" not in opposite.sentence


def test_the_sentence_is_about_the_population_and_an_end_beside_one_is_said_to_be_below_it():
    found, _ = rate_of([1] * 22 + [0] * 2, STRICT, [1] * 3 + [0] * 2)
    assert "of items like these (95 % interval" in found.sentence
    labels = [1] * 23 + [0]
    assert " to just below 100 %), judging by 24 labels" in rate_of(labels, STRICT, [1] * 5)[0].sentence
    backwards = rate_of([1 - one for one in labels], [1 - one for one in STRICT], [0] * 5)[0].sentence
    assert "(95 % interval just above 0 % to " in backwards


def test_the_sentence_says_what_must_hold_of_the_labelled_items():
    """As many bad as good ones were picked: too few for the test of the verdicts to notice."""
    gold = ["PASS", "FAIL"] * 12 + [None] * 60
    rows = [["PASS"], ["FAIL"], ["PASS"], ["PASS"]] * 6 + [["PASS"]] * 45 + [["FAIL"]] * 15
    sampled = true_pass_rate(Votes.from_rows(rows, gold=gold))
    assert "24 labels and 60 further verdicts, if the labelled ones are a random sample." in sampled.sentence
    picked = true_pass_rate(Votes.from_rows(rows, gold=gold), random_sample=False)
    assert "random sample" not in picked.sentence
    assert "if these two rates hold for all items." in picked.sentence
    every = true_pass_rate(Votes.from_rows(rows[:24], gold=gold[:24]))
    assert "judging by 24 labels." in every.sentence


def test_labels_in_groups_leave_more_possible_than_as_many_without():
    """By hand: Clopper and Pearson's limits for the number of effective cases."""
    labels, groups = [1] * 22 + [0] * 2, [at // 4 for at in range(24)]
    _, (_, alone) = rate_of(labels, STRICT, [1] * 5)
    _, (_, together) = rate_of(labels, STRICT, [1] * 5, groups=groups)
    effective = effective_cases([GroupSum(4, 4, 4)] * 5 + [GroupSum(4, 2, 2)])
    assert together == exact_interval(22 / 24 * effective, effective, 0.99)[1]
    assert alone < together < 1


def test_enough_disagreements_are_no_warning():
    labels, said = [1.0, 0.0] * 20, [1.0, 0.0] * 17 + [0.0, 1.0] * 3
    assert not any("disagrees with" in told for told in prediction_powered_rate(labels, said, [1.0] * 50).warnings)
    few_seen = prediction_powered_rate(labels, [1.0, 0.0] * 18 + [0.0, 1.0] * 2, [1.0, 0.0] * 50)
    assert "the jury disagrees with 4 of 40 labels" in " ".join(few_seen.warnings)


def test_without_other_verdicts_it_is_wilsons_interval_of_the_labels():
    labels = [1.0] * 28 + [0.0] * 2
    found = prediction_powered_rate(labels, [1.0] * 30, [])
    assert found.value == pytest.approx(28 / 30)
    assert found.interval == pytest.approx(wilson(28, 30))


def test_labels_all_alike_do_not_make_certainty():
    found = prediction_powered_rate([1] * 40, [1] * 40, [1] * 100)
    assert found.value == 1.0
    assert found.interval[0] < 0.95
    assert "the jury disagrees with 0 of 40 labels" in found.warnings[0]


def test_labels_all_alike_in_a_few_groups_are_no_more_observations_than_groups():
    """Five documents with ten items each, all good: that is at most five observations, not fifty."""
    found = prediction_powered_rate([1] * 50, [1] * 50, [1] * 100, groups=[*range(5)] * 10)
    alone = prediction_powered_rate([1] * 5, [1] * 5, [1] * 100)
    assert found.interval[0] < alone.interval[0]
    assert found.interval[1] == alone.interval[1] == 1.0
    assert "come from 5 groups only" in found.warnings[0]


def test_rogan_gladen_says_that_it_knows_no_groups():
    rows = [["PASS"], ["FAIL"], ["PASS"], ["FAIL"]] * 20
    gold = ["PASS", "FAIL", "FAIL", "FAIL"] * 20
    told = true_pass_rate(Votes.from_rows(rows, gold=gold, groups=[*range(8)] * 10), random_sample=False)
    assert "items that belong together are counted as independent" in told.warnings[-1]
    assert true_pass_rate(Votes.from_rows(rows, gold=gold), random_sample=False).value == told.value


def test_rogan_gladen_by_hand():
    # TPR 0.9, TNR 0.8, 62 % passed: (0.62 + 0.8 - 1) / 0.7
    found = rogan_gladen(620, 1000, true_positives=90, positives=100, true_negatives=40, negatives=50)
    assert found.value == pytest.approx(0.6)
    assert (found.details["tpr"], found.details["tnr"], found.details["naive"]) == (0.9, 0.8, 0.62)
    assert found.interval[0] < 0.6 < found.interval[1]
    assert not found.warnings


def test_rogan_gladen_covers_with_labels_that_are_no_random_sample():
    chance = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        _, passed = lenient_jury(chance, 2000)
        good, bad = (chance.random(100) < share for share in (0.95, 0.5))
        found = rogan_gladen(
            int(passed.sum()), 2000, true_positives=int(good.sum()), positives=100,
            true_negatives=int(bad.sum()), negatives=100,
        )  # fmt: skip
        held += found.interval[0] <= 0.7 <= found.interval[1]
    assert 0.92 <= held / 400 <= 0.99


def test_what_rogan_gladen_refuses_and_warns_of():
    guessing = rogan_gladen(5, 10, true_positives=5, positives=10, true_negatives=5, negatives=10)
    assert "no better than guessing" in guessing.reason
    assert rogan_gladen(5, 10, true_positives=0, positives=0, true_negatives=5, negatives=10).value is None
    off = rogan_gladen(99, 100, true_positives=80, positives=100, true_negatives=80, negatives=100)
    assert off.value == 1.0
    assert "fell outside" in off.warnings[0]
    with pytest.raises(ConfigurationError, match="11 of 10"):
        rogan_gladen(11, 10, true_positives=0, positives=0, true_negatives=0, negatives=0)


@pytest.mark.slow
def test_votes_bring_everything_the_rate_needs():
    truth, passed = lenient_jury(np.random.default_rng(8), 3000)
    gold = ["PASS" if good else "FAIL" for good in truth[:300]] + [None] * 2700
    votes = Votes.from_rows([[bool(vote)] * 3 for vote in passed], gold=gold)
    found = true_pass_rate(votes)
    assert abs(found.value - 0.7) < 0.05
    assert found.details["naive"] == passed.mean()
    assert (found.details["labelled"], found.details["unlabelled"]) == (300, 2700)
    assert found.details["labelled_only"] == truth[:300].mean()
    assert found.details["rogan_gladen"] == pytest.approx(0.7, abs=0.06)
    assert "Taken at face value, most of the jurors pass 8" in found.sentence
    other = true_pass_rate(votes, juror="juror 2", random_sample=False)
    assert other.name == "true pass rate (Rogan-Gladen)"
    assert other.value == found.details["rogan_gladen"]
    with pytest.raises(ConfigurationError, match="pass_label"):
        true_pass_rate(Votes.from_rows([["good"], ["bad"]]))
    assert true_pass_rate(Votes.from_rows([["PASS"], ["FAIL"]])).value is None


def test_labelled_items_on_which_the_jury_abstained_count_with_their_labels():
    """60 of 100 labels are PASS; the jury decides only those 60, so the decided items alone would say 100 %."""
    rows = [["PASS"]] * 60 + [[None]] * 40 + [["PASS"]] * 120 + [[None]] * 80
    votes = Votes.from_rows(rows, gold=["PASS"] * 60 + ["FAIL"] * 40 + [None] * 200)
    found = true_pass_rate(votes)
    assert found.value == pytest.approx(0.6, abs=0.01)
    assert found.interval[0] < 0.6 < found.interval[1]
    assert (found.n, found.details["decided"]) == (300, 180)
    assert (found.details["labelled"], found.details["unlabelled"]) == (100, 200)
    assert found.details["labelled_only"] == 0.6
    assert "The jury decided 60.0 % of the items; this rate counts all items." in found.sentence
    assert "Taken at face value, most of the jurors pass 100.0 %" in found.sentence


def test_rogan_gladens_rate_is_said_to_be_that_of_the_decided_items():
    rows = [["PASS"], ["FAIL"], ["PASS"], ["FAIL"], [None]] * 20
    votes = Votes.from_rows(rows, gold=["PASS", "FAIL", "FAIL", "FAIL", "PASS"] * 20)
    found = true_pass_rate(votes, random_sample=False)
    assert found.n == 80
    assert found.details["labelled"] == 80
    assert "The jury decided 80.0 % of the items; this rate is that of the decided items." in found.sentence


@pytest.mark.slow
def test_the_rate_covers_when_the_jury_abstains_more_often_on_bad_items():
    chance = np.random.default_rng(12)
    held = 0
    for _ in range(300):
        good = chance.random(800) < 0.7
        asked = chance.random(800) < np.where(good, 0.95, 0.6)
        passed = chance.random(800) < np.where(good, 0.97, 0.2)
        rows = [[bool(said) if decides else None] for said, decides in zip(passed, asked, strict=True)]
        gold = ["PASS" if is_good else "FAIL" for is_good in good[:60]] + [None] * 740
        low, high = true_pass_rate(Votes.from_rows(rows, gold=gold)).interval
        held += low <= 0.7 <= high
    assert 0.92 <= held / 300 <= 0.99


def test_a_jury_that_decides_nothing_leaves_the_labels():
    votes = Votes.from_rows([[None]] * 50, gold=["PASS"] * 15 + ["FAIL"] * 5 + [None] * 30)
    found = true_pass_rate(votes)
    assert found.value == 0.75
    assert found.details["naive"] is None
    assert "face value" not in found.sentence


def test_groups_that_are_labelled_in_part_are_one_group():
    """By hand: the squared sums of what each group adds; with the groups of one side alone, none is in both."""
    chance = np.random.default_rng(12)
    truth, passed = lenient_jury(chance, 120)
    groups = np.arange(120) % 20
    found = prediction_powered_rate(
        truth[:60], passed[:60], passed[60:], groups=groups[:60], unlabelled_groups=groups[60:]
    )
    lam = found.details["lam"]
    errors, rest = truth[:60] - lam * passed[:60], passed[60:]
    own = np.bincount(groups[:60], (errors - errors.mean()) / 60)
    others = lam * np.bincount(groups[60:], (rest - rest.mean()) / 60)
    expected = 20 / 19 * (own @ own + others @ others) + 2 * own @ others
    assert found.details["standard_error"] == pytest.approx(expected**0.5)
    apart = prediction_powered_rate(truth[:60], passed[:60], passed[60:], groups=groups[:60])
    independent = (errors.var(ddof=1) + lam**2 * rest.var(ddof=1)) / 60
    assert 20 / 19 * own @ own + lam**2 * rest.var(ddof=1) / 60 < independent  # the variance of so few groups is luck
    assert apart.details["standard_error"] ** 2 == pytest.approx(independent)


@examples(60)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(3, 12),
    size=st.integers(2, 12),
    labelled=st.floats(0.2, 0.8),
    rate=st.sampled_from([0.5, 0.8, 0.95]),
)
def test_groups_never_make_the_interval_narrower(seed, count, size, labelled, rate):
    random = np.random.default_rng(seed)
    good = (random.random(count * size) < rate).astype(float)
    passed = np.where(random.random(len(good)) < 0.8, good, 1 - good)
    groups, known = np.repeat(np.arange(count), size), random.random(len(good)) < labelled
    parts = good[known], passed[known], passed[~known]
    alone = prediction_powered_rate(*parts)
    together = prediction_powered_rate(*parts, groups=groups[known], unlabelled_groups=groups[~known])
    if alone.interval is not None and together.interval is not None:
        assert together.value == alone.value
        assert np.ptp(together.interval) >= np.ptp(alone.interval) - 1e-9


def test_a_few_groups_widen_the_interval_by_the_quantile_of_student():
    """The quantile of 8 groups is 2.36, not 1.96, however independent their cases are."""
    random = np.random.default_rng(5)
    good, groups = (random.random(224) < 0.7).astype(float), np.repeat(np.arange(8), 28)
    passed = np.where(random.random(224) < 0.8, good, 1 - good)
    known = random.random(224) < 0.4
    parts = good[known], passed[known], passed[~known]
    alone = prediction_powered_rate(*parts)
    together = prediction_powered_rate(*parts, groups=groups[known], unlabelled_groups=groups[~known])
    assert np.ptp(together.interval) > 1.15 * np.ptp(alone.interval)


def test_the_rate_at_face_value_knows_of_the_groups_too():
    rows, gold = [["PASS"], ["PASS"], ["FAIL"], ["PASS"]] * 10, ["PASS", "FAIL", "FAIL", "PASS"] * 10
    alone = true_pass_rate(Votes.from_rows(rows, gold=gold)).details
    grouped = true_pass_rate(Votes.from_rows(rows * 5, gold=gold * 5, groups=list(range(40)) * 5)).details
    assert alone["naive_interval"] == list(wilson(30, 40))
    assert grouped["naive_interval"] == list(clustered_wilson([(5, 5)] * 30 + [(0, 5)] * 10))
    assert alone["rogan_gladen_interval"] is not None
    assert grouped["rogan_gladen_interval"] is None


def checked_by_verdict(fails, passes, others):
    """All items that the jury fails, and some that it passes, have a label, which says what the jury says."""
    rows = [["FAIL"]] * fails + [["PASS"]] * (passes + others)
    return Votes.from_rows(rows, gold=["FAIL"] * fails + ["PASS"] * passes + [None] * others)


@pytest.mark.parametrize(("passes", "others"), [(13, 120), (6, 127), (20, 113)])
def test_labels_of_what_the_jury_fails_are_not_a_random_sample(passes, others):
    found = true_pass_rate(checked_by_verdict(27, passes, others))
    assert (found.value, found.interval) == (None, None)
    assert found.reason == (
        f"the verdict is PASS in {passes} of the {27 + passes} items with a label and in {others} of the {others} "
        "others, so the labelled items are not a random sample; label a random part of all items"
    )
    assert found.details["labelled_only"] == passes / (27 + passes)
    assert found.sentence == f"Human labels do not correct the pass rate: {found.reason}."
    report = agreement_report(checked_by_verdict(27, passes, others), draws=0)
    assert found.sentence in report.in_short


def test_labels_of_what_the_jury_leaves_open_are_not_a_random_sample():
    rows = [[None]] * 30 + [["PASS"], ["FAIL"]] * 60
    votes = Votes.from_rows(rows, gold=["PASS", "FAIL"] * 15 + ["PASS"] * 10 + [None] * 110)
    assert true_pass_rate(votes).reason.startswith("there is a verdict in 10 of the 40 items with a label and in 110 ")


def test_whole_groups_may_be_labelled_though_their_verdicts_differ_from_those_of_others():
    votes = checked_by_verdict(27, 13, 120)
    rows = [["PASS" if one else "FAIL"] for one in (votes.codes[:, 0] == votes.pass_code)]
    gold = ["FAIL"] * 27 + ["PASS"] * 13 + [None] * 120
    assert true_pass_rate(Votes.from_rows(rows, gold=gold, groups=[at // 10 for at in range(160)])).value is not None


@pytest.mark.slow
def test_a_random_sample_is_hardly_ever_taken_for_another_one():
    chance = np.random.default_rng(21)
    refused = 0
    for _ in range(1000):
        truth, passed = lenient_jury(chance, 200)
        gold = ["PASS" if good else "FAIL" for good in truth[:60]] + [None] * 140
        refused += true_pass_rate(Votes.from_rows([[bool(vote)] for vote in passed], gold=gold)).value is None
    assert refused <= 5  # 1 is expected at most


@pytest.mark.parametrize(("fails", "passes", "others"), [(27, 13, 120), (27, 6, 127), (16, 24, 96)])
def test_labels_that_exclude_the_estimate_do_not_make_the_interval_narrow(fails, passes, others):
    """The interval reaches from the labels' own 99 % interval to the end of that of the estimate."""
    labels = [0] * fails + [1] * passes
    found = prediction_powered_rate(labels, labels, [1] * others)
    highest = exact_interval(passes, fails + passes, 0.99)[1]
    assert found.value > highest >= found.interval[0]
    assert found.interval[1] >= found.value
    assert "the labels alone exclude this rate" in found.warnings[-1]
