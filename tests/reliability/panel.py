"""The panel and the cases of the reliability tests; the right verdict stands in each case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jury_adapters import Case, Critic, Ensemble, Limits, Status

NUMBER = re.compile(r"item number (\d+)\b")
JURORS = 3


def truth(number: int) -> Status:
    """The status that the server gives a case."""
    return Status.FAIL if number % 3 == 0 else Status.PASS


def cases(count: int) -> Iterator[Case]:
    """Cases whose answer says what is right."""
    for number in range(count):
        word = "NO" if truth(number) is Status.FAIL else "YES"
        yield Case(question="Which item is it?", answer=f"It is item number {number} and TRUTH={word}")


LIMITS = Limits(attempts=8)


def critic(model: str, url: str, *, limits: Limits = LIMITS, timeout: float = 60.0) -> Critic:
    """A critic through the real SDK of the model's vendor."""
    return Critic(
        model,
        "correctness_without_reference",
        name=model.partition(":")[2],
        base_url=url,
        api_key="none",
        limits=limits,
        request_timeout=timeout,
    )


def critics(openai_url: str, anthropic_url: str, **options: Any) -> list[Critic]:
    """Three critics: two models over OpenAI's protocol, one over Anthropic's."""
    return [
        critic("openai:gpt-4o-mini", openai_url, **options),
        critic("mistral:mistral-small", openai_url, **options),
        critic("anthropic:claude-sonnet-4-5", anthropic_url, **options),
    ]


def panel(openai_url: str, anthropic_url: str) -> Ensemble:
    """The three of them as a jury."""
    return Ensemble(critics(openai_url, anthropic_url))
