"""Reliabilities without labels, or with a few: the EM algorithm of Dawid and Skene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jury_adapters.calibration.quality import quality
from jury_adapters.calibration.reliabilities import Reliabilities, normalised, one_hot
from jury_adapters.calibration.shared_errors import AlikePair, alike_pairs
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints, Value
from jury_adapters.calibration.unsaid_labels import said_labels
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.formatting import counted, percent

_SLIGHT = 0.2  # Cohen's kappa up to which agreement is called slight (Landis and Koch 1977)
_FEWEST_ITEMS = 30


@dataclass(frozen=True, eq=False, slots=True)
class DawidSkene:
    """Estimates of the truth and of the jurors' reliability from votes.

    Attributes:
        labels: the labels, in the order of the columns of ``posterior``.
        posterior: items x labels: the probability of each label. Over-confident where jurors err together.
        reliabilities: prior and confusion matrices, for a Bayes or weighted vote on other items.
        rounds: the number of rounds of the EM.
        converged: False if it stopped at the round limit.
        n_eff: the effective number of independent votes of the panel, ``n / (1 + (n - 1) phi)``; phi is the mean
            correlation of two jurors' errors. Errors are those against human labels if these were kept (``clamp``), and
            else those against the solution: the number is then too high, up to all jurors where a pair of them errs
            alike. :func:`~jury_adapters.calibration.effective_votes` gives the one against labels. None if the votes do
            not determine it.
        warnings: warnings about the use of the estimates; empty if there are none.
    """

    labels: tuple[Value, ...]
    posterior: Floats = field(repr=False)
    reliabilities: Reliabilities = field(repr=False)
    rounds: int
    converged: bool
    n_eff: float | None
    warnings: tuple[str, ...] = ()

    @property
    def codes(self) -> Ints:
        """Most probable label per item, as a position in ``labels``."""
        best: Ints = self.posterior.argmax(axis=1)
        return best

    @property
    def predicted(self) -> tuple[Value, ...]:
        """Most probable label per item."""
        return tuple(self.labels[code] for code in self.codes.tolist())


def dawid_skene(
    votes: Votes,
    *,
    clamp: bool = True,
    diagonal: float = 2.0,
    smoothing: float = 0.01,
    trusted: str | None = None,
    tolerance: float = 1e-5,
    rounds: int = 100,
) -> DawidSkene:
    """Estimate the truth and the reliability of each juror, from votes alone or with a few labels.

    EM (Dawid and Skene 1979). Start: ``T_il`` = share of the votes for ``l``. Then in turn ``p_l = mean_i T_il``,
    ``pi_j[l, v] = (sum_i T_il 1{x_ij = v} + s + d 1{v = l}) / (the same summed over v)``, and
    ``ln T_il = ln p_l + sum over votes of ln pi_j[l, x_ij]``, normalised, until no ``T`` moves by more than the
    tolerance. If most jurors are wrong, it converges to the wrong solution; a few labels, a trusted juror to compare
    with, and the diagonal prior protect against that.

    It assumes that jurors err independently. Jurors that err alike agree more than this allows, and the solution may
    follow them although most jurors are right. Labels of a few items do not change that. A warning says where the votes
    contradict the assumption (:func:`~jury_adapters.calibration.shared_errors.alike_pairs`). Those of three jurors with
    two labels never do, so they show nothing.

    Args:
        votes: items x jurors.
        clamp: whether to keep the human labels (``votes.gold``) fixed, and learn from them. False leaves them
            unused.
        diagonal: ``d``, pseudo-votes by which each juror starts out right; 0 for the textbook algorithm.
        smoothing: ``s``, pseudo-votes per cell, above 0.
        trusted: a juror known to be good. It is treated like the others, but a solution that hardly agrees
            with it gets a warning.
        tolerance: stop when no probability moves by this much.
        rounds: the maximum number of rounds.

    Raises:
        ConfigurationError: there are no votes or fewer than two labels, or an option is out of range.

    >>> votes = Votes.from_rows([["PASS"] * 3, ["FAIL"] * 3, ["PASS", "PASS", "FAIL"]] * 20)
    >>> dawid_skene(votes).predicted[:3]
    ('PASS', 'FAIL', 'PASS')
    """
    _check(votes, trusted)
    _check_options(diagonal=diagonal, smoothing=smoothing, tolerance=tolerance, rounds=rounds)
    size = len(votes.labels)
    known = (votes.gold != MISSING) & clamp
    truth = _start(votes, known)
    cells = one_hot(votes.codes, size).reshape(len(votes.items), -1)  # items x (jurors * labels)
    pull = smoothing + diagonal * np.eye(size)
    taken, converged = 0, False
    while taken < rounds and not converged:
        taken += 1
        prior, confusions = _maximised(truth, cells, pull)
        expected = _expected(prior, confusions, cells)
        expected[known] = truth[known]
        converged = bool(np.abs(expected - truth).max() < tolerance)
        truth = expected
    prior, confusions = _maximised(truth, cells, pull)
    codes: Ints = truth.argmax(axis=1)
    n_eff = independent_votes(votes, said_labels(votes).gold if known.any() else codes)
    found = _reliabilities(votes, truth, prior, confusions)
    warnings = [] if converged else ["the EM stopped at the round limit before it converged"]
    warnings += _warnings(votes, codes, known, trusted, n_eff)
    warnings += _alike(alike_pairs(votes, truth, confusions), None if known.any() else n_eff)
    return DawidSkene(votes.labels, truth, found, taken, converged, n_eff, tuple(warnings))


def independent_votes(votes: Votes, truth: Ints) -> float | None:
    """Return the effective number of independent votes of a panel: ``n / (1 + (n - 1) phi)``.

    ``phi`` is the mean correlation of two jurors' errors, over the pairs for which it is defined. Against human labels,
    this is the number to rely on; against a consensus it is too high, because shared errors vanish from it.

    Args:
        votes: items x jurors.
        truth: the codes to compare the votes with; -1 if unknown.

    Returns:
        None if no pair of jurors has errors to correlate.
    """
    jurors = len(votes.jurors)
    wrong = np.where(votes.answered & (truth != MISSING)[:, None], votes.codes != truth[:, None], np.nan)
    both = ~np.isnan(wrong)
    values = np.where(both, wrong, 0.0)
    seen = both.astype(np.float64)
    n = seen.T @ seen
    first = values.T @ seen  # errors of the row's juror, on the items that both judged
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first / n
        covariance = values.T @ values / n - mean * mean.T
        phi = covariance / np.sqrt(mean * (1 - mean) * (mean * (1 - mean)).T)
    pairs = phi[np.triu_indices(jurors, 1)]
    pairs = pairs[np.isfinite(pairs)]
    if not len(pairs):
        return None
    # Jurors whose errors cancel may be worth more than their number, but this cannot be relied on.
    return float(jurors / (1 + (jurors - 1) * max(0.0, float(pairs.mean()))))


def _start(votes: Votes, known: Bools) -> Floats:
    """Return the shares of the votes; items without votes are open, labelled ones have their human label."""
    counts = votes.counts().astype(np.float64)
    cast = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.where(cast > 0, counts / np.maximum(cast, 1), 1 / counts.shape[1])
    shares[known] = one_hot(votes.gold[known], counts.shape[1])
    return shares


def _maximised(truth: Floats, cells: Floats, pull: Floats) -> tuple[Floats, Floats]:
    """Return the base rates and, per juror, the confusion matrix that fit the current truth."""
    size = truth.shape[1]
    counts = (truth.T @ cells).reshape(size, -1, size).transpose(1, 0, 2) + pull
    # A label that holds for no item keeps a tiny probability, so that its logarithm stays finite.
    prior = np.maximum(truth.mean(axis=0), np.finfo(np.float64).tiny)
    return prior, counts / counts.sum(axis=2, keepdims=True)


def _expected(prior: Floats, confusions: Floats, cells: Floats) -> Floats:
    evidence = np.log(confusions).transpose(0, 2, 1).reshape(-1, len(prior))
    return normalised(np.log(prior) + cells @ evidence)


def _reliabilities(votes: Votes, truth: Floats, prior: Floats, confusions: Floats) -> Reliabilities:
    votes_as_cells = one_hot(votes.codes, len(votes.labels))
    right = np.einsum("il,ijl->j", truth, votes_as_cells, optimize=True)
    n = votes.answered.sum(axis=0).astype(np.float64)
    return Reliabilities(
        votes.jurors, votes.labels, prior, confusions, (right + 1) / (n + 2), n, votes.pass_label
    )  # fmt: skip


def _warnings(votes: Votes, codes: Ints, known: Bools, trusted: str | None, n_eff: float | None) -> list[str]:
    found = []
    if len(votes.items) < _FEWEST_ITEMS:
        found.append(f"only {len(votes.items)} items; confusion matrices from so few are guesses")
    if trusted is not None:
        judged = np.where(known, MISSING, votes.codes[:, votes.jurors.index(trusted)])
        kappa = quality(codes, judged).kappa if (judged != MISSING).any() else None
        if kappa is not None and kappa <= _SLIGHT:
            found.append(
                f"the solution hardly agrees with the trusted {trusted} (kappa {kappa:.2f}): the others may have "
                "pulled it to the wrong side; label a few items, or use the trusted juror alone"
            )
    if n_eff is not None and n_eff < 2:
        against = "human labels" if known.any() else "the solution itself"
        found.append(
            f"the {len(votes.jurors)} jurors are worth {n_eff:.1f} independent votes (errors against {against}): "
            "the posterior is over-confident, so rank by it and do not read it as a probability"
        )
    return found


def _alike(pairs: Sequence[AlikePair], by_solution: float | None) -> list[str]:
    """Return the warning about pairs; ``by_solution`` is the number of votes by errors against the solution."""
    if not pairs:
        return []
    (one, other), agreed, allowed = pairs[0]
    more = f" (and {counted(len(pairs) - 1, 'more pair')})" if len(pairs) > 1 else ""
    too_high = "" if by_solution is None else f", and the number of independent votes ({by_solution:.1f}) is too high"
    return [
        f"{one} and {other}{more} agree on {percent(agreed)} of their items, and independent errors allow "
        f"{percent(allowed)}, so some jurors err together, these two or others: the solution may follow those that do "
        f"and be wrong{too_high}; label items and learn from these alone (fit_reliabilities), and see which jurors err "
        "together (effective_votes)"
    ]


def _check(votes: Votes, trusted: str | None) -> None:
    if not votes.answered.any():
        raise ConfigurationError("there are no votes to learn from")
    if len(votes.labels) < 2:
        raise ConfigurationError("Dawid-Skene needs at least 2 labels; name the whole scale with labels=")
    if trusted is not None and trusted not in votes.jurors:
        raise ConfigurationError(unknown("trusted juror", trusted, votes.jurors))


def _check_options(*, diagonal: float, smoothing: float, tolerance: float, rounds: int) -> None:
    for what, value, fits, wanted in (
        ("diagonal", diagonal, diagonal >= 0, "from 0"),
        ("smoothing", smoothing, smoothing > 0, "above 0"),
        ("tolerance", tolerance, tolerance > 0, "above 0"),
        ("rounds", rounds, rounds >= 1, "from 1"),
    ):
        if not fits:
            raise ConfigurationError(f"{what} is a number {wanted}, not {plain_repr(value)}")
