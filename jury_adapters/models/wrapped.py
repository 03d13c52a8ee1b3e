"""Models that are already there: a LangChain chat model, a LlamaIndex LLM, or any function."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jury_adapters.core.errors import ConfigurationError, ModelError
from jury_adapters.core.judgment import Usage
from jury_adapters.models.base import Finish, Options, Prompt, Reply, Schema
from jury_adapters.models.clients import Key, as_model_error, plain_int
from jury_adapters.models.prices import cost_of

# No key of ours is in play, but one in the environment of the wrapped model must not reach an error text either.
_NO_KEY = Key(None, None, "")
_CUT_OFF = frozenset({"length", "max_tokens"})


class FunctionModel:
    """Any ``async (prompt) -> str`` as a model; the prompt arrives as one text, the system prompt first.

    Args:
        function: answers a text with a text. May also take a :class:`Prompt` and return a :class:`Reply`: say so with
            ``structured=True``.
        name: how the model is called in verdicts.
        structured: whether the function takes a Prompt and returns a Reply.
    """

    vendor = "function"

    def __init__(self, function: Callable[[Any], Awaitable[Any]], *, name: str = "", structured: bool = False) -> None:
        if not callable(function):
            raise ConfigurationError(f"a model is a name, a model object or an async function, not {function!r}")
        self.model = name or getattr(function, "__name__", type(function).__name__)
        self._function = function
        self._structured = structured

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        try:
            answer = await self._function(prompt if self._structured else as_text(prompt))
        except (ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            failure = as_model_error(error, _NO_KEY, self.name)
        else:
            return self._read(answer)
        raise failure

    def _read(self, answer: object) -> Reply:
        if isinstance(answer, Reply):
            return answer
        if not isinstance(answer, str):
            raise ModelError(f"{self.name} returned {type(answer).__name__}, not text", "malformed")
        return Reply(answer, usage=Usage(calls=1, cost_complete=False), model=self.model)


class LangChainModel:
    """A LangChain ``BaseChatModel``, also one wrapped by ``with_retry``, ``with_fallbacks`` or ``configurable_fields``.

    It is called without the callbacks of the run around it, so the critic's tokens do not show up in a user's stream.
    """

    vendor = "langchain"

    def __init__(self, chat_model: Any) -> None:
        self._chat_model = chat_model
        self.model = _model_name(chat_model)

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        messages = [("system", prompt.system)] if prompt.system else []
        messages += [("human" if turn.role == "user" else "ai", turn.text) for turn in prompt.turns]
        settings = {"callbacks": [], "tags": ["jury_adapters:critic"], "run_name": "jury_adapters critic"}
        try:
            message = await self._chat_model.ainvoke(messages, config=settings)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            failure = as_model_error(error, _NO_KEY, self.name)
        else:
            return self._read(message)
        raise failure

    def _read(self, message: Any) -> Reply:
        details = getattr(message, "response_metadata", None) or {}
        stopped = str(details.get("finish_reason") or details.get("stop_reason") or "stop")
        used = getattr(message, "usage_metadata", None)
        return Reply(
            text=_message_text(message),
            usage=self._usage(used) if used else Usage(calls=1, cost_complete=False),
            model=str(details.get("model_name") or details.get("model") or self.model),
            finish=_finish(stopped),
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


class LlamaIndexModel:
    """A LlamaIndex ``LLM``: its ``achat`` and our parser; usage is read from the raw answer where it is there."""

    vendor = "llama_index"

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        self.model = _model_name(llm)

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        from llama_index.core.llms import ChatMessage

        messages = [ChatMessage(role="system", content=prompt.system)] if prompt.system else []
        messages += [ChatMessage(role=turn.role, content=turn.text) for turn in prompt.turns]
        try:
            answer = await self._llm.achat(messages)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            failure = as_model_error(error, _NO_KEY, self.name)
        else:
            return self._read(answer)
        raise failure

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


def as_text(prompt: Prompt) -> str:
    """A prompt as one text, for models that take no more than that."""
    if len(prompt.turns) == 1:
        return f"{prompt.system}\n\n{prompt.turns[0].text}" if prompt.system else prompt.turns[0].text
    turns = "\n\n".join(f"{turn.role.upper()}:\n{turn.text}" for turn in prompt.turns)
    return f"{prompt.system}\n\n{turns}" if prompt.system else turns


def _model_name(model: object) -> str:
    """The name of the model inside: wrappers such as RunnableRetry keep it in ``bound`` or ``runnable``."""
    for attribute in ("model_name", "model", "model_id"):
        found = getattr(model, attribute, None)
        if isinstance(found, str) and found:
            return found
    for attribute in ("bound", "runnable", "default"):
        inner = getattr(model, attribute, None)
        if inner is not None and inner is not model:
            return _model_name(inner)
    return type(model).__name__


def _message_text(message: object) -> str:
    content = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _finish(reason: str) -> Finish:
    if reason in _CUT_OFF:
        return "length"
    if reason in ("refusal", "content_filter"):
        return "refusal" if reason == "refusal" else "filter"
    return "stop"


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
