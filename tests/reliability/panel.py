"""The panel and the cases of the reliability tests; the right verdict stands in each case."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jury_adapters import Case, Critic, Ensemble, Limits, Status

NUMBER = re.compile(r"item number (\d+)\b")
JURORS = 3


def truth(number: int) -> Status:
    """What the server will say of a case."""
    return Status.FAIL if number % 3 == 0 else Status.PASS


def cases(count: int) -> Iterator[Case]:
    """Cases whose answer says what is right."""
    for number in range(count):
        word = "NO" if truth(number) is Status.FAIL else "YES"
        yield Case(question="Which item is it?", answer=f"It is item number {number} and TRUTH={word}")


def panel(openai_url: str, anthropic_url: str) -> Ensemble:
    """Three critics through the real SDKs: two models over OpenAI's protocol, one over Anthropic's."""
    limits = Limits(attempts=8)

    def critic(model: str, url: str) -> Critic:
        return Critic(
            model.partition(":")[2], model, rubric="correctness_without_reference", base_url=url, api_key="none",
            limits=limits,
        )  # fmt: skip

    return Ensemble(
        [
            critic("openai:gpt-4o-mini", openai_url),
            critic("mistral:mistral-small", openai_url),
            critic("anthropic:claude-sonnet-4-5", anthropic_url),
        ]
    )
