"""Jurors that err alike contradict the assumption of Dawid and Skene, and the votes show it."""

import numpy as np
import pytest

from jury_adapters.calibration import Votes, dawid_skene
from jury_adapters.calibration.shared_errors import alike_pairs


def panel(jurors, items=1200, seed=4, **options):
    """Each juror is a share of right votes, or a share with a number of jurors that err together."""
    chance = np.random.default_rng(seed)
    truth = chance.random(items) < 0.6
    columns = []
    for juror in jurors:
        right, copies = juror if isinstance(juror, tuple) else (juror, 1)
        own = np.where(chance.random(items) < right, truth, ~truth)
        slips = 0.02 if copies > 1 else 0.0
        columns += [np.where(chance.random(items) < slips, ~own, own) for _ in range(copies)]
    rows = [["good" if said else "bad" for said in row] for row in np.stack(columns, axis=1)]
    gold = ["good" if good else "bad" for good in truth]
    return Votes.from_rows(rows, gold=gold, pass_label="good", **options), truth


def warned(votes, **options):
    return [one for one in dawid_skene(votes, **options).warnings if "agree on" in one]


def test_a_pair_that_errs_alike_is_not_taken_for_the_truth_without_a_warning():
    votes, truth = panel([(0.72, 2), 0.8, 0.8])
    found = dawid_skene(votes, clamp=False)
    assert ((found.codes == votes.pass_code) == truth).mean() < 0.75  # the estimates follow the pair
    (warning,) = [one for one in found.warnings if "agree on" in one]
    assert warning.startswith("juror 3 and juror 4 agree on 68.")
    assert "so some jurors err together, these two or others: the solution may follow those that do" in warning
    assert found.n_eff > 3.8
    assert f"number of independent votes ({found.n_eff:.1f}) is too high" in warning


def test_a_few_labels_do_not_take_the_warning_away():
    votes, _ = panel([(0.72, 2), 0.8, 0.8])
    some = [votes.labels[code] if at < 60 else None for at, code in enumerate(votes.gold.tolist())]
    rows = [[votes.labels[code] for code in row] for row in votes.codes.tolist()]
    (warning,) = warned(Votes.from_rows(rows, gold=some, pass_label="good"))
    assert "is too high" not in warning  # the number of independent votes is that by the labels


def test_a_pair_among_many_good_jurors_is_named():
    votes, truth = panel([0.85, 0.85, (0.75, 2), 0.85, 0.85])
    found = dawid_skene(votes, clamp=False)
    assert ((found.codes == votes.pass_code) == truth).mean() > 0.9
    assert warned(votes, clamp=False)[0].startswith("juror 3 and juror 4 agree on ")


def test_several_pairs_are_counted():
    votes, _ = panel([(0.75, 3), (0.75, 3), 0.85])
    assert " more pairs) agree on " in warned(votes, clamp=False)[0]


@pytest.mark.parametrize("jurors", [[0.9, 0.8, 0.7, 0.6], [0.7] * 6, [0.95] * 5, [0.8] * 3])
def test_independent_jurors_have_no_warning(jurors):
    votes, _ = panel(jurors)
    assert warned(votes, clamp=False) == []
    assert warned(votes) == []


@pytest.mark.slow
def test_false_alarms_are_rare():
    found = 0
    for seed in range(150):
        votes, _ = panel([0.9, 0.8, 0.7, 0.65, 0.6], items=300, seed=seed)
        found += bool(warned(votes, clamp=False))
    assert found <= 8  # 5 % of the panels at most


def test_copies_of_an_item_in_one_group_are_no_evidence():
    """Thirty runs of each of 40 questions, judged by independent jurors: what looks like many items are 40."""
    apart = together = 0
    for seed in range(12):
        once, _ = panel([0.75] * 6, items=40, seed=seed)
        rows = [[once.labels[code] for code in row] for row in once.codes.tolist() for _ in range(30)]
        apart += bool(warned(Votes.from_rows(rows, pass_label="good")))
        together += bool(warned(Votes.from_rows(rows, groups=[at // 30 for at in range(1200)], pass_label="good")))
    assert apart == 12
    assert together <= 1


def test_the_share_that_is_allowed_by_hand():
    votes = Votes.from_rows([["P", "P"], ["P", "F"], ["F", "F"], ["P", None]] * 500, labels=["F", "P"])
    truth = np.tile([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], (500, 1))
    confusions = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.3, 0.7]]])
    (found,) = alike_pairs(votes, truth, confusions)
    of_fail, of_pass = 0.9 * 0.6 + 0.1 * 0.4, 0.2 * 0.3 + 0.8 * 0.7
    assert found.allowed == pytest.approx((of_fail + 2 * of_pass) / 3)
    assert found.agreed == pytest.approx(2 / 3)
    assert found.names == ("juror 1", "juror 2")
