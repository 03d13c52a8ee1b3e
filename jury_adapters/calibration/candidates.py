"""Candidate juries as arithmetic on recorded votes: their answers, computed with weights from other folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from jury_adapters.calibration.quality import balanced_accuracy
from jury_adapters.calibration.reliabilities import fit_k_veto, fit_reliabilities
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge
from jury_adapters.core.jury import Jury
from jury_adapters.core.tolerance import TOLERANCE

Rule: TypeAlias = Literal["majority", "weighted", "bayes", "k_veto", "cascade"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Panel with its rule; see :class:`jury_adapters.calibration.suggestions.Suggestion`."""

    panel: tuple[str, ...]
    rule: Rule
    final: str | None = None

    def built(self, judges: Mapping[str, Judge], votes: Votes) -> Jury:
        """Return the jury, with weights learned from these votes."""
        members = [judges[name] for name in self.panel]
        known = votes.panel(self.panel)
        match self.rule:
            case "weighted":
                return Ensemble(members, voting="weighted", weights=fit_reliabilities(known).weights(),
                                use_confidence=False, errors="ignore")  # fmt: skip
            case "bayes":
                return Ensemble(members, voting=fit_reliabilities(known).bayes())
            case "k_veto":
                return Ensemble(members, voting=fit_k_veto(known))
            case "cascade" if self.final is not None:
                first = Tier("panel", Ensemble(members), "escalate_on_split")
                return CascadedJury([first, Tier("final", judges[self.final], "final")])
        return Ensemble(members, errors="ignore")


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """Value of every vote, learned from the folds that do not contain its item.

    Attributes:
        votes: codes 0 (FAIL), 1 (PASS) and -1, with gold labels.
        folds: the fold of each item.
        prior: per item, the log-odds of PASS before any vote.
        odds: items x jurors: the log-odds of PASS that the vote adds under Bayes.
        weight: items x jurors: the weight of the vote, negative for FAIL.
    """

    votes: Votes
    folds: Ints
    prior: Floats
    odds: Floats
    weight: Floats

    @classmethod
    def of(cls, votes: Votes, folds: Ints) -> Evidence:
        """Fit for each fold on all other folds."""
        prior = np.zeros(len(votes.items))
        odds, weight = np.zeros(votes.codes.shape), np.zeros(votes.codes.shape)
        for fold in np.unique(folds):
            here = np.flatnonzero(folds == fold)
            fitted = fit_reliabilities(votes.take(folds != fold))
            prior[here] = np.log(fitted.prior[1] / fitted.prior[0])
            by_vote = np.log(fitted.confusions[:, 1] / fitted.confusions[:, 0])  # jurors x vote
            trust = np.maximum(0.0, np.log(fitted.accuracies / (1 - fitted.accuracies)))
            codes = votes.codes[here]
            said = codes != MISSING
            odds[here] = np.where(said, np.take_along_axis(by_vote.T, np.maximum(codes, 0), axis=0), 0.0)
            weight[here] = np.where(said, trust * (2 * codes - 1), 0.0)
        return cls(votes, folds, prior, odds, weight)

    def predict(self, candidate: Candidate) -> Ints:
        """Return what the jury would have decided per item; -1 for ABSTAIN."""
        at = self._positions(candidate.panel)
        codes = self.votes.codes[:, at]
        voted = (codes != MISSING).any(axis=1)
        match candidate.rule:
            case "weighted":
                passed = (
                    self.weight[:, at].sum(axis=1) > TOLERANCE
                )  # equal evidence is a tie, as in the votes themselves
                voted &= (self.weight[:, at] != 0).any(axis=1)
            case "bayes":
                passed = self.prior + self.odds[:, at].sum(axis=1) >= -TOLERANCE
            case "k_veto":
                passed = self._unvetoed(codes)
            case _:
                passed = (codes == 1).sum(axis=1) > (codes == 0).sum(axis=1)
        said = np.where(voted, passed.astype(np.int64), MISSING)
        if candidate.final is None:
            return said
        last = self.votes.codes[:, self._positions((candidate.final,))[0]]
        return np.where(self._split(candidate.panel), last, said)

    def escalated(self, panel: tuple[str, ...]) -> float:
        """Return the share of the items on which the panel is not unanimous."""
        return float(self._split(panel).mean())

    def _split(self, panel: tuple[str, ...]) -> Bools:
        codes = self.votes.codes[:, self._positions(panel)]
        split: Bools = (codes == 1).any(axis=1) == (codes == 0).any(axis=1)
        return split

    def _unvetoed(self, codes: Ints) -> Bools:
        objections = (codes == 0).sum(axis=1)
        passed = np.zeros(len(codes), dtype=bool)
        for fold in np.unique(self.folds):
            here = self.folds == fold
            reached = [balanced_accuracy((objections[~here] < k).astype(np.int64), self.votes.gold[~here])
                       for k in range(1, codes.shape[1] + 1)]  # fmt: skip
            passed[here] = objections[here] < 1 + int(np.argmax(reached))
        return passed

    def _positions(self, panel: tuple[str, ...]) -> list[int]:
        return [self.votes.jurors.index(name) for name in panel]
