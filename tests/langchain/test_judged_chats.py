"""Chats as the outputs of a target: every turn is judged, and the earlier ones are messages."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from jury_adapters import ConfigurationError, Critic, Ensemble, Scorecard, judge
from jury_adapters.judges import EachTurn
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.testing import ScriptedModel

CHAT = {
    "messages": [
        HumanMessage("Is there leave?"), AIMessage("30 days."), HumanMessage("If I am sick?"), AIMessage("Call us."),
        HumanMessage("And rings?"), AIMessage("No."),
    ]
}  # fmt: skip


@judge
def is_brief(case):
    return len(case.answer) < 20


def test_every_turn_of_a_state_is_judged_and_its_messages_are_shown():
    model = ScriptedModel("Answer: RETAINED")
    card = Scorecard({"turns": EachTurn(is_brief), "kept": Critic(model, "knowledge_retention")})
    found = {
        result["key"]: (result["score"], result["comment"])
        for result in JuryEvaluator(card, key="chat")(inputs={"question": "And rings?"}, outputs=CHAT)["results"]
    }
    assert found["chat.turns"] == (1.0, "3 of 3 turns passed")
    assert found["chat.kept"][0] == 1.0


@pytest.mark.parametrize("wrap", [
    lambda one: one, lambda one: Ensemble([one, is_brief]), lambda one: Scorecard({"turns": one, "brief": is_brief}),
    lambda one: one.with_fallbacks([is_brief]),
])  # fmt: skip
def test_turns_are_not_judged_one_by_one_in_a_single_trajectory_of_all(wrap):
    with pytest.raises(ConfigurationError, match="leave out whole_thread"):
        JuryEvaluator(wrap(EachTurn(is_brief)), whole_thread=True)
    JuryEvaluator(wrap(is_brief), whole_thread=True)
