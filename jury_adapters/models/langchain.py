"""A LangChain chat model as a critic's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury_adapters.core.judgment import Usage
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.clients import plain_int
from jury_adapters.models.prices import cost_of
from jury_adapters.models.wrapped import WrappedModel, finish_of, model_name


class LangChainModel(WrappedModel):
    """A LangChain ``BaseChatModel``, also one wrapped by ``with_retry``, ``with_fallbacks`` or ``configurable_fields``.

    It is called without the callbacks of the run around it, so the critic's tokens do not show up in a user's stream.
    """

    vendor = "langchain"

    def __init__(self, chat_model: Any) -> None:
        self._chat_model = chat_model
        self.model = model_name(chat_model)

    async def _ask(self, prompt: Prompt, schema: Schema | None, options: Options) -> Any:
        messages = [("system", prompt.system)] if prompt.system else []
        messages += [("human" if turn.role == "user" else "ai", turn.text) for turn in prompt.turns]
        settings = {"callbacks": [], "tags": ["jury_adapters:critic"], "run_name": "jury_adapters critic"}
        return await self._chat_model.ainvoke(messages, config=settings)

    def _read(self, message: Any) -> Reply:
        details = getattr(message, "response_metadata", None) or {}
        stopped = str(details.get("finish_reason") or details.get("stop_reason") or "stop")
        used = getattr(message, "usage_metadata", None)
        return Reply(
            text=_message_text(message),
            usage=self._usage(used) if used else Usage(calls=1, cost_complete=False),
            model=str(details.get("model_name") or details.get("model") or self.model),
            finish=finish_of(stopped),
            detail=stopped,
            request_id=getattr(message, "id", None),
        )

    def _usage(self, used: Mapping[str, Any]) -> Usage:
        inputs, outputs = used.get("input_token_details") or {}, used.get("output_token_details") or {}
        counted = Usage(
            input_tokens=plain_int(used.get("input_tokens")),
            output_tokens=plain_int(used.get("output_tokens")),
            cached_tokens=plain_int(inputs.get("cache_read")),
            reasoning_tokens=plain_int(outputs.get("reasoning")),
            calls=1,
        )
        kind = str(getattr(self._chat_model, "_llm_type", ""))
        return cost_of(counted, "anthropic" if "anthropic" in kind else kind.partition("-")[0], self.model)


def _message_text(message: object) -> str:
    content = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping)]
    return "".join(text for text in texts if isinstance(text, str))
