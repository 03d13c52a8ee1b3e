"""Votes of the jurors in the verdicts of a run, by the names under which a replay looks them up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import Path, juror_names, opinions_of
from jury_adapters.core.verdict import Verdict


class ResultVotes:
    """Votes in verdicts by juror name, each as :class:`RecordedCritic` takes it.

    A juror has its own name, or its whole path if several have one name. A juror that was asked several times has its
    vote under its name, and its single answers under longer names.

    Args:
        judgments: the judgments of all cases, which show what names there are; read once and not kept. Of panels
            without juries inside, none is needed, because their jurors have their own names.
    """

    def __init__(self, judgments: Iterable[Judgment] = ()) -> None:
        paths = dict.fromkeys(path for judgment in judgments for path, _ in opinions_of(judgment))
        self._names = juror_names(paths)
        self._owners = {name: path for path, name in self._names.items()}

    def of(self, judgment: Judgment) -> dict[str, Judgment]:
        """Return the votes in one of the judgments, by juror name."""
        votes = {self._names.get(path) or self._name(path): vote for path, vote in opinions_of(judgment)}
        for around, inside, part in _juries_in(judgment, ()):
            owner = self._owners.get(part.critic)
            votes[" / ".join((*around, part.critic))] = part
            if owner is None or owner[: len(inside)] == inside:  # no juror elsewhere has the name
                votes[part.critic] = part
        return votes

    def _name(self, path: Path) -> str:
        """Return the name of a juror that the given judgments do not have."""
        return self._names.setdefault(path, juror_names([path])[path])


def _juries_in(judgment: Judgment, path: Path) -> Iterator[tuple[Path, Path, Verdict]]:
    """Yield the verdicts inside a verdict, each with the path to it and the path of its jurors."""
    if not isinstance(judgment, Verdict):
        return
    tiers = [((*path, tier.name), (*path, tier.name), tier.judgment) for tier in judgment.tiers]
    for around, inside, part in tiers or [(path, (*path, juror.critic), juror) for juror in judgment.judgments]:
        if isinstance(part, Verdict):
            yield around, inside, part
            yield from _juries_in(part, inside)
