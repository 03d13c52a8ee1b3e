"""A jury of the tests that every worker can make: its model is a function, and each call leaves a line in a file."""

import asyncio
import os
from pathlib import Path

from jury_adapters import Critic, Ensemble, Limits

YES = '{"reasoning": "It is so.", "answer": "YES", "confidence": 0.9}'


async def noting(prompt: str) -> str:
    """Answer, and note in the file of this process which case was asked about."""
    name = prompt.partition("Answer number ")[2].partition(".")[0]
    with Path(os.environ["JURY_TEST_CALLS"], str(os.getpid())).open("a") as file:
        file.write(f"{name}\n")
    if delay := os.environ.get("JURY_TEST_DELAY"):
        await asyncio.sleep(float(delay))
    return YES


def make() -> Ensemble:
    return Ensemble([Critic(noting, "answer_relevance", limits=Limits(max_concurrency=200))])
