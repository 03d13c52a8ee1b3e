"""Small real LlamaIndex applications for tests: an index, engines over it, models that answer by script."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import (
    LLM,
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer

from jury_adapters import Case, Judge
from jury_adapters.core.background.judge_queue import JudgedRun

ANSWER = "Paris is the capital."
PASSAGE = "year: 2025\n\nParis is the capital of France."


class Model(CustomLLM):
    """Answers every prompt with one text, word by word when streamed; asynchronous throughout."""

    answer: str = ANSWER
    delay: float = 0.0
    name: str = "test-model"
    error: str = ""
    break_after: int = 1000  # words of a stream before it breaks
    is_chat_model: bool = True

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self.name, is_chat_model=self.is_chat_model)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        time.sleep(self.delay)
        return self._said()

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        await asyncio.sleep(self.delay)
        return self._said()

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        return self._words()

    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        async def words() -> CompletionResponseAsyncGen:
            for word in self._words():
                yield word

        return words()

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        await asyncio.sleep(self.delay)  # the default would run the synchronous method on the loop
        return ChatResponse(message=ChatMessage(role="assistant", content=self._said().text))

    def _said(self) -> CompletionResponse:
        if self.error:
            raise ConnectionError(self.error)
        return CompletionResponse(text=self.answer)

    def _words(self) -> CompletionResponseGen:
        text = ""
        for position, word in enumerate(self.answer.split(" ")):
            if position >= self.break_after:
                raise ConnectionError("the line went dead")
            delta = word if position == 0 else f" {word}"
            text += delta
            yield CompletionResponse(text=text, delta=delta)


class First(BaseSelector):
    """A router's selector that takes the first engine."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        assert not prompts, "it has none to change"

    def _select(self, choices: Any, query: Any) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=0, reason="the first")])

    async def _aselect(self, choices: Any, query: Any) -> SelectorResult:
        return self._select(choices, query)


def an_index() -> VectorStoreIndex:
    document = Document(text="Paris is the capital of France.", metadata={"year": 2025})
    return VectorStoreIndex.from_documents([document], embed_model=MockEmbedding(embed_dim=8))


def a_chat(index: VectorStoreIndex, mode: str, llm: LLM | None = None) -> BaseChatEngine:
    """A chat engine with a plain memory; the default one leaves a database connection open."""
    llm = llm or Model()
    return index.as_chat_engine(chat_mode=mode, llm=llm, memory=ChatMemoryBuffer.from_defaults(llm=llm))


class Verdicts(list[JudgedRun]):
    """A sink that keeps what it gets."""

    def __call__(self, judged: JudgedRun) -> None:
        self.append(judged)

    @property
    def case(self) -> Case:
        """The one case judged."""
        (judged,) = self
        assert judged.case is not None
        return judged.case


def says_paris() -> Judge:
    return Judge.from_function(lambda case: "Paris" in (case.answer or ""), name="paris")
