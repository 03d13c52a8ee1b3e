"""Human labels of cases, and their PASS or FAIL meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import visible
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import plain_scalar
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import metadata_of_case

GOLD = "gold"
"""Column, or entry of a case's metadata, that holds the human label."""


class UnclearLabels(ConfigurationError):
    """Error for human labels without a known PASS or FAIL meaning.

    Args:
        what: the problem, with the human labels; without the fix, which differs on a command line.

    Attributes:
        what: the same.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what}; name those that mean PASS: pass_labels=['LABEL']")


def human_label(value: object) -> str | None:
    """Return a human label as text; None for a missing label: None, a blank text, NaN.

    >>> human_label(True), human_label(" "), human_label("valid"), human_label(3), human_label(3.0)
    ('PASS', None, 'valid', '3', '3')
    """
    if value.__class__ is str:  # the most frequent case
        return value.strip() or None
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124  only NaN differs from itself
        return None
    if isinstance(value, bool):
        return "PASS" if value else "FAIL"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() or None


def no_opinion(label: object) -> bool:
    """Whether a recorded label is blank, or the status of a judgment without an opinion.

    >>> no_opinion(" "), no_opinion("ABSTAIN"), no_opinion("ERROR"), no_opinion("error"), no_opinion(0)
    (True, True, True, False, False)
    """
    return isinstance(label, str) and label.strip() in ("", str(Status.ABSTAIN), str(Status.ERROR))


def human_label_of(case: Case | None, judgment: Judgment, column: str = GOLD) -> str | None:
    """Return the human label of a judged case, from its metadata or from the metadata that its verdict keeps.

    Args:
        case: the judged case; None if it is not known.
        judgment: the verdict.
        column: the entry of the metadata.
    """
    return human_label_in(case, metadata_of_case(judgment), column)


def human_label_in(case: Case | None, metadata: Mapping[str, object], column: str = GOLD) -> str | None:
    """Return the human label of a case, from its own metadata or from those that its verdict keeps."""
    found = None if case is None else human_label(case.metadata.get(column))
    return human_label(metadata.get(column)) if found is None else found


def with_label_of(case: Case, column: str) -> Case:
    """Return a case whose human label is the one in a column, or that has none if the column is empty.

    Args:
        case: the case.
        column: the entry of its metadata; the label becomes the entry ``gold``.
    """
    if column == GOLD:
        return case
    rest = {name: value for name, value in case.metadata.items() if name != GOLD}
    label = case.metadata.get(column)
    labelled = rest if human_label(label) is None else {**rest, GOLD: label}
    return case.model_copy(update={"metadata": labelled})


def listed_labels(pass_labels: Collection[object]) -> tuple[str, ...]:
    """Return the labels in a list as texts, as :func:`human_label` does, after checking that it is a list.

    Raises:
        ConfigurationError: it is a text, so that its letters would be the labels, or no list, or a label is missing.

    >>> listed_labels([4, 5.0, "good"])
    ('4', '5', 'good')
    """
    if isinstance(pass_labels, str):
        raise ConfigurationError(f"pass_labels is a list of labels: [{plain_repr(pass_labels)}]")
    if isinstance(pass_labels, bytes) or not isinstance(pass_labels, Iterable):
        raise ConfigurationError(f"pass_labels is a list of labels, not {type(pass_labels).__name__}")
    return tuple(map(_pass_label, pass_labels))


def _pass_label(value: object) -> str:
    label = plain_scalar(value)
    if not isinstance(label, str | int | float):
        raise ConfigurationError(f"a label in pass_labels is a text or a number, not {type(label).__name__}")
    text = human_label(label)
    if text is None:
        raise ConfigurationError(f"a label in pass_labels is empty: {plain_repr(label)}")
    return text


def check_pass_labels(truths: Iterable[str], pass_labels: Collection[str], known: Collection[str] = ()) -> None:
    """Check that cases have the PASS labels, and no other spellings of these or of PASS, which would mean FAIL.

    Cases that all have one label may be a batch without any PASS. They are accepted, unless the label is nearly the
    PASS label, or a word for PASS.

    Args:
        truths: the human labels.
        pass_labels: the labels that mean PASS.
        known: labels of jurors, which are accepted as PASS labels even if no case has them as a human label.

    Raises:
        UnclearLabels: a label of ``pass_labels`` is neither a human label nor known, although the labels differ; or a
            human label differs from one only in capitals.
        ConfigurationError: ``pass_labels`` is a text instead of a list.
    """
    seen = truths if isinstance(truths, Counter) else Counter(truths)
    pass_labels = listed_labels(pass_labels)
    for label in pass_labels if seen else ():
        if label not in seen and label not in known:
            near = get_close_matches(label, [one for one in seen if not _negates(one, label)], n=1)
            if not near and len(seen) == 1 and _OBVIOUS.get(next(iter(seen)).casefold()) is not Status.PASS:
                continue
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise UnclearLabels(f"no labelled case has the label {plain_repr(label)}{meant}; there are {tally(seen)}")
    own = {"PASS"} & seen.keys() if pass_labels else ()  # always means PASS, because `jury review` writes it
    spelt = {label.casefold(): label for label in (*own, *pass_labels)}
    for label in seen:
        if label not in (*own, *pass_labels) and (given := spelt.get(label.casefold())) is not None:
            raise UnclearLabels(
                f"the human labels {plain_repr(given)} and {plain_repr(label)} differ only in capitals, and only the "
                f"first is said to mean PASS; there are {tally(seen)}"
            )


def check_vote_spelling(votes: Iterable[str], pass_labels: Collection[str]) -> None:
    """Check that no vote is a PASS label in other capitals, which would mean FAIL.

    Raises:
        UnclearLabels: one is.
    """
    spelt = {label.casefold(): label for label in pass_labels}
    for vote in sorted(set(votes) - {"PASS", *pass_labels}):
        if (given := spelt.get(vote.casefold())) is not None:
            raise UnclearLabels(
                f"jurors vote {plain_repr(vote)}, which differs only in capitals from {plain_repr(given)}, and only "
                f"{plain_repr(given)} is said to mean PASS"
            )


def tally(labels: Mapping[str, int]) -> str:
    """Return labels with their counts as text, the most frequent first.

    >>> tally({"wrong": 7, "correct": 53})
    'correct 53, wrong 7'
    """
    ranked = sorted(labels.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(ranked) - _SHOWN} more" if len(ranked) > _SHOWN else ""
    return ", ".join(f"{visible(label)} {times:,}" for label, times in ranked[:_SHOWN]) + more


def labels_in_words(labels: Mapping[str, int], side: str) -> str:
    """Return the labels with one meaning in parentheses; empty if the only one is the word itself.

    >>> labels_in_words({"good": 2}, "PASS"), labels_in_words({"PASS": 2}, "PASS")
    (' (good)', '')
    """
    return "" if set(labels) <= {side} else f" ({tally(labels)})" if len(labels) > 1 else f" ({visible(*labels)})"


class Learned:
    """PASS or FAIL meaning of labels, learned from judgments that have both a label and a status.

    >>> learned = Learned()
    >>> learned.add(Judgment("PASS", label="valid"))
    >>> dict(learned.meaning)
    {'valid': <Status.PASS: 'PASS'>}
    """

    def __init__(self) -> None:
        self._seen: dict[str, set[Status]] = {}

    def add(self, judgment: Judgment) -> None:
        """Learn from a judgment and from the jurors in it."""
        for one in _opened(judgment):
            known = one.label in self._seen or len(self._seen) < _MOST_LEARNED
            if one.label is not None and one.status in (Status.PASS, Status.FAIL) and known:
                self._seen.setdefault(one.label, set()).add(one.status)

    @property
    def meaning(self) -> Mapping[str, Status]:
        """PASS or FAIL by label, for labels that always have the same status."""
        return {label: next(iter(statuses)) for label, statuses in self._seen.items() if len(statuses) == 1}


@dataclass(frozen=True, slots=True)
class LabelMeanings:
    """PASS or FAIL meaning of human labels.

    Attributes:
        meaning: the status by label; other labels have no meaning, unless they are an obvious word.
        only: whether labels outside ``meaning``, which has PASS, mean FAIL, because those that mean PASS were listed.
        seen: the count of each human label, for messages.
    """

    meaning: Mapping[str, Status]
    only: bool
    seen: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, judgments: Iterable[Judgment], pass_labels: Collection[str], truths: Iterable[str] = ()
    ) -> LabelMeanings:
        """Return the meanings from the list of PASS labels, or else from judgments with both a label and a status.

        Args:
            judgments: the judgments of the jurors.
            pass_labels: the human labels that mean PASS.
            truths: the human labels, for the check of ``pass_labels`` and for messages.

        Raises:
            UnclearLabels: a label of ``pass_labels`` is not among the truths.
        """
        learned = Learned()
        for judgment in judgments if not pass_labels else ():
            learned.add(judgment)
        return cls.from_learned(learned, pass_labels, Counter(truths))

    @classmethod
    def from_learned(
        cls, learned: Learned, pass_labels: Collection[str], seen: Mapping[str, int], known: Collection[str] = ()
    ) -> LabelMeanings:
        """Return the meanings from the list of PASS labels, or else from ``learned``; ``known`` has labels of jurors.

        Raises:
            UnclearLabels: a label of ``pass_labels`` is neither in ``seen`` nor in ``known``.
        """
        pass_labels = listed_labels(pass_labels)
        check_pass_labels(seen, pass_labels, known)
        if pass_labels:
            return cls({**_STATUSES, **dict.fromkeys(pass_labels, Status.PASS)}, only=True, seen=seen)
        return cls({**learned.meaning, **_STATUSES}, only=False, seen=seen)

    def status_of(self, truth: str) -> Status | None:
        """Return PASS or FAIL, or None for a label that has neither meaning.

        Listed labels have priority. Next are the labels of jurors' judgments, in any case, and last the words pass,
        passed, true, yes, and fail, failed, false, no.
        """
        if truth in self.meaning or self.only:
            return self.meaning.get(truth, Status.FAIL)
        word = truth.casefold()
        alike = {status for label, status in self.meaning.items() if label.casefold() == word}
        if alike:
            return next(iter(alike)) if len(alike) == 1 else None
        return _OBVIOUS.get(word)

    def agrees(self, judgment: Judgment, truth: str) -> bool:
        """Whether a judgment agrees with the human label; False for ABSTAIN and ERROR.

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
        raise UnclearLabels(unclear(self.seen or {truth: 1}))


def unclear(seen: Mapping[str, int]) -> str:
    """Return the message about human labels whose PASS or FAIL meaning is not known."""
    return f"human labels are {tally(seen)}, and the jury says PASS and FAIL"


_SHOWN = 6
_MOST_LEARNED = 1000  # a limit, because labels come from models and from files that are not trusted
_STATUSES = {"PASS": Status.PASS, "FAIL": Status.FAIL}
_OBVIOUS = {
    **dict.fromkeys(("pass", "passed", "true", "yes"), Status.PASS),
    **dict.fromkeys(("fail", "failed", "false", "no"), Status.FAIL),
}


def _negates(label: str, other: str) -> bool:
    """Whether a label is the negation of another, such as ``invalid`` or ``not valid`` of ``valid``."""
    return re.fullmatch(rf"(?:in|im|il|ir|un|dis|non?|not)[\s_-]*{re.escape(other)}", label, re.IGNORECASE) is not None


def _opened(judgment: Judgment) -> Iterator[Judgment]:
    yield judgment
    if isinstance(judgment, Verdict):
        yield from judgment.jurors()
