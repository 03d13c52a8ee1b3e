"""Calibration on labelled cases: run the tiers, compare with human labels, choose thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Unpack

import numpy as np

from jury_adapters.calibration.binomial import check_level, upper_bound
from jury_adapters.calibration.broken_cases import BrokenCases
from jury_adapters.calibration.failure import CalibrationFailed
from jury_adapters.calibration.failure_messages import Baseline, Target
from jury_adapters.calibration.gold import LabelledCases, gold_of
from jury_adapters.calibration.group_sizes import warn_of_large_groups
from jury_adapters.calibration.guarantee import (
    CalibratedJury,
    Groups,
    Guarantee,
    cascade_of,
    fingerprint_of,
)
from jury_adapters.calibration.judgment_costs import costs_of
from jury_adapters.calibration.screening_tiers import (
    ScreeningResult,
    is_screening_tier,
    run_screening_tiers,
    screening_tiers_of,
)
from jury_adapters.calibration.simulated_grants import simulate_grants
from jury_adapters.calibration.thresholds import Method, Outcome, Trials, check_method, choose_thresholds
from jury_adapters.calibration.tier_confidences import TierConfidences
from jury_adapters.calibration.types import Floats
from jury_adapters.core.batch import BatchOptions, stream
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import LabelMeanings, check_pass_labels
from jury_adapters.core.judge import CaseLike
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import ABSTAINED


@dataclass(frozen=True, slots=True)
class TierRuns:
    """Judgments of every tier on labelled cases, without those on which a juror broke.

    Attributes:
        trials: the confidences, and the agreement with human labels.
        costs: items x tiers, US dollars.
        screened: the number of cases that screening tiers decide.
        screened_errors: the number of these that disagree with human labels.
        broken: the cases that are left out, because a juror broke on them.
        positions: the positions of the cases of ``trials``.
        truths: their human labels.
        of_tiers: the confidences of the tiers, with those that state none.
        reasons: the reasons of the abstentions, without repetitions.
    """

    trials: Trials
    costs: Floats
    screened: int
    screened_errors: int
    broken: BrokenCases
    positions: Sequence[int]
    truths: Sequence[str]
    of_tiers: TierConfidences
    reasons: Sequence[str]

    @property
    def cases(self) -> int:
        """Number of cases that are not left out."""
        return len(self.trials.correct) + self.screened


def calibrate(
    cascade: Jury,
    labelled_cases: Iterable[CaseLike | tuple[CaseLike, str | bool]],
    agreement: float = 0.9,
    delta: float = 0.1,
    method: Method = "both",
    *,
    groups: Groups | None = None,
    pass_labels: Collection[str] = (),
    seed: int = 0,
    **options: Unpack[BatchOptions],
) -> CalibratedJury:
    """Choose a cascade's thresholds so that its decisions agree with human labels, with a statistical guarantee.

    Every tier judges every labelled case. Then thresholds of confidence are tested, strict ones first, each with ``p =
    P(Bin(decided, 1 - agreement) <= errors)``, until one fails (fixed-sequence testing; Learn then Test, arXiv
    2110.01052; Trust or Escalate, arXiv 2407.18370). The confidences need not be calibrated: if they mislead, little or
    nothing passes.

    Calibrations of these sizes are then simulated, to estimate how often one grants the guarantee to a jury that is not
    good enough, and how often to one as good as this one seems; see :class:`Guarantee`.

    Args:
        cascade: tiers from cheap to costly. Their policies are replaced by thresholds; jurors and voting rules are
            kept. A jury without tiers is one tier, named ``jury``. Screening tiers at its start
            (``reject_on_any_fail``, ``accept_on_all_pass``) are kept unchanged: the rest is calibrated on the labelled
            cases that they let through, and the guarantee is about such cases. The judge of a tier may be a single
            one. If it states no confidence on any case, each of its verdicts counts as the vote of a jury of one, with
            a confidence of 1.
        labelled_cases: cases with human labels in ``metadata["gold"]`` (a column ``gold``), or pairs ``(case, gold)``.
            They must be like the future cases, independent, and not used to fit reliabilities or prompts. An item
            that is given several times (the same content, and the same id or none) counts once. A case on which a
            juror breaks is left out: an outage is not an opinion.
        agreement: the share of decided cases that is to agree with human labels, 0..1.
        delta: the probability with which the guarantee may fail, 0..1.
        method: ``"path"``: one threshold common to all tiers, which is best if their confidences are on one scale.
            ``"per_tier"``: one for each, at ``delta / tiers``, best if one tier is much better or its confidences
            mean little; it follows the published procedure, whose proof holds for each tier by itself. ``"both"``:
            each at ``delta / 2``, and the one that decides more.
        groups: the group of a case, such as ``"meta.program"`` (a path in the case's metadata) or a function of
            the case. Cases of one group are not independent, so one of each group is drawn and the others are left
            out. The guarantee is then about a random case of a random group: each group counts once, whatever its size.
            If large groups are judged so much worse that the share of all cases may miss the guarantee, a warning is
            logged.
        pass_labels: the human labels that mean PASS, if juries vote PASS and FAIL and the labels are other words.
            Not needed if a juror's own label shows it.
        seed: the seed of the draw from groups and of the simulated calibrations.
        **options: as for :meth:`Judge.judge_many`, such as ``store=``.

    Raises:
        CalibrationFailed: there are too few labelled cases, no threshold gives the guarantee, no tier gave a verdict on
            any case, or the ``budget=`` was spent before every tier had judged every case; the message says what would
            help.
        ContradictingLabels: an item that is given several times has different labels.
        ConfigurationError: labels cannot be compared, no case has one of the ``pass_labels``, a screening tier follows
            a tier that is calibrated, or an option is invalid.

    >>> calibrated = calibrate(cascade, cases, agreement=0.9)  # doctest: +SKIP
    >>> print(calibrated.guarantee)  # doctest: +SKIP
    At least 90.0% of the decided cases agree with human labels, with a confidence of 90%. ...
    """
    whole = cascade_of(cascade)
    target = _target_of(whole, agreement, delta, method, groups)
    screening_tiers = screening_tiers_of(whole)
    tiers = whole.tiers[len(screening_tiers) :]
    labelled = gold_of(labelled_cases)
    cases, truths, sizes = _independent(labelled, pass_labels, groups, seed)
    target.check_number(len(cases))
    budget = options.get("budget")
    refused = 0 if budget is None else budget.refused
    screening = run_screening_tiers(screening_tiers, cases, **options)
    target.check_number(len(screening.reached), len(screening.decided))
    runs = run_tiers(tiers, cases, truths, screening, pass_labels, **options)
    if budget is not None and budget.refused > refused:
        raise CalibrationFailed(
            f"the budget was spent: {counted(budget.refused - refused, 'call was', 'calls were')} not made, and every "
            "tier has to judge every labelled case; give a larger budget. With a store, nothing is paid for twice"
        )
    target.check_number(len(runs.trials.correct), runs.screened, runs.broken.sentence)
    runs.broken.warn()
    target.check_verdicts(runs.trials, runs.reasons)
    outcome, found_by = choose_thresholds(runs.trials, 1 - agreement, delta, method)
    grants = simulate_grants(runs.trials, agreement, delta, method, seed=seed)
    if not outcome.decided:
        baseline = Baseline.of(runs.truths, pass_labels)
        refusal = target.refusal(runs.trials, baseline, runs.screened, runs.of_tiers.unstated)
        broken = f" {runs.broken.sentence}." if runs.broken.positions else ""
        raise CalibrationFailed(f"{refusal}.{broken} {grants.sentence(agreement)}", grants)
    decided_by = runs.trials.decided_by(outcome.thresholds)
    decided = np.flatnonzero(decided_by >= 0)
    constant = Baseline.of([runs.truths[at] for at in decided.tolist()], pass_labels)
    wrong = ~runs.trials.correct[decided, decided_by[decided]]
    warn_of_large_groups(wrong, [sizes[runs.positions[at]] for at in decided.tolist()], 1 - agreement)
    asked = [tier for tier, threshold in zip(tiers, outcome.thresholds, strict=True) if not isinf(threshold)]
    priced = all(tier.judge.priced for tier in (*screening_tiers, *asked))
    guarantee = Guarantee(
        agreement=agreement,
        delta=delta,
        method=method,
        found_by="path" if found_by == "path" else "per_tier",
        thresholds={
            tier.name: None if isinf(value) else value for tier, value in zip(tiers, outcome.thresholds, strict=True)
        },
        n=outcome.items,
        decided=outcome.decided,
        errors=outcome.errors,
        bound=_bound(runs.trials, outcome, found_by, delta / 2 if method == "both" else delta),
        coverage=outcome.decided / outcome.items,
        tier_shares={tier.name: count / outcome.items for tier, count in zip(tiers, outcome.per_tier, strict=True)},
        full_votes=tuple(tier.name for tier, full in zip(tiers, runs.of_tiers.full_votes, strict=True) if full),
        cost_expected=screening.cost / len(cases) + _cost_of_tiers(runs, outcome) / runs.cases if priced else None,
        screening_tiers=tuple(tier.name for tier in screening_tiers),
        screened=runs.screened,
        screened_errors=runs.screened_errors,
        merged=labelled.merged,
        broken=len(runs.broken.positions),
        constant=constant.label,
        constant_agreement=constant.share,
        granted_if_false=grants.if_false,
        granted_as_seen=grants.as_seen,
        simulated_runs=grants.runs,
        fingerprint=fingerprint_of(whole),
    )
    return CalibratedJury(whole, guarantee, Counter(runs.truths))


def run_tiers(
    tiers: Sequence[Tier],
    cases: Sequence[Case],
    truths: Sequence[str],
    screening: ScreeningResult,
    pass_labels: Collection[str] = (),
    **options: Unpack[BatchOptions],
) -> TierRuns:
    """Run every tier on every case that screening lets through, and compare the judgments with human labels."""
    reached = [cases[position] for position in screening.reached]
    judged = [[each.judgment for each in stream(tier.judge.asking_everyone(), reached, **options)] for tier in tiers]
    said = [*(judgment for tier in judged for judgment in tier), *screening.decided.values()]
    meaning = LabelMeanings.of(said, pass_labels, truths)
    of_each: list[list[Judgment]] = [[verdict] for verdict in screening.verdicts] or [[] for _ in cases]
    for at, position in enumerate(screening.reached):
        of_each[position] += [tier[at] for tier in judged]
    broken = BrokenCases.among(of_each)
    left_out = set(broken.positions)
    sound = [at for at, position in enumerate(screening.reached) if position not in left_out]
    judged = [[tier[at] for at in sound] for tier in judged]
    positions = [screening.reached[at] for at in sound]
    true = [truths[position] for position in positions]
    of_tiers = TierConfidences.of(judged)
    correct = np.array(
        [[meaning.agrees(judgment, truth) for judgment, truth in zip(tier, true, strict=True)] for tier in judged],
        dtype=np.bool_,
    ).T
    costs = np.array([costs_of(each, tier.judge) for tier, each in zip(tiers, judged, strict=True)], dtype=np.float64).T
    screened = {position: verdict for position, verdict in screening.decided.items() if position not in left_out}
    wrong = sum(not meaning.agrees(verdict, truths[position]) for position, verdict in screened.items())
    trials = Trials(of_tiers.values, correct & (of_tiers.values >= 0))
    reasons = dict.fromkeys(one.reasoning for tier in judged for one in tier if not one.valid and one.reasoning)
    return TierRuns(trials, costs, len(screened), wrong, broken, positions, true, of_tiers, list(reasons))


def group_of(case: Case, groups: Groups) -> object:
    """Return the group of a case: an entry of its metadata by path, or the result of a function."""
    if not isinstance(groups, str):
        return groups(case)
    return group_of_case(case, None, groups, "a labelled case")


def _check_tiers(cascade: CascadedJury) -> None:
    if isinstance(cascade, CalibratedJury):
        raise ConfigurationError("this cascade is calibrated already; calibrate its .calibrated again")
    behind = next((tier for tier in cascade.tiers[len(screening_tiers_of(cascade)) :] if is_screening_tier(tier)), None)
    if behind is not None:
        raise ConfigurationError(
            f"tier {behind.name!r} is {behind.policy} and comes after a tier that is calibrated; a screening tier "
            "decides by rule and has no confidence that could be calibrated: move it to the front, before all other "
            "tiers"
        )
    if any(tier.name == ABSTAINED for tier in cascade.tiers):
        raise ConfigurationError(f"the name {plain_repr(ABSTAINED)} is taken by the tier that abstains; rename yours")


def check_calibration(
    cascade: Jury,
    labelled_cases: Iterable[CaseLike | tuple[CaseLike, str | bool]],
    agreement: float = 0.9,
    delta: float = 0.1,
    method: Method = "both",
    *,
    groups: Groups | None = None,
    pass_labels: Collection[str] = (),
) -> None:
    """Refuse what :func:`calibrate` refuses before any juror is asked; the arguments are the same.

    Raises:
        ConfigurationError: as for :func:`calibrate`.
        CalibrationFailed: there are too few labelled cases, or groups of them, for any guarantee.
    """
    target = _target_of(cascade_of(cascade), agreement, delta, method, groups)
    target.check_number(len(_independent(gold_of(labelled_cases), pass_labels, groups, 0)[0]))


def _target_of(cascade: CascadedJury, agreement: float, delta: float, method: Method, groups: Groups | None) -> Target:
    check_level(agreement, "agreement")
    check_level(delta, "delta")
    check_method(method)
    _check_tiers(cascade)
    tiers = cascade.tiers[len(screening_tiers_of(cascade)) :]
    return Target(agreement, delta, method, tuple(tier.name for tier in tiers), grouped=groups is not None)


def _independent(
    labelled: LabelledCases, pass_labels: Collection[str], groups: Groups | None, seed: int
) -> tuple[list[Case], list[str], list[int]]:
    """Return the labelled cases, their labels and the sizes of their groups; of each group, a random case."""
    check_pass_labels(labelled.truths, pass_labels)
    if groups is None:
        return labelled.cases, labelled.truths, [1] * len(labelled.cases)
    of_cases = [group_of(case, groups) for case in labelled.cases]
    chosen, sizes = _one_per_group(of_cases, seed), Counter(of_cases)
    return (
        [labelled.cases[at] for at in chosen],
        [labelled.truths[at] for at in chosen],
        [sizes[of_cases[at]] for at in chosen],
    )


def _one_per_group(groups: Sequence[object], seed: int) -> list[int]:
    """Return one random position of each group."""
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


def _cost_of_tiers(runs: TierRuns, outcome: Outcome) -> float:
    """Return the total cost of the tiers that run on the labelled cases."""
    tiers = runs.costs.shape[1]
    decided_by = runs.trials.decided_by(outcome.thresholds)
    last = np.where(decided_by < 0, tiers - 1, decided_by)
    runs_at_all = ~np.isinf(np.asarray(outcome.thresholds))
    asked = (np.arange(tiers) <= last[:, None]) & runs_at_all
    return float((runs.costs * asked).sum())
