"""Rubrics of the critics inside a judge, and copies of the judge with other rubrics."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
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

    It is a deep copy with a prefilled memo: a new critic for each critic whose rubric changes, and the original object
    for every other judge (so that models, clients and stores stay shared).

    Args:
        judge: a critic or a jury of any kind.
        changed: the new rubrics, by the fingerprints of those that they replace.

    Raises:
        ConfigurationError: a judge inside cannot be copied.
    """
    if not changed:
        return judge
    memo: dict[int, Any] = {}
    _plan(judge, changed, memo)
    try:
        return copy.deepcopy(judge, memo)
    except TypeError as error:  # a custom jury that holds a lock, a connection, ...
        raise ConfigurationError(
            f"{type(judge).__name__} cannot be built anew with other prompts ({error}); build it from critics with the "
            "rubrics you want"
        ) from error


def _own_rubrics(judge: Judge) -> tuple[Rubric, ...]:
    return judge.rubrics if isinstance(judge, AskingJudge) else ()


def _plan(judge: Judge, changed: Mapping[str, Rubric], memo: dict[int, Any]) -> bool:
    """Record the replacement of a judge in the copy; return True if it, or a judge inside it, changes."""
    own = _own_rubrics(judge)
    if any(rubric.fingerprint in changed for rubric in own):
        assert isinstance(judge, AskingJudge)
        memo[id(judge)] = judge.with_rubrics(*[changed.get(rubric.fingerprint, rubric) for rubric in own])
        return True
    # Some judges also keep a member in an attribute of their own.
    kept = [value for value in getattr(judge, "__dict__", {}).values() if isinstance(value, Judge)]
    touched = [_plan(inner, changed, memo) for inner in (*judge.members, *kept)]
    if not any(touched):
        memo[id(judge)] = judge
    return any(touched)
