"""Base class and helpers of existing model objects: functions, LangChain chat models, LlamaIndex LLMs.

They share the conversion of errors (:class:`WrappedModel`), the name of the model inside (:func:`model_name`), and the
vendor whose prices apply (:func:`vendor_inside`, which the critic gets as ``price_vendor``).
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, ClassVar

from jury_adapters.core.errors import ModelError
from jury_adapters.core.values import JsonValue
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.error_mapping import as_model_error
from jury_adapters.models.shared_rates import hashed, quota_of
from jury_adapters.vendors import VENDOR_NAMES, VENDORS

# There is no key of ours, but a key in the environment of the wrapped model must not get into an error text either.
_NO_KEY = Key(None, None, "")


class WrappedModel(ABC):
    """Model object of the user. All its exceptions become a :class:`ModelError`.

    Attributes:
        vendor: the kind of object.
        model: the name of the model inside.
        address: the effective address of the model inside, without credentials; "" if it is not known.
        answer_settings: the settings of the object that affect its answers, without secrets.
        has_identity: whether a store can tell the object from others by these and its name.
        key: the keys of the object, which are removed from replies and messages.
    """

    vendor: ClassVar[str]
    model: str
    address: str = ""
    answer_settings: JsonValue = None
    has_identity: bool = False
    key: Key = _NO_KEY
    _hashed_keys: frozenset[str] = frozenset()

    def _hide(self, secrets: Iterable[str]) -> None:
        """Remove secrets of the object from replies and messages."""
        found = tuple(secrets)
        self._hashed_keys = hashed(found)
        self.key = Key(None, None, "")
        self.key.also_hide(found)

    def own_setting(self, name: str) -> float | None:
        """Return the user's own ``temperature`` or ``max_tokens`` on the object, which a critic leaves unchanged."""
        return None

    @property
    def quota(self) -> Hashable | None:
        """Value that is equal for models that may share a quota of their vendor; None if the address is not known."""
        return quota_of(self.address, self._hashed_keys)

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    @property
    def price_vendor(self) -> str:
        """Vendor whose prices apply to the model inside. For an unknown vendor, it is the kind of the object."""
        return self.vendor

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        try:
            answer = await self._ask(prompt, schema, options)
        except (ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            failure = self._failure(error)
        else:
            return self.key.redacted_reply(self._read(answer))
        raise failure

    @abstractmethod
    async def _ask(self, prompt: Prompt, schema: Schema | None, options: Options) -> Any:
        """Ask the object; may raise anything."""

    @abstractmethod
    def _read(self, answer: Any) -> Reply:
        """Read the object's answer."""

    def _failure(self, error: Exception) -> ModelError:
        """Convert the object's exception to a :class:`ModelError`."""
        return as_model_error(error, self.key, self.name)


def model_name(model: object) -> str:
    """Return the name of the model inside; wrappers such as RunnableRetry keep it in ``bound`` or ``runnable``."""
    inside = model
    for inside in models_inside(model):
        for attribute in ("model_name", "model", "model_id"):
            found = getattr(inside, attribute, None)
            if isinstance(found, str) and found:
                return found
    return type(inside).__name__


def vendor_inside(model: object) -> str | None:
    """Return the vendor of a model, as in the price table; None if the classes of the object do not show it.

    ``ChatOpenAI`` and all classes derived from it belong to OpenAI; an ``OpenAILike`` only speaks its protocol.
    """
    for inside in models_inside(model):
        for kind in type(inside).__mro__:
            name = kind.__name__.lower()
            found = next((word for word in _VENDOR_BY_WORD if word in name), None)
            if found is not None:
                return _VENDOR_BY_WORD[found]
    return None


def models_inside(model: object) -> Iterator[object]:
    """Yield the object itself, then the object that it wraps, down to the innermost."""
    seen: list[object] = []
    inside: object | None = model
    while inside is not None and not any(inside is one for one in seen):
        yield inside
        seen.append(inside)
        wrapped = (getattr(inside, attribute, None) for attribute in ("bound", "runnable", "default"))
        inside = next((one for one in wrapped if one is not None), None)


# The first of these words in the name of a class decides. None means another vendor with the same protocol. The
# vendors whose SDKs others use come last: AzureChatOpenAI is Azure's.
_VENDOR_BY_WORD: dict[str, str | None] = {
    "openailike": None,
    "bedrock": None,
    **dict(sorted(VENDOR_NAMES.items(), key=lambda item: item[1] in {vendor.sdk for vendor in VENDORS.values()})),
}
