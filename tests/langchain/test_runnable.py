"""A jury as a runnable and as a node of a graph."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from support.chat import ScriptedChat, StreamingChat

from jury_adapters import CascadedJury, Case, ConfigurationError, Critic, Ensemble, Judgment, Status, Tier, Verdict
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.langchain.runnable import JuryRunnable, jury_node, route_on_verdict
from jury_adapters.models.langchain import LangChainModel


def good(case):
    return "good" in (case.answer or ""), "looked for 'good'"


def broken_juror(case):
    raise ValueError("no luck")


JURY = Ensemble([good, lambda case: True, broken_juror], voting="majority", errors="ignore")
CASE = {"question": "How is it?", "answer": "It is good."}


@dataclass(eq=False)
class Recorder(BaseCallbackHandler):
    """Every run: its name, its parent's name, and how it ended."""

    runs: dict[Any, dict[str, Any]] = field(default_factory=dict)

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, name=None, metadata=None, **_):
        self.runs[run_id] = {"name": name, "parent": parent_run_id, "metadata": metadata, "tags": _.get("tags")}

    def on_chain_end(self, outputs, *, run_id, **_):
        self.runs[run_id]["outputs"] = outputs

    def on_chain_error(self, error, *, run_id, **_):
        self.runs[run_id]["error"] = error

    def on_chat_model_start(self, serialized, messages, *, run_id, parent_run_id=None, **_):
        self.runs[run_id] = {"name": "model", "parent": parent_run_id, "tags": _.get("tags")}

    def named(self, name):
        return [run for run in self.runs.values() if run["name"] == name]

    def tree(self):
        names = {run_id: run["name"] for run_id, run in self.runs.items()}
        return [(run["name"], names.get(run["parent"])) for run in self.runs.values()]


# Shapes of input


@pytest.mark.parametrize("value", [
    Case(question="How is it?", answer="It is good."),
    CASE,
    {"query": "How is it?", "response": "It is good."},
    {"inputs": {"question": "How is it?"}, "outputs": {"answer": "It is good."}},
    {"messages": [HumanMessage("How is it?"), AIMessage("It is good.")]},
    [("user", "How is it?"), ("assistant", "It is good.")],
])  # fmt: skip
def test_what_a_chain_or_an_agent_gives_is_understood(value):
    seen = []
    JuryRunnable(Ensemble([lambda case: seen.append(case) or True])).invoke(value)
    assert (seen[0].question, seen[0].answer) == ("How is it?", "It is good.")


def test_a_text_or_a_message_is_the_answer_and_documents_are_contexts():
    seen = []
    runnable = JuryRunnable(Ensemble([lambda case: seen.append(case) or True]))
    runnable.batch(["It is good.", AIMessage("It is good.")], {"max_concurrency": 1})
    assert [case.answer for case in seen] == ["It is good."] * 2
    runnable.invoke({**CASE, "context": [Document("Page")], "ground_truth": "good"})
    assert (seen[-1].contexts, seen[-1].reference) == (("Page",), "good")


def test_a_field_map_says_where_things_are():
    seen = []
    jury = Ensemble([lambda case: seen.append(case) or True])
    JuryRunnable(jury, field_map={"answer": "draft.text"}).invoke({"draft": {"text": "good"}, "answer": "old"})
    JuryRunnable(jury, field_map=lambda state: Case(answer=state["x"])).invoke({"x": "made"})
    JuryRunnable(jury, field_map={"answer": "result[0]"}).invoke({"result": ["first", "second"]})
    assert [case.answer for case in seen] == ["good", "made", "first"]


def test_wrong_construction_is_said_at_once():
    with pytest.raises(ConfigurationError, match="give a jury"):
        JuryRunnable("openai:gpt-4o-mini")
    with pytest.raises(ConfigurationError, match="Did you mean 'answer'"):
        JuryRunnable(JURY, field_map={"anser": "x"})


# As a runnable


def test_every_way_to_call_it_gives_the_same_verdict():
    runnable = JuryRunnable(JURY)

    async def all_ways():
        return [
            await runnable.ainvoke(CASE),
            *await runnable.abatch([CASE] * 3, {"max_concurrency": 2}),
            *[chunk async for chunk in runnable.astream(CASE)],
        ]

    said = [runnable.invoke(CASE), *runnable.batch([CASE] * 3), *runnable.stream(CASE), *asyncio.run(all_ways())]
    assert len(said) == 10
    assert {type(one) for one in said} == {Verdict}
    assert {(one.status, one.tally.passed, one.tally.errors) for one in said} == {(Status.PASS, 2, 1)}


def test_it_composes():
    chain = (
        RunnablePassthrough.assign(answer=lambda state: "It is good.") | JuryRunnable(JURY) | (lambda said: said.passed)
    )
    assert chain.invoke({"question": "?"}) is True
    wrapped = JuryRunnable(JURY).with_retry().with_config(tags=["x"]).with_fallbacks([RunnableLambda(lambda _: None)])
    assert wrapped.invoke(CASE).passed
    both = JuryRunnable(JURY) | RunnableLambda(lambda said: said.status)
    assert {event["event"] for event in _events(both) if event["name"] == "jury"} >= {"on_chain_start", "on_chain_end"}


def test_a_run_is_named_after_its_jury():
    named = Ensemble([lambda case: True], name="screen")
    assert JuryRunnable(named).get_name() == jury_node(named).get_name() == "screen"
    assert JuryRunnable(Ensemble([lambda case: True])).get_name() == jury_node(lambda case: True).get_name() == "jury"
    assert JuryRunnable(named, name="mine").get_name() == jury_node(named, name="mine").get_name() == "mine"
    both = RunnableParallel(a=JuryRunnable(named), b=JuryRunnable(JURY, name="other"))
    assert {"screen", "other"} <= {event["name"] for event in _events(both)}


@pytest.mark.parametrize("wrap", [
    lambda one: one.with_retry(stop_after_attempt=4, wait_exponential_jitter=False),
    lambda one: one.with_fallbacks([RunnableLambda(lambda _: None)], exceptions_to_handle=(ValueError,)),
])  # fmt: skip
def test_the_log_says_that_retries_and_fallbacks_have_no_effect(wrap, caplog):
    def breaks(case):
        raise ConnectionError("hung up")

    wrapped = wrap(JuryRunnable(breaks, name="screen"))
    assert wrapped.invoke(CASE).status is Status.ERROR
    (said,) = [one.getMessage() for one in caplog.records if "no effect" in one.getMessage()]
    assert said.startswith("screen: with_")
    assert "critic.with_fallbacks([other])" in said


def _events(chain):
    async def collected():
        return [event async for event in chain.astream_events(CASE, version="v2")]

    return asyncio.run(collected())


def test_a_single_judge_gives_a_judgment():
    assert type(JuryRunnable(Ensemble([good]).members[0]).invoke(CASE)) is Judgment


def test_on_request_the_verdict_is_plain_json_that_reads_back():
    said = JuryRunnable(JURY, as_dict=True).invoke(CASE)
    assert said["status"] == "PASS"
    assert type(said) is dict
    assert judgment_from_dict(said).judgments[2].error == "ValueError: no luck"


def test_schemas_name_the_fields():
    runnable = JuryRunnable(JURY, as_dict=True, name="panel")
    assert runnable.get_name() == "panel"
    assert set(runnable.get_input_jsonschema()["properties"]) == {"question", "answer", "contexts", "reference"}
    assert {"status", "score", "judgments"} <= set(runnable.get_output_jsonschema()["properties"])
    assert JuryRunnable(JURY).OutputType is Judgment
    said = runnable.invoke(CASE)
    assert runnable.get_output_schema().model_validate(said).status == "PASS"


@pytest.mark.parametrize("run", [
    lambda chain, config: chain.invoke("x", config),
    lambda chain, config: asyncio.run(chain.ainvoke("x", config)),
])  # fmt: skip
def test_a_trace_has_one_run_for_the_jury_and_a_child_per_juror(run):
    recorder = Recorder()
    jury = Ensemble([good, broken_juror], errors="ignore")
    run(RunnableLambda(lambda _: CASE) | JuryRunnable(jury), {"callbacks": [recorder]})
    assert [pair for pair in recorder.tree() if pair[1] == "jury"] == [("good", "jury"), ("broken_juror", "jury")]
    (first,), (second,) = recorder.named("good"), recorder.named("broken_juror")
    assert first["outputs"]["status"] == "PASS"
    assert first["metadata"]["elapsed_s"] >= 0
    assert str(second["error"]) == "ValueError: no luck"
    (own,) = recorder.named("jury")
    assert own["outputs"].passed


def test_the_jurors_of_a_cascade_are_children_too():
    recorder = Recorder()
    panel = Ensemble([lambda case: True, lambda case: False])
    jury = CascadedJury([Tier("gate", good, "reject_on_any_fail"), Tier("panel", panel, "final")])
    JuryRunnable(jury).invoke(CASE, {"callbacks": [recorder]})
    assert [name for name, parent in recorder.tree() if parent == "jury"] == ["good", "Judge#1", "Judge#2"]


def test_a_critic_that_is_to_be_traced_hangs_under_the_jury():
    recorder = Recorder()
    model = LangChainModel(ScriptedChat(), traced=True)
    jury = Ensemble([Critic(model, "correctness_without_reference", name="truth")])
    JuryRunnable(jury).invoke(CASE, {"callbacks": [recorder]})
    assert ("model", "jury") in recorder.tree()


# As a node


class State(TypedDict, total=False):
    question: str
    answer: str
    verdict: Any
    tries: int


def writes(state):
    tries = state.get("tries", 0)
    return {"answer": "good" if tries >= 1 else "bad", "tries": tries + 1}


def graph(node, **options):
    built = StateGraph(State)
    built.add_node("write", writes)
    built.add_node("jury", node)
    built.add_edge(START, "write")
    built.add_edge("write", "jury")
    built.add_conditional_edges("jury", route_on_verdict(END, "write", otherwise=END), {END: END, "write": "write"})
    return built.compile(**options)


@pytest.mark.parametrize("run", [
    lambda app, *args: app.invoke(*args), lambda app, *args: asyncio.run(app.ainvoke(*args)),
])  # fmt: skip
def test_a_node_judges_the_state_and_the_graph_follows_the_verdict(run):
    state = run(graph(jury_node(Ensemble([good]))), {"question": "How is it?"})
    assert (state["tries"], state["answer"], state["verdict"]["status"]) == (2, "good", "PASS")
    assert type(state["verdict"]) is dict


def test_a_checkpointed_verdict_comes_back_as_it_was(recwarn):
    app = graph(jury_node(Ensemble([good])), checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    app.invoke({"question": "How is it?"}, thread)
    kept = app.get_state(thread).values["verdict"]
    assert type(kept) is dict
    assert judgment_from_dict(kept).passed
    assert not recwarn.list


def test_the_words_of_critics_and_jurors_are_not_in_the_stream_of_tokens():
    talker = StreamingChat(script=["Answer: YES"])

    def asks_itself(case):
        return talker.invoke("Is it good?").text.strip() == "Answer: YES"

    jury = Ensemble([Critic(StreamingChat(), "correctness_without_reference", name="truth"), asks_itself])
    app = graph(jury_node(jury))
    assert list(app.stream({"question": "How is it?"}, stream_mode="messages")) == []

    async def streamed():
        return [chunk async for chunk in app.astream({"question": "How is it?"}, stream_mode="messages")]

    assert asyncio.run(streamed()) == []
    assert len(talker.seen) == 2


@pytest.mark.parametrize(("state", "goes"), [
    ({"verdict": {"status": "PASS"}}, "on"), ({"verdict": {"status": "FAIL"}}, "back"),
    ({"verdict": {"status": "ERROR"}}, "aside"), ({"verdict": {"status": None, "label": "KEEP"}}, "aside"),
    ({"verdict": None}, "aside"),
])  # fmt: skip
def test_the_route_of_each_verdict(state, goes):
    assert route_on_verdict("on", "back", otherwise="aside")(state) == goes
    assert route_on_verdict("on", "back")(state) == ("back" if goes == "aside" else goes)


def routed(route, *path_map):
    built = StateGraph(State)
    built.add_node("jury", jury_node(Ensemble([good])))
    built.add_node("write", lambda state: {"answer": "good"})
    built.add_edge(START, "jury")
    built.add_conditional_edges("jury", route, *path_map)
    built.add_edge("write", END)
    return built.compile()


@pytest.mark.parametrize("names", [(END, "wirte"), ("wirte", END), (END, "write", "wirte")])
def test_a_route_to_a_node_that_the_graph_does_not_have_is_refused(names):
    with pytest.raises(ValueError, match="wirte"):
        routed(route_on_verdict(names[0], names[1], otherwise=names[2] if len(names) > 2 else None))


def test_a_route_to_the_graphs_own_nodes_or_through_a_map_is_followed():
    assert routed(route_on_verdict(END, "write")).invoke({"answer": "bad"})["answer"] == "good"
    drawn = {edge.target for edge in routed(route_on_verdict(END, END)).get_graph().edges if edge.source == "jury"}
    assert drawn == {END}
    mapped = routed(route_on_verdict("fine", "again"), {"fine": END, "again": "write"})
    assert mapped.invoke({"answer": "bad"})["answer"] == "good"


def asks_a_person(case):
    return interrupt({"answer": case.answer}) == "ok"


@pytest.mark.parametrize(
    "jury", [asks_a_person, Ensemble([good, asks_a_person], voting="unanimous", errors="propagate")]
)
def test_an_interrupt_in_a_judge_is_an_error_that_says_where_it_belongs(jury):
    app = graph(jury_node(jury), checkpointer=InMemorySaver())
    state = app.invoke({"answer": "good", "tries": 1}, {"configurable": {"thread_id": "1"}, "recursion_limit": 20})
    verdict = judgment_from_dict(state["verdict"])
    asked = verdict.judgments[-1] if isinstance(verdict, Verdict) else verdict
    assert asked.status is Status.ERROR
    assert asked.error == (
        "GraphInterrupt: interrupt() cannot pause a graph from inside a judge; call it in a node of its own, after the "
        "node of the jury"
    )


# What cannot be read


def test_an_input_that_cannot_be_read_is_an_error_verdict_and_no_error_of_the_chain():
    async def later(runnable):
        return await runnable.ainvoke({"x": 1})

    for field_map, said in (
        ({"answer": "draft.text"}, "leads nowhere"),
        (lambda state: Case(answer=state["y"]), "KeyError"),
    ):
        runnable = JuryRunnable(JURY, field_map=field_map)
        for verdict in (runnable.invoke({"x": 1}), asyncio.run(later(runnable))):
            assert verdict.status is Status.ERROR
            assert said in verdict.error
            assert "nothing of the input could be judged" in verdict.reasoning
            assert verdict.critic == JURY.name
        as_dict = JuryRunnable(JURY, field_map=field_map, as_dict=True).invoke({"x": 1})
        assert as_dict["status"] == "ERROR"
