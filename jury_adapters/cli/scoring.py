"""Gold labels and verdicts in the same words, so that they can be compared."""

from __future__ import annotations

from collections.abc import Collection

from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment

_OBVIOUS_PASS = frozenset({"pass", "true", "yes"})
_OBVIOUS_FAIL = frozenset({"fail", "false", "no"})
PASS, FAIL = "PASS", "FAIL"


def truth_of(
    gold: object, judgment: Judgment, pass_labels: Collection[str], *, labels: bool = False
) -> tuple[str, str | None]:
    """What people said and what the verdict said, in the same words: PASS and FAIL, or labels.

    Args:
        gold: the label that people gave.
        judgment: the verdict.
        pass_labels: which gold labels mean PASS; without them only pass, true, yes and their opposites are understood.
        labels: whether the jury's verdicts are labels that mean neither; an undecided verdict does not show it.

    Raises:
        InputError: the verdict is PASS or FAIL, and nothing says which of them the gold label means.
    """
    if labels or judgment.status is None:
        return str(gold), judgment.opinion
    said = None if not judgment.valid else PASS if judgment.passed else FAIL
    word = str(gold)
    if pass_labels:
        return PASS if word in pass_labels else FAIL, said
    if word.lower() in _OBVIOUS_PASS | _OBVIOUS_FAIL:
        return PASS if word.lower() in _OBVIOUS_PASS else FAIL, said
    raise InputError(
        f"does the gold label {word!r} mean PASS or FAIL? Give --pass-label, once for each that means PASS"
    )
