"""LlamaIndex parts that run offline: an LLM that answers by script, and an index over two documents."""

import json
from collections.abc import Callable
from typing import Any

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer
from pydantic import Field

Script = list[str | Exception] | Callable[[str], str]


class CannedLLM(CustomLLM):
    """Answers line by line, the last one for ever, or what a function makes of the prompt; remembers the prompts."""

    script: Script = Field(default_factory=list)
    prompts: list[str] = Field(default_factory=list)
    context_window: int = 3900

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.context_window, num_output=64, model_name="canned")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.prompts.append(prompt)
        if callable(self.script):
            return CompletionResponse(text=self.script(prompt))
        line = self.script[min(len(self.prompts), len(self.script)) - 1]
        if isinstance(line, Exception):
            raise line
        return CompletionResponse(text=line)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        text = self.complete(prompt).text
        words = text.split(" ")
        for position, word in enumerate(words):
            delta = word if position == len(words) - 1 else f"{word} "
            yield CompletionResponse(text=text, delta=delta)


def canned(*script: str | Exception) -> CannedLLM:
    return CannedLLM(script=list(script))


def said(answer: str, reasoning: str = "because") -> str:
    """A reply that a critic of ours can read."""
    return json.dumps({"reasoning": reasoning, "answer": answer, "confidence": 0.9})


def an_index() -> VectorStoreIndex:
    documents = [Document(text="Revenue grew 12%.", metadata={"year": "2025"}), Document(text="Berlin is a city.")]
    return VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=8))


def three_words() -> MockLLM:
    """A generator whose every answer is "text text text"."""
    return MockLLM(max_tokens=3)


def a_chat(mode: str = "context") -> BaseChatEngine:
    """A chat engine; the default memory of most opens a database connection that nothing closes."""
    memory = ChatMemoryBuffer.from_defaults(token_limit=1000)
    return an_index().as_chat_engine(chat_mode=mode, llm=three_words(), memory=memory)
