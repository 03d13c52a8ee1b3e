"""Functions as models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from jury_adapters.core.errors import ConfigurationError, ModelError, plain_repr
from jury_adapters.core.usage import Usage
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.wrapped import WrappedModel


class FunctionModel(WrappedModel):
    """Model that calls an ``async (prompt) -> str``; the prompt is one text, with the system prompt first.

    Args:
        function: answers a text with a text. With ``structured=True``, it takes a :class:`Prompt` and returns a
            :class:`Reply`.
        name: the model's name in verdicts and in a store; by default the function's own name in verdicts, and none in
            a store. Give another name when the function changes, because a store finds judgments by this name.
        structured: whether the function takes a Prompt and returns a Reply.
    """

    vendor = "function"

    def __init__(self, function: Callable[[Any], Awaitable[Any]], *, name: str = "", structured: bool = False) -> None:
        if not callable(function):
            raise ConfigurationError(
                f"a model is a name, a model object or an async function, not {plain_repr(function)}"
            )
        self.model = name or getattr(function, "__name__", type(function).__name__)
        self._function = function
        self._structured = structured
        self.has_identity = bool(name)

    async def _ask(self, prompt: Prompt, schema: Schema | None, options: Options) -> Any:
        return await self._function(prompt if self._structured else as_text(prompt))

    def _read(self, answer: object) -> Reply:
        if isinstance(answer, Reply):
            return answer
        if not isinstance(answer, str):
            raise ModelError(f"{self.name} returned {type(answer).__name__}, not text", "malformed")
        return Reply(answer, usage=Usage(calls=1, cost_complete=False), model=self.model)


def as_text(prompt: Prompt) -> str:
    """Return a prompt as one text, for models that take only text."""
    if len(prompt.turns) == 1:
        return f"{prompt.system}\n\n{prompt.turns[0].text}" if prompt.system else prompt.turns[0].text
    turns = "\n\n".join(f"{turn.role.upper()}:\n{turn.text}" for turn in prompt.turns)
    return f"{prompt.system}\n\n{turns}" if prompt.system else turns
