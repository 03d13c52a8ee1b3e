"""Shared by the tests of the LlamaIndex adapter."""

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_loop() -> Iterator[None]:
    """LlamaIndex makes an event loop in the main thread, and leaves it behind: give it one, and close that."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
