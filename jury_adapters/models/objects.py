"""Objects as models: asynchronous functions, and what the models of LangChain and LlamaIndex have in common."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from inspect import isfunction
from typing import Any

from pydantic import SecretStr

from jury_adapters.core.context import within
from jury_adapters.core.judgment import Usage
from jury_adapters.models.base import NO_OPTIONS, ModelError, Options, Prompt, Reply, Schema
from jury_adapters.models.clients import PerLoop, client_of_this_loop, is_sdk_client
from jury_adapters.models.errors import error_of
from jury_adapters.models.keys import Keys, secrets_of
from jury_adapters.models.prices import Priced
from jury_adapters.models.sdk import refuses_schema


class ObjectModel(Priced):
    """Object of a framework as a model. It keeps its own settings: a critic's options do not reach it.

    It is called in an empty context, so its call belongs to no run, trace or stream of the application, and with
    connections of the running event loop.

    Args:
        given: the object, which is not changed.
        vendor: the vendor, by whose name prices are found.
        model: the model's own name.
        settings: what the answers depend on, without secrets or hashed with them.
    """

    def __init__(self, given: Any, vendor: str, model: str, settings: object) -> None:
        self.model, self.name, self.account = model, f"{vendor}:{model}", str(id(given))
        held = {**getattr(given, "__dict__", {}), **(getattr(given, "__pydantic_private__", None) or {})}
        text, addresses = repr(settings), {str(getattr(one, "base_url", "")).rstrip("/") for one in held.values()}
        described = f"{text}{sorted(one for one in addresses if one not in text)}"  # of clients inside
        self.identity = f"{self.name} {hashlib.sha256(described.encode()).hexdigest()[:32]}"
        self._given, self._has_schemas, self._of_loop = given, True, PerLoop[Any](self._prepare)
        own = (one for name, one in held.items() if "key" in name or isinstance(one, SecretStr))
        headers = held.get("default_headers")  # of a client that is made later
        self._keys = Keys(
            [
                *own,
                *(headers.values() if isinstance(headers, Mapping) else ()),
                *(secret for one in held.values() if is_sdk_client(one) for secret in secrets_of(one)),
            ]
        )

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = NO_OPTIONS) -> Reply:
        """Call the object once, and again without the schema if it does not support schemas."""
        if schema is None or not self._has_schemas:
            return await self._called(prompt, None)
        try:
            return await self._called(prompt, schema)
        except ModelError as error:
            if not refuses_schema(error):
                raise
        reply = await self._called(prompt, None)
        self._has_schemas = False  # known because the object has answered without one
        return reply

    async def _called(self, prompt: Prompt, schema: Schema | None) -> Reply:
        try:
            ready = await self._of_loop.get()
            reply = await asyncio.create_task(self._judging(ready, prompt, schema), context=Context())
        except Exception as error:
            failure = error_of(error, self.name, self._keys.hidden_in)
        else:
            return self._keys.hidden_in_reply(reply)
        raise failure

    async def _judging(self, ready: Any, prompt: Prompt, schema: Schema | None) -> Reply:
        with within(judging=True):
            return await self._ask(ready, prompt, schema)

    async def _prepare(self) -> Any:
        """Return what is asked on the running loop."""
        return self._given

    async def _ask(self, ready: Any, prompt: Prompt, schema: Schema | None) -> Reply:
        """Ask it."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._given,)


class FunctionModel(ObjectModel):
    """Asynchronous function from the text of a prompt to the text of a reply, as a model.

    The function gets no schema and no options. A store and :func:`set_price` know it by its name.

    Args:
        function: the function.

    >>> async def shout(prompt):
    ...     return prompt.upper()
    >>> asyncio.run(FunctionModel(shout).complete(Prompt("be brief", ()))).text
    'BE BRIEF'
    """

    def __init__(self, function: Callable[[str], Awaitable[str]]) -> None:
        # Another object of a class, or a function with other values around it, such as what a decorator returns, may
        # answer otherwise: it has no name that a store may use.
        super().__init__(
            function,
            "function",
            f"<{type(function).__qualname__}>"
            if not isfunction(function) or function.__closure__ or hasattr(function, "__wrapped__")
            else function.__qualname__,
            getattr(function, "__module__", ""),
        )

    async def _ask(self, ready: Callable[[str], Awaitable[str]], prompt: Prompt, schema: Schema | None) -> Reply:
        if any(turn.images for turn in prompt.turns):
            raise ModelError("a function takes no images", sent=False)
        text = await ready(prompt.text)
        if not isinstance(text, str):
            raise ModelError(f"the function returned {type(text).__name__}, not a text")
        return Reply(text, Usage(calls=1, cost_complete=self.price(0, 0) is not None), self.model)


async def clients_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies of the SDK clients among the attributes of an object, and of their resources, for this loop."""
    found = {}
    for name, value in values.items():
        if is_sdk_client(value):
            found[name] = await client_of_this_loop(value)
        elif is_sdk_client(getattr(value, "_client", None)):
            found[name] = type(value)(await client_of_this_loop(value._client))
    return found
