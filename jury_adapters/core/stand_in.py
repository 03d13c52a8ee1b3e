"""A juror with a stand-in, who is asked when the juror breaks."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

from jury_adapters.core.case import Case
from jury_adapters.core.context import changed_context, run_context
from jury_adapters.core.describing import Traits
from jury_adapters.core.given import JudgeLike, judge_of
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import STAND_IN, Judgment, OpinionStatuses, Status, evolve
from jury_adapters.core.runner import run_judge
from jury_adapters.core.values import FrozenDict
from jury_adapters.core.verdict import UNNAMED


class BackedJudge(Judge):
    """A juror and its stand-in, who is asked when the juror's judgment is an ERROR: ``juror.backed_by(other)``.

    An ABSTAIN of the juror stands: it was there, and could not say. A judgment of the stand-in carries the juror's
    name, for it is the juror's seat; ``judgment.stand_in`` says who voted, ``judgment.metadata["stand_in"]`` also why,
    and ``verdict.stand_ins`` lists the seats. Model and family are those of who voted. Usage and cost of both add up.
    When both break, the judgment is the juror's ERROR, with both errors in it.

    A time limit, also that of a jury on its jurors, holds for each of the two. Estimates count both, as the most that
    may be taken. In a store each is recorded for itself, and a stand-in apart from what the same judge said in a seat
    of its own or for somebody else: it is asked again, and may say something else. Two votes of one judge are still
    hardly two opinions; ``verdict.panel_warning`` says so where it happened.

    Args:
        juror: who is asked first.
        stand_in: who is asked when that breaks. Choose another vendor's model; and one that has no seat of its own in
            the jury, or it votes twice (building such an :class:`Ensemble` warns).

    Raises:
        ConfigurationError: the stand-in is neither a judge nor a function.

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
        """The juror, and the stand-in."""
        return (self.juror, self.stand_in)

    def _traits(self) -> Traits:
        return {"stand_in": self.stand_in.name or type(self.stand_in).__name__}

    def with_members(self, juror: Judge, stand_in: Judge) -> BackedJudge:
        """The same seat, name and time limit, with others in it."""
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
        """Those of both."""
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
    """Who has the seat: the judge itself, without its stand-ins."""
    while isinstance(judge, BackedJudge):
        judge = judge.juror
    return judge


def warn_of_two_seats(members: Sequence[Judge], *, stacklevel: int) -> None:
    """Warn of stand-ins that sit in the jury themselves: when the juror breaks, they vote twice.

    Args:
        members: the jurors of one jury.
        stacklevel: whose line the warning names, as in :func:`warnings.warn` called from where this is called.
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
    """Everybody who may stand in for a judge."""
    if isinstance(judge, BackedJudge):
        yield from _stand_ins_of(judge.juror)
        yield seated(judge.stand_in)
        yield from _stand_ins_of(judge.stand_in)


def _identity(judge: Judge) -> object:
    return judge.fingerprint or id(judge)


def _called(second: Judgment, first: Judgment) -> str:
    """What to call a stand-in: its name, or its model where it is called like the juror; or who stood in for it."""
    if second.stand_in is not None:
        return second.stand_in
    if second.critic and second.critic != first.critic:
        return second.critic
    return second.model or second.critic or UNNAMED
