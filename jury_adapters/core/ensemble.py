"""Ensemble, a jury whose jurors vote on one question, and Scorecard, a jury of criteria."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Literal, get_args

from jury_adapters.core.case import Case
from jury_adapters.core.context import context, within
from jury_adapters.core.judge import MAKERS, Judge, JudgeLike, Labels, ask, ask_together, named_judges, to_judgment
from jury_adapters.core.judgment import Judgment, Status, Usage, total_usage
from jury_adapters.core.values import ROUNDING, ConfigurationError, check_whole, check_word, error_text
from jury_adapters.core.votes import (
    Average,
    Count,
    Errors,
    Majority,
    Outcome,
    Quorum,
    Rule,
    Unanimous,
    Veto,
    Vote,
    rule_of,
)

Schedule = Literal["parallel", "sequential", "early_stop"]


class Jury(Judge):
    """Base of the judges that are made of named judges."""

    def __init__(self, judges: Iterable[JudgeLike] | Mapping[str, JudgeLike], name: str = "") -> None:
        self.name = name or type(self).__name__
        self.judges = named_judges(judges)
        self.cost = sum(one.cost for one in self.judges.values())
        vocabularies = [one.labels for one in self.judges.values()]
        self.labels = (
            None if None in vocabularies else {label: one[label] for one in vocabularies if one for label in one}
        )

    @property
    def members(self) -> tuple[Judge, ...]:
        """The judges inside."""
        return tuple(self.judges.values())

    def _parts(self) -> dict[str, Callable[[Case], Usage]]:
        return {name: one.estimate for name, one in self.judges.items()}

    async def _ask(self, places: Iterable[int], case: Case) -> list[Judgment]:
        """Ask the judges at these places at once."""
        return await ask_together(self._ask_one(place, case) for place in places)

    async def _ask_one(self, place: int, case: Case) -> Judgment:
        name, one = list(self.judges.items())[place]
        return await ask(one, case, name)


class Ensemble(Jury):
    """Jury in which the jurors answer one question, and a rule counts their votes.

    A juror that abstains does not vote. A juror that breaks is a missing vote: if it could have changed the outcome,
    the verdict is ERROR, so no PASS and no FAIL rests on a broken juror.

    Args:
        judges: judges or functions, or a mapping of names to them. The same judge twice is asked for two samples.
        voting: the name of a rule (``majority``, ``unanimous``, ``veto``, ``quorum``, ``average``, ``median``,
            ``bayes``), a rule, or a function of the votes.
        weights: weights from 0 by juror, in order or by name; 1.0 by default. They count in ``majority`` and
            ``average``.
        required: the names of jurors without whose votes the jury abstains.
        errors: what a juror that broke, or whose model did not answer, counts as: a ``missing`` vote, a FAIL
            (``fail``), or no vote (``abstain``, ``ignore``).
        min_votes: the number of votes below which the jury abstains.
        on: what is counted: ``status`` (PASS and FAIL) or ``label``. By default labels if a juror declares one that is
            neither good nor bad.
        schedule: ``parallel`` asks all jurors at once, ``sequential`` one after the other. ``early_stop`` asks the
            cheapest first, and only as many as can still change status or label; its verdict has no score and no
            confidence.
        name: the name in verdicts.
        **options: the options of the rule, such as ``tie="abstain"``.

    Raises:
        ConfigurationError: there is no juror, a name is unknown, or an option does not fit.

    >>> judges = {"short": lambda case: len(case.answer) < 9, "polite": lambda case: "!" not in case.answer}
    >>> jury = Ensemble(judges, voting="veto")
    >>> jury.judge(answer="Stop it!").reasoning
    '1 of 2 object; 1 fail a case'
    """

    def __init__(
        self,
        judges: Iterable[JudgeLike] | Mapping[str, JudgeLike],
        *,
        voting: str | Rule | Callable[[Sequence[Vote]], Any] = "majority",
        weights: Sequence[float] | Mapping[str, float] | None = None,
        required: Iterable[str] = (),
        errors: Errors = "missing",
        min_votes: int = 1,
        on: Literal["status", "label"] | None = None,
        schedule: Schedule = "parallel",
        name: str = "",
        **options: Any,
    ) -> None:
        super().__init__(judges, name)
        check_word("errors", errors, *get_args(Errors))
        check_word("schedule", schedule, *get_args(Schedule))
        check_word("on", on, "status", "label", None)
        check_whole("min_votes", min_votes, 1, len(self.judges))
        rule = rule_of(voting, **options)
        on_labels = self._counts_labels(rule, on)
        labels = dict(self.labels or {}) if on_labels else None
        any_label = on_labels and self.labels is None
        rule = self._fitting(rule, None if any_label else labels or {})
        self.schedule = schedule
        self.counts = Count(rule, self._weights(weights), self._places(required), labels, any_label, errors, min_votes)
        self.labels = None if any_label or not rule.settles else {**_split_label(rule), **(labels or {})}
        # Of the score of the verdict; that of a quorum is of the jurors' scores.
        threshold = None if isinstance(rule, Quorum) else getattr(rule, "threshold", None)
        self.pass_mark = 0.5 if threshold is None else threshold
        self._samples = _sample_offsets(self.members)

    def _counts_labels(self, rule: Rule, on: str | None) -> bool:
        """Return whether labels are counted: by wish, or because a juror declares one that is neither good nor bad."""
        neutral = self.labels is None or Status.LABEL in self.labels.values()
        if on == "label" and not rule.on_labels:
            raise ConfigurationError(
                f"the rule {rule.rule!r} counts PASS and FAIL; on='label' goes with majority and unanimous"
            )
        if on == "status" or not rule.on_labels or not (on or neutral):
            return False
        meanings = {pair for juror in self.members for one in _singles(juror) for pair in (one.labels or {}).items()}
        if len(meanings) > len({label for label, _ in meanings}):
            raise ConfigurationError(f"the jurors give one label different meanings: {sorted(meanings)}")
        return True

    def _fitting(self, rule: Rule, labels: Labels | None) -> Rule:
        """Return the rule with the jurors' pass mark, or refuse one that does not fit the jurors."""
        if rule.reads_scores and any(one.stops_early for one in self.members):
            raise ConfigurationError(
                f"a juror that stops early has no score and no confidence, which the rule {rule.rule!r} may read"
            )
        ties = (None, "fail", "pass", "abstain", "first", *(labels or {}))
        if isinstance(rule, Majority) and labels is not None and rule.tie not in ties:
            raise ConfigurationError(
                f"tie= is 'fail', 'pass', 'abstain', 'first' or a label that is counted, not {rule.tie!r}"
            )
        if isinstance(rule, Veto):
            check_whole("k", rule.k, 1, len(self.members))
        if len(reliabilities := getattr(rule, "reliabilities", self.members)) != len(self.members):
            raise ConfigurationError(
                f"reliabilities= has one pair per juror: {len(self.members)}, not {len(reliabilities)}"
            )
        if not isinstance(rule, Average) or rule.threshold is not None:
            return rule
        marks = {one.pass_mark for one in self.members}
        if len(marks) > 1:
            raise ConfigurationError(
                f"the jurors pass from different scores ({', '.join(map(str, sorted(marks)))}); give threshold="
            )
        return rule.model_copy(update={"threshold": marks.pop()})

    def _weights(self, weights: Sequence[float] | Mapping[str, float] | None) -> tuple[float, ...]:
        names = list(self.judges)
        if isinstance(weights, Mapping):
            self._places(weights)  # refuses an unknown name
            given = [weights.get(name, 1.0) for name in names]
        else:
            given = [1.0] * len(names) if weights is None else list(weights)
        numbers = all(isinstance(one, int | float) and 0 <= one < float("inf") for one in given)
        if len(given) != len(names) or not numbers or not sum(given):
            raise ConfigurationError(
                f"weights= has a number from 0 for each of {len(names)} jurors, and one above 0; not {weights!r}"
            )
        return tuple(map(float, given))

    def _places(self, names: Iterable[str]) -> frozenset[int]:
        given = {names} if isinstance(names, str) else {*names}
        if unknown := given - {*self.judges}:
            raise ConfigurationError(f"{min(unknown)!r} is no juror; the jurors are {', '.join(self.judges)}")
        return frozenset(place for place, name in enumerate(self.judges) if name in given)

    @property
    def stops_early(self) -> bool:
        """Whether jurors may not have been asked, so that verdicts have no score and no confidence."""
        return self.schedule == "early_stop"

    async def _ask_one(self, place: int, case: Case) -> Judgment:
        if not self._samples[place]:
            return await super()._ask_one(place, case)
        with within(sample=context().sample + self._samples[place]):
            return await super()._ask_one(place, case)

    async def assess(self, case: Case) -> Judgment:
        """Ask the jurors and count their votes."""
        votes: list[Judgment | None] = [None] * len(self.judges)
        waiting = [*range(len(votes))]
        if self.stops_early:
            waiting.sort(key=lambda place: (place not in self.counts.required, self.members[place].cost))
        while waiting and not (self.stops_early and self.counts.outcome(votes)):
            number = {"parallel": len(waiting), "sequential": 1}.get(self.schedule) or self._fewest(votes, waiting)
            wave, waiting = waiting[:number], waiting[number:]
            for place, vote in zip(wave, await self._ask(wave, case), strict=True):
                votes[place] = vote
        return self.verdict(votes)

    def _fewest(self, votes: Sequence[Judgment | None], waiting: Sequence[int]) -> int:
        """Return the smallest number of the next jurors whose votes could settle the outcome."""
        cast = {vote.ballot for vote in votes if vote is not None}
        fresh = [one for one in self.counts.extremes if one not in cast]  # they are alike, so two of them will do
        ballots = [to_judgment(one) for one in self.counts.extremes if one in cast or one in fresh[:2]]
        for number in range(1, len(waiting)):
            for first, other in product(ballots, repeat=2):  # two, because a split may settle
                trial = dict(enumerate(votes)) | dict.fromkeys(waiting[:number], other) | {waiting[0]: first}
                if self.counts.outcome([*trial.values()]) is not None:
                    return number
        return len(waiting)

    def verdict(self, votes: Sequence[Judgment | None]) -> Judgment:
        """Return the verdict that counts these judgments, one per juror; None for a juror that was not needed.

        Raises:
            ConfigurationError: the number of judgments is not that of the jurors, or the outcome is open without the
                jurors that are None.
        """
        if len(votes) != len(self.judges):
            raise ConfigurationError(f"the jury has {len(self.judges)} jurors, and {len(votes)} judgments were given")
        try:
            found = self.counts.outcome(votes)
        except Exception as error:  # of a rule that is a function
            found = Outcome(Status.ERROR, "the voting rule broke", error=error_text(error))
        if found is None:
            raise ConfigurationError("the outcome is open: a juror whose vote could decide has no judgment")
        asked = [vote for vote in votes if vote is not None]
        return Judgment(
            status=found.status,
            label=found.label,
            score=None if self.stops_early else found.score,
            confidence=None if self.stops_early else found.confidence,
            reasoning=found.reasoning,
            error=found.error,
            tied=found.tied,
            judgments=tuple(asked),
            voting=self.counts.rule.rule,
            on="status" if self.counts.labels is None else "label",
            weights=tuple(weight for weight, vote in zip(self.counts.weights, votes, strict=True) if vote is not None),
            usage=total_usage(asked),
            skipped=tuple(name for name, vote in zip(self.judges, votes, strict=True) if vote is None),
        )


class Scorecard(Jury):
    """Jury that asks a different question with each criterion.

    PASS if enough criteria pass, whatever the undecided ones would say; FAIL if too few can. Otherwise the undecided
    criteria matter: the verdict is ERROR if one broke, else ABSTAIN.

    Args:
        criteria: a mapping of names to judges or functions.
        pass_when: ``all``, ``any``, the number of criteria that must pass, or the names of those that must.
        weights: weights by name, with ``threshold``: the weighted mean score must reach it. Criteria without a weight
            do not count.
        threshold: 0..1; required with weights.
        name: the name in verdicts.

    Raises:
        ConfigurationError: a name is unknown, or the options do not fit.

    >>> card = Scorecard({"short": lambda case: True, "polite": lambda case: (False, "rude")}, pass_when="any")
    >>> card.judge(answer="No!").status.value, card.judge(answer="No!").by_name["polite"].reasoning
    ('PASS', 'rude')
    """

    def __init__(
        self,
        criteria: Mapping[str, JudgeLike],
        *,
        pass_when: Literal["all", "any"] | int | Iterable[str] = "all",
        weights: Mapping[str, float] | None = None,
        threshold: float | None = None,
        name: str = "",
    ) -> None:
        super().__init__(criteria, name)
        self.weights, self.threshold = self._needed(pass_when, weights, threshold)
        self.by_score = weights is not None
        if self.by_score and any(one.stops_early for one in self.members):
            raise ConfigurationError("a criterion that stops early has no score, which a scorecard with weights= reads")
        self.labels = {}
        self.pass_mark = self.threshold

    def _needed(
        self, pass_when: str | int | Iterable[str], weights: Mapping[str, float] | None, threshold: float | None
    ) -> tuple[dict[str, float], float]:
        """Return the weights of the criteria that count, and the share of the weight that must pass."""
        if (weights is None) != (threshold is None) or (weights is not None and pass_when != "all"):
            raise ConfigurationError("a scorecard has pass_when=, or weights= with threshold=")
        if weights is not None and threshold is not None:
            found, least = dict(weights), threshold
        elif pass_when in ("all", "any") or type(pass_when) is int:
            found = dict.fromkeys(self.judges, 1.0)
            least = (1 if pass_when == "any" else pass_when if isinstance(pass_when, int) else len(found)) / len(found)
        else:
            names = pass_when if isinstance(pass_when, Iterable) and not isinstance(pass_when, str) else ()
            found, least = dict.fromkeys(names, 1.0), 1.0
        numbers = all(isinstance(one, int | float) and 0 <= one < float("inf") for one in found.values())
        if (
            not {*found} <= {*self.judges}
            or not numbers
            or not sum(found.values())
            or not 0 <= least <= 1
            or pass_when == 0
        ):
            raise ConfigurationError(
                f"pass_when= is 'all', 'any', a number from 1 to {len(self.judges)} or names; weights= has numbers "
                f"from 0 by name, and threshold= is in 0..1; not {pass_when!r}, {weights!r}, {threshold!r}; criteria: "
                f"{', '.join(self.judges)}"
            )
        return found, least

    async def assess(self, case: Case) -> Judgment:
        """Ask all criteria at once and combine their judgments."""
        return self.verdict(await self._ask(range(len(self.judges)), case))

    def verdict(self, judgments: Sequence[Judgment]) -> Judgment:
        """Return the verdict of these judgments, one per criterion."""
        by_name = dict(zip(self.judges, judgments, strict=True))
        counted = {name: by_name[name] for name, weight in self.weights.items() if weight}
        numbers = {name: self._number(one) for name, one in counted.items()}
        whole = sum(self.weights.values())
        low = min(1.0, sum(self.weights[name] * (number or 0.0) for name, number in numbers.items()) / whole)
        open_ = sum(self.weights[name] for name, number in numbers.items() if number is None) / whole
        broke = [
            name
            for name, one in counted.items()
            if one.status is Status.ERROR or (self.by_score and one.rests_on_broken)
        ]
        if low >= self.threshold - ROUNDING:
            status = Status.PASS
        elif low + open_ < self.threshold - ROUNDING:
            status = Status.FAIL
        else:
            status = Status.ERROR if broke else Status.ABSTAIN
        said = [
            f"{name} {one.status}{f' ({why})' if (why := one.error or one.reasoning) and not one.passed else ''}"
            for name, one in by_name.items()
        ]
        return Judgment(
            status=status,
            score=None if open_ else low,
            reasoning="; ".join(sorted(said, key=lambda text: text.endswith(" PASS"))),
            error=f"{broke[0]}: {by_name[broke[0]].error or 'a juror broke'}" if status is Status.ERROR else None,
            judgments=tuple(judgments),
            voting="scorecard",
            usage=total_usage(judgments),
        )

    def _number(self, one: Judgment) -> float | None:
        if self.by_score and one.rests_on_broken:
            return None
        return one.number if self.by_score else None if one.passed is None else float(one.passed)


def _split_label(rule: Rule) -> Labels:
    """Return the label that a rule adds to those of the jurors."""
    split = rule.on_split if isinstance(rule, Unanimous) else "fail"
    return {} if split in ("fail", "abstain") else {split: Status.LABEL}


def _sample_offsets(judges: Sequence[Judge]) -> list[int]:
    """Return for each juror the number of its first sample, so that no judge is asked for one sample twice.

    Single judges with one fingerprint are one judge, at any depth. A juror that shares one with an earlier juror starts
    after all samples of that juror.
    """
    leaves = [{one.fingerprint for one in _singles(juror)} for juror in judges]
    starts: list[int] = []
    for place in range(len(judges)):
        shared = [starts[other] + judges[other].size for other in range(place) if leaves[other] & leaves[place]]
        starts.append(max(shared, default=0))
    return starts


def _singles(judge: Judge) -> list[Judge]:
    return [single for one in judge.members for single in _singles(one)] or [judge]


MAKERS["samples"] = Ensemble
