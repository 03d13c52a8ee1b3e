"""One ensemble is one question: critics with different rubrics draw a warning."""

import warnings

import pytest

from jury_adapters import CascadedJury, Critic, Ensemble, Scorecard, Tier
from jury_adapters.checks import NotEmpty
from jury_adapters.config import load_jury
from jury_adapters.judges import EachTurn
from jury_adapters.testing import ScriptedModel


def critic(rubric, name=""):
    return Critic(ScriptedModel("YES"), rubric, name=name or rubric)


def test_different_rubrics_draw_a_warning_that_names_them_and_scorecard():
    with pytest.warns(UserWarning, match=r"\(faithfulness, answer_relevance\).*use a Scorecard") as caught:
        Ensemble([critic("faithfulness"), critic("faithfulness", "two"), critic("answer_relevance")])
    assert caught[0].filename == __file__


def test_a_fallback_does_not_hide_the_rubric_and_adds_none():
    backed = critic("faithfulness").with_fallbacks([critic("hallucination")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ensemble([backed, critic("faithfulness", "two")])
    with pytest.warns(UserWarning, match="use a Scorecard"):
        Ensemble([backed, critic("answer_relevance")])


def test_one_rubric_other_judges_and_scorecards_draw_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ensemble([critic("faithfulness"), critic("faithfulness", "two"), lambda case: True])
        Ensemble([Critic.from_criteria(ScriptedModel("YES"), "It is polite.", name=name) for name in ("one", "two")])
        Scorecard({"faithful": critic("faithfulness"), "relevant": critic("answer_relevance")})


def test_the_question_of_each_turn_is_one_too():
    with pytest.warns(UserWarning, match="use a Scorecard"):
        Ensemble([EachTurn(critic("answer_relevance")), critic("resolution")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ensemble([EachTurn(critic("tone")), EachTurn(critic("tone", "two"))])
        Scorecard({"turns": EachTurn(critic("answer_relevance")), "thread": critic("resolution")})


def test_a_jury_file_draws_it_too():
    with pytest.warns(UserWarning, match="use a Scorecard"):
        load_jury(
            """
jurors:
  - {rubric: faithfulness, model: "ollama:a"}
  - {rubric: answer_relevance, model: "ollama:a"}
"""
        )


def faithful():
    return critic("faithfulness")


def relevant():
    return critic("answer_relevance")


def in_a_tier(judge):
    return CascadedJury([Tier("filled", NotEmpty(), "reject_on_any_fail"), Tier("last", judge)])


@pytest.mark.parametrize(
    "members",
    [
        lambda: [Ensemble([faithful()]), Ensemble([relevant()])],
        lambda: [in_a_tier(faithful()), relevant()],
        lambda: [in_a_tier(Ensemble([faithful()])), in_a_tier(relevant())],
        lambda: [Scorecard({"a": faithful(), "b": relevant()}), faithful()],
    ],
    ids=["panels", "a tier and a critic", "tiers", "a scorecard and a critic"],
)
def test_critics_inside_other_juries_count(members):
    with pytest.warns(UserWarning, match=r"\(faithfulness, answer_relevance\).*use a Scorecard") as caught:
        Ensemble(members())
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "members",
    [
        lambda: [Ensemble([faithful()]), in_a_tier(faithful()), faithful(), in_a_tier(NotEmpty())],
        lambda: [Scorecard({"a": faithful(), "b": relevant()}), Scorecard({"a": faithful(), "b": relevant()})],
        lambda: [CascadedJury([Tier("a", relevant(), "reject_on_any_fail"), Tier("b", faithful())]), NotEmpty()],
    ],
    ids=["one rubric everywhere", "the same rubrics in each", "rubrics of one member"],
)
def test_members_that_answer_the_same_questions_draw_none(members):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ensemble(members())
