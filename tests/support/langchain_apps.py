"""Small LangChain applications that run offline: chains, a RAG chain over a real vector store, agents with tools."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore

from jury_adapters import Case, Ensemble, Judge
from jury_adapters.core.background.judge_queue import JudgedRun
from jury_adapters.langchain.callbacks import JuryCallbackHandler

PAGES = ("Rayleigh scattering makes the sky blue.", "Ripe bananas are yellow.")


class Scripted(BaseChatModel):
    """Answers by script, according to how many answers the present turn of the conversation already has.

    Attributes:
        script: texts, tool calls as made by :func:`call`, or exceptions to raise; the last one is repeated.
        delay: seconds each answer takes.
        asked: how often it was asked.
    """

    script: list[Any]
    delay: float = 0.0
    asked: int = 0
    model_name: str = "gpt-4o-mini"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return {**super()._get_ls_params(stop, **kwargs), "ls_model_name": self.model_name}

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, Any]:
        return self.bind(tools=[getattr(given, "name", str(given)) for given in tools])

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        time.sleep(self.delay)
        return self._result(messages)

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        await asyncio.sleep(self.delay)
        return self._result(messages)

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Any:
        message = self._result(messages).generations[0].message
        if message.tool_calls or not message.content:
            yield ChatGenerationChunk(message=_as_chunk(message))
            return
        for word in str(message.content).split(" "):
            yield ChatGenerationChunk(message=_as_chunk(AIMessage(word + " ")))

    def _result(self, messages: list[BaseMessage]) -> ChatResult:
        self.asked += 1
        asked = max((place for place, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
        answers = sum(isinstance(message, AIMessage) for message in messages[asked:])
        line = self.script[min(answers, len(self.script) - 1)]
        if isinstance(line, BaseException):
            raise line
        message = line.model_copy() if isinstance(line, AIMessage) else AIMessage(line)
        return ChatResult(generations=[ChatGeneration(message=message)])


def _as_chunk(message: Any) -> Any:
    chunks = [
        {"name": one["name"], "args": json.dumps(one["args"]), "id": one["id"], "index": place}
        for place, one in enumerate(message.tool_calls)
    ]
    return AIMessageChunk(content=message.content, tool_call_chunks=chunks)


def call(name: str, **arguments: Any) -> AIMessage:
    """An answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def chain(answer: Any = "Because of Rayleigh scattering.") -> Runnable[Any, Any]:
    """Prompt, model, parser."""
    return ChatPromptTemplate.from_template("{question}") | Scripted(script=[answer]) | StrOutputParser()


def retriever(pages: tuple[str, ...] = PAGES, k: int = 2) -> Any:
    """A retriever over a real in-memory vector store."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents([Document(page, id=str(place)) for place, page in enumerate(pages)])
    return store.as_retriever(search_kwargs={"k": k})


def rag(answer: Any = "Because of Rayleigh scattering.", found: Any = None) -> Runnable[Any, Any]:
    """A RAG chain."""
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    gathered = {"context": found or retriever(), "question": RunnablePassthrough()}
    return gathered | prompt | Scripted(script=[answer]) | StrOutputParser()


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"80F in {city}"


@tool
def broken(city: str) -> str:
    """Breaks."""
    raise ValueError(f"no such city: {city}")


def agent(*script: Any, tools: Any = (weather,), **options: Any) -> Any:
    """An agent; by default it asks for the weather and then says it."""
    lines = list(script) or [call("weather", city="Oslo"), "It is 80F."]
    return create_agent(Scripted(script=lines), tools=list(tools), **options)


def ask(question: str) -> dict[str, Any]:
    """The input of an agent."""
    return {"messages": [("user", question)]}


def a_jury() -> Judge:
    """A plain-function jury: everything passes that answers."""
    return Ensemble([Judge.from_function(answers, name="answers"), Judge.from_function(is_short, name="short")])


def answers(case: Case) -> bool:
    return bool(case.answer)


def is_short(case: Case) -> bool:
    return len(case.answer or "") < 500


class Watched:
    """A handler and what it judged.

    Attributes:
        handler: the handler.
        runs: every judged run so far.
    """

    def __init__(self, judge: Judge | None = None, kind: Callable[..., Any] = JuryCallbackHandler, **options: Any):
        self.runs: list[JudgedRun] = []
        self.handler = kind(judge or a_jury(), on_verdict=self.runs.append, **options)
        self.config = {"callbacks": [self.handler]}

    def all(self) -> list[JudgedRun]:
        """Everything judged, when nothing is pending or under way any more."""
        assert self.handler.flush(20)
        assert self.handler.counts.open == 0
        assert self.handler._collector.remembered == 0
        return self.runs

    def one(self) -> JudgedRun:
        """The only judged run."""
        (run,) = self.all()
        return run

    def cases(self) -> list[Case]:
        """The cases judged."""
        return [run.case for run in self.all() if run.case is not None]

    def case(self) -> Case:
        """The only case judged."""
        case = self.one().case
        assert case is not None
        return case

    def nothing(self) -> Any:
        """Nothing was judged; the counts say why."""
        assert self.all() == []
        return self.handler.counts
