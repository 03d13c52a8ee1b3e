"""A vote on scores passes from the score from which its jurors pass, unless the vote has a threshold of its own."""

import pytest

from jury_adapters import CascadedJury, Case, ConfigurationError, Ensemble, Judge, Judgment, Scorecard, Status, Tier
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.voting.names import VotingName
from jury_adapters.grounding.screen import ContextRelevance, SentenceSupport
from jury_adapters.retrieval import EachPassage
from jury_adapters.voting import Average, Quorum

RULES: list[VotingName] = ["average", "weighted_average", "median", "quorum"]
ALIKE = 3


class Rating(Judge):
    """A judge with a score and a threshold of its own."""

    def __init__(self, score: float, threshold: float, name: str = "rating") -> None:
        self.score, self.threshold, self.name = score, threshold, name

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset({self.threshold})

    def assess(self, case: Case) -> Judgment:
        return Judgment(Status.PASS if self.score >= self.threshold else Status.FAIL, score=self.score)


def graded(score: float, threshold: float, number: int = ALIKE) -> list[Judge]:
    return [Rating(score, threshold, f"rating {position}") for position in range(number)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("score", "threshold"), [(0.5, 0.75), (0.75, 0.75), (0.75, 1.0), (0.5, 0.5), (0.6, 0.6)])
def test_jurors_that_agree_are_not_overruled_by_their_scores(rule: VotingName, score: float, threshold: float) -> None:
    verdict = Ensemble(graded(score, threshold), voting=rule).judge("?")
    assert {juror.status for juror in verdict.judgments} == {verdict.status}


@pytest.mark.parametrize("rule", RULES)
def test_two_judgments_of_one_score_pass_alike_with_one_juror_and_with_many(rule: VotingName) -> None:
    for score in (0.0, 0.25, 0.5, 0.74, 0.75, 1.0):
        one = graded(score, 0.75, 1)[0].judge("?")
        assert Ensemble(graded(score, 0.75), voting=rule).judge("?").status is one.status


def test_the_reason_names_the_threshold_that_decided() -> None:
    assert Ensemble(graded(0.5, 0.75), voting="average").judge("?").reasoning == "average 0.500 is below 0.75"
    assert "0 of 3 reach 0.75" in Ensemble(graded(0.5, 0.75), voting="quorum").judge("?").reasoning


def test_a_threshold_of_the_vote_is_kept() -> None:
    assert Ensemble(graded(0.5, 0.75), voting="average", threshold=0.4).judge("?").passed
    assert Ensemble(graded(0.5, 0.75), voting=Average(threshold=0.4)).judge("?").passed
    assert Ensemble(graded(0.5, 0.75), voting=Quorum(threshold=0.4)).judge("?").passed
    assert Ensemble(graded(0.5, 0.75), voting="average").with_threshold(0.4).judge("?").passed


def test_jurors_without_a_score_of_their_own_fit_every_threshold() -> None:
    says: list[JudgeLike] = [lambda case: True, *graded(0.75, 0.75, 2)]
    assert Ensemble(says, voting="average").threshold == 0.75
    assert Ensemble([lambda case: 0.6] * ALIKE, voting="average").threshold == 0.5
    assert Ensemble([lambda case: 0.6] * ALIKE, voting="quorum").threshold == 0.7


@pytest.mark.parametrize("rule", RULES)
def test_jurors_that_pass_from_different_scores_need_a_threshold(rule: VotingName) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Ensemble([Rating(0.5, 0.75, "strict"), Rating(0.5, 0.4, "lenient")], voting=rule)
    assert "strict from 0.75, lenient from 0.4" in str(refused.value)
    assert "give threshold=" in str(refused.value)
    assert "voting='majority'" in str(refused.value)
    Ensemble([Rating(0.5, 0.75), Rating(0.5, 0.4)], voting=rule, threshold=0.5)
    Ensemble([Rating(0.5, 0.75), Rating(0.5, 0.4)])


def test_what_judges_pass_from() -> None:
    third = FunctionJudge(lambda case: 0.4, threshold=0.3)
    assert third.pass_scores == {0.3}
    assert FunctionJudge(lambda case: 0.4).pass_scores == frozenset()
    assert SentenceSupport(threshold=0.6).pass_scores == {0.6}
    assert SentenceSupport().pass_scores == ContextRelevance().pass_scores == frozenset()
    assert EachPassage(lambda case: True, threshold=0.8).pass_scores == {0.8}
    assert third.with_fallbacks([lambda case: True]).pass_scores == {0.3}
    assert CascadedJury([Tier("only", third)]).pass_scores == {0.3}
    assert Ensemble([third], voting="average").pass_scores == {0.3}
    assert Ensemble([third]).pass_scores == frozenset()
    assert Ensemble([third], voting="quorum", quorum="2/3").pass_scores == {2 / 3}
    assert Scorecard({"a": third}).pass_scores == frozenset()
    assert Scorecard({"a": third}, weights={"a": 1}, threshold=0.9).pass_scores == {0.9}


def test_a_jury_inside_a_jury_brings_its_threshold() -> None:
    inner = [Ensemble(graded(0.7, 0.75), voting="average", name=f"panel {n}") for n in range(ALIKE)]
    verdict = Ensemble(inner, voting="average").judge("?")
    assert verdict.status is Status.FAIL
    assert verdict.score == pytest.approx(0.7)


def test_early_stopping_keeps_the_threshold() -> None:
    jury = Ensemble(graded(0.5, 0.75), voting="median", schedule="early_stop")
    verdict = jury.judge("?")
    assert verdict.status is Status.FAIL
    assert verdict.partial
