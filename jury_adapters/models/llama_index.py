"""LlamaIndex LLMs as models of critics.

An LLM is asked by ``achat``, or :mod:`.request_templates` sends the request that ``achat`` would send, and our own
parser reads the text. This works for every LLM, and keeps both the text and the token usage. If the LLM passes settings
to a vendor that supports JSON schemas, the schema is a setting of the same call (``response_format`` and the like). A
vendor that refuses the schema is asked without it from then on. The alternatives lose too much: ``as_structured_llm``
and ``structured_predict`` drop the usage and discard a paid answer that does not fit, and a forced function call does
not work with a model that thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jury_adapters.core.context import judging
from jury_adapters.core.errors import ModelError
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import JsonValue
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.image_refusals import learned_of_images, refuse_images
from jury_adapters.models.object_identity import identity_of_object, secrets_of_object
from jury_adapters.models.prices import cost_of
from jury_adapters.models.raw_answers import count_tokens, read_answer
from jury_adapters.models.request_templates import DirectAnswer, RequestTemplate, Templates
from jury_adapters.models.retries import ObjectId
from jury_adapters.models.token_counts import UNKNOWN_USAGE, counted
from jury_adapters.models.unsupported_parameters import Body, Capabilities, adapting, capabilities_of
from jury_adapters.models.wrapped import WrappedModel, model_name, vendor_inside

if TYPE_CHECKING:
    from llama_index.core.llms import LLM, ChatResponse

_TOP_LOGPROBS = 20


class LlamaIndexModel(WrappedModel):
    """Any LlamaIndex ``LLM`` as a critic's model.

    - Settings made by the user on the LLM take precedence. The critic may change a setting that has its class's
      default.
    - The LLM's own retries are off for the critic's calls (on a copy, never on the user's object), so that they do not
      multiply with those of ``Limits``. The SDK's client inside has a connection pool per event loop.
    - A ``CustomLLM`` that only has the synchronous methods runs in a thread and never blocks the event loop. One that
      computes in this process (it keeps its ``_model``) computes one answer at a time.
    - Calls are marked as a judge's own work, so that watchers of the application's runs ignore them.
    - The package itself sends the requests of an ``OpenAI``, ``OpenAILike`` or ``Anthropic`` that only turns its
      settings into a request; :mod:`.llama_index_direct` has the conditions. The request is the one that the LLM would
      send, with its address, key, headers and time limit, which applies to the whole request. Any other LLM is called,
      for example one of a derived class or with an HTTP client of its own. An LLM is also called while a callback
      handler or a handler of LlamaIndex's instrumentation listens, so that it receives the calls.
    - Images are ``ImageBlock`` parts of the message, and the LLM is called. An LLM that gets a text instead of messages
      cannot be given images. An image at an address is given only to a class of OpenAI's protocol, which sends the
      address to the vendor; other classes may fetch it in this process. A class that ignores ``ImageBlock`` is not
      recognised.

    Args:
        llm: the LLM. Its price is that of ``"openai:<model>"`` (or of another vendor, by its class) in the price
            table. For an unknown vendor, set it with ``set_price("llama_index:<model>", ...)``.
        traced: whether the LLM is called for every judgment, even if nothing listens.
    """

    vendor = "llama_index"

    def __init__(self, llm: LLM, *, traced: bool = False) -> None:
        from jury_adapters.models.llama_index_calls import Calls
        from jury_adapters.models.llama_index_direct import Listeners

        self._hide(secrets_of_object(llm))
        self._llm = llm
        self.model = _name_of(llm)
        self._price_vendor = vendor_inside(llm) or self.vendor
        inside = identity_of_object(llm)
        self.address, self.answer_settings = inside.address, inside.settings
        self.has_identity = inside.known or self.model != type(llm).__name__
        self._dialect = _dialect_of(llm)
        self._calls = Calls(llm)
        self._traced = traced
        self._listeners = Listeners(llm)
        self._templates = Templates()

    @property
    def price_vendor(self) -> str:
        return self._price_vendor

    @property
    def identity(self) -> tuple[object, ...]:
        """Identity of the LLM itself. Critics that ask the same LLM share its limits."""
        return (self.vendor, ObjectId.of(self._llm))

    @property
    def takes_images(self) -> bool:
        """Whether the LLM gets messages, which may have images, and not one text."""
        return self._calls.takes_messages

    def own_setting(self, name: str) -> float | None:
        field = self._dialect.tokens if self._dialect is not None and name == "max_tokens" else name
        found = None if field is None or _left_open(self._llm, field) else getattr(self._llm, field)
        return found if isinstance(found, int | float) else None

    async def _ask(self, prompt: Prompt, schema: Schema | None, options: Options) -> ChatResponse | DirectAnswer:
        if not prompt.images:
            return await self._answer(prompt, schema, options)
        known = self._capabilities
        refuse_images(known, prompt, self.name)
        if any(image.url is not None for image in prompt.images) and not self._passes_addresses:
            message = f"{self.name} may fetch the address of an image in this process: give the content of the image"
            raise ModelError(message, "no_images", sent=False)
        try:
            return await self._answer(prompt, schema, options)
        except Exception as error:
            failure = error if isinstance(error, ModelError) else self._failure(error)
        raise learned_of_images(failure, known, prompt, self.name)

    async def _answer(self, prompt: Prompt, schema: Schema | None, options: Options) -> ChatResponse | DirectAnswer:
        dialect = self._dialect
        if dialect is None:
            return await self._called(prompt, {})
        known = self._capabilities
        return await adapting(
            known,
            lambda: dialect.body(self._llm, known, schema, options),
            lambda body: self._post(prompt, schema, dialect, body),
        )

    async def _post(
        self, prompt: Prompt, schema: Schema | None, dialect: _Dialect, body: Body
    ) -> ChatResponse | DirectAnswer:
        """Return the answer. A failure names the refused setting as :mod:`.unsupported_parameters` does."""
        settings = dialect.settings(body)
        try:
            template = await self._template(prompt, schema, body, settings)
            if template is not None:
                self.key = template.key
                return await template.post(prompt, self.name)
            return await self._called(prompt, settings)
        except TypeError as error:  # the LLM, or the SDK inside, does not support a setting
            refused = next((name for name in settings if f"'{name}'" in str(error)), None)
            if refused is None:
                raise
            named = dialect.ours(refused)
            failure = ModelError(f"{self.name}: {error}", "refused_request", status=400, parameter=named)
        except Exception as error:
            failure = error if isinstance(error, ModelError) else self._failure(error)
            failure.parameter = dialect.ours(failure.parameter or "") or None
        if failure.kind == "authentication":
            self._templates.forget()  # because the LLM's key may have been replaced
        raise failure

    async def _called(self, prompt: Prompt, settings: dict[str, Any]) -> ChatResponse:
        from jury_adapters.models.llama_index_calls import messages_of

        with judging():
            return await self._calls.chat(messages_of(prompt), settings)

    async def _template(
        self, prompt: Prompt, schema: Schema | None, body: Body, settings: dict[str, Any]
    ) -> RequestTemplate | None:
        """Return the request that the LLM would send; None if the LLM has to be called."""
        if self._traced or prompt.images or self._listeners.present:
            return None

        async def record() -> RequestTemplate | None:
            from jury_adapters.models.llama_index_direct import record_llama_index

            with judging():
                return await record_llama_index(self._llm, settings, prompt)

        kinds = tuple((name, self._capabilities.format if name == "response_format" else body[name]) for name in body)
        return await self._templates.get(prompt, schema, kinds, record)

    def _read(self, answer: ChatResponse | DirectAnswer) -> Reply:
        if isinstance(answer, DirectAnswer):
            return read_answer(answer.raw, answer.text, {}, self.model, self._usage)
        text = answer.message.content or ""
        return read_answer(answer.raw, text, answer.additional_kwargs, self.model, self._usage)

    def _usage(self, used: Any) -> Usage:
        """Return the vendor's counts. Without counts, the cost is unknown, not zero."""
        found = counted(lambda: count_tokens(used)) if used else UNKNOWN_USAGE
        if found is UNKNOWN_USAGE:
            return found
        # OpenRouter reports the price that it charged.
        stated = used.get("cost") if isinstance(used, Mapping) else getattr(used, "cost", None)
        return cost_of(found, self.price_vendor, self.model, stated)

    @property
    def _passes_addresses(self) -> bool:
        return self._dialect in (_DIALECTS["openai"], _DIALECTS["openairesponses"])

    @property
    def _capabilities(self) -> Capabilities:
        kind = type(self._llm)
        address = getattr(self._llm, "api_base", None) or getattr(self._llm, "base_url", None) or ""
        return capabilities_of(f"{kind.__module__}.{kind.__qualname__} {address}", self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickled, (self._llm, self._traced))

    def __repr__(self) -> str:
        return f"LlamaIndexModel({self.name!r})"


def _unpickled(llm: LLM, traced: bool) -> LlamaIndexModel:
    return LlamaIndexModel(llm, traced=traced)


def _name_of(llm: LLM) -> str:
    """Return the model's name. Classes without an attribute for it have it in their metadata, which may raise."""
    found = model_name(llm)
    if found != type(llm).__name__:
        return found
    try:
        named = llm.metadata.model_name
    except Exception:
        return found
    return named if named and named != "unknown" else found


# Settings that an LLM passes to its vendor ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Dialect:
    """Settings of a call that an LLM passes on, under its vendor's own names.

    Attributes:
        format: the setting for the schema of the answer.
        schema: its value for a JSON schema.
        json_object: its value for any JSON object, or None.
        tokens: the limit on output tokens, as setting and as field of the LLM; None does not set it.
        temperature: whether a temperature can be set per call.
        logprobs: whether log probabilities can be requested.
    """

    format: str
    schema: Callable[[Schema], JsonValue]
    json_object: JsonValue = None
    tokens: str | None = None
    temperature: bool = False
    logprobs: bool = False

    def body(self, llm: LLM, known: Capabilities, schema: Schema | None, options: Options) -> Body:
        """Return the settings of a request, under the names that :mod:`.unsupported_parameters` knows."""
        body: Body = {}
        if schema is not None and known.format == "json_schema":
            body["response_format"] = self.schema(schema)
        elif schema is not None and known.format == "json_object" and self.json_object is not None:
            body["response_format"] = self.json_object
        if options.temperature is not None and self.temperature and _left_open(llm, "temperature"):
            body["temperature"] = options.temperature
        if options.max_tokens is not None and self.tokens is not None and _left_open(llm, self.tokens):
            body["max_tokens"] = options.max_tokens
        if options.logprobs and self.logprobs:
            body |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
        return body

    def settings(self, body: Body) -> dict[str, Any]:
        """Return the settings under the vendor's names."""
        names = {"response_format": self.format, "max_tokens": self.tokens or "max_tokens"}
        return {names.get(name, name): value for name, value in body.items()}

    def ours(self, name: str) -> str:
        """Return our name of a setting of the vendor."""
        name = name.partition(".")[0]
        return {self.format: "response_format", self.tokens: "max_tokens"}.get(name, name)


def _dialect_of(llm: LLM) -> _Dialect | None:
    """Return the settings that the LLM accepts, by the names of its classes; None if it is not known to accept any."""
    for kind in type(llm).__mro__:
        name = kind.__name__.lower()
        found = next((word for word in _DIALECTS if word in name), None)
        if found is not None:
            return _DIALECTS[found]
    return None


def _left_open(llm: LLM, name: str) -> bool:
    """Return whether the user did not set this field: it has its class's default, or does not exist."""
    field = type(llm).model_fields.get(name)
    return field is None or getattr(llm, name, None) in (None, field.default)


def _wrapped_schema(schema: Schema) -> JsonValue:
    return {"type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": schema}}


_DIALECTS: dict[str, _Dialect] = {
    "openairesponses": _Dialect(
        "text",
        lambda schema: {"format": {"type": "json_schema", "name": "judgment", "strict": True, "schema": schema}},
        json_object={"format": {"type": "json_object"}}, tokens="max_output_tokens", temperature=True,
    ),
    "openai": _Dialect(
        "response_format", _wrapped_schema, {"type": "json_object"}, "max_tokens", temperature=True, logprobs=True
    ),
    # Current Claude models refuse a temperature, and newer SDKs no longer have the parameter.
    "anthropic": _Dialect(
        "output_config", lambda schema: {"format": {"type": "json_schema", "schema": schema}}, tokens="max_tokens"
    ),
    "ollama": _Dialect("format", lambda schema: schema, json_object="json"),
}  # fmt: skip
