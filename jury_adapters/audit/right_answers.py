"""Cases of an audit, whose answers are right: those with a human label of FAIL are left out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted
from jury_adapters.core.given_cases import given_cases
from jury_adapters.core.human_labels import GOLD, LabelMeanings, human_label
from jury_adapters.core.judgment import Status

_log = logging.getLogger(__name__)
_MEANINGS = LabelMeanings({}, only=False)


def right_answers(cases: Iterable[Case | Mapping[str, object]]) -> tuple[Case, ...]:
    """Return the given cases without those whose human label means FAIL; the log says how many are left out.

    Raises:
        ConfigurationError: the cases are not a list of cases, or all of them have such a label.

    >>> labelled = [Case(answer=text, metadata={"gold": gold}) for text, gold in (("4", "PASS"), ("5", "FAIL"))]
    >>> [case.answer for case in right_answers(labelled)]
    ['4']
    """
    given = given_cases(cases)
    found = tuple(case for case in given if not _is_wrong(case))
    wrong = len(given) - len(found)
    if wrong and not found:
        raise ConfigurationError(
            "an audit needs right answers, and the human label of every case is FAIL; give cases with right answers"
        )
    if wrong:
        said = counted(wrong, "case is", "cases are")
        _log.warning("auditing: %s left out, because the human label is FAIL: an audit needs right answers", said)
    return found


def _is_wrong(case: Case) -> bool:
    label = human_label(case.metadata.get(GOLD))
    return label is not None and _MEANINGS.status_of(label) is Status.FAIL
