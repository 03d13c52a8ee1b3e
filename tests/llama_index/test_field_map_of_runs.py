"""Field maps of runs, of guarded answers and of nodes, in real LlamaIndex applications."""

import asyncio
import threading

import pytest
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from support.garbage import collect_garbage
from support.llama_apps import ANSWER, PASSAGE, Model, Verdicts, a_chat, an_index

from jury_adapters import Case, ConfigurationError, Judge, Status
from jury_adapters.checks import NotEmpty
from jury_adapters.llama_index import JuryGuardQueryEngine, JuryNodePostprocessor, JurySpanHandler, judge_runs

INDEX = an_index()
PASSAGES = ["Paris is in France.", "France has a capital."]


class Plain(CustomQueryEngine):
    """An engine that keeps what it read in the metadata of its response."""

    def custom_query(self, query_str: str) -> Response:
        return Response(
            "{draft}", metadata={"passages": list(PASSAGES), "final": {"text": "Paris"}, "wanted": "Paris."}
        )


OF_PLAIN = {
    "answer": "outputs.metadata.final.text",
    "contexts": "outputs.metadata.passages",
    "reference": "outputs.metadata.wanted",
}


def passes(case: Case) -> bool:
    return True


def test_a_map_names_fields_beside_those_that_are_read_as_always():
    verdicts = Verdicts()
    with judge_runs(passes, field_map=OF_PLAIN, on_verdict=verdicts):
        Plain().query("Which capital?")
    case = verdicts[0].case
    assert case == Case(question="Which capital?", answer="Paris", contexts=PASSAGES, reference="Paris.")


def test_a_function_of_inputs_and_outputs_makes_the_case():
    verdicts, rows = Verdicts(), []

    def read(row):
        rows.append(row)
        return Case(question=row["inputs"]["query"].upper(), answer=row["outputs"].response)

    engine = INDEX.as_query_engine(llm=Model())
    with judge_runs(passes, field_map=read, on_verdict=verdicts):
        engine.query("Which capital?")
        asyncio.run(engine.aquery(QueryBundle("And then?")))
    assert [judged.case for judged in verdicts] == [
        Case(question="WHICH CAPITAL?", answer=ANSWER), Case(question="AND THEN?", answer=ANSWER),
    ]  # fmt: skip
    assert rows[0].keys() == {"inputs", "outputs"}


def test_a_path_that_leads_nowhere_is_an_error_of_that_run():
    verdicts = Verdicts()
    with judge_runs(passes, field_map={"answer": "outputs.metadata.fianl"}, on_verdict=verdicts) as watch:
        Plain().query("Which capital?")
    assert verdicts[0].judgment.status is Status.ERROR
    assert "no 'fianl'" in verdicts[0].judgment.error
    assert watch.counts.judged == 1


def test_a_run_that_raises_is_failed_without_the_map():
    class Broken(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            raise ConnectionError("no line")

    verdicts = Verdicts()
    with judge_runs(passes, field_map=OF_PLAIN, on_verdict=verdicts), pytest.raises(ConnectionError):
        Broken().query("Which capital?")
    assert (verdicts[0].case, verdicts[0].judgment.status) == (Case(question="Which capital?"), Status.FAIL)


def test_what_the_user_changes_afterwards_is_mapped_as_it_was():
    release, verdicts = threading.Event(), Verdicts()
    judge = Judge.from_function(lambda case: release.wait(20), timeout=30)
    field_map = {"answer": "outputs.response", "contexts": "outputs.source_nodes", "reference": "outputs.metadata.mine"}

    class Engine(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            return Response(ANSWER, [NodeWithScore(node=TextNode(text=PASSAGE))], metadata={"mine": "Paris"})

    with judge_runs(judge, field_map=field_map, on_verdict=verdicts, max_concurrency=1):
        engine = Engine()
        engine.query("one")
        response = engine.query("two")
        response.response += " And so on."
        response.source_nodes.clear()
        response.metadata.clear()
        release.set()
    assert verdicts[1].case == Case(question="two", answer=ANSWER, contexts=[PASSAGE], reference="Paris")


def test_a_stream_has_the_names_of_a_response():
    verdicts = Verdicts()
    field_map = {"reference": "outputs.response", "contexts": "outputs.source_nodes[0].node.metadata.year"}
    engine = INDEX.as_query_engine(llm=Model(), streaming=True)

    async def main() -> None:
        streamed = await INDEX.as_query_engine(llm=Model(), streaming=True, use_async=True).aquery("later?")
        assert "".join([token async for token in streamed.async_response_gen()]) == ANSWER

    with judge_runs(passes, field_map=field_map, on_verdict=verdicts) as watch:
        assert "".join(engine.query("now?").response_gen) == ANSWER
        asyncio.run(main())
        engine.query("left?")  # thrown away unread
    cases = {judged.case.question: judged.case for judged in verdicts}  # judged side by side, so in any order
    assert {question: (case.answer, case.reference) for question, case in cases.items()} == {
        "now?": (ANSWER, ANSWER), "later?": (ANSWER, ANSWER),
    }  # fmt: skip
    assert cases["now?"].contexts == ("2025",)
    assert (watch.counts.judged, watch.counts.abandoned) == (2, 1)


def test_a_stream_that_breaks_is_failed_without_the_map():
    verdicts = Verdicts()
    engine = INDEX.as_query_engine(llm=Model(break_after=1), streaming=True)
    block = judge_runs(passes, field_map={"answer": "outputs.nothing"}, on_verdict=verdicts)
    with block, pytest.raises(ConnectionError):
        "".join(engine.query("now?").response_gen)
    assert (verdicts[0].judgment.status, verdicts[0].case.question) == (Status.FAIL, "now?")


def test_a_chat_has_its_message_and_the_history_it_was_given():
    verdicts = Verdicts()
    field_map = {"question": "inputs.message", "reference": "outputs.response"}
    with judge_runs(passes, field_map=field_map, on_verdict=verdicts):
        a_chat(INDEX, "context").chat("Which capital?")
    case = verdicts[0].case
    assert (case.question, case.answer, case.reference, case.contexts) == ("Which capital?", ANSWER, ANSWER, (PASSAGE,))


class Topic(StartEvent):
    topic: str
    depth: int


class Report(Workflow):
    """A workflow whose question and answer are under names of its own."""

    @step
    async def write(self, event: StartEvent) -> StopEvent:
        return StopEvent(result={"sections": [{"text": f"On {event.topic}."}], "sources": list(PASSAGES)})


class TypedReport(Workflow):
    @step
    async def write(self, event: Topic) -> StopEvent:
        return StopEvent(result={"sections": [{"text": f"On {event.topic}."}], "sources": list(PASSAGES)})


@pytest.mark.parametrize(
    ("workflow", "given"),
    [
        (Report, {"topic": "capitals", "style": "short"}),
        (TypedReport, {"start_event": Topic(topic="capitals", depth=2)}),
    ],
)
def test_a_workflow_has_its_keywords_or_the_fields_of_its_start_event(workflow, given):
    verdicts = Verdicts()
    field_map = {
        "question": "inputs.topic",
        "answer": "outputs.sections[-1].text",
        "contexts": "outputs.sources",
    }

    async def main() -> None:
        async with judge_runs(passes, select="workflow", field_map=field_map, on_verdict=verdicts):
            await workflow().run(**given)

    asyncio.run(main())
    assert verdicts[0].case == Case(question="capitals", answer="On capitals.", contexts=PASSAGES)


class Ended(StopEvent):
    body: dict[str, str]


class EndsItsOwnWay(Workflow):
    @step
    async def write(self, event: StartEvent) -> Ended:
        return Ended(body={"text": "On capitals."})


def test_a_stop_event_of_the_users_own_class_is_what_the_run_returned():
    verdicts = Verdicts()

    async def main() -> None:
        async with judge_runs(
            passes, select="workflow", field_map={"answer": "outputs.body.text"}, on_verdict=verdicts
        ):
            assert (await EndsItsOwnWay().run()).body == {"text": "On capitals."}

    asyncio.run(main())
    assert verdicts[0].case.answer == "On capitals."


def test_an_answer_of_a_strange_class_is_read_by_the_map():
    class Page:
        def __init__(self, text: str) -> None:
            self.text = text

    class Strange(CustomQueryEngine):
        def custom_query(self, query_str: str) -> object:
            return Response(Page("Paris."))

    verdicts = Verdicts()
    with judge_runs(passes, field_map={"answer": "outputs.response.text"}, on_verdict=verdicts):
        Strange().query("Which capital?")
    assert verdicts[0].case.answer == "Paris."


def test_a_result_that_releases_something_at_its_end_is_not_copied():
    ended = []

    class Connection:
        text = "Paris."

        def __del__(self):
            ended.append(self)

    class Connects(Workflow):
        @step
        async def write(self, event: StartEvent) -> StopEvent:
            return StopEvent(result=Connection())

    async def main():
        async with judge_runs(passes, select="workflow", field_map={"answer": "outputs.text"}, on_verdict=verdicts):
            kept.append(await Connects().run())

    kept, verdicts = [], Verdicts()
    asyncio.run(main())
    assert verdicts[0].case.answer == "Paris."
    collect_garbage()
    assert (len(kept), ended) == (1, [])


@pytest.mark.parametrize("make", [
    lambda field_map: judge_runs(NotEmpty(), field_map=field_map),
    lambda field_map: JurySpanHandler(NotEmpty(), field_map=field_map),
    lambda field_map: JuryGuardQueryEngine(Plain(), NotEmpty(), field_map=field_map),
    lambda field_map: JuryNodePostprocessor(NotEmpty(), field_map=field_map),
])  # fmt: skip
def test_a_wrong_map_is_refused_with_the_fix(make):
    with pytest.raises(ConfigurationError, match="Did you mean 'answer'"):
        make({"anser": "outputs.response"})


# Guards


@pytest.fixture(params=["query", "aquery"])
def ask(request):
    def asked(engine, query="Which capital?"):
        return engine.query(query) if request.param == "query" else asyncio.run(engine.aquery(query))

    return asked


def test_a_guard_judges_what_the_map_names(ask):
    seen = []
    guard = JuryGuardQueryEngine(Plain(), lambda case: bool(seen.append(case) or True), field_map=OF_PLAIN)
    assert ask(guard).metadata["jury"]["outcome"] == "passed"
    assert seen == [Case(question="Which capital?", answer="Paris", contexts=PASSAGES, reference="Paris.")]


def test_a_guard_reads_a_stream_under_the_names_of_a_response():
    class Streams(CustomQueryEngine):
        def custom_query(self, query_str: str) -> StreamingResponse:
            return StreamingResponse(iter(("Par", "is")), metadata={"passages": list(PASSAGES)})

    seen = []
    field_map = {"contexts": "outputs.metadata.passages", "reference": "outputs.response", "question": "inputs.query"}
    guard = JuryGuardQueryEngine(Streams(), lambda case: bool(seen.append(case) or True), field_map=field_map)
    response = guard.query("Which capital?")
    assert seen == [Case(question="Which capital?", answer="Paris", contexts=PASSAGES, reference="Paris")]
    assert "".join(response.response_gen) == "Paris"


@pytest.mark.parametrize("field_map", [{"answer": "outputs.nothing"}, lambda row: 1 / 0, lambda row: "no case"])
def test_a_map_that_cannot_be_read_is_undecided_and_does_not_raise(ask, field_map):
    response = ask(JuryGuardQueryEngine(Plain(), passes, field_map=field_map))
    assert response.metadata["jury"]["outcome"] == "unjudged"
    assert [verdict["status"] for verdict in response.metadata["jury"]["verdicts"]] == ["ERROR"]
    blocked = ask(JuryGuardQueryEngine(Plain(), passes, field_map=field_map, on_undecided="block"))
    assert blocked.metadata["jury"]["outcome"] == "blocked"


def test_a_postprocessor_judges_the_window_that_the_writer_will_see():
    def node(text, window):
        return NodeWithScore(
            node=TextNode(text=text, metadata={"window": window}, excluded_llm_metadata_keys=["window"])
        )

    given = [node("It is.", "Which is the capital? Paris. It is."), node("Paris!", "He cried: Paris! and fell.")]
    relevant = JuryNodePostprocessor(
        lambda case: case.question == "Which capital?" and "capital" in case.contexts[0],
        field_map={"contexts": "node.metadata.window"},
    )
    kept = relevant.postprocess_nodes(given, query_str="Which capital?")
    shown = MetadataReplacementPostProcessor(target_metadata_key="window").postprocess_nodes(kept)
    assert [one.node.get_content() for one in shown] == ["Which is the capital? Paris. It is."]


def test_a_node_without_what_the_map_names_is_undecided():
    told = []
    keep = JuryNodePostprocessor(
        passes,
        field_map={"contexts": "node.metadata.window"},
        on_verdict=lambda judged: told.append(judged.judgment.status),
    )
    nodes = [NodeWithScore(node=TextNode(text="It is."))]
    assert keep.postprocess_nodes(nodes, query_str="Which?") == nodes
    assert told == [Status.ERROR]
