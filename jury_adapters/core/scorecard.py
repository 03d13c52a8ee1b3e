"""Scorecard, a jury that asks several questions about one case, with one judge for each criterion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Literal, Self, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.description import Traits
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, OpinionStatuses, Status, evolve, total_usage
from jury_adapters.core.jury import Jury, judges_own_family
from jury_adapters.core.scheduling import Juror, ask_all
from jury_adapters.core.tally import Tally
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import positive_timeout
from jury_adapters.core.verdict import SCORECARD, Verdict
from jury_adapters.core.verdict_facts import outage_as_error

PassWhen: TypeAlias = Literal["all", "any"] | int | Sequence[str]
Decided: TypeAlias = Callable[[Mapping[str, Judgment]], tuple[Status, float | None]]
"""Function from the judgments of the criteria to a status and a score."""


class Scorecard(Jury):
    """Jury of criteria: each criterion asks its own question, and a rule over the criteria determines the status.

    An :class:`Ensemble` asks several judges the same question, so that their votes can be compared. A scorecard asks
    different questions: an answer may be faithful and too long. Its verdict has one judgment for each criterion, under
    the name of the criterion, and no agreement.

    The status is FAIL if the decided criteria rule out a PASS, and PASS if the other criteria cannot prevent it.
    Otherwise it is ERROR if a criterion broke, else ABSTAIN. With ``pass_when="all"`` this is the precedence FAIL,
    ERROR, ABSTAIN, PASS.

    The score is the share of the criteria that pass, among those that count, or with weights the weighted mean of their
    scores. It is None if a criterion that counts is not decided. A scorecard has no confidence, so a tier with
    ``escalate_below`` always escalates it.

    Args:
        criteria: a judge, a jury or a function for each criterion, by name.
        pass_when: ``"all"``; ``"any"``; the minimum number of criteria that must pass, from 1; or the names of the
            criteria that must all pass. Other criteria are judged and reported, but do not count.
        weights: the weight of each criterion, by name, above 0; criteria without a weight are only reported. Weights
            need ``threshold`` and replace ``pass_when``.
        threshold: the lowest weighted mean of the scores that passes, from 0 to 1.
        juror_timeout: time limit per criterion in seconds, after which its judgment is ERROR ``timeout``.
        name: the scorecard's name.

    Raises:
        ConfigurationError: there are no criteria, a name is not text, a rule cannot be met, or weights have no
            threshold.

    >>> card = Scorecard({"short": lambda case: len(case.answer) < 9, "polite": lambda case: "please" in case.answer})
    >>> verdict = card.judge(answer="No.")
    >>> verdict.status, verdict.score, verdict.by_name["short"].status
    (<Status.FAIL: 'FAIL'>, 0.5, <Status.PASS: 'PASS'>)
    """

    def __init__(
        self,
        criteria: Mapping[str, JudgeLike],
        *,
        pass_when: PassWhen = "all",
        weights: Mapping[str, float] | None = None,
        threshold: float | None = None,
        juror_timeout: float | None = None,
        name: str = "",
    ) -> None:
        if not isinstance(criteria, Mapping) or not criteria:
            raise ConfigurationError("Scorecard takes a mapping of names to judges: Scorecard({'faithful': critic})")
        for criterion in criteria:
            if not isinstance(criterion, str) or not criterion:
                raise ConfigurationError(f"a criterion has a name, not {plain_repr(criterion)}")
        limit = positive_timeout(juror_timeout)
        self.name = name
        self.jurors = tuple(Juror(_judge(judge, criterion), criterion, limit) for criterion, judge in criteria.items())
        self.weights = (
            None if weights is None and threshold is None else criterion_weights(weights, threshold, self.names)
        )
        if self.weights is not None and pass_when != "all":
            raise ConfigurationError("give pass_when=, or weights= and threshold=; not both")
        if self.weights is not None:  # weights apply to scores, which early stopping would change
            self.jurors = tuple(replace(juror, judge=juror.judge.asking_everyone()) for juror in self.jurors)
        self.threshold = threshold
        self.pass_when = pass_when
        self._counted, self._least = counted_criteria(pass_when, self.names)
        self.cost = sum(member.cost for member in self.members)
        self._inline = all(juror.inline for juror in self.jurors)
        self._size = sum(member.size for member in self.members)

    @property
    def members(self) -> tuple[Judge, ...]:
        """The judges of the criteria, in order."""
        return tuple(juror.judge for juror in self.jurors)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the criteria, in order."""
        return tuple(juror.name for juror in self.jurors)

    @property
    def inline(self) -> bool:
        return self._inline

    @property
    def size(self) -> int:
        return self._size

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return PASS_OR_FAIL

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset() if self.threshold is None else frozenset({self.threshold})

    @property
    def requests_at_once(self) -> int:
        return sum(member.requests_at_once for member in self.members)

    def _traits(self) -> Traits:
        return {"criteria": self.names}

    def asking_everyone(self) -> Self:
        return self._with(jurors=tuple(replace(juror, judge=juror.judge.asking_everyone()) for juror in self.jurors))

    async def assess(self, case: Case) -> Verdict:
        return self.aggregate(await ask_all(self.jurors, case), generator=case.generator)

    def aggregate(self, judgments: Iterable[Judgment], *, generator: str | None = None) -> Verdict:
        """Return the verdict on existing judgments of the criteria, as if they had just been given.

        Args:
            judgments: one judgment for each criterion, in the order of the criteria.
            generator: the model that wrote the answer, for ``same_family``.

        Raises:
            ConfigurationError: their number is not that of the criteria.
        """
        given = tuple(judgments)
        if len(given) != len(self.jurors):
            raise ConfigurationError(f"the scorecard has {len(self.jurors)} criteria, and {len(given)} judgments came")
        by_name = dict(zip(self.names, given, strict=True))
        counted = tuple(self.weights or self._counted)
        verdict = _verdict(by_name, counted, self._decided)
        weights = tuple(self.weights.get(name, 0.0) for name in self.names) if self.weights else ()
        return evolve(verdict, weights=weights, same_family=judges_own_family(given, generator))

    def with_threshold(self, threshold: float) -> Self:
        """Return the same scorecard with another threshold of its weighted mean.

        Raises:
            ConfigurationError: it has no weights, or the threshold is not a number from 0 to 1.
        """
        criterion_weights(self.weights, threshold, self.names)
        return self._with(threshold=threshold)

    def _decided(self, by_name: Mapping[str, Judgment]) -> tuple[Status, float | None]:
        return self._weighed(by_name) if self.weights is not None else self._counted_up(by_name)

    def _counted_up(self, by_name: Mapping[str, Judgment]) -> tuple[Status, float | None]:
        return _counted_up([by_name[name] for name in self._counted], self._least)

    def _weighed(self, by_name: Mapping[str, Judgment]) -> tuple[Status, float | None]:
        """Return status and score by the weighted mean; an unknown score may be any number from 0 to 1."""
        assert self.weights is not None
        assert self.threshold is not None
        total = sum(self.weights.values())
        scores = {name: by_name[name].numeric_score for name in self.weights}
        least = sum(weight * (scores[name] or 0.0) for name, weight in self.weights.items()) / total
        unknown_share = sum(weight for name, weight in self.weights.items() if scores[name] is None) / total
        status = _status(
            [by_name[name] for name in self.weights],
            passes=reaches(least, self.threshold),
            fails=not reaches(least + unknown_share, self.threshold),
        )
        return status, min(least, 1.0) if unknown_share == 0 else None


def verdict_of_criteria(judgments: Mapping[str, Judgment], preferences: Collection[str] = ()) -> Verdict:
    """Return the verdict on existing judgments of criteria, by name; all of them must pass.

    Args:
        judgments: the judgments.
        preferences: the criteria that say which of two answers is better. They neither pass nor fail an answer, so they
            do not count, and the reasoning says so. If there are no other criteria, nothing is decided.
    """
    by_name = {name: evolve(judgment, critic=name) for name, judgment in judgments.items()}
    counted = tuple(name for name in by_name if name not in preferences) or tuple(by_name)
    verdict = _verdict(by_name, counted, lambda given: _counted_up([given[name] for name in counted], len(counted)))
    decides = _reasoning([judgment for name, judgment in by_name.items() if name not in preferences])
    shown = [judgment for name, judgment in by_name.items() if name in preferences]
    why = _aside("not counted, because a preference neither passes nor fails", shown)
    return evolve(verdict, reasoning="; ".join(filter(None, [decides, why])))


def counted_criteria(pass_when: PassWhen, names: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return the criteria that count, and the number of them that must pass.

    Raises:
        ConfigurationError: criteria with these names cannot meet the rule.
    """
    if isinstance(pass_when, int) and not isinstance(pass_when, bool):
        if not 1 <= pass_when <= len(names):
            raise ConfigurationError(f"pass_when is a number from 1 to {len(names)}, the number of criteria")
        return tuple(names), pass_when
    if isinstance(pass_when, str):
        if pass_when not in ("all", "any"):
            hint = f"; for that criterion write [{plain_repr(pass_when)}]" if pass_when in names else ""
            raise ConfigurationError(f"{unknown('pass_when=', pass_when, ('all', 'any'))[:-1]}{hint}.")
        return tuple(names), 1 if pass_when == "any" else len(names)
    if not isinstance(pass_when, Sequence) or not pass_when:
        raise ConfigurationError(
            f"pass_when is 'all', 'any', a number or names of criteria; not {plain_repr(pass_when)}"
        )
    for name in pass_when:
        if name not in names:
            raise ConfigurationError(unknown("criterion in pass_when", name, names))
    counted = tuple(dict.fromkeys(pass_when))
    return counted, len(counted)


def criterion_weights(
    weights: Mapping[str, float] | None, threshold: float | None, names: Sequence[str]
) -> dict[str, float]:
    """Return the weights in the order of the criteria.

    Raises:
        ConfigurationError: weights or threshold are missing or unusable.
    """
    if not weights or threshold is None:
        raise ConfigurationError("weights= and threshold= belong together: weights={'faithful': 2}, threshold=0.8")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise ConfigurationError(f"threshold is a number from 0 to 1, not {plain_repr(threshold)}")
    for name, weight in weights.items():
        if name not in names:
            raise ConfigurationError(unknown("criterion in weights", name, names))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not (isfinite(weight) and weight > 0):
            raise ConfigurationError(f"the weight of {plain_repr(name)} is a number above 0, not {plain_repr(weight)}")
    return {name: float(weights[name]) for name in names if name in weights}


def _judge(given: JudgeLike, criterion: str) -> Judge:
    try:
        return judge_of(given)
    except ConfigurationError as error:
        raise ConfigurationError(f"criterion {plain_repr(criterion)}: {error}") from None


def _verdict(by_name: Mapping[str, Judgment], counted: Sequence[str], decided: Decided) -> Verdict:
    """Return the verdict on the judged criteria; only some of them may count, and the reasoning names the others."""
    judgments = tuple(by_name.values())
    status, score = decided(by_name)
    without_outages, _ = decided({name: outage_as_error(judgment) for name, judgment in by_name.items()})
    that_count = [by_name[name] for name in counted]
    not_counted = [judgment for name, judgment in by_name.items() if name not in counted]
    broken = next((judgment for judgment in that_count if judgment.status is Status.ERROR), None)
    return Verdict(
        status,
        score=score,
        reasoning="; ".join(filter(None, [_reasoning(that_count), _aside("only reported", not_counted)])),
        error=broken.error if broken is not None and status is Status.ERROR else None,
        usage=total_usage(judgments),
        judgments=judgments,
        voting=SCORECARD,
        tally=_tally(judgments, that_count, errors_decided=without_outages is not status),
        calls_saved=sum(judgment.calls_saved for judgment in judgments if isinstance(judgment, Verdict)),
    )


def _counted_up(counted: Sequence[Judgment], least: int) -> tuple[Status, float | None]:
    """Return status and score by the number of criteria that pass."""
    passed = sum(judgment.status is Status.PASS for judgment in counted)
    failed = sum(judgment.status is Status.FAIL for judgment in counted)
    score = passed / len(counted) if passed + failed == len(counted) else None
    return _status(counted, passes=passed >= least, fails=len(counted) - failed < least), score


def _status(counted: Sequence[Judgment], *, passes: bool, fails: bool) -> Status:
    if fails:
        return Status.FAIL
    if passes:
        return Status.PASS
    return Status.ERROR if any(judgment.status is Status.ERROR for judgment in counted) else Status.ABSTAIN


def _tally(judgments: Sequence[Judgment], counted: Sequence[Judgment], *, errors_decided: bool) -> Tally:
    """Return the tally of the criteria that count, without ballots: different questions cannot agree or differ."""
    statuses = [judgment.status for judgment in counted]
    return Tally(
        eligible=statuses.count(Status.PASS) + statuses.count(Status.FAIL),
        passed=statuses.count(Status.PASS),
        failed=statuses.count(Status.FAIL),
        abstained=statuses.count(Status.ABSTAIN),
        errors=statuses.count(Status.ERROR),
        ignored=len(judgments) - len(counted) + statuses.count(None),
        ballots=(None,) * len(judgments),
        errors_decided=errors_decided,
    )


def _reasoning(judgments: Sequence[Judgment]) -> str:
    """Return the criteria by status; those that did not pass have their reasons."""
    parts = []
    for status in (Status.FAIL, Status.ERROR, Status.ABSTAIN, None, Status.PASS):
        of_status = [judgment for judgment in judgments if judgment.status is status]
        if of_status:
            said = ", ".join(_said(judgment) for judgment in of_status)
            parts.append(f"{'label' if status is None else status.value}: {said}")
    return "; ".join(parts)


def _aside(why: str, judgments: Sequence[Judgment]) -> str:
    """Return the criteria that do not count, with their status or label; empty without any."""
    said = (_said(one) if one.status is None else f"{one.status.value} {_said(one)}" for one in judgments)
    return f"{why}: {', '.join(said)}" if judgments else ""


def _said(judgment: Judgment) -> str:
    if judgment.status is Status.PASS:
        return judgment.critic
    why = judgment.label if judgment.status is None else judgment.error or judgment.reasoning
    return f"{judgment.critic} ({why})" if why else judgment.critic
