"""Named models, asked through the SDKs of OpenAI and Anthropic."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import Any
from urllib.request import getproxies

from pydantic_core import from_json

from jury_adapters.models.base import NO_OPTIONS, ModelError, Options, Prompt, Reply, Schema
from jury_adapters.models.clients import PerLoop, client_of_this_loop, http_client, http_package, sdk_of
from jury_adapters.models.errors import bad_reply, error_in_answer, error_of
from jury_adapters.models.keys import Key
from jury_adapters.models.prices import Priced
from jury_adapters.models.protocols import ANTHROPIC, OPENAI, Body
from jury_adapters.models.vendors import VENDORS

_PROTOCOLS = {"openai": OPENAI, "anthropic": ANTHROPIC}
_NO_SETTING = re.compile(r"(.*[-_])?(api[-_]?key|token|secret|auth(orization)?|cookie|password)", re.IGNORECASE)

# What models refused, by their identity: they are not asked with it again.
_REFUSED: dict[str, frozenset[str]] = {}
_MEANINGS = {
    "temperature": "temperature",
    "logprobs": "logprobs",
    "top_logprobs": "logprobs",
    "response_format": "schema",
    "output_config": "schema",
    "json_schema": "schema",
    "structured": "schema",
    "max_completion_tokens": "limit",
    "max_tokens": "limit",
}
_OTHER_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_OBJECTION = re.compile(
    r"support|unrecogni[sz]ed|unknown|unexpected|not (?:permitted|allowed|available|implemented)|extra (?:input|field)|"
    r"should be|instead|deprecated|invalid"
)
# A message about the context, or about a number that is too large, names max_tokens too, which the model accepts.
_TOO_LONG = re.compile(r"context|too (?:large|long|high)|at most|maximum|exceed|reduce the length|greater than")


class SdkModel(Priced):
    """Model of a vendor, by name; :func:`jury_adapters.models.names.open_model` makes it.

    It does without what the model refuses, in this request and in later ones: the temperature, the probabilities of
    tokens, the schema, or one of the two names of the limit on tokens.

    Args:
        vendor: a vendor of :data:`VENDORS`.
        model: the model's own name.
        address: the server; empty with a client.
        key: the key.
        own: whether the server is that of the vendor whose SDK it is. Any other gets nothing of the vendor's
            environment: no organisation, no project, no second token, no custom headers.
        client: a client of the SDK, whose settings it keeps.
        timeout: seconds for one request.
    """

    def __init__(
        self, vendor: str, model: str, *, address: str, key: Key, own: bool, client: Any = None, timeout: float = 60.0
    ) -> None:
        self.name, self.model, self.account = f"{vendor}:{model}", model, key.digest
        self.address = address or str(client.base_url).rstrip("/")
        self.identity = f"{self.name} at {self.address}{_settings_of(client)}"
        self._again = partial(SdkModel, vendor, model, address=address, key=key, own=own, timeout=timeout)
        self._vendor, self._key, self._own, self._timeout = VENDORS[vendor], key, own, timeout
        self._given, self._senders = client, PerLoop(self._make_sender)
        self._protocol, self._sdk = _PROTOCOLS[self._vendor.sdk], sdk_of(self._vendor.sdk)
        self._http, self.max_tokens = http_package(self._sdk), self._protocol.max_tokens

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = NO_OPTIONS) -> Reply:
        """Send one request, and again without what the model refuses."""
        refused = _REFUSED.get(self.identity, frozenset())
        while True:
            try:
                answer = await self._post(self._body(prompt, schema, options, refused))
            except ModelError as error:
                more = refused | _refused_by(error)
                if more == refused:
                    raise
                refused = more
            else:
                break
        if refused:  # remembered because the model has answered without it
            _REFUSED[self.identity] = _REFUSED.get(self.identity, frozenset()) | refused
        reply = self._protocol.read(answer, self.name) if isinstance(answer, Mapping) else None
        if reply is None:
            raise error_in_answer(answer, self.name, self._key.hidden_in)
        return self._key.hidden_in_reply(reply)

    def _body(self, prompt: Prompt, schema: Schema | None, options: Options, refused: frozenset[str]) -> Body:
        limit = self._vendor.token_limit
        if refused:
            temperature = None if "temperature" in refused else options.temperature
            options = Options(temperature, options.max_tokens, options.logprobs and "logprobs" not in refused)
            limit = _OTHER_LIMIT[limit] if "limit" in refused else limit
        return self._protocol.body(self.model, prompt, None if "schema" in refused else schema, options, limit)

    async def _post(self, body: Body) -> Any:
        """Send a body, and return what the server answered."""
        try:
            async with asyncio.timeout(self._timeout):  # the SDK limits single reads only
                send = await self._senders.get()
                content = await send(body)
        except TimeoutError:
            failure = ModelError(f"{self.name}: no whole answer within {self._timeout:g} s", "timeout", transient=True)
        except Exception as error:
            failure = error_of(error, self.name, self._key.hidden_in)
        else:
            with suppress(ValueError):
                return from_json(content)
            shown = self._key.hidden_in(content.decode("utf-8", "replace"))[:200]
            failure = bad_reply(f"{self.name}: the answer is not JSON: {shown!r}")
        raise failure

    async def _make_sender(self) -> Callable[[Body], Awaitable[bytes]]:
        """Return what sends a body on the running loop, and returns the content of the answer."""
        if self._given is not None:
            client = (await client_of_this_loop(self._given)).with_options(max_retries=0)
            return partial(self._by_sdk, client)
        http = await http_client(self._vendor.sdk, self._timeout)
        client = self.client(http, max_retries=0, timeout=self._timeout)
        if find_spec("aiohttp") is None or getproxies():
            return partial(self._by_sdk, client)
        from jury_adapters.models.wire import Wire

        return Wire(client, self._protocol.path, self._http).post

    def client(self, http: Any, **options: Any) -> Any:
        """Return a client of the SDK, with this HTTP client; only the vendor's own server gets its environment."""
        made = getattr(self._sdk, self._protocol.client)(
            api_key=self._key.reveal(), base_url=self.address, http_client=http, **options
        )
        if not self._own:
            made.organization, made.project, made.auth_token, made._custom_headers = None, None, None, {}
        return made

    async def _by_sdk(self, client: Any, body: Body) -> bytes:
        kind, options = self._http.Response, {"follow_redirects": False}
        return bytes((await client.post(self._protocol.path, body=body, cast_to=kind, options=options)).content)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again, ()


def refuses_schema(error: ModelError) -> bool:
    """Whether a model refused a request because of the schema of its answer, which frameworks may send as a tool."""
    text = f"{error} {error.parameter}".lower()
    return error.kind == "refused" and any(word in text for word in ("schema", "format", "structured", "tool"))


def _refused_by(error: ModelError) -> frozenset[str]:
    """Return what the vendor's answer refuses, among what a request can do without."""
    text, named = str(error).lower(), error.parameter.partition(".")[0]
    if error.status not in (400, 404, 422, 500, 501) or not (named or _OBJECTION.search(text)):
        return frozenset()
    words = [named] if named else [word for word in _MEANINGS if word in text]
    found = [_MEANINGS[word] for word in words if word in _MEANINGS]
    return frozenset([one for one in found if one != "limit" or not _TOO_LONG.search(text)][:1])


def _settings_of(client: Any) -> str:
    """Return what identifies the headers and the query of a given client: a gateway may choose the model by them."""
    given = [*getattr(client, "_custom_headers", {}).items(), *getattr(client, "_custom_query", {}).items()]
    settings = sorted((name, str(value)) for name, value in given if not _NO_SETTING.fullmatch(name))
    return f" {hashlib.sha256(repr(settings).encode()).hexdigest()[:16]}" if settings else ""
