"""Moves of votes from the first half of a run to the second, within human labels or among the jurors themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from jury_adapters.calibration.estimates import Interval
from jury_adapters.calibration.resampling import Resampling, distinct, summed
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints
from jury_adapters.core.tolerance import equal

Finish: TypeAlias = Callable[[Floats], Floats]
"""Function of base numbers (draws x numbers) that returns draws x jurors."""


@dataclass(frozen=True, eq=False, slots=True)
class Moves:
    """Moves of all jurors, as a function of base numbers that are means of items.

    Attributes:
        base: the base numbers.
        shares: items x base numbers: what each item adds to the deviation of a base number in a bootstrap sample.
        finish: the moves of the jurors from the base numbers.
        usable: items x jurors: whether an item counts for a juror.
        series: function of a juror's column that returns one number per item, NaN if it does not count. Its change from
            one half to the other is that of the juror, for a test of whether chance explains it.
        most: the largest possible move.
    """

    base: Floats
    shares: Floats
    finish: Finish
    usable: Bools
    series: Callable[[int], Floats]
    most: float = 1.0

    @property
    def values(self) -> Floats:
        """Move of each juror; NaN where it is not known."""
        values: Floats = self.finish(self.base[None, :])[0]
        return np.round(values, _DECIMALS) + 0.0

    def intervals(self, later: Bools, groups: Ints, how: Resampling) -> list[Interval | None]:
        """Return the 95 % bootstrap interval of each juror's move.

        If all votes of a juror in a half are alike, so are all draws. The interval then reaches ``3 / n_1 + 3 / n_2``
        of the largest possible difference beyond the move, where n is the number of groups of a half.

        Args:
            later: per item, whether it is in the second half.
            groups: the group of each item.
            how: the options of the bootstrap.

        Returns:
            The intervals; None without draws, and for a juror that is the median in all of them.

        Source: J. A. Hanley and A. Lippman-Hand (1983), *If nothing goes wrong, is everything all right?*, Journal of
        the American Medical Association 249, for the rule of three.
        """
        rows, counts = distinct(summed(self.shares, groups))
        jurors = self.usable.shape[1]
        if not how.draws or int(counts.sum()) < _FEWEST:
            return [None] * jurors
        drawn = np.concatenate([self.finish(self.base + block @ rows) for block in how.weights(counts)])
        found: list[Interval | None] = []
        for column, (draws, value) in enumerate(zip(drawn.T, self.values.tolist(), strict=True)):
            if not np.isfinite(draws).all():
                found.append(None)
                continue
            if not equal(float(draws.min()), float(draws.max())):
                low, high = np.quantile(draws, (0.025, 0.975)).tolist()
                found.append((min(low, value), max(high, value)))
                continue
            sizes = [len(np.unique(groups[self.usable[:, column] & half])) for half in (~later, later)]
            reach = self.most * sum(3 / max(1, size) for size in sizes)
            found.append((max(-self.most, value - reach), min(self.most, value + reach)) if value else None)
        return found


def against_labels(points: Floats, later: Bools, strata: Ints) -> Moves:
    """Return the moves among items with the same human label.

    A juror's move is ``sum_l w_l (m_2l - m_1l) / sum_l w_l``: m is its mean vote on the items with label l in a half,
    and ``w_l = n_1l n_2l / (n_1l + n_2l)``, the weights of Mantel and Haenszel. What other jurors vote, and how many
    items of a half are good, does not matter.

    Args:
        points: items x jurors: the votes as numbers, NaN without one.
        later: per item, whether it is in the second half.
        strata: the code of each item's label; -1 for an item that does not count.

    Source: S. Greenland and J. M. Robins (1985), *Estimation of a common effect parameter from sparse follow-up data*,
    Biometrics 41.
    """
    usable = ~np.isnan(points) & (strata != MISSING)[:, None]
    shares, weights, changes = np.zeros_like(points), np.zeros(points.shape[1]), np.zeros(points.shape[1])
    residual = np.where(usable, points, 0.0)
    for label in np.unique(strata[strata != MISSING]).tolist():
        halves = [usable & ((strata == label) & half)[:, None] for half in (~later, later)]
        sizes = [half.sum(axis=0) for half in halves]
        means = [
            np.where(half, points, 0.0).sum(axis=0) / np.maximum(size, 1)
            for half, size in zip(halves, sizes, strict=True)
        ]
        weight = sizes[0] * sizes[1] / np.maximum(sizes[0] + sizes[1], 1)
        weights, changes = weights + weight, changes + weight * (means[1] - means[0])
        for sign, half, size, mean in zip((-1, 1), halves, sizes, means, strict=True):
            shares += np.where(half, sign * weight * (np.nan_to_num(points) - mean) / np.maximum(size, 1), 0.0)
        both = halves[0] | halves[1]
        residual -= np.where(both, np.where(both, points, 0.0).sum(axis=0) / np.maximum(both.sum(axis=0), 1), 0.0)
    total = np.where(weights > 0, weights, np.nan)
    return Moves(
        changes / total,
        np.nan_to_num(shares / total),
        lambda base: base,
        usable,
        lambda column: np.where(usable[:, column], residual[:, column], np.nan),
        _range(points),
    )


def among_jurors(points: Floats, later: Bools) -> Moves:
    """Return the moves relative to the median juror.

    In each half, a vote is the sum of an effect of the item, one of the juror, and chance; least squares give the
    jurors' effects. So missing votes do no harm, and harder items move all jurors alike. From the change of a juror's
    effect, the median of the changes of all jurors is subtracted. It stays that of the steady jurors as long as these
    are more than half. Of two jurors, the change of the other is subtracted.

    Args:
        points: items x jurors: the votes as numbers, NaN without one. There are two jurors or more.
        later: per item, whether it is in the second half.

    Source: P. J. Huber (1981), *Robust Statistics*, for the median, which half of the numbers cannot move far.
    """
    voted = ~np.isnan(points)
    usable = voted & (voted.sum(axis=1) > 1)[:, None]
    active = np.array(_active(usable, later), dtype=np.int64)
    (first, of_first), (second, of_second) = (_effects(points, usable & half[:, None]) for half in (~later, later))
    changes = np.full(points.shape[1], np.nan)
    changes[active] = (second - first)[active]
    two = len(active) == _PAIR

    def finish(base: Floats) -> Floats:
        moves = np.full_like(base, np.nan)
        known = base[:, active]
        if len(active) > 1:
            moves[:, active] = known - (known[:, ::-1] if two else np.median(known, axis=1, keepdims=True))
        return moves

    order = active[np.argsort(changes[active], kind="stable")]
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]

    def series(column: int) -> Floats:
        beside = active[active != column] if two else middle
        found: Floats = points[:, column] - points[:, beside].mean(axis=1)
        return found

    return Moves(changes, of_second - of_first, finish, usable, series, _range(points))


def within_labels(points: Floats, later: Bools, strata: Ints) -> Floats:
    """Return votes less the juror's mean vote on the items with the same human label, for :func:`among_jurors`.

    Where fewer of the later items are good, lenient jurors move less than others that are as steady. These numbers do
    not move then. If labels explain the share ``r2`` of the variance of the halves, a juror that drifts moves these
    means by ``1 - r2`` of its drift, by which they are divided.

    Args:
        points: items x jurors: the votes as numbers, NaN without one.
        later: per item, whether it is in the second half.
        strata: the code of each item's label; -1 for an item that does not count.

    Source: R. Frisch and F. V. Waugh (1933), *Partial time regressions as compared with individual trends*,
    Econometrica 1.
    """
    found, half = np.full_like(points, np.nan), np.where(strata != MISSING, later, np.nan)
    half, whole = half - np.nanmean(half), np.nanvar(half)
    for label in np.unique(strata[strata != MISSING]).tolist():
        here = strata == label
        known = ~np.isnan(points[here])
        means = np.where(known, points[here], 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        found[here] = points[here] - means
        half[here] -= half[here].mean()
    numbers: Floats = found * (float(whole) / max(float(np.nanvar(half)), _ROUNDING))
    return numbers


def of_agreement(codes: Ints, later: Bools) -> Moves:
    """Return the moves of each juror's agreement with the others.

    The agreement of a pair changes by about ``u_j + u_k``, where u is a juror's own move. So for any two others, ``u_j
    = (g_jk + g_jl - g_kl) / 2``, where g is the change of a pair's agreement. The move is the median over all pairs of
    others, and about 0 for a steady juror beside one that changes. Of two jurors, it is the change of their agreement.

    Args:
        codes: items x jurors: the codes of the votes; -1 without one. There are two jurors or more.
        later: per item, whether it is in the second half.
    """
    answered = codes != MISSING
    usable = answered & (answered.sum(axis=1) > 1)[:, None]
    active = _active(usable, later)
    pairs = list(combinations(active, 2))
    place = {pair: at for at, pair in enumerate(pairs)}
    agrees = np.full((len(codes), len(pairs)), np.nan)
    for at, (one, other) in enumerate(pairs):
        both = answered[:, one] & answered[:, other]
        agrees[both, at] = codes[both, one] == codes[both, other]
    base, shares = _changes(agrees, later)

    def terms(column: int) -> list[list[int]]:
        own = {juror: place[min(juror, column), max(juror, column)] for juror in active if juror != column}
        return [[own[k], own[m], place[k, m]] for k, m in combinations(own, 2)] or [list(own.values())]

    def parts(numbers: Floats, column: int) -> Floats:
        return np.stack([numbers[:, places] @ _HALVES[len(places)] for places in terms(column)], axis=1)

    def finish(numbers: Floats) -> Floats:
        moves = np.full((len(numbers), codes.shape[1]), np.nan)
        for column in active if pairs else []:
            moves[:, column] = _medians(parts(numbers, column))
        return moves

    def series(column: int) -> Floats:
        known = parts(base[None, :], column)
        nearest = int(np.nanargmin(abs(known[0] - _medians(known))))
        return parts(agrees, column)[:, nearest]

    return Moves(base, shares, finish, usable, series)


_PAIR = 2
_FEWEST = 2
_ROUNDING = 1e-12
_DECIMALS = 12
_SINGULAR = 1e-9  # the effects are known up to a constant, so one eigenvalue is 0
_HALVES = {1: np.ones(1), 3: np.array([0.5, 0.5, -0.5])}  # by the number of pairs


def _active(usable: Bools, later: Bools) -> list[int]:
    """Return the jurors with two usable items or more in each half."""
    least = np.minimum(usable[later].sum(axis=0), usable[~later].sum(axis=0))
    return [int(column) for column in np.flatnonzero(least >= _FEWEST)]


def _changes(values: Floats, later: Bools) -> tuple[Floats, Floats]:
    """Return the change of the mean of each column, and what each item adds to its deviation in a bootstrap sample."""
    base, shares = np.zeros(values.shape[1]), np.zeros_like(values)
    for sign, half in ((-1, ~later), (1, later)):
        known = ~np.isnan(values) & half[:, None]
        sizes = known.sum(axis=0)
        means = np.where(known, values, 0.0).sum(axis=0) / np.where(sizes > 0, sizes, np.nan)
        base += sign * means
        shares += np.where(known, sign * (np.nan_to_num(values) - means) / np.maximum(sizes, 1), 0.0)
    return base, shares


def _medians(rows: Floats) -> Floats:
    """Return the median of each row's numbers, NaN without any; NaN sorts last."""
    ordered, known = np.sort(rows, axis=1), (~np.isnan(rows)).sum(axis=1)
    each = np.arange(len(rows))
    middle: Floats = (ordered[each, (known - 1) // 2] + ordered[each, known // 2 - (known == 0)]) / 2
    return middle


def _range(points: Floats) -> float:
    return float(np.nanmax(points) - np.nanmin(points)) if not np.isnan(points).all() else 0.0


def _effects(points: Floats, usable: Bools) -> tuple[Floats, Floats]:
    """Return the jurors' effects, and what each item adds to their deviation in a bootstrap sample (items x jurors)."""
    voted = usable.astype(np.float64)
    votes = np.maximum(voted.sum(axis=1, keepdims=True), 1)
    known = np.where(usable, points, 0.0)
    centred = voted * (known - known.sum(axis=1, keepdims=True) / votes)
    inverse = np.linalg.pinv(np.diag(voted.sum(axis=0)) - (voted / votes).T @ voted, rcond=_SINGULAR, hermitian=True)
    effects = inverse @ centred.sum(axis=0)
    expected = voted * (effects - (voted * effects).sum(axis=1, keepdims=True) / votes)
    return effects, (centred - expected) @ inverse
