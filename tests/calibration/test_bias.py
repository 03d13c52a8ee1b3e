"""Biases of judges: to a place, and to length."""

from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError
from jury_adapters.calibration import Votes, position_consistency, verbosity
from jury_adapters.calibration.bias import binomial_p_value, mid_ranks
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.calibration.types import MISSING

DATA = Path(__file__).parents[1] / "data" / "votes"
# Recorded LLMBar, prompt Vanilla: accuracy, accuracy where both orders agree, consistency, flips that favour the first.
TABLE = {
    ("Natural", "GPT-4"): (0.955, 0.979, 0.950, 0.60),
    ("Natural", "PaLM2"): (0.840, 0.936, 0.800, 0.75),
    ("Natural", "ChatGPT"): (0.815, 0.944, 0.710, 0.86),
    ("Natural", "ChatGPT-0301"): (0.840, 0.936, 0.780, 0.82),
    ("Natural", "LLaMA2"): (0.805, 0.886, 0.790, 0.57),
    ("Natural", "Falcon"): (0.740, 0.962, 0.520, 1.00),
    ("Adversarial", "GPT-4"): (0.810, 0.837, 0.922, 0.68),
    ("Adversarial", "PaLM2"): (0.660, 0.730, 0.702, 0.72),
    ("Adversarial", "ChatGPT"): (0.270, 0.141, 0.643, 0.95),
    ("Adversarial", "ChatGPT-0301"): (0.368, 0.244, 0.514, 0.92),
    ("Adversarial", "LLaMA2"): (0.329, 0.268, 0.737, 0.78),
    ("Adversarial", "Falcon"): (0.509, 0.525, 0.382, 0.96),
}


@cache
def llmbar(subset):
    def of_subset(row):
        return subset in row["meta"]["subset"]

    return Votes.from_recorded(DATA / "llmbar_vanilla.jsonl.gz", abstain_labels=["tie"], where=of_subset)


@pytest.mark.parametrize("which", [*TABLE], ids=["-".join(which) for which in TABLE])
def test_position_bias_of_the_recorded_judges(which):
    votes = llmbar(which[0]).panel([f"{which[1]}/Vanilla"])
    (found,) = position_consistency(votes)
    accuracy, accurate_when_steady, consistency, first_share = TABLE[which]
    assert found.details["first_share"] == pytest.approx(first_share, abs=0.006)
    # The table counts every item: an order without an answer as half right, and as steady when neither has one. We
    # leave such items out (six of 2,514 here), so they are put back before comparing; all else is as computed.
    one, other = votes.orders[:, :, 0]
    everything, silent = len(one), int(((one == MISSING) & (other == MISSING)).sum())
    assert (found.n - found.details["flips"] + silent) / everything == pytest.approx(consistency, abs=6e-4)
    half = (one == MISSING) != (other == MISSING)
    heard = np.where(one == MISSING, other, one)
    put_back = 0.5 * silent + (0.25 + 0.5 * (heard == votes.gold))[half].sum()
    assert (found.details["accuracy"] * found.n + put_back) / everything == pytest.approx(accuracy, abs=6e-4)
    assert found.details["accuracy_consistent"] == pytest.approx(accurate_when_steady, abs=6e-4)


def test_a_judge_that_follows_the_order_is_told_in_plain_words():
    steady, *_, turning = position_consistency(llmbar("Natural").panel(["GPT-4/Vanilla", "Falcon/Vanilla"]))
    assert steady.sentence.startswith("GPT-4/Vanilla gives the same answer in both orders on 95.0 % of the pairs")
    assert "which may be chance" in steady.sentence
    assert "takes the one shown first in 100.0 %, more than chance explains" in turning.sentence
    assert "ask in both orders" in turning.warnings[0]
    assert turning.details["p_value"] == pytest.approx(2 / 2**48)


def test_a_tie_in_one_order_leans_to_the_place_of_the_other_answer():
    orders = [
        ("A", "tie"),
        ("tie", "A"),
        ("tie", "B"),
        ("B", "tie"),
        ("A", "B"),
        ("B", "A"),
        ("A", "A"),
        ("tie", "tie"),
    ]
    rows = [
        {"item_id": str(n), "votes": {"j": {"label": "tie", "label_order_ab": ab, "label_order_ba": ba}}}
        for n, (ab, ba) in enumerate(orders)
    ]
    (found,) = position_consistency(Votes.from_recorded(rows))
    assert (found.n, found.value, found.details["flips"], found.details["first_share"]) == (8, 0.25, 6, 0.5)


def test_position_needs_both_orders():
    with pytest.raises(ConfigurationError, match="both orders"):
        position_consistency(Votes.from_rows([["A", "B"]]))


@given(n=st.integers(1, 60), data=st.data())
def test_the_binomial_test_is_exact(n, data):
    hits = data.draw(st.integers(0, n))
    likely = [comb(n, k) for k in range(n + 1)]
    assert binomial_p_value(hits, n) == pytest.approx(sum(p for p in likely if p <= likely[hits]) / 2**n)


def with_lengths(scores, lengths, gold=None):
    return Votes.from_recorded([
        {"item_id": str(n), "answer": "x" * length, "gold": None if gold is None else gold[n],
         "votes": {"j": {"score": score}}}
        for n, (score, length) in enumerate(zip(scores, lengths, strict=True))
    ])  # fmt: skip


def test_verbosity_is_spearmans_coefficient():
    (perfect,) = verbosity(with_lengths([0.1, 0.2, 0.4, 0.9], [1, 10, 100, 1000]))
    assert perfect.value == pytest.approx(1.0)
    assert "longer answers" in perfect.sentence
    (tied,) = verbosity(with_lengths([1, 2, 2, 4], [10, 30, 20, 40]))  # mid-ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4
    assert tied.value == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    assert "longer answers may simply be better" in tied.warnings[0]
    (none,) = verbosity(with_lengths([1, 1, 1], [1, 2, 3]))
    assert (none.value, "do not vary" in none.reason) == (None, True)
    (short,) = verbosity(with_lengths([1, 2], [1, 2]))
    assert "3 answers" in short.reason


def test_verbosity_of_pairs_is_about_the_difference_in_length():
    rows = [
        {"item_id": str(n), "answers": ["x" * 50, "x" * (n * 5)], "gold": "A", "votes": {"j": {"label": label}}}
        for n, label in enumerate(["A"] * 10 + ["tie"] + ["B"] * 10)
    ]
    (found,) = verbosity(Votes.from_recorded(rows))
    assert found.value > 0.8  # the longer one wins
    assert found.details["gold_correlation"] is None  # people always said A
    with pytest.raises(ConfigurationError, match="pass_label"):
        verbosity(Votes.from_rows([["good"], ["bad"]]))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_ranks_of_equal_values_are_their_middle(values):
    ranks = mid_ranks(np.array(values, dtype=float))
    assert ranks.sum() == pytest.approx(len(values) * (len(values) + 1) / 2)
    for value, rank in zip(values, ranks, strict=True):
        below, equal = sum(v < value for v in values), sum(v == value for v in values)
        assert rank == below + (equal + 1) / 2


def test_without_draws_there_is_no_interval():
    (found,) = verbosity(with_lengths([1, 2, 3], [1, 2, 4]), resampling=Resampling(0))
    assert found.interval is None
    with pytest.raises(ConfigurationError, match="draws"):
        Resampling(-1)


def of_tickets(seed, n=400, *, labelled=1.0, lengthy=0.0):
    """Return votes on answers of which the wrong ones are twice as long: one juror follows the truth, one likes length.

    The second passes this share of the wrong answers that are longer than most of these.
    """
    chance, rows = np.random.default_rng(seed), []
    for at in range(n):
        right = chance.random() < 0.6
        length = int(chance.integers(50, 150) * (1 if right else 2))
        follows, likes = (right if chance.random() < 0.9 else not right for _ in range(2))
        likes |= not right and length > 200 and chance.random() < lengthy
        votes = {"plain": {"label": "PASS" if follows else "FAIL"}, "likes": {"label": "PASS" if likes else "FAIL"}}
        gold = ("PASS" if right else "FAIL") if at < labelled * n else None
        rows.append({"item_id": str(at), "answer": "x" * length, "gold": gold, "votes": votes})
    return Votes.from_recorded(rows, pass_label="PASS")


def test_jurors_that_follow_the_truth_do_not_prefer_its_length():
    accused, found = 0, 0
    for seed in range(40):
        likes, plain = verbosity(of_tickets(seed, lengthy=0.5), resampling=Resampling(200))
        assert plain.details["within_labels"]
        assert plain.details["gold_correlation"] < -0.5
        assert "answers among those with the same human label, correlation" in plain.sentence
        accused += "more than chance explains" in plain.sentence
        found += likes.value > 0 and "more than chance explains" in likes.sentence
    assert accused <= 5  # 2 are expected
    assert found >= 36
    (_, without) = verbosity(of_tickets(1, labelled=0.0))
    assert without.value < -0.4
    assert "there are no labels to compare with" in without.warnings[0]


def test_too_few_labels_leave_the_correlation_of_all_answers_with_a_warning():
    (_, few) = verbosity(of_tickets(2, labelled=29 / 400))
    assert (few.n, few.details["within_labels"]) == (400, False)
    assert "fewer than 30 have a label, too few to compare those with the same one" in few.warnings[0]
    (_, enough) = verbosity(of_tickets(2, labelled=30 / 400))
    assert (enough.n, enough.details["within_labels"], enough.warnings) == (30, True, ())


def test_a_label_on_which_votes_do_not_vary_does_not_dilute_the_correlation():
    """All right answers pass; of the wrong ones, the longer half."""
    rows = [
        {"item_id": str(at), "answer": "x" * (at + 1), "gold": "PASS" if at % 2 else "FAIL",
         "votes": {"j": {"label": "PASS" if at % 2 or at > 50 else "FAIL"}}}
        for at in range(100)
    ]  # fmt: skip
    (found,) = verbosity(Votes.from_recorded(rows, pass_label="PASS"))
    (wrong,) = verbosity(Votes.from_recorded([{**row, "gold": None} for row in rows[::2]], pass_label="PASS"))
    assert found.value == pytest.approx(wrong.value)
