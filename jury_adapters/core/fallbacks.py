"""FallbackJudge, a juror with fallbacks that are asked if the juror breaks."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from jury_adapters.core.case import Case
from jury_adapters.core.context import changed_context, run_context
from jury_adapters.core.description import Traits
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import FALLBACK_USED, Judgment, OpinionStatuses, Status, evolve, total_usage
from jury_adapters.core.runner import run_judge
from jury_adapters.core.values import FrozenDict
from jury_adapters.core.verdict import UNNAMED


class FallbackJudge(Judge):
    """Juror with fallbacks that are asked if the juror's judgment is an ERROR: ``juror.with_fallbacks([other])``.

    The fallbacks are asked in order until one of them answers. They are not asked if the juror abstains. A judgment of
    a fallback has the juror's name. ``judgment.fallback_used`` names the judge that voted,
    ``judgment.metadata["fallback_used"]`` also has the errors of the judges before it, and ``verdict.fallbacks_used``
    lists the replaced jurors. Model and family are those of the judge that voted. The usage and the cost of all judges
    that were asked are added up. If all of them break, the judgment is the juror's ERROR with all errors in its text.

    A time limit, also that of a jury for its jurors, applies to each of the judges separately. Estimates are upper
    limits and include all of them. A store keeps their judgments separately. It also separates the judgments of a
    judge as a fallback from those of the same judge as a juror or as the fallback of another juror: the judge is asked
    again, and may answer differently. Two votes of one judge are still hardly two opinions, so
    ``verdict.panel_warning`` reports them.

    Args:
        juror: the judge that is asked first.
        fallbacks: the fallbacks, in order. Choose models of other vendors that are not themselves jurors of the jury;
            otherwise one judge votes twice (an :class:`Ensemble` warns of this).

    Raises:
        ConfigurationError: ``fallbacks`` is not a list, is empty, or has an entry that is neither a judge nor a
            function.

    >>> from jury_adapters import Ensemble, judge
    >>> @judge
    ... def fragile(case):
    ...     raise ConnectionError("no line")
    >>> sturdy = judge(name="sturdy")(lambda case: True)
    >>> verdict = Ensemble([fragile.with_fallbacks([sturdy]), lambda case: True]).judge(answer="Yes.")
    >>> verdict.fallbacks_used
    {'fragile': 'sturdy'}
    """

    def __init__(self, juror: Judge, fallbacks: Sequence[JudgeLike]) -> None:
        self.juror = juror
        self.fallbacks = _checked(fallbacks)
        self.name = juror.name
        self.cost = juror.cost

    @property
    def members(self) -> tuple[Judge, ...]:
        """The juror and its fallbacks."""
        return (self.juror, *self.fallbacks)

    def _traits(self) -> Traits:
        return {"fallbacks": [fallback.name or type(fallback).__name__ for fallback in self.fallbacks]}

    def with_members(self, juror: Judge, *fallbacks: Judge) -> FallbackJudge:
        """Return a copy with the same name and time limit, but another juror and other fallbacks."""
        return self._with(juror=juror, fallbacks=fallbacks)

    def asking_everyone(self) -> FallbackJudge:
        return self.with_members(*(member.asking_everyone() for member in self.members))

    @property
    def inline(self) -> bool:
        return all(member.inline and member.timeout is None for member in self.members)

    @property
    def size(self) -> int:
        return self.juror.size

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return frozenset().union(*(member.opinion_statuses for member in self.members))

    @property
    def requests_at_once(self) -> int:
        return max(member.requests_at_once for member in self.members)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprints of the juror and its fallbacks; None if one of them has none."""
        prints = [member.fingerprint for member in self.members]
        return None if None in prints else "|".join(map(str, prints))

    async def assess(self, case: Case) -> Judgment:
        return await self._assess(case, None)

    async def assess_within(self, seconds: float, case: Case) -> Judgment:
        return await self._assess(case, seconds)

    async def _assess(self, case: Case, seconds: float | None) -> Judgment:
        first = last = await run_judge(self.juror, case, timeout=seconds)
        judgments, error, sample = [first], first.error, run_context().sample
        for before, fallback in pairwise(self.members):
            if last.status is not Status.ERROR:
                break
            sample = f"{sample}.for-{before.fingerprint or before.name}"
            with changed_context(sample=sample):
                last = await run_judge(fallback, case, timeout=seconds)
            judgments.append(last)
            if last.status is Status.ERROR:
                error = f"{error}; its fallback {_called(last, first)}: {last.error}"
        if last is first:
            return first
        usage = total_usage(judgments)
        if last.status is Status.ERROR:
            return evolve(first, usage=usage, error=error, reasoning=f"the judge and each fallback broke: {error}")
        note = FrozenDict({"judge": _called(last, first), "error": error})
        return evolve(last, usage=usage, metadata=FrozenDict({**last.metadata, FALLBACK_USED: note}))


def _checked(fallbacks: object) -> tuple[Judge, ...]:
    """Return the judges of a list of fallbacks; functions are converted to judges.

    Raises:
        ConfigurationError: it is not a list, is empty, or has an entry that is neither a judge nor a function.
    """
    if not isinstance(fallbacks, list | tuple):
        raise ConfigurationError(
            "with_fallbacks() takes a list of judges, which are asked in order until one answers: write "
            f"judge.with_fallbacks([other]); it was given {type(fallbacks).__name__}"
        )
    if not fallbacks:
        raise ConfigurationError(
            "with_fallbacks([]) has no judge to ask: write judge.with_fallbacks([other]), or leave with_fallbacks() out"
        )
    return tuple(map(judge_of, fallbacks))


def without_fallbacks(judge: Judge) -> Judge:
    """Return the judge itself, without its fallbacks."""
    while isinstance(judge, FallbackJudge):
        judge = judge.juror
    return judge


def warn_if_fallbacks_vote_twice(members: Sequence[Judge], *, stacklevel: int) -> None:
    """Warn of fallbacks that are also jurors of the same jury, because they vote twice if their juror breaks.

    Args:
        members: the jurors of one jury.
        stacklevel: the stack level of the warning, counted from the caller as in :func:`warnings.warn`.
    """
    backed = [member for member in members if isinstance(member, FallbackJudge)]
    jurors = Counter(_identity(without_fallbacks(member)) for member in members) if backed else Counter()
    for member in backed:
        own = _identity(without_fallbacks(member))
        for fallback in _fallbacks_of(member):
            who = _identity(fallback)
            if jurors[who] > (who == own):
                warnings.warn(
                    f"{fallback.name or UNNAMED} is a juror, and also a fallback of {member.name or UNNAMED}: "
                    "if that breaks, it votes twice. Choose a fallback that is not a juror",
                    stacklevel=stacklevel + 1,
                )


def _fallbacks_of(judge: Judge) -> Iterator[Judge]:
    """Yield every fallback of a judge, including fallbacks of fallbacks."""
    if isinstance(judge, FallbackJudge):
        yield from _fallbacks_of(judge.juror)
        for fallback in judge.fallbacks:
            yield without_fallbacks(fallback)
            yield from _fallbacks_of(fallback)


def _identity(judge: Judge) -> object:
    return judge.fingerprint or id(judge)


def _called(second: Judgment, first: Judgment) -> str:
    """Return the name of a fallback, or its model if it has the juror's name, or the name of its own fallback."""
    if second.fallback_used is not None:
        return second.fallback_used
    if second.critic and second.critic != first.critic:
        return second.critic
    return second.model or second.critic or UNNAMED
