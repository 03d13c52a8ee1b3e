"""Judgments in which a judge failed, because of an outage or a spent budget, so that they say little about the jury."""

from __future__ import annotations

from collections.abc import Iterable

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict import Verdict

FAILED = (
    "jurors failed on some cases, because of an outage or a spent budget; the figures of such candidates "
    "do not show whether the change helps: align again, with a larger budget if that was spent"
)


def failed_only_before(before: Judgment, after: Judgment) -> bool:
    """Return whether a judge failed in the first judgment of a case and not in the second.

    An outage or a spent budget while the jury as it was is asked does not count for the changed one.
    """
    return bool(_failures(before) - _failures(after))


def failed_number(judgments: Iterable[Judgment]) -> int:
    """Return the number of judgments in which a judge broke, or was refused by the budget."""
    return sum(map(_failed, judgments))


def _failed(judgment: Judgment) -> bool:
    if judgment.status is Status.ERROR or judgment.error == BUDGET_EXHAUSTED:
        return True
    return isinstance(judgment, Verdict) and any(map(_failed, judgment.judgments))


def _failures(judgment: Judgment, name: str = "") -> set[str]:
    found = {name} if judgment.status is Status.ERROR or judgment.error is not None else set()
    for juror in judgment.judgments if isinstance(judgment, Verdict) else ():
        found |= _failures(juror, f"{name}/{juror.critic}")
    return found
