"""Cases of an audit: right answers, by their human labels where there are some, with sources to check them."""

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
    """Return the cases whose human label means PASS, or all if none has a label; the log counts those left out.

    Args:
        cases: the cases. If some have a human label, the answers of the others were not checked.
        pass_labels: the human labels that mean PASS; the others, except PASS itself, then mean FAIL.

    Raises:
        UnclearLabels: a human label has no PASS or FAIL meaning, or no case has one of the ``pass_labels``.
        ConfigurationError: the cases are not a list of cases, or there are human labels and none means PASS.

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
    if not seen:
        return given
    found = tuple(
        case for case, label in zip(given, labels, strict=True) if label is not None and said[label] is Status.PASS
    )
    unlabelled = labels.count(None)
    if not found:
        of = "no human label means PASS" if unlabelled else "the human label of every case is FAIL"
        raise ConfigurationError(f"an audit needs right answers, and {of}; give cases with right answers")
    wrong = len(given) - len(found) - unlabelled
    if wrong:
        _say_left_out(wrong, "the human label is FAIL")
    if unlabelled:
        _say_left_out(unlabelled, f"{'it has' if unlabelled == 1 else 'they have'} no human label and others do")
    return found


def with_sources(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases that have an answer, and contexts or a reference to check it; the log counts those left out.

    Raises:
        ConfigurationError: there is no such case.

    >>> [case.answer for case in with_sources([Case(answer="4", reference="4"), Case(answer="5")])]
    ['4']
    """
    given = tuple(cases)
    answered = [case for case in given if (case.answer or "").strip()]
    found = tuple(case for case in answered if case.contexts or case.reference)
    if not found:
        raise ConfigurationError(
            "an audit needs cases with right answers, and contexts or a reference for each; leave out the cases to use "
            "those that come with the package"
        )
    if empty := len(given) - len(answered):
        _say_left_out(empty, f"{'it has' if empty == 1 else 'they have'} no answer")
    if bare := len(answered) - len(found):
        _say_left_out(bare, f"{'it has' if bare == 1 else 'they have'} neither contexts nor a reference", "one of them")
    return found


def _say_left_out(number: int, why: str, needs: str = "right answers") -> None:
    left_out = counted(number, "case is", "cases are")
    _log.warning("auditing: %s left out, because %s: an audit needs %s", left_out, why, needs)
