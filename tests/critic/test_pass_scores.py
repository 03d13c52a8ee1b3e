"""The score from which critics pass, which is the threshold of a vote on their scores."""

import json

import pytest

from jury_adapters import ConfigurationError, Critic, Ensemble, Labels, Rubric, Scale, Status, panel
from jury_adapters.core.voting.names import VotingName
from jury_adapters.critic.changed_rubrics import rubrics_in, with_changed_rubrics
from jury_adapters.critic.rubric import bundled_rubrics
from jury_adapters.testing import ScriptedModel


def rater(rating: object) -> ScriptedModel:
    return ScriptedModel(json.dumps({"reasoning": "because", "answer": rating, "confidence": 0.9}))


def rubric(answers: Labels | Scale) -> Rubric:
    return Rubric(name="house", criteria="How good?", answers=answers)


@pytest.mark.parametrize("voting", ["average", "weighted_average", "median", "quorum", "majority"])
@pytest.mark.parametrize("rating", [1, 3, 4, 5])
def test_three_equal_ratings_pass_as_one_does(voting: VotingName, rating: int) -> None:
    case = {"question": "q", "answer": "a", "reference": "r"}
    jury = panel("graded_correctness", *(rater(rating) for _ in range(3)), voting=voting)
    one = Critic(rater(rating), "graded_correctness").judge(case)
    assert jury.judge(case).status is one.status is (Status.PASS if rating >= 4 else Status.FAIL)


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        (Scale(minimum=1, maximum=5, pass_mark=4), {0.75}),
        (Scale(minimum=0, maximum=3, pass_mark=2), {2 / 3}),
        (Scale(minimum=1, maximum=5), {0.5}),
        (Labels.of(passing=["YES"], failing=["NO"]), set()),
        (Labels.of(passing={"great": 1.0, "fine": 0.6}, failing={"poor": 0.0}), {0.5}),
        (Labels.of(passing={"great": 1.0}, failing={"fair": 0.6, "poor": 0.0}), {0.8}),
        (Labels.of(neutral=["A", "B"]), set()),
    ],
)
def test_the_pass_mark_of_a_rubric_is_a_score(answers: Labels | Scale, score: set[float]) -> None:
    assert Critic(rater(1), rubric(answers)).pass_scores == score


def test_threshold_replaces_the_pass_mark() -> None:
    assert Critic(rater(1), "graded_correctness", threshold=0.4).pass_scores == {0.4}


def test_scores_of_claims_and_of_probabilities() -> None:
    assert Critic(rater(1), "faithfulness_claims").pass_scores == {1.0}
    assert Critic(rater("YES"), "faithfulness").pass_scores == frozenset()
    assert Critic(rater("YES"), "faithfulness", logprobs=True).pass_scores == {0.5}
    assert Critic(rater("YES"), prompt="{answer}", parse=lambda reply: 0.4).pass_scores == frozenset()


def test_labels_that_no_score_divides_need_a_threshold() -> None:
    mixed = rubric(Labels.of(passing={"short": 0.3}, failing={"long": 0.8}))
    jurors = [Critic(rater("short"), mixed, name=name) for name in "ab"]
    with pytest.raises(ConfigurationError, match="no score divides them; give the vote a threshold="):
        Ensemble(jurors, voting="average")
    assert Ensemble(jurors).judge(question="q", answer="a").passed
    assert Ensemble(jurors, voting="average", threshold=0.9).judge(question="q", answer="a").passed is False


def test_samples_vote_by_the_pass_mark() -> None:
    critic = Critic(rater(3), "graded_correctness")
    case = {"question": "q", "answer": "a", "reference": "r"}
    assert critic.with_samples(3, voting="average").judge(case).passed is False


def test_every_rubric_of_the_package_has_scores_that_a_threshold_divides() -> None:
    for name in bundled_rubrics():
        assert len(Critic(rater(1), name).pass_scores) <= 1, name


def test_another_pass_mark_moves_the_threshold_of_the_vote() -> None:
    case = {"question": "q", "answer": "a", "reference": "r"}
    jury = panel("graded_correctness", rater(3), rater(3), voting="average")
    (before,) = set(rubrics_in(jury))
    lenient = before.model_copy(update={"answers": Scale(minimum=1, maximum=5, pass_mark=3)})
    changed = with_changed_rubrics(jury, {before.fingerprint: lenient})
    assert (jury.threshold, changed.threshold) == (0.75, 0.5)
    assert (jury.judge(case).passed, changed.judge(case).passed) == (False, True)
    fixed = with_changed_rubrics(jury.with_threshold(0.6), {before.fingerprint: lenient})
    assert fixed.threshold == 0.6
    mixed = Ensemble([*jury.members, Critic(rater(3), "graded_correctness", threshold=0.75)], voting="average")
    assert with_changed_rubrics(mixed, {before.fingerprint: lenient}).threshold == 0.75


NOT_SCORED = Labels.of(passing=["good"], failing=["poor"], abstaining=["unsure"])


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({"labels": NOT_SCORED, "threshold": 0.3}, True),
        ({"labels": NOT_SCORED}, False),
        ({"labels": NOT_SCORED, "threshold": 0.3, "logprobs": True}, False),
        ({"labels": {"good": 0.8, "poor": 0.1}, "threshold": 0.3}, False),
        ({"scale": (1, 5), "threshold": 0.3}, False),
        ({"labels": NOT_SCORED, "threshold": 0.3, "parse": lambda reply: 0.4}, False),
    ],
)
def test_a_threshold_that_no_answer_can_reach_or_miss_is_said(caplog, options, warned):
    model = ScriptedModel(["poor"])
    critic = Critic(model, prompt="Judge {answer}.", name="my critic", **options)
    said = [record.getMessage() for record in caplog.records if "has no effect" in record.getMessage()]
    assert len(said) == warned
    if warned:
        assert "threshold=0.3 has no effect, because its labels (good, poor, unsure) have no scores" in said[0]
        assert critic.judge(answer="x").status is Status.FAIL


def test_a_threshold_of_verified_claims_has_an_effect(caplog):
    Critic(ScriptedModel(["{}"]), "faithfulness_claims", threshold=0.5)
    assert not caplog.records
