"""What applies to every judge that is asked inside a batch, an adapter or a jury."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from jury_adapters.core.budget import Budget
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError


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


def check_means(store: object = None, budget: object = None) -> None:
    """Refuse what is neither None nor a store, and what is neither None nor a budget."""
    if not (store is None or hasattr(store, "put")) or not isinstance(budget, Budget | None):
        raise ConfigurationError(
            "store= is a store, such as open_store('runs.db'), and budget= a Budget, such as Budget(max_usd=5); not "
            f"{type(store).__name__} and {type(budget).__name__}"
        )


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
