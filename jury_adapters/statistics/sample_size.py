"""Sample sizes: labels for an interval, labels for a guarantee, cases for a comparison of two systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from jury_adapters.calibration.binomial import check_level, fewest_items, most_errors
from jury_adapters.calibration.gold import FEWEST_LABELS
from jury_adapters.calibration.power import MOST, POWER, guarantee_sample, paired_sample, unpaired_sample
from jury_adapters.calibration.thresholds import Method, check_method, fewest_decided, level_of_test
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.tolerance import equal, exceeds
from jury_adapters.core.values import JsonValue
from jury_adapters.statistics.design_effect import Clusters, check_share
from jury_adapters.statistics.half_width import JudgedCases, wilson_ends, wilson_half_width

_FAR = 0.25  # of the half-width
_MANY_JUDGED = 10  # judged cases for each label that is needed without a jury
_FLOOR = f"calibrate grants nothing on fewer than {FEWEST_LABELS} decided cases, however modest the guarantee"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """Number of labels or cases that answers a question, with what was assumed.

    Attributes:
        n: the number.
        unit: what is counted, in the plural.
        measure: what a sample gives: ``"half-width"``, ``"probability of the guarantee"`` or ``"power"``.
        gives: by sample size, what half, once and twice as many give, in 0..1.
        sentence: the answer in one sentence.
        assumed: what the number rests on, a sentence each.
        details: further numbers, as JSON values; each function says which.
    """

    n: int
    unit: str
    measure: str
    gives: Mapping[int, float]
    sentence: str
    assumed: tuple[str, ...]
    details: Mapping[str, JsonValue]

    def to_dict(self) -> dict[str, JsonValue]:
        """Return plain values for JSON."""
        return {
            "n": self.n,
            "unit": self.unit,
            "measure": self.measure,
            "gives": [{"n": n, "value": value} for n, value in self.gives.items()],
            "sentence": self.sentence,
            "assumed": list(self.assumed),
            "details": dict(self.details),
        }

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"  Assumed: {each}." for each in self.assumed)])


def labels_for_interval(
    half_width: float,
    rate: float,
    *,
    judged: int = 0,
    tpr: float | None = None,
    tnr: float | None = None,
    group_size: float = 1,
    icc: float = 0,
) -> SampleSize:
    """Return how many cases to label for a 95 % interval of the pass rate that is so narrow.

    It is the smallest number whose expected half-width is at most ``half_width``: of the Wilson interval, averaged
    exactly over ``Bin(n, rate)``; or, where a jury has judged more cases than have human labels, of the interval of
    :func:`~jury_adapters.calibration.prediction_powered_rate`, with the variance ``var(y - lam f) / n + lam^2 var(f) /
    (judged - n)`` of PPI++ at the expected TPR and TNR, and with the added items that this interval counts in each
    variance. About half of the intervals come out narrower.

    Args:
        half_width: half of the interval's width, in 0..0.5, both excluded: 0.05 for plus or minus 5 points.
        rate: expected share with a human PASS, in 0..1; 0.5 gives the largest number.
        judged: number of cases with a verdict of the jury, labelled ones included; 0 for labels alone.
        tpr: share that the jury is expected to pass of the cases with a human PASS, in 0..1.
        tnr: share that the jury is expected to fail of the cases with a human FAIL, in 0..1.
        group_size: mean number of cases that belong together, from 1.
        icc: correlation of PASS and FAIL in a group, in 0..1. The number is multiplied by the design effect ``1 +
            (group_size - 1) icc``. ``jury report --group`` prints it.

    Returns:
        The number of labels. Details: ``labels_alone`` (the number without the jury's verdicts), ``design_effect``.

    Raises:
        ConfigurationError: a value outside its range, or no number of labels is enough.

    Sources: E. B. Wilson (1927), JASA 22; Angelopoulos, Duchi and Zrnic (2023), *PPI++*; L. Kish (1965), *Survey
    Sampling* (design effect).

    >>> labels_for_interval(0.05, 0.8).n
    243
    >>> labels_for_interval(0.05, 0.8, judged=2000, tpr=0.95, tnr=0.9).n
    110
    """
    if not 0 < half_width < 0.5:
        raise ConfigurationError(f"the half-width of an interval lies between 0 and 0.5, not {half_width:g}")
    check_share(rate, "the expected pass rate")
    cluster = Clusters.of(group_size, icc)

    width: Callable[[int], float] = partial(wilson_half_width, rate=rate)
    needed = by_labels = _fewest_labels(half_width, width, MOST)
    assumed = [f"human labels pass about {percent(rate)}", f"the labelled cases are a random sample{cluster.assumed}"]
    if judged:
        jury = _judged_cases(judged, rate, tpr, tnr, cluster)
        needed, width = _fewest_labels(half_width, jury.half_width, min(jury.number, MOST)), jury.half_width
        if needed is None and jury.number <= MOST:
            raise ConfigurationError(
                f"{counted(judged, 'judged case is', 'judged cases are')} too few: even with all of them labelled the "
                f"interval reaches {_points(width(jury.number))} points to either side; judge more cases"
            )
        assumed.append(
            f"the jury passes {percent(jury.tpr)} of the cases with a human PASS, and fails {percent(jury.tnr)} of the "
            "rest"
        )
    elif tpr is not None or tnr is not None:
        raise ConfigurationError("TPR and TNR are of a jury: say how many cases it judges, or leave them out")
    if needed is None or (n := cluster.cases(needed)) > MOST:
        raise ConfigurationError(f"more than {MOST:,} labels would be needed; allow a wider interval")
    gives = {k: width(cluster.independent(k)) for k in _around(n) if not judged or k <= judged}
    labels_alone = None if by_labels is None else cluster.cases(by_labels)
    which = f"{n:,} of the {judged:,} judged cases" if judged else counted(n, "case")
    saved = "" if judged else _uneven(cluster.independent(n), rate)
    if judged and labels_alone is not None:
        why = "" if n < labels_alone else _why_none_saved(half_width, labels_alone, jury, cluster)
        saved = f" Without the jury's verdicts it takes {labels_alone:,}{why}."
    return SampleSize(
        n=n,
        unit="labels",
        measure="half-width",
        gives=gives,
        sentence=f"Label {which}: the 95 % interval of a pass rate of about {percent(rate)} is then expected to reach "
        f"{_points(gives[n])} points to either side of its centre.{saved}",
        assumed=tuple(assumed),
        details={"labels_alone": labels_alone, "design_effect": cluster.effect},
    )


def labels_for_guarantee(
    agreement: float,
    expected: float,
    *,
    delta: float = 0.1,
    method: Method = "both",
    tiers: int = 1,
    coverage: float = 1,
    power: float = POWER,
) -> SampleSize:
    """Return how many cases to label so that a calibration grants a guarantee with a probability of ``power``.

    A calibration allows of D decided cases the most errors c with ``P(Bin(D, 1 - agreement) <= c) <= level``, where the
    level is ``delta``, half of it for ``method="both"``, and none for less than 30 decided cases. The probability that
    a jury passes is ``P(Bin(D, 1 - expected) <= c)``, exactly, with D from ``Bin(n, coverage)``. The number returned
    and every larger one have the power.

    It is that of the first test of a sequence from strict to lenient thresholds, for if that fails, nothing is granted.
    So ``coverage`` is the share of cases that the strictest tested threshold decides. Where confidences take few
    values, such as a panel's share of votes, it is the share of the most confident verdicts. Where they take many, the
    first test is of about as many cases as a guarantee needs at the least, and more labels raise the power little.

    Args:
        agreement: share of the decided cases that is to agree with human labels, in 0..1.
        expected: share that is expected to agree with human labels of the cases decided first, above ``agreement``.
        delta: probability with which the guarantee may fail, in 0..1.
        method: as in :func:`~jury_adapters.calibration.calibrate`.
        tiers: number of tiers; counts for ``method="per_tier"``.
        coverage: share of the labelled cases that the strictest tested threshold decides, in 0..1.
        power: probability with which the guarantee is to be granted, in 0..1.

    Returns:
        The number of labels; where cases come in groups, of groups, since a calibration counts one case of each.
        Details: ``fewest`` (labels that a faultless jury needs), ``errors_allowed`` (among the expected number of
        decided cases), ``power``.

    Raises:
        ConfigurationError: a value outside its range, ``expected`` not above ``agreement``, or no number is enough.

    Sources: *Learn then Test* (arXiv 2110.01052), *Trust or Escalate* (arXiv 2407.18370) for the test; Chernick and Liu
    (2002) for the number from which on a power is kept.

    >>> found = labels_for_guarantee(0.95, 0.98)
    >>> found.n, found.details["errors_allowed"]
    (286, 8)
    """
    check_level(agreement, "agreement")
    check_level(delta, "delta")
    check_level(power, "power")
    check_method(method)
    check_share(expected, "the expected agreement")
    check_share(coverage, "coverage")
    if not coverage:
        raise ConfigurationError("a jury with a coverage of 0 decides nothing")
    if isinstance(tiers, bool) or not isinstance(tiers, int) or tiers < 1:
        raise ConfigurationError(f"tiers is a number from 1, not {plain_repr(tiers)}")
    if expected <= agreement:
        raise ConfigurationError(
            f"a jury that agrees with human labels on {percent(expected)} cannot be shown to agree on "
            f"{percent(agreement)}; expect more, or guarantee less"
        )
    alpha, level = 1 - agreement, level_of_test(delta, method, tiers)
    n, power_of = guarantee_sample(alpha, level, error_rate=1 - expected, share=coverage, power=power)
    if n is None:
        raise ConfigurationError(f"more than {MOST:,} labels would be needed; expect more, or guarantee less")
    decided = round(n * coverage)
    gives = {k: power_of(k) for k in _around(n)}
    allowed = int(most_errors(decided, alpha, level)[decided])
    return SampleSize(
        n=n,
        unit="labels",
        measure="probability of the guarantee",
        gives=gives,
        sentence=f"Label {counted(n, 'case')}: a calibration then grants an agreement of {percent(agreement)} "
        f"(delta {delta:g}) with a probability of {percent(gives[n])}, if the jury agrees with human labels on "
        f"{percent(expected)}. Up to {allowed:,} of {counted(decided, 'decided case')} may disagree.",
        assumed=(
            "the labelled cases are a random sample, and one of each group where cases belong together",
            f"the first threshold tested decides {'all' if coverage == 1 else percent(coverage)} of them, and the jury "
            f"agrees with human labels on {percent(expected)} of these",
            *(["calibrate tries both of its methods, each at half of delta"] if method == "both" else []),
            *([_FLOOR] if fewest_items(alpha, level) < FEWEST_LABELS else []),
        ),
        details={"fewest": fewest_decided(alpha, level), "errors_allowed": allowed, "power": gives[n]},
    )


def cases_for_difference(
    difference: float,
    rate: float,
    *,
    discordant: float | None = None,
    paired: bool = True,
    power: float = POWER,
    level: float = 0.05,
    group_size: float = 1,
    icc: float = 0,
) -> SampleSize:
    """Return how many cases show a difference between two systems, with a two-sided test.

    Paired, both systems answer the same cases, and the test is McNemar's exact one; its power is enumerated over the
    number of discordant cases. Unpaired, each system has cases of its own, and the test is the z test of two
    proportions: ``n = ((z_(1 - level/2) sqrt(2 m (1 - m)) + z_power sqrt(p (1 - p) + q (1 - q))) / (q - p))^2`` with
    ``q = p + difference`` and the mean ``m``.

    Args:
        difference: difference to be found, in 0..1: 0.05 for 5 points.
        rate: expected pass rate of the system that passes less, in 0..1.
        discordant: expected share of the cases that one system passes and the other does not, at least ``difference``.
            By default that of systems that pass independently of each other, which is the usual upper end.
        paired: whether both systems answer the same cases.
        power: probability with which the difference is to be found, in 0..1.
        level: probability of finding a difference where there is none, in 0..1.
        group_size: mean number of cases that belong together, from 1.
        icc: correlation within a group, in 0..1. The number is multiplied by the design effect ``1 + (group_size - 1)
            icc``. Unpaired, it is that of PASS and FAIL. Paired, it is that of the *differences* between the two
            verdicts on a case (1, 0 or -1): that a whole group is easy or hard for both systems cancels. It is usually
            near 0 then, and far below that of PASS and FAIL. :func:`~jury_adapters.statistics.compare` gives it
            (``icc`` in ``details``).

    Returns:
        The number of cases; unpaired, for each system. Details: ``discordant`` (None where unpaired), ``power``,
        ``design_effect``.

    Raises:
        ConfigurationError: a value outside its range, rates above 1, or no number is enough.

    Sources: R. J. Connor (1987), Biometrics 43; S. W. Duffy (1984), Biometrics 40 (paired); Fleiss, Levin and Paik
    (2003), *Statistical Methods for Rates and Proportions*, 4.2 (unpaired).

    >>> cases_for_difference(0.05, 0.8, discordant=0.1).n
    337
    >>> cases_for_difference(0.05, 0.8, paired=False).n
    906
    """
    check_level(difference, "the difference")
    check_level(power, "power")
    check_level(level, "the level")
    if power <= level:
        raise ConfigurationError(f"the power lies above the level, {level:g}, not at {power:g}")
    check_share(rate, "the expected pass rate")
    cluster = Clusters.of(group_size, icc, whose="whose differences" if paired else "whose cases")
    other = rate + difference
    if exceeds(other, 1):
        raise ConfigurationError(
            f"a pass rate of {percent(rate)} cannot be {_points(difference)} points higher; give the rate of the "
            "system that passes less"
        )
    other = min(1.0, other)
    if paired:
        share = _discordant(difference, rate, other, discordant)
        needed, power_of = paired_sample(difference, share, power, level)
        test, at_most = "the exact McNemar test", f"{percent(level, 0)} at most"
        assumed = f"one system passes and the other does not in {percent(share)} of the cases"
    elif discordant is None:
        share = None
        needed, power_of = unpaired_sample(rate, other, power, level)
        test, assumed = "the z test of two proportions", "no case is answered by both systems"
        at_most = f"about {percent(level, 0)}"
    else:
        raise ConfigurationError("a share of discordant cases is of pairs; unpaired systems have none")
    if needed is None or (n := cluster.cases(needed)) > MOST:
        raise ConfigurationError(f"more than {MOST:,} cases would be needed; look for a larger difference")
    if group_size > 1:
        test, at_most = "a test that allows for the groups", f"about {percent(level, 0)}"
    gives = {k: power_of(cluster.independent(k)) for k in _around(n)}
    which = f"Judge {counted(n, 'case')} with both systems" if paired else f"Judge {counted(n, 'case')} of each system"
    return SampleSize(
        n=n,
        unit="cases",
        measure="power",
        gives=gives,
        sentence=f"{which}: {test} then finds a difference between {percent(rate)} and {percent(other)} with a "
        f"probability of {percent(gives[n])}, and one where there is none with {at_most}.",
        assumed=(f"the cases are a random sample{cluster.assumed}", assumed),
        details={"discordant": share, "power": gives[n], "design_effect": cluster.effect},
    )


def _uneven(n: int, rate: float) -> str:
    """Return a sentence with both ends of an interval whose centre is expected to lie far from the rate."""
    low, high = wilson_ends(n, rate)
    if abs((low + high) / 2 - rate) < _FAR * (high - low) / 2:
        return ""
    return f" At this rate the centre lies nearer to 50 %: expect an interval from {_points(low)} to {_points(high)} %."


def _judged_cases(judged: int, rate: float, tpr: float | None, tnr: float | None, cluster: Clusters) -> JudgedCases:
    if tpr is None or tnr is None:
        raise ConfigurationError("a jury's verdicts help as far as its TPR and its TNR are known; give both")
    check_share(tpr, "the TPR")
    check_share(tnr, "the TNR")
    if isinstance(judged, bool) or not isinstance(judged, int) or judged < 2:
        raise ConfigurationError(f"a jury judges 2 cases or more, not {plain_repr(judged)}")
    return JudgedCases(cluster.independent(judged), rate, tpr, tnr)


def _why_none_saved(half_width: float, labels_alone: int, jury: JudgedCases, cluster: Clusters) -> str:
    """Return the end of a sentence: the batch is too small for a jury to save labels, or the jury is too poor."""
    many = _MANY_JUDGED * labels_alone
    larger = replace(jury, number=cluster.independent(many))
    needed = _fewest_labels(half_width, larger.half_width, min(larger.number, MOST))
    if needed is None or (labels := cluster.cases(needed)) >= labels_alone:
        return ": a jury with these rates hardly tells good from bad and saves no labels"
    return (
        f": a jury saves labels only where it judges more cases than are labelled. If it judges {many:,}, it takes "
        f"{labels:,}"
    )


def _fewest_labels(half_width: float, width: Callable[[int], float], most: int) -> int | None:
    """Return the smallest number whose half-width is small enough; None where ``most`` labels are not enough.

    More labels never widen the expected interval, so the number is found by bisection. There is one exception: with a
    pass rate near 0 or 1, all labels but one and the jury's verdicts can give a narrower interval than all labels.
    """
    high = next((n for n in (most, most - 1) if n > 0 and not exceeds(width(n), half_width)), None)
    if high is None:
        return None
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exceeds(width(middle), half_width) else (low, middle)
    return high


def _discordant(difference: float, rate: float, other: float, given: float | None) -> float:
    """Return the share of discordant cases; by default that of independent systems.

    Raises:
        ConfigurationError: no two systems with these rates have it.
    """
    if given is None:
        return max(rate * (1 - other) + other * (1 - rate), difference)  # less only by rounding
    most = min(rate + other, 2 - rate - other)
    if not difference <= given <= most and not equal(given, difference) and not equal(given, most):
        raise ConfigurationError(
            f"the share of discordant cases lies from the difference, {difference:g}, to {most:g} for these pass "
            f"rates, not {given:g}"
        )
    return max(min(given, most), difference)


def _around(n: int) -> tuple[int, ...]:
    """Return half, once and twice as many."""
    return tuple(dict.fromkeys((max(1, n // 2), n, 2 * n)))


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
