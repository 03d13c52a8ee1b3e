"""Alignment of a jury with human labels: candidates by cross-validation, one test on cases that were not looked at."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from typing import NamedTuple, cast

import yaml

from jury_adapters.align.alignment import Alignment, CandidateResult
from jury_adapters.align.changes import (
    AddExamples,
    AskOptimiser,
    Change,
    Changed,
    ClarifyCriteria,
    Judged,
    MovePassMark,
    ReverseLabels,
    balanced,
    is_right,
)
from jury_adapters.align.failed_judgments import FAILED, failed_number, failed_only_before
from jury_adapters.align.labelled import LabelledCase, digest_of, divide, labelled_cases, with_same_group
from jury_adapters.align.suggestions import suggestions_of
from jury_adapters.align.vote_thresholds import MoveVoteThreshold, Voting, recount, vote_threshold
from jury_adapters.core import event_loop
from jury_adapters.core.batch import stream
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.clustered_shares import clustered_wilson, sign_flip_test
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.given_cases import given_cases
from jury_adapters.core.human_labels import GOLD
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.critic.answers import comparable
from jury_adapters.critic.changed_rubrics import rubrics_in, with_changed_rubrics, with_replaced
from jury_adapters.critic.prompt import material_texts
from jury_adapters.critic.rubric import Rubric
from jury_adapters.critic.rubric_history import RubricChange
from jury_adapters.models.base import Options, Prompt, Turn
from jury_adapters.models.registry import ModelLike, resolve_model

OPTIMISER_OPTIONS = Options(temperature=0.0, max_tokens=2000)
_AS_IT_IS = "as it is"
_VOID = (
    "the guarantee of the jury does not hold for a changed jury: both were tested without its thresholds, and a "
    "changed jury has none; calibrate it again, with other labels"
)


class OptimiserLog(NamedTuple):
    """Cost of asking the optimiser model: the usage of each reply, and the reasons of those that did not come."""

    spent: list[Usage]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Aligner:
    """Settings of an alignment.

    Attributes:
        optimiser_model: a model that writes clearer criteria, as for ``Critic``; None for none.
        rubric: the name of the rubric to change; needed only if the jury has several.
        level: the level of the test, between 0 and 1.
        folds: the number of folds of the cross-validation, from 2.
        test_share: the share of the labelled cases that is kept for the test.
        max_examples: the most examples that a candidate adds; half as many are tried too.
        seed: seed of all divisions and choices.
    """

    optimiser_model: ModelLike | None = None
    rubric: str = ""
    level: float = 0.01
    folds: int = 5
    test_share: float = 0.4
    max_examples: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("level", "test_share"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
                raise ConfigurationError(f"{name} lies strictly between 0 and 1, not {plain_repr(value)}")
        for name, least in (("folds", 2), ("max_examples", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigurationError(f"{name} is a whole number from {least}, not {plain_repr(value)}")

    def parts(self, labelled: Sequence[LabelledCase]) -> tuple[list[LabelledCase], list[LabelledCase]]:
        """Return the labelled cases that choose a change, and those that test it.

        Raises:
            ConfigurationError: the cases for the test are of so few groups that no result could be significant.
        """
        search, test = divide(labelled, (1 - self.test_share, self.test_share), self.seed)
        _check_groups(test, self.level)
        return search, test

    def changes(self, asked: OptimiserLog) -> list[Change]:
        """Return the changes that are tried; ``asked`` keeps what asking the optimiser model took."""
        counts = dict.fromkeys((max(1, self.max_examples // 2), self.max_examples))
        found: list[Change] = [AddExamples(counted(count, "example"), count) for count in counts]
        found += [MovePassMark("another pass mark"), ReverseLabels("labels in another order")]
        found.append(MoveVoteThreshold("another vote threshold"))
        if self.optimiser_model is not None:
            found.append(ClarifyCriteria("clearer criteria", _asking(self.optimiser_model, asked)))
        return found


class _Spending(NamedTuple):
    store: JudgmentCache | str | PathLike[str] | None
    budget: Budget | None
    max_concurrency: int | None


def align(
    jury: Judge,
    cases: Iterable[Case | Mapping[str, object]],
    *,
    aligner: Aligner | None = None,
    pass_labels: Collection[str] = (),
    label_column: str = GOLD,
    group: str = "",
    store: JudgmentCache | str | PathLike[str] | None = None,
    budget: Budget | None = None,
    max_concurrency: int | None = None,
) -> Alignment:
    """Look for a rubric with which a jury agrees more with human labels, and accept it only if a test shows it.

    The labelled cases are divided into two parts, with whole groups. Candidates learn from the first part, and are
    compared by cross-validation in it: examples and criteria of a fold come from the other folds. The best is made anew
    from the whole part and tested once, by an exact paired test, on the second part, which was not looked at before.
    Without that, a change that only fits these labels would be taken for an improvement.

    Args:
        jury: a critic, or a jury of critics.
        cases: cases with human labels in their metadata.
        aligner: the settings; see :class:`Aligner`.
        pass_labels: the labels that mean PASS; by default PASS, pass, yes, true and the like.
        label_column: the entry of the metadata with the label.
        group: the field that identifies the group of a case; empty if every case is independent.
        store: as in ``judge_many``; with it, an alignment that was interrupted continues without paying twice.
        budget: as in ``judge_many``. Cases beyond it count as judged wrongly; the report has their number for each
            candidate.
        max_concurrency: as in ``judge_many``.

    Raises:
        ConfigurationError: the jury has no critic with a rubric, or several and none is named; or there are too few
            labels, or only one.
    """
    how = aligner or Aligner()
    rubric = rubric_to_change(jury, how.rubric)
    labelled = independent_cases(rubric, cases, pass_labels=pass_labels, label_column=label_column, group=group)
    plain = without_guarantee(jury)
    found = _Alignment(plain, rubric, labelled, how, _Spending(store, budget, max_concurrency)).run()
    if plain is jury:
        return found
    return replace(found, jury=found.jury if found.accepted else jury, suggestions=(_VOID, *found.suggestions))


def independent_cases(
    rubric: Rubric,
    cases: Iterable[Case | Mapping[str, object]],
    *,
    pass_labels: Collection[str],
    label_column: str,
    group: str,
) -> tuple[LabelledCase, ...]:
    """Return the labelled cases, with one group for those that the critics see alike; see :func:`align`."""
    labelled = labelled_cases(given_cases(cases), pass_labels=pass_labels, label_column=label_column, group=group)
    return with_same_group(labelled, lambda case: _shown_text(rubric, case))


def without_guarantee(jury: Judge) -> Judge:
    """Return a jury whose calibrated cascades are as they were before calibration."""
    return with_replaced(jury, _uncalibrated)


class _Alignment:
    """Alignment in progress."""

    def __init__(
        self, jury: Judge, rubric: Rubric, labelled: Sequence[LabelledCase], how: Aligner, spending: _Spending
    ) -> None:
        self._jury, self._rubric, self._labelled, self._how, self._spending = jury, rubric, labelled, how, spending
        self._usage: Usage = NO_USAGE

    def run(self) -> Alignment:
        """Try all changes, and test the best one."""
        how = self._how
        search, test = how.parts(self._labelled)
        before = self._judge(self._jury, search)
        present = _balanced(search, before)
        asked = OptimiserLog([], [])
        tried = [(change, self._cross_validated(change, search, before)) for change in how.changes(asked)]
        candidates = (
            CandidateResult(_AS_IT_IS, present, failed_number(before)), *(candidate for _, candidate in tried)
        )  # fmt: skip
        found = Alignment(
            False, self._jury, self._rubric, candidates=candidates, searched=len(search), tested=len(test),
            level=how.level, labels=digest_of(self._labelled),
            suggestions=((FAILED,) if any(one.failed for one in candidates) else ()) + suggestions_of(search, before),
        )  # fmt: skip
        best, result = max(tried, key=lambda pair: -1.0 if pair[1].accuracy is None else pair[1].accuracy)
        changed = None
        if result.accuracy is not None and result.accuracy > present:
            changed = self._changed(best, list(zip(search, before, strict=True)))
        if changed is not None:
            found = self._tested(replace(found, chosen=best.name), changed, test)
        suggestions = (*dict.fromkeys(asked.problems), *found.suggestions)
        return replace(found, usage=sum(asked.spent, self._usage), suggestions=suggestions)

    def _tested(self, found: Alignment, changed: Changed, test: Sequence[LabelledCase]) -> Alignment:
        """Test a changed jury once, on cases that were not looked at before."""
        first = self._judge(self._jury, test)
        second = self._judge_changed(changed, test, first)
        old = [is_right(one, judgment) is True for one, judgment in zip(test, first, strict=True)]
        new = [is_right(one, judgment) is True for one, judgment in zip(test, second, strict=True)]
        gains = [
            now - was if not failed_only_before(*pair) else min(0, now - was)
            for was, now, pair in zip(old, new, zip(first, second, strict=True), strict=True)
        ]
        differences: dict[str, int] = {}
        for one, gain in zip(test, gains, strict=True):
            differences[one.group] = differences.get(one.group, 0) + gain
        won, lost = gains.count(1), gains.count(-1)
        p = sign_flip_test(differences.values()) / 2 if won > lost else 1.0
        shares = (_balanced(test, first), _balanced(test, second))
        found = replace(
            found, p=p, won=won, lost=lost, right_before=sum(old), right_after=sum(new),
            interval_before=_interval(test, old), interval_after=_interval(test, new),
            balanced_before=shares[0], balanced_after=shares[1], threshold=changed.threshold, groups=len(differences),
            diff=_diff(*(self._described(jury, rubric) for jury, rubric in ((self._jury, self._rubric), changed[:2]))),
        )  # fmt: skip
        if p > self._how.level or shares[1] < shares[0]:
            return found
        final = changed.rubric.model_copy(update={"history": (*self._rubric.history, self._record(found))})
        aligned = with_changed_rubrics(changed.jury, {changed.rubric.fingerprint: final})
        return replace(found, accepted=True, jury=aligned, rubric=final)

    def _record(self, found: Alignment) -> RubricChange:
        change = found.chosen if found.threshold is None else f"{found.chosen}: {found.threshold:g}"
        return RubricChange(
            parent=self._rubric.fingerprint, date=datetime.now(UTC).date().isoformat(), change=change,
            labels=found.labels,
            effect=f"{found.right_before} of {found.tested} right before, {found.right_after} after, p {found.p:.2g}",
        )  # fmt: skip

    def _cross_validated(
        self, change: Change, search: Sequence[LabelledCase], before: Sequence[Judgment]
    ) -> CandidateResult:
        """Return the result of a change on cases that it did not learn from."""
        judged = {one.case.content_hash: judgment for one, judgment in zip(search, before, strict=True)}
        folds = divide(search, [1 / self._how.folds] * self._how.folds, self._how.seed + 1)
        said: list[tuple[bool | None, bool]] = []
        changes = failed = 0
        for fold in folds:
            inside = {id(one) for one in fold}
            others = [(one, judged[one.case.content_hash]) for one in search if id(one) not in inside]
            found: Sequence[Judgment] = [judged[one.case.content_hash] for one in fold]
            changed = self._changed(change, others)
            if changed is not None:
                changes += 1
                found = self._judge_changed(changed, fold, found)
            failed += failed_number(found)
            said += [(_passed(judgment), one.passed) for one, judgment in zip(fold, found, strict=True)]
        return CandidateResult(change.name, balanced(said), failed) if changes else CandidateResult(change.name, None)

    def _changed(self, change: Change, judged: Judged) -> Changed | None:
        """Return the jury with a change that learns from judged cases; None if they suggest no change."""
        return event_loop.run(change.applied_to, self._jury, self._rubric, judged, self._how.seed)

    def _judge_changed(
        self, changed: Changed, cases: Sequence[LabelledCase], before: Sequence[Judgment]
    ) -> Sequence[Judgment]:
        """Judge cases with a changed jury; with only another threshold, the votes before are counted again."""
        if changed.threshold is None:
            return self._judge(changed.jury, cases)
        return recount(cast(Voting, changed.jury), before)

    def _described(self, jury: Judge, rubric: Rubric) -> str:
        """Return what an alignment may change, as YAML."""
        threshold = vote_threshold(jury)
        return rubric_yaml(rubric) + ("" if threshold is None else f"vote threshold: {threshold:g}\n")

    def _judge(self, jury: Judge, cases: Sequence[LabelledCase]) -> list[Judgment]:
        found = [item.judgment for item in stream(jury, [one.case for one in cases], **self._spending._asdict())]
        self._usage = sum((judgment.usage for judgment in found), self._usage)
        return found


def rubric_yaml(rubric: Rubric) -> str:
    """Return a rubric as YAML that :meth:`Rubric.from_yaml` reads."""
    content = rubric.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _uncalibrated(judge: Judge) -> Judge | None:
    """Return a calibrated cascade as it was before calibration; None for any other judge."""
    if not isinstance(judge, CascadedJury) or judge.uncalibrated is judge:
        return None
    return with_replaced(judge.uncalibrated, _uncalibrated)


def _shown_text(rubric: Rubric, case: Case) -> str:
    """Return what a critic with this rubric sees of a case; white space and capitals make no other case."""
    if case.attachments:
        return case.content_hash
    return "\0".join(map(comparable, material_texts(rubric, case))) or case.content_hash


def _check_groups(test: Sequence[LabelledCase], level: float) -> None:
    """Raise ConfigurationError if the cases of a test are of so few groups that no result could be significant."""
    groups = len({one.group for one in test})
    if 0.5**groups > level:
        raise ConfigurationError(
            f"the labels for the test are of {groups} independent groups, and with so few no result is significant at "
            f"the level {level:g}; label cases of more groups, or keep a larger share for the test"
        )


def rubric_to_change(jury: Judge, name: str) -> Rubric:
    """Return the rubric of a jury that an alignment changes: the only one, or the one of that name.

    Raises:
        ConfigurationError: no critic of the jury has a rubric, or several have one and the name is not that of one.
    """
    found = {rubric.fingerprint: rubric for rubric in rubrics_in(jury)}
    if not found:
        raise ConfigurationError("align changes the rubric of critics; no judge of this jury has one")
    chosen = [rubric for rubric in found.values() if rubric.name == name] if name else list(found.values())
    if len(chosen) != 1:
        names = ", ".join(sorted({rubric.name for rubric in found.values()}))
        raise ConfigurationError(f"align changes one rubric; this jury has {names}: name it: Aligner(rubric=...)")
    return chosen[0]


def _asking(model: ModelLike, asked: OptimiserLog) -> AskOptimiser:
    limited = resolve_model(model)

    async def ask(text: str) -> str:
        try:
            reply = await limited.complete(Prompt("", (Turn("user", text),)), None, OPTIMISER_OPTIONS)
        except Exception as error:  # one candidate less; its text may hold what the vendor echoed
            asked.problems.append(f"the optimiser model did not answer: {type(error).__name__}")
            return ""
        asked.spent.append(reply.usage)
        return reply.text

    return ask


def _balanced(cases: Sequence[LabelledCase], judgments: Sequence[Judgment]) -> float:
    return balanced((_passed(judgment), one.passed) for one, judgment in zip(cases, judgments, strict=True))


def _interval(cases: Sequence[LabelledCase], right: Sequence[bool]) -> tuple[float, float]:
    """Return the 95 % interval of the share of cases that are judged rightly."""
    groups: dict[str, tuple[int, int]] = {}
    for one, hit in zip(cases, right, strict=True):
        hits, size = groups.get(one.group, (0, 0))
        groups[one.group] = (hits + hit, size + 1)
    return clustered_wilson(groups.values())


def _passed(judgment: Judgment) -> bool | None:
    return judgment.status is Status.PASS if judgment.status in (Status.PASS, Status.FAIL) else None


def _diff(before: str, after: str) -> str:
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2))
