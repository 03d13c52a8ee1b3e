"""A criterion in one sentence: what a model is shown with it."""

import pytest

from jury_adapters import Case, ConfigurationError, Critic, Rubric
from jury_adapters.critic.criteria import SPOKEN_OF
from jury_adapters.testing import ScriptedModel

YES = '{"reasoning": "r", "answer": "YES", "confidence": 0.9}'
FULL = Case(
    question="the asked question",
    answer="the given answer",
    contexts=["the found passage"],
    reference="the right reply",
    messages=[{"role": "user", "content": "an earlier turn"}],
    trajectory=[{"tool": "search", "output": "an earlier step"}],
)
TEXTS = {
    "contexts": "the found passage",
    "reference": "the right reply",
    "messages": "an earlier turn",
    "trajectory": "an earlier step",
}


@pytest.mark.parametrize(
    ("sentence", "fields"),
    [
        ("The answer is polite.", ()),
        ("The year in the answer is the year in the contexts.", ("contexts",)),
        ("Every claim is supported by a source.", ("contexts",)),
        ("Nothing in it contradicts the retrieved DOCUMENTS.", ("contexts",)),
        ("It agrees with the reference.", ("reference",)),
        ("The answer means the same as the expected answer, and is in the passages.", ("reference", "contexts")),
        ("It does not repeat what was said earlier in the conversation.", ("messages",)),
        ("The agent calls a tool before it answers.", ("trajectory",)),
        ("Every tool call is needed.", ("trajectory",)),
        ("It agrees with previous turns.", ("messages",)),
        ("The answer is resourceful and documented.", ()),
        ("It lists the steps in order, in turn, and names a tool.", ()),
        ("It makes no reference to a competitor, and its message is clear.", ()),
    ],
)
def test_the_model_is_shown_what_the_sentence_speaks_of(sentence, fields):
    model = ScriptedModel([YES])
    assert Critic.from_criteria(model, sentence).judge(FULL).passed
    prompt = model.calls[0].prompt.turns[-1].text
    assert [text for text in ("the asked question", "the given answer") if text in prompt] == [
        "the asked question", "the given answer",
    ]  # fmt: skip
    assert {field for field, text in TEXTS.items() if text in prompt} == set(fields)
    assert set(SPOKEN_OF) == set(TEXTS)


def test_a_case_without_the_field_is_judged_and_the_model_is_told():
    model = ScriptedModel([YES])
    assert Critic.from_criteria(model, "The answer names its source.").judge(answer="It is so.").passed
    assert "(no contexts given)" in model.calls[0].prompt.turns[-1].text


@pytest.mark.parametrize("sentence", ["", "  \n"])
def test_a_blank_sentence_is_refused(sentence):
    with pytest.raises(ConfigurationError, match="the criterion is blank"):
        Rubric.from_criteria(sentence)


def test_a_model_in_the_place_of_the_sentence_is_refused_with_the_order():
    with pytest.raises(ConfigurationError, match=r"not ScriptedModel; .*Critic\.from_criteria\(model, "):
        Critic.from_criteria("The answer is polite.", ScriptedModel([YES]))
