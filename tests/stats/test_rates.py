"""Pass rates and differences, beside statsmodels and SciPy, and with the traps of labels that are no random sample."""

from dataclasses import replace

import numpy as np
import pytest
import scipy
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import codefeedback

from jury_adapters import Case, judge
from jury_adapters.core.values import ConfigurationError
from jury_adapters.stats import Votes, compare, pass_rate, true_pass_rate
from jury_adapters.stats.figures import wilson
from jury_adapters.stats.rates import random_sample_test

SAID = st.sampled_from(["yes", "no", None])


def votes_of(said, **options):
    return Votes.from_rows([[one] for one in said], **options)


def test_a_pass_rate_is_wilsons_share_of_the_decided():
    found = pass_rate(votes_of(["yes"] * 30 + ["no"] * 10 + [None] * 5))
    assert (found.value, found.n, found.of) == (0.75, 40, "the jury")
    assert found.interval == pytest.approx(wilson(30, 40))
    assert found.note == "5 of 45 undecided: 0.667 to 0.778 of all"


def test_jurors_have_pass_rates_of_their_own():
    votes = Votes.from_rows([["yes", "no"], ["yes", "no"]], jurors="ab", verdicts=["yes", "no"])
    assert [pass_rate(votes, voter).value for voter in ("a", "b", "the jury")] == [1.0, 0.0, 0.5]


@pytest.mark.parametrize("rate", [pass_rate, true_pass_rate])
def test_a_rate_takes_pass_and_fail(rate):
    with pytest.raises(ConfigurationError, match="PASS and FAIL, not KEEP"):
        rate(votes_of(["KEEP"]))
    with pytest.raises(ConfigurationError, match="no voter"):
        rate(votes_of(["yes"]), "someone")
    with pytest.raises(ConfigurationError, match="not scores; votes of 1 and 0 are True and False"):
        rate(votes_of([1, 0]))


@settings(deadline=None, max_examples=25)
@given(st.lists(SAID, max_size=3), st.lists(st.sampled_from([True, False, None]), min_size=3, max_size=3))
def test_tiny_batches_have_rates_within_their_bounds_or_none(said, labels):
    votes = votes_of(said, human_labels=labels[: len(said)])
    for found in (pass_rate(votes), true_pass_rate(votes)):
        assert found.value is None or 0 <= found.interval[0] <= found.value <= found.interval[1] <= 1
        assert found.value is not None or found.note


def test_the_corrected_rate_by_hand():
    """Angelopoulos, Duchi and Zrnic (2023): lam = cov(y, f) / ((1 + n/N) var(f)), in 0..1."""
    rng = np.random.default_rng(4)
    good = rng.random(400) < 0.7
    said = np.where(rng.random(400) < 0.9, good, ~good)
    known = rng.random(400) < 0.25
    votes = votes_of(
        said.tolist(),
        human_labels=[label if is_known else None for label, is_known in zip(good.tolist(), known, strict=True)],
    )
    found = true_pass_rate(votes)
    y, f, n, rest = good[known].astype(float), said.astype(float), known.sum(), (~known).sum()
    lam = ((y * f[known]).mean() - y.mean() * f[known].mean()) / ((1 + n / rest) * f.var())
    assert found.value == pytest.approx(lam * f[~known].mean() + (y - lam * f[known]).mean())
    assert found.details == {
        "labelled": n,
        "unlabelled": rest,
        "labels": pytest.approx(y.mean()),
        "lam": pytest.approx(lam),
    }
    error = np.sqrt((y - lam * f[known]).var() / n + lam**2 * f.var() / rest)
    assert np.ptp(found.interval) == pytest.approx(2 * 1.96 * error, rel=0.2)


def test_recorded_votes_have_the_rate_of_version_0_2():
    votes = codefeedback()
    known = np.random.default_rng(3).random(len(votes)) < 0.1
    found = true_pass_rate(replace(votes, gold=np.where(known, votes.gold, -1)), "gpt-4o-mini")
    assert found.value == pytest.approx(0.9156061686090754, abs=2e-4)
    assert found.interval == pytest.approx((0.877628023324801, 0.94825514678749), abs=0.012)


def test_useless_verdicts_leave_the_labels_alone():
    labels = [True, True, False, True, None, None, None, None] * 10
    found = true_pass_rate(votes_of(["yes"] * 80, human_labels=labels))
    assert (found.value, found.details["lam"]) == (0.75, 0.0)


def test_where_all_cases_are_labelled_it_is_the_share_of_the_labels():
    found = true_pass_rate(votes_of(["yes", "no"] * 20, human_labels=[True, True, True, False] * 10))
    assert (found.value, found.n) == (0.75, 40)
    assert found.interval == pytest.approx(wilson(30, 40))


def test_undecided_verdicts_count_one_half():
    said, labels = ["yes", "no", None] * 40, [at % 8 == 0 if at % 4 == 0 else None for at in range(120)]
    found = true_pass_rate(votes_of(said, human_labels=labels))
    f, known = np.tile([1.0, 0.0, 0.5], 40), np.arange(120) % 4 == 0
    y, lam = np.array([label is True for label in labels])[known], found.details["lam"]
    assert found.value == pytest.approx(lam * f[~known].mean() + (y - lam * f[known]).mean())
    assert found.n == 120


@pytest.mark.parametrize("labels", [[None] * 9, [True] + [None] * 8])
def test_a_corrected_rate_takes_two_labels(labels):
    found = true_pass_rate(votes_of(["yes"] * 9, human_labels=labels))
    assert (found.value, found.note) == (None, "fewer than 2 cases with human labels")


def test_labels_that_are_no_random_sample_give_no_rate():
    said = ["yes"] * 100 + ["no"] * 100
    picked = true_pass_rate(votes_of(said, human_labels=[None] * 100 + [False] * 60 + [True] * 40))
    assert picked.value is None
    assert picked.note == (
        "labelled cases are no random sample: 0.000 of them have verdicts of PASS, and 1.000 of the others"
    )
    decided = votes_of(["yes"] * 100 + [None] * 100, human_labels=[True] * 60 + [None] * 140)
    sure = votes_of(["yes"] * 200, human_labels=[True] * 60 + [None] * 140, confidences=[[0.9]] * 60 + [[0.6]] * 140)
    alike = Votes.from_rows(
        [["yes"] * 3] * 80 + [["yes", "yes", "no"]] * 120,
        verdicts=["yes"] * 200,
        human_labels=[True] * 60 + [None] * 140,
    )
    assert [true_pass_rate(votes).value for votes in (decided, sure, alike)] == [None] * 3


def test_failed_runs_are_fail_in_the_rate_and_left_out_of_the_corrected_one():
    cases = [Case(answer=f"{at}", id=f"{at}", metadata={"gold": "pass"}) for at in range(30)]
    failed = [Case(error="boom", id=f"e{at}", metadata={"gold": "fail"}) for at in range(10)]
    votes = Votes.of(judge(lambda case: True).judge_pairs([*cases, *failed]), label="gold")
    assert (pass_rate(votes).value, pass_rate(votes).n) == (0.75, 40)
    found = true_pass_rate(votes)
    assert (found.value, found.n, found.note) == (1.0, 30, "without failed runs of the application: 10")


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_independent_labels_are_tested_by_fisher(cases):
    labelled, holds = map(np.array, zip(*cases, strict=True))
    table = [
        [(labelled & holds).sum(), (labelled & ~holds).sum()],
        [(~labelled & holds).sum(), (~labelled & ~holds).sum()],
    ]
    tails = [scipy.stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert random_sample_test(labelled, holds, np.arange(len(labelled))) == pytest.approx(min(1, 2 * min(tails)))


def test_groups_are_tested_within_and_between():
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(200), 10)
    holds = rng.random(2000) < rng.random(200)[groups]
    whole = np.isin(groups, rng.permutation(200)[:60])
    assert random_sample_test(whole, holds, groups) > 0.001  # whole groups were drawn
    assert random_sample_test(whole, holds, np.arange(2000)) != random_sample_test(whole, holds, groups)
    picked = whole & (holds | (rng.random(2000) < 0.5))  # within these, mostly cases that hold
    assert random_sample_test(picked, holds, groups) < 1e-9
    sums = np.bincount(groups, weights=holds)
    of_groups = np.isin(groups, np.argsort(sums)[:60])  # groups in which few hold
    assert random_sample_test(of_groups, holds, groups) < 1e-6


def both(a, b, **options):
    """Return the votes on two systems that answer the same cases."""
    ids = [f"{at}" for at in range(len(a))]
    return votes_of(a, ids=ids, **options), votes_of(b, ids=ids, **options)


def test_a_paired_difference_by_hand():
    from statsmodels.stats.contingency_tables import mcnemar

    found = compare(*both(["yes"] * 40 + ["no"] * 10, ["yes"] * 38 + ["no"] * 2 + ["yes"] * 8 + ["no"] * 2))
    assert (round(found.value, 9), found.n) == (0.12, 50)
    assert {name: found.details[name] for name in ("a_only", "b_only")} == {"a_only": 2, "b_only": 8}
    assert found.details["p_value"] == pytest.approx(mcnemar([[38, 2], [8, 2]], exact=True).pvalue)
    assert found.interval == pytest.approx((-0.010, 0.253), abs=0.03)  # Newcombe's, of version 0.2


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(SAID, SAID), min_size=1, max_size=30))
def test_the_other_way_round_is_the_negative(pairs):
    a, b = zip(*pairs, strict=True)
    there, back = compare(*both(a, b)), compare(*both(b, a))
    assert there.n == back.n == sum(None not in pair for pair in pairs)
    if there.value is None:
        assert there.note.startswith("too few cases")
        return
    assert there.value == pytest.approx(-back.value)
    if there.interval:
        low, high = there.interval
        assert -1 <= low <= there.value <= high <= 1
        assert (low > 0 or high < 0) <= (there.details["p_value"] < 0.05)


def test_undecided_pairs_are_counted():
    found = compare(*both(["yes", "no", None], ["yes", "yes", "yes"]))
    assert (found.value, found.n) == (0.5, 2)
    assert found.note.startswith("1 of 3 pairs undecided: 0.333 to 0.667 of all")


def test_repeated_ids_are_one_case_in_a_comparison():
    ids = [f"q{at}" for at in range(20) for _ in range(10)]
    a, b = votes_of(["yes"] * 100 + ["no"] * 100, ids=ids), votes_of(["yes"] * 120 + ["no"] * 80, ids=ids)
    found = compare(a, b)
    assert (found.value, found.n) == (0.1, 20)
    assert found.interval[0] <= 0
    alone = compare(*both(["yes"] * 100 + ["no"] * 100, ["yes"] * 120 + ["no"] * 80))
    assert np.ptp(found.interval) > 2 * np.ptp(alone.interval)


def test_cases_are_paired_by_id_in_any_order_and_by_content():
    a = votes_of(["yes", "no", "no"], ids=["1", "2", "3"])
    b = votes_of(["yes", "yes", "no"], ids=["2", "4", "1"])
    assert (compare(a, b).value, compare(a, b).n) == (0.0, 2)
    cases = [Case(answer=f"{at}") for at in range(8)]
    strict, lenient = (
        Votes.of(judge(lambda case, least=least: case.answer >= least).judge_pairs(cases)) for least in "42"
    )
    assert compare(strict, lenient).value == 0.25


def test_without_common_cases_a_comparison_is_refused():
    for a, b in ((votes_of(["yes"]), votes_of(["yes"])), (votes_of(["yes"], ids=["1"]), votes_of(["yes"], ids=["2"]))):
        with pytest.raises(ConfigurationError, match="no id is in both; paired=False"):
            compare(a, b)


def test_groups_widen_a_paired_difference():
    rng = np.random.default_rng(8)
    a, b = (np.repeat(rng.random(40) < rate, 5).tolist() for rate in (0.5, 0.8))
    alone, grouped = compare(*both(a, b)), compare(*both(a, b, groups=np.repeat(np.arange(40), 5).tolist()))
    assert alone.value == grouped.value
    assert np.ptp(grouped.interval) > 1.6 * np.ptp(alone.interval)
    assert grouped.details["p_value"] > alone.details["p_value"]
    of_a, of_b = both(a, b, groups=np.repeat(np.arange(40), 5).tolist())
    without, _ = both(a, b)
    assert compare(of_a, replace(of_b, groups=without.groups)) == grouped


def test_labels_correct_a_jury_that_favours_one_system():
    rng = np.random.default_rng(9)
    good = rng.random((2, 2000)) < 0.7
    said = np.stack([np.where(rng.random(2000) < 0.9, good[0], ~good[0]), good[1] | (rng.random(2000) < 0.5)])
    known = rng.random(2000) < 0.2
    labels = [[bool(one) if is_known else None for one, is_known in zip(row, known, strict=True)] for row in good]
    ids = range(2000)
    a, b = (votes_of(said[at].tolist(), human_labels=labels[at], ids=ids) for at in (0, 1))
    plain, found = compare(replace(a, gold=0 * a.gold - 1), b), compare(a, b)
    assert plain.interval[0] > 0.1
    assert (found.name, found.n) == ("difference of true pass rates", 2000)
    assert found.interval[0] < good[1].mean() - good[0].mean() < found.interval[1]


def test_labels_of_both_answers_leave_nothing_to_the_jury():
    ids, labels = range(20), [True, False] * 10
    a = votes_of(["yes"] * 20, ids=ids, human_labels=labels)
    b = votes_of(["no"] * 20, ids=ids, human_labels=[True] * 20)
    found = compare(a, b)
    assert (found.value, found.details["p_value"]) == (0.5, pytest.approx(2 * 0.5**10))


def test_labels_of_the_cases_that_changed_are_no_random_sample():
    a, b = ["yes"] * 150 + ["no"] * 50, ["yes"] * 100 + ["no"] * 50 + ["yes"] * 50
    labels = [None] * 100 + [True] * 100
    ids = range(200)
    found = compare(
        votes_of(a, ids=ids, human_labels=labels),
        votes_of(b, ids=ids, human_labels=labels[:100] + [True] * 40 + [False] * 60),
    )
    assert (found.name, found.value) == ("difference of pass rates", 0.0)
    assert "no random sample: 1.000 of them have different verdicts, and 0.000" in found.note


@each_row(
    ("labels", "same", "value", "alone"),
    [
        ([True] * 200, True, 0.5, {"a_only": 0, "b_only": 100}),  # two judges of one version
        ([True, False] * 100, True, 0.5, {"a_only": 50, "b_only": 50}),
        ([True] + [None] * 199, True, 0.5, {"a_only": 0, "b_only": 1}),
        ([True] * 200, False, 0.0, None),  # other answers, which are as good
        ([True, False] * 100, False, 0.0, None),
        (([None] * 3 + [True]) * 50, False, 0.0, None),
    ],
)
def test_labels_that_are_the_same_on_both_sides_count_if_the_answers_differ(labels, same, value, alone):
    a = votes_of(["no"] * 100 + ["yes"] * 100, ids=range(200), human_labels=labels)
    b = votes_of(["yes"] * 200, ids=range(200), human_labels=labels)
    found = compare(replace(a, contents=np.arange(1, 201)), replace(b, contents=np.arange(1, 201) + (not same)))
    assert found.value == pytest.approx(value)
    assert alone is None or alone.items() <= found.details["agreement"].items()
    assert ("the answers are the same" if same else "the same on both sides, though the answers") in found.note
    unknown = compare(a, b)
    assert (unknown.name.split(" of ")[1], unknown.interval[0] <= 0) == (
        ("true pass rates", True) if sum(label is not None for label in labels) > 1 else ("pass rates", False)
    )


def test_few_random_labels_of_rare_fails_in_groups_are_a_random_sample():
    rng = np.random.default_rng(3)
    groups, refused = np.repeat(np.arange(170), 16), 0
    for _ in range(60):
        passed, known = rng.random(2720) < 0.963, rng.permutation(2720) < 30
        refused += random_sample_test(known, passed, groups) < 0.001
    assert refused <= 1


@each_row(("rate", "all_right"), [(0.9, False), (0.97, False), (1.0, True)])
def test_one_label_per_group_is_as_good_as_one_per_case(rate, all_right):
    rng = np.random.default_rng(0)
    good, known = rng.random(2000) < rate, rng.permutation(2000) < 50
    said = np.where(rng.random(2000) < 0.95, good, ~good).tolist()
    labels = [bool(one) if is_known else None for one, is_known in zip(good, known, strict=True)]
    groups = (np.arange(2000) // 20).tolist()
    alone = true_pass_rate(votes_of(said, human_labels=labels))
    grouped = true_pass_rate(votes_of(said, human_labels=labels, groups=groups))
    assert np.ptp(alone.interval) <= np.ptp(grouped.interval) < 1.8 * np.ptp(alone.interval)
    assert all_right is (alone.value == 1.0)


@each_row(("a", "n", "b", "m"), [(48, 80, 56, 70), (0, 10, 10, 10), (5, 5, 5, 5), (97, 100, 2, 9)])
def test_an_unpaired_difference_has_newcombes_interval(a, n, b, m):
    from statsmodels.stats.proportion import confint_proportions_2indep

    found = compare(votes_of(["yes"] * a + ["no"] * (n - a)), votes_of(["yes"] * b + ["no"] * (m - b)), paired=False)
    assert (found.value, found.n) == (pytest.approx(b / m - a / n), n + m)
    assert found.interval == pytest.approx(confint_proportions_2indep(b, m, a, n, method="newcomb"), abs=1e-9)


def test_unpaired_samples_have_groups_and_reasons():
    one, other = votes_of(["yes"] * 40 + ["no"] * 20), votes_of(["yes"] * 30 + ["no"] * 30)
    groups = np.repeat(np.arange(12), 5)
    grouped = compare(replace(one, groups=groups), replace(other, groups=groups), paired=False)
    assert np.ptp(grouped.interval) > np.ptp(compare(one, other, paired=False).interval)
    assert grouped.note == "a: rough, of 12 groups; b: rough, of 12 groups"
    nothing = compare(votes_of([None]), other, paired=False)
    assert (nothing.value, nothing.note) == (None, "a: no such case; 1 of 1 undecided: 0.000 to 1.000 of all")
