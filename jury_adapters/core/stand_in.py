"""BackedJudge, a juror with a fallback that is asked if the juror breaks."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

from jury_adapters.core.case import Case
from jury_adapters.core.context import changed_context, run_context
from jury_adapters.core.description import Traits
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import STAND_IN, Judgment, OpinionStatuses, Status, evolve
from jury_adapters.core.runner import run_judge
from jury_adapters.core.values import FrozenDict
from jury_adapters.core.verdict import UNNAMED


class BackedJudge(Judge):
    """Juror with a fallback that is asked if the juror's judgment is an ERROR: ``juror.backed_by(other)``.

    The fallback is not asked if the juror abstains. A judgment of the fallback has the juror's name.
    ``judgment.stand_in`` names the judge that voted, ``judgment.metadata["stand_in"]`` also has the juror's error, and
    ``verdict.stand_ins`` lists the replaced jurors. Model and family are those of the judge that voted. The usage and
    the cost of both are added up. If both break, the judgment is the juror's ERROR with both errors in its text.

    A time limit, also that of a jury for its jurors, applies to each of the two separately. Estimates are upper limits
    and include both. A store keeps their judgments separately. It also separates the judgments of a judge as a fallback
    from those of the same judge as a juror or as the fallback of another juror: the judge is asked again, and may
    answer differently. Two votes of one judge are still hardly two opinions, so ``verdict.panel_warning`` reports them.

    Args:
        juror: the judge that is asked first.
        stand_in: the fallback. Choose a model of another vendor that is not itself a juror of the jury; otherwise it
            votes twice (an :class:`Ensemble` warns of this).

    Raises:
        ConfigurationError: the fallback is neither a judge nor a function.

    >>> from jury_adapters import Ensemble, judge
    >>> @judge
    ... def fragile(case):
    ...     raise ConnectionError("no line")
    >>> sturdy = judge(name="sturdy")(lambda case: True)
    >>> verdict = Ensemble([fragile.backed_by(sturdy), lambda case: True]).judge(answer="Yes.")
    >>> verdict.stand_ins
    {'fragile': 'sturdy'}
    """

    def __init__(self, juror: Judge, stand_in: JudgeLike) -> None:
        self.juror = juror
        self.stand_in = judge_of(stand_in)
        self.name = juror.name
        self.cost = juror.cost

    @property
    def members(self) -> tuple[Judge, ...]:
        """The juror and its fallback."""
        return (self.juror, self.stand_in)

    def _traits(self) -> Traits:
        return {"stand_in": self.stand_in.name or type(self.stand_in).__name__}

    def with_members(self, juror: Judge, stand_in: Judge) -> BackedJudge:
        """Return a copy with the same name and time limit, but another juror and another fallback."""
        return self._with(juror=juror, stand_in=stand_in)

    def asking_everyone(self) -> BackedJudge:
        return self.with_members(*(member.asking_everyone() for member in self.members))

    @property
    def inline(self) -> bool:
        return all(member.inline and member.timeout is None for member in self.members)

    @property
    def size(self) -> int:
        return self.juror.size

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return self.juror.opinion_statuses | self.stand_in.opinion_statuses

    @property
    def requests_at_once(self) -> int:
        return max(member.requests_at_once for member in self.members)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprints of the juror and its fallback; None if either has none."""
        own, other = self.juror.fingerprint, self.stand_in.fingerprint
        return None if own is None or other is None else f"{own}|{other}"

    async def assess(self, case: Case) -> Judgment:
        return await self._assess(case, None)

    async def assess_within(self, seconds: float, case: Case) -> Judgment:
        return await self._assess(case, seconds)

    async def _assess(self, case: Case, seconds: float | None) -> Judgment:
        first = await run_judge(self.juror, case, timeout=seconds)
        if first.status is not Status.ERROR:
            return first
        with changed_context(sample=f"{run_context().sample}.for-{self.juror.fingerprint or self.juror.name}"):
            second = await run_judge(self.stand_in, case, timeout=seconds)
        usage = first.usage + second.usage
        if second.status is Status.ERROR:
            error = f"{first.error}; its stand-in {_called(second, first)}: {second.error}"
            return evolve(first, usage=usage, error=error, reasoning=f"the judge broke, and its stand-in: {error}")
        note = FrozenDict({"judge": _called(second, first), "error": first.error})
        return evolve(second, usage=usage, metadata=FrozenDict({**second.metadata, STAND_IN: note}))


def seated(judge: Judge) -> Judge:
    """Return the judge itself, without its fallbacks."""
    while isinstance(judge, BackedJudge):
        judge = judge.juror
    return judge


def warn_of_two_seats(members: Sequence[Judge], *, stacklevel: int) -> None:
    """Warn of fallbacks that are also jurors of the same jury, because they vote twice if their juror breaks.

    Args:
        members: the jurors of one jury.
        stacklevel: the stack level of the warning, counted from the caller as in :func:`warnings.warn`.
    """
    backed = [member for member in members if isinstance(member, BackedJudge)]
    seats = Counter(_identity(seated(member)) for member in members) if backed else Counter()
    for member in backed:
        own = _identity(seated(member))
        for stand_in in _stand_ins_of(member):
            who = _identity(stand_in)
            if seats[who] > (who == own):
                warnings.warn(
                    f"{stand_in.name or UNNAMED} has a seat of its own and stands in for {member.name or UNNAMED}: "
                    "when that breaks, it votes twice. Choose a stand-in without a seat",
                    stacklevel=stacklevel + 1,
                )


def _stand_ins_of(judge: Judge) -> Iterator[Judge]:
    """Yield every fallback of a judge, including fallbacks of fallbacks."""
    if isinstance(judge, BackedJudge):
        yield from _stand_ins_of(judge.juror)
        yield seated(judge.stand_in)
        yield from _stand_ins_of(judge.stand_in)


def _identity(judge: Judge) -> object:
    return judge.fingerprint or id(judge)


def _called(second: Judgment, first: Judgment) -> str:
    """Return the name of a fallback, or its model if it has the juror's name, or the name of its own fallback."""
    if second.stand_in is not None:
        return second.stand_in
    if second.critic and second.critic != first.critic:
        return second.critic
    return second.model or second.critic or UNNAMED
