"""Log of judges that abstain from every run of an application, because no run has what they need."""

from __future__ import annotations

import logging

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import criteria_of

_log = logging.getLogger(__name__)


class ConstantAbstention:
    """Log of a judge, or of a criterion of a scorecard, that abstains from each of the first runs for one reason.

    Such a judge probably needs something that no run has, such as a reference answer. The log says so once.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, str | None] = {}  # None once anything else than this abstention was seen
        self._times: dict[str, int] = {}

    def add(self, judgment: Judgment) -> None:
        """Count a judgment of a run."""
        criteria = dict(criteria_of(judgment))
        around = {path[:-1] for path in criteria}  # a scorecard inside abstains because one of its own criteria does
        results = [(" / ".join(path), one) for path, one in criteria.items() if path not in around]
        results = results or [(judgment.critic, judgment)]
        for name, one in results:
            reason = None if one.status is not Status.ABSTAIN or one.error == BUDGET_EXHAUSTED else one.reasoning
            if reason is None or self._reasons.setdefault(name, reason) != reason:
                self._reasons[name] = None
                continue
            self._times[name] = self._times.get(name, 0) + 1
            if self._times[name] == _RUNS:
                _log.warning(
                    "%s abstained from each of the first %s runs: %s. %s (logged once)",
                    name, _RUNS, reason, _LACKING if "nothing to judge" in reason else _PERHAPS_LACKING,
                )  # fmt: skip


_LACKING = "If no run has what it needs, it never judges"
_PERHAPS_LACKING = "Either it found nothing to object to, or no run has what it needs and it never judges"
_RUNS = 3  # with fewer, the same reason proves nothing
