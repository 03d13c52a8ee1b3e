"""Judges made of functions: ``@judge`` and :class:`FunctionJudge`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Self, SupportsIndex, overload

from jury_adapters.core.assessment import await_outcome, call_plain
from jury_adapters.core.case import Case
from jury_adapters.core.description import Traits
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.evaluator_hints import evaluator_hint
from jury_adapters.core.functions import attribute_at, is_async, returns, takes, takes_one, yields
from jury_adapters.core.judge import Judge, Outcome
from jury_adapters.core.judge_settings import checked_blocking, checked_cost, checked_name
from jury_adapters.core.return_values import to_judgment
from jury_adapters.core.values import positive_timeout, unit_interval

_MIDDLE = 0.5  # the default, which declares nothing of the scores of the function


class FunctionJudge(Judge):
    """Judge that calls a function; see :meth:`Judge.from_function`."""

    def __init__(
        self,
        function: Callable[[Case], Outcome] | Callable[[Case], Awaitable[Outcome]],
        *,
        name: str = "",
        threshold: float = _MIDDLE,
        timeout: float | None = None,
        cost: float = 0.0,
        blocking: bool = False,
    ) -> None:
        if not callable(function):
            raise ConfigurationError(f"a judge is made of a function that takes a Case, not of {plain_repr(function)}")
        if not takes_one(function):
            called = getattr(function, "__name__", "this one")
            hint = evaluator_hint(function)
            raise ConfigurationError(
                f"a judge is made of a function that takes one Case; {called} takes {inspect.signature(function)}"
                + (f"; {hint}" if hint else "")
            )
        own_name = getattr(function, "__name__", type(function).__name__)
        if returns(function, Judge):
            raise ConfigurationError(
                f"a judge is made of a function that takes a Case; {own_name} makes a judge: give {_call(function)}"
            )
        if yields(function):
            raise ConfigurationError(f"{own_name} has `yield` in it; return one outcome for the case instead")
        self.name = checked_name(name) or ("" if own_name == "<lambda>" else own_name)
        self.threshold = unit_interval(threshold, "threshold")
        self.timeout = positive_timeout(timeout)
        self.cost = checked_cost(cost)
        self.blocking = checked_blocking(blocking)
        self._function = function
        self._waits = is_async(function)

    async def assess(self, case: Case) -> Outcome:
        answer: Any
        if self._waits:
            function: Any = self._function
            answer = await function(case)
        else:
            answer = await call_plain(self, self._function, case)
            if answer.__class__ is not bool:  # a bool, the most frequent answer, is not awaitable
                answer = await await_outcome(answer)
        if isinstance(answer, Judge):
            raise TypeError(f"the function makes a judge instead of judging: give {_call(self._function)}")
        return answer if isinstance(answer, bool) else to_judgment(answer, self.threshold)

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset() if self.threshold == _MIDDLE else frozenset({self.threshold})

    @property
    def inline(self) -> bool:
        return not self._waits and not self.blocking

    def _traits(self) -> Traits:
        return {} if self.name else {"function": getattr(self._function, "__qualname__", type(self._function).__name__)}

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle the settings, and the function by its name.

        After ``@judge`` the function's own name refers to this judge, so pickle would not find the function there.
        """
        function: Any = self._function
        name = getattr(function, "__qualname__", "")
        found = attribute_at(getattr(function, "__module__", None), name)
        if isinstance(found, FunctionJudge) and found._function is function:
            function.__qualname__ = f"{name}._function"  # its actual place, also for cloudpickle
        return super().__reduce_ex__(protocol)

    def __call__(self, case: Case) -> Any:
        """Call the undecorated function and return its result."""
        return self._function(case)


def _call(function: Callable[..., object]) -> str:
    """Return how to call a function, for a message; "..." stands for arguments that it needs."""
    name = getattr(function, "__name__", "it")
    return f"the judge that {name} returns" if name == "<lambda>" else f"{name}({'' if takes(function, 0) else '...'})"


@overload
def judge(
    function: Callable[[Case], Any],
    /,
    *,
    name: str = "",
    threshold: float = 0.5,
    timeout: float | None = None,
    cost: float = 0.0,
    blocking: bool = False,
) -> FunctionJudge: ...
@overload
def judge(
    *, name: str = "", threshold: float = 0.5, timeout: float | None = None, cost: float = 0.0, blocking: bool = False
) -> Callable[[Callable[[Case], Any]], FunctionJudge]: ...
def judge(
    function: Callable[[Case], Any] | None = None,
    /,
    *,
    name: str = "",
    threshold: float = 0.5,
    timeout: float | None = None,
    cost: float = 0.0,
    blocking: bool = False,
) -> Any:
    """Turn a function into a judge: ``@judge``, ``@judge(threshold=0.7)`` or ``judge(function, name="short")``.

    Args:
        function: takes a Case and returns a bool, a score 0..1, a Status, a pair ``(one of these, reason)``, or a
            Judgment; plain or asynchronous.
        name: the judge's name; the function's name by default.
        threshold: the lowest score that is PASS.
        timeout: time limit per case in seconds.
        cost: approximate cost of one judgment in US dollars; an early-stopping jury asks the cheapest jurors first. It
            is not in usage, estimates or budgets.
        blocking: whether a plain function waits or computes for a long time, and so runs in a worker thread.

    >>> @judge
    ... def short(case):
    ...     return len(case.answer) < 80, "at most 80 characters"
    >>> short.judge(answer="Yes.").passed
    True
    """
    make = partial(FunctionJudge, name=name, threshold=threshold, timeout=timeout, cost=cost, blocking=blocking)
    return make if function is None else make(function)
