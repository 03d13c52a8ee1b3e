"""Rubrics of the critics inside a judge, and copies of the judge with other rubrics."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.rubric import Rubric

AnyJudge = TypeVar("AnyJudge", bound=Judge)


def rubrics_in(judge: Judge) -> Iterator[Rubric]:
    """Yield the rubric of every critic inside a judge, in order; a shared rubric several times."""
    yield from _own_rubrics(judge)
    for member in judge.members:
        yield from rubrics_in(member)


def with_changed_rubrics(judge: AnyJudge, changed: Mapping[str, Rubric]) -> AnyJudge:
    """Return a copy of the judge in which the critics with these rubrics have others.

    Args:
        judge: a critic or a jury of any kind.
        changed: the new rubrics, by the fingerprints of those that they replace.

    Raises:
        ConfigurationError: a judge inside cannot be copied.
    """

    def changed_critic(one: Judge) -> Judge | None:
        own = _own_rubrics(one)
        if not isinstance(one, AskingJudge) or not any(rubric.fingerprint in changed for rubric in own):
            return None
        return one.with_rubrics(*[changed.get(rubric.fingerprint, rubric) for rubric in own])

    return with_replaced(judge, changed_critic) if changed else judge


def with_replaced(judge: AnyJudge, replacement: Callable[[Judge], Judge | None]) -> AnyJudge:
    """Return a copy of a judge in which other judges are inside; the judge itself if none is replaced.

    It is a deep copy with a prefilled memo: the new judge for each one that is replaced, and the original object for
    every other judge (so that models, clients and stores stay shared).

    Args:
        judge: a judge or a jury of any kind.
        replacement: returns the new judge for one of the judges, or None to keep it.

    Raises:
        ConfigurationError: a judge inside cannot be copied.
    """
    memo: dict[int, Any] = {}
    _plan(judge, replacement, memo)
    try:
        return copy.deepcopy(judge, memo)
    except TypeError as error:  # a custom jury that holds a lock, a connection, ...
        raise ConfigurationError(
            f"{type(judge).__name__} cannot be built anew with other prompts ({error}); build it from critics with the "
            "rubrics you want"
        ) from error


def _own_rubrics(judge: Judge) -> tuple[Rubric, ...]:
    return judge.rubrics if isinstance(judge, AskingJudge) else ()


def _plan(judge: Judge, replacement: Callable[[Judge], Judge | None], memo: dict[int, Any]) -> bool:
    """Record the replacement of a judge in the copy; return True if it, or a judge inside it, changes."""
    new = replacement(judge)
    if new is not None:
        memo[id(judge)] = new
        return True
    # Some judges also keep a member in an attribute of their own.
    kept = [value for value in getattr(judge, "__dict__", {}).values() if isinstance(value, Judge)]
    touched = [_plan(inner, replacement, memo) for inner in (*judge.members, *kept)]
    if not any(touched):
        memo[id(judge)] = judge
    return any(touched)
