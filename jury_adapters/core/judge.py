"""The one concept: whatever judges is a Judge, and whatever it returns is a Judgment."""

from __future__ import annotations

import asyncio
import copy
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, Unpack

from jury_adapters.core import portal
from jury_adapters.core.case import Case
from jury_adapters.core.describing import Traits, described, model_of, names_of
from jury_adapters.core.held_loop import report_held_loop
from jury_adapters.core.judgment import ANY_OPINION, Judgment, OpinionStatuses, Status, broken
from jury_adapters.core.outstanding import OUTSTANDING, WAITING_THREAD
from jury_adapters.core.runner import run_judge
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.values import positive_timeout

if TYPE_CHECKING:
    from jury_adapters.core import AllOf, AnyOf, BackedJudge, BatchOptions, Ensemble, FunctionJudge, Plan
    from jury_adapters.core.voting import Voting

T = TypeVar("T")


Answer: TypeAlias = bool | float | Status
Outcome: TypeAlias = Answer | tuple[Answer, str] | Judgment
CaseLike: TypeAlias = Case | str | Mapping[str, Any]


class Judge(ABC):
    """Anything that judges a case.

    Subclass it and write :meth:`assess`; everything else (timing, naming, errors, batches, the synchronous API) is
    here. A check that never waits is shorter as a :class:`PlainJudge` or a function with :func:`judge`.

    Attributes:
        name: how the judge is called in verdicts; a subclass is called like its class. Judges without a name are
            called ``Judge#<position>`` inside a jury.
        timeout: seconds one case may take, then the judgment is ERROR ``timeout``; None for no limit.
        cost: what one judgment costs in US dollars, roughly; a frugal jury asks the cheapest first.
        blocking: True when judging waits without ``await`` (a file, a database, ``requests``) or computes for long. A
            plain function, or :meth:`PlainJudge.examine`, then runs in a worker thread, beside the other jurors.
        inline: True when judging never waits, so that no event loop is needed.
        members: the judges inside, of a jury.
        size: how many single opinions one judgment can take; 1 unless the judge is a jury.
        requests_at_once: the most requests to models that judging one case has in flight at a time; 0 for a judge that
            asks no model.
        opinion_statuses: the statuses that the judge's opinions may have, ABSTAIN and ERROR apart. A frugal jury with
            ``on="auto"`` stops early only where every juror that is still out is known to say PASS or FAIL
            (``PASS_OR_FAIL``), or where labels vote already. By default nothing is known: ``ANY_OPINION``.

    >>> class Polite(PlainJudge):
    ...     def examine(self, case):
    ...         return "please" in (case.answer or ""), "looked for 'please'"
    >>> Polite().judge(answer="Yes, please.").status
    <Status.PASS: 'PASS'>
    """

    name: str = ""
    timeout: float | None = None
    cost: float = 0.0
    blocking: bool = False

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    @abstractmethod
    async def assess(self, case: Case) -> Outcome:
        """Judge one case. May raise: the exception becomes an ERROR judgment."""

    async def assess_within(self, seconds: float, case: Case) -> Outcome:
        """Judge one case, or say that it took too long.

        Work that never waits cannot be interrupted, so it gets a thread of its own.
        """
        try:
            if self.inline:
                return await portal.in_daemon_thread(lambda: portal.run_inline(_assessed(self, case)), seconds)
            async with asyncio.timeout(seconds) as deadline:
                return await self.assess(case)
        except TimeoutError as error:
            if isinstance(error, portal.Abandoned) or (not self.inline and deadline.expired()):
                return self.failure("timeout", f"no judgment within {seconds:g} s")
            raise

    @property
    def inline(self) -> bool:
        return False

    @property
    def size(self) -> int:
        return 1

    @property
    def members(self) -> tuple[Judge, ...]:
        return ()

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return ANY_OPINION

    @property
    def requests_at_once(self) -> int:
        return sum(member.requests_at_once for member in self.members)

    @property
    def priced(self) -> bool:
        """Whether what a judgment costs is known; only judges that ask a model cost anything."""
        return all(member.priced for member in self.members)

    @property
    def metered(self) -> bool:
        """Whether the tokens of a judgment are known; they are not when another package makes the calls."""
        return all(member.metered for member in self.members)

    def estimate(self, case: Case) -> Usage:
        """Estimate the usage of judging this case, before anything is sent.

        Without retries and repair requests a judgment makes at most these calls, with at most these output tokens.
        """
        return sum((member.estimate(case) for member in self.members), NO_USAGE)

    def plan(self, cases: Iterable[CaseLike]) -> Plan:
        """Estimate what judging these cases takes: calls, tokens and dollars, before anything is sent.

        Args:
            cases: Cases, questions or mappings, as for :meth:`judge_many`; read through once.

        Returns:
            A :class:`jury_adapters.core.plan.Plan` with a row per tier of a cascade (as if every case got there), or
            per juror of another jury. Printed, it is a table.
        """
        from jury_adapters.core import plan_of

        return plan_of(self, cases)

    @property
    def fingerprint(self) -> str | None:
        """What sets this judge apart from others, also in another process; None where nothing can be said.

        Judges with one fingerprint in a jury are samples of one judge, and are recorded apart.
        """
        return None

    def check_store(self) -> None:
        """Check that a store can tell every judge inside that asks a model from others.

        Raises:
            ConfigurationError: one of them cannot be told from others; the message says what to write.
        """
        for member in self.members:
            member.check_store()

    def judge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge one case and wait for the judgment. Never raises for a case.

        A judge that calls itself for the same case without end is stopped: the innermost call is an ERROR, and the
        other calls return what the judge makes of it. Calls of one judge for one case object that come from new
        threads, or from tasks with an empty context, count as nested from the 500th thread or the 10,000th task on.

        Args:
            case: a Case, a bare question, or a mapping of fields.
            **fields: the fields of a Case, as in ``judge(question=..., answer=...)``.

        Raises:
            ValueError: the fields do not make a Case.
        """
        found = Case.of(case, fields)
        OUTSTANDING.add(self, found, WAITING_THREAD)
        try:
            if self.inline and self.timeout is None:
                return portal.run_inline(run_judge(self, found))
            return portal.run(run_judge, self, found)
        finally:
            OUTSTANDING.remove(self, found, WAITING_THREAD)

    async def ajudge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge one case; see :meth:`judge`.

        Raises:
            ConfigurationError: it is awaited without asyncio, for example under trio.
            ValueError: the fields do not make a Case.
        """
        portal.require_asyncio("ajudge()")
        return await run_judge(self, Case.of(case, fields))

    def judge_many(self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]) -> Iterator[Judgment]:
        """Judge many cases and hand out each judgment when it is there; see :func:`jury_adapters.core.batch.stream`."""
        from jury_adapters.core import stream

        return (item.judgment for item in stream(self, cases, **options))

    async def ajudge_many(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> AsyncIterator[Judgment]:
        """Judge many cases from an iterable or asynchronous iterable; see :meth:`judge_many`."""
        from jury_adapters.core import astream

        async with aclosing(astream(self, cases, **options)) as judged_cases:  # closed with this one, not some day
            async for item in judged_cases:
                yield item.judgment

    def judge_pairs(
        self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> Iterator[tuple[Case | None, Judgment]]:
        """Judge many cases and yield each case with its judgment; see :meth:`judge_many` for the options.

        The case is None where a row makes no case. The judgment is then the ERROR that says why; of a jury it is a
        verdict without jurors, with the id of the row as ``case_id``.

        >>> from jury_adapters import NotEmpty
        >>> [(case.answer, judgment.passed) for case, judgment in NotEmpty().judge_pairs([{"answer": "Yes."}])]
        [('Yes.', True)]
        """
        from jury_adapters.core import stream

        return ((item.case, item.judgment) for item in stream(self, cases, **options))

    async def ajudge_pairs(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> AsyncIterator[tuple[Case | None, Judgment]]:
        """Judge many cases from an iterable or asynchronous iterable; see :meth:`judge_pairs`."""
        from jury_adapters.core import astream

        async with aclosing(astream(self, cases, **options)) as judged_cases:
            async for item in judged_cases:
                yield item.case, item.judgment

    def named(self, name: str) -> Self:
        """The same judge under another name."""
        return self._with(name=name)

    def with_timeout(self, seconds: float | None) -> Self:
        """The same judge with a time limit per case."""
        return self._with(timeout=positive_timeout(seconds))

    def repeated(self, times: int, *, voting: Voting = "majority") -> Ensemble:
        """Ask this judge several times and vote over its answers (self-consistency)."""
        from jury_adapters.core import repeated

        return repeated(self, times, voting=voting)

    def backed_by(self, stand_in: Judge | Callable[[Case], Any]) -> BackedJudge:
        """This judge with a stand-in, who is asked when the judgment is an ERROR; see :class:`BackedJudge`.

        Args:
            stand_in: a judge, a jury or a function; with a stand-in of its own, if you like.

        >>> from jury_adapters import judge
        >>> @judge
        ... def fragile(case):
        ...     raise ConnectionError("no line")
        >>> backed = fragile.backed_by(lambda case: True)
        >>> backed.judge(answer="Yes.").passed
        True
        """
        from jury_adapters.core import BackedJudge

        return BackedJudge(self, stand_in)

    def __and__(self, other: Judge) -> AllOf:
        """Both must pass; the second is asked only when the first passes."""
        from jury_adapters.core import all_of

        return all_of(self, other)

    def __or__(self, other: Judge) -> AnyOf:
        """One must pass; the second is asked only when the first does not."""
        from jury_adapters.core import any_of

        return any_of(self, other)

    def asking_everyone(self) -> Judge:
        """Return this judge without early stopping, as far as that changes its score, confidence or judgments.

        A rule that reads the score or the confidence of its jurors asks juries in this form.
        """
        return self

    def failure(self, error: BaseException | str, reasoning: str = "") -> Judgment:
        """The judgment that says this judge broke; a jury makes it a verdict."""
        return broken(error, reasoning)

    def __repr__(self) -> str:
        """One short line: class, name and :meth:`_traits`; never a prompt, never a key."""
        return described(self, self._traits)

    def _traits(self) -> Traits:
        """What the repr tells beside the name; an empty value is left out."""
        return {"model": model_of(self), "members": names_of(self.members)}

    def _with(self, **attributes: object) -> Self:
        other = copy.copy(self)
        for attribute, value in attributes.items():
            object.__setattr__(other, attribute, value)  # ready-made judges are frozen dataclasses
        return other

    @staticmethod
    def from_function(
        function: Callable[[Case], Outcome] | Callable[[Case], Awaitable[Outcome]],
        *,
        name: str = "",
        threshold: float = 0.5,
        timeout: float | None = None,
        cost: float = 0.0,
        blocking: bool = False,
    ) -> FunctionJudge:
        """Make a judge of a plain or asynchronous function.

        Args:
            function: takes a Case and returns a bool, a score 0..1, a Status, a pair ``(one of these, reason)``, or a
                ready Judgment.
            name: the judge's name; the function's own by default.
            threshold: a score from here on is PASS.
            timeout: seconds one case may take. A plain function with a timeout runs in a thread that is abandoned at
                the deadline.
            cost: US dollars per judgment, roughly.
            blocking: whether a plain function runs in a worker thread, because it waits or computes for long.
        """
        from jury_adapters.core import FunctionJudge

        return FunctionJudge(function, name=name, threshold=threshold, timeout=timeout, cost=cost, blocking=blocking)


class PlainJudge(Judge):
    """A judge of plain code: subclass it and write :meth:`examine`.

    Set ``blocking = True`` on a class whose ``examine`` waits or computes for long.
    """

    @abstractmethod
    def examine(self, case: Case) -> Outcome:
        """Judge one case. May raise: the exception becomes an ERROR judgment."""

    async def assess(self, case: Case) -> Outcome:
        return await examined(self, self.examine, case)

    @property
    def inline(self) -> bool:
        return not self.blocking


async def examined(judge: Judge, function: Callable[[Case], T], case: Case) -> T:
    """Call the plain function of a judge: in a worker thread if the judge is blocking, else here.

    A function that holds an event loop for more than 50 ms is reported once, by a warning in the log.
    """
    if judge.blocking:
        return await portal.in_worker_thread(lambda: function(case))
    if portal.runs_inline():
        return function(case)
    started = perf_counter()
    try:
        return function(case)
    finally:
        report_held_loop(judge, function, perf_counter() - started)


async def _assessed(judge: Judge, case: Case) -> Outcome:
    return await judge.assess(case)
