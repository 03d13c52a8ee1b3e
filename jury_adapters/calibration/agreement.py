"""Agreement of jurors over a batch: raw, and corrected for chance, each with its interval.

No single coefficient is right for all data. Krippendorff's alpha and the kappas fall if nearly every vote is the same
label (the prevalence paradox); Gwet's AC does not. Read them together, with the label shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jury_adapters.calibration.coincidence import alpha_of_weights
from jury_adapters.calibration.estimates import Estimate, Interval, few, number, undefined
from jury_adapters.calibration.resampling import DEFAULT, Resampling, distinct, ratio_of, summed
from jury_adapters.calibration.smoothing import Smoothed
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints, counted
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.agreement import Level
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.formatting import percent
from jury_adapters.core.statistics import wilson
from jury_adapters.core.values import JsonValue

Weights = Literal["identity", "linear", "quadratic"]
Shorts: TypeAlias = NDArray[np.float32]

_LEVELS = ("nominal", "ordinal", "interval", "ratio")
_SKEWED = 0.9
_RELIABLE, _TENTATIVE = 0.8, 2 / 3  # Krippendorff (2004), Content Analysis, section 11.4
_WIDEST = 2048  # columns of a matrix product
_NO_PAIRS = "no item has 2 votes"
_ONE_ITEM = "one item alone says nothing about agreement beyond chance"
_NO_VARIATION = "every vote is the same, so there is no chance to correct for"


def alpha(votes: Votes, level: Level = "nominal", *, resampling: Resampling = DEFAULT) -> Estimate:
    """Return Krippendorff's alpha with its bootstrap interval, over items, or over groups if there are any.

    Args:
        votes: the batch; items with fewer than two votes are left out.
        level: ``"nominal"`` (equal or not), ``"ordinal"`` (ranks; needs numbers, or words whose order was given as
            ``labels=``), ``"interval"`` (squared difference) or ``"ratio"`` (squared relative difference; from 0).
        resampling: number of draws and seed.

    Returns:
        1 is perfect, 0 is chance, below 0 is systematic disagreement; None without variation. Details: ``ratings``, and
        ``undefined_draws`` of the bootstrap.

    Raises:
        ConfigurationError: the votes do not allow this level.
    """
    if level not in _LEVELS:
        raise ConfigurationError(unknown("level", level, _LEVELS))
    name = f"krippendorff alpha ({level})"
    scale = _scale_for(votes, level)
    paired = votes.take(votes.answered.sum(axis=1) >= 2)
    items = len(paired.items)
    if reason := _undefined(paired):
        return undefined(name, items, reason)
    smoothed = Smoothed.of(paired.codes, paired.groups, len(scale))
    of_weights = alpha_of_weights(smoothed.codes, scale, smoothed.groups, level)
    value = float(of_weights(smoothed.as_voted)[0])
    interval, undefined_draws = smoothed.interval(resampling, of_weights)
    return Estimate(
        name,
        value,
        items,
        interval,
        f"{_reading(value, interval)} (0 is what chance would give, 1 is perfect).",
        (*_skewed(votes), *few(items, smoothed.units)),
        details={"ratings": int(paired.answered.sum()), "undefined_draws": undefined_draws},
    )


def gwet_ac(votes: Votes, weights: Weights = "identity", *, resampling: Resampling = DEFAULT) -> Estimate:
    """Return Gwet's AC1 (identity weights) or AC2: agreement beyond chance that stays sensible if one label prevails.

    Args:
        votes: the batch.
        weights: the credit for near misses: ``"identity"`` none (AC1), ``"linear"`` or ``"quadratic"`` by their
            distance on the scale (AC2; needs an ordered scale).
        resampling: number of draws and seed.

    Returns:
        1 is perfect, 0 is chance. Details: ``observed`` (weighted agreement), ``by_chance``, and ``voted`` (number of
        items with a vote); both follow from the votes as for :func:`fleiss_kappa`.
    """
    if weights not in ("identity", "linear", "quadratic"):
        raise ConfigurationError(unknown("weights", weights, ("identity", "linear", "quadratic")))
    name = "gwet AC1" if weights == "identity" else f"gwet AC2 ({weights})"
    credit = _credit(votes, weights)
    spread = credit.sum() / max(len(credit) * (len(credit) - 1), 1)

    def by_chance(shares: Floats) -> Floats:
        return np.asarray(spread * (shares * (1 - shares)).sum(axis=1), dtype=np.float64)

    return _chance_corrected(name, votes, credit, by_chance, resampling=resampling)


def fleiss_kappa(votes: Votes, *, resampling: Resampling = DEFAULT) -> Estimate:
    """Return Fleiss' kappa: agreement of a panel beyond chance, where chance is given by the labels' overall shares.

    It is ``(observed - by_chance) / (1 - by_chance)``. The observed agreement is the mean, over the items with two
    votes or more, of the share of agreeing pairs. Chance is the sum of the squared shares of the labels; a label's
    share is the mean, over all items with a vote, of its share among the votes on the item. Items with a single vote
    count for chance only, as in Gwet (2014), *Handbook of Inter-Rater Reliability*. With the same number of votes on
    all items, it is the textbook coefficient.

    Returns:
        The estimate; ``n`` is the number of items with two votes or more. Details: ``observed``, ``by_chance`` and
        ``voted`` (number of items with a vote).
    """

    def by_chance(shares: Floats) -> Floats:
        return np.asarray((shares**2).sum(axis=1), dtype=np.float64)

    credit = np.eye(len(votes.labels))
    return _chance_corrected("fleiss kappa", votes, credit, by_chance, resampling=resampling, warnings=_skewed(votes))


def raw_agreement(votes: Votes, *, resampling: Resampling = DEFAULT) -> Estimate:
    """Return the mean over items of the share of agreeing pairs of votes, not corrected for chance."""
    agreement = _Agreement.of(votes, np.eye(len(votes.labels)))
    if not agreement.items:
        return undefined("raw agreement", 0, _NO_PAIRS)
    value = float(agreement.observed(agreement.whole)[0])
    interval, _ = agreement.smoothed.interval(resampling, agreement.observed)
    units = min(agreement.smoothed.units, agreement.items)
    if value in (0, 1) and resampling.draws and units > 1:  # draws that hardly differ say nothing about further items
        interval = wilson(value * units, units)
    sentence = f"Two jurors picked at random give the same answer on {percent(value)} of the items."
    return Estimate("raw agreement", value, agreement.items, interval, sentence, (*_skewed(votes), *agreement.few))


def cohen_kappa(votes: Votes, *, resampling: Resampling = DEFAULT) -> Estimate:
    """Return Cohen's kappa of every pair of jurors, and their mean.

    Returns:
        The mean over the pairs with two shared items or more for which kappa is defined. Details: ``jurors``;
        ``matrix`` of kappas and ``n`` of items that both answered, in that order; ``undefined_pairs``.
    """
    name = "mean pairwise cohen kappa"
    pairs = _Pairs(votes)
    both = int((votes.answered.sum(axis=1) >= 2).sum())
    kappas = pairs.kappas(pairs.smoothed.as_voted)[:, :, 0]
    defined = kappas[np.triu_indices(len(votes.jurors), 1)]
    total, defined = len(defined), defined[np.isfinite(defined)]
    if both == 1 or not len(defined):
        return undefined(name, both, _undefined(votes) or "no pair of jurors shares items on which their votes vary")

    def mean(weights: Floats) -> Floats:
        upper = pairs.kappas(weights)[np.triu_indices(len(votes.jurors), 1)]
        known = np.isfinite(upper)
        return ratio_of(np.where(known, upper, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))

    value = float(defined.mean())
    interval, _ = pairs.smoothed.interval(resampling, mean)
    by_pair = ""
    if total > 1:
        upper = np.where(np.triu(np.ones_like(kappas), 1) > 0, kappas, np.nan)
        ends = (np.unravel_index(find(upper), upper.shape) for find in (np.nanargmin, np.nanargmax))
        least, most = (
            f"{number(float(upper[a, b]))} ({votes.jurors[int(a)]} and {votes.jurors[int(b)]})" for a, b in ends
        )
        by_pair = f" on average, and from {least} to {most} by pair"
    sentence = f"On a scale on which 0 is chance and 1 is perfect, the kappa of two jurors is {number(value)}{by_pair}."
    return Estimate(
        name,
        value,
        both,
        interval,
        sentence,
        (*_skewed(votes), *few(both, pairs.smoothed.units)),
        details={
            "jurors": list(votes.jurors),
            "matrix": [[float(k) if np.isfinite(k) else None for k in row] for row in kappas],
            "n": [[int(n) for n in row] for row in pairs.shared()],
            "undefined_pairs": total - len(defined),
        },
    )


def label_shares(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Return the share of each label among the votes, the most frequent first. Details of each: ``votes``."""
    counts = votes.counts().astype(np.float64)
    sums, kinds = distinct(summed(counts, votes.groups))
    total = counts.sum()
    if not total:
        return (undefined("label share", 0, "there are no votes"),)
    voted = int(votes.answered.any(axis=1).sum())  # items without a vote tell nothing
    found = []
    for code in np.argsort(-counts.sum(axis=0), kind="stable").tolist():
        if not (hits := counts[:, code].sum()):
            continue
        interval, _ = resampling.interval(kinds, _share_of(sums, code))
        label, share = str(votes.labels[code]), float(hits / total)
        sentence = f"{percent(share)} of all votes are {label!r}."
        found.append(
            Estimate("label share", share, voted, interval, sentence, subject=label,
                    details={"votes": int(hits)})
        )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Agreement:
    """Sums over items that give observed agreement and mean label shares.

    Attributes:
        sums: per group: agreement, number of items with two votes, number of items with a vote, and label shares.
        smoothed: the items, and those that exist only in resamples.
        items: number of items with two votes.
    """

    sums: Floats
    smoothed: Smoothed
    items: int

    @classmethod
    def of(cls, votes: Votes, credit: Floats) -> _Agreement:
        """Sum up the votes; ``credit`` is the value of each pair of labels."""
        labels = len(votes.labels)
        smoothed = Smoothed.of(votes.codes, votes.groups, labels)
        counts = counted(smoothed.codes, labels).astype(np.float64)
        n = counts.sum(axis=1)
        paired, voted = (n >= 2).astype(np.float64), (n >= 1).astype(np.float64)
        near = (counts * (counts @ credit.T - 1)).sum(axis=1)
        agreeing = np.where(n >= 2, near / np.maximum(n * (n - 1), 1), 0.0)
        shares = counts / np.maximum(n, 1)[:, None]
        sums = summed(np.column_stack([agreeing, paired, voted, shares]), smoothed.groups)
        return cls(sums, smoothed, int((votes.answered.sum(axis=1) >= 2).sum()))

    @property
    def few(self) -> tuple[str, ...]:
        """Warning about few items or groups; empty if there are enough."""
        return few(self.items, self.smoothed.units)

    @property
    def whole(self) -> Floats:
        """Weights that represent the data as they are."""
        return self.smoothed.as_voted

    def observed(self, weights: Floats) -> Floats:
        total = weights @ self.sums[:, :2]
        return ratio_of(total[:, 0], total[:, 1])

    def shares(self, weights: Floats) -> Floats:
        total = weights @ self.sums[:, 2:]
        return ratio_of(total[:, 1:], total[:, :1])


def _chance_corrected(
    name: str,
    votes: Votes,
    credit: Floats,
    by_chance: Callable[[Floats], Floats],
    *,
    resampling: Resampling,
    warnings: tuple[str, ...] = (),
) -> Estimate:
    agreement = _Agreement.of(votes, credit)
    if reason := _undefined(votes):
        return undefined(name, agreement.items, reason)

    def coefficient(weights: Floats) -> Floats:
        chance = by_chance(agreement.shares(weights))
        return ratio_of(agreement.observed(weights) - chance, 1 - chance)

    observed = float(agreement.observed(agreement.whole)[0])
    chance = float(by_chance(agreement.shares(agreement.whole))[0])
    value = float(coefficient(agreement.whole)[0])
    interval: Interval | None = agreement.smoothed.interval(resampling, coefficient)[0]
    voted = int(votes.answered.any(axis=1).sum())
    single = voted - agreement.items
    of = f" (by the mean shares of the labels on {voted:,} items, {single:,} of them with one vote)" if single else ""
    in_part = "" if np.array_equal(credit, np.eye(len(credit))) else ", if a near miss counts as a part of an agreement"
    sentence = (
        f"Two votes on an item agree in {percent(observed)}{in_part}; by chance they would agree in "
        f"{percent(chance)}{of}. That is {number(value)} on a scale on which 0 is chance and 1 is perfect."
    )
    details: dict[str, JsonValue] = {"observed": observed, "by_chance": chance, "voted": voted}
    return Estimate(name, value, agreement.items, interval, sentence, (*warnings, *agreement.few), details=details)


class _Pairs:
    """Cohen's kappa of all pairs of jurors, for any weighting of the groups."""

    def __init__(self, votes: Votes) -> None:
        self.smoothed = Smoothed.of(votes.codes, votes.groups, len(votes.labels), every_juror=True)
        self._codes = self.smoothed.codes
        self._answered: Bools = self._codes != MISSING
        self._groups = self.smoothed.groups
        self._labels = np.arange(len(votes.labels))
        self._votes = votes

    def shared(self) -> Ints:
        """Return jurors x jurors: the number of items that both answered."""
        answered = self._votes.answered.astype(np.int64)
        return answered.T @ answered

    def kappas(self, weights: Floats) -> Floats:
        """Return jurors x jurors x draws; NaN on the diagonal and where kappa is undefined."""
        jurors = self._codes.shape[1]
        block = max(1, _WIDEST // (2 * len(self._labels) + 1))
        short = weights.astype(np.float32)  # whole numbers below 2**24: exact, and twice as fast
        found = np.full((jurors, jurors, len(weights)), np.nan)
        for one in range(jurors):
            for start in range(one + 1, jurors, block):
                others = slice(start, min(start + block, jurors))
                found[one, others] = found[others, one] = self._with_others(short, one, others)
        found[self.shared() < 2] = np.nan  # on one item kappa is 0 or undefined by algebra
        return found

    def _with_others(self, weights: Shorts, one: int, others: slice) -> Floats:
        """Return one juror's kappa with each of some others.

        It follows from how often each gave each label on the items that both answered, and how often they agreed. Each
        pair has that many columns, which are summed for all draws in one matrix product.
        """
        values = len(self._labels)
        left, right = self._codes[:, [one]], self._codes[:, others]
        both = self._answered[:, [one]] & self._answered[:, others]
        columns = np.empty((*right.shape, 2 * values + 1), dtype=np.float32)
        columns[..., :values] = (left[..., None] == self._labels) & both[..., None]
        columns[..., values:-1] = (right[..., None] == self._labels) & both[..., None]
        columns[..., -1] = (left == right) & both
        sums = weights @ summed(columns.reshape(len(columns), right.shape[1] * (2 * values + 1)), self._groups)
        counts = sums.reshape(len(weights), right.shape[1], -1).astype(np.float64)
        ones, theirs, agreed = counts[..., :values], counts[..., values:-1], counts[..., -1]
        n = ones.sum(axis=2)
        chance = ratio_of((ones * theirs).sum(axis=2), n)
        return ratio_of(agreed - chance, n - chance).T


def _scale_for(votes: Votes, level: Level) -> Floats:
    if level in ("interval", "ratio"):
        return votes.scale
    if level == "ordinal" and not votes.ordered:
        raise ConfigurationError("level 'ordinal' needs numbers, or labels in their order: labels=['bad', 'good']")
    return np.arange(len(votes.labels), dtype=np.float64)


def _credit(votes: Votes, weights: Weights) -> Floats:
    """Return labels x labels: 1 for the same label, down to 0 for the most distant ones."""
    if weights == "identity":
        return np.eye(len(votes.labels))
    if not votes.ordered:
        raise ConfigurationError(
            f"weights {plain_repr(weights)} need numbers, or labels in their order: labels=['bad', 'good']"
        )
    points = votes.scale if votes.numeric else np.arange(len(votes.labels), dtype=np.float64)
    apart = np.abs(points[:, None] - points[None, :]) / max(float(np.ptp(points)) if len(points) else 0.0, 1e-300)
    return 1.0 - (apart if weights == "linear" else apart**2)


def _share_of(sums: Floats, code: int) -> Callable[[Floats], Floats]:
    def share(weights: Floats) -> Floats:
        total = weights @ sums
        return ratio_of(total[:, code], total.sum(axis=1))

    return share


def _undefined(votes: Votes) -> str:
    """Return why agreement beyond chance is undefined; empty if it is defined."""
    counts = votes.answered.sum(axis=1)
    if not (counts >= 2).any():
        return _NO_PAIRS
    if (counts >= 2).sum() == 1:
        return _ONE_ITEM
    return _NO_VARIATION if len(np.unique(votes.codes[votes.answered])) < 2 else ""


def _skewed(votes: Votes) -> tuple[str, ...]:
    cast = votes.codes[votes.answered]
    if not len(cast):
        return ()
    shares = np.bincount(cast, minlength=len(votes.labels)) / len(cast)
    most = int(shares.argmax())
    if shares[most] < _SKEWED or len(np.unique(cast)) < 2:
        return ()
    return (
        f"{percent(float(shares[most]))} of the votes are {str(votes.labels[most])!r}: raw agreement is then high by "
        "itself, and each disagreement lowers alpha and kappa much; read both beside Gwet's AC",
    )


def _reading(value: float, interval: Interval | None) -> str:
    """Return the sentence on alpha, with Krippendorff's limits of 0.8 and 2/3 for the value and its lower bound."""
    low = value if interval is None else interval[0]
    if value < 0 or number(value) == number(0):
        return f"The jurors agree no more than chance would, {number(value)}"
    if low <= 0:
        return f"The jurors agree by {number(value)}, which may be chance"
    if value < _TENTATIVE:
        return f"The jurors agree only somewhat beyond chance, {number(value)}: do not rely on any single one"
    if low < _TENTATIVE:
        return f"The jurors agree beyond chance, {number(value)}, but it may be as little as {number(low)}"
    if value < _RELIABLE:
        return f"The jurors agree beyond chance, {number(value)}: good enough for tentative conclusions"
    return f"The jurors agree well beyond chance, {number(value)}, which does not show that they are right"
