"""Effective number of independent votes of a panel, which is lower for jurors that err together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from jury_adapters.calibration.estimates import Estimate, few, number, undefined
from jury_adapters.calibration.misleading_jurors import misleading_jurors
from jury_adapters.calibration.resampling import DEFAULT, Resampling, distinct, ratio_of, summed
from jury_adapters.calibration.smoothing import Smoothed
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints, counted
from jury_adapters.calibration.unsaid_labels import said_labels
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.model_families import family_of

_TOO_FEW_VOTES = 2.0
_ENOUGH_OTHERS = 9


def effective_votes(votes: Votes, *, resampling: Resampling = DEFAULT) -> Estimate:
    """Return the effective number of independent votes, n_eff = n / (1 + (n - 1) phi), and the correlations of errors.

    phi is the mean correlation of two jurors' errors, over all pairs of jurors, each over the items that both answered.
    The bootstrap draws from the items and two more, as for kappa: one on which the jurors err in turn, and one on which
    all err. With few errors, the interval would otherwise be far too narrow.

    Args:
        votes: a batch with gold labels; items without one are left out, and so are those with one that no juror can
            give (:func:`~jury_adapters.calibration.unsaid_labels.said_labels`). Without any gold label there is no
            n_eff: see :func:`residual_agreement`. Nor is there one if :attr:`Votes.selected` names jurors: they judged
            only cases on which others disagree, so their errors go together less than those of independent jurors.
        resampling: number of draws and seed.

    Returns:
        n_eff, from 1 (all err together) to the number of jurors (errors are uncorrelated), or above it if errors
        tend to cancel. ``n`` is the number of items with a gold label and two votes or more. Details: ``jurors`` and
        the ``matrix`` of error correlations in their order, ``phi``, ``phi_within_families``, ``phi_across_families``,
        ``families`` (by juror, if the model's name shows it), ``undefined_pairs``, and ``left_out`` (the number of
        items with a gold label that no juror can give).
    """
    name = "effective number of votes"
    known = said_labels(votes)
    labelled = replace(votes, gold=known.gold).take(known.gold != MISSING)
    jurors, items = len(votes.jurors), int((labelled.answered.sum(axis=1) >= 2).sum())
    if not len(labelled.items):
        return undefined(name, 0, known.why_none)
    if jurors < 2:
        return undefined(name, items, "it takes 2 jurors")
    if votes.selected:
        return undefined(name, items, _why_selected(votes))
    wrong = (labelled.codes != labelled.gold[:, None]) & labelled.answered
    errors = np.where(labelled.answered, wrong, MISSING)
    together = _Together(_errors_of_pairs(errors), labelled.groups)
    phis = together.correlations(together.whole)[:, 0]
    if not np.isfinite(phis).any():
        return undefined(name, items, "no two jurors both err at times on the items they share")

    smoothed = Smoothed.of(errors, labelled.groups, 2, every_juror=True)
    drawn = _Together(_errors_of_pairs(smoothed.codes), smoothed.groups, alike=False)

    def n_eff(weights: Floats, of: _Together = drawn) -> Floats:
        below = 1 + (jurors - 1) * of.mean(weights)
        return ratio_of(np.full(len(below), float(jurors)), below)

    phi, value = float(together.mean(together.whole)[0]), float(n_eff(together.whole, together)[0])
    if not np.isfinite(value):
        return undefined(name, items, f"errors cancel so much (mean correlation {number(phi)}) that the formula breaks")
    families = [family_of(model or juror) for juror, model in zip(votes.jurors, votes.models, strict=True)]
    within = np.array([families[a] is not None and families[a] == families[b] for a, b in _pairs(jurors)])
    return Estimate(
        name,
        value,
        items,
        smoothed.interval(resampling, n_eff)[0],
        _worth(jurors, value, phi),
        (
            *known.warnings,
            *_dependent(value, families),
            *misleading_jurors(labelled, wrong),
            *few(items, together.units),
        ),
        details={
            "phi": phi,
            "phi_within_families": _mean_or_none(phis[within]),
            "phi_across_families": _mean_or_none(phis[~within]),
            "families": dict(zip(votes.jurors, families, strict=True)),
            "jurors": list(votes.jurors),
            "matrix": _matrix(phis, jurors),
            "undefined_pairs": int((~np.isfinite(phis)).sum()),
            "left_out": known.total,
        },
    )


def residual_agreement(votes: Votes, *, resampling: Resampling = DEFAULT) -> Estimate:
    """Return, without gold labels, how far two jurors depart together from the votes of the others.

    For each pair, the reference of an item is the label that most of the *other* jurors gave (items on which these are
    tied are left out). The value is the mean correlation of the two jurors' departures from it. The reference is
    sometimes wrong, and then both depart from it: even independent jurors get a value somewhat above 0, which is larger
    the fewer and weaker the others are. Therefore, compare pairs with each other rather than with 0. There is no value
    if :attr:`Votes.selected` names jurors.

    Returns:
        1 if jurors always depart together. Details: ``jurors``, ``matrix``,
        ``undefined_pairs``.
    """
    name = "residual agreement"
    jurors, items = len(votes.jurors), int((votes.answered.sum(axis=1) >= 3).sum())
    if jurors < 3 or not items:
        return undefined(name, items, "it takes 3 jurors: a pair, and others to compare it with")
    if votes.selected:
        return undefined(name, items, _why_selected(votes))
    together = _Together(_departures(votes), votes.groups)
    phis = together.correlations(together.whole)[:, 0]
    if not np.isfinite(phis).any():
        return undefined(name, items, "no two jurors both depart from the others at times")
    value = float(together.mean(together.whole)[0])
    at = int(np.nanargmax(phis))
    one, other = (votes.jurors[index] for index in list(_pairs(jurors))[at])
    return Estimate(
        name,
        value,
        items,
        resampling.interval(together.counts, together.mean)[0],
        f"Where two jurors depart from the others, the correlation is {number(value)} on average (1: always on the "
        f"same items, 0: independently, -1: never on the same items); it is highest for {one} and {other}, "
        f"{number(float(phis[at]))}{_or_the_third(votes.jurors, one, other)}.",
        (*_blind(jurors), *few(items, together.units)),
        details={
            "jurors": list(votes.jurors),
            "matrix": _matrix(phis, jurors),
            "undefined_pairs": int((~np.isfinite(phis)).sum()),
        },
    )


def _or_the_third(jurors: Sequence[str], one: str, other: str) -> str:
    """Return what a pair of three jurors may mean: where two agree against the third, either side may be wrong."""
    if len(jurors) > 3:
        return ""
    (third,) = (juror for juror in jurors if juror not in (one, other))
    return f": either these two err alike, or {third} errs alone where they agree"


def _why_selected(votes: Votes) -> str:
    """Return why votes that some jurors cast only where others disagree do not show whether jurors err together."""
    *others, last = [name for name in votes.jurors if name not in votes.selected] or [""]
    some = f", or take only {', '.join(others)} and {last}, which were asked about every case" if others else ""
    return (
        "a cascade or early stopping asked some jurors only where the votes before were open, and on such cases jurors "
        f"differ by construction; ask every juror about every case{some}"
    )


def _worth(jurors: int, value: float, phi: float) -> str:
    """Return the sentence on the number of votes; a negative correlation makes a panel worth more than its number."""
    worth, correlation = f"{value:.1f}", f"(correlation of errors {number(phi)})"
    if worth == f"{jurors:.1f}":
        return f"The {jurors} jurors are worth as many independent ones: their errors hardly go together {correlation}."
    if value < jurors:
        why = "they tend to be wrong on the same items"
        return f"The {jurors} jurors are worth about {worth} independent ones, because {why} {correlation}."
    why = "they tend to be wrong on different items"
    return (
        f"The {jurors} jurors are worth about {worth} independent ones, because {why} {correlation}. Do not count on "
        f"more than {jurors}: errors that cancel on these items may not cancel on the next."
    )


class _Together:
    """Correlations of paired yes/no events, for any weighting of the groups.

    Args:
        pairs: per pair of jurors: the items on which both count, and those with the event of the first and of the
            second.
        groups: one number per item.
        alike: whether alike items may become one row, of which :attr:`counts` says how often it occurs.
    """

    def __init__(self, pairs: list[tuple[Bools, Bools, Bools]], groups: Ints, *, alike: bool = True) -> None:
        columns = [[both, one & both, other & both, one & other & both] for both, one, other in pairs]
        events = np.array(columns, dtype=np.uint8).reshape(4 * len(pairs), len(groups)).T
        if not alike:
            self._sums = summed(events.astype(np.float64), groups)
            self.counts = np.ones(len(self._sums), dtype=np.int64)
        elif len(np.unique(groups)) < len(groups):
            self._sums, self.counts = distinct(summed(events.astype(np.float64), groups))
        else:  # events in single bytes, because the rows of many items are copied several times
            kinds, self.counts = distinct(events)
            self._sums = kinds.astype(np.float64)
        self.units = int(self.counts.sum())

    @property
    def whole(self) -> Floats:
        return self.counts[None, :].astype(np.float64)

    def correlations(self, weights: Floats) -> Floats:
        """Return pairs x draws; NaN if a juror has the event never or always."""
        n, one, other, joint = np.moveaxis((weights @ self._sums).reshape(len(weights), -1, 4), 2, 0)
        spread = np.sqrt(np.maximum((n - one) * one, 0.0) * np.maximum((n - other) * other, 0.0))
        return ratio_of(n * joint - one * other, spread).T

    def mean(self, weights: Floats) -> Floats:
        """Return the mean over the pairs, one per draw."""
        found = self.correlations(weights)
        known = np.isfinite(found)
        return ratio_of(np.where(known, found, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def plurality(counts: Ints) -> Ints:
    """Return, per item, the position of the label with most votes; -1 if there is none, or a tie."""
    if not counts.shape[1]:
        return np.full(len(counts), MISSING, dtype=np.int64)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(alone & (most > 0), counts.argmax(axis=1), MISSING).astype(np.int64)


def _departures(votes: Votes) -> list[tuple[Bools, Bools, Bools]]:
    counts = votes.counts()
    single = [counted(votes.codes[:, [juror]], len(votes.labels)) for juror in range(len(votes.jurors))]
    found = []
    for a, b in _pairs(len(votes.jurors)):
        said = plurality(counts - single[a] - single[b])
        both = votes.answered[:, a] & votes.answered[:, b] & (said != MISSING)
        found.append((both, votes.codes[:, a] != said, votes.codes[:, b] != said))
    return found


def _errors_of_pairs(errors: Ints) -> list[tuple[Bools, Bools, Bools]]:
    """Return the events of every pair of jurors; ``errors`` is items x jurors: 1 for an error, -1 for no vote."""
    answered, wrong = errors != MISSING, errors == 1
    return [(answered[:, a] & answered[:, b], wrong[:, a], wrong[:, b]) for a, b in _pairs(errors.shape[1])]


def _pairs(jurors: int) -> combinations[tuple[int, int]]:
    return combinations(range(jurors), 2)


def _matrix(phis: Floats, jurors: int) -> list[list[float | None]]:
    found: list[list[float | None]] = [[1.0 if a == b else None for b in range(jurors)] for a in range(jurors)]
    for (a, b), phi in zip(_pairs(jurors), phis.tolist(), strict=True):
        if np.isfinite(phi):
            found[a][b] = found[b][a] = phi
    return found


def _mean_or_none(values: Floats) -> float | None:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else None


def _blind(jurors: int) -> tuple[str, ...]:
    shared = "mistakes that all jurors share cannot be seen without human labels"
    weak = "so few other jurors are a weak reference, which lifts the number even for independent jurors"
    return (shared,) if jurors >= _ENOUGH_OTHERS + 2 else (shared, weak)


def _dependent(n_eff: float, families: list[str | None]) -> tuple[str, ...]:
    if n_eff >= _TOO_FEW_VOTES:
        return ()
    shared = set(families)
    kin = f"; they are all of one vendor family, {families[0]}" if len(shared) == 1 and None not in shared else ""
    return (
        f"the panel is worth fewer than two independent votes{kin}: a majority of it is hardly surer than one juror, "
        "and more jurors of this kind add little",
    )
