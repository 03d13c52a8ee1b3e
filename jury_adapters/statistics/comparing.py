"""The difference of the pass rates of two systems: by the jury's verdicts, and corrected by human labels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from jury_adapters.calibration.estimates import Estimate, few, undefined
from jury_adapters.calibration.prediction_powered import TwoMore, corrected_mean
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.statistics import Z95
from jury_adapters.core.values import JsonValue
from jury_adapters.statistics.difference_sentences import better, difference_sentence
from jury_adapters.statistics.differences import (
    CORRECTED,
    PairedCounts,
    counts_by_group,
    interval_and_test,
    paired_difference,
    shared_groups,
    shares_by_group,
    unpaired_difference,
)
from jury_adapters.statistics.labelled_pairs import why_selected_by_verdicts

Said: TypeAlias = "bool | int | float | None"
"""A verdict or a label: 1 (or True) for PASS, 0 (or False) for FAIL, None where there is none."""


def compare(
    a: Sequence[Said],
    b: Sequence[Said],
    *,
    labels_a: Sequence[Said] = (),
    labels_b: Sequence[Said] = (),
    groups: Sequence[Hashable] = (),
    same_answers: bool = False,
) -> Estimate:
    """Return the difference of the pass rates of two systems over the same cases, b minus a.

    By the verdicts alone, the difference is that of the cases that are decided in both, with Newcombe's interval for
    paired shares and the exact McNemar test; with groups, see :mod:`jury_adapters.core.clustered_shares`.

    Labels correct it for a jury that errs more in favour of one system. A human label belongs to an answer, so each
    system has its own. The estimate is ``lam * mean(f) + mean(d - lam * f)``: f is the difference between the verdicts
    of a case, and d that between its labels; the first mean is over the cases without both labels, the second over
    those with both. The lam in 0..1 gives the narrowest interval. A case with a label of one answer only counts as
    unlabelled. Abstentions count 1/2 here, so the estimate is of all cases. The labelled cases must be a random
    sample. If their verdicts show that they are not, such as those of labels of the cases that changed or failed,
    there is no value, and the reason says so
    (:func:`~jury_adapters.statistics.labelled_pairs.why_selected_by_verdicts`).

    The interval counts two disagreements more than were seen, one in each direction. Where all cases have both labels,
    it is Newcombe's interval of the labels. Simulated coverage: ``docs/measured.md``.

    Args:
        a: the verdict of each case in a: 1 for PASS, 0 for FAIL, None for an abstention.
        b: the verdict of each case in b, in the same order.
        labels_a: the human label of the answer of each case in a: 1, 0, or None for no label. Empty for no labels.
        labels_b: the same for b.
        groups: what belongs together, one entry per case. Interval and test then take into account that cases of a
            group are alike.
        same_answers: whether a and b are verdicts of the same answers by two juries. Neither system can be better then,
            and labels are refused.

    Returns:
        The difference. Details: ``p_value`` (of the exact test, or None), ``better`` (``"a"``, ``"b"``, or None),
        ``coverage_a``, ``coverage_b`` (share of the cases that are decided, 0..1), and the numbers of cases ``both``,
        ``a_only``, ``b_only``, ``neither`` that pass. With labels also ``labelled`` (both answers), ``labelled_once``
        (one answer), ``lam``, ``standard_error``, ``naive`` and ``naive_interval`` (by the verdicts alone).

    Raises:
        ConfigurationError: a value that is not 0, 1 or None; sequences of different length; or no case.

    Sources: R. G. Newcombe (1998), *Improved confidence intervals for the difference between binomial proportions based
    on paired data*; Angelopoulos, Duchi and Zrnic (2023), *PPI++: Efficient Prediction-Powered Inference*; Agresti and
    Min (2005), *Simple improved confidence intervals for comparing matched proportions*, for the added disagreements.

    >>> found = compare([1] * 40 + [0] * 10, [1] * 38 + [0] * 2 + [1] * 8 + [0] * 2)
    >>> round(found.value, 2), [round(end, 3) for end in found.interval], round(found.details["p_value"], 3)
    (0.12, [-0.01, 0.253], 0.109)
    """
    first, second = _values(a, len(a), "a"), _values(b, len(a), "b")
    if not len(first):
        raise ConfigurationError("there is no case to compare")
    clusters = _clusters(groups, len(first))
    judged = list(zip(_opinions(first), _opinions(second), strict=True))
    by_group = () if clusters is None else counts_by_group(judged, clusters.tolist())
    plain = paired_difference(PairedCounts.of(judged), by_group=by_group, same_answers=same_answers)
    if not (len(labels_a) or len(labels_b)):
        return plain
    if same_answers:
        raise ConfigurationError("labels cannot correct a difference between verdicts of the same answers: it is 0")
    truths = _values(labels_a, len(first), "labels_a"), _values(labels_b, len(first), "labels_b")
    return _corrected(first, second, truths, clusters, plain)


def compare_unpaired(
    a: Sequence[Said], b: Sequence[Said], *, groups_a: Sequence[Hashable] = (), groups_b: Sequence[Hashable] = ()
) -> Estimate:
    """Return the difference of the pass rates of two systems over different cases, b minus a.

    The cases of both must be random samples of the same kind of cases. Cases that are not decided are left out.

    Args:
        a: the verdict of each case of a: 1 for PASS, 0 for FAIL, None for an abstention.
        b: the verdict of each case of b.
        groups_a: what belongs together, one entry per case of a. The interval then takes into account that cases of a
            group are alike; see :func:`jury_adapters.core.clustered_shares.clustered_unpaired_interval`.
        groups_b: the same for b; give both or neither.

    Returns:
        The difference with Newcombe's score interval. Details: ``passed_a``, ``decided_a``, ``passed_b``,
        ``decided_b``, ``coverage_a``, ``coverage_b`` (share of the cases that are decided, 0..1), ``better`` (``"a"``,
        ``"b"``, or None), and ``groups`` (the number of different groups, or None).

    Raises:
        ConfigurationError: a value that is not 0, 1 or None, another number of groups than of cases, or groups of one
            sample only.

    Source: R. G. Newcombe (1998), *Interval estimation for the difference between independent proportions: comparison
    of eleven methods*, method 10.

    >>> found = compare_unpaired([1] * 48 + [0] * 32, [1] * 56 + [0] * 14)
    >>> round(found.value, 2), [round(end, 4) for end in found.interval]
    (0.2, [0.0524, 0.3339])
    """
    first, second = _values(a, len(a), "a"), _values(b, len(b), "b")
    for groups, values, what in ((groups_a, first, "groups_a"), (groups_b, second, "groups_b")):
        if len(groups) != (len(values) if len(groups_a) or len(groups_b) else 0):
            raise ConfigurationError(f"{what} has {len(groups)} entries for {counted(len(values), 'case')}")
    return unpaired_difference(
        int((first == 1).sum()),
        int((~np.isnan(first)).sum()),
        int((second == 1).sum()),
        int((~np.isnan(second)).sum()),
        groups_a=shares_by_group(_opinions(first), groups_a),
        groups_b=shares_by_group(_opinions(second), groups_b),
        shared=shared_groups(_opinions(first), groups_a, _opinions(second), groups_b),
        cases=(len(first), len(second)),
    )


_MORE = TwoMore(labels=(1.0, -1.0), predictions=(0.0, 0.0), unlabelled=(1.0, -1.0))
_FEWEST_DISAGREEMENTS = 5
_FEWEST_LABELLED = 2


def _corrected(a: Floats, b: Floats, truths: tuple[Floats, Floats], clusters: Ints | None, plain: Estimate) -> Estimate:
    known = [~np.isnan(truth) for truth in truths]
    both, once = known[0] & known[1], int((known[0] ^ known[1]).sum())
    n, count = int(both.sum()), len(a)
    own = np.arange(count) if clusters is None else clusters
    units = len(np.unique(own[both]))
    details = {**plain.details, "naive": plain.value, "labelled": n, "labelled_once": once}
    details["naive_interval"] = None if plain.interval is None else list(plain.interval)
    if units < _FEWEST_LABELLED:
        what = "groups" if clusters is not None else "cases"
        reason = f"it takes {what} with labels of both answers, {_FEWEST_LABELLED} at least, and there are {units}"
        return undefined(CORRECTED, count, reason, warnings=_one_answer_warnings(once))
    of_groups = () if clusters is None else clusters.tolist()
    selected = why_selected_by_verdicts(both.tolist(), (_opinions(a), _opinions(b)), of_groups)
    if selected:
        return undefined(CORRECTED, count, selected, warnings=_one_answer_warnings(once))
    labels = (truths[1] - truths[0])[both]
    verdicts = np.nan_to_num(b, nan=_ABSTAINED) - np.nan_to_num(a, nan=_ABSTAINED)
    found = corrected_mean(labels, verdicts[both], verdicts[~both], own[both], own[~both], more=_MORE)
    warnings = [*few(n, units), *_one_answer_warnings(once)]
    p = None
    if n < count:
        value, interval = _cut(found.value, found.centre, found.spread)
        wrong = int((abs(labels - verdicts[both]) > _ABSTAINED).sum())
        if wrong < _FEWEST_DISAGREEMENTS:
            warnings.append(
                f"jury and human labels disagree about the difference in {wrong} of {n} labelled cases, so the jury's "
                "error is little known; label more"
            )
    else:
        said = list(zip(_opinions(truths[0]), _opinions(truths[1]), strict=True))
        by_group = () if clusters is None else counts_by_group(said, clusters.tolist())
        value, (interval, p) = found.value, interval_and_test(PairedCounts.of(said), by_group)
    details.update(p_value=p, better=better(interval, p), lam=found.lam, standard_error=found.error)
    groups = None if clusters is None else len(np.unique(own))
    estimate = Estimate(CORRECTED, value, count, interval, "", tuple(warnings), details=details)
    return replace(estimate, sentence=_corrected_sentence(estimate, groups))


def widened(found: Estimate, below: float, above: float, *, groups: Sequence[Hashable], warning: str) -> Estimate:
    """Return a corrected difference whose interval reaches further, with a warning that says why.

    Args:
        found: the difference, corrected by the labels of some of the cases.
        below: how much further the interval reaches down.
        above: how much further it reaches up.
        groups: the group of each case, as for :func:`compare`.
        warning: the reason, without a full stop.
    """
    assert found.value is not None
    assert found.interval is not None
    interval = max(-1.0, found.interval[0] - below), min(1.0, found.interval[1] + above)
    details = {**found.details, "better": better(interval)}
    wide = replace(found, interval=interval, warnings=(*found.warnings, warning), details=details)
    clusters = _clusters(groups, found.n)
    return replace(wide, sentence=_corrected_sentence(wide, None if clusters is None else len(np.unique(clusters))))


def _corrected_sentence(found: Estimate, groups: int | None) -> str:
    assert found.value is not None
    assert found.interval is not None
    n, p, naive, ends = (found.details[name] for name in ("labelled", "p_value", "naive", "naive_interval"))
    assert isinstance(n, int)
    tested = p if isinstance(p, float) else None
    meaning = difference_sentence(found.value, found.interval, found.n, p=tested, groups=groups, labelled=n)
    return f"Corrected by human labels of {counted(n, 'case')}: {meaning}{_at_face_value(naive, ends)}"


def _opinions(values: Floats) -> list[bool | None]:
    return [None if np.isnan(value) else value == 1 for value in values.tolist()]


def _at_face_value(naive: JsonValue, interval: JsonValue) -> str:
    if not isinstance(naive, float) or not isinstance(interval, list):
        return ""
    ends = " to ".join(f"{100 * end:.1f}" for end in interval if isinstance(end, float))
    return f" Taken at face value, the verdicts differ by {100 * naive:.1f} points ({ends})."


def _cut(value: float, centre: float, spread: float) -> tuple[float, tuple[float, float]]:
    """Return an estimate and its normal interval within -1..1; the interval holds the estimate."""
    value, low, high = (min(1.0, max(-1.0, x)) for x in (value, centre - Z95 * spread, centre + Z95 * spread))
    return value, (min(low, value), max(high, value))


def _one_answer_warnings(once: int) -> list[str]:
    if not once:
        return []
    have = "has a label" if once == 1 else "have a label"
    return [f"{counted(once, 'case')} {have} of one answer only, which does not correct the difference"]


def _values(given: Sequence[Said], n: int, what: str) -> Floats:
    """Return 1, 0, or NaN for None; without any entry, all are None.

    Raises:
        ConfigurationError: another value, or another number of them.
    """
    if not len(given):
        return np.full(n, np.nan)
    if len(given) != n:
        raise ConfigurationError(f"{what} has {len(given)} entries for {counted(n, 'case')}")
    for value in given:
        if value is not None and value not in (0, 1):
            raise ConfigurationError(f"{what}: {plain_repr(value)} is not 1 (PASS), 0 (FAIL) or None")
    return np.array([np.nan if value is None else float(value) for value in given])


def _clusters(groups: Sequence[Hashable], n: int) -> Ints | None:
    """Return the group of each case as a number; None where each case is a group of its own."""
    if len(groups) not in (0, n):
        raise ConfigurationError(f"groups has {len(groups)} entries for {counted(n, 'case')}")
    numbers: dict[Hashable, int] = {}
    found = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
    return found if len(groups) and len(numbers) < n else None


_ABSTAINED = 0.5  # the verdict of a jury that neither passes nor fails a case; any number keeps the estimate unbiased
