"""Voters against human labels, what jurors' votes are worth, and the truth that votes alone suggest."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import log

import numpy as np
from scipy.special import softmax

from jury_adapters.core.values import ConfigurationError
from jury_adapters.core.votes import Bayes
from jury_adapters.stats.agreement import cohen_kappa
from jury_adapters.stats.figures import Bools, Figure, Floats, Ints, decimals, figure, over, share, undefined
from jury_adapters.stats.votes import MISSING, PEOPLE, Votes

_RECALLS = {"PASS": "true positive rate", "FAIL": "true negative rate"}
_SUREST = 0.999  # no finite number of labels shows that a juror is never wrong
_ROUNDS, _SMOOTHING = 100, 0.01  # of dawid_skene: the most rounds, and the added votes of each kind


def against_labels(votes: Votes, voters: Iterable[str] = ()) -> tuple[Figure, ...]:
    """Return how well voters match human labels.

    Cases on which a voter is undecided are left out, with bounds in the note. Nobody was asked about failed runs of the
    application, so they do not count.

    Args:
        votes: votes with human labels.
        voters: jurors and ``"the jury"``; by default all that were asked about a case with a label.

    Returns:
        For each voter ``accuracy``, with that of the best constant answer in the note; ``balanced accuracy``, the mean
        of the recalls; ``Cohen's kappa``; and the recall of each label: ``true positive rate`` of PASS, ``true negative
        rate`` of FAIL.

    Raises:
        ConfigurationError: there is no such voter.

    >>> votes = Votes.from_rows([["yes"], ["yes"], ["no"], ["yes"]], human_labels=["yes", "yes", "no", "no"])
    >>> for found in against_labels(votes, ["juror 1"])[:2]:
    ...     print(found)
    juror 1: accuracy 0.750 [0.301, 0.954] (n = 4); always FAIL: 0.500; rough, of 4 cases
    juror 1: balanced accuracy 0.750 [0.125, 1.000] (n = 4); rough, of 4 cases
    """
    kept = votes.take(~votes.failed & (votes.gold != MISSING))
    heard = [voter for voter in votes.voters if kept.asked[:, votes.column(voter)].any()]
    found = tuple(one for voter in [*voters] or heard for one in _against(kept, voter))
    return found or (
        undefined(
            "accuracy", 0, "no case with a human label was judged; of numbers, pass_labels= names those that pass"
        ),
    )


def _against(votes: Votes, voter: str) -> list[Figure]:
    """Return the figures of one voter, of votes that all have a human label."""
    said, gold, asked = votes.said(voter), votes.gold, votes.asked[:, votes.column(voter)]
    known, open_ = said != MISSING, asked & (said == MISSING)
    often = np.bincount(gold[known], minlength=1) / max(1, known.sum())
    constant = f"always {votes.labels[int(often.argmax())]}: {decimals(float(often.max()))}" if known.any() else ""
    return [
        share("accuracy", said == gold, known, votes.groups, of=voter, undecided=int(open_.sum()), note=constant),
        _balanced_accuracy(said[known] == gold[known], gold[known], votes.groups[known], voter),
        replace(cohen_kappa(votes, voter, PEOPLE), of=voter),
        *(
            share(
                _RECALLS.get(votes.labels[label], f"recall of {votes.labels[label]}"),
                said == gold,
                known & (gold == label),
                votes.groups,
                of=voter,
                undecided=int((open_ & (gold == label)).sum()),
            )
            for label in np.unique(gold[asked])
        ),
    ]


def _balanced_accuracy(right: Bools, gold: Ints, groups: Ints, voter: str) -> Figure:
    """Return the mean of the recalls of the labels that occur."""
    name, labels = "balanced accuracy", np.unique(gold)
    if len(labels) < 2:
        return undefined(name, len(gold), "fewer than two labels among those of people", of=voter)
    among, one = gold[:, None] == labels, np.ones(len(labels))
    items = np.hstack([among & right[:, None], among]).astype(np.float64)
    extra = np.stack([np.hstack([one, one]), np.hstack([0 * one, one])])  # a right and a wrong answer of each label
    return figure(
        name,
        items,
        lambda sums: np.mean(over(*np.split(sums, 2, axis=1)), axis=1),
        groups,
        added=extra,
        chances=(1, 1),
        bounds=(0, 1),
        of=voter,
    )


@dataclass(frozen=True, eq=False, slots=True)
class Reliabilities:
    """What the votes of jurors are worth, learned from human labels or by :func:`dawid_skene`.

    Attributes:
        jurors: the names of the jurors.
        labels: the labels.
        prior: the share of each label.
        confusions: jurors x truth x vote: the probability of a vote, given the truth.
        accuracies: per juror, the probability of being right, ``(right + 1) / (n + 2)``.
    """

    jurors: tuple[str, ...]
    labels: tuple[str, ...]
    prior: Floats
    confusions: Floats
    accuracies: Floats

    def bayes(self, *, prior: float | None = None, threshold: float = 0.5) -> Bayes:
        """Return the rule ``bayes`` for an ensemble of these jurors, in this order.

        A juror that is no better than chance has no say.

        Args:
            prior: the share of good cases, between 0 and 1; by default that of the human labels.
            threshold: the posterior from which a case passes, between 0 and 1.

        Raises:
            ConfigurationError: the labels are not PASS and FAIL.
        """
        if self.labels != ("FAIL", "PASS"):
            raise ConfigurationError(f"the rule bayes counts PASS and FAIL, not {', '.join(self.labels)}")
        passes, fails = np.clip([self.confusions[:, 1, 1], self.confusions[:, 0, 0]], 1 - _SUREST, _SUREST)
        pairs = [(a, b) if a + b > 1 else (0.5, 0.5) for a, b in zip(passes.tolist(), fails.tolist(), strict=True)]
        return Bayes(
            reliabilities=tuple(pairs), prior=float(self.prior[1]) if prior is None else prior, threshold=threshold
        )

    def weights(self) -> dict[str, float]:
        """Return weights for a weighted majority: the log odds of being right, and 0 for a juror below one half.

        Raises:
            ConfigurationError: no juror is right more often than wrong.

        Source: S. Nitzan and J. Paroush (1982), *Optimal decision rules in uncertain dichotomous choice situations*.
        """
        found = {name: max(0.0, log(a / (1 - a))) for name, a in zip(self.jurors, self.accuracies, strict=True)}
        if not any(found.values()):
            raise ConfigurationError("no juror is right more often than wrong, so no weights can help")
        return found

    def posterior(self, codes: Ints) -> Floats:
        """Return cases x labels: the probability of each label by naive Bayes. Too sure where jurors err together.

        Args:
            codes: cases x jurors: votes as places in the labels; -1 for none.
        """
        cast = (codes[:, :, None] == np.arange(len(self.labels))).astype(np.float64)
        logs = np.log(self.prior) + np.einsum("ijv,jlv->il", cast, np.log(self.confusions))
        return np.asarray(softmax(logs, axis=1))


def reliabilities(votes: Votes) -> Reliabilities:
    """Learn what votes are worth from the cases with human labels.

    ``P(vote | truth) = (count + 1) / (sum of counts + K)`` with K labels, and likewise the prior. A jury that uses them
    looks too good on these labels, so it is measured and calibrated with others.

    Args:
        votes: votes with human labels.

    Raises:
        ConfigurationError: no case has a human label, or there are fewer than two labels.

    >>> votes = Votes.from_rows([["yes", "yes"], ["no", "yes"]] * 20, human_labels=["yes", "no"] * 20)
    >>> {name: round(weight, 2) for name, weight in reliabilities(votes).weights().items()}
    {'juror 1': 3.71, 'juror 2': 0.0}
    """
    known, labels = votes.gold != MISSING, len(votes.labels)
    if not known.any() or labels < 2:
        raise ConfigurationError("reliabilities take cases with human labels, and two labels")
    return _fit(votes.take(known), np.eye(labels)[votes.gold[known]], np.ones((labels, labels)), 1)


def dawid_skene(votes: Votes, *, keep_labels: bool = True, diagonal: float = 2.0) -> tuple[Floats, Reliabilities]:
    """Estimate truth and reliabilities from votes alone, or with some human labels, by the EM algorithm.

    The posterior is too sure where jurors err together. Where most jurors are wrong more often than right, the solution
    may call wrong right; a few human labels prevent it.

    Args:
        votes: the votes.
        keep_labels: whether human labels are kept as the truth of their cases.
        diagonal: added votes by which each juror is taken to be right, per label, from 0.

    Returns:
        Cases x labels: the probability of each label; and the reliabilities.

    Raises:
        ConfigurationError: there are fewer than two labels, no juror, or ``diagonal`` is out of its range.

    Source: A. P. Dawid and A. M. Skene (1979), *Maximum likelihood estimation of observer error-rates using the EM
    algorithm*.

    >>> votes = Votes.from_rows([["yes", "yes", "yes"], ["no", "no", "yes"]] * 20)
    >>> truth, fitted = dawid_skene(votes)
    >>> truth.round(2)[:2].tolist(), fitted.accuracies.round(2).tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [0.98, 0.98, 0.5])
    """
    codes, labels = votes.codes[:, :-1], len(votes.labels)
    if labels < 2 or not votes.jurors or not 0 <= diagonal < np.inf:
        raise ConfigurationError("dawid_skene takes two labels, a juror, and a number from 0 as diagonal=")
    kept, gold = ((votes.gold != MISSING) & keep_labels)[:, None], np.eye(labels)[votes.gold]
    counts, pull = (codes[..., None] == np.arange(labels)).sum(axis=1), _SMOOTHING + diagonal * np.eye(labels)
    truth = np.where(kept, gold, np.nan_to_num(over(counts, counts.sum(axis=1, keepdims=True)), nan=1 / labels))
    for _ in range(_ROUNDS):
        before = truth
        truth = np.where(kept, gold, _fit(votes, truth, pull, 0).posterior(codes))
        if np.abs(truth - before).max(initial=0.0) < 1e-5:
            break
    return truth, _fit(votes, truth, pull, 0)


def _fit(votes: Votes, truth: Floats, pull: Floats, more: float) -> Reliabilities:
    """Return what the truth, in probabilities, implies, with votes added to the confusions and cases to the prior."""
    cast = (votes.codes[:, :-1, None] == np.arange(len(votes.labels))).astype(np.float64)
    cells = np.einsum("il,ijv->jlv", truth, cast)
    shares = np.maximum(truth.sum(axis=0) + more, 1e-300)  # whose logarithm is a number
    return Reliabilities(
        jurors=votes.jurors,
        labels=votes.labels,
        prior=shares / shares.sum(),
        confusions=(cells + pull) / (cells + pull).sum(axis=2, keepdims=True),
        accuracies=(np.einsum("jll->j", cells) + 1) / (cells.sum(axis=(1, 2)) + 2),
    )
