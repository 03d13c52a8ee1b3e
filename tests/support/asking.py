"""Asking a model directly, as a critic does."""

from __future__ import annotations

import asyncio

import pytest

from jury_adapters import ModelError
from jury_adapters.models.base import ChatModel, Options, Prompt, Reply, Schema
from jury_adapters.testing import no_waiting


def complete(
    model: ChatModel, prompt: str = "Is it so?", schema: Schema | None = None, options: Options = Options()
) -> Reply:
    """Ask once, on a loop of its own."""

    async def run() -> Reply:
        return await model.complete(Prompt.of(prompt, "You judge."), schema, options)

    return asyncio.run(run())


def failure(model: ChatModel, **how: object) -> ModelError:
    """Return the result of asking, after all tries and without waiting between them."""
    with pytest.raises(ModelError) as caught, no_waiting():
        complete(model, **how)  # type: ignore[arg-type]
    return caught.value
