"""What applies to every judge that is asked inside a batch, an adapter or a jury."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from jury_adapters.core.budget import Budget
from jury_adapters.core.store import Store


@dataclass(frozen=True)
class Context:
    """Circumstances under which a judge is asked.

    Attributes:
        store: where judgments are kept.
        budget: the limit on spending.
        sample: the number of the sample, where one judge is asked several times about a case.
        judging: True inside adapters, so that callbacks ignore what judges do.
    """

    store: Store | None = None
    budget: Budget | None = None
    sample: int = 0
    judging: bool = False


_CONTEXT: ContextVar[Context] = ContextVar("jury_context", default=Context())  # noqa: B039 - it is immutable


def context() -> Context:
    """Return what applies here."""
    return _CONTEXT.get()


@contextmanager
def within(**changes: Any) -> Iterator[None]:
    """Apply changes to the judges that are asked in the block; None leaves a field as it is."""
    token = _CONTEXT.set(
        replace(_CONTEXT.get(), **{name: value for name, value in changes.items() if value is not None})
    )
    try:
        yield
    finally:
        _CONTEXT.reset(token)
