"""A LlamaIndex LLM as a critic's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury_adapters.core.judgment import Usage
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.clients import plain_int
from jury_adapters.models.prices import cost_of
from jury_adapters.models.wrapped import WrappedModel, model_name


class LlamaIndexModel(WrappedModel):
    """A LlamaIndex ``LLM``: its ``achat`` and our parser; usage is read from the raw answer where it is there."""

    vendor = "llama_index"

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        self.model = model_name(llm)

    async def _ask(self, prompt: Prompt, schema: Schema | None, options: Options) -> Any:
        from llama_index.core.llms import ChatMessage

        messages = [ChatMessage(role="system", content=prompt.system)] if prompt.system else []
        messages += [ChatMessage(role=turn.role, content=turn.text) for turn in prompt.turns]
        return await self._llm.achat(messages)

    def _read(self, answer: Any) -> Reply:
        used = _field(answer.raw, "usage")
        if used is None:  # an unknown cost, and not none
            unknown = Usage(calls=1, cost_complete=False)
            return Reply(answer.message.content or "", usage=unknown, model=self.model)
        counted = Usage(
            input_tokens=plain_int(_field(used, "prompt_tokens") or _field(used, "input_tokens")),
            output_tokens=plain_int(_field(used, "completion_tokens") or _field(used, "output_tokens")),
            calls=1,
        )
        kind = type(self._llm).__name__.lower()
        vendor = next(
            (vendor for vendor in ("openai", "anthropic", "mistral", "gemini") if vendor in kind), self.vendor
        )
        return Reply(answer.message.content or "", usage=cost_of(counted, vendor, self.model), model=self.model)


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
