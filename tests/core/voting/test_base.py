import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError, Judgment, Status
from jury_adapters.core.voting import FunctionVote, weights_in_order
from jury_adapters.core.voting.rules.average import Average
from jury_adapters.core.voting.rules.bayes import Bayes
from jury_adapters.core.voting.rules.first_disagreement import FirstDisagreement
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.median import Median
from jury_adapters.core.voting.rules.quorum import Quorum
from jury_adapters.core.voting.rules.unanimous import Unanimous
from jury_adapters.core.voting.rules.weighted import Weighted
from jury_adapters.core.voting.rules.weighted_average import WeightedAverage

PASS = Judgment(Status.PASS)
FAIL = Judgment(Status.FAIL)
ABSTAIN = Judgment(Status.ABSTAIN, reasoning="cannot say")
ERROR = Judgment(Status.ERROR, error="boom", critic="c")

ALL = [
    Majority(),
    Unanimous(),
    Weighted(),
    FirstDisagreement(),
    Average(),
    WeightedAverage(),
    Median(),
    Quorum(),
    Bayes(reliabilities=[0.9, 0.8, 0.7]),
    FunctionVote(function=lambda judgments: any(judgment.passed for judgment in judgments)),
]
SYMMETRIC = [*ALL[:3], *ALL[4:8]]  # whose outcome does not depend on who voted what

every_strategy = pytest.mark.parametrize("strategy", ALL, ids=lambda strategy: strategy.name)


@every_strategy
@pytest.mark.parametrize(("errors", "eligible", "ignored"), [("fail", 2, 0), ("abstain", 1, 0), ("ignore", 1, 1)])
def test_abstentions_leave_and_errors_follow_the_policy(strategy, errors, eligible, ignored):
    tally = replace(strategy, errors=errors).tally([PASS, ERROR, ABSTAIN]).tally
    assert (tally.eligible, tally.passed, tally.failed) == (eligible, 1, eligible - 1)
    assert (tally.errors, tally.abstained, tally.ignored) == (1, 1, ignored)
    assert tally.ballots[1:] == (None, None)


@every_strategy
def test_a_propagated_error_is_an_error_that_names_the_judge(strategy):
    result = replace(strategy, errors="propagate").tally([PASS, ERROR, ABSTAIN])
    assert (result.status, result.error) == (Status.ERROR, "c: boom")
    assert (result.tally.eligible, result.tally.errors, result.tally.abstained) == (0, 1, 1)
    assert (result.score, result.label, result.confidence) == (None, None, None)


@every_strategy
def test_propagation_changes_nothing_when_nobody_broke(strategy):
    votes = [PASS, FAIL, PASS]
    assert replace(strategy, errors="propagate").tally(votes) == strategy.tally(votes)


@every_strategy
@pytest.mark.parametrize("errors", ["abstain", "ignore"])
def test_without_an_eligible_vote_the_jury_abstains_without_score_or_confidence(strategy, errors):
    result = replace(strategy, errors=errors).tally([ERROR, ABSTAIN, ABSTAIN])
    assert (result.status, result.score, result.confidence, result.tally.eligible) == (Status.ABSTAIN, None, None, 0)
    assert result.reasoning


@every_strategy
def test_fewer_than_min_votes_abstain(strategy):
    assert replace(strategy, min_votes=3).tally([PASS, PASS, ABSTAIN]).status is Status.ABSTAIN
    assert replace(strategy, min_votes=2).tally([PASS, PASS, ABSTAIN]).status is Status.PASS


@every_strategy
def test_an_unknown_error_policy_is_refused_with_the_known_ones(strategy):
    with pytest.raises(ConfigurationError, match=r"unknown errors= 'skip'.*abstain, fail, ignore, propagate"):
        replace(strategy, errors="skip")


@every_strategy
@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "1"])
def test_min_votes_is_a_whole_number_from_1(strategy, bad):
    with pytest.raises(ConfigurationError, match="min_votes is a whole number from 1"):
        replace(strategy, min_votes=bad)


@every_strategy
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], "one weight per judgment"),
        ([1.0, 1.0, -1.0], "finite number >= 0, not -1.0"),
        ([1.0, math.nan, 1.0], "not nan"),
        ([1.0, math.inf, 1.0], "not inf"),
        ([1.0, True, 1.0], "not True"),
        ([1.0, "2", 1.0], "not '2'"),
        ([1e308, 1e308, 1e308], "too large to add up"),
        ([1, 10**400, 1], "too large to add up"),
        ([0, 0.0, 0], "all weights are zero; give at least one judge a weight above 0"),
    ],
)
def test_unusable_weights_are_refused(strategy, weights, message):
    with pytest.raises(ConfigurationError, match=message):
        strategy.tally([PASS, PASS, PASS], weights)


def test_weights_come_by_position_or_name_and_the_others_weigh_1():
    names = ("a", "b", "c")
    assert weights_in_order([3, 2, 1], names) == (3, 2, 1)
    assert weights_in_order({"b": 5}, names) == (1.0, 5, 1.0)
    assert weights_in_order({0: 4, "c": 0}, names) == (4, 1.0, 0)


@pytest.mark.parametrize("key", ["d", 3, -1, "0"])
def test_weights_for_someone_who_is_no_juror_are_refused(key):
    with pytest.raises(ConfigurationError, match=r"unknown juror in weights .* Known: a, b, c"):
        weights_in_order({key: 2.0}, ("a", "b", "c"))


votes = st.sampled_from([PASS, FAIL, ABSTAIN, ERROR, *(Judgment(Status.PASS, score=s) for s in (0.1, 0.55, 0.72))])
panels = st.lists(st.tuples(votes, st.floats(0.01, 100)), min_size=1, max_size=7)
policies = st.sampled_from([None, "fail", "abstain", "ignore", "propagate"])


@given(st.sampled_from(SYMMETRIC), panels, policies, st.randoms(use_true_random=False))
def test_the_order_of_the_jurors_does_not_matter(strategy, panel, errors, chance):
    shuffled = chance.sample(panel, len(panel))
    one, other = (
        replace(strategy, errors=errors).tally([j for j, _ in given], [w for _, w in given])
        for given in (panel, shuffled)
    )
    assert (one.status, one.label) == (other.status, other.label)
    assert one.score == pytest.approx(other.score)
    assert one.confidence == pytest.approx(other.confidence)


@given(st.sampled_from(SYMMETRIC), panels, policies, st.sampled_from([2.0**-20, 0.5, 2.0, 1024.0]))
def test_only_the_ratio_of_the_weights_matters(strategy, panel, errors, factor):
    judgments = [judgment for judgment, _ in panel]
    strategy = replace(strategy, errors=errors)
    one = strategy.tally(judgments, [weight for _, weight in panel])
    other = strategy.tally(judgments, [weight * factor for _, weight in panel])
    assert one == other


@given(st.sampled_from(SYMMETRIC), panels, policies)
def test_every_count_adds_up_and_every_number_lies_in_0_to_1(strategy, panel, errors):
    judgments = [judgment for judgment, _ in panel]
    result = replace(strategy, errors=errors).tally(judgments, [weight for _, weight in panel])
    tally = result.tally
    assert tally.errors == sum(judgment.status is Status.ERROR for judgment in judgments)
    assert tally.abstained == judgments.count(ABSTAIN)
    assert tally.passed + tally.failed == tally.eligible
    if result.status is not Status.ERROR:
        counted = tally.errors if errors in (None, "fail") else 0
        assert tally.eligible == sum(judgment.valid for judgment in judgments) + counted
    assert len(tally.ballots) == len(judgments)
    for number in (result.score, result.confidence):
        assert number is None or 0.0 <= number <= 1.0
    assert (result.status in (Status.PASS, Status.FAIL)) == (result.confidence is not None)


@given(st.sampled_from(SYMMETRIC), st.data())
def test_one_more_pass_in_the_place_of_a_fail_never_loses_a_pass(strategy, data):
    judgments = data.draw(st.lists(st.sampled_from([PASS, FAIL, ABSTAIN, ERROR]), min_size=1, max_size=7))
    weights = data.draw(st.lists(st.floats(0.01, 100), min_size=len(judgments), max_size=len(judgments)))
    position = data.draw(st.integers(0, len(judgments) - 1))
    worse, better = list(judgments), list(judgments)
    worse[position], better[position] = FAIL, PASS
    if strategy.tally(worse, weights).status is Status.PASS:
        assert strategy.tally(better, weights).status is Status.PASS


def test_a_tally_changes_nothing_it_was_given():
    judgments, weights = [PASS, FAIL, ABSTAIN], [1.0, 2.0, 3.0]
    for strategy in ALL:
        strategy.tally(judgments, weights)
    assert (judgments, weights) == ([PASS, FAIL, ABSTAIN], [1.0, 2.0, 3.0])
