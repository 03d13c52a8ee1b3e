"""Default number of cases that a batch judges at once."""

from __future__ import annotations

from math import ceil

from jury_adapters.core.judge import Judge

_REQUESTS = 64  # requests to models that a batch keeps in flight by default
_OWN_CODE = 16  # cases in flight by default if a judge runs the user's own code or service


def default_concurrency(judge: Judge) -> int:
    """Return the default of ``max_concurrency``: the number of cases that a batch judges at once.

    It is the number of cases that keeps 64 requests to models in flight: 64 for a critic, 22 for a panel of three. It
    is at most 16 if a judge runs the user's own code or service (a function that waits, a command, an evaluator of
    another package).
    """
    requests = judge.requests_at_once
    cases = ceil(_REQUESTS / requests) if requests else _OWN_CODE
    return min(cases, _OWN_CODE) if _runs_own_code(judge) else cases


def _runs_own_code(judge: Judge) -> bool:
    if judge.members:
        return any(map(_runs_own_code, judge.members))
    return not judge.requests_at_once and not (judge.inline and judge.timeout is None)
