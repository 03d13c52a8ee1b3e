"""Known biases of judges: position bias and verbosity bias."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb

import numpy as np

from jury_adapters.calibration.correlation_test import with_null
from jury_adapters.calibration.estimates import FEW_ITEMS, TOO_FEW, Estimate, Interval, few, number, undefined
from jury_adapters.calibration.juror_stats import as_numbers, groups_of, share_interval
from jury_adapters.calibration.resampling import DEFAULT, Resampling, distinct, ratio_of, summed
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import percent

_SURE = 0.05
_FEWEST_DIFFERENT = 5  # votes that differ from the most frequent one, below which a correlation rests on these alone


def position_consistency(votes: Votes) -> tuple[Estimate, ...]:
    """Return, per pairwise juror, how often both orders give the same answer, and the position favoured otherwise.

    Args:
        votes: pairwise votes with both orders (``votes.orders``), labels ``A``, ``B`` and perhaps ``tie``.

    Returns:
        The share of consistent items, with Wilson's interval, or that of
        :func:`~jury_adapters.core.clustered_shares.clustered_wilson` for groups. Details: ``flips``; ``first_share``,
        the share of flips that favour the candidate shown first; ``p_value``, the exact binomial test of that share
        against one half; with gold labels also ``accuracy`` (mean of both orders, with a tie as one half) and
        ``accuracy_consistent``.

    Raises:
        ConfigurationError: no vote was asked in both orders, or there are labels other than A and B.
    """
    if votes.orders is None or not {"A", "B"} <= set(votes.labels):
        raise ConfigurationError("position consistency needs pairwise votes (A, B) asked in both orders")
    return tuple(_consistency(votes, column) for column in range(len(votes.jurors)))


def verbosity(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Return, per juror, the rank correlation of its vote with the answer's length (or a pair's difference in length).

    A vote counts as its number, or 1 for PASS and 0 otherwise; in pairs, A is 1, B is 0 and a tie is one half.

    Longer answers can be better ones, or worse. So if 30 items or more have a human label, the correlation is that
    among items with the same label: of the ranks within each label, less their mean. Items without a label do not count
    then, nor do those of a label on which votes or lengths do not vary. ``gold_correlation`` is the correlation of the
    human labels with length on the same items.

    Args:
        votes: a batch whose items have a known length.
        resampling: number of draws and seed; ranks are computed once, and resampled with their items.

    Returns:
        Spearman's coefficient, from -1 to 1; above 0 longer answers do better. No interval below 30 items. The interval
        excludes 0 only if a test of the correlation has p < 0.05. If fewer than five votes differ from the most
        frequent one, a warning says so. Details: ``gold_correlation``, and ``within_labels`` (whether it is the
        correlation among items with the same label).

    Raises:
        ConfigurationError: the labels have no PASS meaning (give ``pass_label``).

    Source: P. van Elteren (1960), *On the combination of independent two-sample tests of Wilcoxon*, Bulletin of the
    International Statistical Institute 37, for ranks within strata.
    """
    points, gold = _preferences(votes)
    return tuple(
        _with_length(votes, points[:, column], gold, column, resampling) for column in range(len(votes.jurors))
    )


def binomial_p_value(hits: int, n: int) -> float:
    """Return the p value of the exact two-sided test of a share against one half.

    >>> binomial_p_value(9, 10)
    0.021484375
    """
    tail = sum(comb(n, k) for k in range(min(hits, n - hits) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**n)))


def _consistency(votes: Votes, column: int) -> Estimate:
    assert votes.orders is not None
    juror = votes.jurors[column]
    first, second = votes.orders[0, :, column], votes.orders[1, :, column]
    asked: Bools = (first != MISSING) & (second != MISSING)
    n = int(asked.sum())
    if not n:
        return undefined("position consistency", 0, "it answered no item in both orders", subject=juror)
    a, b = votes.labels.index("A"), votes.labels.index("B")
    flipped = asked & (first != second)
    towards_first = flipped & np.where(first == a, second != a, (second == b) & (first != b))
    flips, firsts = int(flipped.sum()), int(towards_first.sum())
    p_value = binomial_p_value(firsts, flips) if flips else None
    value = 1 - flips / n
    sentence = f"{juror} gives the same answer in both orders on {percent(value)} of the pairs"
    if p_value is not None:
        place = "first" if 2 * firsts >= flips else "second"
        share = percent(max(firsts, flips - firsts) / flips)
        by_chance = "more than chance explains" if p_value < _SURE else "which may be chance"
        sentence += f"; when it does not, it takes the one shown {place} in {share}, {by_chance}"
    warned = () if value >= 0.8 else ("ask in both orders: a single order decides too many of its verdicts",)
    return Estimate(
        "position consistency",
        value,
        n,
        share_interval(asked & ~flipped, asked, votes),
        sentence + ".",
        (*warned, *few(n, groups_of(votes, asked))),
        subject=juror,
        details={
            "flips": flips,
            "first_share": firsts / flips if flips else None,
            "p_value": p_value,
            **_accuracies(votes, column, asked, flipped),
        },
    )


def _accuracies(votes: Votes, column: int, asked: Bools, flipped: Bools) -> dict[str, float | None]:
    assert votes.orders is not None
    known = asked & (votes.gold != MISSING)
    if not known.any():
        return {}
    tie = votes.labels.index("tie") if "tie" in votes.labels else MISSING - 1
    said = votes.orders[:, known, column]
    gold = votes.gold[known]
    right = np.where(said == gold, 1.0, np.where(said == tie, 0.5, 0.0))
    steady = ~flipped[known]
    return {
        "accuracy": float(right.mean()),
        "accuracy_consistent": float(right[:, steady].mean()) if steady.any() else None,
    }


def _preferences(votes: Votes) -> tuple[Floats, Floats]:
    """Return votes and gold labels as numbers in which more is better for the answer (in pairs, for the first one)."""
    if not votes.numeric and {"A", "B"} <= set(votes.labels) <= {"A", "B", "tie"}:
        worth = np.array([{"A": 1.0, "B": 0.0, "tie": 0.5}[str(label)] for label in votes.labels])
        votes_as, gold = (np.where(codes == MISSING, np.nan, worth[codes]) for codes in (votes.codes, votes.gold))
        return votes_as, gold
    points, gold_points = as_numbers(votes, votes.codes), as_numbers(votes, votes.gold)
    if points is None or gold_points is None:
        raise ConfigurationError("verbosity needs numbers, A/B, or to know which label means PASS: pass_label='valid'")
    return points, gold_points


def _with_length(votes: Votes, points: Floats, gold: Floats, column: int, resampling: Resampling) -> Estimate:
    juror = votes.jurors[column]
    known = ~np.isnan(points) & ~np.isnan(votes.lengths)
    both = known & ~np.isnan(gold)
    within = int(both.sum()) >= FEW_ITEMS
    truth = _spearman(gold[both], votes.lengths[both], votes, both, Resampling(0))[0] if both.sum() >= 3 else None
    known = both if within else known
    n = int(known.sum())
    if n < 3:
        return undefined("verbosity bias", n, "it takes 3 answers of known length", subject=juror)
    strata = votes.gold[known] if within else np.zeros(n, dtype=np.int64)
    value, interval = _spearman(points[known], votes.lengths[known], votes, known, resampling, strata=strata)
    if value is None:
        alike = " among items with the same human label" if within else ""
        return undefined("verbosity bias", n, f"its votes or the lengths do not vary{alike}", subject=juror)
    interval = interval if n >= FEW_ITEMS else None
    beside = "" if truth is None else f"; human labels go with length at {number(truth)}"
    tendency = f"{juror} tends to prefer {'longer' if value > 0 else 'shorter'} answers"
    if number(value) == number(0):
        tendency = f"{juror} prefers neither longer nor shorter answers"
    among = " among those with the same human label" if within else ""
    sentence = f"{tendency}{among}, correlation {number(value)}, {whether_chance(interval, n)}{beside}."
    return Estimate(
        "verbosity bias", value, n, interval, sentence,
        (*_without_labels(truth, within=within), *few(n), *_few_differ(points[known])), subject=juror,
        details={"gold_correlation": truth, "within_labels": within},
    )  # fmt: skip


def _without_labels(truth: float | None, *, within: bool) -> tuple[str, ...]:
    """Return the warning that the correlation is not one among items with the same label; empty if it is."""
    if within:
        return ()
    better = "longer answers may simply be better, or worse"
    if truth is None:
        return (f"{better}: there are no labels to compare with",)
    return (f"{better}: fewer than {FEW_ITEMS} have a label, too few to compare those with the same one",)


def _few_differ(votes: Floats) -> tuple[str, ...]:
    """Return the warning that hardly any vote differs from the most frequent one; empty if enough do."""
    rare = len(votes) - int(np.unique(votes, return_counts=True)[1].max())
    if rare >= _FEWEST_DIFFERENT:
        return ()
    which = "the one vote that differs" if rare == 1 else f"the {rare} votes that differ"
    return (f"it rests on {which} from the other {len(votes) - rare:,}",)


def _spearman(
    one: Floats, other: Floats, votes: Votes, rows: Bools, resampling: Resampling, *, strata: Ints | None = None
) -> tuple[float | None, Interval | None]:
    """Return the correlation of ranks with its interval; with strata, of those within each."""
    strata = np.zeros(len(one), dtype=np.int64) if strata is None else strata
    x, y = (_ranks_within(values, strata) for values in (one, other))
    for stratum in np.unique(strata).tolist():
        inside = strata == stratum
        if not (x[inside].any() and y[inside].any()):
            x[inside] = y[inside] = 0.0
    moments = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    sums, counts = distinct(summed(moments, votes.groups[rows]))
    correlation = _correlation(sums)
    value = float(correlation(counts[None, :].astype(np.float64))[0])
    if not np.isfinite(value):
        return None, None
    return value, with_null(resampling.interval(counts, correlation)[0], x, y, votes.groups[rows])


def _ranks_within(values: Floats, strata: Ints) -> Floats:
    """Return the ranks within each stratum, as shares of its number of values, less their mean."""
    ranks = np.zeros(len(values))
    for stratum in np.unique(strata).tolist():
        inside = strata == stratum
        found = mid_ranks(values[inside])
        ranks[inside] = (found - found.mean()) / len(found)
    return ranks


def _correlation(sums: Floats) -> Callable[[Floats], Floats]:
    def correlation(weights: Floats) -> Floats:
        n, x, y, xx, yy, xy = (weights @ sums).T
        spread = np.sqrt(np.maximum(n * xx - x * x, 0.0) * np.maximum(n * yy - y * y, 0.0))
        return np.clip(ratio_of(n * xy - x * y, spread), -1.0, 1.0)

    return correlation


def mid_ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values share the mean of their ranks."""
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    return np.asarray((ends - (counts - 1) / 2)[position], dtype=np.float64)


def whether_chance(interval: Interval | None, n: int) -> str:
    """Return whether chance explains a bias; below 30 items it is left open, because draws tell too little."""
    if n < FEW_ITEMS:
        return TOO_FEW
    if interval is None:
        return "which may be chance: there is no interval"
    return "more than chance explains" if interval[0] > 0 or interval[1] < 0 else "which may be chance"
