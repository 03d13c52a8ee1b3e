"""An empty answer: rubrics that say what it is ask no model, and so no model can pass it."""

import pytest
from pydantic import ValidationError

from jury_adapters import Case, Critic, Ensemble, Image, Rubric, Status
from jury_adapters.critic.rubric import bundled_rubrics
from jury_adapters.testing import ScriptedModel

CASE = {"question": "When?", "contexts": ["In 2018."], "reference": "In 2018."}
PASSED = {
    "faithfulness": "YES", "answer_relevance": "YES", "completeness": "complete", "correctness": "YES",
    "correctness_without_reference": "YES", "tone": "appropriate", "conciseness": "5", "graded_correctness": "5",
}  # fmt: skip
SPEAKING = [name for name in bundled_rubrics() if "n empty answer" in Rubric.bundled(name).criteria]


@pytest.mark.parametrize("answer", ["", " \n\t", "\u200b \u2060", "\ufeff"])
@pytest.mark.parametrize("rubric", PASSED)
def test_an_empty_answer_fails_and_no_model_is_asked(rubric, answer):
    model = ScriptedModel([PASSED[rubric]])
    critic = Critic(model, rubric)
    found = critic.judge(answer=answer, **CASE)
    assert (found.status, found.usage.calls, len(model.calls)) == (Status.FAIL, 0, 0)
    assert found.reasoning == "the answer is empty, so no model was asked"
    assert found.metadata["rubric"] == rubric
    assert critic.estimate(Case(answer=answer, **CASE)).calls == 0
    assert critic.judge(answer="In 2018.", **CASE).passed


@pytest.mark.parametrize("rubric", ["hallucination", "noise_sensitivity", "faithfulness_claims", "summary_claims"])
def test_where_an_empty_answer_is_neither_good_nor_bad_the_critic_abstains(rubric):
    model = ScriptedModel(["never"])
    assert Critic(model, rubric).judge(answer="", **CASE).status is Status.ABSTAIN
    assert not model.calls


def test_a_panel_of_models_that_pass_everything_passes_no_empty_answer():
    models = [ScriptedModel(["YES"]) for _ in range(3)]
    panel = Ensemble([Critic(model, "faithfulness", name=f"m{at}", samples=2) for at, model in enumerate(models)])
    assert panel.judge(answer="", **CASE).status is Status.FAIL
    assert not any(model.calls for model in models)


def test_a_missing_answer_stays_nothing_to_judge():
    assert Critic(ScriptedModel(["YES"]), "faithfulness").judge(**CASE).reasoning == "nothing to judge: no answer"


def test_an_answer_that_is_an_image_is_not_empty():
    model = ScriptedModel(["YES"])
    image = Image(url="https://example.org/a.png", role="answer")
    found = Critic(model, "answer_relevance").judge(answer="", attachments=[image], **CASE)
    assert found.reasoning != "the answer is empty, so no model was asked"


def test_other_rubrics_ask_the_model_about_an_empty_answer():
    model = ScriptedModel(["YES"])
    assert Critic.from_criteria(model, "The answer has no swear words.").judge(answer="").passed
    assert len(model.calls) == 1


def test_answers_of_the_users_own_leave_the_label_out():
    own = Critic(ScriptedModel(["good"]), "faithfulness", labels={"good": "pass", "bad": "fail"})
    assert own.rubric.empty_answer == ""
    parsed = Critic(ScriptedModel(["YES"]), "faithfulness", parse=lambda text: text == "YES")
    assert parsed.judge(answer="", **CASE).passed


@pytest.mark.parametrize(("answers", "kept"), [
    ({"labels": {"UNSURE": "abstain", "NO": "fail", "YES": "pass"}}, "NO"),  # the same in another order
    ({"labels": {"YES": "pass", "NO": "fail"}}, "NO"),
    ({"labels": {"YES": "fail", "NO": "pass"}}, ""),  # an empty answer would pass
    ({"labels": {"GOOD": "pass", "BAD": "fail"}}, ""),
])  # fmt: skip
def test_a_copy_with_other_answers_keeps_the_label_while_it_means_the_same(answers, kept):
    assert Rubric.bundled("faithfulness").model_copy(update=answers).empty_answer == kept


def test_a_copy_with_another_pass_mark_keeps_the_rating():
    rubric = Rubric.from_yaml("criteria: Short.\nscale: {minimum: 1, maximum: 5}\nempty_answer: 2")
    for mark, kept in ((4, "2"), (2, "")):
        scale = rubric.answers.model_copy(update={"pass_mark": mark})
        assert rubric.model_copy(update={"answers": scale}).empty_answer == kept


def test_the_label_is_one_of_the_answers():
    with pytest.raises(ValidationError, match="empty_answer: "):
        Rubric(name="polite", criteria="Polite.", empty_answer="rude")
    assert Rubric.from_yaml("criteria: Short.\nscale: {minimum: 1, maximum: 3}\nempty_answer: 2").empty_answer == "2"


def test_it_is_no_part_of_the_fingerprint_and_yet_no_critic_takes_the_prompt_of_another():
    asking, knowing = (Rubric(name="polite", criteria="Polite.", empty_answer=answer) for answer in ("", "NO"))
    assert asking.fingerprint == knowing.fingerprint
    model = ScriptedModel(["YES"])
    assert Critic(model, asking).judge(question="Who?", answer="").passed
    assert Critic(model, knowing).judge(question="Who?", answer="").status is Status.FAIL
    assert len(model.calls) == 1


def test_rubrics_that_speak_of_an_empty_answer_say_which_answer_it_gets():
    without = [name for name in SPEAKING if not Rubric.bundled(name).empty_answer]
    assert without in ([], ["refusal_appropriateness"])  # "counts as declined", which is good or bad
