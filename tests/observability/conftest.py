"""A tracer provider for each test, and no tracing left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from spans_seen import Spans

from jury_adapters.core import instrumentation
from jury_adapters.models import calls


@pytest.fixture
def spans() -> Iterator[Spans]:
    yield Spans()
    assert instrumentation.observer is None, "a test left its tracing on"
    assert calls.observer is None
