"""What people said of cases, and whether a judgment agrees with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from jury_adapters.core.case import Case
from jury_adapters.core.copies import identity_of, one_label, positions_by_item
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import CaseLike
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict import Verdict

FEWEST_LABELS = 30
"""A handful of cases proves little of those to come, whatever a test says of them; fewer than this promise nothing."""
_STATUSES = {"PASS": Status.PASS, "FAIL": Status.FAIL}


class UnclearLabels(ConfigurationError):
    """Which labels of people mean PASS is not known.

    Args:
        what: what is wrong, with the labels that people gave; without how to mend it, which is said in other words on a
            command line.

    Attributes:
        what: the same.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what}; name those that mean PASS: pass_labels=['LABEL']")


def check_pass_labels(truths: Iterable[str], pass_labels: Collection[str]) -> None:
    """Refuse labels that nobody gave: with a misspelt one, every label of people would mean FAIL.

    Raises:
        UnclearLabels: a label of ``pass_labels`` is not among the truths.
        ConfigurationError: one text instead of a list of them.
    """
    if isinstance(pass_labels, str):
        raise ConfigurationError(f"pass_labels is a list of labels: [{pass_labels!r}]")
    seen = Counter(truths)
    for label in pass_labels if seen else ():
        if label not in seen:
            near = get_close_matches(label, seen, n=1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise UnclearLabels(f"no labelled case has the label {label!r}{meant}; there are {tally(seen)}")


def tally(labels: Mapping[str, int]) -> str:
    """Labels with how often they were given, the most frequent first.

    >>> tally({"wrong": 7, "correct": 53})
    'correct 53, wrong 7'
    """
    ranked = sorted(labels.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(ranked) - _SHOWN} more" if len(ranked) > _SHOWN else ""
    return ", ".join(f"{label} {times:,}" for label, times in ranked[:_SHOWN]) + more


_SHOWN = 6


@dataclass(frozen=True, slots=True)
class LabelledCases:
    """Cases with the human label of each.

    Attributes:
        cases: the cases, each item once.
        truths: the label of each.
        merged: number of labelled cases that repeat an item and were merged with the first.
    """

    cases: list[Case]
    truths: list[str]
    merged: int


def gold_of(labelled: Iterable[CaseLike | tuple[CaseLike, str | bool]]) -> LabelledCases:
    """Return the labelled cases; cases without a label are left out, and an item that is given twice counts once.

    Copies of an item have the same content and the same id (or both lack an id); see
    :func:`jury_adapters.core.copies.identity_of`.

    Args:
        labelled: cases with ``metadata["gold"]``, rows with a column ``gold``, or pairs ``(case, gold)``. True and
            False are PASS and FAIL.

    Raises:
        ContradictingLabels: copies of an item have different labels. Leaving such an item out would leave a batch of
            items that are easier than those to come.
    """
    cases: list[Case] = []
    truths: list[str] = []
    places: list[int] = []
    for place, entry in enumerate(labelled):
        given, gold = entry if isinstance(entry, tuple) else (entry, None)
        case = Case.from_row(given) if isinstance(given, Mapping) else Case.of(given, {})
        said: object = case.metadata.get("gold") if gold is None else gold
        if said is None:
            continue
        cases.append(case)
        truths.append(("PASS" if said else "FAIL") if isinstance(said, bool) else str(said))
        places.append(place)
    items = positions_by_item([identity_of(case.key, case.item_id) for case in cases])
    for copies in items:
        one_label(cases[copies[0]].item_id, [(places[copy], truths[copy]) for copy in copies])
    firsts = [copies[0] for copies in items]
    return LabelledCases([cases[at] for at in firsts], [truths[at] for at in firsts], len(cases) - len(items))


@dataclass(frozen=True, slots=True)
class Truths:
    """Which labels mean PASS and which FAIL.

    Attributes:
        meaning: by label; labels that are not in it have no such meaning.
        only: whether labels outside ``meaning`` mean FAIL, because somebody listed those that mean PASS.
        seen: how often people gave which label, for messages.
    """

    meaning: Mapping[str, Status]
    only: bool
    seen: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, judgments: Iterable[Judgment], pass_labels: Collection[str], truths: Iterable[str] = ()) -> Truths:
        """Learn it from the list of PASS labels, or from jurors whose judgments have both a label and a status.

        Args:
            judgments: what the jurors said.
            pass_labels: the labels of people that mean PASS.
            truths: what people said, for messages.

        Raises:
            UnclearLabels: a label of ``pass_labels`` is not among the truths.
        """
        given = Counter(truths)
        check_pass_labels(given, pass_labels)
        if pass_labels:
            return cls({**_STATUSES, **dict.fromkeys(pass_labels, Status.PASS)}, only=True, seen=given)
        seen: dict[str, set[Status]] = {}
        for judgment in _opened(judgments):
            if judgment.label is not None and judgment.status in (Status.PASS, Status.FAIL):
                seen.setdefault(judgment.label, set()).add(judgment.status)
        learned = {label: next(iter(statuses)) for label, statuses in seen.items() if len(statuses) == 1}
        return cls({**learned, **_STATUSES}, only=False, seen=given)

    def status_of(self, truth: str) -> Status | None:
        """PASS or FAIL, or None for a label that has neither meaning."""
        return self.meaning.get(truth, Status.FAIL if self.only else None)

    def agrees(self, judgment: Judgment, truth: str) -> bool:
        """Whether the judgment says what people said; False when it says nothing.

        Raises:
            UnclearLabels: the two cannot be compared.
        """
        if not judgment.valid:
            return False
        if judgment.status is None or judgment.label == truth:
            return judgment.label == truth
        status = self.status_of(truth)
        if status is not None:
            return judgment.status is status
        if judgment.label is not None:
            return False
        raise UnclearLabels(f"people's labels are {tally(self.seen or {truth: 1})}, and the jury says PASS and FAIL")


def _opened(judgments: Iterable[Judgment]) -> Iterator[Judgment]:
    for judgment in judgments:
        yield judgment
        if isinstance(judgment, Verdict):
            yield from judgment.jurors()
