"""Test helpers: models with scripted answers, retries that do not sleep, short builders.

    >>> from jury_adapters import ModelError
    >>> from jury_adapters.testing import ScriptedModel
    >>> model = ScriptedModel(["Answer: YES", ModelError("slow network", "timeout"), "Answer: NO"])

No helper patches anything: a scripted model is a model, and works wherever a model works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.usage import Usage
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.rate_limits import Waiting

Line: TypeAlias = str | Reply | Exception


@dataclass(frozen=True)
class Call:
    """One call that a scripted model has received."""

    prompt: Prompt
    schema: Schema | None
    options: Options


@dataclass
class ScriptedModel:
    """Model with scripted answers.

    Attributes:
        script: the answers, call by call: texts, :class:`Reply` objects, or exceptions to raise. The last one is
            repeated forever, and so is a single answer. Or a function of the prompt.
        delay: the duration of each answer, in seconds.
        usage: the usage reported for each text answer.
        model: the model's name.
        calls: every call so far.
        takes_images: whether the model can be given images, which are in the prompts of its calls.

    >>> import asyncio
    >>> asyncio.run(ScriptedModel(["YES"]).complete(Prompt.of("2 + 2 = 4?"))).text
    'YES'
    """

    script: Line | Iterable[Line] | Callable[[Prompt], Line]
    delay: float = 0.0
    usage: Usage = Usage(input_tokens=100, output_tokens=20, calls=1)
    model: str = "scripted"
    vendor: str = "test"
    calls: list[Call] = field(default_factory=list)
    takes_images: bool = True

    def __post_init__(self) -> None:
        self._function: Callable[[Prompt], Line] | None = None
        self._lines: list[Line] = []
        if isinstance(self.script, str | Reply | Exception):
            self._lines = [self.script]
        elif callable(self.script):
            self._function = self.script
        else:
            self._lines = list(self.script)
        if self._function is None and not self._lines:
            raise ConfigurationError("a script needs at least one line: ScriptedModel(['YES'])")

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        line = self._next(prompt)
        self.calls.append(Call(prompt, schema, options))
        if self.delay:
            await asyncio.sleep(self.delay)
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, Reply) else Reply(line, usage=self.usage, model=self.model)

    def _next(self, prompt: Prompt) -> Line:
        if self._function is not None:
            return self._function(prompt)
        return self._lines[min(len(self.calls), len(self._lines) - 1)]


@contextmanager
def no_waiting() -> Iterator[None]:
    """Disable the waits of retries and rate limits inside the block; the number of attempts does not change.

    >>> with no_waiting():
    ...     pass
    """
    before = Waiting.enabled
    Waiting.enabled = False
    try:
        yield
    finally:
        Waiting.enabled = before


def a_case(**fields: Any) -> Case:
    """Return a small complete RAG case; keyword arguments change its fields."""
    defaults: dict[str, Any] = {
        "question": "What is the capital of France?",
        "answer": "Paris is the capital of France.",
        "contexts": ("Paris is the capital and largest city of France.",),
    }
    return Case(**{**defaults, **fields})


def passed(critic: str = "", **details: Any) -> Judgment:
    """Return a PASS."""
    return Judgment(Status.PASS, critic=critic, **details)


def failed(critic: str = "", **details: Any) -> Judgment:
    """Return a FAIL."""
    return Judgment(Status.FAIL, critic=critic, **details)


def abstained(critic: str = "", reasoning: str = "cannot say", **details: Any) -> Judgment:
    """Return an ABSTAIN."""
    return Judgment(Status.ABSTAIN, critic=critic, reasoning=reasoning, **details)


def errored(critic: str = "", error: str = "broken", **details: Any) -> Judgment:
    """Return an ERROR."""
    return Judgment(Status.ERROR, critic=critic, error=error, **details)
