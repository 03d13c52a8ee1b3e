import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.plain_judges import Says

from jury_adapters import ConfigurationError, Ensemble, Judgment, Scorecard, Status
from jury_adapters.core.voting.rules.bayes import Bayes
from jury_adapters.core.voting.rules.majority import Majority

PASS = Judgment(Status.PASS)
FAIL = Judgment(Status.FAIL)
ABSTAIN = Judgment(Status.ABSTAIN, reasoning="cannot say")
ERROR = Judgment(Status.ERROR, error="boom")


def test_the_posterior_is_that_of_independent_witnesses():
    result = Bayes(reliabilities=[0.9, 0.8]).tally([PASS, FAIL])
    assert result.score == pytest.approx(0.9 * 0.2 / (0.9 * 0.2 + 0.1 * 0.8))
    assert result.status is Status.PASS
    assert result.confidence == result.score


def test_the_confidence_is_that_of_the_winner_and_the_score_that_of_a_pass():
    result = Bayes(reliabilities=[0.9]).tally([FAIL])
    assert (result.status, result.score, result.confidence) == (Status.FAIL, pytest.approx(0.1), pytest.approx(0.9))


def test_two_numbers_tell_how_often_a_pass_and_how_often_a_fail_is_right():
    strict = Bayes(reliabilities=[(0.6, 0.99)])
    assert strict.tally([PASS]).score == pytest.approx(0.6 / (0.6 + 0.01))
    assert strict.tally([FAIL]).score == pytest.approx(0.4 / (0.4 + 0.99))


def test_the_prior_speaks_when_the_votes_balance():
    votes = [PASS, FAIL]
    assert Bayes(reliabilities=[0.7, 0.7], prior=0.6).tally(votes).status is Status.PASS
    assert Bayes(reliabilities=[0.7, 0.7], prior=0.4).tally(votes).status is Status.FAIL


@pytest.mark.parametrize("hundredths", range(1, 100))
def test_votes_that_balance_exactly_pass_whatever_the_logarithms_round_to(hundredths):
    reliability = hundredths / 100
    assert Bayes(reliabilities=[reliability] * 4).tally([PASS, FAIL, FAIL, PASS]).status is Status.PASS


def test_a_juror_below_one_half_counts_against_its_own_vote():
    assert Bayes(reliabilities=[0.2]).tally([PASS]).status is Status.FAIL
    assert Bayes(reliabilities=[0.2]).tally([FAIL]).status is Status.PASS


def test_a_reliable_juror_outvotes_two_poor_ones():
    votes = [PASS, FAIL, FAIL]
    assert Majority().tally(votes).status is Status.FAIL
    assert Bayes(reliabilities=[0.95, 0.6, 0.6]).tally(votes).status is Status.PASS


def test_an_abstention_says_nothing_and_an_error_is_a_fail_unless_told_otherwise():
    bayes = Bayes(reliabilities=[0.9, 0.8])
    assert bayes.tally([PASS, ABSTAIN]).score == pytest.approx(0.9)
    assert bayes.tally([PASS, ERROR]).score == bayes.tally([PASS, FAIL]).score
    assert Bayes(reliabilities=[0.9, 0.8], errors="ignore").tally([PASS, ERROR]).score == pytest.approx(0.9)


def test_reliabilities_by_name_find_their_jurors():
    bayes = Bayes(reliabilities={"poor": 0.6, "good": 0.95})
    good, poor = Judgment(Status.PASS, critic="good"), Judgment(Status.FAIL, critic="poor")
    assert bayes.tally([good, poor]).status is Status.PASS
    assert bayes.tally([poor, good]).status is Status.PASS
    assert bayes.bind(["good", "poor"]).reliabilities == (0.95, 0.6)


def test_a_juror_without_a_reliability_is_named():
    with pytest.raises(ConfigurationError, match="no reliability for c, d; it knows a, b"):
        Bayes(reliabilities={"a": 0.9, "b": 0.8}).bind(["a", "c", "d"])
    with pytest.raises(ConfigurationError, match="2 reliabilities for 3 jurors"):
        Bayes(reliabilities=[0.9, 0.8]).tally([PASS, PASS, PASS])


@pytest.mark.parametrize("bad", [0, 1, 1.0, -0.1, True, "0.9", math.nan, (0.9, 1.0), (0.0, 0.9)])
def test_certainty_and_nonsense_are_no_reliability(bad):
    with pytest.raises(ConfigurationError, match=r"a reliability lies strictly between 0 and 1.*0\.999"):
        Bayes(reliabilities=[bad])


def test_the_prior_lies_strictly_between_0_and_1():
    with pytest.raises(ConfigurationError, match="prior lies strictly between 0 and 1"):
        Bayes(reliabilities=[0.9], prior=1)


@pytest.mark.parametrize("nothing", [[], {}])
def test_no_reliabilities_are_refused(nothing):
    with pytest.raises(ConfigurationError, match="bayes needs reliabilities=, one per juror"):
        Bayes(reliabilities=nothing)


@pytest.mark.parametrize("bad", [0.9, "0.9"])
def test_one_number_for_all_is_refused(bad):
    with pytest.raises(ConfigurationError, match=r"reliabilities= takes one per juror, \[0.9, 0.8\]"):
        Bayes(reliabilities=bad)


open_unit = st.floats(0.001, 0.999)
jurors = st.lists(st.tuples(open_unit, st.sampled_from([PASS, FAIL, ABSTAIN])), min_size=1, max_size=8)


@given(jurors, open_unit)
def test_the_posterior_is_the_product_rule(pairs, prior):
    result = Bayes(reliabilities=[r for r, _ in pairs], prior=prior).tally([vote for _, vote in pairs])
    for_pass, for_fail = prior, 1 - prior
    for reliability, vote in pairs:
        if vote is not ABSTAIN:
            for_pass *= reliability if vote is PASS else 1 - reliability
            for_fail *= 1 - reliability if vote is PASS else reliability
    if result.status is Status.ABSTAIN:
        assert result.score is None
    else:
        assert result.score == pytest.approx(for_pass / (for_pass + for_fail), abs=1e-9)
        assert 0.0 <= result.score <= 1.0


@given(jurors, st.randoms(use_true_random=False))
def test_jurors_may_come_in_any_order(pairs, chance):
    shuffled = chance.sample(pairs, len(pairs))
    one, other = (Bayes(reliabilities=[r for r, _ in p]).tally([v for _, v in p]) for p in (pairs, shuffled))
    assert (one.status, one.score) == (other.status, other.score)


@given(st.integers(1, 9), st.lists(st.sampled_from([PASS, FAIL, ABSTAIN]), min_size=9, max_size=9))
def test_jurors_who_are_all_alike_vote_by_majority(n, votes):
    bayes = Bayes(reliabilities=[0.7] * n).tally(votes[:n])
    assert bayes.status is Majority(tie="pass").tally(votes[:n]).status


@given(
    st.lists(st.sampled_from([PASS, FAIL, ABSTAIN]), min_size=3, max_size=3).filter(
        lambda votes: votes != [ABSTAIN] * 3
    ),
    st.floats(0.05, 0.95),
    st.floats(0.05, 0.95),
)
def test_a_threshold_moves_the_cut_and_not_the_posterior(votes, prior, threshold):
    plain = Bayes(reliabilities=[0.9, 0.7, 0.4], prior=prior).tally(votes)
    moved = Bayes(reliabilities=[0.9, 0.7, 0.4], prior=prior, threshold=threshold).tally(votes)
    assert moved.score == plain.score
    if abs(moved.score - threshold) > 1e-9:
        assert (moved.status is Status.PASS) == (moved.score > threshold)
    assert moved.confidence == pytest.approx(moved.score if moved.status is Status.PASS else 1 - moved.score)
    odds = prior / (1 - prior) * (1 - threshold) / threshold
    shifted = Bayes(reliabilities=[0.9, 0.7, 0.4], prior=odds / (1 + odds)).tally(votes)
    assert abs(moved.score - threshold) < 1e-9 or shifted.status is moved.status


@pytest.mark.parametrize("wrong", [0, 1, 1.5, True, "half"])
def test_a_threshold_lies_between_0_and_1(wrong):
    with pytest.raises(ConfigurationError, match="threshold lies strictly between 0 and 1"):
        Bayes(reliabilities=[0.9], threshold=wrong)


@pytest.mark.parametrize("unreliable", [0.2, (0.5, 0.3), (0.1, 0.3)])
@pytest.mark.parametrize("errors", [None, "fail"])
def test_a_broken_juror_counts_against_the_case_even_where_its_fail_would_count_for_it(unreliable, errors):
    jury = Ensemble(
        [lambda case: False, lambda case: 1 / 0], voting="bayes", reliabilities=[0.6, unreliable], errors=errors
    )
    verdict = jury.judge("any question")
    assert verdict.status is Status.FAIL
    assert verdict.tally.failed == 2


def test_a_broken_juror_decided_where_its_fail_would_have_passed_the_case():
    jury = Ensemble([lambda case: False, lambda case: 1 / 0], voting="bayes", reliabilities=[0.6, 0.2])
    verdict = jury.judge("any question")
    assert (verdict.status, verdict.tally.errors_decided) == (Status.FAIL, True)
    certain = Ensemble([lambda case: False, lambda case: 1 / 0], voting="bayes", reliabilities=[0.9, 0.4])
    assert not certain.judge("any question").tally.errors_decided


def test_a_jury_that_fails_a_case_only_because_of_an_outage_does_not_speak_for_it():
    panel = Ensemble([lambda case: True, lambda case: 1 / 0])
    assert panel.judge("any question").tally.errors_decided
    verdict = Ensemble([lambda case: False, panel], voting="bayes", reliabilities=[0.6, 0.2]).judge("any question")
    assert verdict.status is Status.FAIL


def broken_last():
    """A jury whose first juror fails the case and whose last one breaks; the others are not asked if it stops early."""
    jurors = [Says(FAIL, "a"), Says(FAIL, "b", cost=2), Says(ERROR, "c")]
    return Ensemble(jurors, voting="k_veto", k=1, min_votes=2, errors="fail", schedule="early_stop", name="inside")


def test_a_jury_inside_asks_all_its_jurors_where_errors_count_against_the_case():
    # A FAIL of a juror below 1/2 counts for PASS, but not if only jurors that broke caused it. Only a jury that asked
    # all its jurors can say that.
    alone = broken_last().judge("?")
    assert alone.partial
    assert alone.failed_by_errors
    for inside in (broken_last(), Ensemble([broken_last()]), Scorecard({"one": broken_last()})):
        verdict = Ensemble([inside], voting="bayes", reliabilities=[0.2]).judge("?")
        assert verdict.status is Status.PASS
        assert not verdict.judgments[0].failed_by_errors


def test_a_jury_inside_may_stop_early_where_each_juror_counts_for_its_vote():
    for reliabilities in ([0.8], {"inside": (0.9, 0.6)}):
        assert Ensemble([broken_last()], voting="bayes", reliabilities=reliabilities).judge("?").judgments[0].partial
    by_name = Ensemble([broken_last()], voting="bayes", reliabilities={"inside": (0.9, 0.05)})
    assert not by_name.judge("?").judgments[0].partial
