"""LangSmith's tracing, switched on for a block without a server that could be reached."""

import os
from contextlib import contextmanager

import pytest


@pytest.fixture(autouse=True)
def no_tracing(monkeypatch):
    for name in [*os.environ]:
        if name.startswith(("LANGSMITH", "LANGCHAIN")):
            monkeypatch.delenv(name)


@pytest.fixture
def traced():
    """Return a block in which runs are traced, to a client that keeps them."""
    from langsmith import Client, tracing_context

    client = Client(
        api_url="http://127.0.0.1:1", api_key="offline", auto_batch_tracing=False, tracing_sampling_rate=0.0
    )

    @contextmanager
    def block(enabled):
        with tracing_context(enabled=enabled, client=client, project_name="test"):
            yield

    return block
