"""Parts of the objects that act on verdicts inside a pipeline: arguments, and what they log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.secrets import error_code
from jury_adapters.llama_index.evaluators import JuryEvaluator

JurorLike: TypeAlias = Judge | JuryEvaluator | Callable[[Case], Any]

_log = logging.getLogger(__name__)
_NO_CODE = error_code(None)


def why_undecided(judgment: Judgment) -> str:
    """Return why a judgment decides nothing, without any text of a case or of a model."""
    if judgment.status is Status.FAIL:
        return "it failed only because jurors broke"
    said = {Status.ABSTAIN: "the jury abstained", Status.ERROR: "the jury broke"}
    why = "its label has no PASS or FAIL meaning" if judgment.status is None else said[judgment.status]
    code = error_code(judgment.error)
    return why if code == _NO_CODE else f"{why} ({code})"


def evaluator_of(jury: JurorLike) -> JuryEvaluator:
    """Return an evaluator of a jury; one that is an evaluator already keeps its store and budget."""
    return jury if isinstance(jury, JuryEvaluator) else JuryEvaluator(jury)


def whole_number(number: int, what: str, least: int) -> int:
    """Return the argument ``what`` if it is a whole number that is large enough."""
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise ConfigurationError(f"{what} is a whole number from {least}, not {plain_repr(number)}")
    return number


@contextmanager
def log_errors(what: str) -> Iterator[None]:
    """Log exceptions raised inside, and continue."""
    try:
        yield
    except Exception:
        _log.exception("%s raised", what)
