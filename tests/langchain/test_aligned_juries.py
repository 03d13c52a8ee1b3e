"""A jury that was aligned goes back into evaluators, callbacks and agents as it is."""

import pytest
from langchain.agents import create_agent
from langchain_core.runnables import RunnableLambda
from support.aligned import KINDS, aligned_by, has_examples
from support.chat import ScriptedChat

from jury_adapters.langchain import JuryCallbackHandler, JuryEvaluator, JuryMiddleware
from jury_adapters.langchain.langsmith import examples, offline_client
from jury_adapters.langchain.middleware import REFUSAL

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
QUESTIONS = {"Is it open?": "It is. TRUTH=YES", "Is it closed?": "It is. TRUTH=NO"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_in_langsmith_in_callbacks_and_in_agents(kind, server):
    jury = aligned_by(kind, server).jury

    rows = [{"inputs": {"question": question}} for question in QUESTIONS]
    answered = offline_client().evaluate(
        lambda inputs: {"answer": QUESTIONS[inputs["question"]]},
        data=examples(rows), evaluators=[JuryEvaluator(jury)], upload_results=False,
    )  # fmt: skip
    values = {row["run"].outputs["answer"]: row["evaluation_results"]["results"][0].value for row in answered}
    assert values == {"It is. TRUTH=YES": "pass", "It is. TRUTH=NO": "fail"}

    verdicts = {}
    with JuryCallbackHandler(jury, on_verdict=lambda judged: verdicts.update({judged.case.answer: judged})) as handler:
        for question in QUESTIONS:
            app = RunnableLambda(lambda given: QUESTIONS[given["question"]])
            app.invoke({"question": question}, config={"callbacks": [handler]})
    statuses = {answer: str(judged.judgment.status) for answer, judged in verdicts.items()}
    assert statuses == {"It is. TRUTH=YES": "PASS", "It is. TRUTH=NO": "FAIL"}

    said = []
    for question, answer in QUESTIONS.items():
        agent = create_agent(ScriptedChat(script=[answer]), [], middleware=[JuryMiddleware(jury, on_fail="block")])
        said.append(agent.invoke({"messages": [("user", question)]})["messages"][-1].content)
    assert said == ["It is. TRUTH=YES", REFUSAL]
    assert all(has_examples(ask) == (kind == "examples") for ask in server.asks)
