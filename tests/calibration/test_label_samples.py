"""Labels that reviewers contradict: they are left out, and the corrected rate says what that means or is withheld."""

import random
from dataclasses import replace

import pytest
from support.examples import SLOW

from jury_adapters.calibration import Votes, agreement_report, true_pass_rate


def reviewed(seed, careless, *, items=600, sampled=200, groups_of=1):
    """Return votes of which a random part has a label, without the items on which a careless reviewer contradicts.

    Two in three answers are good. The careless reviewer passes this share of the bad ones.
    """
    chance = random.Random(seed)
    good = [chance.random() < 2 / 3 for _ in range(items)]
    said = [one if chance.random() < 0.92 else not one for one in good]
    gold, left_out = [None] * items, 0
    for at in chance.sample(range(items), sampled):
        if good[at] or chance.random() >= careless:
            gold[at] = "PASS" if good[at] else "FAIL"
        else:
            left_out += 1
    rows = [["PASS" if one else "FAIL"] for one in said]
    votes = Votes.from_rows(rows, gold=gold, groups=[at // groups_of for at in range(items)])
    return replace(votes, contradicting=left_out)


@pytest.mark.parametrize("groups_of", [1, 4])
def test_many_contradicted_labels_leave_no_corrected_rate(groups_of):
    votes = reviewed(3, 0.3, groups_of=groups_of)
    assert 10 < votes.contradicting < 40
    silent = true_pass_rate(replace(votes, contradicting=0))
    assert silent.value is not None  # too few are missing for the test of the sample to see it
    found = true_pass_rate(votes)
    assert (found.value, found.interval, found.details["all_runs"]) == (None, None, None)
    share = f"{votes.contradicting / 200:.1%}".replace("%", " %")
    assert found.reason == (
        f"reviewers contradict each other on {votes.contradicting} of the 200 labelled items ({share}), and the "
        f"{200 - votes.contradicting} on which they agree are not a random sample; let one more reviewer settle the "
        "others"
    )
    assert found.sentence == f"Human labels do not correct the pass rate: {found.reason}."
    assert found.sentence in agreement_report(votes, draws=0).in_short


@pytest.mark.sized
def test_the_interval_allows_for_a_few_contradicted_labels():
    tried, held, held_without, told = 1000 if SLOW else 60, 0, 0, 0
    for seed in range(tried):
        votes = reviewed(seed, 0.14)
        both = [true_pass_rate(one) for one in (votes, replace(votes, contradicting=0))]
        if both[0].value is None or not votes.contradicting:
            continue
        told += 1
        held += both[0].interval[0] <= 2 / 3 <= both[0].interval[1]
        held_without += both[1].interval[0] <= 2 / 3 <= both[1].interval[1]
        assert both[0].value == both[1].value
        assert both[0].interval[0] < both[1].interval[0] < both[1].interval[1] < both[0].interval[1]
    assert told > tried / 4
    assert held >= 0.95 * told
    assert held > held_without


def test_a_few_contradicted_labels_are_told_beside_the_rate():
    votes = replace(reviewed(5, 0.0), contradicting=1)
    found = true_pass_rate(votes)
    note = (
        "1 labelled item on which reviewers contradict each other is left out; the interval allows for any label of it"
    )
    assert f" {note}. " in f"{found.sentence} "
    assert note in found.warnings
    of_error_rates = true_pass_rate(replace(votes, contradicting=60), random_sample=False)
    assert of_error_rates.value is not None
    assert "60 labelled items on which reviewers contradict each other are left out" in of_error_rates.sentence
    assert "allows for" not in of_error_rates.sentence


def test_the_widened_interval_by_hand():
    """Nineteen labels and one contradicted item, so p = 1/20; the jury is right about each label."""
    rows, gold = [["PASS"]] * 15 + [["FAIL"]] * 5, ["PASS"] * 15 + ["FAIL"] * 4 + [None]
    votes = Votes.from_rows(rows, gold=gold)
    before, after = true_pass_rate(votes), true_pass_rate(replace(votes, contradicting=1))
    lam = before.details["lam"]
    residual = (1 - lam) * 15 / 19
    assert after.interval[0] == pytest.approx(before.interval[0] - (residual + lam) / 20)
    assert after.interval[1] == pytest.approx(min(1.0, before.interval[1] + (1 - residual) / 20))


def test_items_that_are_taken_out_have_unknown_contradictions():
    votes = replace(reviewed(5, 0.0), contradicting=3)
    assert votes.take(range(100)).contradicting == 0
    assert votes.panel(votes.jurors).contradicting == 3
