"""LangChain chat models as models of critics."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from jury_adapters.core.context import judging, run_context
from jury_adapters.core.errors import ModelError, ModelErrorKind
from jury_adapters.core.message_texts import text_in
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.models.base import Finish, Options, Prompt, Reply, Schema
from jury_adapters.models.credentials import noting_sent
from jury_adapters.models.image_refusals import learned_of_images, refuse_images
from jury_adapters.models.object_identity import ObjectIdentity, secrets_of_object
from jury_adapters.models.openai import tokens_of
from jury_adapters.models.prices import cost_of, price_of
from jury_adapters.models.raw_answers import count_tokens, read_answer
from jury_adapters.models.reply_parts import finish_of
from jury_adapters.models.request_templates import DirectAnswer, RequestTemplate, Templates
from jury_adapters.models.retries import ObjectId
from jury_adapters.models.token_counts import UNKNOWN_USAGE, counted, token_count
from jury_adapters.models.unsupported_parameters import Body, Capabilities, adapting
from jury_adapters.models.wrapped import WrappedModel, model_name, models_inside, vendor_inside
from jury_adapters.vendors import VENDOR_NAMES

if TYPE_CHECKING:
    from jury_adapters.models.langchain_binding import Ask, Model

_Ready: TypeAlias = "dict[tuple[object, ...], tuple[Schema | None, Ask]]"


class LangChainModel(WrappedModel):
    """LangChain chat model: any ``BaseChatModel``, or any runnable from messages to a message.

    It may be wrapped by ``with_retry``, ``with_fallbacks``, ``bind`` or ``configurable_fields``, or made by
    ``init_chat_model``. A critic wraps a model itself; wrap one explicitly to set the options.

    - The answer follows the rubric's schema if the model supports that (``with_structured_output``), else it is plain
      text. Our own parser reads both. Features that the model turns out to lack are remembered.
    - ``temperature`` and ``max_tokens`` of the critic are used if the model has such a setting and the user has not set
      it. Settings on the model take precedence.
    - The model's own ``max_retries`` is 0 in the copy that is asked, because our limits retry already. A
      ``with_retry`` stays as it is.
    - The prices are those of the vendor behind the model, so that a budget in dollars works.
    - Images are LangChain's standard blocks, and the object is called. An address is passed on as it is; the package of
      the object decides whether the vendor fetches it.
    - The package itself sends the requests of a ``ChatOpenAI`` or ``ChatAnthropic`` that only turns its settings into a
      request; :mod:`.langchain_direct` has the conditions. The request is the one that the object would send, with the
      object's address, key, headers and time limit, which applies to the whole request. Any other object is called,
      for example one of a derived class, or with an HTTP client, a rate limiter or a callable key of its own.

    Args:
        chat_model: the LangChain object; it is not changed.
        traced: whether the calls are runs of the application that contains them: with its callbacks, the model's own,
            and in its traces. By default they are not, so that no judge's prompt gets into a trace, and no judge's
            tokens into a user's stream. With ``traced``, the object is called for every judgment.
        cached: whether LangChain's caches may answer. By default they may not: five samples are five calls.

    >>> from langchain_openai import ChatOpenAI  # doctest: +SKIP
    >>> Critic(LangChainModel(ChatOpenAI(model="gpt-4o-mini"), traced=True), ...)  # doctest: +SKIP
    """

    vendor = "langchain"
    takes_images = True

    def __init__(self, chat_model: Any, *, traced: bool = False, cached: bool = False) -> None:
        self._chat_model = chat_model
        self._traced = traced
        self._cached = cached
        self._capabilities = Capabilities(formats=["json_schema", "none"])
        self._ready: WeakKeyDictionary[asyncio.AbstractEventLoop, _Ready] = WeakKeyDictionary()
        self._templates = Templates()
        self._hide(_secrets_of(chat_model))
        self.model, self._price_vendor = _who_is(chat_model)
        inside = _identity_of(chat_model)
        self.address, self.answer_settings, self.has_identity = inside.address, inside.settings, inside.known

    @property
    def price_vendor(self) -> str:
        return self._price_vendor

    @property
    def identity(self) -> tuple[object, ...]:
        """Identity of the object itself. Critics that ask the same object share its limits."""
        return (self.vendor, ObjectId.of(self._chat_model))

    def own_setting(self, name: str) -> float | None:
        found = (getattr(inside, name, None) for inside in models_inside(self._chat_model))
        return next((value for value in found if isinstance(value, int | float)), None)

    async def _ask(self, prompt: Prompt, schema: Schema | None, options: Options) -> Any:
        if not prompt.images:
            return await self._answer(prompt, schema, options)
        refuse_images(self._capabilities, prompt, self.name)
        try:
            return await self._answer(prompt, schema, options)
        except ModelError as error:
            failure = error
        raise learned_of_images(failure, self._capabilities, prompt, self.name)

    async def _answer(self, prompt: Prompt, schema: Schema | None, options: Options) -> Any:
        known = self._capabilities
        return await adapting(
            known,
            lambda: _body(schema, options, known.format),
            lambda sent: self._post(prompt, sent, schema),
        )

    async def _post(self, prompt: Prompt, body: Body, schema: Schema | None) -> Any:
        try:
            called = self._heard or self._cached or prompt.images
            template = None if called else await self._template(prompt, body, schema)
            if template is not None:
                self.key = template.key
                return await template.post(prompt, self.name)
            return await self._call(prompt, body, schema)
        except asyncio.CancelledError:
            raise
        except ModelError as error:
            failure = error
        except Exception as error:
            cut_off = _reply_in(error)
            if cut_off is not None:
                return cut_off
            failure = self._failure(error)
        if failure.kind == "authentication":
            self._templates.forget()  # because the object's key may have been replaced
        if "response_format" in body and failure.kind == "refused_request" and "tool" in str(failure).lower():
            failure.parameter = "response_format"  # without another way, a model is given its schema through tools
        raise failure

    async def _template(self, prompt: Prompt, body: Body, schema: Schema | None) -> RequestTemplate | None:
        """Return the request that the object would send; None if the object has to be called."""

        async def record() -> RequestTemplate | None:
            from jury_adapters.models.langchain_direct import record_langchain

            with judging():
                return await record_langchain(self._chat_model, await self._bind(body, schema), prompt)

        return await self._templates.get(prompt, schema, tuple(body.items()), record)

    async def _call(self, prompt: Prompt, body: Body, schema: Schema | None) -> Any:
        from jury_adapters.models.langchain_binding import messages_of, unheard

        ask = await self._bound(body, schema)
        with judging(), noting_sent(self.key.also_hide_sent):
            if self._heard:
                return await ask(messages_of(prompt))
            with unheard():
                return await ask(messages_of(prompt))

    @property
    def _heard(self) -> bool:
        """Whether the calls are runs of the application that contains them."""
        return self._traced or run_context().traced

    async def _bound(self, body: Body, schema: Schema | None) -> Ask:
        """Return the model with these settings, made once per loop: binding a schema takes longer than a call."""
        from jury_adapters.models.langchain_binding import asker, global_cache

        if "response_format" not in body:
            schema = None
        key = (id(schema), *body.items(), not self._cached and global_cache(), self._heard)
        ready = self._ready.setdefault(asyncio.get_running_loop(), {})
        found = ready.get(key)
        if found is None:
            if len(ready) >= _MOST_BOUND:
                ready.clear()
            # The schema is kept too, so that its id is not reused.
            found = ready[key] = (schema, asker(await self._bind(body, schema), heard=self._heard))
        return found[1]

    async def _bind(self, body: Body, schema: Schema | None) -> Model:
        from jury_adapters.models.langchain_binding import Binding

        binding = Binding(
            body.get("temperature"), body.get("max_tokens"), "logprobs" in body,  # type: ignore[arg-type]
            schema if "response_format" in body else None, cached=self._cached, heard=self._heard,
        )  # fmt: skip
        return await binding.bind(self._chat_model)

    def _read(self, answer: Any) -> Reply:
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, DirectAnswer):
            called = answer.raw.get("model")
            return read_answer(answer.raw, answer.text, {}, self.model, lambda used: self._cost_of(used, called))
        if isinstance(answer, Mapping) and "raw" in answer:
            answer = answer["raw"]
        if not isinstance(answer, str) and getattr(answer, "content", None) is None:
            raise ModelError(f"{self.name} returned {type(answer).__name__}, not a message", "malformed")
        details: Mapping[str, Any] = getattr(answer, "response_metadata", None) or {}
        refusal = _refusal(answer)
        stopped = _why_it_stopped(details)
        called = details.get("model_name") or details.get("model")
        logprobs = details.get("logprobs")
        own_id = details.get("id")
        return Reply(
            text=_text(answer),
            usage=self._usage(getattr(answer, "usage_metadata", None), details, called),
            model=called if isinstance(called, str) else self.model,
            finish="refusal" if refusal is not None else finish_of(stopped),
            detail=refusal or stopped,
            logprobs=tokens_of(logprobs),
            request_id=own_id if isinstance(own_id, str) else None,
        )

    def _usage(self, used: Mapping[str, Any] | None, details: Mapping[str, Any], called: object) -> Usage:
        if not used:
            return UNKNOWN_USAGE
        if used.get("total_cost") == 0:  # from a cache: the tokens were paid for with the first request
            return NO_USAGE
        found = counted(lambda: _counts(used))
        if found is UNKNOWN_USAGE:
            return found
        # A fallback may have answered. The answer names it, and its own price applies.
        vendor = VENDOR_NAMES.get(str(details.get("model_provider")), self._price_vendor)
        return self._priced(found, vendor, called)

    def _cost_of(self, used: object, called: object) -> Usage:
        """Return the usage of an answer to a request sent by this package."""
        found = counted(lambda: count_tokens(used)) if used else UNKNOWN_USAGE
        return found if found is UNKNOWN_USAGE else self._priced(found, self._price_vendor, called)

    def _priced(self, used: Usage, vendor: str, called: object) -> Usage:
        answered = called if isinstance(called, str) and price_of(vendor, called) is not None else self.model
        return cost_of(used, vendor, answered)

    def _failure(self, error: Exception) -> ModelError:
        return as_langchain_error(error, super()._failure(error))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickled, (self._chat_model, self._traced, self._cached))


def _unpickled(chat_model: Any, traced: bool, cached: bool) -> LangChainModel:
    return LangChainModel(chat_model, traced=traced, cached=cached)


def as_langchain_error(error: Exception, failure: ModelError) -> ModelError:
    """Return the failure with the kind of LangChain's own error class, if there is no HTTP status."""
    if failure.status is not None:
        return failure
    kinds = (_KINDS.get(kind.__name__) for kind in type(error).__mro__)
    kind = next((found for found in kinds if found is not None), None)
    if kind is not None:
        failure.kind = kind
        failure.status = 400 if kind == "refused_request" else None
    elif getattr(error, "is_retryable", False) is True and not failure.transient:
        failure.kind = "server"
    return failure


def _who_is(chat_model: object) -> tuple[str, str]:
    """Return the name of the model inside, and the vendor whose prices apply."""
    from jury_adapters.models.langchain_binding import chat_models_in

    inner = next(iter(chat_models_in(chat_model)), chat_model)
    return model_name(inner), vendor_inside(inner) or LangChainModel.vendor


def _secrets_of(chat_model: object) -> list[str]:
    from jury_adapters.models.langchain_binding import chat_models_in

    return [secret for one in chat_models_in(chat_model) for secret in secrets_of_object(one)]


def _identity_of(chat_model: object) -> ObjectIdentity:
    from jury_adapters.models.langchain_binding import identity_in

    return identity_in(chat_model)


def _body(schema: Schema | None, options: Options, json_format: str) -> Body:
    """Return the settings of a request other than the messages, under the names that vendors use in refusals."""
    body: Body = {}
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.max_tokens is not None:
        body["max_tokens"] = options.max_tokens
    if options.logprobs:
        body["logprobs"] = True
    if schema is not None and json_format == "json_schema":
        body["response_format"] = True
    return body


def _text(answer: Any) -> str:
    """Return the answer as text. For a call of the answer's own tool, this is the JSON of its arguments."""
    if isinstance(answer, str):
        return answer
    for call in getattr(answer, "tool_calls", None) or ():
        return json.dumps(call.get("args"))
    for call in getattr(answer, "invalid_tool_calls", None) or ():
        return str(call.get("args") or "")
    return text_in(answer.content, "assistant")


def _counts(used: Mapping[str, Any]) -> Usage:
    inputs, outputs = used.get("input_token_details") or {}, used.get("output_token_details") or {}
    return Usage(
        input_tokens=token_count(used.get("input_tokens")),
        output_tokens=token_count(used.get("output_tokens")),
        cached_tokens=token_count(inputs.get("cache_read")),
        reasoning_tokens=token_count(outputs.get("reasoning")),
        calls=1,
    )


def _refusal(answer: Any) -> str | None:
    """Return the text of a refusal, from OpenAI's field or LangChain's block, or None."""
    said = (getattr(answer, "additional_kwargs", None) or {}).get("refusal")
    content = getattr(answer, "content", None)
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") == "refusal":
            said = block.get("refusal") or block.get("text") or "refused"
    return said if isinstance(said, str) and said else None


def _why_it_stopped(details: Mapping[str, Any]) -> str:
    incomplete = details.get("incomplete_details")
    reason = incomplete.get("reason") if isinstance(incomplete, Mapping) else None
    for name in ("finish_reason", "stop_reason", "done_reason"):
        reason = reason or details.get(name)
    return str(reason or "stop").lower()


def _reply_in(error: Exception) -> Reply | None:
    """Return the reply in an exception. OpenAI's SDK raises for unparseable replies, LangChain for refusals."""
    finish = _ENDINGS.get(type(error).__name__)
    if finish is None:
        return None
    paid = getattr(getattr(error, "completion", None), "usage", None)
    used = counted(
        lambda: Usage(
            input_tokens=token_count(getattr(paid, "prompt_tokens", None)),
            output_tokens=token_count(getattr(paid, "completion_tokens", None)),
            calls=1,
            cost_complete=False,
        )
    )
    return Reply("", used, finish=finish, detail=str(error)[:500])


_MOST_BOUND = 64
_ENDINGS: dict[str, Finish] = {
    "LengthFinishReasonError": "length", "ContentFilterFinishReasonError": "filter",
    "ModelRefusalError": "refusal", "OpenAIRefusalError": "refusal",
}  # fmt: skip
_KINDS: dict[str, ModelErrorKind] = {
    "ModelRateLimitError": "rate_limited", "ModelTimeoutError": "timeout", "ModelConnectionError": "connection",
    "ModelAPIError": "server", "ModelAuthenticationError": "authentication",
    "ModelPermissionDeniedError": "authentication", "ModelInvalidRequestError": "refused_request",
    "ModelNotFoundError": "refused_request", "ContextOverflowError": "refused_request",
}  # fmt: skip
