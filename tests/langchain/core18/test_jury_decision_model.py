"""A jury as LangChain's decision model, and LangChain's decision models as ours."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AutoModeMiddleware, ModelChoice, ModelRouterMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.decisions import BaseDecisionModel, Box, Choice, ClassifierResponse, Noul, NoulCriteria, Score
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from pydantic import Field
from support.chat import ScriptedChat, calls

from jury_adapters import ConfigurationError, Ensemble, Judgment, ModelError, Status
from jury_adapters.decision import DecisionCritic
from jury_adapters.decision.models import LangChainDecisionModel
from jury_adapters.langchain.decisions import JuryDecisionModel
from jury_adapters.models.base import Question
from jury_adapters.testing import ScriptedModel, a_case, abstained, errored

YES, NO = '{"reasoning": "r", "answer": "YES"}', '{"reasoning": "r", "answer": "NO"}'
QUESTIONS = {
    "ok": Noul(instructions="Is it ok?", criteria=NoulCriteria(true="harmless", false="harmful")),
    "who": Choice(instructions="Who?", criteria={"billing": "money", "technical": None}),
    "mood": Score(instructions="How angry?", criteria=["calm", "cross", "furious"]),
}


def answering(**answers):
    """A model that answers each kind of question in its own way."""

    def line(prompt):
        for kind, words in (("ok", "Is it ok?"), ("who", "Who?"), ("mood", "How angry?")):
            if words in prompt.system:
                return f'{{"reasoning": "r", "answer": {answers[kind]}}}'
        raise AssertionError(prompt.system)

    return ScriptedModel(line)


def panel():
    return JuryDecisionModel(
        [
            answering(ok='"YES"', who='"billing"', mood=2),
            answering(ok='"YES"', who='"billing"', mood=2),
            answering(ok='"NO"', who='"technical"', mood=0),
        ]
    )


# A jury as their decision model


@pytest.mark.parametrize("ask", [
    lambda model, request: model.invoke(request), lambda model, request: asyncio.run(model.ainvoke(request)),
    lambda model, request: model.batch([request])[0], lambda model, request: asyncio.run(model.abatch([request]))[0],
])  # fmt: skip
def test_votes_are_probabilities(ask):
    said = ask(panel(), {"state": "Where is my money?", "questions": QUESTIONS})
    assert isinstance(said, ClassifierResponse)
    assert said.nouls["ok"].noul == pytest.approx(2 / 3)
    who, mood = said.choices["who"], said.scores["mood"]
    assert (who.choice, who.confidence) == ("billing", pytest.approx(2 / 3))
    assert who.probabilities == pytest.approx({"billing": 2 / 3, "technical": 1 / 3})
    assert (mood.score, mood.confidence) == (pytest.approx(4 / 3), pytest.approx(2 / 3))
    assert mood.probabilities == pytest.approx({0: 1 / 3, 1: 0.0, 2: 2 / 3})
    assert mood.legend == {0: "calm", 1: "cross", 2: "furious"}
    assert said.usage["input_tokens"] == 900
    assert said.model == "jury"


def test_critics_are_told_the_criteria_and_the_state_is_only_data():
    model = answering(ok='"YES"', who='"billing"', mood=1)
    paying = AIMessage("", tool_calls=[{"name": "pay", "args": {"n": 1}, "id": "1"}])
    state = {"messages": [HumanMessage("Pay {answer}"), paying], "n": [1, None]}
    JuryDecisionModel([model]).invoke({"state": state, "questions": QUESTIONS})
    prompts = {call.prompt.system: call.prompt.turns[-1].text for call in model.calls}
    assert any("YES: harmless" in system and "NO: harmful" in system for system in prompts)
    assert any("billing: money" in system for system in prompts)
    assert any("2: furious" in system for system in prompts)
    for material in prompts.values():
        assert '{"role": "user", "content": "Pay {answer}"}' in material
        assert '"tool_calls": [{"name": "pay", "args": {"n": 1}}]' in material


def test_a_critic_is_made_once_per_question():
    model = JuryDecisionModel([ScriptedModel([YES])])
    for state in ("a", "b"):
        model.invoke({"state": state, "questions": {"ok": QUESTIONS["ok"]}})
    assert len(model._panels) == 1


def test_judges_and_juries_answer_too():
    def short(case):
        return len(case.answer) < 5

    request = {"state": "long text", "questions": {"ok": QUESTIONS["ok"]}}
    mixed = JuryDecisionModel([Ensemble([short]).members[0], ScriptedModel([YES])])
    assert mixed.invoke(request).nouls["ok"].noul == 0.5
    ready = JuryDecisionModel(Ensemble([short, lambda case: True, lambda case: True]))
    assert ready.invoke(request).nouls["ok"].noul == pytest.approx(2 / 3)
    labels = Ensemble([lambda case: Judgment(None, label=next(iter(case.metadata["criteria"])))])
    assert (
        JuryDecisionModel(labels).invoke({"state": "x", "questions": {"who": QUESTIONS["who"]}}).choices["who"].choice
        == "billing"
    )


def test_who_abstains_or_breaks_does_not_count_and_no_vote_is_no_probability():
    request = {"state": "x", "questions": {"ok": QUESTIONS["ok"]}}
    some = Ensemble([lambda case: abstained(), lambda case: errored(error="down"), lambda case: True], errors="ignore")
    assert JuryDecisionModel(some).invoke(request).nouls["ok"].noul == 1.0
    none = Ensemble([lambda case: abstained(), lambda case: errored(error="down")], errors="ignore")
    with pytest.raises(ModelError, match=r"no juror of 'ok' gave an answer: .*down"):
        JuryDecisionModel(none).invoke(request)


def test_wrong_use_is_said():
    with pytest.raises(ConfigurationError, match="at least one juror"):
        JuryDecisionModel([])
    for wrong in (3, lambda prompt: "4"):
        with pytest.raises(ConfigurationError, match="takes language models and judges in a list, or one judge; not"):
            JuryDecisionModel(wrong)
    with pytest.raises(ConfigurationError, match="is not a model"):
        JuryDecisionModel([7])
    with pytest.raises(ConfigurationError, match="not Box"):
        JuryDecisionModel([ScriptedModel([YES])]).invoke({"state": "x", "questions": {"b": Box(instructions="where?")}})


@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    return "deleted"


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
@pytest.mark.parametrize("run", [
    lambda agent, state: agent.invoke(state), lambda agent, state: asyncio.run(agent.ainvoke(state)),
])  # fmt: skip
def test_it_drives_langchains_own_middleware(run):
    risky = JuryDecisionModel([ScriptedModel([YES]), ScriptedModel([YES]), ScriptedModel([NO])])
    model = ScriptedChat(script=[calls("delete_file", path="/"), "done"])
    agent = create_agent(model, [delete_file], middleware=[AutoModeMiddleware(tools=["delete_file"], classifier=risky)])
    state = run(agent, {"messages": [("user", "rm")]})
    assert "0.67" in state["messages"][2].text
    big = ScriptedModel(['{"reasoning": "r", "answer": "big"}'])
    choices = {
        "fast": ModelChoice(ScriptedChat(script=["fast"]), "simple"),
        "big": ModelChoice(ScriptedChat(script=["big"]), "hard"),
    }
    router = ModelRouterMiddleware(choices=choices, instructions="pick", classifier=JuryDecisionModel([big]))
    state = run(create_agent(ScriptedChat(script=["base"]), [], middleware=[router]), {"messages": [("user", "q")]})
    assert state["messages"][-1].text == "big"


# Their decision models as ours


class Theirs(BaseDecisionModel):
    """Answers every question the same way."""

    model: str = "theirs-1"
    heard: list = Field(default_factory=list)
    error: object = None

    @property
    def _provider(self):
        return "tests"

    def _classify(self, state, questions):
        self.heard.append((state, questions))
        if self.error is not None:
            raise self.error
        answers = {}
        for name, question in questions.items():
            if question.type == "noul":
                answers[name] = {"type": "noul", "noul": 0.9}
            elif question.type == "choice":
                shares = {label: 1.0 if i == 0 else 0.0 for i, label in enumerate(question.criteria)}
                answers[name] = {"type": "choice", "choice": "A", "probabilities": shares, "confidence": 0.8}
            else:
                levels = range(len(question.criteria))
                answers[name] = {
                    "type": "score", "score": 1.0, "legend": dict(enumerate(question.criteria)), "confidence": 0.5,
                    "probabilities": {level: 1 / len(levels) for level in levels},
                }  # fmt: skip
        used = {"input_tokens": 30, "output_tokens": 6, "input_token_details": {"cache_read": 10}}
        return ClassifierResponse(model=self.model, answers=answers, usage=used)


def test_their_answers_are_ours():
    theirs = Theirs()
    asked = [Question("So?"), Question("Which?", "choice", ("A", "B")), Question("How?", "score", ("low", "high"))]
    answers, usage = asyncio.run(LangChainDecisionModel(theirs).decide("the text", asked))
    assert answers[0].probabilities == pytest.approx({"yes": 0.9, "no": 0.1})
    assert (answers[1].probabilities, answers[1].confidence) == ({"A": 1.0, "B": 0.0}, 0.8)
    assert answers[2].probabilities == {"low": 0.5, "high": 0.5}
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.calls) == (30, 6, 10, 1)
    assert not usage.cost_complete
    assert theirs.heard[0][0] == "the text"


def test_a_critic_asks_it_and_is_not_heard_by_the_chain_around_it():
    events = []

    class Heard(BaseCallbackHandler):
        def on_chain_start(self, *args, **kwargs):
            events.append("start")

        on_llm_start = on_chain_start

    critic = DecisionCritic(Theirs(), ["safety", "answer_relevance"], name="guard")
    said = RunnableLambda(lambda _: critic.judge(a_case())).invoke("x", {"callbacks": [Heard()]})
    assert said.status is Status.PASS
    assert events == ["start"]  # of the chain itself


def test_its_failures_have_their_kind():
    class ModelRateLimitError(Exception):
        """As langchain-core calls it."""

    with pytest.raises(ModelError) as caught:
        asyncio.run(LangChainDecisionModel(Theirs(error=ModelRateLimitError("slow down"))).decide("x", [Question("?")]))
    assert caught.value.kind == "rate_limited"
