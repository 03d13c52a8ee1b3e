"""Agreement over a batch: against published numbers, against the krippendorff package, and by its own laws."""

import warnings
from functools import cache
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.counted_calls import calls_of
from support.examples import examples

from jury_adapters import ConfigurationError
from jury_adapters.calibration import (
    Votes,
    alpha,
    cohen_kappa,
    dissent,
    drift,
    effective_votes,
    fleiss_kappa,
    gwet_ac,
    label_shares,
    leniency,
    raw_agreement,
)
from jury_adapters.calibration.independence import residual_agreement
from jury_adapters.calibration.label_comparison import compare_with_labels
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.core.clustered_shares import clustered_wilson
from jury_adapters.core.statistics import wilson
from jury_adapters.statistics import krippendorff_alpha

pytestmark = pytest.mark.corpus

VOTES = Path(__file__).parents[1] / "data" / "votes"
LEVELS = ("nominal", "ordinal", "interval", "ratio")
ONCE = Resampling(0)
# Krippendorff (2011), section C: four observers, twelve units.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@cache
def published():
    return Votes.from_rows(list(zip(*PUBLISHED, strict=True)))


@cache
def recorded(name, column="votes", dim=None, group=""):
    where = None if dim is None else (lambda row: row["meta"]["dim"] == dim)
    return Votes.from_recorded(VOTES / f"{name}.jsonl.gz", column=column, where=where, group=group)


@pytest.mark.parametrize(("level", "value"), [*zip(LEVELS, (0.743421, 0.815388, 0.849107, 0.797403), strict=True)])
def test_alpha_is_that_of_krippendorffs_example(level, value):
    assert alpha(published(), level).value == pytest.approx(value, abs=1e-6)


def test_gwets_coefficients_of_that_example():
    assert gwet_ac(published()).value == pytest.approx(0.7754, abs=1e-4)
    assert gwet_ac(published(), "quadratic").value == pytest.approx(0.9140, abs=1e-4)


SUMMEVAL = {
    ("coherence", "expert"): (0.5768, 0.58), ("coherence", "turker"): (0.4494, 0.4369),
    ("consistency", "expert"): (0.8189, 0.8945), ("consistency", "turker"): (0.4475, 0.43),
    ("fluency", "expert"): (0.6134, 0.7595), ("fluency", "turker"): (0.4685, 0.4569),
    ("relevance", "expert"): (0.4565, 0.5162), ("relevance", "turker"): (0.4334, 0.4399),
}  # fmt: skip


@pytest.mark.parametrize(("which", "values"), [*SUMMEVAL.items()], ids=["-".join(which) for which in SUMMEVAL])
def test_alpha_of_summeval(which, values):
    votes = recorded("summeval_ratings", "human_votes", which[0])
    panel = votes.panel([name for name in votes.jurors if name.startswith(which[1])])
    found = [alpha(panel, level, resampling=ONCE).value for level in ("ordinal", "interval")]
    assert found == pytest.approx(values, abs=1e-4)


NEWSROOM = {"Informativeness": 0.2849, "Relevance": 0.1151, "Fluency": -0.0158, "Coherence": 0.065}


@pytest.mark.parametrize(("dim", "value"), [*NEWSROOM.items()])
def test_alpha_of_newsroom(dim, value):
    found = alpha(recorded("newsroom_ratings", "human_votes", dim), "ordinal", resampling=ONCE)
    assert found.value == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "column", "value", "interval"),
    [
        ("pandalm", "human_votes", 0.8642, (0.8377, 0.8867)),
        ("dices990_ratings", "human_votes", 0.1432, (0.1335, 0.1567)),
        ("codefeedback", "votes", 0.2968, (0.2587, 0.3352)),
    ],
)
def test_alpha_of_labels_and_its_interval(name, column, value, interval):
    found = alpha(recorded(name, column))
    assert found.value == pytest.approx(value, abs=1e-4)
    assert found.interval == pytest.approx(interval, abs=0.006)  # two bootstraps of 1,000 draws differ by as much


@pytest.mark.slow
def test_the_other_coefficients_of_the_recorded_votes():
    assert gwet_ac(recorded("codefeedback"), resampling=ONCE).value == pytest.approx(0.914, abs=5e-4)
    assert raw_agreement(recorded("codefeedback"), resampling=ONCE).value == pytest.approx(0.9238, abs=1e-4)
    people = recorded("pandalm", "human_votes")
    assert gwet_ac(people, resampling=ONCE).value == pytest.approx(0.886, abs=5e-4)
    assert fleiss_kappa(people, resampling=ONCE).value == pytest.approx(0.8642, abs=1e-4)


@pytest.mark.slow
def test_the_fourteen_judges_are_worth_a_vote_and_a_half():
    found = effective_votes(recorded("codefeedback"))
    assert found.value == pytest.approx(1.5751, abs=1e-4)
    assert found.details["phi"] == pytest.approx(0.6068, abs=1e-4)
    assert found.interval[0] < found.value < found.interval[1] < 2
    assert "fewer than two independent votes" in found.warnings[0]
    assert found.details["families"]["claude_3_opus"] == "anthropic"
    matrix = np.array(found.details["matrix"])
    assert matrix.shape == (14, 14)
    assert (matrix == matrix.T).all()
    assert found.details["phi_within_families"] > found.details["phi_across_families"]


@pytest.mark.slow
def test_intervals_by_group_are_wider_where_groups_hang_together():
    by_item, by_group = (alpha(recorded("codefeedback", group=group)) for group in ("", "meta.program"))
    assert by_item.value == pytest.approx(by_group.value)
    assert np.ptp(by_group.interval) > 1.1 * np.ptp(by_item.interval)


def test_what_never_varies_has_an_interval_all_the_same():
    """Every draw is alike, and yet the next item may be another; of grouped items, all of a group may be alike."""
    rows, gold = [["PASS", "PASS"], ["FAIL", "FAIL"]] * 20, ["PASS", "FAIL"] * 20
    alone, lumped = Votes.from_rows(rows, gold=gold), Votes.from_rows(rows, gold=gold, groups=[*range(4)] * 10)
    assert raw_agreement(alone).interval == wilson(40, 40)
    assert raw_agreement(lumped).interval == wilson(4, 4)
    assert [found.interval for found in leniency(alone)] == [wilson(20, 20)] * 4
    assert [found.interval for found in leniency(lumped)] == [clustered_wilson([(10, 10)] * 2)] * 4
    assert [found.interval for found in dissent(lumped)] == [clustered_wilson([(0, 10)] * 4)] * 2


@pytest.mark.parametrize("alike", [True, False])
def test_the_rates_of_a_juror_have_the_intervals_of_the_comparison_with_human_labels(alike):
    """A true-negative rate is what false passes leave of 100 %, also where cases come in groups."""
    passes = [row % 10 < 2 if alike else row % 7 < 2 for row in range(200)]
    rows, gold = [["PASS" if passed else "FAIL"] for passed in passes], ["FAIL"] * 100 + ["PASS"] * 100
    for groups in ([], [row % 20 // 2 for row in range(200)]):
        votes = Votes.from_rows(rows, gold=gold, groups=groups)
        negative, positive = (found.interval for found in leniency(votes))
        (compared,) = compare_with_labels(votes).jurors
        assert negative == pytest.approx([1 - bound for bound in reversed(compared.false_passes.interval)])
        assert positive == pytest.approx([1 - bound for bound in reversed(compared.false_fails.interval)])
        assert any("groups" in warning for found in leniency(votes) for warning in found.warnings) is bool(groups)


@pytest.mark.slow
def test_skewed_votes_are_named_where_the_number_misleads():
    votes = recorded("codefeedback")
    for estimate in (alpha(votes, resampling=ONCE), cohen_kappa(votes, resampling=ONCE), raw_agreement(votes)):
        assert any("94.3 % of the votes are 'valid'" in warning for warning in estimate.warnings)
    assert not gwet_ac(votes, resampling=ONCE).warnings


matrices = st.integers(2, 5).flatmap(
    lambda jurors: st.lists(
        st.lists(st.none() | st.integers(0, 4), min_size=jurors, max_size=jurors), min_size=2, max_size=9
    )
)


@pytest.mark.parametrize("level", LEVELS)
@examples(80)
@given(rows=matrices)
def test_alpha_is_that_of_the_krippendorff_package_and_of_the_core(level, rows):
    found = alpha(Votes.from_rows(rows), level, resampling=ONCE)
    core = krippendorff_alpha(rows, level)
    assert (found.value is None) == (core.value is None or not core.informative)
    assume(found.value is not None)
    assert found.value == pytest.approx(core.value, abs=1e-9)
    by_juror = np.array([[np.nan if vote is None else vote for vote in row] for row in rows], dtype=float).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # its ratio metric divides 0 by 0
        theirs = krippendorff.alpha(reliability_data=by_juror, level_of_measurement=level)
    assert found.value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_scores_with_many_values_are_measured_alike(level):
    scores = np.random.default_rng(1).random((40, 4)).round(4)
    scores[::7, 1] = np.nan
    votes = Votes.from_rows(scores.tolist())
    assert len(votes.labels) > 100
    found = alpha(votes, level, resampling=Resampling(50))
    assert found.value == pytest.approx(krippendorff.alpha(scores.T, level_of_measurement=level), abs=1e-9)
    assert found.interval[0] < found.value < found.interval[1]


@pytest.mark.slow
@examples(60)
@given(rows=matrices, chance=st.randoms(use_true_random=False))
def test_neither_the_order_of_items_nor_that_of_jurors_matters(rows, chance):
    order = chance.sample(range(len(rows[0])), len(rows[0]))
    shuffled = [[row[juror] for juror in order] for row in chance.sample(rows, len(rows))]
    gold = [row[0] for row in rows]
    one, other = Votes.from_rows(rows), Votes.from_rows(shuffled)
    for measure in (alpha, gwet_ac, fleiss_kappa, raw_agreement, cohen_kappa):
        assert measure(one, resampling=ONCE).value == pytest.approx(measure(other, resampling=ONCE).value, abs=1e-9)
    labelled = Votes.from_rows(rows, gold=gold)
    turned = labelled.panel([labelled.jurors[juror] for juror in order])
    mine, theirs = effective_votes(labelled, resampling=ONCE), effective_votes(turned, resampling=ONCE)
    assert mine.value == pytest.approx(theirs.value, abs=1e-9)


@pytest.mark.slow
@examples(80)
@given(rows=matrices)
def test_every_number_is_within_its_bounds_and_so_is_its_interval(rows):
    votes = Votes.from_rows(rows, gold=[row[0] for row in rows])
    few = Resampling(20)
    for measure in (alpha, gwet_ac, fleiss_kappa, cohen_kappa, residual_agreement):
        found = measure(votes, resampling=few)
        assert (found.value is None) == bool(found.reason)
        assert found.value is None or -1 - 1e-9 <= found.value <= 1 + 1e-9 or measure in (alpha, gwet_ac, fleiss_kappa)
        assert found.value is None or found.value <= 1 + 1e-9
        assert found.interval is None or found.interval[0] <= found.interval[1] <= 1 + 1e-9
        assert found.sentence
    for estimate in (raw_agreement(votes), *label_shares(votes), *dissent(votes), *leniency(votes)):
        assert estimate.value is None or 0 <= estimate.value <= 1
        assert estimate.interval is None or 0 <= estimate.interval[0] <= estimate.interval[1] <= 1
    panel = effective_votes(votes, resampling=few)
    assert panel.value is None or panel.value >= 1 - 1e-9


def test_the_sentence_of_weighted_agreement_says_that_near_misses_count():
    votes = Votes.from_rows([[1, 2], [3, 3], [5, 4], [2, 2]] * 10)
    assert "agree in 50.0 %; by chance" in gwet_ac(votes).sentence
    assert "agree in 96.9 %, if a near miss counts as a part" in gwet_ac(votes, "quadratic").sentence


@pytest.mark.parametrize("measure", [alpha, gwet_ac, fleiss_kappa, cohen_kappa])
def test_without_variation_there_is_no_number_but_a_reason(measure):
    found = measure(Votes.from_rows([["PASS", "PASS"]] * 50))
    assert (found.value, found.interval) == (None, None)
    assert "every vote is the same" in found.reason
    assert "no item has 2 votes" in measure(Votes.from_rows([["PASS", None]] * 5)).reason
    assert "no item has 2 votes" in measure(Votes.from_rows([])).reason


def test_few_items_are_warned_of():
    assert "11 items only" in alpha(published()).warnings[-1]
    lumped = Votes.from_rows([["A", "B"], ["A", "A"], ["B", "B"]] * 20, groups=[0, 1, 2] * 20)
    assert "3 groups only" in alpha(lumped).warnings[-1]


def test_cohens_kappa_by_hand():
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, by chance 0.5 x 0.6 + 0.5 x 0.4
    rows = [["y", "y"]] * 20 + [["y", "n"]] * 5 + [["n", "y"]] * 10 + [["n", "n"]] * 15
    found = cohen_kappa(Votes.from_rows(rows))
    assert found.value == pytest.approx(0.4)
    assert found.details["n"] == [[50, 50], [50, 50]]
    assert found.details["matrix"][0] == [None, pytest.approx(0.4)]


def test_fleiss_kappa_of_his_own_example():
    # Fleiss (1971), as the textbooks print it: 10 subjects, 14 raters, 5 categories; kappa 0.210
    table = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    rows = [[label for label, count in enumerate(row) for _ in range(count)] for row in table]
    assert fleiss_kappa(Votes.from_rows(rows)).value == pytest.approx(0.210, abs=5e-4)


def test_words_are_ordinal_only_when_their_order_is_given():
    rows = [["bad", "ok"], ["good", "good"], ["bad", "bad"], ["ok", "good"]]
    numbers = {"bad": 1, "ok": 2, "good": 3}
    ordered = Votes.from_rows(rows, labels=["bad", "ok", "good"])
    same = Votes.from_rows([[numbers[vote] for vote in row] for row in rows])
    assert alpha(ordered, "ordinal").value == pytest.approx(alpha(same, "ordinal").value)
    assert gwet_ac(ordered, "linear").value == pytest.approx(gwet_ac(same, "linear").value)
    with pytest.raises(ConfigurationError, match="labels in their order"):
        alpha(Votes.from_rows(rows), "ordinal")
    with pytest.raises(ConfigurationError, match="labels in their order"):
        gwet_ac(Votes.from_rows(rows), "quadratic")
    with pytest.raises(ConfigurationError, match="numbers"):
        alpha(ordered, "interval")
    with pytest.raises(ConfigurationError, match="from 0"):
        alpha(Votes.from_rows([[-1, 2], [1, 1]]), "ratio")
    with pytest.raises(ConfigurationError, match="Did you mean 'nominal'"):
        alpha(ordered, "nominl")


@pytest.mark.slow
def test_independent_errors_make_independent_votes_and_shared_ones_one():
    chance = np.random.default_rng(0)
    gold = chance.integers(0, 2, 4000)
    apart = np.where(chance.random((4000, 5)) < 0.2, 1 - gold[:, None], gold[:, None])
    alike = np.repeat(apart[:, :1], 5, axis=1)
    independent = effective_votes(Votes.from_rows(apart.tolist(), gold=gold.tolist()))
    assert 4.4 < independent.value < 5.6
    assert not independent.warnings
    assert effective_votes(Votes.from_rows(alike.tolist(), gold=gold.tolist())).value == pytest.approx(1.0)
    assert "no item has a gold label" in effective_votes(Votes.from_rows(apart.tolist())).reason


@pytest.mark.slow
def test_two_jurors_that_copy_each_other_show_without_labels():
    chance = np.random.default_rng(0)
    votes = np.where(chance.random((2000, 5)) < 0.2, 1, 0)
    votes[:, 1] = votes[:, 0]
    found = residual_agreement(Votes.from_rows(votes.tolist(), jurors=list("abcde")))
    assert "highest for a and b, 1.000" in found.sentence
    assert "weak reference" in found.warnings[1]
    many = Votes.from_rows(np.where(chance.random((2000, 15)) < 0.2, 1, 0).tolist())
    assert abs(residual_agreement(many).value) < 0.02
    assert len(residual_agreement(many).warnings) == 1
    assert "cannot be seen without human labels" in found.warnings[0]


def test_leniency_is_what_each_juror_says_of_what_people_passed_and_failed():
    rows = [["PASS", "PASS"]] * 8 + [["FAIL", "PASS"]] * 2 + [["PASS", "FAIL"]] * 6 + [["FAIL", "FAIL"]] * 4
    votes = Votes.from_rows(rows, gold=["PASS"] * 10 + ["FAIL"] * 10, jurors=["a", "b"])
    found = {(estimate.subject, estimate.name): (estimate.value, estimate.n) for estimate in leniency(votes)}
    assert found == {
        ("a", "true-positive rate"): (0.8, 10), ("a", "true-negative rate"): (0.4, 10),
        ("b", "true-positive rate"): (1.0, 10), ("b", "true-negative rate"): (1.0, 10),
    }  # fmt: skip
    words = Votes.from_rows([["x"], ["y"], ["z"]], gold=["x", "y", "y"])
    assert {estimate.name for estimate in leniency(words)} == {"recall of x", "recall of y"}


@pytest.mark.slow
def test_drift_shows_and_steadiness_does_not():
    chance = np.random.default_rng(3)
    truth = (chance.random((1000, 1)) < 0.5).astype(int)
    votes = np.where(chance.random((1000, 8)) < 0.05, 1 - truth, truth)
    votes[500:, 7] |= chance.random(500) < 0.8
    steady, *_, drifting = drift(Votes.from_rows(votes.tolist()))
    assert "within chance" in steady.sentence
    assert drifting.value == pytest.approx(0.4, abs=0.08)
    assert drifting.interval[0] > 0.2
    assert drift(Votes.from_rows(votes[:2].tolist()))[0].value is None
    words = Votes.from_rows([["a", "a", "a"]] * 50 + [["a", "b", "b"]] * 50)
    assert drift(words)[0].value == -1.0  # first with the others, then against them


def test_dissent_counts_votes_against_what_most_others_said():
    votes = Votes.from_rows([["x", "x", "y"], ["x", "x", "x"], ["x", "y", None]], jurors=["a", "b", "c"])
    assert [(estimate.value, estimate.n) for estimate in dissent(votes)] == [(0.5, 2), (0.5, 2), (0.5, 2)]


@pytest.mark.slow
def test_a_thousand_draws_over_ten_times_as_many_items_take_hardly_more_calls():
    def calls(items):
        votes = Votes.from_rows(np.random.default_rng(0).integers(1, 6, (items, 14)).tolist())
        interval = alpha(votes, "ordinal").interval
        assert interval[0] < 0 < interval[1]
        return calls_of(lambda: alpha(votes, "ordinal"))

    assert calls(2000) < 6 * calls(200)  # a call for each item, or each draw of it, would make it 10


@pytest.mark.parametrize(
    ("wrong", "says", "never"),
    [
        ([(1, 0), (1, 0), (0, 1), (0, 1), (0, 0), (0, 0)], "wrong on different items", "the same items"),
        ([(1, 1), (1, 1), (1, 0), (0, 1), (0, 0), (0, 0)], "wrong on the same items", "different items"),
        ([(1, 1), (1, 0), (0, 1), (0, 0)], "worth as many independent ones", "tend to be wrong"),
    ],
    ids=["negative correlation", "positive correlation", "no correlation"],
)
def test_the_sentence_on_effective_votes_has_the_direction_of_the_correlation(wrong, says, never):
    rows = [["FAIL" if is_wrong else "PASS" for is_wrong in item] for item in wrong]
    found = effective_votes(Votes.from_rows(rows, gold=["PASS"] * len(rows)))
    assert says in found.sentence
    assert never not in found.sentence
    assert ("Do not count on more than 2" in found.sentence) == (found.value > 2.05)


def test_the_number_of_a_label_share_is_that_of_the_items_with_votes():
    votes = Votes.from_rows([("a", "a"), ("a", "b"), (None, None), (None, "b")])
    assert [(one.subject, one.n) for one in label_shares(votes)] == [("a", 3), ("b", 3)]


def test_chance_says_which_items_it_rests_on_where_some_have_one_vote():
    """By hand: 18 items with two votes and 2 with one; shares of PASS are 1, 0 and 1/2, and 0 of the single votes."""
    rows = [["PASS", "PASS"]] * 10 + [["FAIL", "FAIL"]] + [["PASS", "FAIL"]] * 7 + [["FAIL", None]] * 2
    found = fleiss_kappa(Votes.from_rows(rows), resampling=ONCE)
    share = (10 + 7 / 2) / 20
    chance = share**2 + (1 - share) ** 2
    assert found.details == pytest.approx({"observed": 11 / 18, "by_chance": chance, "voted": 20})
    assert found.value == pytest.approx((11 / 18 - chance) / (1 - chance))
    assert found.n == 18
    said = "in 56.1 % (by the mean shares of the labels on 20 items, 2 of them with one vote)."
    assert said in found.sentence
    assert said.replace("56.1", "43.9") in gwet_ac(Votes.from_rows(rows), resampling=ONCE).sentence
    assert "with one vote" not in fleiss_kappa(Votes.from_rows(rows[:18]), resampling=ONCE).sentence


def test_the_effective_number_counts_the_labelled_items_with_two_votes():
    """A screening tier decided ten labelled cases, and five have one vote only."""
    rows = [["PASS", "PASS"], ["FAIL", "PASS"], ["FAIL", "FAIL"]] * 20 + [[None, None]] * 10 + [["PASS", None]] * 5
    found = effective_votes(Votes.from_rows(rows, gold=["PASS"] * 75), resampling=ONCE)
    assert found.n == 60
    assert found.value == effective_votes(Votes.from_rows(rows[:60], gold=["PASS"] * 60), resampling=ONCE).value
    unshared = effective_votes(Votes.from_rows([["PASS", None], [None, "PASS"]], gold=["PASS"] * 2))
    assert (unshared.n, unshared.value) == (0, None)
    assert "on the items they share" in unshared.reason


def rare_errors(draw: np.random.Generator, items: int) -> Votes:
    """Votes of three jurors that err on 5 % of the items, on half of them together."""
    bad, shared = draw.random(items) < 0.05, draw.random(items)
    luck = np.where(draw.random((items, 3)) < 0.5, shared[:, None], draw.random((items, 3)))
    passes = np.where(bad[:, None], luck > 0.3, luck < 0.97)
    rows = np.where(passes, "PASS", "FAIL").tolist()
    return Votes.from_rows(rows, gold=np.where(bad, "FAIL", "PASS").tolist(), labels=["FAIL", "PASS"])


def test_the_interval_of_effective_votes_covers_the_truth_where_errors_are_rare() -> None:
    draw = np.random.default_rng(8)
    truth = effective_votes(rare_errors(draw, 200_000), resampling=Resampling(draws=0)).value
    found = [effective_votes(rare_errors(draw, 40), resampling=Resampling(draws=200)).interval for _ in range(120)]
    known = [interval for interval in found if interval is not None]
    assert len(known) > 90
    covered = sum(low <= truth <= high for low, high in known) / len(known)
    assert covered > 0.88  # 0.74 for draws from the items alone


def test_a_pair_of_jurors_with_one_shared_item_is_not_in_the_mean_of_kappas() -> None:
    both = [["PASS", "PASS", None]] * 9 + [["FAIL", "FAIL", None]] * 6 + [["PASS", "FAIL", None]] * 3
    alone = cohen_kappa(Votes.from_rows(both), resampling=ONCE).value
    for third in ("PASS", "FAIL"):
        rows = [*both, [None, "PASS", third]]
        found = cohen_kappa(Votes.from_rows(rows), resampling=ONCE)
        assert found.value == pytest.approx(alone)
        assert found.details["undefined_pairs"] == 2
        assert found.details["matrix"][1][2] is None
