"""Verdicts that do not decide whether an answer is shown."""

from __future__ import annotations

from typing import Literal, TypeAlias

from jury_adapters.core.judgment import Judgment, Status

OnUndecided: TypeAlias = Literal["allow", "block"]


def is_undecided(judgment: Judgment, on_undecided: OnUndecided | None) -> bool:
    """Return whether ``on_undecided`` decides about an answer, instead of the verdict.

    It does so for every verdict that is neither PASS nor FAIL. If the option is given, it also does so for a FAIL that
    only failed jurors caused: the model that wrote the answer cannot correct that.

    >>> from jury_adapters import Ensemble
    >>> verdict = Ensemble([lambda case: True, lambda case: 1 / 0]).judge(answer="a")
    >>> is_undecided(verdict, None), is_undecided(verdict, "block")
    (False, True)
    """
    if judgment.status is Status.FAIL:
        return on_undecided is not None and judgment.failed_by_errors
    return judgment.status is not Status.PASS


def is_unreviewed(judgment: Judgment) -> bool:
    """Return whether a verdict that withholds an answer says nothing about it: it has no fault that a juror found.

    >>> from jury_adapters import Ensemble
    >>> is_unreviewed(Ensemble([lambda case: True, lambda case: 1 / 0]).judge(answer="a"))
    True
    """
    return judgment.status is not Status.FAIL or judgment.failed_by_errors
