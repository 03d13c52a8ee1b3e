"""Scripted models, tools, applications and juries for the tests of the LangChain adapter."""

import asyncio
import re
import warnings
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, TypedDict

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import PrivateAttr
from scripted import PAGE, QUESTION

Script = str | AIMessage | Exception


class ScriptedChat(BaseChatModel):
    """Chat model with prepared replies, in the order in which it is called; the last one again and again.

    It streams words, takes tools, and may reply by a function of the messages.
    """

    script: list[Any] = []  # noqa: RUF012 - pydantic copies it
    reply: Callable[[list[BaseMessage]], Script] | None = None
    model: str = "gpt-4o-mini"
    calls: list[list[BaseMessage]] = []  # noqa: RUF012
    _place: int = PrivateAttr(default=0)
    _lock: Any = PrivateAttr(default_factory=Lock)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:  # type: ignore[override]
        return self

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        with self._lock:
            self.calls.append([*messages])
            said = self.script[min(self._place, len(self.script) - 1)] if self.reply is None else self.reply(messages)
            self._place += 1
        if isinstance(said, Exception):
            raise said
        made = AIMessage(said) if isinstance(said, str) else said.model_copy(update={"id": None})
        made.response_metadata = {"model_name": self.model}
        return made

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: CallbackManagerForLLMRun | None = None, **_: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: CallbackManagerForLLMRun | None = None, **_: Any
    ) -> Iterator[ChatGenerationChunk]:
        said = self._next(messages)
        words = re.findall(r"\S+\s*", said.text) or [""]
        for place, word in enumerate(words):
            last = {"tool_calls": said.tool_calls} if place == len(words) - 1 else {}
            chunk = ChatGenerationChunk(message=AIMessageChunk(word, response_metadata=said.response_metadata, **last))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


def model(*script: Script) -> ScriptedChat:
    return ScriptedChat(script=list(script))


def call(name: str, _id: str = "", **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": _id or f"call-{name}"}])


class Pages(BaseRetriever):
    """Retriever that finds the page, or another text."""

    text: str = PAGE

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(self.text, id="p1")]


@tool
def pages(query: str) -> str:
    """Look up pages."""
    return PAGE


@tool
def remember(text: str) -> str:
    """Keep a note."""
    return f"Saved: {text}"


# Applications: each takes the answer of its last model and returns a Runnable with its input


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: str


PROMPT = ChatPromptTemplate.from_template("{question}\n{context}")
ASKED = {"messages": [("user", QUESTION)]}


def rag(answer: str) -> tuple[Runnable[Any, Any], Any]:
    chain = {"context": Pages(), "question": RunnablePassthrough()} | PROMPT | model(answer) | StrOutputParser()
    return chain, QUESTION


def rag_of_messages(answer: str) -> tuple[Runnable[Any, Any], Any]:
    """A chain that ends with a message, after a retriever in a branch."""
    branches = RunnablePassthrough.assign(context=(lambda given: given["question"]) | Pages())
    return branches | PROMPT | model(answer), {"question": QUESTION}


def graph(answer: str) -> tuple[Runnable[Any, Any], Any]:
    """A graph with a state of its own, whose node retrieves without a Runnable."""
    chat = model(answer)
    made = StateGraph(State)
    made.add_node("find", lambda state: {"context": [Document(PAGE)]})
    made.add_node("write", lambda state: {"answer": chat.invoke(state["question"]).text})
    made.add_edge(START, "find").add_edge("find", "write").add_edge("write", END)
    return made.compile(), {"question": QUESTION}


def graph_of_messages(answer: str) -> tuple[Runnable[Any, Any], Any]:
    chat, found = model(answer), Pages()

    def write(state: MessagesState) -> Any:
        found.invoke(state["messages"][-1].text)
        return {"messages": [chat.invoke(state["messages"])]}

    made = StateGraph(MessagesState)
    made.add_node("write", write)
    made.add_edge(START, "write").add_edge("write", END)
    return made.compile(), ASKED


def agent(answer: str, **options: Any) -> tuple[Runnable[Any, Any], Any]:
    return create_agent(model(call("pages", query="ferry"), answer), [pages, remember], **options), ASKED


def agent_that_notes(answer: str) -> tuple[Runnable[Any, Any], Any]:
    """An agent that writes its own answer into a note before it gives it."""
    script = (call("pages", query="ferry"), call("remember", text=answer or "nothing"), answer)
    return create_agent(model(*script), [pages, remember]), ASKED


def agent_in_chain(answer: str) -> tuple[Runnable[Any, Any], Any]:
    """A chain whose first step calls an agent, without a config."""
    inner, _ = agent(answer)
    first: Runnable[Any, Any] = RunnableLambda(lambda question: inner.invoke({"messages": [("user", question)]}))
    return first | (lambda state: state["messages"][-1].text), QUESTION


def agent_in_tool(answer: str) -> tuple[Runnable[Any, Any], Any]:
    """An agent that asks another one by a tool; the inner one says the answer first."""

    @tool
    def research(topic: str) -> str:
        """Ask the researcher."""
        return agent(answer)[0].invoke({"messages": [("user", topic)]})["messages"][-1].text

    return create_agent(model(call("research", topic="ferry"), answer), [research]), ASKED


def supervisor(answer: str) -> tuple[Runnable[Any, Any], Any]:
    """A supervisor to whom only the last message of its agent comes back."""
    from langgraph_supervisor import create_supervisor

    reader = create_agent(model(call("pages", query="ferry"), answer), [pages], name="reader")
    with warnings.catch_warnings():  # it still uses LangGraph's older maker of agents
        warnings.simplefilter("ignore", DeprecationWarning)
        made = create_supervisor([reader], model=model(call("transfer_to_reader"), answer))
    return made.compile(), ASKED


def tool_chain(answer: str) -> tuple[Runnable[Any, Any], Any]:
    """A chain that calls its tool without a model."""
    chain: Runnable[Any, Any] = RunnablePassthrough.assign(
        found=lambda given: pages.invoke({"query": given["question"]})
    )
    return chain | RunnableLambda(lambda given: answer), {"question": QUESTION}


APPS: dict[str, tuple[Callable[[str], tuple[Runnable[Any, Any], Any]], list[str]]] = {
    "rag": (rag, []),
    "rag of messages": (rag_of_messages, []),
    "graph": (graph, []),
    "graph of messages": (graph_of_messages, []),
    "agent": (agent, ["pages"]),
    "agent that notes": (agent_that_notes, ["pages", "remember"]),
    "agent in chain": (agent_in_chain, ["pages"]),
    "agent in tool": (agent_in_tool, ["pages", "research"]),
    "supervisor": (supervisor, ["transfer_to_reader", "pages", "transfer_back_to_supervisor"]),
    "tool chain": (tool_chain, ["pages"]),
}
"""Makers of applications, with the tools that run in each, in order."""


def invoke(app: Runnable[Any, Any], given: Any, config: Any) -> None:
    app.invoke(given, config)


def stream(app: Runnable[Any, Any], given: Any, config: Any) -> None:
    for _ in app.stream(given, config):
        pass


def batch(app: Runnable[Any, Any], given: Any, config: Any) -> None:
    app.batch([given], config)


def ainvoke(app: Runnable[Any, Any], given: Any, config: Any) -> None:
    asyncio.run(app.ainvoke(given, config))


def astream(app: Runnable[Any, Any], given: Any, config: Any) -> None:
    async def read() -> None:
        async for _ in app.astream(given, config):
            pass

    asyncio.run(read())


def abatch(app: Runnable[Any, Any], given: Any, config: Any) -> None:
    asyncio.run(app.abatch([given], config))


def astream_events(app: Runnable[Any, Any], given: Any, config: Any) -> None:
    async def read() -> None:
        async for _ in app.astream_events(given, config, version="v2"):
            pass

    asyncio.run(read())


WAYS: dict[str, Callable[[Runnable[Any, Any], Any, Any], None]] = {
    one.__name__: one for one in (invoke, stream, batch, ainvoke, astream, abatch, astream_events)
}


SHAPES = {
    "fields": lambda answer: {"inputs": {"question": QUESTION}, "outputs": {"answer": answer, "context": [PAGE]}},
    "texts": lambda answer: {"inputs": QUESTION, "outputs": answer, "context": PAGE},
    "documents": lambda answer: {"inputs": QUESTION, "outputs": answer, "context": [Document(PAGE)]},
    "output of LangSmith": lambda answer: {
        "inputs": {"input": QUESTION},
        "outputs": {"output": answer},
        "context": [PAGE],
    },
    "messages": lambda answer: {
        "inputs": ASKED,
        "outputs": [
            HumanMessage(QUESTION),
            call("pages", "a", query="x"),
            ToolMessage(PAGE, tool_call_id="a", name="pages"),
            AIMessage(answer),
        ],
    },
    "messages of OpenAI": lambda answer: {
        "inputs": {"messages": [{"role": "user", "content": QUESTION}]},
        "outputs": {"messages": [{"role": "assistant", "content": answer}]},
        "context": [PAGE],
    },
}
"""Makers of the rows that an evaluator is called with, from an answer."""
