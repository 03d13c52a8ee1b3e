"""Human labels of the answers of two runs. A label belongs to an answer, and the answers of two runs differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from jury_adapters.calibration.gold import labels_in
from jury_adapters.core.case import EMPTY_KEY, Case
from jury_adapters.core.duplicates import Identity, identity_of
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.human_labels import LabelMeanings, UnclearLabels, unclear
from jury_adapters.core.judge import CaseLike
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.report.entries import Outline


class PairLabels(NamedTuple):
    """Human labels of the two answers of each pair of cases.

    Attributes:
        a: whether the first answer passes; None without a label.
        b: the same for the second answer.
        shared: whether one label is that of both answers.
        contradicted: whether both answers were labelled, and labels of one or both of them contradict each other.
    """

    a: list[bool | None]
    b: list[bool | None]
    shared: list[bool]
    contradicted: Sequence[bool] = ()

    @property
    def complete(self) -> list[bool]:
        """For each pair, whether both answers have a label."""
        return [None not in both for both in zip(self.a, self.b, strict=True)]

    @property
    def once(self) -> int:
        """The number of pairs of which one answer was labelled, and the other was not."""
        contradicted = self.contradicted or [False] * len(self.a)
        return sum(
            (a is None) != (b is None) and not both for a, b, both in zip(self.a, self.b, contradicted, strict=True)
        )


class AnswerLabels:
    """Human labels, found by the content of the answers.

    An answer is found by the hash of its content, and by the item's id if both have one: the same content under two
    ids is two items. If the content differs, because the labels lack a field of the cases, it is found by the id and
    the text of the answer. An id alone does not identify the answer that was labelled.

    Copies of an answer may have different labels. Labels with one meaning, such as the grades 4 and 5 that both mean
    PASS, are one label. If the meanings differ, the answer has no label; if it is that of both runs, the runs do not
    differ on it, whatever its label.

    Args:
        labelled: labelled cases.
        meanings: the labels that mean PASS.

    Attributes:
        contradicting: the number of answers with labels of both meanings.
        under_other_ids: whether an entry had the content of a label under another id, so that it got no label.

    Raises:
        UnclearLabels: a label means neither PASS nor FAIL.
    """

    def __init__(self, labelled: Iterable[tuple[Case, str]], meanings: LabelMeanings) -> None:
        self._passed: list[bool] = []
        self._by_identity: dict[tuple[str, str | None], set[int]] = {}
        self._by_content: dict[str, set[str | None]] = {}  # the ids of the items
        self._by_answer: dict[tuple[str, str], set[int]] = {}
        self._used: set[int] = set()
        self.under_other_ids = False
        known: dict[Identity, set[bool]] = {}
        for case, truth in labelled:
            status = meanings.status_of(truth)
            if status is None:
                raise UnclearLabels(unclear(meanings.seen))
            passed, identity = status is Status.PASS, identity_of(case.content_hash, case.item_id)
            if identity is not None and passed in known.setdefault(identity, set()):
                continue  # a copy with the same meaning
            if identity is not None:
                known[identity].add(passed)
            at = len(self._passed)
            self._passed.append(passed)
            if case.content_hash != EMPTY_KEY:
                self._by_identity.setdefault((case.content_hash, case.item_id), set()).add(at)
                self._by_content.setdefault(case.content_hash, set()).add(case.item_id)
            if case.item_id is not None and case.answer is not None:
                self._by_answer.setdefault((case.item_id, case.answer.strip()), set()).add(at)
        self.contradicting = sum(len(meant) > 1 for meant in known.values())

    @classmethod
    def of(
        cls,
        labels: Iterable[CaseLike | tuple[CaseLike, str | bool]],
        judgments: Iterable[Judgment],
        pass_labels: Collection[str],
    ) -> AnswerLabels:
        """Read labels as :func:`jury_adapters.calibration.calibrate` does.

        Args:
            labels: labelled cases.
            judgments: the verdicts, which show the meaning of labels if ``pass_labels`` is empty.
            pass_labels: the labels that mean PASS.

        Raises:
            ConfigurationError: the labels are the name of a file.
            UnclearLabels: it is unknown which labels mean PASS.
        """
        if isinstance(labels, str | Path):
            raise ConfigurationError(
                f"labels are rows or cases with human labels, not the name of a file ({plain_repr(str(labels))}); read "
                "its rows first, or use jury compare --labels FILE"
            )
        labelled = [(case, label) for _, case, label in labels_in(labels)]
        return cls(labelled, LabelMeanings.of(judgments, pass_labels, [label for _, label in labelled]))

    def passes(self, positions: Set[int]) -> bool | None:
        """Return whether the labels at these positions pass their answer; None without any, or if they differ."""
        self._used |= positions
        return self._passed[min(positions)] if len({self._passed[at] for at in positions}) == 1 else None

    def of_pairs(self, pairs: Sequence[tuple[Set[int], Set[int]]]) -> PairLabels:
        """Return the labels of pairs of answers, given as the positions of the labels of both."""
        first, second = [self.passes(a) for a, _ in pairs], [self.passes(b) for _, b in pairs]
        shared = [not a.isdisjoint(b) for a, b in pairs]
        for at, (a, b) in enumerate(pairs):
            if shared[at] and first[at] is second[at] is None:  # whichever label is right, it is that of both
                first[at] = second[at] = self._passed[min(a & b)]
        said = zip(pairs, first, second, strict=True)
        contradicted = [bool(a and b) and None in (of_a, of_b) for (a, b), of_a, of_b in said]
        return PairLabels(first, second, shared, contradicted)

    @property
    def unmatched(self) -> int:
        """Number of labels that :meth:`passes` has not used."""
        return len(self._passed) - len(self._used)

    @property
    def matched(self) -> int:
        """Number of labels that :meth:`passes` has used, contradicting ones included."""
        return len(self._used)

    def positions(self, outline: Outline) -> Set[int]:
        """Return the positions of the labels of an answer, for :meth:`passes`; empty without any."""
        if outline.key is not None:
            names = {outline.item_id, None} if outline.item_id is not None else self._by_content.get(outline.key, set())
            found = {at for name in names for at in self._by_identity.get((outline.key, name), _NONE)}
            if found:
                return found
            self.under_other_ids = self.under_other_ids or outline.key in self._by_content
        if outline.item_id is None or outline.case is None or outline.case.answer is None:
            return _NONE
        return self._by_answer.get((outline.item_id, outline.case.answer.strip()), _NONE)


_NONE: Set[int] = frozenset()  # one object for all entries without a label
