"""Combinations of judges: ``all_of``, ``any_of``, ``with_samples``, and judges with a fixed outcome."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, OpinionStatuses, Status, total_usage
from jury_adapters.core.jury import judges_own_family, members_of, unique_names
from jury_adapters.core.scheduling import Juror
from jury_adapters.core.tally import Tally
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.core.voting import Voting


class _Chain(Judge):
    """Judges that are asked one after the other until one of them decides."""

    def __init__(self, judges: Sequence[JudgeLike], name: str) -> None:
        members = members_of(judges, name)
        names = unique_names([member.name for member in members])
        self.name = name
        self.jurors = tuple(Juror(member, own, None) for member, own in zip(members, names, strict=True))
        self.cost = members[0].cost

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members in a verdict, in order."""
        return tuple(juror.name for juror in self.jurors)

    @property
    def inline(self) -> bool:
        return all(juror.inline for juror in self.jurors)

    @property
    def size(self) -> int:
        return sum(juror.judge.size for juror in self.jurors)

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return frozenset().union(*(member.opinion_statuses for member in self.members))

    @property
    def requests_at_once(self) -> int:
        return max(member.requests_at_once for member in self.members)

    @property
    def members(self) -> tuple[Judge, ...]:
        return tuple(juror.judge for juror in self.jurors)

    def asking_everyone(self) -> Self:
        return self._with(jurors=tuple(replace(juror, judge=juror.judge.asking_everyone()) for juror in self.jurors))

    async def _ask(self, case: Case, stop: Callable[[Judgment], bool]) -> list[Judgment]:
        judgments = []
        for juror in self.jurors:
            judgments.append(await juror.ask(case))
            if stop(judgments[-1]):
                break
        return judgments

    @abstractmethod
    def _decisive(self, judgments: Sequence[Judgment]) -> Judgment:
        """Return the judgment that decides the outcome."""

    def _verdict(self, case: Case, judgments: list[Judgment]) -> Verdict:
        decisive = self._decisive(judgments)
        without_outages = self._decisive([outage_as_error(judgment) for judgment in judgments])
        unasked = self.jurors[len(judgments) :]
        return Verdict(
            decisive.status,
            score=decisive.score,
            label=decisive.label,
            confidence=decisive.confidence,
            reasoning=f"{decisive.critic}: {decisive.reasoning or decisive.opinion or decisive.status}",
            findings=decisive.findings,
            claims=decisive.claims,
            error=decisive.error,
            usage=total_usage(judgments),
            judgments=tuple(judgments),
            voting=self.name,
            tally=_tally(judgments, errors_decided=without_outages.status is not decisive.status),
            same_family=judges_own_family(judgments, case.generator),
            partial=bool(unasked),
            skipped=tuple(juror.name for juror in unasked),
            calls_saved=sum(juror.judge.size for juror in unasked),
        )


class AllOf(_Chain):
    """Jury that passes if every judge passes; see :func:`all_of`."""

    async def assess(self, case: Case) -> Verdict:
        judgments = await self._ask(case, lambda judgment: judgment.status is not Status.PASS)
        return self._verdict(case, judgments)

    def _decisive(self, judgments: Sequence[Judgment]) -> Judgment:
        return judgments[-1]


class AnyOf(_Chain):
    """Jury that passes if one judge passes; see :func:`any_of`."""

    async def assess(self, case: Case) -> Verdict:
        judgments = await self._ask(case, lambda judgment: judgment.status is Status.PASS)
        return self._verdict(case, judgments)

    def _decisive(self, judgments: Sequence[Judgment]) -> Judgment:
        return min(judgments, key=lambda judgment: _ANY_OF_ORDER.index(judgment.status))


def all_of(*judges: JudgeLike) -> AllOf:
    """Return a jury that passes if every judge passes.

    It stops at the first judge that does not pass, and the FAIL, ABSTAIN or ERROR of that judge is the outcome.

    Raises:
        ConfigurationError: no judges were given.
    """
    return AllOf(judges, "all_of")


def any_of(*judges: JudgeLike) -> AnyOf:
    """Return a jury that passes, and stops, at the first judge that passes.

    If no judge passes, the outcome is the first ERROR, else the first ABSTAIN, else a label without a PASS/FAIL
    meaning. It is FAIL only if all judges fail, because a judge that could not say might have passed.

    Raises:
        ConfigurationError: no judges were given.
    """
    return AnyOf(judges, "any_of")


def with_samples(judge: Judge, samples: int, *, voting: Voting = "majority") -> Ensemble:
    """Return a jury that asks the same judge several times and votes over its answers (self-consistency).

    Raises:
        ConfigurationError: ``samples`` is not a whole number from 1.
    """
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ConfigurationError(f"samples is a whole number from 1, not {plain_repr(samples)}")
    judge.expect_samples(samples)
    return samples_of(judge, samples, voting)


def samples_of(judge: Judge, samples: int, voting: Voting = "majority") -> Ensemble:
    """Return the jury of :func:`with_samples`, without a check of its arguments."""
    return Ensemble([judge] * samples, voting=voting, name=judge.name and f"{judge.name} x{samples}")


class _Always(Judge):
    opinion_statuses = PASS_OR_FAIL

    def __init__(self, status: Status, reason: str, name: str) -> None:
        self.name = name
        self._outcome = (status, reason)

    def assess(self, case: Case) -> tuple[Status, str]:
        return self._outcome


def always_pass(reason: str = "", *, name: str = "always_pass") -> Judge:
    """Return a judge that passes every case.

    Args:
        reason: the reasoning of its judgments.
        name: its name in verdicts.

    >>> print(always_pass("not built yet").judge(answer="Yes."))
    PASS always_pass: not built yet
    """
    return _Always(Status.PASS, reason, name)


def always_fail(reason: str = "", *, name: str = "always_fail") -> Judge:
    """Return a judge that fails every case; see :func:`always_pass`."""
    return _Always(Status.FAIL, reason, name)


def _tally(judgments: Sequence[Judgment], *, errors_decided: bool) -> Tally:
    statuses = [judgment.status for judgment in judgments]
    return Tally(
        eligible=sum(judgment.valid for judgment in judgments),
        passed=statuses.count(Status.PASS),
        failed=statuses.count(Status.FAIL),
        abstained=statuses.count(Status.ABSTAIN),
        errors=statuses.count(Status.ERROR),
        ballots=tuple(judgment.opinion for judgment in judgments),
        errors_decided=errors_decided,
    )


# From the most decisive: one PASS passes; without one, an outcome that could have been a PASS precedes a FAIL.
_ANY_OF_ORDER = (Status.PASS, Status.ERROR, Status.ABSTAIN, None, Status.FAIL)
