"""Pass rates and their differences: of verdicts, and corrected by a few human labels."""

from collections.abc import Mapping
from dataclasses import replace
from math import hypot

import numpy as np
from scipy import special

from jury_adapters.core.values import ConfigurationError
from jury_adapters.stats.figures import (
    FEW,
    Bools,
    Figure,
    Floats,
    Ints,
    Texts,
    decimals,
    figure,
    join_notes,
    mean,
    over,
    share,
    sign_test,
    student,
    sums_by_group,
    undefined,
    with_test,
)
from jury_adapters.stats.votes import JURY, MISSING, PEOPLE, Votes, group_numbers

NOT_RANDOM = 0.001  # p value below which labelled cases are no random sample
_UNDECIDED = 0.5  # what an undecided case counts as among verdicts; any number leaves the corrected rate unbiased


def pass_rate(votes: Votes, voter: str = JURY) -> Figure:
    """Return the share of the decided cases that pass. A failed run of the application is a FAIL.

    Args:
        votes: votes that mean PASS and FAIL.
        voter: a juror, or the jury.

    Raises:
        ConfigurationError: there is no such voter, or votes have no such meaning.

    >>> print(pass_rate(Votes.from_rows([["yes"]] * 30 + [["no"]] * 9 + [[None]])))
    the jury: pass rate 0.769 [0.617, 0.874] (n = 39); 1 of 40 undecided: 0.750 to 0.775 of all
    """
    said = _verdicts(votes, voter)
    return share(
        "pass rate",
        said == 1,
        ~np.isnan(said),
        votes.groups,
        of=voter,
        undecided=int((np.isnan(said) & votes.asked[:, votes.column(voter)]).sum()),
    )


def true_pass_rate(votes: Votes, voter: str = JURY) -> Figure:
    """Return the share that people would pass: the rate of many verdicts, corrected by their errors on labelled cases.

    It is ``lam * mean(f) + mean(y - lam * f)``: y are human labels, f verdicts, the first mean is over the cases
    without labels, the second over those with labels. The lam in 0..1 gives the narrowest interval, and is fitted in
    each draw of the bootstrap. An undecided verdict counts as one half, so the rate is that of all cases. The labelled
    cases must be a random sample. If all cases are labelled, it is the share of the labels.

    Args:
        votes: votes that mean PASS and FAIL, with some human labels.
        voter: whose verdicts; a juror, or the jury.

    Returns:
        The rate. It has no value below two labels, and if labelled cases differ from the others in how often the voter
        passes, decides or is sure, or the jurors agree (:func:`random_sample_test`, p < 0.001). The details have the
        numbers ``labelled`` and
        ``unlabelled``, the rate of the ``labels`` alone, and ``lam``.

    Raises:
        ConfigurationError: there is no such voter, or votes have no such meaning.

    Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023), *PPI++: Efficient Prediction-Powered Inference*.

    >>> said, labels = [["yes"], ["yes"], ["no"], ["yes"]] * 50, ["yes", "no", "no", "yes"] * 10 + [None] * 160
    >>> print(true_pass_rate(Votes.from_rows(said, human_labels=labels)))
    the jury: true pass rate 0.500 [0.371, 0.645] (n = 200)
    """
    runs, votes = int(votes.failed.sum()), votes.take(~votes.failed)
    return _correct(
        "true pass rate",
        _verdicts(votes, PEOPLE),
        np.nan_to_num(_verdicts(votes, voter), nan=_UNDECIDED),
        votes.groups,
        sample_facts(votes, voter),
        lowest=0.0,
        of=voter,
        note=f"without failed runs of the application: {runs:,}" if runs else "",
    )


def compare(a: Votes, b: Votes, *, paired: bool = True) -> Figure:
    """Return the pass rate of b minus that of a.

    Paired, the cases are those whose id, or content, is in both, and that are decided in both. A case that is repeated
    counts once, with the mean of its verdicts. Cases are together that are in one group of either batch. The interval
    excludes 0 only if the exact McNemar test, or for groups and repeated cases a t test, has p < 0.05.

    If 30 cases, or all, have human labels of both answers, the difference is corrected like :func:`true_pass_rate`,
    with the differences of verdicts in place of f, and those of labels in place of y. The estimate is then of all
    cases. A label is one of the answer in its row: labels that were copied to the answers of another version hide its
    difference. If content and label of all labelled cases are the same in both batches, as of answers that two juries
    judged, labels say nothing of a difference, and do not count. The note says so, and how often either side alone
    agrees with them.

    Args:
        a: the votes on one system.
        b: those on another.
        paired: whether both systems answered the same cases. Else the samples are independent, and labels do not count.

    Returns:
        The difference, -1..1. Of pairs, the details have ``p_value``, ``a_only`` and ``b_only``, the numbers of cases
        that pass in one only. If labels correct it, they are those of :func:`true_pass_rate`. If both sides have
        the same answers, ``agreement`` has these three numbers for verdicts that agree with labels.

    Raises:
        ConfigurationError: no case is in both, or votes do not mean PASS and FAIL.

    Sources: Q. McNemar (1947), *Note on the sampling error of the difference between correlated proportions or
    percentages*; R. G. Newcombe (1998), *Interval estimation for the difference between independent proportions*,
    method 10, for independent samples, with Wilson's intervals of effective cases.

    >>> a, b = (Votes.from_rows([["yes"]] * passed + [["no"]] * failed) for passed, failed in ((48, 32), (56, 14)))
    >>> print(compare(a, b, paired=False))
    difference of pass rates 0.200 [0.052, 0.334] (n = 150)
    """
    if not paired:
        return _unpaired_difference(pass_rate(a), pass_rate(b))
    keys = np.intersect1d(a.keys[a.keys != ""], b.keys[b.keys != ""])
    if not len(keys):
        raise ConfigurationError("no id is in both; paired=False compares independent samples")
    (first, labels_a, groups_a, content_a), (second, labels_b, groups_b, content_b) = _by_key(a, keys), _by_key(b, keys)
    groups, labels = group_numbers(groups_a + 1, groups_b + 1), labels_b - labels_a
    found = _difference_of_verdicts(first, second, groups)
    moved, known = np.abs(second - first) > 0, ~np.isnan(labels)
    if not known.any():
        return found
    if ((content_a == content_b) & (content_a != 0) & (labels == 0))[known].all():
        agrees = np.abs(first - labels_a) - np.abs(second - labels_b)
        alone = {
            "a_only": int((agrees == -1).sum()),
            "b_only": int((agrees == 1).sum()),
            "p_value": sign_test(agrees[~np.isnan(agrees)], groups[~np.isnan(agrees)]),
        }
        return replace(
            found,
            note=join_notes(
                found.note,
                "not corrected by human labels: the answers are the same on both sides; verdicts of the first batch "
                f"alone agree with the labels on {alone['a_only']:,} cases, and of the second alone on "
                f"{alone['b_only']:,} (p {alone['p_value']:.2g})",
            ),
            details={**found.details, "agreement": alone},
        )
    corrected = _correct(
        "difference of true pass rates",
        labels,
        np.nan_to_num(second, nan=_UNDECIDED) - np.nan_to_num(first, nan=_UNDECIDED),
        groups,
        {"different verdicts": moved, "verdicts of PASS in a": first == 1, "verdicts of PASS in b": second == 1},
        lowest=-1.0,
        fewest=min(FEW, len(labels)),
        note="" if labels[known].any() else "human labels are the same on both sides, though the answers may differ",
    )
    return (
        replace(found, note=join_notes(found.note, f"not corrected: {corrected.note}"))
        if corrected.value is None
        else corrected
    )


def _difference_of_verdicts(first: Floats, second: Floats, groups: Ints) -> Figure:
    """Return the difference of the pairs that are decided, with the bounds of that of all in the note."""
    apart = second - first
    decided = ~np.isnan(apart)
    bounds = [(np.nan_to_num(second, nan=end) - np.nan_to_num(first, nan=1 - end)).mean() for end in (0, 1)]
    note = f"{(~decided).sum():,} of {len(apart):,} pairs undecided: {' to '.join(map(decimals, bounds))} of all"
    return _paired_difference(
        "difference of pass rates", apart[decided], groups[decided], "" if decided.all() else note
    )


def _paired_difference(name: str, apart: Floats, groups: Ints, note: str = "") -> Figure:
    """Return the mean of differences in -1..1, with a test of 0."""
    found = figure(
        name,
        np.column_stack([apart, np.ones(len(apart))]),
        mean,
        groups,
        added=[(1, 1), (-1, 1)],
        chances=(0.5, 0.5),
        bounds=(-1, 1),
        note=note,
        details={"a_only": int((apart == -1).sum()), "b_only": int((apart == 1).sum())},
    )
    return with_test(found, sign_test(apart, groups))


def _unpaired_difference(a: Figure, b: Figure) -> Figure:
    """Return the difference of two independent shares."""
    name, note = "difference of pass rates", join_notes(a.note and f"a: {a.note}", b.note and f"b: {b.note}")
    if a.value is None or b.value is None:
        return undefined(name, a.n + b.n, note)
    (low_a, high_a), (low_b, high_b), value = a.interval or (0, 1), b.interval or (0, 1), b.value - a.value
    ends = value - hypot(b.value - low_b, high_a - a.value), value + hypot(high_b - b.value, a.value - low_a)
    return Figure(name, value, a.n + b.n, ends, note=note)


def _verdicts(votes: Votes, voter: str) -> Floats:
    """Return verdicts, or human labels, as 1, 0, and NaN where there is none."""
    said = votes.said(voter)
    scored = voter != PEOPLE and (said == MISSING).all() and not np.isnan(votes.scores[:, votes.column(voter)]).all()
    if scored or not votes.binary:
        what = "scores; votes of 1 and 0 are True and False" if scored else ", ".join(votes.labels[:10])
        raise ConfigurationError(f"a pass rate counts PASS and FAIL, not {what}")
    return np.where(said == MISSING, np.nan, said == 1)


def _by_key(votes: Votes, keys: Texts) -> tuple[Floats, Floats, Ints, Ints]:
    """Return the mean verdict, the mean label, the group and the content of each key."""
    chosen = np.isin(votes.keys, keys)
    first, place = np.unique(votes.keys[chosen], return_index=True, return_inverse=True)[1:]
    verdicts, labels = (
        over(*sums_by_group(np.column_stack([np.nan_to_num(values), ~np.isnan(values)])[chosen], place).T)
        for values in (_verdicts(votes, JURY), _verdicts(votes, PEOPLE))
    )
    return verdicts, labels, votes.groups[chosen][first], votes.contents[chosen][first]


def _correct(
    name: str,
    labels: Floats,
    verdicts: Floats,
    groups: Ints,
    facts: Mapping[str, Bools],
    *,
    lowest: float,
    fewest: int = 2,
    of: str = "",
    note: str = "",
) -> Figure:
    """Return the prediction-powered mean of labels in ``lowest``..1, which are NaN where there is none."""
    known, n = ~np.isnan(labels), len(labels)
    if known.sum() < fewest:
        return undefined(name, n, join_notes(f"fewer than {fewest} cases with human labels", note), of=of)
    if why := selection(known, groups, facts):
        return undefined(name, n, join_notes(why, note), of=of)
    if known.all():
        return (
            _paired_difference(name, labels, groups, note)
            if lowest
            else share(name, labels == 1, known, groups, of=of, note=note)
        )
    ends, ones, zeros = np.array([lowest, 1.0]), np.ones(2), np.zeros(2)
    items = _columns(known.astype(np.float64), np.nan_to_num(labels), verdicts)
    found = figure(
        name,
        items,
        _ppi,
        groups,
        added=np.vstack(
            [_columns(ones, ends, ends[::-1] if lowest == 0 else zeros), _columns(zeros, zeros, ends)],
        ),
        chances=(1,) * 4,
        bounds=(lowest, 1),
        kind=0,
        of=of,
        note=note,
        details={
            "labelled": int(known.sum()),
            "unlabelled": int((~known).sum()),
            "labels": float(labels[known].mean()),
            "lam": float(_weight(items.sum(axis=0)[None])[0]),
        },
    )
    return replace(found, value=min(1.0, max(lowest, found.value or 0.0)))


def sample_facts(votes: Votes, voter: str = JURY) -> dict[str, Bools]:
    """Return the facts about cases that are as frequent among labelled ones, if these are a random sample."""
    said, panel = votes.said(voter), votes.codes[:, votes.panel]
    sure = np.nan_to_num(votes.confidences[:, votes.column(voter)], nan=-1.0)
    return {
        "verdicts of PASS": said == 1,
        "decided verdicts": said != MISSING,
        "votes that all agree": (panel == panel[:, :1]).all(axis=1),
        "a confidence above the mean": sure > sure.sum() / max(1, len(sure)),
    }


def selection(known: Bools, groups: Ints, facts: Mapping[str, Bools]) -> str:
    """Return why labelled cases are no random sample; empty if they may be one.

    Args:
        known: per case, whether it has a label.
        groups: the group of each case.
        facts: facts by name, as of :func:`sample_facts`.
    """
    p_values = {fact: random_sample_test(known, holds, groups) for fact, holds in facts.items()}
    if p_values[fact := min(p_values, key=p_values.__getitem__)] >= NOT_RANDOM:
        return ""
    here, there = (decimals(float(facts[fact][side].mean())) for side in (known, ~known))
    return f"labelled cases are no random sample: {here} of them have {fact}, and {there} of the others"


def _columns(known: Floats, labels: Floats, verdicts: Floats) -> Floats:
    """Return the columns whose sums :func:`_weight` and :func:`_ppi` take: four of labelled cases, then of others."""
    return np.column_stack(
        [
            *(known, labels * known, verdicts * known, labels * verdicts * known),
            *(1 - known, verdicts * (1 - known), verdicts**2),
        ]
    )


def _weight(sums: Floats) -> Floats:
    """Return the lam of PPI++, in 0..1; 0 for verdicts that do not vary."""
    n, y, f, yf, rest, g, ff = sums.T
    covariance = over(yf, n) - over(y, n) * over(f, n)
    variance = over(ff, n + rest) - over(f + g, n + rest) ** 2
    return np.clip(np.nan_to_num(over(covariance, (1 + over(n, rest)) * variance)), 0, 1)


def _ppi(sums: Floats) -> Floats:
    n, y, f, _, rest, g, _ = sums.T
    lam = _weight(sums)
    return lam * np.nan_to_num(over(g, rest)) + over(y - lam * f, n)


def random_sample_test(labelled: Bools, holds: Bools, groups: Ints) -> float:
    """Return the two-sided p value of the hypothesis that the labelled cases are a random sample.

    It is Fisher's exact test of whether a fact is as frequent among labelled cases as among the others. In groups,
    either cases or whole groups may have been drawn. So it is twice the smaller p value of two tests: the exact test
    within groups, and one of whether the labelled groups have the fact as often. It takes the labelled shares of groups
    as a permutation of those observed, and t with the effective number of groups that have the fact more or less often.

    Args:
        labelled: per case, whether it has a label.
        holds: per case, whether the fact holds.
        groups: the group of each case.

    Sources: R. A. Fisher (1935), *The Design of Experiments*; M. W. Birch (1964), *The detection of partial
    association*; E. J. G. Pitman (1937), *Significance tests which may be applied to samples from any populations,
    II*, for the variance over permutations.

    >>> labelled, passed = np.arange(30) < 10, np.arange(30) < 15
    >>> round(random_sample_test(labelled, passed, np.arange(30)), 4)
    0.0002
    """
    if len(np.unique(groups)) == len(groups):
        return _within(labelled, holds, 0 * groups)
    size, labels, facts = sums_by_group(np.column_stack([np.ones(len(groups)), labelled, holds]), groups).T
    shares, excess = labels / size - (labels / size).mean(), facts - holds.mean() * size
    error = np.sqrt((shares @ shares) * (excess @ excess) / max(1, len(size) - 1))
    between = student(float(over(shares @ excess, error)), excess)
    return min(1.0, 2 * min(between, _within(labelled, holds, groups)))


def _within(labelled: Bools, holds: Bools, groups: Ints) -> float:
    """Return the p value of the exact test in which the numbers of each group are fixed."""
    chances, observed = np.ones(1), 0
    columns = np.column_stack([np.ones(len(groups)), labelled, holds, labelled & holds]).astype(np.float64)
    for size, labels, facts, both in sums_by_group(columns, groups).astype(np.int64).tolist():
        numbers = np.arange(max(0, facts - (size - labels)), min(facts, labels) + 1)
        # The hypergeometric chances up to a factor: scipy's own take seconds for large groups.
        logs = special.betaln(facts - numbers + 1, numbers + 1) + special.betaln(
            size - facts - labels + numbers + 1, labels - numbers + 1
        )
        weights = np.exp(logs.min() - logs)
        chances = np.convolve(chances, weights / weights.sum())
        observed += both - int(numbers[0])
    return min(1.0, 2 * float(min(chances[: observed + 1].sum(), chances[observed:].sum())))
