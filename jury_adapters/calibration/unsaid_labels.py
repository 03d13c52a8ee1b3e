"""Human labels that jurors cannot give, such as ``unclear`` beside PASS and FAIL, where errors are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from jury_adapters.calibration.types import MISSING, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import tally


class SaidLabels(NamedTuple):
    """Human labels that jurors can give.

    Attributes:
        gold: per item, the human label, as a position in the labels; -1 without one that jurors can give.
        left_out: the number of items by human label that no juror can give.
    """

    gold: Ints
    left_out: Mapping[str, int]

    @property
    def total(self) -> int:
        """Number of items with a human label that no juror can give."""
        return sum(self.left_out.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warning that these items are left out; none if there are none."""
        if not self.left_out:
            return ()
        return (
            f"{counted(self.total, 'item is', 'items are')} left out because of a human label that no juror gives "
            f"({tally(self.left_out)}), so that all votes on them would count as errors",
        )

    @property
    def why_none(self) -> str:
        """Reason why errors are not known where no item has a label."""
        if not self.left_out:
            return "no item has a gold label, so errors are not known"
        return (
            "no item has a human label that a juror gives, so errors are not known: "
            f"{counted(self.total, 'item has', 'items have')} another one ({tally(self.left_out)})"
        )


def said_labels(votes: Votes) -> SaidLabels:
    """Return the human labels with which votes can be compared to find errors.

    On an item that people call ``unclear``, the votes of jurors that choose between two labels all differ from the
    human label. Counted as errors, they would look like errors that all jurors make together. So the item has no label
    here. If the labels that mean PASS were named, all others mean FAIL, and the item has that label.

    Jurors choose between two labels if all their votes are PASS or FAIL, or if two labels have all votes. Of numbers,
    of a scale that was given with ``labels=``, and of three labels or more, each may be one that all jurors miss.

    >>> votes = Votes.from_rows([["PASS", "FAIL"], ["PASS", "PASS"]], gold=["unclear", "PASS"])
    >>> said_labels(votes).gold.tolist(), said_labels(votes).left_out
    ([-1, 1], {'unclear': 1})
    """
    said = {votes.labels[code] for code in np.unique(votes.codes[votes.answered]).tolist()}
    choices = {"PASS", "FAIL"} if said <= {"PASS", "FAIL"} else said
    if votes.ordered or not said or len(choices) != _TWO:
        return SaidLabels(votes.gold, {})
    unsaid = [code for code, label in enumerate(votes.labels) if label not in choices]
    gold, found = votes.gold.copy(), Counter[str]()
    for code in unsaid:
        of_label = votes.gold == code
        gold[of_label] = _meant(votes, code, choices - {votes.pass_label})
        if (gold[of_label] == MISSING).any():
            found[str(votes.labels[code])] += int(of_label.sum())
    return SaidLabels(gold, dict(found))


_TWO = 2


def _meant(votes: Votes, code: int, fails: set[object]) -> int:
    """Return the code of the vote that a human label means; -1 if it is not known."""
    if not votes.pass_labels or votes.pass_code is None or len(fails) != 1:
        return MISSING
    if votes.labels[code] in votes.pass_labels:
        return votes.pass_code
    (fail,) = fails
    return votes.labels.index(fail) if fail in votes.labels else MISSING
