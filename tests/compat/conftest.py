"""Shared by the tests of this folder."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest


@pytest.fixture
def closing() -> Iterator[Callable[[Any], Any]]:
    """Takes critics and reviewers of the released cross-judge, which never close the client they open; closes it."""
    kept: list[Any] = []

    def keep(critic: Any) -> Any:
        kept.append(critic)
        return critic

    yield keep
    with ExitStack() as stack:
        for critic in kept:
            client = getattr(critic, "http_client", None) or getattr(critic, "client", None)
            if client is not None:
                stack.callback(client.close)
