"""Figure, the result of every analysis, and its interval: one bootstrap for all, and Wilson's interval for shares.

A figure is a function of the sums of columns over cases, so one bootstrap serves all figures. Cases of one group, such
as the answers to one question, are alike. They count as fewer independent cases, in the bootstrap as in Wilson's
interval.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special  # scipy.stats would take 70 MiB

from jury_adapters.core.text import visible

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Texts = NDArray[np.str_]
Interval = tuple[float, float]
Finish = Callable[[Floats], Floats]
"""A statistic of sums: takes draws x columns, returns one value per draw; NaN where it is undefined."""

FEW = 30  # cases or groups, below which an interval is rough
LEVEL = 0.05
DRAWS = 1000
Z = float(special.ndtri(1 - LEVEL / 2))
_NUMBERS = 20_000_000  # random numbers of one bootstrap; of very many different rows there are fewer draws
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Figure:
    """Result of an analysis: a number with its interval, or the reason why there is none.

    Attributes:
        name: what was measured, such as ``accuracy``.
        value: the number; None if it is undefined, and the note then says why.
        n: the number of cases behind it.
        interval: the 95 % interval; None if there are too few cases for one.
        of: whose figure it is, such as a juror.
        note: what a reader must know beside the number.
        details: further numbers, as JSON values.

    >>> print(Figure("accuracy", 0.75, 40, (0.598, 0.858), of="GPT-4"))
    GPT-4: accuracy 0.750 [0.598, 0.858] (n = 40)
    """

    name: str
    value: float | None
    n: int
    interval: Interval | None = None
    of: str = ""
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        subject = f"{visible(self.of)}: " if self.of else ""
        note = f"; {visible(self.note, 400)}" if self.note else ""
        return f"{subject}{visible(self.name)} {' '.join(filter(None, self.texts))} (n = {self.n:,}){note}"

    @property
    def texts(self) -> tuple[str, str]:
        """The value and the interval with three decimals: a dash for no value, nothing for no interval."""
        return (
            "-" if self.value is None else decimals(self.value),
            "" if self.interval is None else f"[{', '.join(map(decimals, self.interval))}]",
        )


def decimals(number: float) -> str:
    """Return a number with three decimals.

    >>> decimals(2 / 3), decimals(-0.0001)
    ('0.667', '0.000')
    """
    return f"{round(number, 3) + 0.0:.3f}"


def undefined(name: str, n: int, why: str, *, of: str = "") -> Figure:
    """Return a figure without a value, with the reason."""
    return Figure(name, None, n, of=of, note=why)


def join_notes(*parts: str) -> str:
    """Return the one note of a figure, of parts that may be empty."""
    return "; ".join(filter(None, parts))


def figure(
    name: str,
    items: Floats,
    finish: Finish,
    groups: Ints,
    *,
    added: Sequence[Sequence[float]] | Floats = (),
    chances: Sequence[float] = (),
    bounds: Interval = (-np.inf, np.inf),
    kind: int | None = None,
    of: str = "",
    note: str = "",
    details: Mapping[str, Any] | None = None,
) -> Figure:
    """Return a statistic of the column sums, with the 95 % percentile interval of the bootstrap.

    A draw has as many cases as the sample has *effective* cases: its cases, over the design effect of what each case
    moves. Of independent cases these are all. The quantiles of the draws move away from the value by :func:`widening`.

    A sample without a disagreement would have only draws without one, and a point as its interval. So draws may also
    contain ``added`` items, as Agresti and Coull add two successes and two failures to a share.

    Args:
        name: the name of the figure.
        items: cases x columns.
        finish: the statistic; see :data:`Finish`.
        groups: the group of each case.
        added: items x columns, which only draws have.
        chances: how often each added item is drawn, relative to an effective case.
        bounds: the lowest and the highest possible value.
        kind: the column with the kind of a case, 0 or 1, if one kind moves the statistic further than the other.
        of: whose figure it is.
        note: the note of the figure.
        details: its details.

    Sources: B. Efron and R. J. Tibshirani (1993), *An Introduction to the Bootstrap*; A. Agresti and B. A. Coull
    (1998), *Approximate is better than "exact" for interval estimation of binomial proportions*.
    """
    n = len(items)
    value = float(finish(items.sum(axis=0)[None])[0]) if n else np.nan
    if not np.isfinite(value):
        return undefined(name, n, join_notes("too few cases" if n < 2 else "the cases do not vary", note), of=of)
    place = np.zeros(n, dtype=np.int64)  # of a row among the different ones; column by column takes little memory
    for column in items.T:
        found = place * n + np.unique(column.round(9), return_inverse=True)[1]
        first, place, counts = np.unique(found, return_index=True, return_inverse=True, return_counts=True)[1:]
    rows = np.vstack([items[first].round(9), np.asarray(added, dtype=np.float64).reshape(-1, items.shape[1])])
    moves, interval = influence(finish, items, rows), None
    kinds, times = (0 * moves if kind is None else rows[:, kind]).astype(np.int64), np.append(counts, [1] * len(added))
    squares = np.bincount(kinds, times * moves**2) / np.maximum(np.bincount(kinds, times), 1)
    far, usual = float(np.abs(moves).max()), np.sqrt(squares[kinds])
    size = max(2, round(n / design_effect(moves[place], groups, far, weights=usual[place])))
    drawn = _draws(finish, rows, np.concatenate([counts * (size / n), chances]), size)
    if len(drawn) and len(np.unique(groups)) > 1:
        ends = value + widening(groups) * (np.quantile(drawn, (LEVEL / 2, 1 - LEVEL / 2)) - value)
        low, high = np.clip(ends, *bounds).tolist()
        interval = (min(low, value), max(high, value))
    return Figure(name, value, n, interval, of, join_notes(note, few(groups)), details or {})


def table(figures: Iterable[Figure]) -> str:
    """Return figures as a text table: whose, name, value, interval, n and note.

    >>> print(table([Figure("accuracy", 0.75, 40, (0.598, 0.858), of="GPT-4"), Figure("pass rate", None, 0)]))
    of     figure     value  95 % interval    n  note
    GPT-4  accuracy   0.750  [0.598, 0.858]  40
           pass rate      -                   0
    """
    cells = [
        ("of", "figure", "value", "95 % interval", "n", "note"),
        *((one.of, one.name, *one.texts, f"{one.n:,}", one.note) for one in figures),
    ]
    rows = [[visible(cell, 400) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map("{:{}{}}".format, row, "<<><><", widths)).rstrip() for row in rows)


def usual_disagreement(apart: Floats, most: float) -> float:
    """Return the mean of the observed disagreements and one more of size ``most``, as a share of ``most``, up to 1.

    Scores rarely differ by much: added disagreements of the largest size would outweigh those observed.
    """
    return min(1.0, (float(apart.sum()) / most + 1) / (np.count_nonzero(apart > _TINY) + 1))


def influence(finish: Finish, items: Floats, by: Floats) -> Floats:
    """Return how far each row would move a statistic of items: its influence, by a central difference.

    Source: Efron and Tibshirani (1993), section 21.3.
    """
    sums = items.sum(axis=0)
    return np.asarray(np.nan_to_num(50 * (finish(sums + by / 100) - finish(sums - by / 100))), dtype=np.float64)


def _draws(finish: Finish, rows: Floats, weights: Floats, size: int) -> Floats:
    """Return the statistic of draws of so many rows, as far as it is defined."""
    draws = int(np.clip(_NUMBERS // len(rows), DRAWS // 5, DRAWS))
    generator, block = np.random.default_rng(0), max(1, 1_000_000 // len(rows))
    parts = [
        finish(generator.multinomial(size, weights / weights.sum(), min(block, draws - start)) @ rows)
        for start in range(0, draws, block)
    ]
    return np.concatenate([part[np.isfinite(part)] for part in parts])


def mean(sums: Floats) -> Floats:
    """Return the mean of a column of values beside a column of ones."""
    return over(sums[:, 0], sums[:, 1])


def share(
    name: str, hits: Bools, among: Bools, groups: Ints, *, of: str = "", undecided: int = 0, note: str = ""
) -> Figure:
    """Return the share of hits among cases, with Wilson's interval for the number of effective cases.

    Args:
        name: the name of the figure.
        hits: per case, whether it is one.
        among: per case, whether it counts.
        groups: the group of each case.
        of: whose figure it is.
        undecided: the number of cases that would count, but are not decided. They are left out, and the note has the
            bounds of the share of all: if none of them were a hit, and if all were.
        note: the note of the figure.

    Sources: :func:`wilson`, :func:`effective_cases`.
    """
    n, total, every = int(among.sum()), int((hits & among).sum()), int(among.sum()) + undecided
    details: dict[str, Any] = {"hits": total}
    if undecided:
        details |= {"undecided": undecided, "bounds": [total / every, (total + undecided) / every]}
        low, high = map(decimals, details["bounds"])
        note = join_notes(note, f"{undecided:,} of {every:,} undecided: {low} to {high} of all")
    if not n:
        return undefined(name, 0, join_notes("no such case", note), of=of)
    effective = effective_cases(hits[among].astype(np.float64), groups[among])
    interval = wilson(total / n * effective, effective)
    return Figure(name, total / n, n, interval, of, join_notes(note, few(groups[among])), details)


def wilson(hits: float, n: float) -> Interval:
    """Return Wilson's 95 % interval of a share; 0 to 1 without cases.

    Args:
        hits: the number of hits, from 0 to ``n``; it need not be whole.
        n: the number of cases.

    Source: E. B. Wilson (1927), *Probable inference, the law of succession, and statistical inference*.

    >>> [round(end, 3) for end in wilson(30, 40)]
    [0.598, 0.858]
    """
    if n <= 0:
        return 0.0, 1.0
    centre, half = hits + Z**2 / 2, Z * sqrt(max(0.0, hits * (n - hits) / n) + Z**2 / 4)
    return (0.0 if hits <= 0 else (centre - half) / (n + Z**2)), (1.0 if hits >= n else (centre + half) / (n + Z**2))


def effective_cases(values: Floats, groups: Ints) -> float:
    """Return the number of independent cases whose share would be as precise as that of these cases in groups.

    It is ``n / design_effect / widening^2``: at most n, and n for independent cases.

    Args:
        values: one per case, in 0..1; at least one.
        groups: the group of each case.

    Source: E. L. Korn and B. I. Graubard (1998), *Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data*.
    """
    farthest = max(float(values.mean()), 1 - float(values.mean()))
    return len(values) / design_effect(values, groups, farthest, more=4) / widening(groups) ** 2


def design_effect(
    moves: Floats, groups: Ints, farthest: float, more: float = 1.0, weights: Floats | None = None
) -> float:
    """Return by how much groups make the variance of a statistic larger than that of independent cases; at least 1.

    It is the larger of the variance between groups over that of independent cases, and of ``1 + (m - 1) rho``. There m
    is the size of a case's group on average, and rho the correlation of two cases of one group, over all such pairs. If
    cases have weights, m is ``sum(w_g^2) / sum(w^2)``, where w_g is the weight of a group. Rare values occur in few
    groups, so the first is often far too small. Hence rho is that of the sample and of ``more`` cases with the farthest
    value, each in a group of m equal cases.

    Args:
        moves: how far each case moves the statistic.
        groups: the group of each case.
        farthest: how far a case can move it.
        more: four for a share; one for the bootstrap, which has added items of its own.
        weights: how far each case is expected to move it: cases with a label move a corrected rate further than others.

    Sources: L. Kish (1965), *Survey Sampling*; M. S. Ridout, C. G. B. Demétrio and D. Firth (1999), *Estimating
    intraclass correlation for binary data*; S. Gabler, S. Häder and P. Lahiri (1999), *A model based justification of
    Kish's formula for design effects for weighting and clustering*.
    """
    n, apart = len(moves), moves - moves.mean()
    weights = np.ones(n) if weights is None else np.maximum(weights / (weights.max() or 1.0), _TINY)
    heights, totals, squares, scaled = sums_by_group(
        np.column_stack([weights, apart, apart**2, apart**2 / weights]), groups
    ).T
    units, size, spread = len(heights), float((heights**2).sum() / (weights**2).sum()), float(squares.sum())
    if units < 2:
        return float(n)
    between = units / (units - 1) * float((totals**2).sum()) * (n - 1) / n / spread if spread > _TINY**2 else 0.0
    extreme = more * (size - 1) * farthest**2
    pairs = extreme + float((heights * scaled - squares).sum())
    alike = (extreme + float((totals**2 - squares).sum())) / pairs if pairs > _TINY**2 else 1.0
    return max(1.0, between, 1 + (size - 1) * min(1.0, max(0.0, alike)))


def widening(groups: Ints) -> float:
    """Return by how much an interval widens because its variance is estimated from few groups; at least 1.

    It is ``t(K - 1) / t(n - 1)``, with the 0.975 quantiles of Student's distribution and the effective number of groups
    ``K = n^2 / sum(n_g^2)``.

    Source: A. V. Carter, K. T. Schnepel and D. G. Steigerwald (2017), *Asymptotic behavior of a t-test robust to
    cluster heterogeneity*.
    """
    effective = len(groups) ** 2 / (np.unique(groups, return_counts=True)[1] ** 2).sum()
    few_units, all_units = special.stdtrit([max(1.0, effective - 1), max(1.0, len(groups) - 1)], 1 - LEVEL / 2)
    return float(few_units / all_units)


def with_test(found: Figure, p_value: float) -> Figure:
    """Return a figure whose interval excludes 0 only if a test does; the details have its p value."""
    low, high = found.interval or (0.0, 0.0)
    wide = (min(low, 0.0), max(high, 0.0)) if p_value >= LEVEL else (low, high)
    return replace(found, interval=found.interval and wide, details={**found.details, "p_value": p_value})


def zero_test(moves: Floats, groups: Ints) -> float:
    """Return the two-sided p value of the hypothesis that independent sums of groups have a mean of 0.

    It is Student's t test with ``sum(s^2)^2 / sum(s^4) - 1`` degrees of freedom: a few large sums, which may all have
    one sign by chance, never suffice.

    Args:
        moves: one number per case, whose sum is tested.
        groups: the group of each case.
    """
    sums = sums_by_group(moves[:, None], groups)[:, 0]
    return student(float(over(sums.sum(), np.sqrt((sums**2).sum()))), sums)


def student(t: float, sums: Floats) -> float:
    """Return the two-sided p value of a t whose degrees of freedom are the effective number of sums, less 1.

    A t that is NaN, of sums that are all 0, is no evidence: p is 1.
    """
    squares = (sums / (np.abs(sums).max(initial=0.0) or 1.0)) ** 2
    freedom = float(squares.sum() ** 2 / max(float((squares**2).sum()), _TINY)) - 1
    return float(2 * special.stdtr(freedom, -abs(np.nan_to_num(t)))) if freedom > _TINY else 1.0


def sign_test(moves: Floats, groups: Ints) -> float:
    """Return the two-sided p value of the hypothesis that moves up and down are equally probable.

    Of independent moves of -1, 0 and 1 it is exact: that of the sign test, which is McNemar's. Else it is
    :func:`zero_test`.

    Args:
        moves: one number per case.
        groups: the group of each case.
    """
    down, up = int((moves == -1).sum()), int((moves == 1).sum())
    if len(np.unique(groups)) < len(groups) or down + up < np.count_nonzero(moves):
        return zero_test(moves, groups)
    return min(1.0, 2 * float(special.bdtr(min(down, up), max(1, down + up), 0.5)))


def sums_by_group(items: Floats, groups: Ints) -> Floats:
    """Return the sums of the rows of each group, groups x columns."""
    place = np.unique(groups, return_inverse=True)[1]
    return np.stack([np.bincount(place, weights=column) for column in items.T], axis=1)


def over(above: Floats, below: Floats) -> Floats:
    """Divide, with NaN where the divisor is not above 0."""
    out = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=out, where=below > _TINY)
    return out


def few(groups: Ints) -> str:
    """Return the note on few cases or groups; empty if there are enough."""
    units = len(np.unique(groups))
    return "" if units >= FEW else f"rough, of {units} {'cases' if units == len(groups) else 'groups'}"
