"""Separate feedback for criteria of scorecards, and for jurors of panels inside a jury."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.combinators import AllOf, AnyOf
from jury_adapters.core.fallbacks import without_fallbacks
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import Path, juror_names
from jury_adapters.core.scorecard import Scorecard
from jury_adapters.core.verdict import Verdict


class Criteria:
    """Criteria of the scorecards in a judge, nested juries included.

    Args:
        judge: any judge; one without a scorecard has no criteria.

    >>> from jury_adapters import Scorecard
    >>> Criteria(Scorecard({"polite": lambda case: True})).names
    ('polite',)
    """

    __slots__ = ("_names",)

    def __init__(self, judge: Judge) -> None:
        self._names = juror_names(_paths(judge))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the criteria, in order. An ambiguous name is prefixed with the juries around it."""
        return tuple(self._names.values())

    def results(self, judgment: Judgment) -> dict[str, Judgment]:
        """Return a judgment for each criterion, by name.

        If a jury gave no result for its criteria, because the run or the jury failed, each gets the jury's own
        judgment. A criterion that was not needed is ABSTAIN.
        """
        return {name: _result_at(judgment, path) for path, name in self._names.items()}


class InnerJurors:
    """Jurors of the panels inside a jury, such as those of a criterion's panel.

    Args:
        judge: any judge. Its own jurors, and those of its tiers, are excluded.
        taken: the names of other results.

    >>> from jury_adapters import Ensemble, Scorecard
    >>> card = Scorecard({"polite": Ensemble({"a": lambda case: True, "b": lambda case: True})})
    >>> InnerJurors(card, taken=["polite"]).names
    ('a', 'b')
    """

    __slots__ = ("_names",)

    def __init__(self, judge: Judge, taken: Iterable[str] = ()) -> None:
        found = dict(_inner_jurors(judge, ()))
        times = Counter([*taken, *found.values()])
        self._names: dict[Path, str] = {}
        used = set(taken)
        for path, own in found.items():
            name = own if times[own] == 1 else " / ".join(path)
            while name in used:
                name = f"{name}'"
            used.add(name)
            self._names[path] = name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the jurors, in order. An ambiguous name is prefixed with the juries around it."""
        return tuple(self._names.values())

    def results(self, judgment: Judgment) -> dict[str, Judgment]:
        """Return the judgments of those of these jurors that were asked, by name."""
        found = ((name, _judgment_at(judgment, path)) for path, name in self._names.items())
        return {name: inner for name, inner in found if inner is not None}


def _paths(judge: Judge) -> Iterator[Path]:
    """Yield the path of each criterion: the names of the tiers, juries and criteria around it, then its own."""
    judge = without_fallbacks(judge)
    for name, member in _members(judge):
        if isinstance(judge, Scorecard):
            yield (name,)
        yield from ((name, *path) for path in _paths(member))


def _inner_jurors(judge: Judge, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and the name of each juror of a panel inside a jury, at any depth."""
    judge = without_fallbacks(judge)
    for name, member in _members(judge):
        if not isinstance(judge, CascadedJury):
            yield from _jurors(member, (*path, name))
        yield from _inner_jurors(member, (*path, name))


def _jurors(judge: Judge, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and the name of a jury's own jurors, or of those of its tiers; none for a scorecard."""
    judge = without_fallbacks(judge)
    for name, member in () if isinstance(judge, Scorecard) else _members(judge):
        if not isinstance(judge, CascadedJury):
            yield (*path, name), name
        elif isinstance(without_fallbacks(member), Jury):
            yield from _jurors(member, (*path, name))
        else:
            yield (*path, name), member.name or name


def _members(judge: Judge) -> list[tuple[str, Judge]]:
    """Return the judges of a jury with the names of their tiers, criteria or seats."""
    if not isinstance(judge, Jury | AllOf | AnyOf):
        return []
    names = [tier.name for tier in judge.tiers] if isinstance(judge, CascadedJury) else judge.names
    return list(zip(names, judge.members, strict=True))


def _judgment_at(judgment: Judgment, path: Path) -> Judgment | None:
    found: Judgment | None = judgment
    for name in path:
        found = None if found is None else _parts(found).get(name)
    return found


def _result_at(judgment: Judgment, path: Path) -> Judgment:
    if not path:
        return judgment
    parts = _parts(judgment)
    if path[0] in parts:
        return _result_at(parts[path[0]], path[1:])
    if judgment.fallback_used is not None:
        return abstain(f"not asked: the fallback {judgment.fallback_used} voted instead of the jury", critic=path[-1])
    if not parts:
        return judgment
    stopped_at = judgment.stopped_at if isinstance(judgment, Verdict) else None
    why = "the vote was settled" if stopped_at is None else f"the jury stopped at {stopped_at}"
    return abstain(f"not asked: {why}", critic=path[-1])


def _parts(judgment: Judgment) -> dict[str, Judgment]:
    """Return the judgments directly inside, by the names of their tiers or jurors."""
    if not isinstance(judgment, Verdict):
        return {}
    return {tier.name: tier.judgment for tier in judgment.tiers} or judgment.by_name
