"""Criteria of scorecards as feedback of their own: the same keys on every row."""

from __future__ import annotations

from collections.abc import Iterator

from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.compose import AllOf, AnyOf
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import Path, juror_names
from jury_adapters.core.scorecard import Scorecard
from jury_adapters.core.stand_in import seated
from jury_adapters.core.verdict import Verdict


class Criteria:
    """The criteria of the scorecards in a judge, also of those inside other juries.

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
        """The names, in order. A criterion whose name is not unique has the juries around it before its name."""
        return tuple(self._names.values())

    def results(self, judgment: Judgment) -> dict[str, Judgment]:
        """Return a judgment for each criterion, by name.

        Where a jury gave no result for its criteria, because the run failed or the jury broke, that is the jury's own
        judgment. A criterion that was not needed is ABSTAIN.
        """
        return {name: _result_at(judgment, path) for path, name in self._names.items()}


def _paths(judge: Judge) -> Iterator[Path]:
    """Yield the path of each criterion: the names of the tiers and juries around it, then its own."""
    judge = seated(judge)
    if isinstance(judge, Scorecard):
        yield from ((name,) for name in judge.names)
    elif isinstance(judge, Jury | AllOf | AnyOf):
        names = [tier.name for tier in judge.tiers] if isinstance(judge, CascadedJury) else judge.names
        for name, member in zip(names, judge.members, strict=True):
            yield from ((name, *path) for path in _paths(member))


def _result_at(judgment: Judgment, path: Path) -> Judgment:
    if not path:
        return judgment
    parts = _parts(judgment)
    if path[0] in parts:
        return _result_at(parts[path[0]], path[1:])
    if judgment.stand_in is not None:
        return abstain(f"not asked: {judgment.stand_in} stood in for the jury", critic=path[-1])
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
