"""Small LLMs of LlamaIndex on the vendors' SDKs, and LlamaIndex's own where they are installed."""

from importlib.util import find_spec
from typing import Any

from anthropic import AsyncAnthropic
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from openai import AsyncOpenAI
from openai import OpenAIError as SDKError
from pydantic import PrivateAttr


class Small(FunctionCallingLLM):
    """The least that an LLM of LlamaIndex needs; the settings of a call go on to the vendor, as LlamaIndex's do."""

    model: str = "gpt-4o-mini"
    temperature: float = 0.1
    max_tokens: int | None = None
    max_retries: int = 3
    api_key: str = "sk-secret-secret"
    api_base: str = ""
    _aclient: Any = PrivateAttr(default=None)

    @property
    def metadata(self):
        return LLMMetadata(model_name=self.model, is_chat_model=True, is_function_calling_model=True)

    def chat(self, messages, **kwargs):
        raise AssertionError("a critic asks by achat")

    stream_chat = complete = stream_complete = chat

    async def acomplete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("a critic asks by achat")

    astream_chat = astream_complete = acomplete

    def _prepare_chat_with_tools(self, tools, **kwargs):
        raise AssertionError("a critic calls no tools")

    async def trying(self, call):
        """LlamaIndex's own retries, on top of the SDK's."""
        for _ in range(self.max_retries - 1):
            try:
                return await call()
            except SDKError:
                continue
        return await call()


class SmallOpenAI(Small):
    @llm_chat_callback()
    async def achat(self, messages, **kwargs):
        if self._aclient is None:
            self._aclient = AsyncOpenAI(
                api_key=self.api_key, base_url=self.api_base, max_retries=self.max_retries, timeout=20
            )
        settings = {"temperature": self.temperature, "max_tokens": self.max_tokens, **kwargs}
        body = {name: value for name, value in settings.items() if value is not None}
        sent = [{"role": message.role.value, "content": message.content} for message in messages]
        raw = await self.trying(lambda: self._aclient.chat.completions.create(model=self.model, messages=sent, **body))
        return ChatResponse(message=ChatMessage(role="assistant", content=raw.choices[0].message.content), raw=raw)


class SmallAnthropic(Small):
    model: str = "claude-sonnet-4-6"

    def __init__(self, **fields):
        super().__init__(**fields)
        self._aclient = AsyncAnthropic(api_key=self.api_key, base_url=self.api_base, max_retries=self.max_retries)

    @llm_chat_callback()
    async def achat(self, messages, **kwargs):
        system = "".join(message.content for message in messages if message.role == "system")
        sent = [{"role": one.role.value, "content": one.content} for one in messages if one.role != "system"]
        settings = {"max_tokens": self.max_tokens or 512, **kwargs}
        raw = await self._aclient.messages.create(model=self.model, system=system, messages=sent, **settings)
        text = "".join(block.text for block in raw.content)
        return ChatResponse(message=ChatMessage(role="assistant", content=text), raw=dict(raw))


def openai_kinds():
    kinds = [SmallOpenAI]
    if find_spec("llama_index.llms") and find_spec("llama_index.llms.openai"):
        from llama_index.llms.openai import OpenAI

        kinds.append(OpenAI)
    return kinds


def anthropic_makers():
    makers = [lambda server, **fields: SmallAnthropic(api_base=server.anthropic, **fields)]
    if find_spec("llama_index.llms") and find_spec("llama_index.llms.anthropic"):
        from llama_index.llms.anthropic import Anthropic

        makers.append(
            lambda server, **fields: Anthropic(
                **{"model": "claude-sonnet-4-6", "base_url": server.anthropic, "api_key": "k", **fields}
            )
        )
    return makers
