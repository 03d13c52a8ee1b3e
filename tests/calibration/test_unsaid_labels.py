"""Human labels that no juror can give are no errors that jurors make together."""

import random

import pytest

from jury_adapters.calibration import Votes, dawid_skene, effective_votes
from jury_adapters.calibration.resampling import Resampling

FAST = Resampling(50)
WORDS = {"PASS and FAIL": ("PASS", "FAIL", "unsure"), "good and bad": ("good", "bad", "?"), "pairs": ("A", "B", "tie")}


def panel(words, third=40, **options):
    """Three jurors with independent errors; people give a third label to the last items."""
    good, bad, unsaid = words
    chance = random.Random(21)
    truths = [chance.random() < 0.6 for _ in range(200 + third)]
    rows = [[good if truth == (chance.random() < 0.8) else bad for _ in "abc"] for truth in truths]
    gold = [good if truth else bad for truth in truths[:200]] + [unsaid] * third
    return Votes.from_rows(rows, jurors=list("abc"), gold=gold, **options)


def without_the_last(votes):
    return votes.take(range(200))


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_items_with_a_label_that_no_juror_gives_are_left_out(words):
    votes = panel(words)
    found, expected = (effective_votes(one, resampling=FAST) for one in (votes, without_the_last(votes)))
    assert (found.value, found.interval, found.n) == (expected.value, expected.interval, 200)
    assert found.details["matrix"] == expected.details["matrix"]
    assert found.details["left_out"] == 40
    assert found.warnings == (
        f"40 items are left out because of a human label that no juror gives ({words[2]} 40), so that all votes on "
        "them would count as errors",
    )


def test_one_item_is_one():
    (warning,) = effective_votes(panel(WORDS["pairs"], third=1), resampling=FAST).warnings
    assert warning.startswith("1 item is left out because of a human label that no juror gives (tie 1)")


def test_nothing_is_left_out_where_every_label_is_a_vote():
    found = effective_votes(without_the_last(panel(WORDS["pairs"])), resampling=FAST)
    assert found.details["left_out"] == 0
    assert found.warnings == ()


@pytest.mark.parametrize(("words", "named"), [(WORDS["PASS and FAIL"], "PASS"), (WORDS["good and bad"], "good")])
def test_a_third_label_means_fail_where_the_labels_that_mean_pass_are_named(words, named):
    votes = panel(words, pass_label=named)
    renamed = Votes.from_rows(
        [[votes.labels[code] for code in row] for row in votes.codes.tolist()],
        gold=[words[0] if votes.labels[code] == words[0] else words[1] for code in votes.gold.tolist()],
    )
    found, expected = (effective_votes(one, resampling=FAST) for one in (votes, renamed))
    assert (found.value, found.n) == (expected.value, 240)


def test_a_label_that_all_jurors_miss_is_their_error():
    """FAIL belongs to PASS, a scale that was given has labels that are rare, and of three labels any may be missed."""
    lenient = Votes.from_rows([["PASS", "PASS"], ["PASS", None]] * 10, gold=["FAIL", "PASS"] * 10)
    assert effective_votes(lenient, resampling=FAST).details.get("left_out", 0) == 0
    given = panel(WORDS["good and bad"], labels=["bad", "?", "good"])
    topics = Votes.from_rows(
        [["bill", "tech"], ["tech", "tech"], ["other", "bill"], ["bill", "bill"]] * 10,
        gold=["bill", "tech", "other", "praise"] * 10,
    )
    grades = Votes.from_rows([[1, 2], [2, 2], [1, 1]] * 10, gold=[1, 2, 2] * 10, labels=[1, 2, 3])
    for votes in (given, topics, grades):
        found = effective_votes(votes, resampling=FAST)
        assert (found.n, found.details["left_out"]) == (len(votes.items), 0)


def test_without_another_label_there_is_no_number():
    votes = panel(WORDS["PASS and FAIL"], third=12).take(range(200, 212))
    assert effective_votes(votes).reason == (
        "no item has a human label that a juror gives, so errors are not known: 12 items have another one (unsure 12)"
    )


def test_dawid_skene_counts_the_same_errors():
    votes = panel(WORDS["PASS and FAIL"], third=100)
    assert dawid_skene(votes).n_eff == pytest.approx(dawid_skene(without_the_last(votes)).n_eff)
