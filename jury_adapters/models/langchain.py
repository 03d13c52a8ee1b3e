"""LangChain chat models as models of critics."""

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langsmith import tracing_context

from jury_adapters.models.base import Finish, Prompt, Reply, Schema, Turn
from jury_adapters.models.errors import bad_reply, finish_of
from jury_adapters.models.objects import ObjectModel, clients_in
from jury_adapters.models.prices import usage_of
from jury_adapters.models.protocols import encoded, text_of, tokens_of

# Exceptions for a reply that was paid for: of OpenAI's SDK, which parses it, and of langchain-core.
_ENDINGS: dict[str, Finish] = {
    "LengthFinishReasonError": "length",
    "ContentFilterFinishReasonError": "filter",
    "ModelRefusalError": "refusal",
    "OpenAIRefusalError": "refusal",
}


class LangChainModel(ObjectModel):
    """LangChain chat model.

    It is called outside the application's run: in none of its traces, callbacks, streams and caches. The schema is
    passed by ``with_structured_output``, where the model has it. A model of OpenAI's or Anthropic's package may be
    asked in several event loops.

    Args:
        chat_model: the chat model, which is not changed.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> LangChainModel(FakeListChatModel(responses=["yes"])).name
    'fakelistchatmodel:FakeListChatModel'
    """

    def __init__(self, chat_model: BaseChatModel) -> None:
        known: Mapping[str, Any] = chat_model._get_ls_params()
        client = getattr(chat_model, "_async_client", None)  # ChatAnthropic makes it when it is first used
        settings = type(chat_model).__qualname__, chat_model._get_llm_string(), str(getattr(client, "base_url", ""))
        model = known.get("ls_model_name", type(chat_model).__name__)
        super().__init__(chat_model, known.get("ls_provider", "langchain"), model, settings)

    async def _prepare(self) -> dict[str, Any]:
        """Return a copy of the model by schemas, without callbacks and caches, and with connections of this loop.

        It is always a copy, because packages keep in the model the client that the first call makes.
        """
        model: BaseChatModel = self._given.model_copy(update={"callbacks": None, "cache": False})
        if not getattr(model, "http_async_client", None):
            model.__dict__.update(await clients_in(vars(model)))
        return {"": model}

    async def _ask(self, ready: dict[str, Any], prompt: Prompt, schema: Schema | None) -> Reply:
        form = "" if schema is None else json.dumps(schema, sort_keys=True)
        if form not in ready:  # binding a schema takes longer than a call
            ready[form] = _with_schema(ready[""], json.loads(form))
        try:
            with tracing_context(enabled=False):
                answer = await ready[form].ainvoke(_messages(prompt))
        except Exception as error:
            finish = _ENDINGS.get(type(error).__name__)
            if finish is None:
                raise
            paid = getattr(getattr(error, "completion", None), "usage", None)
            counts = [getattr(paid, name, None) for name in ("prompt_tokens", "completion_tokens")]
            return Reply("", usage_of(self.name, *counts), self.model, finish, str(error)[:500])
        message = answer["raw"] if isinstance(answer, dict) else answer
        if not isinstance(message, BaseMessage):
            raise bad_reply(f"the model returned {type(message).__name__}, not a message")
        return self._read(message)

    def _read(self, message: BaseMessage) -> Reply:
        details, used = message.response_metadata, getattr(message, "usage_metadata", None) or {}
        reason = details.get("finish_reason") or details.get("stop_reason") or details.get("done_reason")
        refusal = message.additional_kwargs.get("refusal") or _refusal_in(message.content)
        finish: Finish = "refusal" if refusal else finish_of(reason)
        return Reply(
            _text(message),
            usage_of(self.name, used.get("input_tokens"), used.get("output_tokens")),
            str(details.get("model_name") or details.get("model") or self.model),
            finish,
            "" if finish == "stop" else str(refusal or reason),
            tokens_of(details.get("logprobs")),
        )


def _with_schema(model: BaseChatModel, schema: Schema) -> Any:
    """Return a model whose answers follow a schema, or the model itself if it cannot do that."""
    named = {"title": "judgment", "description": "The judgment.", **schema}  # some packages require both
    for options in ({"strict": True}, {}):
        try:
            return model.with_structured_output(named, include_raw=True, **options)
        except Exception:  # packages raise various exceptions for what they do not support
            continue
    return model


def _messages(prompt: Prompt) -> list[BaseMessage]:
    system: list[BaseMessage] = [SystemMessage(prompt.system)] if prompt.system else []
    return system + [HumanMessage(_content(one)) if one.role == "user" else AIMessage(one.text) for one in prompt.turns]


def _content(turn: Turn) -> Any:
    images = [
        {"type": "image", "url": one.url}
        if one.url
        else {"type": "image", "base64": encoded(one), "mime_type": one.media_type}
        for one in turn.images
    ]
    return [*images, {"type": "text", "text": turn.text}] if images else turn.text


def _text(message: BaseMessage) -> str:
    """Return the text of a message, or the arguments of its call: some packages pass a schema as a tool."""
    for call in (*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())):
        return call["args"] if isinstance(call["args"], str) else json.dumps(call["args"])
    return text_of(message.content)


def _refusal_in(content: object) -> object:
    blocks = [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    return next((one.get("refusal") or "refused" for one in blocks if one.get("type") == "refusal"), None)
