"""store= and budget= of every adapter of LangChain that judges, over HTTP to a local server."""

import asyncio
import uuid
import warnings
from datetime import UTC, datetime
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.agents import AgentAction
from langgraph.graph import END, START, StateGraph
from langsmith.evaluation.evaluator import comparison_evaluator
from langsmith.schemas import Example, Run
from support.chat import ScriptedChat

with warnings.catch_warnings():  # what they import is their own affair
    warnings.simplefilter("ignore")
    from jury_adapters.judges.presets import panel
    from jury_adapters.langchain import JuryEvaluator, JuryPairwiseEvaluator, jury_node
    from jury_adapters.langchain.classic import (
        JuryPairwiseStringEvaluator,
        JuryStringEvaluator,
        JuryTrajectoryEvaluator,
    )
    from jury_adapters.langchain.langsmith import examples, offline_client
from jury_adapters import Budget, ConfigurationError, Critic, Ensemble, Store
from jury_adapters.langchain.middleware import JuryMiddleware
from jury_adapters.langchain.runnable import JuryRunnable
from jury_adapters.langchain.tool import JuryTool

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
ANSWERS = ["one", "two", "three", "four"]


def langsmith_evaluate(jury, **options):
    evaluators = [JuryEvaluator(jury, field_map={"question": "inputs.question", "answer": "outputs.text"}, **options)]

    def target(inputs):
        return dict(inputs)

    def run(answers):
        found = offline_client().evaluate(
            target, data=rows_of(answers), evaluators=evaluators, upload_results=False, max_concurrency=2
        )
        return [row["evaluation_results"]["results"][0] for row in found]

    return run


def langsmith_aevaluate(jury, **options):
    evaluators = [JuryEvaluator(jury, field_map={"question": "inputs.question", "answer": "outputs.text"}, **options)]

    async def target(inputs):
        return dict(inputs)

    async def run(answers):
        found = await offline_client().aevaluate(
            target, data=rows_of(answers), evaluators=evaluators, upload_results=False, max_concurrency=2
        )
        return [row["evaluation_results"]["results"][0] async for row in found]

    return lambda answers: asyncio.run(run(answers))


def rows_of(answers):
    return examples({"question": "How many?", "text": answer} for answer in answers)


def each(function):
    return lambda answers: [function(answer) for answer in answers]


def function(jury, **options):
    evaluate = JuryEvaluator(jury, **options)
    return each(lambda answer: evaluate(inputs={"question": "How many?"}, outputs={"answer": answer}))


def async_function(jury, **options):
    evaluate = JuryEvaluator(jury, **options).acall

    async def run(answers):
        asked = (evaluate(inputs={"question": "How many?"}, outputs={"answer": answer}) for answer in answers)
        return await asyncio.gather(*asked)

    return lambda answers: asyncio.run(run(answers))


def ready(jury, **options):
    evaluate = JuryEvaluator(panel("answer_relevance", jury), key="relevance", **options)
    return each(lambda answer: evaluate(inputs={"question": "How many?"}, outputs={"answer": answer}))


def strings(jury, **options):
    evaluator = JuryStringEvaluator(jury, **options)
    return each(lambda answer: evaluator.evaluate_strings(prediction=answer, input="How many?"))


def astrings(jury, **options):
    evaluator = JuryStringEvaluator(jury, **options)
    return each(lambda answer: asyncio.run(evaluator.aevaluate_strings(prediction=answer, input="How many?")))


STEPS = [(AgentAction("count", "fingers", ""), "five")]


def trajectory(jury, **options):
    evaluator = JuryTrajectoryEvaluator(jury, **options)
    return each(
        lambda answer: evaluator.evaluate_agent_trajectory(prediction=answer, input="How many?", agent_trajectory=STEPS)
    )


def atrajectory(jury, **options):
    evaluator = JuryTrajectoryEvaluator(jury, **options)
    return each(
        lambda answer: asyncio.run(
            evaluator.aevaluate_agent_trajectory(prediction=answer, input="How many?", agent_trajectory=STEPS)
        )
    )


def runnable(jury, **options):
    judge = JuryRunnable(jury, as_dict=True, **options)
    return each(lambda answer: judge.invoke({"question": "How many?", "answer": answer}))


def batched(jury, **options):
    judge = JuryRunnable(jury, as_dict=True, **options)
    return lambda answers: judge.batch([{"question": "How many?", "answer": answer} for answer in answers])


def abatched(jury, **options):
    judge = JuryRunnable(jury, as_dict=True, **options)
    return lambda answers: asyncio.run(
        judge.abatch([{"question": "How many?", "answer": answer} for answer in answers])
    )


class State(TypedDict, total=False):
    question: str
    answer: str
    verdict: dict[str, Any]


def graph(jury, **options):
    builder = StateGraph(State)
    builder.add_node("jury", jury_node(jury, **options))
    builder.add_edge(START, "jury")
    builder.add_edge("jury", END)
    app = builder.compile()
    return each(lambda answer: app.invoke({"question": "How many?", "answer": answer})["verdict"])


def agraph(jury, **options):
    node = jury_node(jury, **options)
    return each(lambda answer: asyncio.run(node.ainvoke({"question": "How many?", "answer": answer})))


def tool(jury, **options):
    asked = JuryTool(jury, **options)
    return each(lambda answer: asked.invoke(tool_call(answer)).artifact)


def atool(jury, **options):
    asked = JuryTool(jury, **options)
    return each(lambda answer: asyncio.run(asked.ainvoke(tool_call(answer))).artifact)


def tool_call(answer):
    return {"type": "tool_call", "name": "jury", "id": "1", "args": {"question": "How many?", "answer": answer}}


def middleware(jury, **options):
    review = JuryMiddleware(jury, **options)

    def run(answer):
        agent = create_agent(ScriptedChat(script=[answer]), [], middleware=[review])
        return agent.invoke({"messages": [("user", "How many?")]})["jury_verdict"]

    return each(run)


def amiddleware(jury, **options):
    review = JuryMiddleware(jury, **options)

    def run(answer):
        agent = create_agent(ScriptedChat(script=[answer]), [], middleware=[review])
        return asyncio.run(agent.ainvoke({"messages": [("user", "How many?")]}))["jury_verdict"]

    return each(run)


FORMS = [
    langsmith_evaluate, langsmith_aevaluate, function, async_function, ready, strings, astrings, trajectory,
    atrajectory, runnable, batched, abatched, graph, agraph, tool, atool, middleware, amiddleware,
]  # fmt: skip


def pairs(jury, **options):
    evaluator = JuryPairwiseStringEvaluator(jury, **options)
    return each(lambda text: evaluator.evaluate_string_pairs(prediction=text, prediction_b="-", input="How many?"))


def apairs(jury, **options):
    evaluator = JuryPairwiseStringEvaluator(jury, **options)
    return each(
        lambda text: asyncio.run(evaluator.aevaluate_string_pairs(prediction=text, prediction_b="-", input="How many?"))
    )


def comparison(jury, **options):
    compare = comparison_evaluator(JuryPairwiseEvaluator(jury, **options))
    asked = Example(id=uuid.uuid4(), inputs={"question": "How many?"}, outputs={})
    return each(lambda text: compare.compare_runs([a_run(text), a_run("-")], asked).comment)


def a_run(answer):
    return Run(
        id=uuid.uuid4(), name="app", start_time=datetime.now(UTC), run_type="chain", trace_id=uuid.uuid4(),
        dotted_order="", inputs={"question": "How many?"}, outputs={"answer": answer},
    )  # fmt: skip


PAIRWISE = [pairs, apairs, comparison]


def critic(server, name="critic", rubric="answer_relevance", **options):
    return Critic("openai:gpt-4o-mini", rubric, name=name, base_url=server.openai, api_key="k", **options)


def exhausted(results):
    return sum("budget_exhausted" in str(result) for result in results)


@pytest.mark.parametrize("form", FORMS)
class TestEveryForm:
    @pytest.mark.corpus
    def test_a_second_run_over_the_same_rows_makes_no_request(self, form, server, tmp_path):
        first = form(critic(server), store=tmp_path / "runs.db")(ANSWERS)
        assert server.count == len(first) == 4
        second = form(critic(server), store=tmp_path / "runs.db")(ANSWERS)
        assert (server.count, len(second)) == (4, 4)
        assert "so it says" in str(second[0])
        with Store(tmp_path / "runs.db") as store:
            assert store.count() == 4

    def test_a_budget_of_n_calls_makes_n_requests_and_the_others_say_so(self, form, server):
        results = form(critic(server), budget=Budget(max_calls=3))(ANSWERS)
        assert (server.count, exhausted(results), len(results)) == (3, 1, 4)

    def test_a_panel_says_of_each_juror_what_the_budget_refused(self, form, server):
        results = form(Ensemble([critic(server, "a"), critic(server, "b", temperature=1)]), budget=Budget(max_calls=2))(
            ANSWERS
        )
        assert server.count == 2
        assert exhausted(results) >= 3

    def test_without_both_every_run_asks(self, form, server):
        for _ in range(2):
            form(critic(server))(ANSWERS[:1])
        assert server.count == 2


@pytest.mark.parametrize("form", PAIRWISE)
class TestComparisons:
    def test_a_second_run_over_the_same_rows_makes_no_request(self, form, server, tmp_path):
        for _ in range(2):
            results = form(critic(server, rubric="pairwise"), store=tmp_path / "runs.db")(ANSWERS)
            assert (server.count, len(results)) == (8, 4)  # both orders

    def test_a_budget_of_n_calls_makes_n_requests_and_the_others_say_so(self, form, server):
        results = form(critic(server, rubric="pairwise"), budget=Budget(max_calls=6))(ANSWERS)
        assert (server.count, exhausted(results)) == (6, 1)


@pytest.mark.parametrize("form", FORMS + PAIRWISE)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0.5}, r"budget is a Budget\(max_usd=..., max_calls=..., max_tokens=...\), not 0.5"),
        ({"store": 3}, "a store is a path, a URL, or an open store; not 3"),
        ({"budget": Budget(max_usd=1.0)}, "set_price"),
    ],
)
def test_a_wrong_store_or_budget_is_refused_when_it_is_made(form, options, message):
    rubric = "pairwise" if form in PAIRWISE else "answer_relevance"
    unpriced = Critic("openai:no-price", rubric, name="c", base_url="http://127.0.0.1:1", api_key="k")
    with pytest.raises(ConfigurationError, match=message):
        form(unpriced, **options)
