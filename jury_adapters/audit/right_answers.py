"""Cases of an audit, whose answers are right: those with a human label of FAIL are left out."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted
from jury_adapters.core.given_cases import given_cases
from jury_adapters.core.human_labels import GOLD, LabelMeanings, UnclearLabels, human_label, tally
from jury_adapters.core.judgment import Status

_log = logging.getLogger(__name__)


def right_answers(cases: Iterable[Case | Mapping[str, object]], pass_labels: Collection[str] = ()) -> tuple[Case, ...]:
    """Return the given cases without those whose human label means FAIL; the log says how many are left out.

    Args:
        cases: the cases; those without a human label are taken to be right.
        pass_labels: the human labels that mean PASS; the others then mean FAIL.

    Raises:
        UnclearLabels: a human label has no PASS or FAIL meaning, or no case has one of the ``pass_labels``.
        ConfigurationError: the cases are not a list of cases, or the human label of every case means FAIL.

    >>> labelled = [Case(answer=text, metadata={"gold": gold}) for text, gold in (("4", "PASS"), ("5", "FAIL"))]
    >>> [case.answer for case in right_answers(labelled)]
    ['4']
    """
    given = given_cases(cases)
    labels = [human_label(case.metadata.get(GOLD)) for case in given]
    seen = Counter(label for label in labels if label is not None)
    meanings = LabelMeanings.of((), pass_labels, seen.elements())
    said = {label: meanings.status_of(label) for label in seen}
    if None in said.values():
        raise UnclearLabels(f"human labels are {tally(seen)}, and an audit needs to know which answers are right")
    found = tuple(
        case for case, label in zip(given, labels, strict=True) if label is None or said[label] is Status.PASS
    )
    wrong = len(given) - len(found)
    if wrong and not found:
        raise ConfigurationError(
            "an audit needs right answers, and the human label of every case is FAIL; give cases with right answers"
        )
    if wrong:
        left_out = counted(wrong, "case is", "cases are")
        _log.warning("auditing: %s left out, because the human label is FAIL: an audit needs right answers", left_out)
    return found
