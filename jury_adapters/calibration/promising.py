"""From labelled cases to a guarantee: run the tiers, compare with people, choose thresholds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Unpack

import numpy as np

from jury_adapters.calibration.binomial import check_level, upper_bound
from jury_adapters.calibration.gold import Truths, gold_of
from jury_adapters.calibration.guarantee import Groups, Guarantee, NothingToPromise
from jury_adapters.calibration.thresholds import Method, Outcome, Trials, check_method, choose_thresholds, fewest_labels
from jury_adapters.calibration.votes import Floats
from jury_adapters.core.batch import BatchOptions, stream
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.judgment import Judgment


@dataclass(frozen=True, slots=True)
class TierRuns:
    """Labelled cases as every tier judged them.

    Attributes:
        trials: confidences, and what agrees with people.
        costs: items x tiers, US dollars.
        priced: whether any price is known.
    """

    trials: Trials
    costs: Floats
    priced: bool


def promised(
    cascade: CascadedJury,
    labelled_cases: Iterable[CaseLike | tuple[CaseLike, str | bool]],
    agreement: float,
    delta: float,
    method: Method,
    *,
    fingerprint: str,
    groups: Groups | None,
    pass_labels: Collection[str],
    seed: int,
    **options: Unpack[BatchOptions],
) -> Guarantee:
    """The guarantee that the labelled cases support; see :func:`jury_adapters.calibration.guarantee.calibrate`."""
    check_level(agreement, "agreement")
    check_level(delta, "delta")
    check_method(method)
    alpha = 1 - agreement
    cases, truths = gold_of(labelled_cases)
    if groups is not None:
        chosen = _one_per_group([group_of(case, groups) for case in cases], seed)
        cases, truths = [cases[i] for i in chosen], [truths[i] for i in chosen]
    fewest = fewest_labels(alpha, delta, method, len(cascade.tiers))
    if len(cases) < fewest:
        what = "independent labelled cases (one per group)" if groups is not None else "labelled cases"
        raise NothingToPromise(
            f"{len(cases)} {what} are too few: to promise an agreement of {agreement:g} with delta={delta:g}, at least "
            f"{fewest} are needed even if not one disagrees. Label more, or promise less"
        )
    runs = run_tiers(cascade, cases, truths, pass_labels, **options)
    outcome, found_by = choose_thresholds(runs.trials, alpha, delta, method)
    if not outcome.decided:
        raise NothingToPromise(_nothing_passed(cascade, runs.trials, agreement, delta, method))
    level = delta / 2 if method == "both" else delta
    names = [tier.name for tier in cascade.tiers]
    thresholds = {name: None if isinf(value) else value for name, value in zip(names, outcome.thresholds, strict=True)}
    return Guarantee(
        agreement=agreement,
        delta=delta,
        method=method,
        found_by="path" if found_by == "path" else "per_tier",
        thresholds=thresholds,
        n=outcome.items,
        decided=outcome.decided,
        errors=outcome.errors,
        bound=_bound(runs.trials, outcome, found_by, level),
        coverage=outcome.decided / outcome.items,
        tier_shares={name: count / outcome.items for name, count in zip(names, outcome.per_tier, strict=True)},
        cost_expected=_expected_cost(runs, outcome) if runs.priced else None,
        fingerprint=fingerprint,
    )


def run_tiers(
    cascade: CascadedJury,
    cases: Sequence[Case],
    truths: Sequence[str],
    pass_labels: Collection[str] = (),
    **options: Unpack[BatchOptions],
) -> TierRuns:
    """Have every tier judge every case, and compare what it says with people."""
    judged = [[each.judgment for each in stream(_asking_all(tier.judge), cases, **options)] for tier in cascade.tiers]
    meaning = Truths.of([judgment for tier in judged for judgment in tier], pass_labels)
    confidences = np.array([[_confidence(judgment) for judgment in tier] for tier in judged], dtype=np.float64).T
    correct = np.array(
        [[meaning.agrees(judgment, truth) for judgment, truth in zip(tier, truths, strict=True)] for tier in judged]
    ).T
    costs = np.array([[_cost(judgment, tier.judge) for judgment in said]
                      for tier, said in zip(cascade.tiers, judged, strict=True)], dtype=np.float64).T  # fmt: skip
    return TierRuns(Trials(confidences, correct & (confidences >= 0)), costs, bool(costs.any()))


def group_of(case: Case, groups: Groups) -> object:
    """What the case belongs to: an entry of its metadata by path, or what a function says of it."""
    if not isinstance(groups, str):
        return groups(case)
    value: object = case.metadata
    for step in groups.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        raise ConfigurationError(
            f"a labelled case has no {groups} in its metadata, which was named as what groups cases"
        )
    return value if isinstance(value, str | int | float) else repr(value)


def _asking_all(judge: Judge) -> Judge:
    """A tier that decides by its confidence asks all its jurors, frugal or not."""
    return judge.stopping_at(None) if isinstance(judge, Ensemble) else judge


def _confidence(judgment: Judgment) -> float:
    """As the cascade reads it: without an opinion or a confidence there is nothing to accept."""
    return -1.0 if not judgment.valid or judgment.confidence is None else judgment.confidence


def _cost(judgment: Judgment, judge: Judge) -> float:
    """What it cost; the judge's own estimate where the judgment does not say."""
    return judgment.usage.cost_usd if judgment.usage.calls else judge.cost


def _one_per_group(groups: Sequence[object], seed: int) -> list[int]:
    """One position of each group, drawn without looking at anything else."""
    members: dict[object, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    draw = np.random.default_rng(seed)
    return sorted(positions[int(draw.integers(len(positions)))] for positions in members.values())


def _bound(trials: Trials, outcome: Outcome, found_by: Method, level: float) -> float:
    if found_by == "path":
        return upper_bound(outcome.errors, outcome.decided, level)
    tier = trials.decided_by(outcome.thresholds)
    bounds = []
    for at, decided in enumerate(outcome.per_tier):
        if decided:
            errors = int((~trials.correct[tier == at, at]).sum())
            bounds.append(upper_bound(errors, decided, level / len(outcome.per_tier)))
    return max(bounds)


def _expected_cost(runs: TierRuns, outcome: Outcome) -> float:
    """The mean over the labelled cases of what the tiers that run on them cost."""
    tiers = runs.costs.shape[1]
    decided_by = runs.trials.decided_by(outcome.thresholds)
    last = np.where(decided_by < 0, tiers - 1, decided_by)
    runs_at_all = ~np.isinf(np.asarray(outcome.thresholds))
    asked = (np.arange(tiers) <= last[:, None]) & runs_at_all
    return float((runs.costs * asked).sum(axis=1).mean())


def _nothing_passed(cascade: CascadedJury, trials: Trials, agreement: float, delta: float, method: Method) -> str:
    said = trials.confidences >= 0
    shares = [
        f"{tier.name} agrees on {right / n:.1%} of the {n} cases on which it has a verdict" if n else
        f"{tier.name} gave no verdict with a confidence"
        for tier, right, n in zip(cascade.tiers, trials.correct.sum(axis=0), said.sum(axis=0), strict=True)
    ]  # fmt: skip
    return (
        f"no threshold keeps an agreement of {agreement:g} with delta={delta:g} on {len(trials.correct)} labelled "
        f"cases: {'; '.join(shares)}. {_what_would_help(trials, agreement, delta, method)}"
    )


def _what_would_help(trials: Trials, agreement: float, delta: float, method: Method) -> str:
    """More labels, if the same shares among more of them would pass; a lower promise; else a better tier."""
    ways = []
    items = len(trials.correct)
    for times in (1.5, 2, 3, 5, 10):
        more = np.arange(int(items * times)) % items
        if choose_thresholds(trials.take(more), 1 - agreement, delta, method)[0].decided:
            ways.append(f"label more (about {len(more)} cases, if they come out like these)")
            break
    for lower in (round(agreement - 0.01 * step, 4) for step in range(1, 41)):
        if lower > 0 and choose_thresholds(trials, 1 - lower, delta, method)[0].decided:
            ways.append(f"promise less (these labels would do for {lower:g})")
            break
    ways.append("add a tier that people agree with more")
    told = ", or ".join(ways)
    return told[0].upper() + told[1:]
