"""LlamaIndex LLMs as models of critics."""

from collections.abc import Callable
from dataclasses import replace
from inspect import unwrap
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ImageBlock, TextBlock
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM, CustomLLM
from llama_index_instrumentation.dispatcher import instrument_tags
from pydantic_core import to_jsonable_python

from jury_adapters.core.loop import in_thread
from jury_adapters.models.base import Prompt, Reply, Schema, Turn
from jury_adapters.models.errors import finish_of
from jury_adapters.models.objects import ObjectModel, clients_in
from jury_adapters.models.prices import usage_of
from jury_adapters.models.protocols import ANTHROPIC, OPENAI, encoded

# The argument with which a class passes a schema to its vendor, by a word in the class's name.
_FORMATS: dict[str, Callable[[Schema], dict[str, Any]]] = {
    "openai": lambda schema: {"response_format": OPENAI.format_of(schema)},
    "anthropic": lambda schema: {"output_config": ANTHROPIC.format_of(schema)},
    "ollama": lambda schema: {"format": schema},
}
_NO_SETTING = ("key", "token", "secret", "password", "callback")


class LlamaIndexModel(ObjectModel):
    """LlamaIndex LLM.

    It is called by ``achat``, which keeps the text and the usage; an LLM that has only synchronous methods runs in a
    thread. The schema is an argument of the call for the classes of OpenAI, Anthropic and Ollama. The callback manager
    of the application does not hear of the call. LlamaIndex's instrumentation is one for the whole process: its
    handlers see the call, as a run of its own with the tag ``jury_adapters``.

    Args:
        llm: the LLM, which is not changed.

    >>> from llama_index.core.llms import MockLLM
    >>> LlamaIndexModel(MockLLM()).name
    'llama_index:MockLLM'
    """

    def __init__(self, llm: LLM) -> None:
        settings = {name: one for name, one in llm.to_dict().items() if not any(word in name for word in _NO_SETTING)}
        packages = type(llm).__module__.split(".")
        vendor = packages[2] if packages[:2] == ["llama_index", "llms"] else "llama_index"
        named = getattr(llm, "model", None) or llm.metadata.model_name
        super().__init__(llm, vendor, type(llm).__name__ if named in (None, "unknown") else named, settings)
        kinds = " ".join(kind.__name__.lower() for kind in type(llm).__mro__)
        self._format = next((_FORMATS[word] for word in _FORMATS if word in kinds), None)
        # Inherited from CustomLLM, achat() blocks the event loop. LlamaIndex wraps it again in each class.
        self._blocks = isinstance(llm, CustomLLM) and unwrap(type(llm).achat) is unwrap(CustomLLM.achat)

    async def _prepare(self) -> LLM:
        """Return a copy of the LLM without callbacks, and with connections of the running loop.

        It is always a copy, because LlamaIndex's packages keep in the LLM the client that the first call makes.
        """
        llm: LLM = self._given.model_copy(update={"callback_manager": CallbackManager([])})
        for name, client in (await clients_in(llm.__pydantic_private__ or {})).items():
            setattr(llm, name, client)
        return llm

    async def _ask(self, ready: LLM, prompt: Prompt, schema: Schema | None) -> Reply:
        arguments = self._format(schema) if schema is not None and self._format is not None else {}
        messages = [ChatMessage(role="system", content=prompt.system)] if prompt.system else []
        messages += [ChatMessage(role=turn.role, content=_content(turn)) for turn in prompt.turns]
        with instrument_tags({"jury_adapters": "judge"}):
            if self._blocks:
                return self._read(await in_thread(ready.chat, messages))
            return self._read(await ready.achat(messages, **arguments))

    def _read(self, answer: ChatResponse) -> Reply:
        found = to_jsonable_python(answer.raw, fallback=str)  # an object of an SDK, or a mapping with such objects
        raw: Any = found if isinstance(found, dict) else {}
        reply = OPENAI.read(raw, self.name) or ANTHROPIC.read(raw, self.name)
        if reply is None:
            used = raw["usage"] if isinstance(raw.get("usage"), dict) else answer.additional_kwargs
            usage = usage_of(self.name, used.get("prompt_tokens"), used.get("completion_tokens"))
            reply = Reply("", usage, self.model, finish_of(raw.get("done_reason") or raw.get("finish_reason")))
        return replace(reply, text=answer.message.content or "")


def _content(turn: Turn) -> Any:
    blocks = [
        ImageBlock(url=one.url) if one.url else ImageBlock(image=encoded(one).encode(), image_mimetype=one.media_type)
        for one in turn.images
    ]
    return [*blocks, TextBlock(text=turn.text)] if blocks else turn.text
