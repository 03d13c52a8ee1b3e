"""Base class of the chat models of OpenAI's and Anthropic's APIs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping
from functools import partial
from typing import Any, ClassVar

from jury_adapters.core.errors import ModelError
from jury_adapters.core.preparation import Preparable
from jury_adapters.models.addresses import client_address, plain_address
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.http_errors import error_in_body
from jury_adapters.models.image_refusals import learned_of_images, refuse_images
from jury_adapters.models.object_identity import settings_of_client
from jury_adapters.models.shared_rates import hashed, quota_of
from jury_adapters.models.unsupported_parameters import Body, Capabilities, adapting, capabilities_of
from jury_adapters.models.vendor_api import VendorAPI


class VendorModel(ABC):
    """Chat model of a vendor's API.

    Args:
        model: the model's name.
        vendor: the vendor's name, also in the price table.
        key: the API key.
        base_url: the server's address; a ``client`` keeps its own.
        client: an existing asynchronous client of the SDK, used unchanged, including its retries.
        **settings: as in :class:`VendorAPI`: ``timeout``, ``http_client``.

    Attributes:
        api: sends the requests.
        address: the effective address, without credentials.
    """

    takes_images: ClassVar[bool] = True
    sdk: ClassVar[str]
    client_class: ClassVar[str]
    path: ClassVar[str]

    def __init__(
        self, model: str, *, vendor: str, key: Key, base_url: str | None = None, client: Any = None, **settings: Any
    ) -> None:
        self.model = model
        self.vendor = vendor
        self.base_url = base_url
        self.address = plain_address(base_url) if client is None else client_address(client)
        self.answer_settings = None if client is None else settings_of_client(client)
        self.has_identity = bool(self.address)
        self.api = VendorAPI(
            self.sdk,
            self.client_class,
            self.path,
            name=self.name,
            key=key,
            base_url=base_url,
            client=client,
            **settings,
        )

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    @property
    def identity(self) -> tuple[object, ...]:
        """Server, key and settings. Models with the same identity share a limiter."""
        return self.api.identity

    @property
    def quota(self) -> Hashable | None:
        """Value that is equal for models that may share a quota of their vendor."""
        return quota_of(self.address, hashed(self.api.keys))

    @property
    def preparable(self) -> Preparable:
        return self.api

    def complete(
        self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()
    ) -> Coroutine[Any, Any, Reply]:
        return self.answered_by(self.api.post, prompt, schema, options)

    async def answered_by(
        self, post: Callable[[Body], Awaitable[Any]], prompt: Prompt, schema: Schema | None, options: Options
    ) -> Reply:
        """Ask with another function than a direct request (in a batch). Body, learning and reading are the same."""
        known = self._capabilities
        refuse_images(known, prompt, self.name)
        try:
            answer = await adapting(known, partial(self._body, prompt, schema, options), post)
        except ModelError as error:
            raise learned_of_images(error, known, prompt, self.name) from None
        if isinstance(answer, Mapping):
            reply = self._read(answer)
            if reply is not None:
                return self.api.redacted_reply(reply)
        raise error_in_body(answer, self.api.hidden_in, self.name)

    @abstractmethod
    def _body(self, prompt: Prompt, schema: Schema | None, options: Options) -> Body:
        """Build the request."""

    @abstractmethod
    def _read(self, answer: Mapping[str, Any]) -> Reply | None:
        """Read the answer; None if there is no reply in it. Missing or unexpected parts must not raise."""

    @property
    def _capabilities(self) -> Capabilities:
        return capabilities_of(self.address or self.vendor, self.model)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"
