"""Preference of judges for answers of their own model, or of their vendor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from jury_adapters.calibration.bias import whether_chance
from jury_adapters.calibration.estimates import FEW_ITEMS, Estimate, Interval, few, number, undefined
from jury_adapters.calibration.juror_stats import as_numbers
from jury_adapters.calibration.resampling import DEFAULT, Resampling, distinct, ratio_of, summed
from jury_adapters.calibration.types import MISSING, Bools, Floats
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.formatting import counted
from jury_adapters.core.incomplete_beta import incomplete_beta
from jury_adapters.core.model_families import family_of, model_name

_NAMES = {"model": "self-preference", "family": "vendor preference"}
_MOST_NAMED = 3
_UNLABELLED = "without human labels, the answers may differ in quality, which cannot be told from a preference"
_LEVEL = 0.05
_ROUNDING = 1e-12


def self_preference(
    votes: Votes, *, match: Literal["model", "family"] = "model", resampling: Resampling = DEFAULT
) -> tuple[Estimate, ...]:
    """Return, per juror whose model or vendor also wrote answers, how much more lenient to them it is than the others.

    The value is the difference in differences, within each gold label: the juror's votes minus those of another juror,
    on its own answers, minus the same on the answers of other models. A vote counts 1 for PASS and 0 otherwise, or as
    its number. It is the mean over its *reference*, all other jurors that judged answers on both sides and are neutral
    about them: answers that a juror's own vendor wrote do not count where it is the other juror. So each is compared
    on the same terms on both sides. Otherwise, a strict juror that leaves the reference on one side only would look
    like a preference of the other jurors. The mean is weighted by ``own * other / (own + other)`` of the numbers of
    answers.

    Without gold labels, there is one number over all items, which better answers can raise too.

    Args:
        votes: a batch whose items have a known generator; others do not count.
        match: an answer is a juror's own if the same ``"model"`` wrote it, regardless of the vendor that serves it
            (``"openai:gpt-4o"`` is ``"gpt-4o"``). With ``"family"``, another model of its vendor wrote it: the estimate
            is then called *vendor preference*, and excludes the answers of the juror's own model.
        resampling: number of draws and seed; groups are drawn together.

    Returns:
        One estimate per juror and gold label; above 0 the juror favours its own answers. It has no value without a
        reference. No interval below 30 answers on either side. The interval excludes 0 only if a test of the difference
        has p < 0.05: Student's t test of the sums over groups, with the degrees of freedom of their effective number
        (``sum(s^2)^2 / sum(s^4) - 1``), so that a few votes alone are never significant. Details: ``gold``, ``own`` and
        ``other`` (numbers of items), ``reference`` (the names of its jurors).

    Raises:
        ConfigurationError: the labels have no PASS meaning (give ``pass_label``).

    Sources: A. Panickssery, S. R. Bowman and S. Feng (2024), *LLM Evaluators Recognize and Favor Their Own
    Generations*, for the bias; J. D. Angrist and J.-S. Pischke (2009), *Mostly Harmless Econometrics*, section 5.2, for
    differences in differences, in which the compared ones are the same on both sides. Simulated false alarms:
    ``tests/simulations/alarms_of_preferences.py``.
    """
    if match not in _NAMES:
        raise ConfigurationError(unknown("match", match, tuple(_NAMES)))
    points = as_numbers(votes, votes.codes)
    if points is None:
        raise ConfigurationError("self-preference needs numbers, or to know which label means PASS: pass_label='valid'")
    of_model, of_vendor = _by_model(votes), _by_vendor(votes)
    wrote = of_model if match == "model" else of_vendor & ~of_model
    if match == "family":
        points = np.where(of_model, np.nan, points)  # a judge is not neutral about its own answers
    classes: list[int | None] = list(np.unique(votes.gold[votes.gold != MISSING]).tolist()) or [None]
    found = [
        _preference(votes, side, match=match, code=code, resampling=resampling)
        for side in _sides(votes, points, wrote, of_model | of_vendor)
        for code in classes
    ]
    own = {"model": "model", "family": "vendor"}[match]
    return tuple(found) or (undefined(_NAMES[match], 0, f"no juror judged an answer of its own {own}"),)


class _Side(NamedTuple):
    """Answers of a juror's own and of others, and the jurors with which it is compared on both.

    Attributes:
        column: the juror.
        own: whether each answer is its own.
        other: whether each answer is one of the others.
        differences: items x jurors: its vote minus that of each neutral juror; NaN without both.
    """

    column: int
    own: Bools
    other: Bools
    differences: Floats


def _sides(votes: Votes, points: Floats, wrote: Bools, kin: Bools) -> Iterator[_Side]:
    """Yield the sides of each juror that wrote an answer.

    Args:
        votes: the batch.
        points: items x jurors: the votes as numbers; NaN without one.
        wrote: items x jurors: whether an answer is the juror's own.
        kin: items x jurors: whether the juror's model or its vendor wrote the answer.
    """
    known: Bools = np.array([generator is not None for generator in votes.generators], dtype=np.bool_)
    for column in np.flatnonzero(wrote.any(axis=0)).tolist():
        voted = known & ~np.isnan(points[:, column])
        neutral = np.where(kin, np.nan, points)
        neutral[:, column] = np.nan
        own, other = voted & wrote[:, column], voted & ~wrote[:, column]
        yield _Side(column, own, other, points[:, [column]] - neutral)


class _Compared(NamedTuple):
    """Difference in differences between a juror and its reference.

    Attributes:
        reference: the jurors of the reference.
        value: the mean of the differences in differences; None without a reference.
        interval: its interval.
        own: number of the juror's own answers that count.
        other: number of the other answers that count.
    """

    reference: list[int]
    value: float | None
    interval: Interval | None
    own: int
    other: int


def _compare(votes: Votes, side: _Side, counts: Bools, how: Resampling) -> _Compared:
    both = ~np.isnan(side.differences) & counts[:, None]
    own, other = both & side.own[:, None], both & side.other[:, None]
    n_own, n_other = own.sum(axis=0).astype(np.float64), other.sum(axis=0).astype(np.float64)
    reference = np.flatnonzero((n_own > 0) & (n_other > 0))
    numbers = int(own.any(axis=1).sum()), int(other.any(axis=1).sum())
    if not len(reference):
        return _Compared([], None, None, *numbers)
    own, other, n_own, n_other = own[:, reference], other[:, reference], n_own[reference], n_other[reference]
    numbers = int(own.any(axis=1).sum()), int(other.any(axis=1).sum())
    weights = n_own * n_other / (n_own + n_other)
    weights /= weights.sum()
    values = np.where(own | other, side.differences[:, reference], 0.0)
    columns = np.concatenate([values * own, own, values * other, other], axis=1)
    sums, kinds = distinct(summed(columns.astype(np.float64), votes.groups))

    def statistic(drawn: Floats) -> Floats:
        mine, n_mine, theirs, n_theirs = np.split(drawn @ sums, 4, axis=1)
        means: Floats = (ratio_of(mine, n_mine) - ratio_of(theirs, n_theirs)) @ weights
        return means

    value = float(statistic(kinds[None, :].astype(np.float64))[0])
    if min(numbers) < FEW_ITEMS:
        return _Compared(reference.tolist(), value, None, *numbers)
    centred = np.where(own | other, values - values.sum(axis=0) / (n_own + n_other), 0.0)
    scores = ((own / n_own - other / n_other) * centred) @ weights
    interval = how.interval(kinds, statistic)[0]
    if interval is not None and _p_value(summed(scores[:, None], votes.groups)[:, 0]) >= _LEVEL:
        interval = min(interval[0], 0.0), max(interval[1], 0.0)
    return _Compared(reference.tolist(), value, interval, *numbers)


def _p_value(scores: Floats) -> float:
    """Return the two-sided p value of the hypothesis that independent scores have a mean of 0."""
    squares = np.square(scores)
    if not squares.any():
        return 1.0
    freedom = float(squares.sum() ** 2 / np.square(squares).sum()) - 1
    statistic = float(scores.sum() ** 2 / squares.sum())
    if freedom <= 0 or statistic <= _ROUNDING:
        return 1.0
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + statistic))


def _preference(votes: Votes, side: _Side, *, match: str, code: int | None, resampling: Resampling) -> Estimate:
    juror, name = votes.jurors[side.column], _NAMES[match]
    mine, theirs = ("its own answers", "those of other models")
    if match == "family":
        vendor = family_of(votes.models[side.column] or juror)
        mine, theirs = f"answers of its vendor ({vendor})", "those of other vendors"
    label = None if code is None else str(votes.labels[code])
    among = "" if label is None else f" among the items with the human label {label!r}"
    counts: Bools = side.own | side.other if code is None else (side.own | side.other) & (votes.gold == code)
    found = _compare(votes, side, counts, resampling)
    if found.value is None:
        sides = f"{mine}{among}", f"{theirs.replace('those', 'answers')}{among}"
        why = _why_none(juror, side, counts, sides, len(votes.jurors))
        return undefined(name, int(counts.sum()), why if counts.any() else f"{why}{among}", subject=juror)
    names, fewest = [votes.jurors[at] for at in found.reference], min(found.own, found.other)
    size = number(abs(found.value))
    treats = f"treats {mine} like {theirs}"
    if size != number(0):
        treats = f"is {size} {'kinder' if found.value > 0 else 'stricter'} to {mine} than to {theirs}"
    certainty = whether_chance(found.interval, fewest)
    sentence = f"Compared with {_named(names, votes)}, {juror} {treats}{among}, {certainty}."
    warned = () if label is not None else (_UNLABELLED,)
    return Estimate(
        name, found.value, found.own + found.other, found.interval, sentence, (*warned, *few(fewest)), subject=juror,
        details={"gold": label, "own": found.own, "other": found.other, "reference": list(names)},
    )  # fmt: skip


def _why_none(juror: str, side: _Side, counts: Bools, names: tuple[str, str], jurors: int) -> str:
    """Return why a juror cannot be compared.

    Args:
        juror: its name.
        side: its answers and those of others.
        counts: the items that count.
        names: the words for its own answers and for the others.
        jurors: the number of all jurors.
    """
    own, other = bool((side.own & counts).any()), bool((side.other & counts).any())
    if not (own and other):
        what = f"only {names[0] if own else names[1]}" if own or other else "nothing"
        return f"{juror} judged {what}"
    if jurors == 1:
        return "there is no other juror to compare it with"
    return (
        "no other juror judged answers on both sides without being of a vendor that wrote them, so none is a neutral "
        "reference; ask a juror of another vendor too"
    )


def _named(reference: list[str], votes: Votes) -> str:
    if len(reference) == len(votes.jurors) - 1:
        return "the other jurors"
    if len(reference) <= _MOST_NAMED:
        return " and ".join(part for part in (", ".join(reference[:-1]), reference[-1]) if part)
    return counted(len(reference), "juror of another vendor", "jurors of other vendors")


def _by_model(votes: Votes) -> Bools:
    """Return items x jurors: whether the juror's model wrote the answer."""
    models = [model or juror for juror, model in zip(votes.jurors, votes.models, strict=True)]
    known = [{model_name(model), model_name(juror)} for model, juror in zip(models, votes.jurors, strict=True)]
    wrote = [None if generator is None else model_name(generator) for generator in votes.generators]
    return _table([[generator in names for names in known] for generator in wrote], votes)


def _by_vendor(votes: Votes) -> Bools:
    """Return items x jurors: whether a model of the juror's vendor wrote the answer."""
    kin = [family_of(model or juror) for juror, model in zip(votes.jurors, votes.models, strict=True)]
    of = [family_of(generator) for generator in votes.generators]
    return _table([[family is not None and family == own for own in kin] for family in of], votes)


def _table(rows: list[list[bool]], votes: Votes) -> Bools:
    return np.array(rows, dtype=np.bool_).reshape(votes.codes.shape)
