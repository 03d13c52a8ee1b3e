"""Who watches the judging: nobody, unless somebody asks for it.

The core knows no tracing. It tells one observer, where there is one, of each judge that is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jury_adapters.core.case import Case
    from jury_adapters.core.describing import Named
    from jury_adapters.core.judgment import Judgment


class Observer(Protocol):
    """Sees every judge that is asked, from the jury down to its jurors."""

    def judged(
        self, judge: Named, case: Case, name: str, work: Callable[[], Awaitable[Judgment]]
    ) -> Awaitable[Judgment]:
        """Do the work of one judge on one case, and hand out what came of it, unchanged.

        Args:
            judge: who is asked.
            case: about what.
            name: how it is called in its jury; empty when it is asked alone.
            work: judges the case; to be awaited once, in the task and context that this was called in.
        """


observer: Observer | None = None
