"""What models that are already there have in common: functions, LangChain chat models, LlamaIndex LLMs.

Shared by all of them: errors in our own words (:class:`WrappedModel`), the name of the model inside
(:func:`model_name`), whose prices it goes by (:func:`vendor_inside`, which the critic is told as ``price_vendor``), and
why it stopped (:func:`finish_of`).
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from jury_adapters.core.errors import ModelError
from jury_adapters.core.values import JsonValue
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.error_mapping import as_model_error
from jury_adapters.vendors import VENDOR_NAMES, VENDORS

# No key of ours is in play, but one in the environment of the wrapped model must not reach an error text either.
_NO_KEY = Key(None, None, "")


class WrappedModel(ABC):
    """Model object of the user's. Whatever it raises becomes a :class:`ModelError`.

    Attributes:
        vendor: what kind of object it is.
        model: the name of the model inside.
        address: the effective address of the model inside, without credentials; "" if it is not known.
        answer_settings: the settings of the object that decide what it answers, without secrets.
        has_identity: whether a store can tell the object from others by these and its name.
        key: the keys of the object, which are removed from replies and messages.
    """

    vendor: ClassVar[str]
    model: str
    address: str = ""
    answer_settings: JsonValue = None
    has_identity: bool = False
    key: Key = _NO_KEY

    def _hide(self, secrets: Iterable[str]) -> None:
        """Remove secrets of the object from replies and messages."""
        self.key = Key(None, None, "")
        self.key.also_hide(secrets)

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    @property
    def price_vendor(self) -> str:
        """Whose prices the model inside goes by; an object whose vendor cannot be told has its own, by its kind."""
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
        """Read its answer."""

    def _failure(self, error: Exception) -> ModelError:
        """What the object raised, in our words."""
        return as_model_error(error, self.key, self.name)


def model_name(model: object) -> str:
    """The name of the model inside: wrappers such as RunnableRetry keep it in ``bound`` or ``runnable``."""
    inside = model
    for inside in models_inside(model):
        for attribute in ("model_name", "model", "model_id"):
            found = getattr(inside, attribute, None)
            if isinstance(found, str) and found:
                return found
    return type(inside).__name__


def vendor_inside(model: object) -> str | None:
    """Whose model it is, as the price table calls the vendor; None when the classes of the object do not tell.

    ``ChatOpenAI`` and whatever derives from it are OpenAI's; an ``OpenAILike`` only speaks like it.
    """
    for inside in models_inside(model):
        for kind in type(inside).__mro__:
            name = kind.__name__.lower()
            found = next((word for word in _VENDOR_BY_WORD if word in name), None)
            if found is not None:
                return _VENDOR_BY_WORD[found]
    return None


def models_inside(model: object) -> Iterator[object]:
    """The object itself, then the one it wraps, down to the innermost."""
    seen: list[object] = []
    inside: object | None = model
    while inside is not None and not any(inside is one for one in seen):
        yield inside
        seen.append(inside)
        wrapped = (getattr(inside, attribute, None) for attribute in ("bound", "runnable", "default"))
        inside = next((one for one in wrapped if one is not None), None)


# The first word that stands in the name of a class decides; None: it speaks like that vendor, and is another.
# The vendors whose SDKs others use stand last: AzureChatOpenAI is Azure's.
_VENDOR_BY_WORD: dict[str, str | None] = {
    "openailike": None,
    "bedrock": None,
    **dict(sorted(VENDOR_NAMES.items(), key=lambda item: item[1] in {vendor.sdk for vendor in VENDORS.values()})),
}
