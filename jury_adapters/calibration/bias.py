"""Known biases of judges: position bias, self-preference, and verbosity bias."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Literal

import numpy as np

from jury_adapters.calibration.correlation_test import with_null
from jury_adapters.calibration.estimates import FEW_ITEMS, TOO_FEW, Estimate, Interval, few, number, undefined
from jury_adapters.calibration.juror_stats import as_numbers, groups_of, share_interval
from jury_adapters.calibration.resampling import DEFAULT, Resampling, difference_of_means, distinct, ratio_of, summed
from jury_adapters.calibration.types import MISSING, Bools, Floats
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.formatting import percent
from jury_adapters.core.model_families import family_of, model_name

_SURE = 0.05
_FEWEST_DIFFERENT = 5  # votes that differ from the most frequent one, below which a correlation rests on these alone
_PREFERENCES = {"model": "self-preference", "family": "vendor preference"}


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


def self_preference(
    votes: Votes, *, match: Literal["model", "family"] = "model", resampling: Resampling = DEFAULT
) -> tuple[Estimate, ...]:
    """Return, per juror whose model or vendor also wrote answers, how much more lenient to them it is than the others.

    The value is the difference in differences, within each gold label: the juror's votes minus those of the others, on
    its own answers, minus the same on the answers of other models. A vote counts 1 for PASS and 0 otherwise, or as its
    number. Jurors that wrote the answer themselves are not among the others. Without gold labels, there is one number
    over all items, which good answers can raise.

    Args:
        votes: a batch whose items have a known generator.
        match: an answer is a juror's own if the same ``"model"`` wrote it, regardless of the vendor that serves it
            (``"openai:gpt-4o"`` is ``"gpt-4o"``). With ``"family"``, another model of its vendor wrote it: the estimate
            is then called *vendor preference*, and excludes the answers of the juror's own model.
        resampling: number of draws and seed; groups are drawn together.

    Returns:
        One estimate per juror and gold label; above 0 the juror favours its own answers. The interval excludes 0 only
        if a test of the difference has p < 0.05. Details: ``gold``, ``own`` and ``other`` (numbers of items).

    Raises:
        ConfigurationError: the labels have no PASS meaning (give ``pass_label``).
    """
    if match not in ("model", "family"):
        raise ConfigurationError(unknown("match", match, ("model", "family")))
    points = as_numbers(votes, votes.codes)
    if points is None:
        raise ConfigurationError("self-preference needs numbers, or to know which label means PASS: pass_label='valid'")
    wrote = _wrote(votes, match)
    if match == "family":
        alone = _wrote(votes, "model")
        points, wrote = np.where(alone, np.nan, points), wrote & ~alone
    classes: list[int | None] = list(np.unique(votes.gold[votes.gold != MISSING]).tolist()) or [None]
    found = [
        _preference(votes, points, wrote, column, match=match, code=code, resampling=resampling)
        for column in range(len(votes.jurors))
        if wrote[:, column].any()
        for code in classes
    ]
    own = {"model": "model", "family": "vendor"}[match]
    return tuple(found) or (undefined(_PREFERENCES[match], 0, f"no juror judged an answer of its own {own}"),)


def verbosity(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Return, per juror, the rank correlation of its vote with the answer's length (or a pair's difference in length).

    A vote counts as its number, or 1 for PASS and 0 otherwise; in pairs, A is 1, B is 0 and a tie is one half. Longer
    answers can be better ones: ``gold_correlation`` is the correlation of human labels with length on the same items.

    Args:
        votes: a batch whose items have a known length.
        resampling: number of draws and seed; ranks are computed once, and resampled with their items.

    Returns:
        Spearman's coefficient, from -1 to 1; above 0 longer answers do better. No interval below 30 items. The interval
        excludes 0 only if a test of the correlation has p < 0.05. If fewer than five votes differ from the most
        frequent one, a warning says so. Details: ``gold_correlation``.

    Raises:
        ConfigurationError: the labels have no PASS meaning (give ``pass_label``).
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


def _wrote(votes: Votes, match: str) -> Bools:
    """Return items x jurors: whether the juror's model (or its family) wrote the answer."""
    models = [model or juror for juror, model in zip(votes.jurors, votes.models, strict=True)]
    if match == "model":
        known = [{model_name(model), model_name(juror)} for model, juror in zip(models, votes.jurors, strict=True)]
        wrote = [None if generator is None else model_name(generator) for generator in votes.generators]
        table = [[generator in names for names in known] for generator in wrote]
    else:
        kin = [family_of(model) for model in models]
        of = [family_of(generator) for generator in votes.generators]
        table = [[family is not None and family == own for own in kin] for family in of]
    return np.array(table, dtype=np.bool_).reshape(votes.codes.shape)


def _preference(
    votes: Votes, points: Floats, wrote: Bools, column: int, *, match: str, code: int | None, resampling: Resampling
) -> Estimate:
    juror, name = votes.jurors[column], _PREFERENCES[match]
    mine, theirs = ("its own answers", "those of other models")
    if match == "family":
        mine, theirs = f"answers of its vendor ({family_of(votes.models[column] or juror)})", "those of other vendors"
    label = None if code is None else str(votes.labels[code])
    rest = np.where(wrote, np.nan, points)  # a judge is not neutral about its own answers
    rest[:, column] = np.nan
    beside = points[:, column] - ratio_of(np.nansum(rest, axis=1), (~np.isnan(rest)).sum(axis=1).astype(np.float64))
    usable = ~np.isnan(beside) & (votes.gold == code if code is not None else True)
    own, other = usable & wrote[:, column], usable & ~wrote[:, column]
    n = int(usable.sum())
    among = "" if label is None else f" among the items with the human label {label!r}"
    flags = [part.astype(np.float64) for part in (own, other)]
    value, interval = difference_of_means(np.nan_to_num(beside), flags[0], flags[1], votes.groups, resampling)
    if value is None:
        only = mine if own.any() else theirs.replace("those", "answers")
        return undefined(name, n, f"{juror} judged only {only}{among}" if n else f"{juror} judged nothing{among}",
                         subject=juror)  # fmt: skip
    interval = with_null(interval, beside[usable], flags[0][usable], votes.groups[usable])
    owned, others = int(own.sum()), int(other.sum())
    size = number(abs(value))
    treats = f"treats {mine} like {theirs}"
    if size != number(0):
        treats = f"is {size} {'kinder' if value > 0 else 'stricter'} to {mine} than to {theirs}"
    certainty = _whether(interval, min(owned, others))
    sentence = f"Compared with the other jurors, {juror} {treats}{among}, {certainty}."
    warned = () if label is not None else ("without human labels, a better writer looks like a vain judge",)
    return Estimate(
        name, value, n, interval, sentence, (*warned, *few(min(owned, others))), subject=juror,
        details={"gold": label, "own": owned, "other": others},
    )  # fmt: skip


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
    n = int(known.sum())
    if n < 3:
        return undefined("verbosity bias", n, "it takes 3 answers of known length", subject=juror)
    value, interval = _spearman(points[known], votes.lengths[known], votes, known, resampling)
    if value is None:
        return undefined("verbosity bias", n, "its votes or the lengths do not vary", subject=juror)
    interval = interval if n >= FEW_ITEMS else None
    both = known & ~np.isnan(gold)
    truth = _spearman(gold[both], votes.lengths[both], votes, both, Resampling(0))[0] if both.sum() >= 3 else None
    beside = "" if truth is None else f"; human labels go with length at {number(truth)}"
    tendency = f"{juror} tends to prefer {'longer' if value > 0 else 'shorter'} answers"
    if number(value) == number(0):
        tendency = f"{juror} prefers neither longer nor shorter answers"
    sentence = f"{tendency}, correlation {number(value)}, {_whether(interval, n)}{beside}."
    warned = () if truth is not None else ("longer answers may simply be better: there are no labels to compare with",)
    return Estimate(
        "verbosity bias", value, n, interval, sentence, (*warned, *few(n), *_few_differ(points[known])), subject=juror,
        details={"gold_correlation": truth},
    )  # fmt: skip


def _few_differ(votes: Floats) -> tuple[str, ...]:
    """Return the warning that hardly any vote differs from the most frequent one; empty if enough do."""
    rare = len(votes) - int(np.unique(votes, return_counts=True)[1].max())
    if rare >= _FEWEST_DIFFERENT:
        return ()
    which = "the one vote that differs" if rare == 1 else f"the {rare} votes that differ"
    return (f"it rests on {which} from the other {len(votes) - rare:,}",)


def _spearman(
    one: Floats, other: Floats, votes: Votes, rows: Bools, resampling: Resampling
) -> tuple[float | None, Interval | None]:
    x, y = (ranks - ranks.mean() for ranks in (mid_ranks(one), mid_ranks(other)))
    moments = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    sums, counts = distinct(summed(moments, votes.groups[rows]))
    correlation = _correlation(sums)
    value = float(correlation(counts[None, :].astype(np.float64))[0])
    if not np.isfinite(value):
        return None, None
    return value, with_null(resampling.interval(counts, correlation)[0], x, y, votes.groups[rows])


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


def _whether(interval: Interval | None, n: int) -> str:
    """Return whether chance explains a bias; with few items it is left open, because draws tell too little."""
    if n < FEW_ITEMS:
        return TOO_FEW
    if interval is None:
        return "which may be chance: there is no interval"
    return "more than chance explains" if interval[0] > 0 or interval[1] < 0 else "which may be chance"
