"""Judge, the base of everything that judges a case; `ask`, through which every judgment passes; and function judges."""

import asyncio
import copy
import hashlib
import inspect
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import fields, is_dataclass
from functools import partial
from time import perf_counter
from typing import Any, Self, TypedDict, Unpack, cast, overload

from pydantic_core import to_jsonable_python

from jury_adapters.core import loop
from jury_adapters.core.batch import Batch, BatchOptions, Pair
from jury_adapters.core.case import Case, CaseLike
from jury_adapters.core.estimate import CostEstimate, estimate_cost
from jury_adapters.core.judgment import NO_USAGE, Judgment, Status, Usage, broken, failed_run, labels_of
from jury_adapters.core.values import EMPTY, ROUNDING, ConfigurationError, Frozen, check_whole, clean

Returned = Any
"""What a judge may return; :func:`judge` lists it."""
Labels = Mapping[str, Status]

MAKERS: "dict[str, Callable[..., Judge]]" = {}
"""Makers of the juries that the methods of a judge return. Modules that import this one fill it."""


class Judge(ABC):
    """Base of everything that judges a case: critics, checks, functions and juries.

    A subclass implements :meth:`assess`. Its public attributes are its settings: they make up :attr:`fingerprint`.
    State belongs in attributes that begin with an underscore.

    Attributes:
        name: the name in verdicts.
        timeout: seconds per case, after which the judgment is ERROR ``timeout``; None for no limit.
        cost: about what one judgment costs in US dollars; early stopping asks the cheapest first.
        labels: the labels that it may give, with the meaning of each; None if any, so that nothing stops early.
        pass_mark: the score from which it passes, in 0..1.

    >>> class Short(Judge):
    ...     async def assess(self, case):
    ...         return len(case.answer) < 20, f"{len(case.answer)} characters"
    >>> Short().judge(answer="Yes.").status.value
    'PASS'
    """

    name: str = ""
    timeout: float | None = None
    cost: float = 0.0
    labels: Labels | None = EMPTY
    pass_mark: float = 0.5

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @abstractmethod
    def assess(self, case: Case) -> Returned | Awaitable[Returned]:
        """Judge one case.

        ``async def`` runs on the event loop, and ``def`` in a thread of its own. An exception becomes an ERROR.
        """

    @property
    def members(self) -> "tuple[Judge, ...]":
        """The judges inside a jury."""
        return ()

    @property
    def size(self) -> int:
        """The largest number of single judges that are asked about a case."""
        return sum(one.size for one in self.members) or 1

    @property
    def stops_early(self) -> bool:
        """Whether judgments lack score and confidence because some jurors may not have been asked."""
        return any(one.stops_early for one in self.members)

    @property
    def fingerprint(self) -> str:
        """Identity of the judge with its settings, the same on every machine. A function counts by its name."""
        slots = (name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ()))
        settings = {
            name: getattr(self, name)
            for name in (*vars(self), *slots)
            if not name.startswith("_") and name not in ("timeout", "cost")
        }
        described = [type(self).__module__, type(self).__qualname__, self.name, self.pass_mark, settings]
        return hashlib.sha256(json.dumps(_described(described)).encode()).hexdigest()[:32]

    def estimate(self, case: Case) -> Usage:
        """Estimate the largest usage of judging a case, without sending anything."""
        return sum((one.estimate(case) for one in self.members), NO_USAGE)

    def judge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge one case: a Case, a question, a mapping of fields, or fields by name.

        It never raises for a case: a judge that breaks gives an ERROR. It also works in a notebook, whose loop runs.

        Raises:
            ConfigurationError: the arguments make no case.
        """
        return loop.run(self.ajudge(Case.of(case, fields)))

    async def ajudge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge one case, for asynchronous code; see :meth:`judge`."""
        found = Case.of(case, fields)
        judgment = await ask(self, found)
        known = {"case_id": found.id, "case_metadata": found.metadata, "generator": found.generator}
        return judgment.model_copy(update=known)  # a case has checked them

    def judge_many(self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]) -> Iterator[Judgment]:
        """Judge many cases and yield their judgments, with ``case_id`` and ``case_metadata``.

        Cases are read in the calling thread, only as fast as they are judged. A row that makes no case is an ERROR in
        its place. If ``cases`` raises, what is in flight is yielded first. Closing the iterator, or Ctrl-C, cancels
        what is in flight.

        Args:
            cases: cases, questions or mappings of fields.
            **options: ``ordered=True`` yields in the order of the cases, False as they finish; ``max_concurrency=32``
                is the number of cases judged at once; ``store=`` and ``budget=`` apply to all judges inside.

        Raises:
            ConfigurationError: ``cases`` is one case, or an option is wrong.
        """
        return (judgment for _, judgment in self.judge_pairs(cases, **options))

    def judge_pairs(self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]) -> Iterator[Pair]:
        """Judge many cases and yield each with its judgment, like :meth:`judge_many`.

        A row that makes no case is None.
        """
        return Batch(self.ajudge, **options).stream(cases)

    async def ajudge_many(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> AsyncGenerator[Judgment, None]:
        """Judge many cases, which may be an asynchronous iterable, for asynchronous code; see :meth:`judge_many`."""
        async with aclosing(self.ajudge_pairs(cases, **options)) as pairs:
            async for _, judgment in pairs:
                yield judgment

    def ajudge_pairs(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> AsyncGenerator[Pair, None]:
        """Judge many cases and yield each with its judgment, for asynchronous code. See :meth:`judge_pairs`."""
        return Batch(self.ajudge, **options).astream(cases)

    def estimate_cost(self, cases: Iterable[CaseLike]) -> CostEstimate:
        """Return an upper estimate per tier or juror of what judging the cases would cost; nothing is sent."""
        return estimate_cost(self._parts(), cases)

    def _parts(self) -> dict[str, Callable[[Case], Usage]]:
        """The judges whose estimates are listed one by one, by name."""
        return {self.name: self.estimate}

    def named(self, name: str) -> Self:
        """Return a copy with another name."""
        return self._with(name=name)

    def with_timeout(self, seconds: float | None) -> Self:
        """Return a copy with another time limit per case, in seconds; None for no limit."""
        return self._with(timeout=_checked_timeout(seconds))

    def with_samples(self, samples: int, **options: Any) -> "Judge":
        """Return an :class:`Ensemble`, with its options, that asks this judge several times about each case."""
        check_whole("samples", samples, 1)
        return MAKERS["samples"]([self] * samples, name=options.pop("name", f"{self.name} x{samples}"), **options)

    def with_fallbacks(self, *fallbacks: "JudgeLike") -> "Judge":
        """Return a judge that asks the fallbacks, in order, where this one breaks."""
        return MAKERS["fallbacks"](self, *fallbacks)

    def __and__(self, other: "JudgeLike") -> "Judge":
        return MAKERS["all_of"](self, other)

    def __or__(self, other: "JudgeLike") -> "Judge":
        return MAKERS["any_of"](self, other)

    def _with(self, **changes: Any) -> Self:
        other = copy.copy(self)
        for name, value in changes.items():
            object.__setattr__(other, name, value)  # it may be a frozen dataclass
        return other

    def __repr__(self) -> str:
        inside = ", ".join(one.name for one in self.members)
        return f"{type(self).__name__}({self.name!r}{f', [{inside}]' if inside else ''})"


class Check(Judge):
    """Base of judges that only compute, for milliseconds. They run on the event loop."""

    @abstractmethod
    def check(self, case: Case) -> Returned:
        """Judge one case."""

    async def assess(self, case: Case) -> Returned:
        """Judge one case by :meth:`check`."""
        return self.check(case)


class FunctionJudge(Judge):
    """Judge that calls a function of a case; see :func:`judge`."""

    def __init__(
        self,
        function: Callable[[Case], Returned],
        *,
        name: str = "",
        threshold: float = 0.5,
        timeout: float | None = None,
        cost: float = 0.0,
        labels: Mapping[str, Status | str] | Iterable[str] | None = (),
    ) -> None:
        if not callable(function) or isinstance(function, type):
            raise ConfigurationError(f"a judge is a Judge or a function of a case, not {type(function).__name__}")
        if not all(isinstance(one, int | float) and one >= 0 for one in (threshold, cost)) or threshold > 1:
            raise ConfigurationError(f"threshold= is in 0..1 and cost= from 0, not {threshold!r} and {cost!r}")
        own = getattr(function, "__name__", type(function).__name__)
        self.function = function
        self.name = name or ("" if own == "<lambda>" else own)
        self.pass_mark, self.timeout, self.cost = threshold, _checked_timeout(timeout), cost
        self.labels = None if labels is None else labels_of(labels)

    async def assess(self, case: Case) -> Returned:
        """Judge one case by the function."""
        return await _called(self.function, case)

    def __call__(self, case: Case) -> Returned:
        return self.function(case)


JudgeLike = Judge | Callable[[Case], Returned]


class JudgeOptions(TypedDict, total=False):
    """Options of a function judge, as in :func:`judge`."""

    name: str
    threshold: float
    timeout: float | None
    cost: float
    labels: Mapping[str, Status | str] | Iterable[str] | None


@overload
def judge(function: Callable[[Case], Returned], /, **options: Unpack[JudgeOptions]) -> FunctionJudge: ...
@overload
def judge(
    function: None = None, /, **options: Unpack[JudgeOptions]
) -> Callable[[Callable[[Case], Returned]], FunctionJudge]: ...
def judge(function: Callable[[Case], Returned] | None = None, /, **options: Any) -> Any:
    """Turn a function into a judge: ``@judge``, ``@judge(threshold=0.7)`` or ``judge(function, name="short")``.

    The function takes a Case and returns True or False, a score in 0..1, a label, a Status, a pair of one of these and
    a reason, a mapping with ``score`` and ``comment``, or a Judgment. An ``async def`` function runs on the event loop.
    A ``def`` function runs in a thread of its own and must be thread-safe.

    Args:
        function: the function.
        **options: ``name=``; ``threshold=0.5``, the score from which it passes; ``timeout=``, seconds per case;
            ``cost=``, US dollars per case; ``labels=``, the labels that it may return: a list of neutral ones, or a
            mapping of labels to ``"pass"``, ``"fail"``, ``"label"`` or ``"abstain"``; None for any.

    >>> @judge(labels={"POLITE": "pass", "RUDE": "fail"})
    ... def tone(case):
    ...     return "RUDE" if "!" in case.answer else "POLITE"
    >>> tone.judge(answer="Go away!").status.value
    'FAIL'
    """
    return partial(FunctionJudge, **options) if function is None else FunctionJudge(function, **options)


def judge_of(given: JudgeLike) -> Judge:
    """Return a judge unchanged, and a function as a judge."""
    return given if isinstance(given, Judge) else FunctionJudge(given)


def named_judges(judges: Iterable[JudgeLike] | Mapping[str, JudgeLike]) -> dict[str, Judge]:
    """Return the judges of a jury by unique names: a second *a* is *a-2*, an unnamed judge *Judge#3* by its place."""
    if isinstance(judges, Judge | str) or not isinstance(judges, Iterable):
        raise ConfigurationError(
            f"a jury is made of an iterable of judges, or of a mapping of names to judges; not {type(judges).__name__}"
        )
    if isinstance(judges, Mapping):
        found = {str(name): judge_of(one) for name, one in judges.items()}
        if len(found) < len(judges):
            raise ConfigurationError(f"two judges have one name: {[*judges]}")
    else:
        found = {}
        for place, one in enumerate(map(judge_of, judges), start=1):
            own = name = one.name or f"Judge#{place}"
            number = 2
            while name in found:
                name, number = f"{own}-{number}", number + 1
            found[name] = one
    if not found:
        raise ConfigurationError("a jury needs at least one judge")
    return found


Around = Callable[[Judge, Case, Callable[[], Awaitable[Judgment]]], Awaitable[Judgment]]
around: Around | None = None
"""Hook for tracing: called for every judge that is asked, with the call that asks it."""


async def ask(judge: Judge, case: Case, name: str = "") -> Judgment:
    """Ask one judge about one case, under the name that it has in a jury. A judge that breaks gives an ERROR."""
    if around is not None:
        return await around(judge, case, partial(_ask, judge, case, name))
    return await _ask(judge, case, name)


async def ask_together(calls: Iterable[Coroutine[Any, Any, Judgment]]) -> list[Judgment]:
    """Wait for calls of :func:`ask` at once, and return what they give; cancelling this cancels them all."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call) for call in calls]
    # A task that is cancelled, when this one is not, has cancelled itself.
    return [broken("the judge cancelled itself") if one.cancelled() else one.result() for one in tasks]


async def _ask(judge: Judge, case: Case, name: str) -> Judgment:
    started, before = perf_counter(), cancellations()
    limit = asyncio.timeout(judge.timeout)
    try:
        if case.error is not None and not case.answer:
            judgment = failed_run(case.error)
        else:
            if judge.timeout is None:
                outcome = await _called(judge.assess, case)
            else:
                async with limit:
                    outcome = await _called(judge.assess, case)
            if limit.expired() or _is_late(judge, started):  # it swallowed its cancellation, or held the loop up
                raise TimeoutError
            judgment = _labelled(judge, to_judgment(outcome, judge.pass_mark))
    except BaseException as error:
        pass_on(error, before)
        if limit.expired() or (isinstance(error, TimeoutError) and _is_late(judge, started)):  # it may be billed
            usage = Usage(cost_complete=False) if _estimates_calls(judge, case) else NO_USAGE
            judgment = broken("timeout", reasoning=f"no judgment within {judge.timeout:g} s", usage=usage)
        else:
            judgment = broken(error)
    known = {"critic": clean(name or judge.name or judgment.critic), "elapsed_s": perf_counter() - started}
    return judgment.model_copy(update=known)


def _is_late(judge: Judge, started: float) -> bool:
    return judge.timeout is not None and perf_counter() - started > judge.timeout


async def _called(function: Callable[[Case], Returned], case: Case) -> Returned:
    """Call a function: on the loop if it is asynchronous, else in a thread of its own, where it may block."""
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)  # a quick look; what inspect knows takes longer
    if flags & inspect.CO_COROUTINE or any(
        map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None)))  # noqa: B004
    ):
        return await cast(Awaitable[Returned], function(case))
    outcome = await loop.in_thread(function, case)
    return await outcome if inspect.isawaitable(outcome) else outcome


def pass_on(error: BaseException, before: int = 0) -> None:
    """Raise what ends more than the judge that raised it: a cancellation from outside, a Ctrl-C, the end of the loop.

    A CancelledError while nothing is cancelled, a SystemExit or a KeyboardInterrupt in a thread are errors like any
    other. A judge may also turn its cancellation into another error: the task is then cancelled once more than before.
    """
    if isinstance(error, GeneratorExit) and asyncio._get_running_loop() is None:
        raise error
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error
    if cancellations() > (0 if isinstance(error, asyncio.CancelledError) else before):
        raise asyncio.CancelledError from None


def cancellations() -> int:
    """Return how often the running task has been cancelled."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def _estimates_calls(judge: Judge, case: Case) -> bool:
    try:
        return judge.estimate(case).calls > 0
    except Exception:  # of a user's judge
        return True


def _labelled(judge: Judge, judgment: Judgment) -> Judgment:
    """Give a declared label its meaning, and refuse one that is not declared."""
    if judge.labels is None or judgment.label is None or judge.members:
        return judgment
    meaning = judge.labels.get(judgment.label)
    if meaning is judgment.status:
        return judgment
    if meaning is None or judgment.status is not Status.LABEL:
        declared = ", ".join(f"{label} ({status})" for label, status in judge.labels.items()) or "none"
        raise ConfigurationError(
            f"{judgment.status} with the label {judgment.label!r} is not declared; labels= has {declared}"
        )
    reasoning = judgment.reasoning or f"the label {judgment.label}"
    nothing = {"score": None, "label": None} if meaning is Status.ABSTAIN else {}
    return judgment.but(status=meaning, reasoning=reasoning, **nothing)


def to_judgment(outcome: Returned, pass_mark: float = 0.5) -> Judgment:
    """Convert what a judge returned; see :func:`judge` for what it may return.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(outcome, Judgment):
        return outcome
    reason = ""
    if isinstance(outcome, Mapping) and "score" in outcome:
        outcome = (outcome["score"], outcome.get("comment") or outcome.get("reasoning"))
    if isinstance(outcome, tuple) and len(outcome) == 2:
        outcome, reason = outcome[0], "" if outcome[1] is None else str(outcome[1])
    if isinstance(outcome, Judgment):
        return outcome.but(reasoning=reason or outcome.reasoning)
    if isinstance(outcome, str) and outcome in ("PASS", "FAIL", "ABSTAIN", "ERROR"):
        said = reason or "no reason was given"
        if outcome == "ERROR":
            return broken(said)
        return Judgment(status=Status(outcome), reasoning=said if outcome == "ABSTAIN" else reason)
    if isinstance(outcome, str):
        return Judgment(status=Status.LABEL, label=outcome, reasoning=reason)
    number = outcome.item() if getattr(outcome, "shape", None) == () else outcome  # a number of numpy
    if isinstance(number, bool):
        return Judgment(status=Status.PASS if number else Status.FAIL, reasoning=reason)
    if isinstance(number, int | float):
        return Judgment(
            status=Status.PASS if number >= pass_mark - ROUNDING else Status.FAIL, score=number, reasoning=reason
        )
    raise TypeError(
        f"a judge returned {type(outcome).__name__}; it returns True or False, a score in 0..1, a label, a Status, a "
        "pair of one of these and a reason, a mapping with a score, or a Judgment"
    )


def _checked_timeout(seconds: float | None) -> float | None:
    if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
        raise ConfigurationError(f"a time limit is a number of seconds above 0, not {seconds!r}")
    return seconds


def _described(value: Any) -> Any:
    """Return a setting as JSON values that are the same on every machine."""
    if isinstance(value, Judge):
        return value.fingerprint
    if isinstance(value, Mapping):
        return {str(key): _described(inside) for key, inside in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [*map(_described, value)]
    if isinstance(value, partial):
        return _described([value.func, value.args, value.keywords])
    if isinstance(value, Frozen):
        return [type(value).__qualname__, _described({name: getattr(value, name) for name in type(value).model_fields})]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__qualname__, _described({one.name: getattr(value, one.name) for one in fields(value)})]
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return to_jsonable_python(value, fallback=lambda one: type(one).__qualname__, inf_nan_mode="strings")
