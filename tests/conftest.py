"""Shared by all tests. Its place puts this folder on the path, so that tests can import `support`."""

from collections.abc import Iterator

import pytest
from support.vendor import VendorServer


@pytest.fixture
def server() -> Iterator[VendorServer]:
    """A local server that speaks as the vendors do; set its `plan`."""
    with VendorServer() as running:
        yield running
