"""JuryRunnable, jury_node and JuryStringEvaluator: a jury in chains, in graphs, and among older evaluators."""

import asyncio
from typing import Any, TypedDict

import pytest
from fact_tables import each_row
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_support import ASKED, Pages, call, model, pages, rag
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from scripted import FAULTS, HONEST, PAGE, QUESTION, breaks, grounded, never_ends, reviewed

from jury_adapters import Budget, Case, ConfigurationError, Ensemble, Judgment, ReadOnly, Run, abstain, judge
from jury_adapters.core.context import context
from jury_adapters.langchain import JuryCallbackHandler, JuryRunnable, JuryStringEvaluator, jury_node

ANSWERS = {"honest": HONEST, **FAULTS}
ROW = {"question": QUESTION, "answer": HONEST, "contexts": [PAGE]}


def each_way(app, given):
    """Return what every way to call a Runnable gives for one input."""

    async def aways():
        return [
            await app.ainvoke(given),
            (await app.abatch([given]))[0],
            await anext(app.astream(given)),
        ]

    return [app.invoke(given), app.batch([given])[0], next(iter(app.stream(given))), *asyncio.run(aways())]


def test_every_way_to_call_it_gives_the_same_judgment():
    for fault, answer in ANSWERS.items():
        found = each_way(JuryRunnable(reviewed), {**ROW, "answer": answer})
        assert len(found) == 6
        assert {(one.status.value, one.reasoning) for one in found} == {(found[0].status.value, found[0].reasoning)}
        assert found[0].status == ("PASS" if fault == "honest" else "FAIL")


@each_row(
    ("given", "expected"),
    [
        (ROW, (QUESTION, HONEST, (PAGE,))),
        ({"question": QUESTION, "answer": AIMessage(HONEST), "context": [Document(PAGE)]}, (QUESTION, HONEST, (PAGE,))),
        ({"query": QUESTION, "result": HONEST, "source_documents": [Document(PAGE)]}, (QUESTION, HONEST, (PAGE,))),
        (HONEST, (None, HONEST, ())),
        (AIMessage(HONEST), (None, HONEST, ())),
        ([HumanMessage(QUESTION), AIMessage(HONEST)], (QUESTION, HONEST, ())),
        ({"messages": [HumanMessage(QUESTION), AIMessage(HONEST)]}, (QUESTION, HONEST, ())),
        ({"essay": HONEST}, (None, HONEST, ())),
        (Case(**ROW), (QUESTION, HONEST, (PAGE,))),
        (Run(inputs=QUESTION, outputs=HONEST, documents=[PAGE]), (QUESTION, HONEST, (PAGE,))),
    ],
)
def test_what_a_chain_or_an_agent_gives_is_understood(given, expected):
    cases = []
    JuryRunnable(lambda case: cases.append(case) or True).invoke(given)
    assert [(one.question, one.answer, one.contexts) for one in cases] == [expected]


def test_a_reference_in_the_row_is_one_and_the_answer_is_not():
    cases = []
    jury = JuryRunnable(lambda case: cases.append(case) or True)
    jury.invoke({**ROW, "reference": "In 2018."})
    jury.invoke(ROW)
    assert [one.reference for one in cases] == ["In 2018.", None]


def test_an_agent_is_understood_with_its_steps():
    cases = []
    app = create_agent(model(call("pages", query="x"), HONEST), [pages]) | JuryRunnable(
        lambda case: cases.append(case) or grounded(case)
    )
    assert app.invoke(ASKED).status == "PASS"
    assert [(one.question, one.answer, one.contexts) for one in cases] == [(QUESTION, HONEST, (PAGE,))]


def test_it_composes():
    both = RunnableParallel(answer=rag(HONEST)[0], question=RunnableLambda(str), context=Pages())
    app = both | JuryRunnable(reviewed) | (lambda judgment: judgment.status.value)
    assert app.invoke(QUESTION) == "PASS"


def test_an_input_that_cannot_be_read_is_an_error_and_raises_nothing():
    found = JuryRunnable(reviewed).invoke({"covered": True, "reason": "theft", "score": 3})
    assert found.status == "ERROR"
    assert "give case=" in found.error
    found = JuryRunnable(reviewed, case=lambda run: Case(answer=run.outputs["reason"])).invoke(
        {"covered": 1, "reason": "x"}
    )
    assert found.status == "ABSTAIN"


@each_row(
    ("jury", "status"),
    [
        (breaks, "ERROR"),
        (judge(never_ends, timeout=0.02), "ERROR"),
        (Ensemble([reviewed, reviewed, breaks]), "PASS"),
        (Ensemble([reviewed, breaks, breaks]), "ERROR"),
        (lambda case: abstain("cannot say"), "ABSTAIN"),
    ],
)
def test_broken_jurors_are_judgments(jury, status):
    assert {one.status.value for one in each_way(JuryRunnable(jury), ROW)} == {status}


def test_trap_8_the_jury_is_one_run_of_the_chain_and_its_models_are_none():
    critic = model("JUROR WORDS")
    names = []

    class Names(JuryCallbackHandler):
        def on_chain_start(self, serialized, inputs, **event):
            names.append(event.get("name"))
            super().on_chain_start(serialized, inputs, **event)

    @judge(name="asks")
    def asks(case):
        return critic.invoke("is it so?").text == "JUROR WORDS"

    handler = Names(lambda case: True, case=lambda run: Case(answer=str(run.outputs)))
    critic.callbacks = [handler]
    chain = RunnableLambda(lambda given: given).with_config(run_name="first") | JuryRunnable(asks)
    assert chain.invoke(ROW, {"callbacks": [handler]}).status == "PASS"
    handler.close()
    assert names == ["RunnableSequence", "first", "asks"]
    assert handler.counts == {"judged": 1}


def test_trap_16_store_and_budget_apply_in_runnables_and_strings():
    found = []

    async def looks(case):
        found.append((context().store, context().budget))
        return True

    store, budget = ReadOnly(None), Budget(max_calls=1)
    each_way(JuryRunnable(looks, store=store, budget=budget), ROW)
    jury_node(looks, store=store, budget=budget).invoke(ROW)
    JuryStringEvaluator(looks, store=store, budget=budget).evaluate_strings(prediction="4")
    assert found == [(store, budget)] * 8


def test_only_a_judge_will_do():
    for maker in (JuryRunnable, jury_node, JuryStringEvaluator):
        with pytest.raises(ConfigurationError, match="a judge is a Judge or a function of a case"):
            maker("faithfulness")


# Graphs


class State(TypedDict, total=False):
    question: str
    answer: str
    contexts: list[str]
    tries: int
    verdict: dict[str, Any]


def looping(jury, answers, **options):
    """A graph that writes until the jury passes, at most three times."""
    made = StateGraph(State)
    made.add_node("write", lambda state: {"answer": answers[state.get("tries", 0)], "tries": state.get("tries", 0) + 1})
    made.add_node("jury", jury_node(jury))
    made.add_edge(START, "write").add_edge("write", "jury")

    def route(state):
        return END if state["verdict"]["status"] == "PASS" or state["tries"] > 2 else "write"

    made.add_conditional_edges("jury", route)
    return made.compile(**options)


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_graph_follows_the_verdict(how):
    for fault in FAULTS:
        app = looping(reviewed, [FAULTS[fault], HONEST])
        given = {"question": QUESTION, "contexts": [PAGE]}
        state = app.invoke(given) if how == "invoke" else asyncio.run(app.ainvoke(given))
        assert (state["tries"], state["answer"], state["verdict"]["status"]) == (2, HONEST, "PASS")


def test_a_checkpointed_verdict_comes_back_as_it_was(caplog):
    config = {"configurable": {"thread_id": "1"}}
    app = looping(Ensemble({"a": reviewed, "b": grounded}), [HONEST], checkpointer=InMemorySaver())
    app.invoke({"question": QUESTION, "contexts": [PAGE]}, config)
    kept = app.get_state(config).values["verdict"]
    verdict = Judgment.model_validate(kept)
    assert [one.critic for one in verdict.judgments] == ["a", "b"]
    assert verdict.model_dump(mode="json", exclude_defaults=True) == kept
    assert caplog.text == ""


def test_a_node_reads_messages_and_writes_under_its_key():
    class Chat(MessagesState):
        judged: dict[str, Any]

    cases = []
    made = StateGraph(Chat)
    made.add_node("jury", jury_node(lambda case: cases.append(case) or True, key="judged"))
    made.add_edge(START, "jury").add_edge("jury", END)
    state = made.compile().invoke({"messages": [HumanMessage(QUESTION), AIMessage(HONEST)]})
    assert state["judged"]["status"] == "PASS"
    assert (cases[0].question, cases[0].answer) == (QUESTION, HONEST)


def test_trap_8_words_of_critics_are_not_in_the_stream_of_tokens():
    critic, writer = model("JUROR WORDS"), model(HONEST)

    def asks(case):
        return critic.invoke("is it so?").text == "JUROR WORDS"

    made = StateGraph(State)
    made.add_node("write", lambda state: {"answer": writer.invoke(QUESTION).text})
    made.add_node("jury", jury_node(asks))
    made.add_edge(START, "write").add_edge("write", "jury").add_edge("jury", END)
    app = made.compile()

    async def read():
        return [one async for one in app.astream({"question": QUESTION}, stream_mode="messages")]

    for shown in ([*app.stream({"question": QUESTION}, stream_mode="messages")], asyncio.run(read())):
        assert "".join(one.text for one, _ in shown) == HONEST


# Evaluators of the older kind


def test_a_string_evaluator_scores_each_fault():
    for fault, answer in ANSWERS.items():
        evaluator = JuryStringEvaluator(reviewed)
        given = {"prediction": answer, "input": QUESTION, "contexts": [PAGE]}
        for result in (evaluator.evaluate_strings(**given), asyncio.run(evaluator.aevaluate_strings(**given))):
            assert result["score"] == (1.0 if fault == "honest" else 0.0)
            assert result["value"] == ("pass" if fault == "honest" else "fail")
            assert result["reasoning"]


def test_a_string_evaluator_takes_what_is_given():
    cases = []
    evaluator = JuryStringEvaluator(lambda case: cases.append(case) or True, name="exact")
    assert evaluator.evaluation_name == "exact"
    assert (evaluator.requires_input, evaluator.requires_reference) == (False, False)
    evaluator.evaluate_strings(prediction="4", reference="4", input="2 + 2?", context=[Document(PAGE)], tags=["t"])
    evaluator.evaluate_strings(prediction="4")
    assert [(one.question, one.answer, one.reference, one.contexts) for one in cases] == [
        ("2 + 2?", "4", "4", (PAGE,)),
        (None, "4", None, ()),
    ]


@pytest.mark.parametrize("jury", [breaks, lambda case: abstain("cannot say")])
def test_a_string_evaluator_without_a_decision_has_no_score(jury):
    result = JuryStringEvaluator(jury).evaluate_strings(prediction="4")
    assert result["score"] is None
    assert result["value"] in ("error", "abstain")
    assert JuryStringEvaluator(jury).evaluate_strings(prediction=object())["value"] == "error"


def test_a_string_evaluator_is_one_of_langchain_classic():
    from langchain_classic.evaluation import StringEvaluator

    assert isinstance(JuryStringEvaluator(reviewed), StringEvaluator)
    assert JuryStringEvaluator(reviewed).evaluation_name == "reviewed"
