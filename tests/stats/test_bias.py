"""Position, length and self-preference, beside SciPy, the notes on methods, and version 0.2."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import codefeedback, pair, pairs

from jury_adapters import Ensemble, judge
from jury_adapters.stats import Votes, length_bias, position_bias, same_model, self_preference
from jury_adapters.stats.figures import wilson

ORDERS = {  # consistency and share of flips towards the first position, of version 0.2
    "ChatGPT": (0.6587112171837709, 0.9300699300699301, 1.3833392965568364e-28),
    "Falcon": (0.41527446300715987, 0.9714285714285714, 3.5132318801761075e-61),
    "GPT-4": (0.9284009546539379, 0.6666666666666666, 0.09873714670538902),
    "LLaMA2": (0.7529976019184652, 0.7378640776699029, 1.4457981791730559e-06),
    "PaLM2": (0.7228915662650602, 0.7217391304347827, 2.1594312802256026e-06),
}
PREFERENCES = {  # of version 0.2, by human label: the value and the numbers of own and other answers
    "claude_3_opus": [(0.14636227260276138, 12, 182), (0.009636910733964098, 326, 2063)],
    "gemini-1.5-pro": [(0.09193905942892705, 46, 144), (0.02156187951941146, 512, 1895)],
    "gpt-4-turbo": [(-0.07921741927612219, 53, 135), (-0.022730119463634717, 306, 2059)],
    "gpt-4o": [(0.01639253441911479, 22, 171), (0.01185111444467858, 428, 2015)],
}


@cache
def recorded_preferences():
    """Return the self-preference of the recorded jurors, by juror."""
    return {one.of: one for one in self_preference(codefeedback())}


@each_row("model", ORDERS)
def test_recorded_pairs_have_the_figures_of_version_0_2(model):
    consistency, flips = position_bias(Votes.of(pairs(model)))
    share, towards, p_value = ORDERS[model]
    assert consistency.value == pytest.approx(share)
    assert consistency.interval == pytest.approx(wilson(share * consistency.n, consistency.n))
    assert flips.value == pytest.approx(towards)
    assert flips.details["p_value"] == pytest.approx(p_value)
    assert consistency.n - flips.n == round(share * consistency.n)


def test_ties_in_one_order_tell_the_position_too():
    consistency, flips = position_bias(Votes.of([pair("A", "tie"), pair("tie", "A"), pair("tie", "B"), pair("A", "A")]))
    assert (consistency.value, flips.value, flips.n) == (0.25, 2 / 3, 3)


def test_flips_of_one_group_are_one_observation():
    votes = Votes.of([pair("A", "B")] * 40 + [pair("A", "A")] * 40)
    for groups, p_value in ((np.arange(80), 2 * 0.5**40), (np.arange(80) // 20, 0.3918)):
        flips = position_bias(replace(votes, groups=groups))[1]
        assert flips.details["p_value"] == pytest.approx(p_value, abs=0.001)


def test_each_pairwise_juror_has_its_position():
    first = judge(lambda case: pair("A", "B"), name="first", labels=["A", "B", "tie"])
    steady = judge(lambda case: pair("A", "A"), name="steady", labels=["A", "B", "tie"])
    votes = Votes.of(Ensemble([first, steady]).judge_pairs([f"case {at}" for at in range(3)]))
    found = {(one.of, one.name): one.value for one in position_bias(votes)}
    assert found["first", "position consistency"] == 0
    assert found["first", "first position among flips"] == 1
    assert found["steady", "position consistency"] == 1
    assert found["steady", "first position among flips"] is None


def test_without_pairs_there_is_no_position():
    (found,) = position_bias(Votes.from_rows([["yes"]]))
    assert (found.value, found.note) == (None, "no pair was judged in both orders")


@pytest.mark.parametrize(
    ("juror", "value"), [("gpt-4o", 0.07437263820039823), ("gemini-2.5-pro", -0.022518924355208213)]
)
def test_length_bias_is_that_of_version_0_2(juror, value):
    (found,) = (one for one in length_bias(codefeedback(of=(juror,))) if one.of == juror)
    assert found.value == pytest.approx(value)
    assert (found.interval[0] > 0) == (juror == "gpt-4o")


def lengths_of(votes, lengths):
    return replace(votes, lengths=np.array(lengths, dtype=float))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0]), st.integers(1, 9)), min_size=2, max_size=29))
def test_without_labels_it_is_the_rank_correlation_of_scipy(cases):
    scores, lengths = zip(*cases, strict=True)
    votes = lengths_of(Votes.from_rows([[score] for score in scores]), lengths)
    found = length_bias(votes)[0]
    if len({*scores}) < 2 or len({*lengths}) < 2:
        assert found.value is None
        return
    assert found.value == pytest.approx(scipy.stats.spearmanr(scores, lengths).statistic)
    assert found.interval[0] <= found.value <= found.interval[1]
    assert "too few human labels" in found.note


def test_among_cases_with_one_label_better_answers_do_not_count():
    """Good answers are long, and the juror knows good from bad: no preference for length."""
    rng = np.random.default_rng(1)
    good = rng.random(200) < 0.5
    lengths = np.where(good, 200, 100) + rng.integers(0, 50, 200)
    votes = Votes.from_rows([[one] for one in good ^ (rng.random(200) < 0.1)], human_labels=good)
    assert abs(length_bias(lengths_of(votes, lengths))[0].value) < 0.2
    alone = replace(votes, gold=np.full(200, -1))
    assert length_bias(lengths_of(alone, lengths))[0].value > 0.5


@pytest.mark.parametrize("rare", [1, 2, 3])
def test_a_few_rare_votes_on_the_longest_answers_show_nothing(rare):
    votes = Votes.from_rows([["no"]] * rare + [["yes"]] * (60 - rare))
    found = length_bias(lengths_of(votes, range(60, 0, -1)))[0]
    assert found.interval[0] < 0 <= found.interval[1]
    assert found.details["p_value"] > 0.05


@pytest.mark.parametrize("votes", [Votes.from_rows([["yes"]] * 3), Votes.from_rows([["KEEP"], ["DROP"]])])
def test_without_lengths_or_numbers_there_is_no_length_bias(votes):
    if not votes.binary:
        votes = lengths_of(votes, [1, 2])
    assert length_bias(votes)[0].value is None


@each_row(
    ("one", "other", "same"),
    [
        ("openai:gpt-4o", "gpt-4o", True),
        ("azure/openai/GPT-4o", "openai:gpt-4o", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("", "", False),
        ("openai:", "azure/", False),
    ],
)
def test_names_of_one_model(one, other, same):
    assert same_model(one, other) is same_model(other, one) is same


@each_row("juror", PREFERENCES)
def test_self_preference_is_that_of_version_0_2_over_its_labels(juror):
    """Version 0.2 has a figure for each human label, and no reference of the vendor that wrote the answer."""
    found = recorded_preferences()[juror]
    parts = PREFERENCES[juror]
    weights = [own * other / (own + other) for _, own, other in parts]
    expected = sum(weight * value for weight, (value, _, _) in zip(weights, parts, strict=True)) / sum(weights)
    assert found.value == pytest.approx(expected, abs=4e-3)
    assert (found.details["own"], found.details["other"]) == (sum(p[1] for p in parts), sum(p[2] for p in parts))
    assert len(found.details["reference"]) == 13


def writers(votes, names):
    return replace(votes, generators=np.array(names))


def test_a_preference_is_found_and_a_strict_juror_on_one_side_is_none():
    rng = np.random.default_rng(3)
    own = np.arange(300) < 150
    said = np.column_stack(
        [np.where(own, rng.random(300) < 0.95, rng.random(300) < 0.5), *(rng.random((2, 300)) < 0.5)]
    )
    names = np.where(own, "a", "other")
    (found,) = self_preference(writers(Votes.from_rows(said.tolist(), jurors="abc"), names))
    assert found.value == pytest.approx(0.45, abs=0.12)
    assert found.interval[0] > 0.2
    assert "without human labels, its own answers may be better" in found.note
    fair = (rng.random((300, 3)) < 0.5).astype(object)
    fair[:, 2] = np.where(own, False, None)  # a strict juror that voted on own answers of a only
    (fair_found,) = self_preference(writers(Votes.from_rows(fair.tolist(), jurors="abc"), names))
    assert fair_found.details["reference"] == ["b"]
    assert fair_found.interval[0] <= 0 <= fair_found.interval[1]


def test_jurors_that_wrote_the_answer_too_are_no_reference():
    rows, names = [["yes", "no", "no"]] * 40 + [["no", "no", "no"]] * 40, ["a"] * 40 + ["b"] * 20 + ["c"] * 20
    found = {one.of: one for one in self_preference(writers(Votes.from_rows(rows, jurors="abc"), names))}
    assert found["a"].value == 1.0
    assert found["b"].value == pytest.approx((0 - (0 - 2 / 3)) / 2 + (0 - 0) / 2, abs=0.5)
    vendors = self_preference(writers(Votes.from_rows(rows, jurors="abc"), names), own=lambda model, writer: True)
    assert all(one.value is None for one in vendors)


@each_row(
    ("rows", "names", "note"),
    [
        ([["yes", "no"]] * 3, ["", "", ""], "no juror's model wrote an answer of known origin"),
        ([["yes", "no"]] * 3, ["a", "a", "a"], "no neutral juror voted on its own answers and on others"),
        ([["yes"]] * 3, ["a", "x", "x"], "no neutral juror voted on its own answers and on others"),
        ([], [], "no juror's model wrote an answer of known origin"),
    ],
)
def test_where_nothing_can_be_compared_there_is_a_reason(rows, names, note):
    votes = Votes.from_rows(rows, jurors="ab"[: len(rows[0])] if rows else "")
    found = self_preference(writers(votes, names) if names else votes)[0]
    assert (found.value, found.note) == (None, note)


@pytest.mark.parametrize("few", [1, 2, 3])
def test_a_few_votes_show_no_preference(few):
    rows = [["yes", "no"]] * few + [["no", "no"]] * 100
    votes = writers(Votes.from_rows(rows, jurors="ab"), ["a"] * (few + 50) + ["x"] * 50)
    assert self_preference(votes)[0].interval[0] <= 0
