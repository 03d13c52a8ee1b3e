"""The threshold of a jury's vote is aligned from the votes that were cast, without another question to a model."""

import json

import pytest

from jury_adapters import (
    CascadedJury,
    ConfigurationError,
    Critic,
    Ensemble,
    Rubric,
    Scale,
    Scorecard,
    Tier,
    Usage,
    judge,
)
from jury_adapters.align import Aligner, align
from jury_adapters.align.vote_thresholds import recount
from jury_adapters.models.base import Reply
from tests.simulations.labelled_jurors import RATED, jury_of, labelled

CHANGE = "another vote threshold"


class Rater:
    """Model that rates good answers 7 and poor ones 6, and counts its calls."""

    def __init__(self, name="rater"):
        self.name = self.model = name
        self.calls = 0

    async def complete(self, prompt, schema=None, options=None):
        self.calls += 1
        rating = 7 if "(good)" in prompt.turns[-1].text else 6
        return Reply(json.dumps({"reasoning": "", "answer": rating, "confidence": 0.9}), usage=Usage(calls=1))


class OnlyThreshold(Aligner):
    """Aligner that tries nothing else."""

    def changes(self, asked):
        return super().changes(asked)[-1:]


def rated(voting="average", **options):
    return Ensemble({name: Critic(Rater(name), RATED) for name in "abc"}, voting=voting, name="rated", **options)


def accuracy(found, name=CHANGE):
    return next(one.accuracy for one in found.candidates if one.name == name)


@pytest.mark.slow
def test_a_threshold_that_passes_everything_is_moved():
    jury = rated(threshold=0.5)  # without one, the vote takes the pass mark of the rubric, which may be moved
    found = align(jury, labelled(100, 1))
    assert found.accepted
    assert (found.chosen, found.threshold) == (CHANGE, 0.65)
    assert (found.jury.threshold, jury.threshold) == (0.65, 0.5)
    assert found.balanced_before == 0.5
    assert found.balanced_after == 1.0
    assert "-vote threshold: 0.5\n+vote threshold: 0.65" in found.diff
    (change,) = found.rubric.history
    assert change.change == f"{CHANGE}: 0.65"
    assert change.parent == found.rubric.fingerprint == RATED.fingerprint
    fresh = labelled(30, 2)
    for case, verdict in zip(fresh, found.jury.judge_many(fresh), strict=True):
        assert str(verdict.status) == case.metadata["gold"]
    assert json.loads(json.dumps(found.to_dict()))["threshold"] == 0.65


@pytest.mark.slow
def test_the_votes_are_counted_again_and_no_model_is_asked():
    raters = [Rater(name) for name in "abc"]
    jury = Ensemble([Critic(rater, RATED) for rater in raters], voting="average")
    found = align(jury, labelled(100, 1), aligner=OnlyThreshold())
    assert [one.name for one in found.candidates] == ["as it is", CHANGE]
    assert found.accepted
    assert [rater.calls for rater in raters] == [100, 100, 100]
    assert found.usage.calls == 300


@pytest.mark.slow
@pytest.mark.parametrize("voting", ["average", "median", "weighted_average", "quorum"])
def test_every_rule_with_a_threshold_is_aligned(voting):
    weights = [2, 1, 1] if voting == "weighted_average" else None
    jury = rated(voting, weights=weights, threshold=0.3)
    found = align(jury, labelled(80, 3), aligner=OnlyThreshold())
    assert found.accepted
    assert found.threshold == 0.65
    judged = list(jury.judge_many(labelled(20, 4)))
    again = list(found.jury.judge_many(labelled(20, 4)))
    for counted, verdict in zip(recount(found.jury, judged), again, strict=True):
        assert (counted.status, counted.score, counted.tally) == (verdict.status, verdict.score, verdict.tally)
        assert (counted.reasoning, counted.confidence) == (verdict.reasoning, verdict.confidence)


@pytest.mark.slow
def test_a_posterior_that_is_asked_too_much_is_lowered():
    def lenient(number):
        return lambda case: "(good)" in case.answer and case.answer.count("blue") != number

    jurors = {f"juror {number}": judge(lenient(number)) for number in range(3)}
    rated_juror = {"rated": Critic(Rater(), RATED)}
    jury = Ensemble({**jurors, **rated_juror}, voting="bayes", reliabilities=[0.8] * 4, threshold=0.99)
    found = align(jury, labelled(100, 3), aligner=OnlyThreshold())
    assert found.accepted
    assert found.threshold < 0.99
    assert found.right_after == found.tested


@pytest.mark.slow
def test_a_weighted_scorecard_is_aligned():
    critic = Critic(Rater(), RATED)
    card = Scorecard(
        {"rated": critic, "said": judge(lambda case: True)}, weights={"rated": 1, "said": 1}, threshold=0.5
    )
    found = align(card, labelled(80, 3), aligner=OnlyThreshold())
    assert found.accepted
    assert 0.8 < found.threshold <= 0.85
    assert found.jury.threshold == found.threshold


@pytest.mark.parametrize(
    "jury",
    [
        Ensemble([Critic(Rater(), RATED)], voting="majority"),
        Ensemble([Critic(Rater(), RATED)] * 3, voting="average", threshold=0.65),
        CascadedJury([Tier("first", Ensemble([Critic(Rater(), RATED)], voting="average"))]),
        Critic(Rater(), RATED),
    ],
    ids=["no threshold", "right already", "inside a cascade", "no vote"],
)
def test_nothing_to_move(jury):
    assert accuracy(align(jury, labelled(80, 1), aligner=OnlyThreshold())) is None


def test_a_jury_that_stops_early_has_too_few_votes_to_count_again():
    jury = rated("quorum", threshold=0.3, schedule="early_stop")
    assert any(verdict.partial for verdict in jury.judge_many(labelled(10, 1)))
    assert accuracy(align(jury, labelled(80, 1), aligner=OnlyThreshold())) is None


@pytest.mark.slow
def test_a_threshold_that_is_right_stays():
    jury, _ = jury_of("right threshold", 5)
    assert not align(jury, labelled(100, 5), aligner=OnlyThreshold()).accepted


@pytest.mark.parametrize(
    ("jury", "threshold"),
    [(rated("majority"), 0.5), (rated(), 1.5), (Scorecard({"a": judge(lambda case: True)}), 0.5)],
)
def test_a_threshold_that_cannot_be(jury, threshold):
    with pytest.raises(ConfigurationError, match="threshold"):
        jury.with_threshold(threshold)


def test_a_scale_that_begins_at_zero_has_examples_of_both_ends():
    rubric = Rubric(name="rated", criteria="The answer helps.", answers=Scale(minimum=0, maximum=10, pass_mark=6.5))
    found = align(Critic(Rater(), rubric), labelled(80, 1))
    assert accuracy(found, "2 examples") == 1.0


@pytest.mark.slow
def test_another_pass_mark_is_that_of_the_vote():
    found = align(rated(), labelled(100, 1))
    assert (found.chosen, found.threshold) == ("another pass mark", None)
    assert found.balanced_after == 1.0
    (mark,) = {critic.rubric.answers.pass_score for critic in found.jury.members}
    assert found.jury.threshold == mark > 0.5
