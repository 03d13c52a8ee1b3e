"""Judge, the base class of everything that judges a case and returns a Judgment."""

from __future__ import annotations

import asyncio
import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, Unpack

from jury_adapters.core import event_loop
from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.assessment import assess_case
from jury_adapters.core.case import Case
from jury_adapters.core.context import TimeLimit, changed_context, run_context
from jury_adapters.core.description import Traits, described, model_of, names_of
from jury_adapters.core.judge_calls import case_of_call
from jury_adapters.core.judge_settings import check_class, checked_name
from jury_adapters.core.judgment import ANY_OPINION, Judgment, OpinionStatuses, Status, broken, evolve
from jury_adapters.core.outstanding import OUTSTANDING, WAITING_THREAD
from jury_adapters.core.preparation import load_models
from jury_adapters.core.runner import run_judge
from jury_adapters.core.secrets import error_text
from jury_adapters.core.usage import NO_USAGE, UNCOUNTED, Usage
from jury_adapters.core.values import positive_timeout

if TYPE_CHECKING:
    from jury_adapters.core import AllOf, AnyOf, BatchOptions, CostEstimate, Ensemble, FallbackJudge, FunctionJudge
    from jury_adapters.core.voting import Voting

Answer: TypeAlias = bool | float | Status
Outcome: TypeAlias = Answer | tuple[Answer, str] | Judgment
CaseLike: TypeAlias = Case | str | Mapping[str, Any]


class Judge(ABC):
    """Base class of everything that judges a case.

    Subclass it and write :meth:`assess`, as ``def`` or ``async def``; the base class adds timing, names, error
    handling, batches and the synchronous API. A judge without settings is shorter as a function with :func:`judge`.

    Attributes:
        name: the name of the judge in verdicts; the class name by default. Judges without a name are called
            ``Judge#<position>`` inside a jury.
        timeout: time limit per case in seconds, after which the judgment is ERROR ``timeout``; None for no limit. It
            cancels an asynchronous judge at its next ``await``.
        cost: approximate cost of one judgment in US dollars; an early-stopping jury asks the cheapest jurors first.
        blocking: True if judging waits without ``await`` (a file, a database, ``requests``) or computes for a long
            time. A plain function, or a plain :meth:`assess`, then runs in a worker thread, in parallel with the other
            jurors.
        inline: True if judging never waits, so that no event loop is needed; by default if :meth:`assess` is plain and
            not blocking.
        members: the judges inside a jury; empty for a single judge.
        size: the most judgments of single judges that one judgment can take; 1 unless the judge is a jury.
        requests_at_once: the most requests to models that are in flight at a time while one case is judged; 0 for a
            judge that does not ask a model.
        pass_scores: the scores (0..1) from which the judge passes, such as its threshold or the pass mark of its
            rubric; usually one. A rule on scores, such as ``average``, takes it as its threshold. Empty for a judge
            whose score does not decide; by default those of the members.
        required_fields: the fields of a case without which the judge abstains or can only fail, such as
            ``("answer",)``; empty for a jury, whose members have their own, and for a judge that is not known to need
            any.
        opinion_statuses: the statuses that the judge's opinions may have, ABSTAIN and ERROR excluded. With
            ``schedule="early_stop"`` and ``on="auto"`` a jury stops early only if every juror without a vote is known
            to say PASS or FAIL (``PASS_OR_FAIL``), or if the vote is already on labels. The default is ``ANY_OPINION``.

    >>> class Polite(Judge):
    ...     def assess(self, case):
    ...         return "please" in (case.answer or ""), "looked for 'please'"
    >>> Polite().judge(answer="Yes, please.").status
    <Status.PASS: 'PASS'>
    """

    name: str = ""
    timeout: float | None = None
    cost: float = 0.0
    blocking: bool = False
    _is_plain: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__
        check_class(cls)
        cls._is_plain = not inspect.iscoroutinefunction(cls.assess)

    @abstractmethod
    def assess(self, case: Case) -> Outcome | Awaitable[Outcome]:
        """Judge one case, as ``def`` or ``async def``. An exception becomes an ERROR judgment."""

    async def assess_within(self, seconds: float, case: Case) -> Outcome:
        """Judge one case within a time limit; return an ERROR ``timeout`` when it has passed.

        Work that never waits cannot be interrupted, so it runs in a thread of its own.
        """
        deadline: asyncio.Timeout | None = None
        try:
            if self.inline:
                return await event_loop.in_daemon_thread(
                    lambda: event_loop.run_inline(assess_case(self, case)), seconds
                )
            async with asyncio.timeout(seconds) as deadline:
                limit = TimeLimit(deadline)
                with changed_context(time_limits=(*run_context().time_limits, limit)):
                    outcome: Outcome = await assess_case(self, case)
            if deadline.expired():  # the judge has suppressed the cancellation, and answered too late
                raise TimeoutError
            return outcome
        except Exception as error:  # a judge may turn its cancellation into an exception of its own
            if isinstance(error, event_loop.Abandoned) or (deadline is not None and deadline.expired()):
                last = "" if deadline is None else limit.last_error
                last = last or ("" if isinstance(error, TimeoutError) else error_text(error))
                tried = f"; last error: {last}" if last else ""
                failure = self.failure("timeout", f"no judgment within {seconds:g} s{tried}")
                asks = self.estimate(case).calls > 0  # a vendor may bill what it answers too late
                return evolve(failure, usage=UNCOUNTED) if asks else failure
            raise

    def _assess_inline(self, case: Case) -> Outcome:
        outcome: Outcome = event_loop.run_inline(assess_case(self, case))
        return outcome

    @property
    def inline(self) -> bool:
        return self._is_plain and not self.blocking

    @property
    def size(self) -> int:
        return 1

    @property
    def members(self) -> tuple[Judge, ...]:
        return ()

    @property
    def required_fields(self) -> tuple[str, ...]:
        return ()

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return ANY_OPINION

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset[float]().union(*(member.pass_scores for member in self.members))

    @property
    def requests_at_once(self) -> int:
        return sum(member.requests_at_once for member in self.members)

    @property
    def priced(self) -> bool:
        """Whether the price of a judgment is known; judges that do not ask a model are free."""
        return all(member.priced for member in self.members)

    @property
    def metered(self) -> bool:
        """Whether the tokens of a judgment are known; they are not if another package makes the calls."""
        return all(member.metered for member in self.members)

    @property
    def estimated_whole(self) -> bool:
        """Whether a cost estimate has one row for the judge, because it does not ask each member once for a case."""
        return False

    def estimate(self, case: Case) -> Usage:
        """Estimate the usage of judging this case, without sending anything.

        Apart from retries and repair requests, calls and output tokens are upper limits.
        """
        return sum((member.estimate(case) for member in self.members), NO_USAGE)

    def estimate_cost(self, cases: Iterable[CaseLike]) -> CostEstimate:
        """Estimate the calls, tokens and dollars of judging these cases, without sending anything.

        Args:
            cases: Cases, questions or mappings, as for :meth:`judge_many`; iterated once.

        Returns:
            A :class:`jury_adapters.CostEstimate` with a row per tier of a cascade (as if every case reached it), or per
            juror of another jury. It prints as a table.
        """
        from jury_adapters.core import estimate_cost_of

        return estimate_cost_of(self, cases)

    @property
    def fingerprint(self) -> str | None:
        """Identity of the judge that is stable across processes; None if it cannot be determined.

        Judges of a jury with the same fingerprint are samples of one judge, and are stored separately.
        """
        return None

    def check_store(self) -> None:
        """Check that a store can identify every judge inside that asks a model.

        Raises:
            ConfigurationError: a judge has no stable identity; the message says how to give it one.
        """
        for member in self.members:
            member.check_store()

    def prepare(self) -> None:
        """Import the SDKs of the models inside, which can take seconds.

        Otherwise the first judgment imports them, before any time limit of a judge begins. Call this when an
        application starts, so that its first user does not wait.
        """
        load_models(self)

    def judge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge one case and return the judgment. A failure of the judge becomes an ERROR judgment.

        Endless recursion, in which a judge calls itself for the same case, is stopped: the innermost call returns an
        ERROR. Calls of one judge for one case object that come from new threads, or from tasks with an empty context,
        count as nested from the 500th thread or the 10,000th task on.

        Args:
            case: a Case, a question, or a mapping of fields.
            **fields: the fields of a Case, as in ``judge(question=..., answer=...)``.

        Raises:
            ValueError: the fields do not make a Case.
        """
        found = case_of_call("judge", case, fields, _batch_options)
        OUTSTANDING.add(self, found, WAITING_THREAD)
        try:
            if self.inline and self.timeout is None:
                return event_loop.run_inline(run_judge(self, found))
            load_models(self)
            return event_loop.run(run_judge, self, found)
        finally:
            OUTSTANDING.remove(self, found, WAITING_THREAD)

    async def ajudge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge one case; see :meth:`judge`.

        Raises:
            ConfigurationError: the event loop is not asyncio's, for example under trio.
            ValueError: the fields do not make a Case.
        """
        event_loop.require_asyncio("ajudge()")
        return await run_judge(self, case_of_call("ajudge", case, fields, _batch_options))

    def judge_many(self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]) -> Iterator[Judgment]:
        """Judge many cases and yield the judgments in input order, or with ``ordered=False`` as they finish.

        The verdict of a jury has the id and the metadata of its case; for reports of other judges take
        :meth:`judge_pairs`. See :func:`jury_adapters.core.batch.stream` for the options.
        """
        from jury_adapters.core import stream

        return (item.judgment for item in stream(self, cases, **options))

    async def ajudge_many(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> AsyncIterator[Judgment]:
        """Judge many cases from an iterable or asynchronous iterable; see :meth:`judge_many`."""
        from jury_adapters.core import astream

        async with aclosing(astream(self, cases, **options)) as judged_cases:  # do not wait for the garbage collector
            async for item in judged_cases:
                yield item.judgment

    def judge_pairs(
        self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> Iterator[tuple[Case | None, Judgment]]:
        """Judge many cases and yield each case with its judgment; see :meth:`judge_many` for the options.

        For a row that is not a valid case, the case is None and the judgment is an ERROR with the reason. A jury
        returns a verdict without jurors, with the id of the row as ``case_id``.

        >>> from jury_adapters.checks import NotEmpty
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
        """Return the same judge under another name."""
        return self._with(name=checked_name(name))

    def with_timeout(self, seconds: float | None) -> Self:
        """Return the same judge with a time limit per case."""
        return self._with(timeout=positive_timeout(seconds))

    def with_samples(self, samples: int, *, voting: Voting = "majority") -> Ensemble:
        """Return a jury that asks this judge several times and votes over its answers (self-consistency)."""
        from jury_adapters.core import with_samples

        return with_samples(self, samples, voting=voting)

    @property
    def repeat_levels(self) -> int:
        """The number of levels at which a jury, this one or one inside, asks the same judge several times."""
        return max((member.repeat_levels for member in self.members), default=0)

    def expect_samples(self, samples: int) -> None:
        """Prepare for being asked several times about each case; a critic logs if its answers would hardly differ."""
        for member in self.members:
            member.expect_samples(samples)

    @explains_wrong_calls("judge.with_fallbacks([first, second])", order="the fallbacks are one list")
    def with_fallbacks(self, fallbacks: Sequence[Judge | Callable[[Case], Any]]) -> FallbackJudge:
        """Return this judge with fallbacks, which are asked in order if its judgment is an ERROR.

        See :class:`jury_adapters.core.fallbacks.FallbackJudge`.

        Args:
            fallbacks: a list of judges, juries or functions. The first that does not break answers.

        Raises:
            ConfigurationError: it is not a list, is empty, or has an entry that is neither a judge nor a function.

        >>> from jury_adapters import judge
        >>> @judge
        ... def fragile(case):
        ...     raise ConnectionError("no line")
        >>> sturdy = fragile.with_fallbacks([lambda case: True])
        >>> sturdy.judge(answer="Yes.").passed
        True
        """
        from jury_adapters.core import FallbackJudge

        return FallbackJudge(self, fallbacks)

    def __and__(self, other: Judge) -> AllOf:
        """Return a jury in which both must pass; the second is asked only if the first passes."""
        from jury_adapters.core import all_of

        return all_of(self, other)

    def __or__(self, other: Judge) -> AnyOf:
        """Return a jury in which one must pass; the second is asked only if the first does not pass."""
        from jury_adapters.core import any_of

        return any_of(self, other)

    def asking_everyone(self) -> Judge:
        """Return this judge without the early stopping that would change its score, confidence or judgments.

        Rules that read the score or the confidence of a nested jury, or whether only jurors that broke caused its FAIL,
        use it in this form.
        """
        return self

    def failure(self, error: BaseException | str, reasoning: str = "") -> Judgment:
        """Return the ERROR judgment for a failure of this judge; a jury returns a verdict."""
        return broken(error, reasoning)

    def __repr__(self) -> str:
        """Return one short line with class, name and :meth:`_traits`, and without prompts or API keys."""
        return described(self, self._traits)

    def _traits(self) -> Traits:
        """Return the values that the repr shows after the name; empty values are left out."""
        return {"model": model_of(self), "members": names_of(self.members)}

    def _with(self, **attributes: object) -> Self:
        other = copy.copy(self)
        for attribute, value in attributes.items():
            object.__setattr__(other, attribute, value)  # the built-in judges are frozen dataclasses
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
        """Return a judge that calls a plain or asynchronous function.

        Args:
            function: takes a Case and returns a bool, a score 0..1, a Status, a pair ``(one of these, reason)``, or a
                Judgment.
            name: the judge's name; the function's name by default.
            threshold: the lowest score that is PASS.
            timeout: time limit per case in seconds. A plain function with a timeout runs in a thread that is abandoned
                at the deadline.
            cost: approximate cost of one judgment in US dollars; an early-stopping jury asks the cheapest jurors
                first. It is not in usage, estimates or budgets.
            blocking: whether a plain function waits or computes for a long time, and so runs in a worker thread.
        """
        from jury_adapters.core import FunctionJudge

        return FunctionJudge(function, name=name, threshold=threshold, timeout=timeout, cost=cost, blocking=blocking)


def _batch_options() -> Collection[str]:
    """Return the names of the options of :meth:`Judge.judge_many`."""
    from jury_adapters.core import BatchOptions

    return BatchOptions.__annotations__.keys()
