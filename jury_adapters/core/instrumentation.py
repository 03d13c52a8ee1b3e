"""Hook for instrumentation: an optional observer that is called for every judge that is asked.

The core itself has no tracing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jury_adapters.core.case import Case
    from jury_adapters.core.description import Named
    from jury_adapters.core.judgment import Judgment


class Observer(Protocol):
    """Observer of every judge that is asked, from the jury down to its jurors."""

    def judged(
        self, judge: Named, case: Case, name: str, work: Callable[[], Awaitable[Judgment]]
    ) -> Awaitable[Judgment]:
        """Run the work of one judge on one case and return its judgment unchanged.

        Args:
            judge: the judge that is asked.
            case: the case.
            name: the name of the judge in its jury; empty if it is asked alone.
            work: judges the case; must be awaited once, in the task and the context of this call.
        """


observer: Observer | None = None
