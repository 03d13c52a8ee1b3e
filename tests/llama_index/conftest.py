"""Shared by the tests of the LlamaIndex adapter."""

import pytest


@pytest.fixture(autouse=True)
def _own_loop(own_loop: None) -> None:
    """All of them run LlamaIndex."""
