"""A provider for each test, and no tracing left behind."""

from collections.abc import Iterator

import pytest
from spans_seen import Spans

from jury_adapters.core import judge
from jury_adapters.models import limits


@pytest.fixture
def spans() -> Iterator[Spans]:
    yield Spans()
    assert judge.around is None, "a test left its tracing on"
    assert limits.around_call is None
