"""Verdicts that do not decide whether an answer is shown."""

from __future__ import annotations

from typing import Literal, TypeAlias

from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict import failed_by_errors

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
        return on_undecided is not None and failed_by_errors(judgment)
    return judgment.status is not Status.PASS
