"""The difference of the pass rates of two systems, with and without labels."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import ConfigurationError
from jury_adapters.calibration import prediction_powered_rate
from jury_adapters.core.clustered_shares import clustered_unpaired_interval
from jury_adapters.core.statistics import Z95, mcnemar_exact, paired_interval
from jury_adapters.statistics import compare, compare_unpaired

SAID = st.sampled_from([0, 1, None])
SYSTEMS = st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.lists(SAID, min_size=n, max_size=n)] * 4))


def drawn(seed, n=400, labelled=80):
    """Two systems that are equally good, and a jury that passes bad answers of b."""
    random = np.random.default_rng(seed)
    people = random.random((2, n)) < 0.7
    verdicts = random.random((2, n)) < np.where(people, 0.95, [[0.1], [0.6]])
    labels = [[int(said) if at < labelled else None for at, said in enumerate(one)] for one in people]
    return verdicts.astype(int).tolist(), labels


def test_by_the_verdicts_alone():
    found = compare([1] * 40 + [0] * 10, [1] * 38 + [0] * 2 + [1] * 8 + [0] * 2)
    assert found.value == 6 / 50
    assert found.interval == paired_interval(38, 2, 8, 2)
    assert found.details["p_value"] == mcnemar_exact(2, 8)
    assert "b passes 12.0 percentage points more" in found.sentence


def test_independent_samples():
    found = compare_unpaired([1] * 48 + [0] * 32 + [None], [1] * 56 + [0] * 14)
    assert found.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert (found.n, found.details["decided_a"], found.details["better"]) == (150, 80, "b")
    assert compare_unpaired([], [1]).value is None


def test_independent_samples_in_groups():
    a, b = [1, 1, 0, 0] * 20 + [None], [1, 1, 1, 1, 0, 0] * 15
    groups_a, groups_b = [n // 2 for n in range(81)], [n // 2 for n in range(90)]
    found, alone = compare_unpaired(a, b, groups_a=groups_a, groups_b=groups_b), compare_unpaired(a, b)
    assert found.interval == clustered_unpaired_interval([(2, 2), (0, 2)] * 20, [(2, 2), (2, 2), (0, 2)] * 15)
    assert (found.value, found.details["groups"], alone.details["groups"]) == (alone.value, 45, None)
    assert found.interval[0] < alone.interval[0] < alone.interval[1] < found.interval[1]
    assert "95 % interval, 45 groups:" in found.sentence
    assert found.warnings == ("40 groups are in a and in b, so the interval is wider than it needs to be",)
    apart = compare_unpaired(a, b, groups_a=groups_a, groups_b=[f"b{n}" for n in groups_b])
    assert (apart.interval, apart.details["groups"], apart.warnings) == (found.interval, 85, ())
    for groups in ({"groups_a": groups_a}, {"groups_a": groups_a, "groups_b": [1]}):
        with pytest.raises(ConfigurationError, match="groups_b has"):
            compare_unpaired(a, b, **groups)


def test_labels_correct_a_jury_that_favours_one_system():
    (a, b), (of_a, of_b) = drawn(1)
    plain, found = compare(a, b), compare(a, b, labels_a=of_a, labels_b=of_b)
    assert plain.interval[0] > 0.05
    assert found.interval[0] < 0 < found.interval[1]
    assert found.details["naive"] == plain.value
    assert "Corrected by human labels of 80 cases" in found.sentence
    assert "Taken at face value, the verdicts differ by" in found.sentence


def test_the_estimate_by_hand():
    """The regression estimator: lam is the slope of labels on verdicts, shrunk by 1 + n/N."""
    (a, b), (of_a, of_b) = drawn(2)
    found = compare(a, b, labels_a=of_a, labels_b=of_b)
    d = np.array(of_b[:80], float) - np.array(of_a[:80], float)
    f = np.array(b, float) - np.array(a, float)
    lam = np.cov(d, f[:80])[0, 1] / ((1 + 80 / 320) * f.var(ddof=1))
    assert found.details["lam"] == pytest.approx(lam)
    assert found.value == pytest.approx(lam * f[80:].mean() + (d - lam * f[:80]).mean())
    variance = (d - lam * f[:80]).var(ddof=1) / 80 + lam**2 * f[80:].var(ddof=1) / 320
    assert found.details["standard_error"] == pytest.approx(variance**0.5)
    errors, rest = np.append(d - lam * f[:80], [1, -1]), np.append(f[80:], [1, -1])
    spread = (errors.var(ddof=1) / 80 + lam**2 * rest.var(ddof=1) / 320) ** 0.5
    centre = lam * rest.mean() + errors.mean()
    assert found.interval == pytest.approx((centre - Z95 * spread, centre + Z95 * spread))


def test_the_standard_error_of_groups_is_that_of_statsmodels():
    """The cluster-robust error of a mean, where the labels of each case are known and the jury is of no use."""
    random = np.random.default_rng(3)
    groups = np.repeat(np.arange(40), 5)
    hard = random.random(40)[groups]
    a, b = (np.where(random.random(200) < 0.6, hard, random.random(200)) < share for share in (0.5, 0.7))
    found = compare(a.tolist(), b.tolist(), groups=groups.tolist())
    d = b.astype(float) - a
    fitted = sm.OLS(d, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    clustered = float(fitted.bse[0]) * (40 / 39) ** 0.5
    known = np.arange(200) < 150
    labels = [[int(said) if there else None for said, there in zip(one, known, strict=True)] for one in (a, b)]
    useless = compare([1] * 200, [1] * 200, labels_a=labels[0], labels_b=labels[1], groups=groups.tolist())
    part = sm.OLS(d[:150], np.ones(150)).fit(
        cov_type="cluster", cov_kwds={"groups": groups[:150], "use_correction": False}
    )
    assert useless.details["lam"] == 0
    assert useless.details["standard_error"] == pytest.approx(float(part.bse[0]) * (30 / 29) ** 0.5, abs=1e-6)
    half = (found.interval[1] - found.interval[0]) / 2
    assert 0.95 * Z95 * clustered < half < 1.35 * Z95 * clustered  # four more cases, and Student's quantiles
    assert found.details["groups"] == 40
    assert 0 < found.details["p_value"] < 1


def test_groups_that_are_labelled_in_part_share_their_luck():
    """By hand: the squared sums of what each group adds to the estimate."""
    (a, b), (of_a, of_b) = drawn(4, n=60, labelled=30)
    random = np.random.default_rng(5)
    order = sorted(range(60), key=lambda at: (b[at] - a[at], random.random()))  # the cases of a group are alike
    a, b, of_a, of_b = ([values[at] for at in order] for values in (a, b, of_a, of_b))
    groups = (np.arange(60) // 6).tolist()
    found = compare(a, b, labels_a=of_a, labels_b=of_b, groups=groups)
    known = np.array([label is not None for label in of_a])
    d = np.array([0 if y is None else y - x for x, y in zip(of_a, of_b, strict=True)], float)
    f, lam = np.array(b, float) - np.array(a, float), found.details["lam"]
    errors, rest = (d - lam * f)[known], f[~known]
    own = np.bincount(np.array(groups)[known], (errors - errors.mean()) / 30, 10)
    others = lam * np.bincount(np.array(groups)[~known], (rest - rest.mean()) / 30, 10)
    expected = 10 / 9 * (own @ own + others @ others) + 2 * own @ others
    assert found.details["standard_error"] == pytest.approx(expected**0.5)


def test_labels_of_every_case_leave_nothing_to_the_jury():
    of_a, of_b = [1] * 30 + [0] * 20, [1] * 28 + [0] * 2 + [1] * 12 + [0] * 8
    found = compare([1] * 50, [0] * 50, labels_a=of_a, labels_b=of_b)
    plain = compare(of_a, of_b)
    assert (found.value, found.interval) == (pytest.approx(plain.value), plain.interval)
    assert found.details["p_value"] == plain.details["p_value"]


def test_labels_of_one_answer_are_counted_and_left_out():
    (a, b), (of_a, of_b) = drawn(6)
    more = [label if label is not None else 1 if at < 100 else None for at, label in enumerate(of_a)]
    found, expected = (compare(a, b, labels_a=labels, labels_b=of_b) for labels in (more, of_a))
    assert (found.value, found.interval) == (expected.value, expected.interval)
    assert found.details["labelled_once"] == 20
    assert "20 cases have a label of one answer only" in " ".join(found.warnings)
    nothing = compare(a, b, labels_a=of_a)
    assert nothing.value is None
    assert "it takes cases with labels of both answers, 2 at least, and there are 0" in nothing.reason


def test_undecided_verdicts_are_half_a_pass_beside_labels():
    (a, b), (of_a, of_b) = drawn(7)
    partly = [None if at % 7 == 0 else said for at, said in enumerate(b)]
    found = compare(a, partly, labels_a=of_a, labels_b=of_b)
    assert found.n == 400
    of_all = prediction_powered_rate(  # of b alone: a is 0 everywhere
        of_b[:80], [0.5 if said is None else said for said in partly[:80]],
        [0.5 if said is None else said for said in partly[80:]],
    )  # fmt: skip
    alone = compare([0] * 400, partly, labels_a=[0] * 400, labels_b=of_b)
    assert alone.value == pytest.approx(of_all.value)
    assert alone.details["standard_error"] == pytest.approx(of_all.details["standard_error"])


@pytest.mark.slow
@examples(100)
@given(SYSTEMS)
def test_the_other_way_round_is_the_negative(given_):
    a, b, of_a, of_b = given_
    one, other = compare(a, b, labels_a=of_a, labels_b=of_b), compare(b, a, labels_a=of_b, labels_b=of_a)
    for found, mirrored in ((one, other), (compare(a, b), compare(b, a))):
        assert (found.value is None) == (mirrored.value is None)
        if found.value is not None:
            assert found.value == pytest.approx(-mirrored.value)
            assert found.interval == pytest.approx((-mirrored.interval[1], -mirrored.interval[0]))
            assert -1 <= found.interval[0] <= found.value <= found.interval[1] <= 1
            swapped = {"a": "b", "b": "a", None: None}
            assert found.details["better"] == swapped[mirrored.details["better"]]


@pytest.mark.slow
@examples(100)
@given(SYSTEMS, st.integers(1, 5))
def test_groups_keep_the_estimate(given_, size):
    a, b, of_a, of_b = given_
    groups = [f"document {at // size}" for at in range(len(a))]
    alone, together = (compare(a, b, labels_a=of_a, labels_b=of_b, groups=by) for by in ((), groups))
    if alone.value is not None and together.value is not None:
        assert alone.value == pytest.approx(together.value)
        assert together.interval[0] <= together.value <= together.interval[1]
        assert together.interval[0] < together.interval[1]


def test_groups_that_are_all_alike_count_as_many_observations_as_groups():
    a, b = [1, 0, 0, 1, 0, 1] * 10, [1, 1, 0, 0, 1, 1] * 10
    alone = compare(a[:30], b[:30])
    repeated = compare(a[:30] * 10, b[:30] * 10, groups=[*range(30)] * 10)
    assert repeated.value == alone.value
    assert np.ptp(repeated.interval) == pytest.approx(np.ptp(alone.interval), rel=0.25)
    assert np.ptp(compare(a[:30] * 10, b[:30] * 10).interval) < np.ptp(alone.interval) / 2


def test_what_rests_on_little_is_told():
    (a, b), (of_a, of_b) = drawn(8, n=100, labelled=10)
    found = compare(a, b, labels_a=of_a, labels_b=of_b)
    assert "it rests on 10 items only" in found.warnings[0]
    (a, b), _ = drawn(9)
    labels = [[value if at < 50 else None for at, value in enumerate(values)] for values in (a, b)]
    right = compare(a, b, labels_a=labels[0], labels_b=labels[1])
    assert "jury and human labels disagree about the difference in 0 of 50 labelled cases" in right.warnings[0]
    few_groups = compare(a, b, groups=[at % 5 for at in range(400)])
    assert few_groups.warnings == ("its items come from 5 groups only, so the interval is rough",)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (([], []), "there is no case"),
        (([1], [1, 0]), "b has 2 entries for 1 case"),
        (([1, 0], [1, float("nan")]), "b: nan is not 1"),
        (([1, 0.5], [1, 0]), r"a: 0\.5 is not 1"),
        ((["PASS"], [1]), "a: 'PASS' is not 1"),
    ],
)
def test_what_is_refused(given_, message):
    with pytest.raises(ConfigurationError, match=message):
        compare(*given_)


def test_labels_and_groups_that_do_not_fit_are_refused():
    with pytest.raises(ConfigurationError, match="labels_b has 1 entries for 2 cases"):
        compare([1, 0], [1, 1], labels_b=[1])
    with pytest.raises(ConfigurationError, match="groups has 1 entries for 2 cases"):
        compare([1, 0], [1, 1], groups=["x"])
    with pytest.raises(ConfigurationError, match="verdicts of the same answers: it is 0"):
        compare([1, 0], [1, 1], labels_a=[1, 0], same_answers=True)
