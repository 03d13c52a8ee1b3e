"""Suggestions of juries: the best for their cost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import sqrt
from os import PathLike
from typing import Literal

import numpy as np

from jury_adapters.calibration.candidates import Candidate, Evidence
from jury_adapters.calibration.cascade_calibration import group_of
from jury_adapters.calibration.gold import gold_of
from jury_adapters.calibration.judgment_costs import costs_of
from jury_adapters.calibration.quality import balanced_accuracy, quality
from jury_adapters.calibration.resampling import summed
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.batch import stream
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.duplicates import merged_sentence
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.human_labels import LabelMeanings, check_pass_labels
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.jury import Jury
from jury_adapters.core.verdict import Verdict

_SEARCHED = 12  # panels of each size that are extended to larger ones


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One jury, with cross-validated numbers.

    Attributes:
        jurors: the panel; for a cascade, its first tier.
        rule: ``"majority"``, ``"weighted"``, ``"bayes"``, ``"k_veto"``, or ``"cascade"``: the panel decides if it
            is unanimous, else the juror ``final``.
        final: the juror that decides if a cascade's panel disagrees; None otherwise.
        cost: the cost per case, in the unit of :attr:`Suggestions.unit`; for a cascade, the mean over the labelled
            cases.
        balanced_accuracy: the mean of the shares of right verdicts on PASS and on FAIL. Here and in ``accuracy``, an
            abstention counts as half right, so that juries that abstain compare with juries that do not.
        standard_error: the standard error of the balanced accuracy; of cases in groups the cluster-robust one, if it is
            larger.
        accuracy: the share of right verdicts.
        kappa: Cohen's kappa with human labels; None if it is undefined.
        jury: the jury itself, with weights learned from all labelled cases.
    """

    jurors: tuple[str, ...]
    rule: str
    final: str | None
    cost: float
    balanced_accuracy: float
    standard_error: float
    accuracy: float
    kappa: float | None
    jury: Jury = field(repr=False)

    @property
    def name(self) -> str:
        """Short name of the panel and its rule."""
        panel = " + ".join(self.jurors)
        return (
            f"{panel} -> {self.final}" if self.final else panel if len(self.jurors) == 1 else f"{self.rule} of {panel}"
        )


@dataclass(frozen=True, slots=True)
class Suggestions(Sequence[Suggestion]):
    """Pareto front: no jury tried is both cheaper and better than one of these. From cheap to costly.

    Attributes:
        front: the juries.
        unit: the unit of the costs: ``"US$"``, or ``"calls"`` if no juror has a price.
        n: the number of labelled cases.
        tried: the number of juries compared. The best of many looks better than it is, by up to about two standard
            errors; confirm the one you choose on other cases.
        merged: the number of labelled cases that repeat an item and were merged with the first.
    """

    front: tuple[Suggestion, ...]
    unit: Literal["US$", "calls"]
    n: int
    tried: int
    merged: int = 0

    def __getitem__(self, index: int) -> Suggestion:  # type: ignore[override]  # a slice is not needed
        return self.front[index]

    def __len__(self) -> int:
        return len(self.front)

    def __str__(self) -> str:
        lines = [f"{self.unit + ' a case':>14}  balanced accuracy  accuracy  jury"]
        lines += [
            f"{each.cost:14.6g}  {each.balanced_accuracy:8.3f} ± {each.standard_error:.3f}    {each.accuracy:8.3f}  "
            f"{each.name}"
            for each in self.front
        ]
        lines.append(f"Cross-validated on {self.n} labelled cases; {self.tried} juries were compared.")
        return "\n".join([*lines, *([merged_sentence(self.merged, "labelled case")] if self.merged else [])])


def suggest(
    jurors: Sequence[Judge],
    labelled_cases: Iterable[CaseLike | tuple[CaseLike, str | bool]],
    budget: float | None = None,
    *,
    largest: int = 5,
    folds: int = 5,
    groups: str | None = None,
    pass_labels: Collection[str] = (),
    seed: int = 0,
    store: JudgmentCache | str | PathLike[str] | None = None,
) -> Suggestions:
    """Compare panels, voting rules and two-tier cascades of these jurors; return the best for each cost.

    Each juror judges each labelled case once; all juries are computed from these votes. Weights, reliabilities and the
    k of ``k_veto`` are learned on all folds but the one that is predicted.

    Args:
        jurors: the judges to choose from, each PASS or FAIL. The cost of a juror is the mean of what its judgments
            report, else its ``cost``.
        labelled_cases: cases with ``metadata["gold"]``, or pairs ``(case, gold)``, of both kinds.
        budget: the maximum mean cost of a case, in US dollars (in calls if no juror has a price).
        largest: the size of the largest panel to try.
        folds: the number of folds.
        groups: the group of a case, which stays in one fold, such as ``"meta.program"``.
        pass_labels: the human labels that mean PASS; see :func:`calibrate`.
        seed: the seed of the folds.
        store: where judgments are kept, so that none is paid for twice; see :func:`jury_adapters.stream`.

    Raises:
        ConfigurationError: there are too few labelled cases of one kind, no juror that gives PASS or FAIL, a juror of
            unknown price among others that have one, or no jury within the budget.

    >>> print(suggest(jurors, cases, budget=0.002))  # doctest: +SKIP
    """
    panel = Ensemble(jurors, errors="ignore")
    labelled = gold_of(labelled_cases)
    cases, said = labelled.cases, labelled.truths
    check_pass_labels(said, pass_labels)
    verdicts = [each.judgment for each in stream(panel, cases, store=store)]
    belongs = [] if groups is None else [group_of(case, groups) for case in cases]
    meaning = LabelMeanings.of(verdicts, pass_labels, said)
    votes = _votes(panel.names, verdicts, [meaning.status_of(truth) for truth in said], belongs)
    costs, unit = _costs(panel, verdicts)
    evidence = Evidence.of(votes, _folds(votes, folds, seed))
    rated = [_rated(candidate, evidence, costs, panel) for candidate in _searched(evidence, largest)]
    affordable = [each for each in rated if budget is None or each.cost <= budget]
    if not affordable:
        cheapest = min(rated, key=lambda each: each.cost)
        raise ConfigurationError(
            f"no jury costs {budget:g} {unit} a case or less; the cheapest, {cheapest.candidate.panel[0]}, "
            f"costs {cheapest.cost:g}"
        )
    front = [each.built(panel, evidence, votes) for each in _front(affordable)]
    return Suggestions(tuple(front), unit, len(cases), len(rated), labelled.merged)


@dataclass(frozen=True, slots=True)
class _Rated:
    candidate: Candidate
    cost: float
    balanced_accuracy: float
    standard_error: float
    accuracy: float
    kappa: float | None

    def built(self, panel: Ensemble, evidence: Evidence, votes: Votes) -> Suggestion:
        by_name = dict(zip(panel.names, panel.members, strict=True))
        jury = self.candidate.built({name: by_name[name].named(name) for name in by_name}, votes)
        return Suggestion(
            self.candidate.panel, self.candidate.rule, self.candidate.final, self.cost, self.balanced_accuracy,
            self.standard_error, self.accuracy, self.kappa, jury,
        )  # fmt: skip


def _searched(evidence: Evidence, largest: int) -> Iterator[Candidate]:
    """Yield every juror and pair, larger panels that extend the best smaller ones, and cascades on the small panels."""
    names = evidence.votes.jurors
    level = [Candidate((name,), "majority") for name in names]
    yield from level
    panels: list[tuple[str, ...]] = list(combinations(names, 2))
    for size in range(2, min(largest, len(names)) + 1):
        found = [Candidate(panel, rule) for panel in panels for rule in ("majority", "weighted", "bayes", "k_veto")]
        yield from found
        reached = dict.fromkeys(panels, 0.0)
        for candidate in found:
            score = balanced_accuracy(evidence.predict(candidate), evidence.votes.gold)
            reached[candidate.panel] = max(reached[candidate.panel], score)
        best = sorted(panels, key=lambda panel: -reached[panel])[:_SEARCHED]
        if size <= 3:
            yield from (Candidate(panel, "cascade", name) for panel in best for name in names if name not in panel)
        panels = list(dict.fromkeys(
            tuple(name for name in names if name in panel or name == added)
            for panel in best for added in names if added not in panel
        ))  # fmt: skip


def _rated(candidate: Candidate, evidence: Evidence, costs: dict[str, float], panel: Ensemble) -> _Rated:
    predicted, gold = evidence.predict(candidate), evidence.votes.gold
    found = quality(predicted, gold)
    assert found.balanced_accuracy is not None
    assert found.accuracy is not None
    right = np.where(predicted < 0, 0.5, predicted == gold)
    cost = sum(costs[name] for name in candidate.panel)
    if candidate.final:
        cost += costs[candidate.final] * evidence.escalated(candidate.panel)
    return _Rated(
        candidate, cost, found.balanced_accuracy, _standard_error(right, evidence.votes), found.accuracy, found.kappa
    )


def _standard_error(right: Floats, votes: Votes) -> float:
    """Return the standard error of a balanced accuracy; right is 1, 0 or, for an abstention, 0.5.

    Source: K.-Y. Liang and S. L. Zeger (1986), *Longitudinal data analysis using generalized linear models*, Biometrika
    73, for cases in groups.
    """
    parts = [votes.gold == label for label in (0, 1)]
    apart = sqrt(sum(float(right[part].var()) / int(part.sum()) for part in parts)) / 2
    if not votes.grouped:
        return apart
    share = np.zeros(len(right))
    for part in parts:
        share[part] = (right[part] - right[part].mean()) / part.sum() / 2
    sums = summed(share[:, None], votes.groups)
    return max(apart, sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1)))


def _front(rated: Iterable[_Rated]) -> Iterator[_Rated]:
    """Yield the juries from cheap to costly, each better than all before it."""
    best = -1.0
    for each in sorted(rated, key=lambda one: (one.cost, -one.balanced_accuracy, len(one.candidate.panel))):
        if each.balanced_accuracy > best:
            best = each.balanced_accuracy
            yield each


def _votes(
    jurors: tuple[str, ...], verdicts: Sequence[Judgment], truths: Sequence[Status | None], groups: Sequence[object]
) -> Votes:
    rows = [
        [_status(each) for each in verdict.judgments] if isinstance(verdict, Verdict) else [] for verdict in verdicts
    ]
    rows = [row or [None] * len(jurors) for row in rows]
    if not any(vote for row in rows for vote in row):
        raise ConfigurationError("no juror said PASS or FAIL; give recorded critics their pass_labels=")
    for status in (Status.PASS, Status.FAIL):
        if truths.count(status) < 2:
            raise ConfigurationError(
                f"suggest needs labelled cases of both kinds, and {truths.count(status)} are labelled {status}; if "
                "human labels are other words, pass_labels= says which of them mean PASS"
            )
    return Votes.from_rows(
        rows, jurors=jurors, gold=truths, labels=("FAIL", "PASS"), pass_label="PASS", groups=groups
    )  # fmt: skip


def _status(judgment: Judgment) -> str | None:
    return judgment.status.value if judgment.status in (Status.PASS, Status.FAIL) else None


def _costs(panel: Ensemble, verdicts: Sequence[Judgment]) -> tuple[dict[str, float], Literal["US$", "calls"]]:
    """Return, per juror, the mean cost of a labelled case; if no juror has a price, each judgment counts 1.

    Raises:
        ConfigurationError: some jurors have a price, and that of another is unknown: it would look free among them.
    """
    costs = {}
    unpriced = []
    for position, (name, member) in enumerate(zip(panel.names, panel.members, strict=True)):
        judgments = [verdict.judgments[position] for verdict in verdicts if isinstance(verdict, Verdict)]
        if not all(judgment.usage.total.cost_complete for judgment in judgments):
            unpriced.append(name)
        costs[name] = sum(costs_of(judgments, member)) / len(judgments)
    if any(costs.values()):
        if unpriced:
            raise ConfigurationError(
                f"what {', '.join(unpriced)} costs is not known, and it would look free beside the others; say it with "
                "set_price('vendor:model', input=..., output=...)"
            )
        return costs, "US$"
    return {name: float(member.size) for name, member in zip(panel.names, panel.members, strict=True)}, "calls"


def _folds(votes: Votes, folds: int, seed: int) -> Ints:
    """Return the fold of each item; a group stays together."""
    groups = np.unique(votes.groups)
    if not 2 <= folds <= len(groups):
        raise ConfigurationError(
            f"folds is a number from 2 to that of the independent cases, {len(groups)}; not {plain_repr(folds)}"
        )
    fold_of = np.random.default_rng(seed).permutation(len(groups)) % folds
    found: Ints = fold_of[np.searchsorted(groups, votes.groups)]
    return found
