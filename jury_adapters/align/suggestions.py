"""Advice about the jurors of a jury, from judged cases with labels. It is reported, and never applied."""

from __future__ import annotations

from collections.abc import Sequence

from jury_adapters.align.labelled import LabelledCase
from jury_adapters.core.clustered_shares import sign_flip_test
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict import Verdict

_LEVEL = 0.01


def suggestions_of(cases: Sequence[LabelledCase], judgments: Sequence[Judgment]) -> tuple[str, ...]:
    """Return how many cases were not decided, and the jurors that agree with the labels less often than the best one.

    A juror is named if the difference is significant by an exact paired test.
    """
    right: dict[str, dict[int, bool]] = {}
    for place, (one, judgment) in enumerate(zip(cases, judgments, strict=True)):
        for juror in judgment.judgments if isinstance(judgment, Verdict) else ():
            if juror.status in (Status.PASS, Status.FAIL):
                right.setdefault(juror.critic, {})[place] = (juror.status is Status.PASS) is one.passed
    undecided = [judgment for judgment in judgments if judgment.status not in (Status.PASS, Status.FAIL)]
    said = []
    if undecided:
        why = undecided[0].error or undecided[0].reasoning or "no PASS or FAIL"
        said = [f"{len(undecided)} of {len(cases)} cases were not decided, and count as wrong; the first: {why[:200]}"]
    if len(right) < 2:
        return tuple(said)
    best = max(right, key=lambda name: sum(right[name].values()) / len(right[name]))
    return tuple(said) + tuple(
        f"{name} agrees with the labels in {sum(found.values())} of {len(found)} cases, {best} in "
        f"{sum(right[best].values())} of {len(right[best])}: drop it, or weigh it less"
        for name, found in right.items()
        if name != best and _is_worse(found, right[best], cases)
    )


def _is_worse(found: dict[int, bool], best: dict[int, bool], cases: Sequence[LabelledCase]) -> bool:
    differences: dict[str, int] = {}
    for place in found.keys() & best.keys():
        group = cases[place].group
        differences[group] = differences.get(group, 0) + best[place] - found[place]
    return sum(differences.values()) > 0 and sign_flip_test(differences.values()) <= _LEVEL
