"""Choice of the runs that a handler judges: the roots, runs by name or tag, retrievers, or those of a function."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Final, TypeAlias

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.runs import Run
from jury_adapters.langchain.collector import RETRIEVER, Chooser

_log = logging.getLogger(__name__)

Runs: TypeAlias = str | Sequence[str] | Callable[[Run], bool] | None
"""Choice of the runs to judge: None for the roots, names or tags, ``"retriever"``, or a function of the run."""


def chooser_of(runs: Runs) -> Chooser:
    """Return the predicate for a ``select=`` option.

    Raises:
        ConfigurationError: the option has another form, or a name is a misspelt ``"retriever"``.
    """
    if runs is None:
        return lambda run, around, inside: around is None
    if callable(runs):
        return lambda run, around, inside: not inside and bool(runs(run))
    given = (runs,) if isinstance(runs, str) else tuple(runs) if isinstance(runs, Iterable) else ()
    if not given or not all(isinstance(name, str) and name for name in given):
        raise ConfigurationError(
            f"select= takes names or tags of runs, a function of the run, or None; not {plain_repr(runs)}"
        )
    names = frozenset(given)
    for name in names:
        if _is_misspelt(name):
            raise ConfigurationError(
                f"select={plain_repr(name)}: did you mean {RETRIEVER!r}? For a run or a tag of this name, give a "
                f"function: select=lambda run: run.name == {plain_repr(name)}"
            )
    return NamedRuns(names)


class NamedRuns:
    """Predicate that chooses runs by their names and tags.

    Args:
        names: the names and tags, and ``"retriever"`` for retrievers.
    """

    __slots__ = ("_matched", "_names", "_others")

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._matched = False
        self._others: dict[str, None] = {}  # the names of runs that were not chosen

    def __call__(self, run: Run, around: Run | None, inside: bool) -> bool:
        chosen = self._chooses(run, around, inside)
        if chosen:
            self._matched = True
        elif not self._matched and run.name and len(self._others) < _MOST_NAMES:
            self._others[run.name] = None
        return chosen

    def warn(self) -> None:
        """Log once that no run had one of the names, if there were runs."""
        if self._matched or not self._others:
            return
        self._matched = True
        others = tuple(self._others)  # runs may begin in other threads meanwhile
        close = [match for name in sorted(self._names) for match in get_close_matches(name, others, n=1)]
        _log.warning(
            "select= names %s, and no run so far has this name or tag, so none was judged (logged once). Their names "
            "are %s%s", ", ".join(map(plain_repr, sorted(self._names))), ", ".join(map(plain_repr, others)),
            f"; did you mean {close[0]!r}?" if close else "",
        )  # fmt: skip

    def _chooses(self, run: Run, around: Run | None, inside: bool) -> bool:
        names = self._names
        if run.name in names:  # a graph's node and the agent in it share one name, and are one answer
            return around is None or around.name != run.name
        if run.kind == RETRIEVER in names:
            return not inside
        tags = names & run.tags.keys()
        return bool(tags if around is None else tags - around.tags.keys())


def _is_misspelt(name: str) -> bool:
    """Whether a name is meant as ``"retriever"``; "retrieve", "Retriever" and "my retrievers" are names of runs."""
    return "retriev" not in name.lower() and bool(get_close_matches(name.lower(), [RETRIEVER], 1, 0.85))


_MOST_NAMES: Final = 10
