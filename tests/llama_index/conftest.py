"""LlamaIndex uses deprecated names of pydantic and of its own workflows; that is no fault of the code under test."""

import asyncio
from pathlib import Path

import pytest

QUIET = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(QUIET)


@pytest.fixture(autouse=True)
def no_loop_is_left_open():
    """Have LlamaIndex make, and close, a loop for each synchronous call, as in a thread that has none."""
    asyncio.set_event_loop(None)
