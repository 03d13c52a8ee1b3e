"""What models that are already there have in common: functions, LangChain chat models, LlamaIndex LLMs."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from jury_adapters.core.errors import ModelError
from jury_adapters.models.base import Finish, Options, Prompt, Reply, Schema
from jury_adapters.models.clients import Key, as_model_error

# No key of ours is in play, but one in the environment of the wrapped model must not reach an error text either.
_NO_KEY = Key(None, None, "")
_CUT_OFF = frozenset({"length", "max_tokens"})


class WrappedModel(ABC):
    """A model object of the user's, asked as it is; what it raises becomes a :class:`ModelError`.

    Attributes:
        vendor: what kind of object it is.
        model: the name of the model inside.
    """

    vendor: ClassVar[str]
    model: str

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        try:
            answer = await self._ask(prompt, schema, options)
        except (ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            failure = as_model_error(error, _NO_KEY, self.name)
        else:
            return self._read(answer)
        raise failure

    @abstractmethod
    async def _ask(self, prompt: Prompt, schema: Schema | None, options: Options) -> Any:
        """Ask the object; may raise anything."""

    @abstractmethod
    def _read(self, answer: Any) -> Reply:
        """Read its answer."""


def model_name(model: object) -> str:
    """The name of the model inside: wrappers such as RunnableRetry keep it in ``bound`` or ``runnable``."""
    for attribute in ("model_name", "model", "model_id"):
        found = getattr(model, attribute, None)
        if isinstance(found, str) and found:
            return found
    for attribute in ("bound", "runnable", "default"):
        inner = getattr(model, attribute, None)
        if inner is not None and inner is not model:
            return model_name(inner)
    return type(model).__name__


def finish_of(reason: str) -> Finish:
    """A framework's finish reason as ours."""
    if reason in _CUT_OFF:
        return "length"
    if reason in ("refusal", "content_filter"):
        return "refusal" if reason == "refusal" else "filter"
    return "stop"
