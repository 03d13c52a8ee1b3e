"""A juror with a stand-in, who is asked when the juror breaks."""

from __future__ import annotations

from jury_adapters.core.case import Case
from jury_adapters.core.given import JudgeLike, judge_of
from jury_adapters.core.journal import SAMPLE
from jury_adapters.core.judge import Judge, judged
from jury_adapters.core.judgment import STAND_IN, Judgment, Status, evolve
from jury_adapters.core.values import FrozenDict


class BackedJudge(Judge):
    """A juror and its stand-in, who is asked when the juror's judgment is an ERROR: ``juror.backed_by(other)``.

    An ABSTAIN of the juror stands: it was there, and could not say. A judgment of the stand-in carries the juror's
    name, for it is the juror's seat; ``judgment.stand_in`` says who voted, ``judgment.metadata["stand_in"]`` also why,
    and ``verdict.stand_ins`` lists the seats. Model and family are those of who voted. Usage and cost of both add up.
    When both break, the judgment is the juror's ERROR, with both errors in it.

    A time limit, also that of a jury on its jurors, holds for each of the two. Estimates count both, as the most that
    may be taken. In a store each is recorded for itself, and a stand-in apart from what the same judge said in a seat
    of its own or for somebody else: two votes are two opinions.

    Args:
        juror: who is asked first.
        stand_in: who is asked when that breaks. Choose another vendor's model; and one that has no seat of its own in
            the jury, or it votes twice.

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

    def with_members(self, juror: Judge, stand_in: Judge) -> BackedJudge:
        """The same seat, name and time limit, with others in it."""
        return self._with(juror=juror, stand_in=stand_in)

    @property
    def inline(self) -> bool:
        return all(member.inline and member.timeout is None for member in self.members)

    @property
    def size(self) -> int:
        return self.juror.size

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
        first = await judged(self.juror, case, timeout=seconds)
        if first.status is not Status.ERROR:
            return first
        sample = SAMPLE.set(f"{SAMPLE.get()}.for-{self.juror.fingerprint or self.juror.name}")
        try:
            second = await judged(self.stand_in, case, timeout=seconds)
        finally:
            SAMPLE.reset(sample)
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


def _called(second: Judgment, first: Judgment) -> str:
    """What to call a stand-in: its name, or its model where it is called like the juror; or who stood in for it."""
    if second.stand_in is not None:
        return second.stand_in
    if second.critic and second.critic != first.critic:
        return second.critic
    return second.model or second.critic or "an unnamed judge"
