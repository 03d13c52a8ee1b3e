"""Voting rules, and the one function that counts votes, also while some are missing.

A rule sees only votes that were cast. :class:`Count` handles what is the same for all rules: abstentions do not vote,
and the votes of jurors that broke or were not asked yet are missing. An outcome stands if it is the same whatever the
missing votes are. So early stopping, broken jurors and required jurors are one mechanism.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import exp, fsum, log
from statistics import median
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from jury_adapters.core.judge import to_judgment
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import ROUNDING, ConfigurationError, Frozen, Share, problems_of


def _is_share(share: str | float) -> str | float:
    with suppress(ValueError, ZeroDivisionError):  # a power of ten in a text could be too large for any computer
        if (isinstance(share, float) or "e" not in str(share).lower()) and 0 <= Fraction(str(share)) <= 1:
            return share
    raise ValueError("a share is a number in 0..1, or a fraction such as 2/3")


ExactShare = Annotated[str | float, AfterValidator(_is_share)]


def reaches(share: Fraction, least: str | float) -> bool:
    """Return whether an exact share reaches another; one with two or more decimals counts as rounded to these.

    >>> reaches(Fraction(2, 3), 0.67), reaches(Fraction(18, 19), 0.95), reaches(Fraction(18, 19), "19/20")
    (True, True, False)
    """
    text = str(least)
    decimals = len(text.partition(".")[2]) if "/" not in text else 0
    return (round(share, decimals) if decimals > 1 else share) >= Fraction(text)


class Vote(NamedTuple):
    """Vote that was cast.

    Attributes:
        juror: the position of the juror.
        ballot: PASS, FAIL or a label.
        score: 0..1; 1.0 for a PASS and 0.0 for a FAIL without a score.
        confidence: 0..1; 1.0 where the juror gave none.
        weight: how much the juror counts.
    """

    juror: int
    ballot: str
    score: float
    confidence: float
    weight: float


class Outcome(NamedTuple):
    """Outcome of a count; the fields are those of a judgment."""

    status: Status
    reasoning: str = ""
    label: str | None = None
    score: float | None = None
    confidence: float | None = None
    tied: bool = False
    error: str | None = None


class Rule(Frozen):
    """Base of the voting rules. A rule is immutable; its options are its fields.

    A new rule is a subclass with the field ``rule``, a name that no jury of the package has, and :meth:`count`. An
    instance of it is given as ``voting=``; an entry in :data:`RULES` makes its name one of the words for ``voting=``.

    Class attributes:
        on_labels: whether the rule can count labels; else a label that is neither good nor bad does not vote.
        settles: whether more votes of one kind never move the outcome away from that kind, so that a count may stop
            early. It must hold for every juror, and is shown by enumeration in the tests of the seven rules here.
    """

    on_labels: ClassVar[bool] = False
    settles: ClassVar[bool] = False
    rule: str

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return the outcome of the votes, of which there is at least one with a weight above 0."""
        raise NotImplementedError

    @property
    def reads_scores(self) -> bool:
        """Whether the scores or the confidences of the votes count."""
        return False


def _won(ballot: str, votes: Sequence[Vote], reasoning: str = "", tied: bool = False) -> Outcome:
    """Return the outcome in which a ballot wins; its confidence is its share of the weight."""
    said = reasoning or f"{sum(one.ballot == ballot for one in votes)} of {len(votes)} voted {ballot}"
    whole = fsum(one.weight for one in votes)
    # A label that no juror gave, such as SPLIT, has no share.
    share = min(1.0, fsum(one.weight for one in votes if one.ballot == ballot) / whole) or None
    if ballot in ("PASS", "FAIL"):
        return Outcome(Status(ballot), said, confidence=share, tied=tied)
    return Outcome(Status.LABEL, said, label=ballot, confidence=share, tied=tied)


class Majority(Rule):
    """The ballot with the largest weight wins.

    Attributes:
        use_confidence: count weight times confidence.
        tie: the outcome of a tie: ``fail``, ``pass``, ``abstain``, ``first`` (the ballot of the first juror), or a
            label. By default ``fail`` between PASS and FAIL, ``first`` between labels.
        priority: ballots that win a tie, the strongest first, as they are cast: ``PASS``, ``FAIL`` or labels.
        min_share: the share that the winner needs, else ABSTAIN; a number or a fraction such as ``"2/3"``.
    """

    on_labels: ClassVar[bool] = True
    settles: ClassVar[bool] = True
    rule: Literal["majority"] = "majority"
    use_confidence: bool = False
    tie: str | None = None
    priority: tuple[str, ...] = ()
    min_share: ExactShare = 0

    @property
    def reads_scores(self) -> bool:
        """Whether the confidences of the votes count."""
        return self.use_confidence

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return the ballot with the largest weight."""
        mass: dict[str, float] = {}
        for one in votes:
            mass[one.ballot] = mass.get(one.ballot, 0) + one.weight * (one.confidence if self.use_confidence else 1)
        most, whole = max(mass.values()), fsum(mass.values())
        share = most / whole if whole else 0.0
        if not whole or (self.min_share and not reaches(Fraction(share).limit_denominator(10**9), self.min_share)):
            return Outcome(Status.ABSTAIN, f"no vote has a share of {self.min_share}")
        best = [ballot for ballot, weight in mass.items() if weight >= most - ROUNDING * whole]
        if len(best) == 1:
            return _won(best[0], votes)
        return self._tied(best, votes)

    def _tied(self, best: list[str], votes: Sequence[Vote]) -> Outcome:
        said = f"a tie of {', '.join(sorted(best))}"
        tie = self.tie or ("first" if set(best) - {"PASS", "FAIL"} else "fail")
        first = next((one for one in self.priority if one in best), best[0] if tie == "first" else None)
        if first is None and tie == "abstain":
            return Outcome(Status.ABSTAIN, said, tied=True)
        ballot = first or (tie.upper() if tie in ("pass", "fail") else tie)
        return _won(ballot, votes, f"{said} counts as {ballot}", tied=True)


class Unanimous(Rule):
    """All must agree.

    Attributes:
        on_split: the outcome of a split: ``fail``, ``abstain``, or a label such as ``SPLIT``.
    """

    on_labels: ClassVar[bool] = True
    settles: ClassVar[bool] = True
    rule: Literal["unanimous"] = "unanimous"
    on_split: str = "fail"

    @model_validator(mode="after")
    def _splits_into_a_label(self) -> Self:
        is_status = self.on_split not in ("fail", "abstain") and self.on_split.upper() in [*Status]
        if is_status or not self.on_split.strip():
            raise ValueError("on_split is 'fail', 'abstain', or a label that is not the name of a status")
        return self

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return the ballot of all, or the outcome of a split."""
        said = {one.ballot for one in votes}
        if len(said) == 1:
            return _won(said.pop(), votes)
        split = "split: " + ", ".join(
            f"{sum(one.ballot == ballot for one in votes)} {ballot}" for ballot in sorted(said)
        )
        if self.on_split == "abstain":
            return Outcome(Status.ABSTAIN, split)
        return _won("FAIL" if self.on_split == "fail" else self.on_split, votes, split)


class Veto(Rule):
    """FAIL if at least ``k`` jurors say FAIL, however many say PASS."""

    settles: ClassVar[bool] = True
    rule: Literal["veto"] = "veto"
    k: int = Field(1, ge=1)

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return FAIL if enough object."""
        failed = sum(one.ballot == "FAIL" for one in votes)
        return _won(
            "FAIL" if failed >= self.k else "PASS", votes, f"{failed} of {len(votes)} object; {self.k} fail a case"
        )


class Quorum(Rule):
    """PASS if the share of jurors that pass reaches the quorum. 2 of 3 reach 0.67 and ``"2/3"``.

    Attributes:
        quorum: the share, a number in 0..1 or a fraction. With two or more decimals, the share of the jurors is rounded
            to these, so that 18 of 19 reach 0.95. A fraction is exact.
        threshold: the score from which a juror counts as passing; None takes its status.
    """

    settles: ClassVar[bool] = True
    rule: Literal["quorum"] = "quorum"
    quorum: ExactShare = 0.5
    threshold: Share | None = None

    @property
    def reads_scores(self) -> bool:
        """Whether the scores of the votes count."""
        return self.threshold is not None

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return PASS if enough pass."""
        passed = sum(
            one.ballot == "PASS" if self.threshold is None else one.score >= self.threshold - ROUNDING for one in votes
        )
        met, share = reaches(Fraction(passed, len(votes)), self.quorum), passed / len(votes)
        said = f"{passed} of {len(votes)} pass; the quorum of {self.quorum} is {'' if met else 'not '}met"
        return Outcome(Status.PASS if met else Status.FAIL, said, confidence=share if met else 1 - share)


class Average(Rule):
    """PASS if the weighted mean score reaches the threshold.

    Attributes:
        threshold: 0..1; None takes the pass mark of the jurors.
    """

    settles: ClassVar[bool] = True
    rule: Literal["average", "median"] = "average"
    threshold: Share | None = None
    reads_scores: ClassVar[bool] = True

    def middle(self, votes: Sequence[Vote]) -> float:
        """Return the middle of the scores, in 0..1."""
        return min(1.0, fsum(one.weight * one.score for one in votes) / fsum(one.weight for one in votes))

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return PASS if the middle of the scores reaches the threshold."""
        score, threshold = self.middle(votes), 0.5 if self.threshold is None else self.threshold
        passed = score >= threshold - ROUNDING
        spread = fsum(abs(one.score - score) for one in votes) / len(votes)
        said = f"the {self.rule} {score:.3f} {'reaches' if passed else 'is below'} {threshold:g}"
        return Outcome(Status.PASS if passed else Status.FAIL, said, score=score, confidence=max(0.0, 1 - spread))


class Median(Average):
    """PASS if the median score, which one outlier cannot move, reaches the threshold. Weights do not count."""

    rule: Literal["median"] = "median"

    def middle(self, votes: Sequence[Vote]) -> float:
        """Return the median of the scores."""
        return median(one.score for one in votes)


class Bayes(Rule):
    """PASS if the posterior probability of PASS reaches the threshold.

    Attributes:
        reliabilities: for each juror the probability that it passes a good case and that it fails a bad one, learned
            from human labels. No juror may be worse than chance.
        prior: the share of good cases.
        threshold: the posterior from which a case passes.

    Source: the naive Bayes rule of Dawid and Skene (1979) with known error rates.
    """

    settles: ClassVar[bool] = True
    rule: Literal["bayes"] = "bayes"
    reliabilities: tuple[tuple[float, float], ...]
    prior: float = Field(0.5, gt=0, lt=1)
    threshold: float = Field(0.5, gt=0, lt=1)

    @model_validator(mode="after")
    def _is_no_worse_than_chance(self) -> Self:
        if not all(0 < passes < 1 and 0 < fails < 1 and passes + fails >= 1 for passes, fails in self.reliabilities):
            raise ValueError(
                "a reliability is (passes the good, fails the bad), each between 0 and 1, and their sum is at least 1"
            )
        return self

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return PASS if the posterior reaches the threshold."""
        odds = log(self.prior / (1 - self.prior))
        for one in votes:
            passes, fails = self.reliabilities[one.juror]
            odds += log(passes / (1 - fails)) if one.ballot == "PASS" else log((1 - passes) / fails)
        score = 1 / (1 + exp(-odds)) if odds > -700 else 0.0
        passed = score >= self.threshold - ROUNDING
        said = f"the posterior of PASS is {score:.3f} after {len(votes)} votes"
        return Outcome(
            Status.PASS if passed else Status.FAIL, said, score=score, confidence=score if passed else 1 - score
        )


class FunctionRule(Rule):
    """Rule that is a function of the votes, which returns what a judge may return. Nothing stops it early."""

    on_labels: ClassVar[bool] = True
    rule: str = "function"
    function: Callable[[Sequence[Vote]], Any]
    reads_scores: ClassVar[bool] = True  # it may

    def count(self, votes: Sequence[Vote]) -> Outcome:
        """Return what the function returns."""
        said = to_judgment(self.function(votes))
        return Outcome(said.status, said.reasoning, said.label, said.score, said.confidence, error=said.error)


RULES: dict[str, type[Rule]] = {
    "majority": Majority,
    "unanimous": Unanimous,
    "veto": Veto,
    "quorum": Quorum,
    "average": Average,
    "median": Median,
    "bayes": Bayes,
}
OTHER_NAMES = {
    "consensus": "unanimous",
    "weighted": "majority",
    "weighted_average": "average",
    "k_veto": "veto",
}
"""Names that the seed systems give to rules."""
_TAKEN = {*RULES, "scorecard", "cascade", "all_of", "any_of", "pairwise"}  # by which ``Judgment.voting`` is read


def rule_of(voting: str | Rule | Callable[[Sequence[Vote]], Any], **options: Any) -> Rule:
    """Return a rule by its name and options; a function of the votes as a rule; a rule unchanged.

    Raises:
        ConfigurationError: there is no such rule, or an option is wrong.

    >>> rule_of("quorum", quorum="2/3").rule
    'quorum'
    """
    if isinstance(voting, Rule) and not options:
        return voting
    name = OTHER_NAMES.get(voting, voting) if isinstance(voting, str) else None
    try:
        if name in RULES:
            return RULES[name](**({"use_confidence": True} | options if voting == "weighted" else options))
        if callable(voting) and not isinstance(voting, Rule | type):
            own = getattr(voting, "__name__", "function")
            return FunctionRule(function=voting, rule=f"function {own}" if own in _TAKEN else own, **options)
    except ValidationError as error:
        raise ConfigurationError(f"options of {voting!r}: {problems_of(error)}") from None
    raise ConfigurationError(
        f"voting= is {', '.join(RULES)}, a rule without further options, or a function of the votes; not {voting!r}"
    )


Errors = Literal["missing", "fail", "abstain", "ignore"]


@dataclass(frozen=True)
class Count:
    """How the votes of one jury are counted.

    Attributes:
        rule: the rule.
        weights: one for each juror.
        required: the positions of jurors without whose votes there is no verdict.
        labels: the labels that the jurors may give, with their meaning; None for a vote on PASS and FAIL.
        any_label: whether a juror may give labels that are not declared, so that nothing is settled early.
        errors: what a juror that broke, or whose model did not answer, counts as: a ``missing`` vote, a FAIL
            (``fail``), or no vote (``abstain`` and ``ignore``).
        min_votes: the number of votes below which the jury abstains.
    """

    rule: Rule
    weights: tuple[float, ...]
    required: frozenset[int] = frozenset()
    labels: Mapping[str, Status] | None = None
    any_label: bool = False
    errors: Errors = "missing"
    min_votes: int = 1

    def outcome(self, votes: Sequence[Judgment | None]) -> Outcome | None:
        """Return the outcome as soon as no missing vote can change its status or label; None while it is open.

        A vote is missing if it is None (the juror was not asked yet), or if the juror broke. If nobody is left to ask,
        an outcome that broken jurors could have changed is an ERROR.
        """
        cast = [None if vote is None or self._is_missing(vote) else self._read(vote) for vote in votes]
        if None not in cast:
            return self._counted(cast, None)
        lost = [vote for vote in votes if vote is not None and self._is_missing(vote)]
        if self.rule.settles and not self.any_label:
            found, *others = (self._counted(cast, ballot) for ballot in (None, *self.extremes))
            if all((one.status, one.label) == (found.status, found.label) for one in others):
                sure = [one.confidence for one in (found, *others) if one.confidence is not None]
                said = f"{found.reasoning}; {len(lost)} gave no answer" if lost else found.reasoning
                # The missing votes could have given another score.
                return found._replace(confidence=min(sure, default=None), score=None, reasoning=said)
        if None in votes:
            return None
        said = f"{len(lost)} of {len(votes)} jurors gave no answer, whose votes could have decided"
        why = lost[0].error or lost[0].reasoning or "a juror inside broke"
        return Outcome(Status.ERROR, said, error=f"{lost[0].critic}: {why}")

    def _is_missing(self, vote: Judgment) -> bool:
        return self.errors == "missing" and (vote.rests_on_broken if self.rule.reads_scores else vote.is_missing)

    @property
    def extremes(self) -> list[str]:
        """The ballots that a missing vote may be."""
        return [
            "PASS",
            "FAIL",
            *(label for label, meaning in (self.labels or {}).items() if meaning is not Status.ABSTAIN),
        ]

    def _counted(self, votes: Sequence[tuple[str | None, float, float] | None], missing: str | None) -> Outcome:
        """Count what was read of the votes, with a ballot (None: an abstention) in place of each missing one."""
        cast = []
        for juror, vote in enumerate(votes):
            ballot, number, sure = vote or (missing, float(missing == "PASS"), 1.0)
            if ballot is not None:
                cast.append(Vote(juror, ballot, number, sure, self.weights[juror]))
        if absent := self.required - {one.juror for one in cast}:
            return Outcome(Status.ABSTAIN, f"a required juror did not vote: number {min(absent) + 1}")
        if len(cast) < self.min_votes or not fsum(one.weight for one in cast):
            return Outcome(Status.ABSTAIN, f"{len(cast)} voted, and at least {self.min_votes} must")
        found = self.rule.count(cast)
        meaning = (self.labels or {}).get(found.label or "", Status.LABEL)
        if found.status == Status.LABEL:  # a rule may give it as a text
            return found._replace(status=meaning, label=None if meaning is Status.ABSTAIN else found.label)
        return found

    def _read(self, vote: Judgment) -> tuple[str | None, float, float]:
        """Return ballot, score and confidence of a judgment; no ballot if it does not vote."""
        if self.errors == "fail" and vote.is_missing:
            return "FAIL", 0.0, 1.0
        ballot = vote.ballot if self.labels is not None else vote.status.value if vote.passed is not None else None
        return ballot, vote.number or 0.0, 1.0 if vote.confidence is None else vote.confidence
