"""Ensemble, a jury whose jurors vote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self, TypedDict, Unpack, cast

from jury_adapters.core.arguments import refuse_renamed
from jury_adapters.core.case import Case
from jury_adapters.core.claims import Claim, combine_claims, supported_share
from jury_adapters.core.description import Traits
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.fallbacks import warn_if_fallbacks_vote_twice, without_fallbacks
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Judgment, OpinionStatuses, Status, evolve, reason_with_label, total_usage
from jury_adapters.core.jury import Jury, judges_own_family, named_members, sample_numbers, unique_names
from jury_adapters.core.pass_scores import PassScores, with_threshold_of_jurors
from jury_adapters.core.scheduling import (
    Juror,
    Schedule,
    StopRule,
    UntilDecided,
    ask_all,
    ask_in_turn,
    ask_until_settled,
    checked_schedule,
)  # fmt: skip
from jury_adapters.core.several_rubrics import warn_of_several_rubrics
from jury_adapters.core.tally import Tally
from jury_adapters.core.values import FrozenDict, positive_timeout, stated
from jury_adapters.core.verdict import BandOn, Verdict
from jury_adapters.core.voting import (
    STRATEGIES,
    Voting,
    VotingOptions,
    VotingStrategy,
    options_of,
    resolve,
    weights_in_order,
)
from jury_adapters.core.voting.base import NOT_ASKED, VoteResult
from jury_adapters.core.voting.registry import normal_name
from jury_adapters.core.voting.required import positions_of, with_required

WeightsLike = Sequence[float] | Mapping[str, float] | Mapping[int, float]


class EnsembleOptions(VotingOptions, total=False):
    """Keyword options of :class:`Ensemble`."""

    voting: Voting | None
    weights: WeightsLike | None
    required: Sequence[str | int]
    schedule: Schedule
    juror_timeout: float | None
    name: str
    band_on: BandOn


class AboutVerdict(TypedDict, total=False):
    """Fields of a verdict that do not depend on the vote."""

    critic: str
    case_id: str | None
    case_metadata: FrozenDict


class Ensemble(Jury):
    """Jury in which every juror judges the case, and a voting strategy combines the judgments into one verdict.

    Claims of the jurors are combined one by one; see :mod:`jury_adapters.core.claims`. The status is still that of the
    vote, and the score is the share of supported claims, unless the vote is on scores.

    All jurors answer the same question. Critics with rubrics of different names cause a warning, also in nested juries;
    for several questions see :class:`Scorecard`.

    Args:
        judges: judges, juries or functions; at least one. Duplicate names get the suffix ``-2``, ``-3``. A mapping
            gives each juror a name: ``{"build": judge, "tests": judge}``.
        voting: the name of a voting rule, such as ``"majority"``, ``"quorum"`` or ``"bayes"``; a strategy object; or a
            function of the judgments. :data:`jury_adapters.core.voting.STRATEGIES` has every name. The default is
            ``"majority"``, or ``"weighted"`` if weights are given.
        weights: the weights of the jurors, by position or by name; a juror that is not named has the weight 1.
        required: names or positions of jurors that must vote. If one of them does not vote, the verdict is ABSTAIN,
            even if the others agree. If one of them breaks and errors count as FAIL, as they do by default in a vote on
            statuses or scores, the verdict is FAIL.
        schedule: ``"parallel"`` asks all jurors at once and keeps full diagnostics. ``"sequential"`` asks one after the
            other. ``"early_stop"`` asks the fewest jurors that could settle the vote, cheapest first, and more only
            while the vote is open. Its verdict has the status and label of the full vote; score, confidence and
            agreement describe the jurors that were asked. With ``on="auto"`` a vote on statuses stays open as long as a
            juror without a vote may give a label without a PASS/FAIL meaning. Functions may (see
            ``Judge.opinion_statuses``), so a jury of functions asks every juror unless ``on="status"`` or
            ``on="label"`` is given. A jury inside a rule that reads its score or confidence asks every juror.
        juror_timeout: time limit per juror in seconds, after which its judgment is ERROR ``timeout``.
        name: the jury's own name.
        band_on: the basis of the agreement band: agreeing ``"pairs"`` or the modal ``"share"``.
        **voting_kwargs: options of the rule, such as ``threshold=0.7`` or ``errors="ignore"``.

    Raises:
        ConfigurationError: there are no judges, a strategy or an option is unknown, or the weights are unusable.

    >>> from jury_adapters import Ensemble
    >>> Ensemble([lambda case: True, lambda case: True, lambda case: False]).judge("2 + 2?").status
    <Status.PASS: 'PASS'>
    """

    def __init__(
        self,
        judges: Iterable[JudgeLike] | Mapping[str, JudgeLike],
        *,
        voting: Voting | None = None,
        weights: WeightsLike | None = None,
        required: Sequence[str | int] = (),
        schedule: Schedule = "parallel",
        juror_timeout: float | None = None,
        name: str = "",
        band_on: BandOn = "pairs",
        **voting_kwargs: Unpack[VotingOptions],
    ) -> None:
        if voting is None:
            voting = "majority" if weights is None else "weighted"
        _refuse_unknown_options(voting, voting_kwargs)
        members, names = named_members(judges, "Ensemble")
        warn_if_fallbacks_vote_twice(members, stacklevel=2)
        warn_of_several_rubrics(members, stacklevel=2)
        self.schedule = checked_schedule(schedule)
        if band_on not in ("pairs", "share"):
            raise ConfigurationError(unknown("band_on=", band_on, ("pairs", "share")))
        limit = positive_timeout(juror_timeout)
        self.name = name
        self.voting = voting
        self.voting_kwargs = voting_kwargs
        self.band_on: BandOn = band_on
        samples = sample_numbers(members)
        self.weights = None if weights is None else weights_in_order(weights, names)
        self.strategy = _strategy(voting, members, names, voting_kwargs)
        if self.strategy.reads_numbers:
            members = tuple(member.asking_everyone() for member in members)
        self.jurors = tuple(
            Juror(*juror) for juror in zip(members, names, [limit] * len(members), samples, strict=True)
        )
        self._required = positions_of(required, names)
        opinions = tuple(member.opinion_statuses for member in members)
        self.cost = sum(member.cost for member in members)
        self._stop_rule: StopRule = UntilDecided(self.strategy, self.weights, self._required, opinions)
        self._inline = all(juror.inline for juror in self.jurors)
        self._size = sum(member.size for member in members)
        self._opinions = self.strategy.opinion_statuses(frozenset().union(*opinions))

    @property
    def repeat_levels(self) -> int:
        return super().repeat_levels + any(juror.sample for juror in self.jurors)

    @property
    def members(self) -> tuple[Judge, ...]:
        """The jurors, in order."""
        return tuple(juror.judge for juror in self.jurors)

    @property
    def names(self) -> tuple[str, ...]:
        """The jurors' names in this jury, in order."""
        return tuple(juror.name for juror in self.jurors)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the jurors that must vote."""
        return tuple(self.names[position] for position in self._required)

    @property
    def inline(self) -> bool:
        return self._inline

    @property
    def size(self) -> int:
        return self._size

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return self._opinions

    @property
    def pass_scores(self) -> PassScores:
        score = self.strategy.pass_score
        return frozenset() if score is None else frozenset({score})

    @property
    def requests_at_once(self) -> int:
        requests = [member.requests_at_once for member in self.members]
        return max(requests) if self.schedule == "sequential" else sum(requests)

    def _traits(self) -> Traits:
        voting = "" if self.strategy.name == "majority" else self.strategy.name
        schedule = "" if self.schedule == "parallel" else self.schedule
        return {"members": self.names, "voting": voting, "required": self.required, "schedule": schedule}

    async def assess(self, case: Case) -> Verdict:
        if self.schedule == "early_stop":
            votes = await ask_until_settled(self.jurors, case, self._stop_rule, first=self._required)
            return self._partial_verdict(votes, case.generator)
        ask = ask_in_turn if self.schedule == "sequential" else ask_all
        return self.verdict_of(await ask(self.jurors, case), case.generator)

    def aggregate(self, judgments: Iterable[Judgment], *, generator: str | None = None) -> Verdict:
        """Vote over existing judgments, as if the jurors had just given them.

        Required jurors are found by name.

        Args:
            judgments: judgments in juror order; unless the jury has weights, their number may differ from the number of
                jurors.
            generator: the model that wrote the answer, for ``same_family``.

        Raises:
            ConfigurationError: the weights or reliabilities do not fit the judgments.
        """
        given = tuple(judgments)
        names = unique_names([judgment.critic for judgment in given])
        named = [j if j.critic == name else evolve(j, critic=name) for j, name in zip(given, names, strict=True)]
        places = {name: position for position, name in enumerate(names)}
        required = [places.get(name, len(named)) for name in self.required]
        result = self._with_required(self.strategy.tally(named, self.weights), named, required)
        return self._built(result, tuple(named), self.weights, generator)

    @property
    def threshold(self) -> float | None:
        """The threshold of the voting rule; None if the rule has none."""
        value = getattr(self.strategy, "threshold", None)
        return value if isinstance(value, float) else None

    def with_threshold(self, threshold: float) -> Self:
        """Return the same jury with another threshold of its voting rule.

        Raises:
            ConfigurationError: the rule has no threshold, or the number is not one that it takes.
        """
        if self.threshold is None:
            raise ConfigurationError(f"the voting rule {self.strategy.name} has no threshold")
        strategy: VotingStrategy = replace(cast(Any, self.strategy), threshold=threshold)
        options: VotingOptions = {**self.voting_kwargs, "threshold": threshold}
        voting = self.voting if isinstance(self.voting, str) else strategy
        return self._with(voting=voting, voting_kwargs=options, **self._counting_by(strategy))

    def _counting_by(self, strategy: VotingStrategy) -> dict[str, object]:
        """Return the attributes of the same jury with another strategy."""
        opinions = tuple(member.opinion_statuses for member in self.members)
        return {"strategy": strategy, "_stop_rule": UntilDecided(strategy, self.weights, self._required, opinions)}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy whose threshold is that of its jurors, if it has none of its own: they may be replaced."""
        copied: Self = object.__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        try:
            strategy = _strategy(copied.voting, copied.members, copied.names, copied.voting_kwargs)
        except ConfigurationError:  # the new jurors pass from different scores, so the old threshold stays
            return copied.with_threshold(self.threshold) if self.threshold is not None else copied
        if strategy != copied.strategy:
            copied.__dict__.update(copied._counting_by(strategy))
        return copied

    def stopping_at(self, rule: StopRule) -> Ensemble:
        """Return the jury for use in a tier: with early stopping, it stops as soon as this rule is settled."""
        return self._with(_stop_rule=rule) if self.schedule == "early_stop" else self

    def asking_everyone(self) -> Ensemble:
        jurors = tuple(replace(juror, judge=juror.judge.asking_everyone()) for juror in self.jurors)
        if self.schedule != "early_stop" and jurors == self.jurors:
            return self
        return self._with(schedule="parallel" if self.schedule == "early_stop" else self.schedule, jurors=jurors)

    def verdict_of(
        self, judgments: Sequence[Judgment], generator: str | None, **about: Unpack[AboutVerdict]
    ) -> Verdict:
        """Return the verdict of the judgments of all jurors, in juror order; see :meth:`aggregate`."""
        try:
            result = self._with_required(self.strategy.tally(judgments, self.weights), judgments, self._required)
        except Exception as error:  # a user's voting function failed; keep the judgments
            failure = self.failure(error)
            tally = Tally(errors=sum(j.status is Status.ERROR for j in judgments), ballots=(None,) * len(judgments))
            result = VoteResult(Status.ERROR, tally, reasoning=f"the vote broke: {failure.error}", error=failure.error)
        return self._built(result, tuple(judgments), self.weights, generator, **about)

    def _with_required(self, result: VoteResult, judgments: Sequence[Judgment], required: Sequence[int]) -> VoteResult:
        if not required:
            return result
        return with_required(result, judgments, required, self.strategy.errors)

    def _partial_verdict(self, votes: Sequence[Judgment | None], generator: str | None) -> Verdict:
        missing = votes.count(None)
        if not missing:
            return self.verdict_of([vote for vote in votes if vote is not None], generator)
        # A juror that was not asked counts as an abstention, which is one of the extreme votes that the rule tested.
        full = self.verdict_of([NOT_ASKED if vote is None else vote for vote in votes], generator)
        asked = [position for position, vote in enumerate(votes) if vote is not None]
        unasked = [juror for juror, vote in zip(self.jurors, votes, strict=True) if vote is None]
        return evolve(
            full,
            judgments=tuple(full.judgments[position] for position in asked),
            weights=tuple(self.weights[position] for position in asked) if self.weights else (),
            tally=replace(
                full.tally,
                abstained=full.tally.abstained - missing,
                ballots=tuple(full.tally.ballots[position] for position in asked),
            ),
            partial=True,
            skipped=tuple(juror.name for juror in unasked),
            calls_saved=full.calls_saved + sum(juror.judge.size for juror in unasked),
        )

    def _built(
        self,
        result: VoteResult,
        judgments: tuple[Judgment, ...],
        weights: tuple[float, ...] | None,
        generator: str | None,
        **about: Unpack[AboutVerdict],
    ) -> Verdict:
        reasoning, error = _reasons(result, judgments) or result.reasoning, result.error
        if result.status is Status.ABSTAIN:  # a user's own rule may give no reason
            reasoning = stated(reasoning, _NO_REASON)
        elif result.status is Status.ERROR:
            error = stated(error, _NO_REASON)
        claims = _claims(judgments)
        return Verdict(
            result.status,
            score=_score(result, claims),
            label=result.label,
            confidence=result.confidence,
            reasoning=reasoning,
            error=error,
            claims=claims,
            usage=total_usage(judgments),
            judgments=judgments,
            weights=weights or (),
            voting=self.strategy.name,
            tally=result.tally,
            same_family=judges_own_family(judgments, generator) if generator is not None else None,
            band_on=self.band_on,
            calls_saved=sum(judgment.calls_saved for judgment in judgments if isinstance(judgment, Verdict)),
            **about,
        )


def _refuse_unknown_options(voting: Voting, given: Iterable[str]) -> None:
    """Refuse options that neither an ensemble nor any voting rule has; :func:`resolve` refuses those of other rules."""
    rule = STRATEGIES.get(normal_name(voting)) if isinstance(voting, str) else None
    of_rule = () if rule is None else options_of(rule)
    unheard = [name for name in given if name not in VotingOptions.__annotations__ and name not in of_rule]
    refuse_renamed(unheard, _RENAMED, "Ensemble(judges, voting='majority')")
    own = [name for name in EnsembleOptions.__annotations__ if name not in VotingOptions.__annotations__]
    for name in unheard:
        raise ConfigurationError(unknown("option of Ensemble", name, [*own, *of_rule]))


def _strategy(voting: Voting, members: Sequence[Judge], names: Sequence[str], options: VotingOptions) -> VotingStrategy:
    jurors = zip(names, (member.pass_scores for member in members), strict=True)
    strategy = resolve(voting, **with_threshold_of_jurors(voting, options, jurors))
    if strategy.errors is None and all(map(_is_whole_jury, members)):
        strategy = replace(strategy, errors="propagate")
    return strategy.bind(names)


def _is_whole_jury(member: Judge) -> bool:
    inner = without_fallbacks(member)
    return isinstance(inner, Jury) and not inner.asks_one_judge


def _claims(judgments: Sequence[Judgment]) -> tuple[Claim, ...]:
    """Return the combined claims of the jurors."""
    by_juror = [(judgment.critic, judgment.claims) for judgment in judgments if judgment.claims]
    return combine_claims(by_juror) if by_juror else ()


def _score(result: VoteResult, claims: Sequence[Claim]) -> float | None:
    """Return the share of supported claims, or the score of the vote: without claims, or if scores were voted on."""
    if not claims or result.tally.on == "score" or result.status in (Status.ABSTAIN, Status.ERROR):
        return result.score
    share = supported_share(claims)
    return result.score if share is None else share


def _reasons(result: VoteResult, judgments: Sequence[Judgment]) -> str:
    """Return the distinct reasons of the jurors if all votes are FAIL, or if no juror voted; else an empty text."""
    if result.status is Status.ABSTAIN and not any(judgment.valid for judgment in judgments):
        why = "; ".join(filter(None, dict.fromkeys(map(reason_with_label, judgments))))
        return f"{result.reasoning}: {why}" if why else ""
    if result.status is not Status.FAIL or result.tally.on != "status" or not result.tally.unanimous:
        return ""
    reasons = dict.fromkeys(j.reasoning for j in judgments if j.status is Status.FAIL and j.reasoning)
    broke = [f"{j.critic} broke: {j.error}" for j in judgments if j.status is Status.ERROR]
    return "; ".join([*reasons, *broke]) if reasons else ""


_RENAMED = {"strategy": "voting", "vote": "voting", "timeout": "juror_timeout"}
_NO_REASON = "the voting rule gave no reason"
