"""Scripted models, engines, agents and juries for the tests of the LlamaIndex adapter."""

import asyncio
import re
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.base_selector import BaseSelector, MultiSelection, SelectorResult, SingleSelection
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import (
    CustomQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool, ToolMetadata
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from scripted import PAGE, QUESTION

SEEN = f"page: 7\n\n{PAGE}"
"""The page as a writer sees it, with its metadata."""


class Scripted(FunctionCallingLLM):
    """LLM with prepared replies, in the order in which it is called; the last one again and again.

    A reply is a text, a call of a tool ``(name, arguments)``, a list of calls, or an exception, which it raises. It
    streams words.
    """

    script: list[Any]
    name: str = "gpt-4o-mini"
    chats: bool = True
    calls: list[Any] = []  # noqa: RUF012 - pydantic copies it
    _place: int = PrivateAttr(default=0)
    _lock: Any = PrivateAttr(default_factory=Lock)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            model_name=self.name, is_chat_model=self.chats, is_function_calling_model=True, context_window=100_000
        )

    def _next(self, given: Any) -> ChatMessage:
        with self._lock:
            self.calls.append(given)
            said = self.script[min(self._place, len(self.script) - 1)]
            self._place += 1
        if isinstance(said, Exception):
            raise said
        extra = {} if isinstance(said, str) else {"calls": said if isinstance(said, list) else [said]}
        return ChatMessage(role="assistant", content=said if isinstance(said, str) else "", additional_kwargs=extra)

    def _chunks(self, given: Any) -> list[ChatResponse]:
        whole = self._next(given)
        words = re.findall(r"\S+\s*", whole.content or "") or [""]
        return [
            ChatResponse(
                message=ChatMessage(
                    role="assistant",
                    content="".join(words[: place + 1]),
                    additional_kwargs=whole.additional_kwargs if place == len(words) - 1 else {},
                ),
                delta=word,
            )
            for place, word in enumerate(words)
        ]

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._next(messages))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._next(messages))

    def _streamed(self, given: Any) -> Any:
        yield from self._chunks(given)

    async def _astreamed(self, given: Any) -> Any:
        for one in self._chunks(given):
            await asyncio.sleep(0)
            yield one

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return self._streamed(messages)

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return self._astreamed(messages)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._next(prompt).content or "")

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._next(prompt).content or "")

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return (_completed(one) for one in self._streamed(prompt))

    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return (_completed(one) async for one in self._astreamed(prompt))

    def _prepare_chat_with_tools(self, tools: Any, user_msg: Any = None, chat_history: Any = None, **_: Any) -> Any:
        return {"messages": [*(chat_history or []), *([user_msg] if user_msg else [])]}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **_: Any
    ) -> list[ToolSelection]:
        made = response.message.additional_kwargs.get("calls", [])
        return [
            ToolSelection(tool_id=f"{name}-{place}", tool_name=name, tool_kwargs=given)
            for place, (name, given) in enumerate(made)
        ]


def _completed(chunk: ChatResponse) -> CompletionResponse:
    return CompletionResponse(text=chunk.message.content or "", delta=chunk.delta)


def model(*script: Any, **options: Any) -> Scripted:
    return Scripted(script=list(script), **options)


def node(text: str = PAGE, score: float | None = 0.9, **metadata: Any) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text, metadata=metadata), score=score)


class Pages(BaseRetriever):
    """Retriever that finds the page, with metadata that the writer sees."""

    def __init__(self, *nodes: NodeWithScore) -> None:
        super().__init__()
        self.nodes = list(nodes) if nodes else [node(page=7)]

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return [*self.nodes]


class Nothing(BaseRetriever):
    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return []


class _NoPrompts:
    """Part of LlamaIndex that asks no model."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: Any) -> None:
        pass


class First(_NoPrompts, BaseSelector):
    """Selector that takes the first choice."""

    def _select(self, choices: Any, query: Any) -> SelectorResult:
        return MultiSelection(selections=[SingleSelection(index=0, reason="the only one")])

    async def _aselect(self, choices: Any, query: Any) -> SelectorResult:
        return self._select(choices, query)


class Parts(_NoPrompts, BaseQuestionGenerator):
    """Maker of two questions."""

    def generate(self, tools: Any, query: Any) -> list[SubQuestion]:
        return [SubQuestion(sub_question=f"part {place}", tool_name="pages") for place in (1, 2)]

    async def agenerate(self, tools: Any, query: Any) -> list[SubQuestion]:
        return self.generate(tools, query)


# Applications: each takes the answer of its last model, and options of an engine


def rag(answer: str, pages: Any = None, **options: Any) -> Any:
    return RetrieverQueryEngine.from_args(pages or Pages(), llm=model(answer), **options)


class Own(CustomQueryEngine):
    """Engine of the application that retrieves and writes itself, and returns a text."""

    llm: Any
    retriever: Any

    def custom_query(self, query_str: str) -> str:
        found = self.retriever.retrieve(query_str)
        return str(self.llm.complete(f"{found[0].text} {query_str}").text)

    async def acustom_query(self, query_str: str) -> str:
        found = await self.retriever.aretrieve(query_str)
        return str((await self.llm.acomplete(f"{found[0].text} {query_str}")).text)


def own(answer: str) -> Any:
    return Own(llm=model(answer), retriever=Pages())


def router(answer: str) -> Any:
    tool = QueryEngineTool.from_defaults(rag(answer), name="pages", description="pages")
    return RouterQueryEngine(First(), [tool], llm=model("unused"))


def sub_questions(answer: str) -> Any:
    """An engine that asks two questions, whose answers are among its source nodes, and writes of them."""
    engine = RetrieverQueryEngine.from_args(Pages(), llm=model("The ferry stopped in 2019, I think."))
    tool = QueryEngineTool(engine, ToolMetadata(name="pages", description="pages"))
    return SubQuestionQueryEngine(
        Parts(), get_response_synthesizer(llm=model(answer)), [tool], verbose=False, use_async=False
    )


def behind_a_node(answer: str) -> Any:
    """An engine whose retriever asks another engine, and puts its answer into a node with the metadata of it."""
    return rag(answer, Pages(NodeWithScore(node=IndexNode(index_id="i", text="years", obj=rag(answer)), score=0.5)))


def behind_a_name(answer: str) -> Any:
    """An engine with a retriever that asks another engine by its name."""
    found = Pages(NodeWithScore(node=IndexNode(index_id="i", text="years")))
    finds = RecursiveRetriever("pages", retriever_dict={"pages": found}, query_engine_dict={"i": rag(answer)})
    return rag(answer, finds)


NESTED: list[Callable[[str], Any]] = [behind_a_node, behind_a_name]


def memory(*messages: ChatMessage) -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(chat_history=list(messages), token_limit=10_000)


def context_chat(answer: str) -> Any:
    return ContextChatEngine.from_defaults(Pages(), llm=model(answer), memory=memory())


def condensing_chat(answer: str) -> Any:
    return CondensePlusContextChatEngine.from_defaults(Pages(), llm=model(answer), memory=memory())


def question_chat(answer: str, **options: Any) -> Any:
    return CondenseQuestionChatEngine.from_defaults(rag(answer, **options), llm=model(QUESTION), memory=memory())


def simple_chat(answer: str) -> Any:
    return SimpleChatEngine.from_defaults(llm=model(answer), memory=memory())


async def look_up(query: str) -> str:
    """Look up pages."""
    return SEEN


async def keep(text: str) -> str:
    """Keep a note."""
    return f"Saved: {text}"


def tool(function: Any, name: str, **options: Any) -> FunctionTool:
    return FunctionTool.from_defaults(async_fn=function, name=name, **options)


PAGES = tool(look_up, "pages")
NOTES = tool(keep, "remember")
CALL = ("pages", {"query": "ferry"})


def agent(answer: str, **options: Any) -> Any:
    return FunctionAgent(tools=[PAGES, NOTES], llm=model(CALL, answer), **options)


def agent_that_notes(answer: str) -> Any:
    """An agent that writes its own answer into a note before it gives it."""
    return FunctionAgent(tools=[PAGES, NOTES], llm=model(CALL, ("remember", {"text": answer or "nothing"}), answer))


def react_agent(answer: str) -> Any:
    acts = 'Thought: I need a tool.\nAction: pages\nAction Input: {"query": "ferry"}'
    return ReActAgent(tools=[PAGES], llm=model(acts, f"Thought: I can answer.\nAnswer: {answer}"))


def agent_with_engine(answer: str) -> Any:
    """An agent whose tool is a query engine that says the answer first."""
    engine = QueryEngineTool.from_defaults(rag(answer), name="ask", description="ask the pages")
    return FunctionAgent(tools=[engine], llm=model(("ask", {"input": QUESTION}), answer))


def agent_with_retriever(answer: str) -> Any:
    finds = RetrieverTool.from_defaults(Pages(), name="find", description="find pages")
    return FunctionAgent(tools=[finds], llm=model(("find", {"input": "ferry"}), answer))


def agent_in_tool(answer: str) -> Any:
    """An agent that asks another one by a tool; the inner one says the answer first."""

    async def research(topic: str) -> str:
        """Ask the researcher."""
        return str(await agent(answer).run(topic))

    return FunctionAgent(tools=[tool(research, "research")], llm=model(("research", {"topic": "ferry"}), answer))


def agents(answer: str) -> Any:
    """Two agents, of which the first hands over to the second."""
    give = ("handoff", {"to_agent": "reader", "reason": "it reads pages"})
    host = FunctionAgent(name="host", description="hosts", llm=model(give), can_handoff_to=["reader"])
    reader = FunctionAgent(name="reader", description="reads", tools=[PAGES], llm=model(CALL, answer))
    return AgentWorkflow(agents=[host, reader], root_agent="host")


class Flow(Workflow):
    """Workflow of the application, around a query engine."""

    def __init__(self, engine: Any) -> None:
        super().__init__(timeout=5)
        self.engine = engine

    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=str(await self.engine.aquery(ev.question)))


ENGINES: dict[str, Callable[[str], Any]] = {"rag": rag, "own": own, "router": router, "sub questions": sub_questions}
CHATS: dict[str, Callable[[str], Any]] = {
    "context chat": context_chat,
    "condensing chat": condensing_chat,
    "question chat": question_chat,
}
AGENTS: dict[str, tuple[Callable[[str], Any], list[str]]] = {
    "agent": (agent, ["pages"]),
    "agent that notes": (agent_that_notes, ["pages", "remember"]),
    "react agent": (react_agent, ["pages"]),
    "agent with engine": (agent_with_engine, ["ask"]),
    "agent with retriever": (agent_with_retriever, ["find"]),
    "agent in tool": (agent_in_tool, ["pages", "research"]),
    "agents": (agents, ["handoff", "pages"]),
}
"""Makers of applications; of agents with the tools that run in each, in order."""


def query(engine: Any) -> Any:
    return engine.query(QUESTION)


def aquery(engine: Any) -> Any:
    return asyncio.run(engine.aquery(QUESTION))


def chat(engine: Any) -> Any:
    return engine.chat(QUESTION)


def achat(engine: Any) -> Any:
    return asyncio.run(engine.achat(QUESTION))


def stream_chat(engine: Any) -> str:
    return "".join(engine.stream_chat(QUESTION).response_gen)


def astream_chat(engine: Any) -> str:
    async def read() -> str:
        response = await engine.astream_chat(QUESTION)
        return "".join([token async for token in response.async_response_gen()])

    return asyncio.run(read())


def run(made: Any, **given: Any) -> Any:
    async def read() -> Any:
        return await made.run(**(given or {"user_msg": QUESTION}))

    return asyncio.run(read())


def stream_events(made: Any) -> Any:
    async def read() -> Any:
        handler = made.run(user_msg=QUESTION)
        async for _ in handler.stream_events():
            pass
        return await handler

    return asyncio.run(read())


CHAT_WAYS = {one.__name__: one for one in (chat, achat, stream_chat, astream_chat)}
APPS: dict[str, tuple[Callable[[str], Any], dict[str, Callable[[Any], Any]], list[str]]] = {
    **{name: (make, {"query": query, "aquery": aquery}, []) for name, make in ENGINES.items()},
    **{name: (make, CHAT_WAYS, []) for name, make in CHATS.items()},
    **{name: (make, {"run": run, "stream_events": stream_events}, tools) for name, (make, tools) in AGENTS.items()},
}
"""Makers of applications, the ways to call each, and the tools that run in each, in order."""
