"""Verdicts against what people said: accuracy, balanced accuracy, kappa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.statistics import cohen_kappa

_OBVIOUS_PASS = frozenset({"pass", "true", "yes"})
_OBVIOUS_FAIL = frozenset({"fail", "false", "no"})
PASS, FAIL = "PASS", "FAIL"


@dataclass(slots=True)
class Score:
    """How verdicts compare with people's, counted one by one.

    Undecided verdicts (ABSTAIN, ERROR) count as half right in ``accuracy`` and ``balanced_accuracy``, and are left out
    of ``kappa``.

    Attributes:
        pairs: how often people said one thing (first) and the verdict another (second; None for undecided).
    """

    pairs: Counter[tuple[str, str | None]] = field(default_factory=Counter)

    def add(self, truth: str, said: str | None) -> None:
        """Take one case: what people said, and what the verdict said."""
        self.pairs[truth, said] += 1

    @property
    def cases(self) -> int:
        """How many cases have a verdict by people."""
        return self.pairs.total()

    @property
    def decided(self) -> int:
        """How many of them the verdict decided."""
        return sum(count for (_, said), count in self.pairs.items() if said is not None)

    @property
    def accuracy(self) -> float | None:
        """Share that is right; None without cases."""
        return self._right() / self.cases if self.cases else None

    @property
    def accuracy_decided(self) -> float | None:
        """Share of the decided that is right."""
        right = sum(count for (truth, said), count in self.pairs.items() if truth == said)
        return right / self.decided if self.decided else None

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean over what people said of the share that is right: 1/2 is what a coin achieves, or always the same."""
        recalls = [self.recall(truth) for truth in sorted({truth for truth, _ in self.pairs})]
        return sum(recall or 0.0 for recall in recalls) / len(recalls) if recalls else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa over the decided: agreement beyond chance (Cohen 1960); None where either never varies."""
        return cohen_kappa({(truth, said): count for (truth, said), count in self.pairs.items() if said is not None})

    def recall(self, truth: str) -> float | None:
        """Of the cases of which people said this, the share for which the verdict said so too."""
        total = sum(count for (said_by_people, _), count in self.pairs.items() if said_by_people == truth)
        return self._right(truth) / total if total else None

    def _right(self, truth: str | None = None) -> float:
        return sum(
            count * (0.5 if said is None else float(said == people))
            for (people, said), count in self.pairs.items()
            if truth is None or people == truth
        )


def truth_of(
    gold: object, judgment: Judgment, pass_labels: Collection[str], *, labels: bool = False
) -> tuple[str, str | None]:
    """What people said and what the verdict said, in the same words: PASS and FAIL, or labels.

    Args:
        gold: the label that people gave.
        judgment: the verdict.
        pass_labels: which gold labels mean PASS; without them only pass, true, yes and their opposites are understood.
        labels: whether the jury's verdicts are labels that mean neither; an undecided verdict does not show it.

    Raises:
        InputError: the verdict is PASS or FAIL, and nothing says which of them the gold label means.
    """
    if labels or judgment.status is None:
        return str(gold), judgment.opinion
    said = None if not judgment.valid else PASS if judgment.passed else FAIL
    word = str(gold)
    if pass_labels:
        return PASS if word in pass_labels else FAIL, said
    if word.lower() in _OBVIOUS_PASS | _OBVIOUS_FAIL:
        return PASS if word.lower() in _OBVIOUS_PASS else FAIL, said
    raise InputError(
        f"does the gold label {word!r} mean PASS or FAIL? Give --pass-label, once for each that means PASS"
    )
