"""Warning for juries whose critics vote on different questions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from jury_adapters.core.fallbacks import without_fallbacks
from jury_adapters.core.judge import Judge
from jury_adapters.core.jury import Jury
from jury_adapters.core.parts import EachPart


def warn_of_several_rubrics(members: Sequence[Judge], *, stacklevel: int) -> None:
    """Warn if members of one vote have critics with rubrics of different names, also in nested juries.

    Args:
        members: the jurors of one jury.
        stacklevel: the stack level of the warning, counted from the caller as in :func:`warnings.warn`.
    """
    by_member = [_rubrics(member) for member in members]
    names = {text: name for rubrics in by_member for text, name in rubrics.items()}  # equal texts ask one question
    questions = {frozenset(names[text] for text in rubrics) for rubrics in by_member if rubrics}
    if len(questions) > 1:
        listed = ", ".join(dict.fromkeys(names.values()))
        warnings.warn(
            f"the critics of one Ensemble have different rubrics ({listed}), so their votes answer different "
            "questions; use a Scorecard, with one criterion for each rubric",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def _rubrics(judge: Judge) -> dict[str, str]:
    """Return the names of the rubrics of the critics in a judge, by the text of the rubric."""
    judge = without_fallbacks(judge)
    if isinstance(judge, Jury | EachPart):
        return {text: name for member in judge.members for text, name in _rubrics(member).items()}
    rubric = getattr(judge, "rubric", None)
    return {} if rubric is None else {rubric.criteria: rubric.name}
