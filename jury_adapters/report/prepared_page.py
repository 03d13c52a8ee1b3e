"""Everything about the cases of a run that its page needs, collected in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from jury_adapters.core.human_labels import GOLD
from jury_adapters.report.analysis import CollectedVotes
from jury_adapters.report.comparison import Comparison
from jury_adapters.report.entries import Entry
from jury_adapters.report.spooled_cases import SpooledCases


class PreparedPage:
    """Cases and votes of a run, collected one by one; as a context manager it deletes the temporary files at the end.

    Args:
        group: the field that identifies the group of a case; empty for independent cases.
        compared: a comparison with an earlier run.

    Attributes:
        cases: the cases for the page.
        votes: the votes for the agreement of the jurors.
    """

    def __init__(self, group: str = "", compared: Comparison | None = None) -> None:
        self.cases = SpooledCases(GOLD, compared)
        self.votes = CollectedVotes(group)

    def noting(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries, and collect what the page needs of each."""
        return self.cases.noting(self.votes.noting(entries))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cases.close()
