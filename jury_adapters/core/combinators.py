"""all_of, any_of and fallbacks: judges that are asked in order until one says enough."""

from collections.abc import Callable

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Jury
from jury_adapters.core.judge import MAKERS, JudgeLike, ask
from jury_adapters.core.judgment import Judgment, Status, Usage, total_usage
from jury_adapters.core.values import ConfigurationError


class _Chain(Jury):
    """Judges that are asked in order until one has a status that stops the chain."""

    voting = ""
    stops: frozenset[Status] = frozenset()
    order: tuple[Status, ...] = ()  # the outcome is the first judgment with the first of these

    def __init__(self, *judges: JudgeLike, name: str = "") -> None:
        super().__init__(judges, name or self.voting)

    async def assess(self, case: Case) -> Judgment:
        """Ask the judges in order."""
        said: list[Judgment] = []
        for place in range(len(self.judges)):
            said += await self._ask([place], case)
            if said[-1].status in self.stops:
                break
        found = min(said, key=lambda one: self.order.index(one.status))
        return Judgment(
            status=found.status,
            label=found.label,
            reasoning=f"{found.critic}: {found.reasoning or found.ballot or found.status}",
            error=found.error,
            findings=found.findings,
            judgments=tuple(said),
            voting=self.voting,
            usage=total_usage(said),
            skipped=tuple(self.judges)[len(said) :],
        )


class AllOf(_Chain):
    """Judge that passes if all of its judges pass: they are asked in order, until one does not; like ``a & b``.

    >>> all_of(lambda case: True, lambda case: (False, "too long")).judge(answer="Yes").reasoning
    'Judge#2: too long'
    """

    voting = "all_of"
    stops = frozenset(Status) - {Status.PASS}
    order = (Status.FAIL, Status.ERROR, Status.ABSTAIN, Status.LABEL, Status.PASS)


class AnyOf(_Chain):
    """Judge that passes if one of its judges passes: they are asked in order, until one does; like ``a | b``.

    FAIL only if all fail; ERROR if one broke and none passes; else ABSTAIN.
    """

    voting = "any_of"
    stops = frozenset({Status.PASS})
    order = (Status.PASS, Status.ERROR, Status.ABSTAIN, Status.LABEL, Status.FAIL)


all_of, any_of = AllOf, AnyOf


class Fallbacks(Jury):
    """Judge with others that are asked, in order, if it breaks; each has its own time limit. See ``with_fallbacks``."""

    def __init__(self, *judges: JudgeLike) -> None:
        super().__init__(judges)
        first = self.members[0]
        self.name, self.cost, self.pass_mark = first.name, first.cost, first.pass_mark
        if any(one.pass_mark != first.pass_mark for one in self.members):
            raise ConfigurationError("a judge and its fallbacks pass from the same score")

    def _parts(self) -> dict[str, Callable[[Case], Usage]]:
        return {self.name: self.estimate}

    async def assess(self, case: Case) -> Judgment:
        """Ask the judges in order until one does not break; the metadata say which, and why the others did not."""
        said: list[Judgment] = []
        for one in self.members:
            said.append(await ask(one, case))
            if said[-1].status is not Status.ERROR:
                break
        last = said[-1]
        note = (
            {"fallback_used": last.critic, "fallback_errors": [one.error for one in said[:-1]]} if len(said) > 1 else {}
        )
        return last.but(usage=total_usage(said), metadata={**last.metadata, **note})


MAKERS.update(all_of=AllOf, any_of=AnyOf, fallbacks=Fallbacks)
