"""The true pass rate, from a few human labels and many verdicts of a jury.

The naive rate (the share that the jury passes) includes the jury's own bias. A few labels correct it:
:func:`prediction_powered_rate` if the labelled items are a random sample of the batch, :func:`rogan_gladen` if
they are not, but the jury's error rates carry over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jury_adapters.calibration.binomial import exact_interval
from jury_adapters.calibration.estimates import Estimate, Interval, few, undefined
from jury_adapters.calibration.independence import plurality
from jury_adapters.calibration.label_samples import allow_for_contradicted, left_out, withheld
from jury_adapters.calibration.pass_fail import as_pass_fail
from jury_adapters.calibration.prediction_powered import TwoMore, corrected_mean, numbered_groups
from jury_adapters.calibration.random_samples import why_not_random
from jury_adapters.calibration.types import MISSING, Floats, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.clustered_shares import GroupSum, effective_cases
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.statistics import Z95, wilson
from jury_adapters.core.values import JsonValue

LEFT_OUT = ("failed run of the application is left out", "failed runs of the application are left out")
"""Words after the number of failed runs, for one and for several."""

_PPI, _RG = "true pass rate (PPI++)", "true pass rate (Rogan-Gladen)"


def true_pass_rate(votes: Votes, *, juror: str = "", random_sample: bool = True) -> Estimate:
    """Return the share of items that humans would pass.

    It is the share in the population of which the batch is a random sample, such as all answers of a system.

    The estimate uses the gold labels and the jury's verdicts. An item on which the jury abstains counts as half a
    pass among the verdicts, and with its label among the labels, so the share covers all items. Without such items, it
    would be the share of the items that the jury finds easy.

    Args:
        votes: a batch of which some items have gold labels; ``pass_label`` is the label that means PASS, and
            ``pass_labels`` are several.
        juror: the juror whose verdicts to use; by default those of the jury itself or, if there are only votes, the
            plurality of the jurors.
        random_sample: whether the labelled items are a random sample of the batch. If they were selected otherwise
            (hard items, or as many bad as good ones), pass False: the estimate is then Rogan and Gladen's, which only
            needs the jury's error rates to be those of the whole batch. It is the share of the items that the jury
            decided, and says so; it does not use groups, and warns if there are any. Labels of all items that the jury
            fails and of some that it passes suit neither: both error rates are then those of the selection.

    Returns:
        The estimate. With ``random_sample``, it has no value if the jury passes, or decides, another share of the
        labelled items than of the others (exact test, p < 0.001;
        :func:`~jury_adapters.calibration.random_samples.random_sample_p_value`), or if reviewers contradict each other
        on more than 5 % of the items that they labelled (``votes.contradicting``); below, the interval allows for any
        label of these items. Details:
        ``naive`` (the share that the jury passes of the items it decided) and ``naive_interval``,
        ``decided`` (number of items), ``labelled`` and ``unlabelled`` (numbers of all items, or
        with ``random_sample=False`` of the decided ones), ``labelled_only`` (the rate among the labelled alone),
        ``tpr``, ``tnr``, ``rogan_gladen``, and ``rogan_gladen_interval``, which is None for items in groups. Failed
        runs of the application (``failed_runs``) are not items; they are FAIL in ``all_runs``, the rate of items and
        failed runs, with ``all_runs_interval``, which is None for items in groups. Both are None without
        ``random_sample`` and without failed runs.

    Raises:
        ConfigurationError: no label means PASS, or there is no such juror.
    """
    votes = as_pass_fail(votes)
    if votes.pass_label is None:
        raise ConfigurationError("a pass rate needs to know which label means PASS: pass_label='valid'")
    if votes.pass_code is None:
        return undefined(_PPI if random_sample else _RG, len(votes.items), "there are no votes", subject=juror)
    said, who = _passed(votes, juror)
    decided, known = said != MISSING, votes.gold != MISSING
    truth = (votes.gold == votes.pass_code).astype(np.float64)
    verdicts = np.where(decided, said, _ABSTAINED).astype(np.float64)
    fallback = _from_labels(truth[known & decided], verdicts[known & decided], verdicts[decided])
    if random_sample:
        best = prediction_powered_rate(
            truth[known], verdicts[known], verdicts[~known],
            groups=votes.groups[known], unlabelled_groups=votes.groups[~known],
        )  # fmt: skip
        selected = why_not_random(
            known, {"the verdict is PASS": said == 1, "there is a verdict": decided}, votes.groups
        )
        if selected and best.value is not None:
            best = withheld(best, selected)
        best = allow_for_contradicted(best, votes.contradicting, truth[known], verdicts[known])
    else:
        unheard = "items that belong together are counted as independent, so the interval is too narrow"
        best = replace(fallback, warnings=(*fallback.warnings, unheard)) if votes.grouped else fallback
        if votes.contradicting and best.value is not None:
            best = replace(best, warnings=(*best.warnings, left_out(votes.contradicting, bounded=False)))
    used = np.full(len(said), True) if random_sample else decided
    labels, passed, count = truth[used & known], verdicts[decided], int(decided.sum())
    extra: dict[str, JsonValue] = {
        "naive": float(passed.mean()) if count else None,
        "naive_interval": list(wilson(*_effective(passed, votes.groups[decided]))) if count else None,
        "decided": count,
        "labelled": len(labels),
        "unlabelled": int((used & ~known).sum()),
        "labelled_only": float(labels.mean()) if len(labels) else None,
        "rogan_gladen": fallback.value,
        "rogan_gladen_interval": None if fallback.interval is None or votes.grouped else list(fallback.interval),
    }
    of_all = _of_all_runs(best, votes) if random_sample else _NO_RATE
    extra |= {"failed_runs": votes.failed_runs, "all_runs": of_all.rate, "all_runs_interval": of_all.bounds}
    details = {**fallback.details, **best.details, **extra}
    sentence = best.sentence
    if best.value is not None and count < len(said):
        scope = "counts all items" if random_sample else "is that of the decided items"
        sentence = f"{sentence} The jury decided {percent(count / len(said))} of the items; this rate {scope}."
    if best.value is not None and count:
        sentence = f"{sentence} Taken at face value, {who} {percent(float(passed.mean()))}."
    if best.value is not None and votes.contradicting:
        sentence = f"{sentence} {left_out(votes.contradicting, bounded=random_sample)}."
    if best.value is not None and votes.failed_runs:
        sentence = f"{sentence} {counted(votes.failed_runs, *LEFT_OUT)}{of_all.words}."
    return Estimate(
        best.name, best.value, int(used.sum()), best.interval, sentence, best.warnings, best.reason, juror, details
    )


class _AllRuns(NamedTuple):
    """Rate of items and failed runs, of which the latter are FAIL; None if it is unknown.

    Attributes:
        rate: the rate.
        interval: its 95 % interval; None for items in groups.
        runs: the number of items and failed runs.
    """

    rate: float | None = None
    interval: Interval | None = None
    runs: int = 0

    @property
    def bounds(self) -> list[JsonValue] | None:
        return None if self.interval is None else [*self.interval]

    @property
    def words(self) -> str:
        """Clause after the number of failed runs that are left out; empty if the rate is unknown."""
        if self.rate is None:
            return ""
        span = "" if self.interval is None else f" (95 % interval {_end(self.interval[0])} to {_end(self.interval[1])})"
        return f"; if failed runs count as FAIL, about {percent(self.rate)} of all {self.runs:,} items pass{span}"


_NO_RATE = _AllRuns()


def _of_all_runs(found: Estimate, votes: Votes) -> _AllRuns:
    """Return the rate of items and failed runs, from that of the items.

    It is the product of the rate and of the share of runs that did not fail. The margins of both intervals are combined
    as for independent estimates: Zou and Donner (2008), *Construction of confidence limits about effect measures: a
    general approach*. The interval takes no account of groups of failed runs, so there is none if items have groups.
    """
    ended, runs = len(votes.items), len(votes.items) + votes.failed_runs
    if found.value is None or not votes.failed_runs:
        return _NO_RATE
    rate, share = found.value, ended / runs
    if found.interval is None or votes.grouped:
        return _AllRuns(rate * share, None, runs)
    of_rate, of_share = found.interval, wilson(ended, runs)
    low, high = (hypot(share * (rate - of_rate[side]), rate * (share - of_share[side])) for side in (0, 1))
    return _AllRuns(rate * share, (max(0.0, rate * share - low), min(1.0, rate * share + high)), runs)


def prediction_powered_rate(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabelled: ArrayLike,
    *,
    groups: Sequence[int] | Ints = (),
    unlabelled_groups: Sequence[int] | Ints = (),
) -> Estimate:
    """Return the mean of human labels (PPI++): many verdicts, corrected by their error on labelled items.

    It is the mean in the population of which the items are a random sample, such as all answers of a system. For these
    items alone the interval is wider than necessary, because it does not use that their labels are known.

    ``lam * mean(unlabelled) + mean(labels - lam * predictions)``, with the lam in 0..1 that gives the narrowest
    interval: useless predictions get lam 0, which is the plain mean of the labels.

    The interval counts two more disagreements than were observed, one in each direction, and one more pass and one more
    fail among the verdicts, as Agresti and Coull add two successes and two failures. Otherwise, a few labels without a
    disagreement would suggest that there are none. It has no rate that Clopper and Pearson's 99 % interval of the
    labels alone excludes, so it does not reach 1 if a label is a fail. If that excludes the estimate itself, a warning
    says so, and the interval reaches from the one to the other. Without other verdicts, it is Wilson's interval of the
    labels. For groups, both are those of the number of
    :func:`~jury_adapters.core.clustered_shares.effective_cases`. Simulated coverage: ``docs/measured.md``.

    Args:
        labels: the human labels of the labelled items, 0 or 1 (or a score in 0..1).
        predictions: the jury's verdicts on the same items, in the same order.
        unlabelled: the jury's verdicts on all other items.
        groups: the groups of the labelled items; they widen the interval, and never narrow it.
        unlabelled_groups: the groups of the other items. With both, a number that is in both is one group.

    Returns:
        The estimate, cut to what the labels leave possible for these items. Details: ``lam``, ``standard_error`` (of
        the estimate, without the added items), ``labelled``, ``unlabelled``.

    Raises:
        ConfigurationError: the numbers of labels and predictions differ, or values are outside 0..1.

    Sources: Angelopoulos, Duchi and Zrnic (2023), *PPI++: Efficient Prediction-Powered Inference*; Agresti and Coull
    (1998), *Approximate is better than "exact" for interval estimation of binomial proportions*.
    """
    y, f, rest = (_shares(values, what) for values, what in (
        (labels, "labels"), (predictions, "predictions"), (unlabelled, "unlabelled")
    ))  # fmt: skip
    if len(y) != len(f):
        raise ConfigurationError(f"there are {len(y)} labels for {len(f)} predictions")
    n, others = len(y), len(rest)
    own, theirs = numbered_groups(groups, n, "groups"), numbered_groups(unlabelled_groups, others, "unlabelled_groups")
    if not (len(groups) and len(unlabelled_groups)) and n:
        theirs = theirs + own.max() + 1  # so that no group is in both
    units = len(np.unique(own))
    if units < 2:
        return undefined(_PPI, n + others, "it takes labels of 2 items (or groups) at least")
    found = corrected_mean(y, f, rest, own, theirs, more=_MORE)
    known = float(y.sum())
    least, most = known / (n + others), (known + others) / (n + others)
    value = min(max(found.value, least), most)
    warned = [*few(n, units), *_few_disagreements(y, f, others)]
    hits, effective = _effective(y, own)
    if not others:
        interval = wilson(hits, effective)
    else:
        _, (low, high) = _cut(found.centre, found.spread)
        lowest, highest = exact_interval(hits, effective, _NEARLY_SURE)
        if lowest <= value <= highest:
            interval = (min(max(low, lowest), value), max(min(high, highest), value))
        else:
            low, high = low if low > 0 else least, high if high < 1 else most
            interval = (min(low, highest, value), max(high, lowest, value))
            warned.append(
                f"the labels alone exclude this rate ({percent(float(y.mean()))} of them pass), so they may not be a "
                "random sample"
            )
    of_groups = "" if units == n else f", {counted(units, 'group')}:"
    more = f" and {counted(others, 'further verdict')}, if the labelled ones are a random sample" if others else ""
    sentence = (
        f"Human labels would pass about {percent(value)} of items like these (95 % interval{of_groups} "
        f"{_end(interval[0])} to {_end(interval[1])}), judging by {counted(n, 'label')}{more}."
    )
    details: dict[str, JsonValue] = {
        "lam": found.lam,
        "standard_error": found.error,
        "labelled": n,
        "unlabelled": others,
    }
    return Estimate(_PPI, value, n + others, interval, sentence, tuple(warned), details=details)


def rogan_gladen(
    passed: int, judged: int, *, true_positives: int, positives: int, true_negatives: int, negatives: int
) -> Estimate:
    """Return the pass rate corrected by the jury's error rates: (rate + TNR - 1) / (TPR + TNR - 1).

    Args:
        passed: the number of judged items that the jury passed.
        judged: the number of judged items.
        true_positives: the number of items with a passing label that the jury passed.
        positives: the number of items with a passing label.
        true_negatives: the number of items with a failing label that the jury failed.
        negatives: the number of items with a failing label.

    Returns:
        The estimate, cut to 0..1; None if the jury is no better than guessing. Details: ``tpr``, ``tnr``, ``naive``,
        ``standard_error``.

    Raises:
        ConfigurationError: a count is negative, or larger than the total that it is part of.

    Source: Rogan and Gladen (1978), *Estimating prevalence from the results of a screening test*.
    """
    for part, whole in ((passed, judged), (true_positives, positives), (true_negatives, negatives)):
        if not 0 <= part <= whole:
            raise ConfigurationError(f"{part} of {whole} is not a count of items")
    if not (judged and positives and negatives):
        return undefined(_RG, judged, "it takes verdicts, and items with a human PASS and items with a human FAIL")
    rate, tpr, tnr = passed / judged, true_positives / positives, true_negatives / negatives
    better = tpr + tnr - 1
    if better <= 0:
        return undefined(
            _RG, judged, "the jury tells good from bad no better than guessing, so nothing follows from it"
        )
    estimate = (rate + tnr - 1) / better
    value = min(1.0, max(0.0, estimate))
    variance = _of_share(passed, judged)
    variance += value**2 * _of_share(true_positives, positives)
    variance += (1 - value) ** 2 * _of_share(true_negatives, negatives)
    error = sqrt(variance) / better
    _, interval = _cut(estimate, error)
    warned = list(few(min(positives, negatives)))
    if better < 0.3:
        warned.append("the jury hardly tells good from bad, so the correction is large and unsure")
    if estimate != value:
        warned.append("the estimate fell outside 0..1 and was cut: the error rates do not fit this batch")
    sentence = (
        f"Corrected for what the jury lets slip ({percent(1 - tnr)} of the bad) and refuses wrongly "
        f"({percent(1 - tpr)} of the good), human labels would pass about {percent(value)}, if these two rates hold "
        "for all items."
    )
    details: dict[str, JsonValue] = {"tpr": tpr, "tnr": tnr, "naive": rate, "standard_error": error}
    return Estimate(_RG, value, judged, interval, sentence, tuple(warned), details=details)


def _effective(labels: Floats, groups: Ints) -> tuple[float, float]:
    """Return the passes and the number of independent labels that would be equally precise.

    For scores between 0 and 1, each group counts as one observation.
    """
    units, position = np.unique(groups, return_inverse=True)
    share, n = float(labels.mean()), float(len(units))
    if np.isin(labels, (0, 1)).all():
        hits, cases = np.bincount(position, weights=labels).astype(int).tolist(), np.bincount(position).tolist()
        n = effective_cases([GroupSum(of, hit, hit) for hit, of in zip(hits, cases, strict=True)])
    return (float(labels.sum()) if n == len(labels) else share * n), n


def _end(share: float) -> str:
    """Return an end of an interval as a percentage; one between 0 and 1 never reads as 0 or 100 %."""
    if round(share, 3) == 1 > share:
        return f"just below {percent(1.0, 0)}"
    return f"just above {percent(0.0, 0)}" if round(share, 3) == 0 < share else percent(share)


def _few_disagreements(labels: Floats, predictions: Floats, others: int) -> list[str]:
    seen = int((abs(labels - predictions) > _ABSTAINED).sum())
    if not others or seen >= _FEWEST_DISAGREEMENTS:
        return []
    return [f"the jury disagrees with {seen} of {len(labels)} labels, so its error is little known; label more"]


def _passed(votes: Votes, juror: str) -> tuple[Ints, str]:
    """Return whether each item is passed (1, 0, or -1 for neither), and the words for who passes it."""
    if not juror and len(votes.verdicts):
        return votes.verdicts, "the jury passes"
    codes, who = (votes.panel([juror]).codes[:, 0], f"{juror} passes") if juror else (
        plurality(votes.counts()), "most of the jurors pass")  # fmt: skip
    return np.where(codes == MISSING, MISSING, codes == votes.pass_code).astype(np.int64), who


def _from_labels(truth: Floats, predicted: Floats, verdicts: Floats) -> Estimate:
    good, passed = truth == 1, predicted == 1
    return rogan_gladen(
        int(verdicts.sum()),
        len(verdicts),
        true_positives=int((good & passed).sum()),
        positives=int(good.sum()),
        true_negatives=int((~good & ~passed).sum()),
        negatives=int((~good).sum()),
    )


def _shares(values: ArrayLike, what: str) -> Floats:
    array = np.asarray(values, dtype=np.float64).reshape(-1)
    if not ((array >= 0) & (array <= 1)).all():
        raise ConfigurationError(f"{what} are numbers from 0 to 1, without gaps")
    return array


def _of_share(hits: int, n: int) -> float:
    """Return the variance of a share, never 0: a few hits in a row do not give certainty (Agresti-Coull)."""
    share = (hits + 1) / (n + 2)
    return share * (1 - share) / n


_ABSTAINED = 0.5  # the verdict of a jury that neither passes nor fails an item; any number keeps the estimate unbiased
_MORE = TwoMore(labels=(1.0, 0.0), predictions=(0.0, 1.0), unlabelled=(1.0, 0.0))
_NEARLY_SURE = 0.99  # of 95 % intervals, at most one in 100 loses the true rate by the limit that the labels set
_FEWEST_DISAGREEMENTS = 5  # with fewer, the rate of disagreement is very uncertain


def _cut(value: float, error: float) -> tuple[float, Interval]:
    """Return an estimate and its normal interval, cut to 0..1."""
    low, centre, high = (min(1.0, max(0.0, x)) for x in (value - Z95 * error, value, value + Z95 * error))
    return centre, (low, high)
