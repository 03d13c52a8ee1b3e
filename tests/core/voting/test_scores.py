from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError, Judgment, Status
from jury_adapters.core.voting.rules.average import Average
from jury_adapters.core.voting.rules.median import Median
from jury_adapters.core.voting.rules.quorum import Quorum
from jury_adapters.core.voting.rules.weighted_average import WeightedAverage

ABSTAIN = Judgment(Status.ABSTAIN, reasoning="cannot say")
ERROR = Judgment(Status.ERROR, error="boom")
SCORE_STRATEGIES = [Average, WeightedAverage, Median, Quorum]


def scored(*scores):
    return [Judgment(Status.PASS if score >= 0.5 else Status.FAIL, score=score) for score in scores]


@pytest.mark.parametrize(
    ("strategy", "scores", "score", "status"),
    [
        (Average(), [0.8, 0.6, 0.1], 0.5, "PASS"),
        (Average(threshold=0.6), [0.8, 0.3], 0.55, "FAIL"),
        (Median(), [0.9, 0.8, 0.2], 0.8, "PASS"),
        (Median(), [0.4, 0.5], 0.45, "FAIL"),
        (WeightedAverage(), [0.4, 0.6], 0.5, "PASS"),
        (Quorum(), [0.7, 0.69], 0.5, "PASS"),
        (Quorum(quorum="2/3"), [0.7, 0.9, 0.1], 2 / 3, "PASS"),
        (Quorum(quorum=0.67), [0.7, 0.9, 0.1], 2 / 3, "PASS"),
        (Quorum(quorum=0.7), [0.7, 0.9, 0.1], 2 / 3, "FAIL"),
        (Quorum(quorum=0), [0.0], 0.0, "PASS"),
        (Quorum(threshold=0.4), [0.4, 0.5, 0.3], 2 / 3, "PASS"),
    ],
)
def test_scores_decide_by_the_threshold_inclusive(strategy, scores, score, status):
    result = strategy.tally(scored(*scores))
    assert result.score == pytest.approx(score)
    assert result.status == status
    assert result.label is None


@pytest.mark.parametrize("threshold", [0.7, 0.3, 0.1, 1 / 3])
@pytest.mark.parametrize("count", [2, 3, 6, 7, 11, 49])
@pytest.mark.parametrize("strategy", [Average, WeightedAverage, Median])
def test_equal_scores_meet_a_threshold_of_the_same_number(strategy, count, threshold):
    weights = [0.1 + 0.3 * position for position in range(count)]
    assert strategy(threshold=threshold).tally(scored(*[threshold] * count), weights).status is Status.PASS


@pytest.mark.parametrize("strategy", [Average, WeightedAverage, Median])
def test_a_score_just_below_the_threshold_fails(strategy):
    assert strategy(threshold=0.7).tally(scored(0.7, 0.7 - 1e-9, 0.7 - 1e-9)).status is Status.FAIL


def test_pass_and_fail_without_a_score_count_1_and_0():
    result = Average().tally([Judgment(Status.PASS), Judgment(Status.FAIL), *scored(0.2)])
    assert result.score == pytest.approx(0.4)
    assert result.tally.ballots == (1.0, 0.0, 0.2)


@pytest.mark.parametrize("strategy", SCORE_STRATEGIES)
def test_an_error_counts_as_0_by_default_and_leaves_otherwise(strategy):
    votes = [*scored(0.8), ERROR]
    assert strategy().tally(votes).tally.eligible == 2
    assert strategy(errors="ignore").tally(votes).tally.eligible == 1
    assert strategy().tally(votes).score == pytest.approx(0.5 if strategy is Quorum else 0.4)
    assert strategy(errors="abstain").tally(votes).score == pytest.approx(1.0 if strategy is Quorum else 0.8)


@pytest.mark.parametrize("strategy", SCORE_STRATEGIES)
def test_a_label_without_a_score_has_nothing_to_vote_with(strategy):
    result = strategy().tally([Judgment(None, label="K"), *scored(0.9), Judgment(None, label="R", score=0.8)])
    assert (result.tally.eligible, result.tally.ignored, result.tally.on) == (2, 1, "score")
    assert result.tally.ballots == (None, 0.9, 0.8)


def test_only_the_weights_of_those_who_vote_count():
    votes = [*scored(1.0), ABSTAIN, *scored(0.0)]
    assert WeightedAverage().tally(votes, [3, 100, 1]).score == 0.75
    assert WeightedAverage().tally(votes, [0, 100, 1]).score == 0.0
    assert WeightedAverage().tally(votes[:2], [0, 1]).status is Status.ABSTAIN


@pytest.mark.parametrize("strategy", [Average, Median, Quorum])
def test_weights_do_not_move_a_plain_score(strategy):
    votes = scored(0.9, 0.1, 0.75)
    assert strategy().tally(votes, [100, 1, 1]) == strategy().tally(votes)


def test_confidence_is_one_minus_the_mean_deviation():
    assert Average().tally(scored(0.9, 0.5)).confidence == pytest.approx(0.8)
    assert Average().tally(scored(0.6, 0.6)).confidence == pytest.approx(1.0)
    assert WeightedAverage().tally(scored(1.0, 0.0), [3, 1]).confidence == pytest.approx(1 - (3 * 0.25 + 0.75) / 4)
    assert Median().tally(scored(0.9, 0.8, 0.2)).confidence == pytest.approx(1 - 0.7 / 3)
    assert Quorum().tally(scored(0.9, 0.8, 0.2)).confidence == pytest.approx(2 / 3)


@pytest.mark.parametrize("strategy", SCORE_STRATEGIES)
@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), "0.5", None])
def test_a_threshold_outside_0_to_1_is_refused(strategy, bad):
    with pytest.raises(ConfigurationError, match="threshold must be a number from 0 to 1"):
        strategy(threshold=bad)


@pytest.mark.parametrize("bad", [1.5, -1, "3/2"])
def test_a_quorum_outside_0_to_1_is_refused(bad):
    with pytest.raises(ConfigurationError, match="quorum must lie from 0 to 1"):
        Quorum(quorum=bad)


def test_the_score_of_a_juror_decides_in_a_quorum_not_its_own_status():
    votes = [Judgment(Status.PASS, score=0.4), Judgment(Status.FAIL, score=0.9)]
    assert Quorum(quorum=1).tally(votes[1:]).status is Status.PASS
    assert Quorum(quorum=1).tally(votes).status is Status.FAIL


unit = st.floats(0, 1)


@given(st.lists(unit, min_size=1, max_size=9))
def test_the_score_is_the_mean_or_the_median_and_lies_between_the_extremes(scores):
    for strategy, reference in ((Average, mean), (WeightedAverage, mean), (Median, median)):
        result = strategy().tally(scored(*scores))
        assert result.score == pytest.approx(reference(scores))
        assert 0.0 <= result.score <= 1.0
        assert min(scores) - 1e-12 <= result.score <= max(scores) + 1e-12


@given(st.lists(st.tuples(unit, st.floats(0, 1e300)), min_size=1, max_size=9))
def test_no_weights_make_a_number_outside_0_to_1(pairs):
    weights = [weight for _, weight in pairs]
    if any(weights):
        result = WeightedAverage().tally(scored(*[score for score, _ in pairs]), weights)
        assert 0.0 <= result.score <= 1.0
        assert 0.0 <= result.confidence <= 1.0


@given(st.lists(unit, min_size=1, max_size=9), st.integers(0, 8), unit, st.sampled_from(SCORE_STRATEGIES), unit)
def test_a_higher_score_of_one_juror_never_lowers_the_jury(scores, position, other, strategy, threshold):
    position %= len(scores)
    lower, higher = sorted((scores[position], other))
    low, high = list(scores), list(scores)
    low[position], high[position] = lower, higher
    worse, better = (strategy(threshold=threshold).tally(scored(*given)) for given in (low, high))
    assert better.score >= worse.score - 1e-12
    assert (worse.status, better.status) != (Status.PASS, Status.FAIL)


@given(st.lists(unit, min_size=1, max_size=30), st.integers(0, 30), st.integers(1, 30))
def test_a_quorum_of_p_in_q_needs_exactly_that_share(scores, p, q):
    if p <= q:
        passed = sum(score >= 0.7 for score in scores)
        expected = passed * q >= p * len(scores)
        assert (Quorum(quorum=(p, q)).tally(scored(*scores)).status is Status.PASS) == expected
