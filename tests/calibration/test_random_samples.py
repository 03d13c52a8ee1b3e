"""The test of labelled items as a random sample, of items and of groups."""

import random

import numpy as np
import pytest

from jury_adapters.calibration import Votes, true_pass_rate
from jury_adapters.calibration.random_samples import association_p_value, random_sample_p_value


def clicks(seed, *, groups, size, kept):
    """Return labelled, passed, and group of items, of which a random third is labelled if the jury passes it, else as
    often as ``kept`` says."""
    chance = random.Random(seed)
    of, passed, labelled = [], [], []
    for group in range(groups):
        rate = chance.betavariate(3, 1)
        for _ in range(size):
            of.append(group)
            passed.append(chance.random() < rate)
            labelled.append(chance.random() < 1 / 3 and (passed[-1] or chance.random() < kept))
    return labelled, passed, of


@pytest.mark.parametrize(("groups", "size"), [(150, 3), (60, 8), (400, 2)])
def test_labels_that_are_missing_by_verdict_are_found_within_small_groups(groups, size):
    found = [random_sample_p_value(*clicks(seed, groups=groups, size=size, kept=0.25)) for seed in range(10)]
    assert np.median(found) < 0.001
    within = [association_p_value(*clicks(seed, groups=groups, size=size, kept=0.25)) for seed in range(10)]
    assert np.median(found) < np.median(within) / 5


def test_labels_of_whole_groups_are_compared_as_groups():
    labelled = [at < 60 for at in range(240)]
    passed = [at % 40 < 20 for at in range(180)] + [False] * 60  # of 12 groups of 20, every second one passes
    groups = [at // 20 for at in range(240)]
    assert random_sample_p_value(labelled, passed) < 0.001
    assert random_sample_p_value(labelled, passed, groups) > 0.2


def test_a_choice_within_a_few_labelled_groups_is_found():
    """Two of eight documents are labelled, and of these all that the jury fails: half of their answers."""
    groups = [at // 40 for at in range(320)]
    passed = [at % 2 == 0 for at in range(320)]
    labelled = [at < 80 and not passed[at] for at in range(320)]
    assert random_sample_p_value(labelled, passed, groups) < 0.001


@pytest.mark.parametrize("groups", [(), tuple(range(30))])
def test_independent_items_have_fishers_exact_test(groups):
    labelled, passed = [True] * 10 + [False] * 20, [True] * 9 + [False] * 11 + [True] * 10
    assert random_sample_p_value(labelled, passed, groups) == association_p_value(labelled, passed)


@pytest.mark.parametrize("labelled", [True, False])
def test_without_others_every_sample_is_random(labelled):
    assert random_sample_p_value([labelled] * 6, [True, False] * 3, [0, 0, 1, 1, 2, 2]) == 1.0


def test_no_rate_is_given_for_visitors_whose_bad_answers_lack_labels():
    labelled, passed, groups = clicks(1, groups=170, size=3, kept=0.2)
    gold = ["PASS" if said else "FAIL" for said in passed]
    votes = Votes.from_rows(
        [["PASS" if said else "FAIL"] for said in passed],
        gold=[label if known else None for label, known in zip(gold, labelled, strict=True)],
        groups=groups,
    )
    found = true_pass_rate(votes)
    assert found.value is None
    assert "so the labelled items are not a random sample" in found.reason
