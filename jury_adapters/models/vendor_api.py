"""Calls to one path of a vendor's API, by our own HTTP module or, if necessary, by the vendor's SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from jury_adapters.core import event_loop
from jury_adapters.core.deadlines import Deadline
from jury_adapters.core.errors import ConfigurationError, ModelError
from jury_adapters.core.preparation import Preparable
from jury_adapters.models.addresses import refuse_credentials
from jury_adapters.models.api_keys import Key, check_key
from jury_adapters.models.base import Reply
from jury_adapters.models.clients import shared_client
from jury_adapters.models.credentials import keys_in_client, secrets_in_client, secrets_in_request, secrets_sent_with
from jury_adapters.models.endpoints import endpoint_of, http_package
from jury_adapters.models.error_mapping import as_model_error
from jury_adapters.models.http import Endpoint, can_send, load_http, parse_json, post_json
from jury_adapters.models.http_errors import error_of_response
from jury_adapters.models.retries import ObjectId
from jury_adapters.models.sdk_clients import check_sdk, make_client, sdk_module
from jury_adapters.models.settings import TIMEOUT_S
from jury_adapters.models.unsupported_parameters import Body

T = TypeVar("T")


class VendorAPI(Preparable):
    """Client of one path of a vendor's API.

    Requests go through :mod:`jury_adapters.models.http`, to the address and with the headers of the vendor's SDK. The
    SDK itself sends them if the user gave an HTTP client or an SDK client, if aiohttp is not installed, or if the proxy
    is not an HTTP proxy. The SDK's own retries are off; :mod:`.retries` does them.

    Args:
        sdk: ``"openai"`` or ``"anthropic"``.
        client_class: the SDK's asynchronous client.
        path: such as ``"/chat/completions"``.
        name: the model's name, for error messages.
        key: the API key.
        base_url: the server; None for the vendor's own.
        timeout: the maximum duration of one request, in seconds.
        http_client: an HTTP client for the SDK, used unchanged.
        client: an existing asynchronous client of the SDK, used unchanged, including its retries.

    Raises:
        ConfigurationError: the SDK is not installed, the address contains user information, a query or a fragment, or
            the client's key cannot be sent.
    """

    def __init__(
        self,
        sdk: str,
        client_class: str,
        path: str,
        *,
        name: str,
        key: Key,
        base_url: str | None = None,
        timeout: float = TIMEOUT_S,
        http_client: Any = None,
        client: Any = None,
    ) -> None:
        if client is None:
            check_sdk(sdk)
        refuse_credentials(base_url, "base_url")
        refuse_credentials(getattr(client, "base_url", None), "the base_url of the client")
        for found in keys_in_client(client):
            check_key(found, "the client")
        for given in (http_client, client):
            key.also_hide(secrets_in_client(given))
        self.sdk = sdk
        self.path = path
        self.name = name
        self.base_url = base_url
        self._client_class = client_class
        self._key = key
        self._timeout = timeout
        self._http_client = http_client
        self._client = client
        self._endpoint = _Found(self._find_endpoint)

    @property
    def identity(self) -> tuple[object, ...]:
        """Server, key and settings. Models with the same identity share a client and a limiter."""
        given = (ObjectId.of(self._http_client), ObjectId.of(self._client))
        return (self.sdk, self.path, self.base_url, self._key.identity, self._timeout, *given)

    @property
    def key_identity(self) -> str:
        """Hash that tells keys apart without showing them."""
        return self._key.identity

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that are sent; those of the user's client if there is one."""
        return (self._key.reveal(),) if self._client is None else tuple(secrets_in_client(self._client))

    @property
    def prepared(self) -> bool:
        return self._endpoint.known or self._client is not None

    def load(self) -> None:
        with suppress(ConfigurationError):
            self._load()

    async def prepare(self) -> None:
        with suppress(ConfigurationError, ModelError):
            await self._find()

    async def post(self, body: Body) -> Any:
        """Send a JSON object and return the parsed answer.

        Raises:
            ModelError: the request failed; the message does not contain the key.
        """
        if self._client is not None:  # used unchanged, with its addresses, retries and time limits
            return await self._post_by_sdk(body)
        endpoint = self._endpoint.value if self._endpoint.known else await self._find()
        if endpoint is None:
            return await self._post_by_sdk(body, seconds=self._timeout)
        try:
            return await post_to(endpoint, body, seconds=self._timeout, key=self._key, name=self.name)
        except ModelError as error:
            failure = error
        raise self._noted(failure)

    async def call(
        self, call: Callable[[Any], Awaitable[T]], *, seconds: float | None = None, large: bool = False
    ) -> T:
        """Make a call with the SDK's client of this event loop.

        Args:
            call: makes the call with the client.
            seconds: the time limit. The SDKs limit only each read, so a slow body could take forever.
            large: whether many megabytes may be sent; a separate client is used then.

        Raises:
            ModelError: the call failed; the message does not contain the key.
        """
        identity = (*self.identity, "large") if large else self.identity
        deadline = Deadline(seconds)
        try:
            with deadline:
                return await call(self._client or await shared_client(identity, self._make_client))
        except (ConfigurationError, ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            failure = self.failure(error)
        if deadline.expired:
            failure = _late(self.name, seconds)
        raise self._noted(failure)

    async def _post_by_sdk(self, body: Body, *, seconds: float | None = None) -> Any:
        """Send a JSON object by the SDK, and return the parsed answer.

        The SDK returns the HTTP response, because its request has the secrets that were sent, including those that
        functions provide, and those that hooks of an HTTP client add.
        """
        kind = http_package(sdk_module(self.sdk)).Response
        response = await self.call(lambda client: client.post(self.path, body=body, cast_to=kind), seconds=seconds)
        if isinstance(response, Mapping):  # of a client of the user, which parses answers itself
            return response
        self.note_sent(response)
        try:
            return parse_json(response.content, self._key.hidden_in)
        except ModelError as error:
            failure = ModelError(f"{self.name}: {error}", error.kind)
        raise failure

    def note_sent(self, response: Any) -> None:
        """Redact the secrets in the request of an HTTP response."""
        self._key.also_hide_sent(secrets_sent_with(response))

    def failure(self, error: Exception) -> ModelError:
        """Convert an error of the SDK, or a similar one, to a :class:`ModelError`; see :func:`as_model_error`."""
        return as_model_error(error, self._key, self.name)

    def hidden_in(self, text: str) -> str:
        """Return the text without the key."""
        return self._key.hidden_in(text)

    def redacted(self, text: str) -> str:
        """Return a text of an answer without the key."""
        return self._key.redacted(text)

    def redacted_reply(self, reply: Reply) -> Reply:
        """Return a reply without the key."""
        return self._key.redacted_reply(reply)

    def redact_in(self, answer: Any) -> None:
        """Redact the key in the texts of a parsed answer, in place."""
        self._key.redact_in(answer)

    def _noted(self, failure: ModelError) -> ModelError:
        """Discard the key after it was refused, because the one in the environment may have been replaced."""
        if failure.kind == "authentication":
            self._key.forget()
            self._endpoint.forget()
        return failure

    async def _find(self) -> Endpoint | None:
        try:
            return await self._endpoint.find()
        except (ConfigurationError, asyncio.CancelledError):
            raise
        except Exception as error:  # raised by the SDK, which was about to send a request
            failure = self.failure(error)
        raise failure

    async def _find_endpoint(self) -> Endpoint | None:
        """Return the endpoint that the SDK uses; None if the SDK has to send the requests."""
        await event_loop.in_worker_thread(self._load)  # an import takes a large part of a second
        if self._http_client is not None:
            return None
        endpoint = await endpoint_of(self.sdk, self._make_client, self.path)
        self._key.also_hide(secrets_in_request(endpoint.url, endpoint.headers))
        return endpoint if can_send(endpoint.url) else None

    def _load(self) -> None:
        sdk_module(self.sdk)
        load_http()

    def _make_client(self, http_client: Any = None) -> Any:
        return make_client(
            self.sdk, self._client_class, self._key, base_url=self.base_url, timeout=self._timeout,
            http_client=http_client or self._http_client,
        )  # fmt: skip


async def post_to(endpoint: Endpoint, body: Body, *, seconds: float | None, key: Key, name: str) -> Any:
    """Send a JSON object to an endpoint and return the parsed answer.

    Args:
        endpoint: the address and the headers.
        body: the object.
        seconds: the limit on the whole request; None for no limit.
        key: the key, which is removed from error messages.
        name: the model's name, for error messages.

    Raises:
        ModelError: the request failed; the message does not contain the key.
    """
    try:
        with Deadline(seconds):
            response = await post_json(endpoint, body)
        if response.status == 200:
            return parse_json(response.body, key.hidden_in)
        failure = error_of_response(response, endpoint.url, key, name)
    except TimeoutError:
        failure = _late(name, seconds)
    except ModelError as error:
        failure = ModelError(f"{name}: {key.hidden_in(str(error))}", error.kind)
    raise failure


def _late(name: str, seconds: float | None) -> ModelError:
    return ModelError(f"{name}: no whole answer within {seconds:g} s", "timeout")


class _Found:
    """Endpoint that is found at the first request and shared by all later ones. It has the key and is not pickled.

    Attributes:
        known: whether it has been found.
        value: the endpoint, or None if the SDK has to send requests.
    """

    def __init__(self, find: Callable[[], Coroutine[Any, Any, Endpoint | None]]) -> None:
        self.known = False
        self.value: Endpoint | None = None
        self._find = find
        self._finding: dict[asyncio.AbstractEventLoop, asyncio.Task[Endpoint | None]] = {}

    async def find(self) -> Endpoint | None:
        """Find the endpoint. Simultaneous requests of one event loop share the search."""
        loop = asyncio.get_running_loop()
        finding = self._finding.get(loop)
        if finding is None:
            finding = self._finding[loop] = loop.create_task(self._find())
            finding.add_done_callback(partial(self._end, loop))
        self.value = await asyncio.shield(finding)
        self.known = True
        return self.value

    def forget(self) -> None:
        """Discard the endpoint, so that the next request finds it again."""
        self.known = False

    def _end(self, loop: asyncio.AbstractEventLoop, finding: asyncio.Task[Endpoint | None]) -> None:
        self._finding.pop(loop, None)
        if not finding.cancelled():
            finding.exception()  # retrieves it: asyncio does not log it where every request was cancelled

    def __reduce__(self) -> tuple[type[_Found], tuple[Callable[..., Any]]]:
        return (_Found, (self._find,))
