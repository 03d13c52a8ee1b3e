"""Reliability of each juror, learned from labels; and the votes that use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from jury_adapters.calibration.quality import balanced_accuracy
from jury_adapters.calibration.types import MISSING, Floats, Ints, Value
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.voting.rules.bayes import Bayes
from jury_adapters.core.voting.rules.k_veto import KVeto

_MOST_CERTAIN = 0.999  # a finite number of labels does not prove more


@dataclass(frozen=True, eq=False, slots=True)
class Reliability:
    """Reliability of one juror.

    Attributes:
        juror: the name of the juror.
        labels: the labels, in the order of the rows and columns of ``confusion``.
        confusion: truth x vote: the probability of each vote, given the truth. Rows sum to 1.
        accuracy: the probability that a vote is right, ``(right + 1) / (n + 2)``.
        n: the number of labelled items behind it.
    """

    juror: str
    labels: tuple[Value, ...]
    confusion: Floats
    accuracy: float
    n: float

    @property
    def weight(self) -> float:
        """Log-odds of being right, ``ln(a / (1 - a))``; negative for a juror that is wrong more often than right.

        This is the optimal weight of independent jurors in a binary vote (Nitzan and Paroush 1982).
        """
        return log(self.accuracy / (1 - self.accuracy))

    def right_on(self, label: Value) -> float:
        """Return the probability of the right vote on items of this label: for FAIL, the true-negative rate."""
        if label not in self.labels:
            raise ConfigurationError(unknown("label", label, map(str, self.labels)))
        position = self.labels.index(label)
        return float(self.confusion[position, position])

    def __repr__(self) -> str:
        rates = ", ".join(f"{label}: {self.right_on(label):.3f}" for label in self.labels)
        return f"Reliability({self.juror!r}, accuracy={self.accuracy:.3f}, right on {{{rates}}}, n={self.n:g})"


@dataclass(frozen=True, eq=False, slots=True)
class Reliabilities:
    """Reliabilities of a panel, and votes that use them.

    Attributes:
        jurors: the jurors' names.
        labels: the labels.
        prior: the probability of each label before any vote.
        confusions: jurors x truth x vote.
        accuracies: per juror; see :class:`Reliability`.
        counts: per juror, the number of labelled items behind it.
        pass_label: the label that means PASS, or None.

    >>> votes = Votes.from_rows([["PASS", "PASS"], ["FAIL", "PASS"]] * 20, gold=["PASS", "FAIL"] * 20)
    >>> fitted = fit_reliabilities(votes)
    >>> fitted["juror 1"].accuracy > fitted["juror 2"].accuracy
    True
    """

    jurors: tuple[str, ...]
    labels: tuple[Value, ...]
    prior: Floats
    confusions: Floats
    accuracies: Floats
    counts: Floats
    pass_label: str | None = None

    def __getitem__(self, juror: str) -> Reliability:
        if juror not in self.jurors:
            raise ConfigurationError(unknown("juror", juror, self.jurors))
        at = self.jurors.index(juror)
        return Reliability(juror, self.labels, self.confusions[at], float(self.accuracies[at]), float(self.counts[at]))

    def __iter__(self) -> Iterator[Reliability]:
        return (self[juror] for juror in self.jurors)

    def __len__(self) -> int:
        return len(self.jurors)

    def posterior(self, votes: Votes, prior: Floats | None = None) -> Floats:
        """Return items x labels: the probability of each label, given the votes (naive Bayes).

        ``log P(l | votes) = ln p_l + sum over votes of ln P(vote | l)``, normalised. Jurors err together, so this is
        over-confident; use it to rank items, and calibrate a threshold before trusting the number.

        Args:
            votes: votes of these jurors, in this order, over these labels.
            prior: a base rate of the labels that replaces that of the labelled items.
        """
        if votes.jurors != self.jurors or votes.labels != self.labels:
            raise ConfigurationError("the votes are of other jurors or labels; take votes.panel(reliabilities.jurors)")
        return posterior_of(votes.codes, self.prior if prior is None else prior, self.confusions)

    def predict(self, votes: Votes, prior: Floats | None = None) -> Ints:
        """Return, per item, the most probable label, as a position in ``labels``; see :meth:`posterior`."""
        best: Ints = self.posterior(votes, prior).argmax(axis=1)
        return best

    def weights(self) -> dict[str, float]:
        """Return weights for a weighted vote: the log-odds of being right, and 0 for jurors that are more often wrong.

        ``Ensemble(jurors, voting="weighted", weights=fitted.weights(), use_confidence=False)``. To let a juror below
        1/2 count against its own vote, which only makes sense between two labels, use ``bayes(per_label=False)``.

        Raises:
            ConfigurationError: no juror is right more often than wrong.
        """
        found = {each.juror: max(0.0, each.weight) for each in self}
        if not any(found.values()):
            raise ConfigurationError("no juror is right more often than wrong, so a weighted vote would be noise")
        return found

    def bayes(self, *, per_label: bool = True, prior: float | None = None, threshold: float = 0.5) -> Bayes:
        """Return the Bayes vote of these reliabilities, for a jury: ``Ensemble(jurors, voting=fitted.bayes())``.

        Its verdict has the posterior as its confidence.

        Args:
            per_label: one reliability per label; False for one per juror, which is the log-odds vote in which jurors
                below 1/2 count against their own vote (its prior is 1/2).
            prior: the probability of PASS before any vote, if the base rate differs from that of the labels.
            threshold: the posterior from which a case passes; :func:`fit_threshold` learns one.

        Raises:
            ConfigurationError: there are not exactly two labels, or neither means PASS.
        """
        if self.pass_label is None or len(self.labels) != 2:
            raise ConfigurationError(
                "a Bayes vote needs 2 labels, of which one means PASS: fit reliabilities on votes with pass_label="
            )
        passed = self.labels.index(self.pass_label)
        base = prior if prior is not None else float(self.prior[passed]) if per_label else 0.5
        if per_label:
            pairs = {each.juror: (_clipped(each.confusion[passed, passed]),
                                  _clipped(each.confusion[1 - passed, 1 - passed])) for each in self}  # fmt: skip
            return Bayes(reliabilities=pairs, prior=base, threshold=threshold)
        overall = {each.juror: _clipped(each.accuracy) for each in self}
        return Bayes(reliabilities=overall, prior=base, threshold=threshold)


def fit_reliabilities(votes: Votes, *, smoothing: float = 1.0) -> Reliabilities:
    """Learn reliabilities from the items with human labels.

    ``P(v | l) = (votes v on items of label l + s) / (votes on items of label l + s K)`` with Laplace smoothing ``s``
    and ``K`` labels; ``p_l = (items of label l + s) / (items + s K)``; ``a = (right + 1) / (n + 2)``.

    Args:
        votes: votes with gold labels; items without a label are not used (see :func:`dawid_skene` for those).
        smoothing: pseudo-votes per cell, above 0; more of them move a juror with few votes towards guessing.

    Raises:
        ConfigurationError: there are no labelled items, or fewer than two labels.
    """
    if not smoothing > 0:
        raise ConfigurationError(f"smoothing is a number of pseudo-votes above 0, not {plain_repr(smoothing)}")
    if not votes.has_gold:
        raise ConfigurationError("reliabilities are learned from items with a human label; these votes have no gold")
    if len(votes.labels) < 2:
        raise ConfigurationError("reliabilities need at least 2 labels; name the whole scale with labels=")
    known = votes.take(votes.gold != MISSING)
    truth = one_hot(known.gold, len(votes.labels))
    cells = one_hot(known.codes, len(votes.labels))
    confusions = np.einsum("il,ijv->jlv", truth, cells, optimize=True)
    right = np.einsum("jll->j", confusions)
    n = confusions.sum(axis=(1, 2))
    prior = truth.sum(axis=0) + smoothing
    smoothed = confusions + smoothing
    return Reliabilities(
        votes.jurors,
        votes.labels,
        prior / prior.sum(),
        smoothed / smoothed.sum(axis=2, keepdims=True),
        (right + 1) / (n + 2),
        n,
        votes.pass_label,
    )


def fit_k_veto(votes: Votes) -> KVeto:
    """Return the ``k_veto`` vote with the best balanced accuracy on the labelled items, and the smallest such ``k``.

    Raises:
        ConfigurationError: there are no labelled items, or no label means PASS.
    """
    passed = _pass_code(votes)
    objections = (votes.answered & (votes.codes != passed)).sum(axis=1)
    truth = _passes(votes.gold, passed)
    reached = [balanced_accuracy((objections < k).astype(np.int64), truth)
               for k in range(1, len(votes.jurors) + 1)]  # fmt: skip
    return KVeto(k=1 + int(np.argmax(reached)))


def fit_threshold(scores: Floats, votes: Votes) -> float:
    """Return the score from which a case should pass, with the best balanced accuracy on the labelled items.

    Args:
        scores: one per item, 0..1, such as the posterior of PASS or a jury's mean score.
        votes: votes with gold labels, for the same items.

    Returns:
        The middle between the two neighbouring scores that it separates; for ``threshold=`` of the strategies on
        scores, or of :meth:`Reliabilities.bayes`.

    Raises:
        ConfigurationError: there are no labelled items, all have one label, or no label means PASS.
    """
    truth = _passes(votes.gold, _pass_code(votes))
    known = truth != MISSING
    if len(np.unique(truth[known])) < 2:
        raise ConfigurationError("a threshold is learned from items of both labels; these have only one")
    found, place = np.unique(scores[known], return_inverse=True)
    # With the cut above score s, every item up to s fails: both shares of right items depend only on s.
    fails, passes = (np.bincount(place[truth[known] == value], minlength=len(found)) for value in (0, 1))
    below_fail, below_pass = (np.concatenate([[0], np.cumsum(counts)]) for counts in (fails, passes))
    cut = int(np.argmax(below_fail / fails.sum() + 1 - below_pass / passes.sum()))
    edges = np.concatenate([[0.0], found, [1.0]])
    return float((edges[cut] + edges[cut + 1]) / 2)


def posterior_of(codes: Ints, prior: Floats, confusions: Floats) -> Floats:
    """Return the naive-Bayes posterior of votes; see :meth:`Reliabilities.posterior`."""
    logs = np.log(prior) + np.einsum("ijv,jlv->il", one_hot(codes, len(prior)), np.log(confusions), optimize=True)
    return normalised(logs)


def normalised(logs: Floats) -> Floats:
    """Return rows of log-probabilities as probabilities that sum to 1."""
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def one_hot(codes: Ints, size: int) -> Floats:
    """Return codes as rows with a single 1 among zeros; a missing code is all zeros."""
    found: Floats = (codes[..., None] == np.arange(size)).astype(np.float64)
    return found


def _clipped(probability: float) -> float:
    return float(min(max(probability, 1 - _MOST_CERTAIN), _MOST_CERTAIN))


def _pass_code(votes: Votes) -> int:
    if votes.pass_code is None:
        raise ConfigurationError("this needs a label that means PASS: make the votes with pass_label=")
    return votes.pass_code


def _passes(codes: Ints, passed: int) -> Ints:
    """Return 1 for PASS, 0 for every other label, -1 for none."""
    found: Ints = np.where(codes == MISSING, MISSING, codes == passed).astype(np.int64)
    return found
