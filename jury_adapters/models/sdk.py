"""A chat model behind a vendor's SDK: what the two SDKs have in common."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from jury_adapters.core.errors import ConfigurationError, ModelError
from jury_adapters.models.addresses import client_address, plain_address
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.clients import aiohttp_client, shared_client
from jury_adapters.models.deadlines import Deadline
from jury_adapters.models.error_mapping import as_model_error
from jury_adapters.models.object_identity import settings_of_client
from jury_adapters.models.retries import ObjectId
from jury_adapters.models.unsupported_parameters import Body, Capabilities, adapting, capabilities_of

T = TypeVar("T")


class SDKModel(ABC):
    """A chat model behind an SDK.

    Requests go through the SDK's own aiohttp transport and ``client.post``: its authentication and errors, without the
    cost of building request and response models. The SDK's own retries are off; :mod:`.retries` does them.

    Args:
        model: the model's name.
        vendor: whose prices and name it goes by.
        key: the API key.
        base_url: the server's address; a ``client`` keeps its own.
        timeout: seconds one request may take.
        http_client: an HTTP client for the SDK, taken as it is.
        client: a ready asynchronous client of the SDK, taken as it is, retries and all.

    Attributes:
        address: the effective address, without credentials.
    """

    sdk: ClassVar[str]
    client_class: ClassVar[str]
    path: ClassVar[str]

    def __init__(
        self,
        model: str,
        *,
        vendor: str,
        key: Key,
        base_url: str | None = None,
        timeout: float = 60.0,
        http_client: Any = None,
        client: Any = None,
    ) -> None:
        self.model = model
        self.vendor = vendor
        self.base_url = base_url
        self.address = plain_address(base_url) if client is None else client_address(client)
        self.answer_settings = None if client is None else settings_of_client(client)
        self.has_identity = bool(self.address)
        self._key = key
        self._timeout = timeout
        self._http_client = http_client
        self._client = client

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    @property
    def identity(self) -> tuple[object, ...]:
        """Server, key and settings: models with the same identity share a client."""
        given = (ObjectId.of(self._http_client), ObjectId.of(self._client))
        return (self.sdk, self.base_url, self._key.identity, self._timeout, *given)

    def complete(
        self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()
    ) -> Coroutine[Any, Any, Reply]:
        return self.answered_by(self._post, prompt, schema, options)

    async def answered_by(
        self, post: Callable[[Body], Awaitable[Any]], prompt: Prompt, schema: Schema | None, options: Options
    ) -> Reply:
        """Ask on another way than a request of its own (in a batch): what is sent, learned and read is the same."""
        build = partial(self._body, prompt, schema, options)
        answer = await adapting(self._capabilities, build, post)
        if isinstance(answer, str):  # the SDKs hand out a body of another content type as text
            shown = self._key.hidden_in(answer)[:200]
            raise ModelError(f"{self.name}: the body of the answer is no JSON: {shown}", "broken_body", status=200)
        return self._read(answer)

    async def called(
        self, call: Callable[[Any], Awaitable[T]], *, seconds: float | None = None, large: bool = False
    ) -> T:
        """Make a call with the SDK's client of this event loop.

        Args:
            call: makes it, given the client.
            seconds: how long it may take; the SDKs limit only each read, so that a body that drips would never end.
            large: whether many megabytes may be sent, which aiohttp warns about: the SDK's own transport is used then.

        Raises:
            ModelError: whatever went wrong, without the key.
        """
        identity = (*self.identity, "large") if large else self.identity
        deadline = Deadline(seconds)
        try:
            with deadline:
                return await call(self._client or await shared_client(identity, partial(self._make_client, large)))
        except (ConfigurationError, ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            failure = self.failure(error)
        if deadline.expired:
            failure = ModelError(f"{self.name}: no whole answer within {seconds:g} s", "timeout")
        raise failure

    def failure(self, error: Exception) -> ModelError:
        """An error of the SDK, or one that looks like it, in our words; see :func:`as_model_error`."""
        return as_model_error(error, self._key, self.name)

    @abstractmethod
    def _body(self, prompt: Prompt, schema: Schema | None, options: Options) -> Body:
        """The request."""

    @abstractmethod
    def _read(self, answer: Any) -> Reply:
        """Read the answer; whatever is missing or odd in it is at most a ModelError."""

    @property
    def _capabilities(self) -> Capabilities:
        return capabilities_of(self.address or self.vendor, self.model)

    def _post(self, body: Body) -> Coroutine[Any, Any, Any]:
        if self._client is not None:  # taken as it is: its addresses, retries and time limits
            return self.called(lambda client: client.post(self.path, body=body, cast_to=object))
        return self.called(partial(self._sent, body), seconds=self._timeout)

    def _sent(self, body: Body, client: Any) -> Awaitable[Any]:
        """The request by a client of ours.

        The whole address and the time limit are the client's own. Told both, an SDK need not put the one together and
        copy its default for the other, for each request: a tenth of what a request costs it.
        """
        address = f"{str(client.base_url).rstrip('/')}{self.path}"
        sent: Awaitable[Any] = client.post(address, body=body, cast_to=object, options={"timeout": self._timeout})
        return sent

    def _make_client(self, large: bool) -> Any:
        return make_client(
            self.sdk, self.client_class, self._key, base_url=self.base_url, timeout=self._timeout,
            http_client=self._http_client, large=large,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def make_client(
    sdk: str,
    client_class: str,
    key: Key,
    *,
    base_url: str | None,
    timeout: float,
    http_client: Any = None,
    large: bool = False,
) -> Any:
    """An SDK's asynchronous client, without retries of its own.

    It is on aiohttp where that is installed, unless the bodies that it sends are large.

    Raises:
        ConfigurationError: the SDK is not installed; the message says what to install.
    """
    try:
        module = import_module(sdk)
    except ImportError as error:
        raise ConfigurationError(f"this model needs an SDK: pip install 'jury-adapters[{sdk}]'") from error
    if http_client is None and not large:
        http_client = aiohttp_client(module.DefaultAioHttpClient, timeout)
    return getattr(module, client_class)(
        api_key=key.reveal(),
        base_url=base_url,
        max_retries=0,
        timeout=timeout,
        http_client=http_client,
    )
