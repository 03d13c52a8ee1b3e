"""Warning about evaluators that give results of the same runs under the same key."""

from __future__ import annotations

import logging
from threading import Lock
from typing import Protocol
from uuid import UUID
from weakref import WeakSet

from jury_adapters.core.judge import Judge
from jury_adapters.langchain.summaries import Kept

_log = logging.getLogger(__name__)


class Keyed(Protocol):
    """Evaluator whose results have a key: the given one, or the name of its jury."""

    jury: Judge
    key: str
    kept: Kept


def note_key(evaluator: Keyed) -> None:
    """Remember an evaluator for as long as it exists."""
    with _LOCK:
        _EVALUATORS.add(evaluator)


def warn_of_shared_key(evaluator: Keyed, run_id: UUID) -> None:
    """Log a warning, once for each evaluator, if another one with the same key has judged the same run."""
    with _LOCK:
        if evaluator not in _EVALUATORS or evaluator in _WARNED:
            return
        others = [one for one in _EVALUATORS if one.key == evaluator.key and one.jury is not evaluator.jury]
        if not any(one.kept.has(run_id) for one in others):
            return
        _WARNED.add(evaluator)
    _log.warning(
        "two evaluators give results of one run under the key %r, so they cannot be told apart: give each a key of its "
        "own, JuryEvaluator(jury, key='faithful'), or its jury a name", evaluator.key,
    )  # fmt: skip


_LOCK = Lock()
_EVALUATORS: WeakSet[Keyed] = WeakSet()
_WARNED: WeakSet[Keyed] = WeakSet()
