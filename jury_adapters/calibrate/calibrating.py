"""calibrate: judge labelled cases with every tier, compare with the labels, and choose the threshold."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from jury_adapters.calibrate.guarantee import (
    CalibratedJury,
    CalibrationFailed,
    Guarantee,
    share_of,
    sureness,
    tiers_of,
)
from jury_adapters.calibrate.thresholds import Choice, choose, decider
from jury_adapters.core.budget import Budget
from jury_adapters.core.cascade import Tier
from jury_adapters.core.case import Case, CaseLike, refuse_one
from jury_adapters.core.judge import Judge, JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.core.results import Result, facts_of, read_results
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.stats.figures import Bools, Figure, Floats, Ints
from jury_adapters.stats.planning import FEWEST_DECIDED
from jury_adapters.stats.rates import sample_facts, selection
from jury_adapters.stats.votes import MISSING, Votes

_OPEN = abstain("it was not asked")


def calibrate(
    jury: JudgeLike,
    cases: str | Path | Iterable[CaseLike | Result],
    agreement: float = 0.9,
    delta: float = 0.1,
    *,
    label: str = "human_label",
    group: str = "",
    pass_labels: Iterable[Any] = (),
    jury_file: str = "",
    seed: int = 0,
    budget: Budget | None = None,
    **batch: Any,
) -> CalibratedJury:
    """Return the jury with a threshold of confidence, so that what it decides agrees with human labels.

    Every tier judges every labelled case, and the threshold is the most lenient that tests on the labels allow:
    :func:`~jury_adapters.calibrate.thresholds.choose` has the method and its proof. With a probability of at least
    ``1 - delta``, at least a share ``agreement`` of the cases that the returned jury decides agrees with human labels.
    One look at one set of labels has this probability; one calibration after another until one passes has not.

    Screening tiers (``reject_on_any_fail``, ``accept_on_all_pass``) at the start stay as they are. The guarantee is
    about the cases that they let through. Copies of a case, with one id or one content, are in one group.

    Of results, some with and some without a label, the labelled ones must be a random sample. They are tested as for
    :func:`~jury_adapters.stats.true_pass_rate`.

    Args:
        jury: a cascade. Any other judge counts as its only tier.
        cases: labelled cases, drawn from those to come and used for nothing else; others are left out. Or the results
            of this jury, or the path of their file: a tier is asked only about cases on which they lack its judgment.
        agreement: the share that is to agree, between 0 and 1.
        delta: the probability with which the guarantee may fail, above 0 and at most 0.25.
        label: the entry of the metadata that is the human label; a result has a label of its own.
        group: the entry that is the group of a case, such as its document; likewise. One case of each group is drawn,
            so the guarantee is about groups that count once each.
        pass_labels: the human labels that mean PASS, if they are other words than pass, true and yes.
        jury_file: the path of the file of the jury, which the guarantee names.
        seed: another seed draws other cases of the groups. It is fixed before the first calibration.
        budget: the limit on spending; a spent one gives no guarantee.
        **batch: ``store=`` and ``max_concurrency=``, as for :meth:`Judge.judge_many`.

    Raises:
        CalibrationFailed: the labels give no guarantee, or are no random sample.
        ConfigurationError: an argument is out of its range, or the jury cannot be calibrated.
        InputError: a result is of another jury, or a label cannot be read.

    >>> from jury_adapters import Ensemble
    >>> jury = Ensemble([lambda case: "within" in case.answer])
    >>> answers = [f"{number}: within {number} days" if number % 2 else f"{number}: later" for number in range(60)]
    >>> cases = [{"answer": text, "metadata": {"human_label": "within" in text}} for text in answers]
    >>> calibrate(jury, cases, 0.9).guarantee.coverage
    1.0
    """
    if not 0 < agreement < 1 or not 0 < delta <= 0.25:
        raise ConfigurationError(
            f"agreement= lies between 0 and 1, and 0 < delta <= 0.25; not {agreement!r}, {delta!r}"
        )
    judge = judge_of(jury)
    screening, tiers = tiers_of(judge)
    rows = labelled_rows(cases, judge.fingerprint, label, group)
    votes_of = partial(_votes, rows, pass_labels if isinstance(pass_labels, str) else tuple(pass_labels))
    known = {place: row.judgment for place, row in enumerate(rows) if row.jury}
    votes = votes_of(known, _placeholder(judge))
    drawn, given = _one_per_group(votes, seed), votes.take([*known])
    _check_number(drawn, "")
    if why := selection(given.gold != MISSING, given.groups, sample_facts(given)):
        raise CalibrationFailed(why)
    refused = 0 if budget is None else budget.refused
    judged = partial(_judged, rows, {"budget": budget, **batch})
    screened, places = _screened(screening, drawn, judged)
    _check_number(places, f" of {len(drawn)} that reach the tiers behind screening")
    trials = _Trials.of(tiers, [judged(tier, places) for tier in tiers], places, votes_of)
    if budget is not None and budget.refused > refused:
        raise CalibrationFailed("the budget was spent before every tier had judged every labelled case")
    choice = choose(trials.confidences, trials.correct, 1 - agreement, delta)
    if choice is None:
        shown = f"an agreement of {agreement:g} (delta {delta:g}) on {len(places)} independent labelled cases"
        raise CalibrationFailed(f"no threshold shows {shown}", trials.figures())
    return Guarantee(
        agreement=agreement,
        delta=delta,
        **trials.counts(choice, len(drawn) - len(screened) - len(places)),
        screened=len(screened),
        screened_errors=len(screened) - int(_agrees(votes_of(screened)).sum()),
        jury_file=jury_file,
        fingerprint=judge.fingerprint,
    ).applied_to(judge)


class _Trials(NamedTuple):
    """Judgments of each tier on each labelled case, cases x tiers, with their confidences, and whether they agree."""

    tiers: Sequence[Tier]
    judgments: Sequence[Sequence[Judgment]]
    confidences: Floats
    correct: Bools
    votes: Votes

    @classmethod
    def of(
        cls,
        tiers: Sequence[Tier],
        said: Sequence[Mapping[int, Judgment]],
        places: Sequence[int],
        votes_of: Callable[[Mapping[int, Judgment]], Votes],
    ) -> Self:
        """Compare the judgments of tiers by place with the human labels."""
        each = [[tier[place] for tier in said] for place in places]
        confidences = np.array([[sureness(one) for one in row] for row in each])
        votes = [votes_of(tier).take(places) for tier in said]
        correct = np.stack([_agrees(one) for one in votes], axis=1) & (confidences >= 0)
        return cls(tiers, each, confidences, correct, votes[0])

    def figures(self) -> tuple[Figure, ...]:
        """Return how each tier by itself, and the best constant answer, agree with the labels."""
        sums = zip(self.tiers, self.correct.sum(axis=0), (self.confidences >= 0).sum(axis=0), strict=True)
        of_tiers = [share_of("agreement", int(right), int(n), of=tier.name) for tier, right, n in sums]
        label, hits = _constant(self.votes)
        return (*of_tiers, share_of("agreement", hits, len(self.votes), of=f"always {label}"))

    def counts(self, choice: Choice, broken: int) -> dict[str, Any]:
        """Return the fields of a guarantee that are counted on the cases; a judge also broke on so many others."""
        by = decider(self.confidences, choice)
        label, hits = _constant(self.votes.take(by >= 0))
        return {
            **{name: getattr(choice, name) for name in ("threshold", "decided", "errors", "bound")},
            "tiers": {self.tiers[at].name: int((by == at).sum()) for at in range(choice.first, choice.last + 1)},
            "n": len(by),
            "broken": broken + sum(any(one.rests_on_broken for one in row) for row in self.judgments),
            "constant": label,
            "constant_agreement": hits / choice.decided,
            "cost_saved": self._cost_saved(by, choice),
        }

    def _cost_saved(self, by: Ints, choice: Choice) -> float:
        """Return the share of the cost that is saved against the last tier alone."""
        usages = [[one.usage for one in row] for row in self.judgments]
        costs = np.array([[one.cost_usd + one.recorded_usd for one in row] for row in usages])
        if not costs[:, -1].sum() or not all(one.cost_complete for row in usages for one in row):
            costs = np.tile([float(judge_of(tier.judge).size) for tier in self.tiers], (len(usages), 1))
        tiers, ends = np.arange(len(self.tiers)), np.where(by < 0, choice.last, by)[:, None]
        asked = (tiers >= choice.first) & (tiers <= ends)
        return float(1 - (costs * asked).sum() / costs[:, -1].sum())


def labelled_rows(
    cases: str | Path | Iterable[CaseLike | Result], fingerprint: str, label: str, group: str
) -> list[Result]:
    """Return the results, or cases without a judgment, each with its label and its group."""
    given: Iterable[Any] = read_results(cases) if isinstance(cases, str | Path) else cases
    refuse_one(given)
    rows = []
    for number, one in enumerate(given, start=1):
        if isinstance(one, Result) and one.jury != fingerprint:
            raise InputError(
                f"result {number} is of another jury, with the fingerprint {visible(one.jury)}; not {fingerprint}"
            )
        result = one if isinstance(one, Result) else Result(jury="", case=Case.of(one), judgment=_OPEN)
        case = result.case
        if case is None or (case.error is not None and not case.answer):
            continue  # nothing was judged
        said, of = facts_of(case, label, group)
        said = said if result.human_label is None else result.human_label
        rows.append(result.but(human_label=said, group=result.group or of))
    if group and all(row.group is None for row in rows):
        raise ConfigurationError(f"no case has a group: group={group!r} is no entry of their metadata")
    return rows


def _placeholder(judge: Judge) -> Judgment:
    """Return a verdict that shows whether the jury votes on PASS and FAIL, so that its labels are checked first."""
    return _OPEN if judge.labels is None or Status.LABEL in judge.labels.values() else Judgment(status=Status.PASS)


def _votes(
    rows: Sequence[Result], pass_labels: Iterable[Any], said: Mapping[int, Judgment], otherwise: Judgment = _OPEN
) -> Votes:
    """Return the votes of judgments by the places of their rows."""
    results = [row.model_copy(update={"judgment": said.get(place, otherwise)}) for place, row in enumerate(rows)]
    return Votes.of(results, pass_labels=pass_labels)


def _one_per_group(votes: Votes, seed: int) -> list[int]:
    """Return the places of one labelled case of each group, the same in any order of the cases and with any copies."""
    drawn: dict[int, tuple[str, int]] = {}
    for place in np.flatnonzero(votes.gold != MISSING).tolist():
        lot = hashlib.sha256(f"{seed} {votes.keys[place]}".encode()).hexdigest()
        number = int(votes.groups[place])
        drawn[number] = min(drawn.get(number, (lot, place)), (lot, place))
    return sorted(place for _, place in drawn.values())


def _check_number(places: Sequence[int], what: str) -> None:
    if len(places) < FEWEST_DECIDED:
        raise CalibrationFailed(
            f"{len(places)} independent labelled cases{what} are too few; a guarantee takes {FEWEST_DECIDED} or more"
        )


def _judged(rows: Sequence[Result], batch: Mapping[str, Any], tier: Tier, places: Sequence[int]) -> dict[int, Judgment]:
    """Return the judgments of a tier by place: those that the results have, and those that are missing."""
    found = {place: _recorded(rows[place], tier.name) for place in places}
    missing = [place for place, one in found.items() if one is None]
    cases = [case for place in missing if (case := rows[place].case)]
    pairs = judge_of(tier.judge).judge_pairs(cases, **batch)
    asked = {place: judgment for place, (_, judgment) in zip(missing, pairs, strict=True)}
    return {place: asked[place] if one is None else one for place, one in found.items()}


def _recorded(row: Result, tier: str) -> Judgment | None:
    return (row.judgment.tiers.get(tier) if row.judgment.voting == "cascade" else row.judgment) if row.jury else None


def _screened(
    tiers: Sequence[Tier], places: Sequence[int], judged: Callable[..., dict[int, Judgment]]
) -> tuple[dict[int, Judgment], list[int]]:
    """Return what screening tiers decide, and the places that they let through; neither where a judge broke."""
    decided, left = dict[int, Judgment](), [*places]
    for tier in tiers:
        said = {place: one for place, one in judged(tier, left).items() if not one.rests_on_broken}
        statuses = {place: tier.decide(one)[0] for place, one in said.items()}
        decided |= {place: Judgment(status=status) for place, status in statuses.items() if status is not None}
        left = [place for place, status in statuses.items() if status is None]
    return decided, left


def _agrees(votes: Votes) -> Bools:
    return np.asarray((votes.codes[:, -1] == votes.gold) & (votes.gold != MISSING))


def _constant(votes: Votes) -> tuple[str, int]:
    """Return the label that agrees most often, and how often."""
    counts = np.bincount(votes.gold)
    return votes.labels[counts.argmax()], int(counts.max())
