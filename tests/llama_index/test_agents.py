"""Runs of agents and workflows, judged as they happen."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.base.response.schema import Response
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory, StaticMemoryBlock
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from pydantic import BaseModel
from support.llama_apps import ANSWER, PASSAGE, Model, Verdicts, an_index, says_paris

from jury_adapters import Status
from jury_adapters.core.case_parts import Step
from jury_adapters.llama_index import judge_runs
from jury_adapters.llama_index.responses import contexts_of, text_of

# LlamaIndex's agents look at names that pydantic is about to drop.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:WorkflowHandler.cancel:DeprecationWarning"),
]
INDEX = an_index()
ENGINE = INDEX.as_query_engine(llm=Model())


def library(**options: Any) -> QueryEngineTool:
    return QueryEngineTool.from_defaults(ENGINE, name="library", description="knows cities", **options)


def scripted(tool: str = "library", **arguments: object) -> MockFunctionCallingLLM:
    """A model that calls one tool and then answers."""

    def say(messages: Sequence[ChatMessage], **kwargs: object) -> ChatMessage:
        if messages[-1].role == MessageRole.TOOL:
            return ChatMessage(role="assistant", content=f"So: {ANSWER}")
        call = ToolCallBlock(tool_call_id="1", tool_name=tool, tool_kwargs=arguments or {"input": "capital?"})
        return ChatMessage(role="assistant", blocks=[call])

    return MockFunctionCallingLLM(response_generator=say, is_chat_model=True)


def agent(llm: MockFunctionCallingLLM | None = None, *tools: object, **options: Any) -> FunctionAgent:
    return FunctionAgent(tools=[*(tools or [library()])], llm=llm or scripted(), streaming=False, **options)


def memory() -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(llm=Model())


async def run(workflow: Any, question: object = "Which capital?", **options: Any) -> Any:
    return await workflow.run(user_msg=question, memory=memory(), **options)


def outcome(main: Callable[[], Any], **options: Any) -> tuple[Verdicts, Any]:
    verdicts = Verdicts()

    async def within() -> None:
        async with judge_runs(says_paris(), on_verdict=verdicts, **options) as watch:
            await main()
        counts.append(watch.counts)

    counts: list[Any] = []
    asyncio.run(within())
    return verdicts, counts[0]


def test_an_agent_is_judged_once_with_its_tools_and_what_they_found():
    async def main() -> None:
        with instrument_tags({"request": "42"}):
            assert str(await run(agent())) == f"So: {ANSWER}"

    verdicts, _ = outcome(main)
    case, judged = verdicts.case, verdicts[0].run
    assert (case.question, case.answer, case.contexts) == ("Which capital?", f"So: {ANSWER}", (PASSAGE,))
    assert case.trajectory == (Step(tool="library", arguments={"input": "capital?"}, output=ANSWER),)
    assert (judged.kind, judged.name, dict(judged.tags)) == ("agent", "FunctionAgent.run", {"request": "42"})
    assert judged.metadata["llamaindex.run_id"]
    assert verdicts[0].judgment.status is Status.PASS


def test_a_field_map_of_an_agent_reads_its_keywords_and_its_output():
    async def main() -> None:
        await run(agent(), "Which capital?")

    field_map = {"reference": "inputs.user_msg", "contexts": "outputs.tool_calls[0].tool_kwargs.input"}
    verdicts, _ = outcome(main, field_map=field_map)
    case = verdicts.case
    assert (case.question, case.answer, case.reference) == ("Which capital?", f"So: {ANSWER}", "Which capital?")
    assert case.contexts == ("capital?",)
    assert len(case.trajectory) == 1


def test_an_agent_workflow_is_one_run():
    team = AgentWorkflow(agents=[agent(name="a", description="a")], root_agent="a")
    verdicts, _ = outcome(lambda: run(team, ChatMessage(role="user", content="Which capital?")))
    assert (verdicts.case.question, verdicts.case.contexts) == ("Which capital?", (PASSAGE,))
    assert [step.tool for step in verdicts.case.trajectory] == ["library"]
    assert verdicts[0].run.name == "AgentWorkflow.run"


def test_a_react_agent_is_judged_with_its_tools():
    class Reasoner(Model):
        def _said(self) -> Any:
            object.__setattr__(self, "_turn", getattr(self, "_turn", 0) + 1)
            text = (
                'Thought: I must look it up.\nAction: library\nAction Input: {"input": "capital?"}'
                if self._turn == 1
                else f"Thought: I can answer without using any more tools.\nAnswer: {ANSWER}"
            )
            return super()._said().model_copy(update={"text": text})

    react = ReActAgent(tools=[library()], llm=Reasoner(), streaming=False)
    verdicts, _ = outcome(lambda: run(react))
    assert (verdicts.case.question, verdicts.case.answer) == ("Which capital?", ANSWER)
    assert verdicts.case.contexts == (PASSAGE,)
    assert [step.tool for step in verdicts.case.trajectory] == ["library"]
    assert verdicts.case.messages == ()
    assert verdicts.case.generator == "test-model"


def test_a_tool_that_answers_directly_is_evidence_too():
    verdicts, _ = outcome(lambda: run(agent(scripted(), library(return_direct=True))))
    assert (verdicts.case.answer, verdicts.case.contexts) == (ANSWER, (PASSAGE,))


def test_a_conversation_given_as_history_is_split_at_the_question():
    history = [
        ChatMessage(role="user", content="Hello"),
        ChatMessage(role="assistant", content="Hi."),
        ChatMessage(role="user", content="Which capital?"),
    ]

    async def main() -> None:
        await agent().run(chat_history=history, memory=memory())
        await agent().run(user_msg="And its river?", chat_history=history[:2], memory=memory())

    verdicts, _ = outcome(main)
    assert {judged.case.question for judged in verdicts} == {"Which capital?", "And its river?"}
    assert [[said.content for said in judged.case.messages] for judged in verdicts] == [["Hello", "Hi."]] * 2


def test_a_tool_that_fails_is_in_the_trajectory():
    def fail(city: str) -> str:
        raise LookupError(f"no {city}")

    tool = FunctionTool.from_defaults(fail, name="map")
    verdicts, _ = outcome(lambda: run(agent(scripted("map", city="Paris"), tool)))
    (step,) = verdicts.case.trajectory
    assert (step.tool, dict(step.arguments)) == ("map", {"city": "Paris"})
    assert "no Paris" in (step.error or "")
    assert verdicts.case.contexts == ()


def test_an_agent_that_raises_is_fail():
    def broken(messages: object, **kwargs: object) -> ChatMessage:
        raise ConnectionError("the model is gone")

    async def main() -> None:
        with pytest.raises(ConnectionError):
            await run(agent(MockFunctionCallingLLM(response_generator=broken, is_chat_model=True)))

    verdicts, _ = outcome(main)
    assert verdicts[0].run.error == "ConnectionError: the model is gone"
    assert verdicts[0].judgment.status is Status.FAIL
    assert verdicts.case.question == "Which capital?"


def test_an_agent_that_takes_too_long_is_fail():
    async def slow(city: str) -> str:
        await asyncio.sleep(60)
        return city

    async def main() -> None:
        with pytest.raises(Exception, match="timed out"):
            await run(agent(scripted("slow", city="Paris"), FunctionTool.from_defaults(async_fn=slow), timeout=0.2))

    verdicts, _ = outcome(main)
    assert "timed out" in (verdicts[0].run.error or "")


@pytest.mark.parametrize("how", ["cancel_run", "task"])
def test_a_cancelled_agent_is_counted_and_not_judged(how: str):
    started = asyncio.Event()

    async def slow(city: str) -> str:
        started.set()
        await asyncio.sleep(60)
        return city

    async def main() -> None:
        handler = agent(scripted("slow", city="Paris"), FunctionTool.from_defaults(async_fn=slow)).run(
            user_msg="Which capital?", memory=memory()
        )
        await started.wait()
        if how == "cancel_run":
            await handler.cancel_run()
        else:
            handler.cancel()
        with pytest.raises(BaseException):  # noqa: B017, PT011  which one differs between versions
            await handler

    verdicts, counts = outcome(main)
    assert not verdicts
    assert counts.cancelled == 1


def test_agents_and_queries_side_by_side_in_one_task_are_runs_of_their_own():
    async def main() -> None:
        watched = agent()
        runs = [watched.run(user_msg=f"agent {n}", memory=memory()) for n in range(4)]
        await ENGINE.aquery("beside")
        await asyncio.gather(*runs)

    verdicts, _ = outcome(main)
    assert sorted(judged.case.question for judged in verdicts) == [*(f"agent {n}" for n in range(4)), "beside"]


def test_an_agent_behind_a_tool_of_an_agent_is_part_of_its_run():
    async def ask(question: str) -> str:
        return str(await run(agent(), question))

    verdicts, _ = outcome(lambda: run(agent(scripted("ask", question="?"), FunctionTool.from_defaults(async_fn=ask))))
    assert [judged.run.name for judged in verdicts] == ["FunctionAgent.run"]
    assert verdicts.case.question == "Which capital?"


class TwoQueries(Workflow):
    @step
    async def go(self, event: StartEvent) -> StopEvent:
        first = await ENGINE.aquery("first")
        await ENGINE.aquery("second")
        return StopEvent(result=str(first))


@pytest.mark.slow
def test_a_workflow_of_the_users_is_a_run_only_when_it_is_named():
    async def main() -> None:
        await TwoQueries().run(user_msg="Which capital?")

    verdicts, _ = outcome(main)
    assert {judged.case.question for judged in verdicts} == {"first", "second"}
    verdicts, _ = outcome(main, select=TwoQueries)
    assert (verdicts.case.question, verdicts.case.answer) == ("Which capital?", ANSWER)
    assert verdicts[0].run.kind == "workflow"


class Topic(StartEvent):
    topic: str
    depth: int = 1


class Asked(StartEvent):
    query: str
    language: str = "en"


class UserQuery(StartEvent):
    topic: str
    user_query: str | None = None
    language: str = "en"


class TypedUserQuery(Workflow):
    @step
    async def go(self, event: UserQuery) -> StopEvent:
        return StopEvent(result=ANSWER)


class Typed(Workflow):
    @step
    async def go(self, event: Topic) -> StopEvent:
        return StopEvent(result=f"{event.topic} {ANSWER}")


class TypedQuery(Workflow):
    @step
    async def go(self, event: Asked) -> StopEvent:
        return StopEvent(result=f"{event.query} {ANSWER}")


class Answered(StopEvent):
    answer: str
    score: float = 0.5


class Summary(StopEvent):
    summary: str
    score: float = 0.5


class Answers(StopEvent):
    response: Response


class Sourced(StopEvent):
    answer: str
    source_nodes: list[NodeWithScore]


class Contexts(StopEvent):
    answer: str
    contexts: list[str]


class Documented(StopEvent):
    summary: str
    documents: list[str]


class Described(BaseModel):
    answer: str
    contexts: list[str]


class Page(StopEvent):
    title: str
    body: str


class Own(StopEvent):
    text: str

    def _get_result(self) -> str:
        return self.text.upper()


def ending_with(end: Any) -> Workflow:
    """A workflow whose last step returns this event; each has one class of stop events."""

    class Ends(Workflow):
        @step
        async def go(self, event: StartEvent) -> type(end):  # type: ignore[valid-type]
            return end

    return Ends()


NODES = [NodeWithScore(node=TextNode(text="Paris is old."))]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("end", "answer", "contexts"),
    [
        (Answered(answer="Paris."), "Paris.", ()),
        (Summary(summary="Paris."), "Paris.", ()),
        (Answers(response=Response("Paris.", source_nodes=NODES)), "Paris.", ("Paris is old.",)),
        (Sourced(answer="Paris.", source_nodes=NODES), "Paris.", ("Paris is old.",)),
        (Page(title="France", body="Paris."), '{"title": "France", "body": "Paris."}', ()),
        (Own(text="Paris."), "PARIS.", ()),
        (StopEvent(answer="Paris."), "Paris.", ()),
        (StopEvent(result="Paris."), "Paris.", ()),
        (StopEvent(), None, ()),
        (StopEvent(result={"answer": "Paris.", "contexts": ["Paris is old."]}), "Paris.", ("Paris is old.",)),
        (StopEvent(result={"Final Answer": "Paris.", "docs": "Paris is old."}), "Paris.", ("Paris is old.",)),
        (StopEvent(result={"response": "Paris.", "documents": NODES}), "Paris.", ("Paris is old.",)),
        (StopEvent(result={"output": Response("Paris.", source_nodes=NODES)}), "Paris.", ("Paris is old.",)),
        (StopEvent(result={"contexts": ["Paris is old."]}), None, ("Paris is old.",)),
        (StopEvent(result={"status": "done", "rows": 2}), '{"status": "done", "rows": 2}', ()),
        (Contexts(answer="Paris.", contexts=["Paris is old.", "It is."]), "Paris.", ("Paris is old.", "It is.")),
        (Documented(summary="Paris.", documents=["Paris is old."]), "Paris.", ("Paris is old.",)),
        # A model may have written it, so it is not evidence.
        (
            StopEvent(result=Described(answer="Paris.", contexts=["Paris is old."])),
            '{"answer":"Paris.","contexts":["Paris is old."]}',
            (),
        ),
    ],
)
def test_the_answer_of_a_custom_workflow(end: StopEvent, answer: str | None, contexts: tuple[str, ...]):
    async def main() -> None:
        await ending_with(end).run(query="Which capital?")

    verdicts, _ = outcome(main, select="workflow")
    assert (verdicts.case.answer, verdicts.case.contexts) == (answer, contexts)
    assert (text_of(end), contexts_of(end)) == (answer, contexts)
    if type(end) is StopEvent and end.result is not None:  # what the user gets of it
        assert (text_of(end.result), contexts_of(end.result)) == (answer, contexts)


def test_fields_that_compete_are_reported():
    async def main() -> None:
        ends = StopEvent(result={"answer": "Paris.", "response": "London."})
        await ending_with(ends).run(question="Which capital?", query="Which?")

    case = outcome(main, select="workflow")[0].case
    assert (case.question, case.answer) == ("Which capital?", "Paris.")
    assert case.metadata["ambiguous"] == ("query is ignored beside question", "response is ignored beside answer")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("flow", "given", "question"),
    [
        (TwoQueries, {"query": "Which?", "language": "en"}, "Which?"),
        (TwoQueries, {"question": "Which?", "language": "en"}, "Which?"),
        (TwoQueries, {"input": "Which?", "language": "en"}, "Which?"),
        (TwoQueries, {"input": ChatMessage(role="user", content="Which?")}, "Which?"),
        (TwoQueries, {"topic": "capitals", "depth": 2}, "capitals"),
        (TwoQueries, {"topic": "capitals", "language": "en"}, None),
        (TwoQueries, {"input": {"a": 1}}, None),
        (Typed, {"topic": "capitals"}, "capitals"),
        (Typed, {"start_event": Topic(topic="capitals", depth=2)}, "capitals"),
        (TwoQueries, {"topic": "capitals", "user_query": "Which?"}, "Which?"),
        (TwoQueries, {"language": "en", "User Query": "Which?"}, "Which?"),
        (TwoQueries, {"query": "Which?", "prompt": "Be brief."}, "Which?"),
        (TypedUserQuery, {"start_event": UserQuery(topic="capitals", user_query="Which?")}, "Which?"),
        (TypedUserQuery, {"start_event": UserQuery(topic="capitals")}, None),
        (TypedQuery, {"query": "Which?"}, "Which?"),
        (TypedQuery, {"start_event": Asked(query="Which?")}, "Which?"),
    ],
)
def test_the_question_of_a_custom_workflow(flow: Any, given: dict[str, Any], question: str | None):
    async def main() -> None:
        await flow().run(**given)

    verdicts, _ = outcome(main, select="workflow")
    assert verdicts.case.question == question


@pytest.mark.parametrize("whole", [False, True])
def test_a_later_run_with_a_memory_comes_with_the_conversation_before_it(whole: bool):
    async def main() -> None:
        one = agent(name="one", description="one")
        said, app = memory(), AgentWorkflow(agents=[one], root_agent="one") if whole else one
        await app.run(user_msg="Which capital?", memory=said)
        await app.run(user_msg="And its river?", memory=said)

    verdicts, _ = outcome(main)
    earlier = {judged.case.question: [one.content for one in judged.case.messages] for judged in verdicts}
    assert earlier == {"Which capital?": [], "And its river?": ["Which capital?", f"So: {ANSWER}"]}


class OwnTools(MockFunctionCallingLLM):
    """A model with a way of its own to call tools, so that no span shows the messages that it gets."""

    async def achat_with_tools(self, *args: Any, **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(role="assistant", content=ANSWER))


def adding_memory() -> Memory:
    """A memory that writes what it knows into the user's message."""
    return Memory.from_defaults(
        memory_blocks=[StaticMemoryBlock(static_content="The user is Logan.")], insert_method="user"
    )


@pytest.mark.parametrize("of", [memory, Memory.from_defaults, adding_memory])
@pytest.mark.parametrize("whole", [False, True])
def test_the_conversation_in_the_memory_does_not_depend_on_the_model(of: Callable[[], Any], whole: bool):
    async def main() -> None:
        one = agent(OwnTools(is_chat_model=True), name="one", description="one")
        said, app = of(), AgentWorkflow(agents=[one], root_agent="one") if whole else one
        await app.run(user_msg="Which capital?", memory=said)
        await app.run(user_msg="And its river?", memory=said)
        if isinstance(said, Memory):  # its database would be closed with a warning
            engine, _ = await said.sql_store._setup_connections()
            await engine.dispose()

    verdicts, _ = outcome(main)
    earlier = {judged.case.question: [(one.role, one.content) for one in judged.case.messages] for judged in verdicts}
    assert earlier == {"Which capital?": [], "And its river?": [("user", "Which capital?"), ("assistant", ANSWER)]}


@pytest.mark.slow
def test_the_memory_of_an_agent_inside_a_workflow_is_not_the_conversation_of_the_workflow():
    class Asks(Workflow):
        @step
        async def go(self, event: StartEvent) -> StopEvent:
            said = ChatMemoryBuffer.from_defaults([ChatMessage(role="user", content="Hi")], llm=Model())
            return StopEvent(result=str(await agent(OwnTools()).run(user_msg="Another question?", memory=said)))

    async def main() -> None:
        await Asks().run(query="Which capital?")

    verdicts, _ = outcome(main, select="workflow")
    assert (verdicts.case.question, verdicts.case.messages) == ("Which capital?", ())


def test_an_agent_started_with_a_history_alone_has_the_question_of_its_last_message():
    async def main() -> None:
        await agent().run(chat_history=[ChatMessage(role="user", content="Which?")], memory=memory())

    assert outcome(main)[0].case.question == "Which?"


@pytest.mark.slow
def test_the_retriever_behind_a_tool_of_an_agent_that_is_not_judged():
    verdicts, counts = outcome(lambda: run(agent()), select="retriever")
    assert [(judged.run.kind, judged.question) for judged in verdicts] == [("retriever", "capital?")]
    assert verdicts.case.contexts == (PASSAGE,)
    assert len(verdicts.case.metadata["retrieved_ids"]) == 1
    assert (counts.judged, counts.skipped) == (1, 0)


@pytest.mark.slow
def test_the_retriever_behind_a_tool_of_a_judged_agent_is_part_of_it():
    verdicts, counts = outcome(lambda: run(agent()), select=["agent", "retriever"])
    assert [judged.run.kind for judged in verdicts] == ["agent"]
    assert counts.judged == 1
