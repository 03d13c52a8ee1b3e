"""Verdict, the result of a jury: a judgment that contains the judgments of the jurors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Literal, TypeGuard, Unpack

from jury_adapters.core.agreement import Band, ballots_band, pairwise_agreement
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.last_result import last_result
from jury_adapters.core.over_budget import is_over_budget
from jury_adapters.core.review_reasons import ReviewReason, reasons_for_review
from jury_adapters.core.tally import NO_TALLY, Tally
from jury_adapters.core.tier_policies import check_policy_text, is_screening_policy
from jury_adapters.core.unasked import asked_ballots
from jury_adapters.core.values import EMPTY, LARGEST, FrozenDict, check_word, freeze_mapping, typed_tuple

if TYPE_CHECKING:
    from jury_adapters.core import GateOptions, GateResult

SCORECARD = "scorecard"
"""The ``voting`` of a verdict whose judgments answer different questions; see :class:`jury_adapters.Scorecard`."""
UNNAMED = "an unnamed judge"
"""Name of a fallback that has no name of its own."""
BandOn = Literal["pairs", "share"]


@dataclass(frozen=True, slots=True)
class TierResult:
    """Result of one tier of a cascade that ran.

    Attributes:
        name: the tier's name.
        policy: the name of the tier's policy.
        judgment: the judgment of the tier's judge; a :class:`Verdict` if that judge is a jury.
        stopped: True for the tier at which the cascade stopped.
        broken: True if the tier could not do its work; in a reject tier one broken judge is enough.
        why: one sentence that says why the cascade stopped here or continued.
    """

    name: str
    policy: str
    judgment: Judgment
    stopped: bool
    broken: bool
    why: str

    def __post_init__(self) -> None:
        check_policy_text(self.policy)
        for attribute, kind in (("name", str), ("why", str), ("stopped", bool), ("broken", bool)):
            _check_kind(self, attribute, kind)


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Judgment):
    """Judgment of a jury, with the jurors' judgments, their agreement and the total usage.

    Attributes (in addition to those of :class:`Judgment`):
        judgments: the jurors' judgments, in juror order; for a cascade, those of the tier at which it stopped.
        weights: the jurors' weights, in the same order.
        voting: the name of the voting strategy.
        tally: the counts of the votes.
        same_family: whether a juror's model is of the same family as the model that wrote the answer; None if unknown,
            because the case does not name that model (``generator``), or the family of one of the models is unknown.
        band_on: the basis of the agreement band: agreeing ``"pairs"`` or the modal ``"share"``.
        partial: True if some jurors were not asked because the outcome was settled; agreement, band and bias then
            describe only the jurors that were asked.
        calls_saved: number of juror calls that were not made, or were cancelled, because they could not change the
            outcome.
        skipped: names of the jurors, or of the tiers, that were not needed.
        tiers: the tiers that ran (cascades only).
        stopped_at: the tier at which the cascade stopped.
        decision: ``"rejected"``, ``"accepted"``, ``"final"`` or ``"error"`` (cascades only).
        case_id: the id of the case, from its ``item_id`` or ``id``; None without one, and in verdicts inside a verdict.
        case_metadata: the metadata of the case; empty in verdicts inside a verdict.
    """

    _: KW_ONLY
    judgments: tuple[Judgment, ...] = ()
    weights: tuple[float, ...] = ()
    voting: str = ""
    tally: Tally = NO_TALLY
    same_family: bool | None = None
    band_on: BandOn = "pairs"
    partial: bool = False
    calls_saved: int = 0
    skipped: tuple[str, ...] = ()
    tiers: tuple[TierResult, ...] = ()
    stopped_at: str | None = None
    decision: Literal["rejected", "accepted", "final", "error"] | None = None
    case_id: str | None = None
    case_metadata: FrozenDict = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        Judgment.__post_init__(self)  # super() fails here, because slots=True replaces the class
        check_word(self.band_on, ("pairs", "share"), "band_on")
        for name, plain in (("voting", str), ("partial", bool), ("calls_saved", int)):
            _check_kind(self, name, plain)
        if self.same_family is not None:
            _check_kind(self, "same_family", bool)
        if self.calls_saved < 0:
            raise ConfigurationError(f"calls_saved is a number from 0, not {self.calls_saved}")
        if self.stopped_at is not None:
            _check_kind(self, "stopped_at", str)
        if self.case_id is not None:
            _check_kind(self, "case_id", str)
        if self.case_metadata.__class__ is not FrozenDict:
            object.__setattr__(self, "case_metadata", freeze_mapping(self.case_metadata))
        if self.decision is not None:
            check_word(self.decision, ("rejected", "accepted", "final", "error"), "decision")
        put = object.__setattr__
        for name, kind in (("judgments", Judgment), ("tiers", TierResult), ("skipped", str)):
            if (values := getattr(self, name)) != ():
                put(self, name, typed_tuple(values, kind, name))
        if self.weights:
            put(self, "weights", tuple(self.weights))
            if not all(isinstance(weight, int | float) and abs(weight) <= LARGEST for weight in self.weights):
                raise ConfigurationError(
                    f"weights are finite numbers up to {LARGEST:.2g}, not {plain_repr(self.weights)}"
                )
        elif self.weights != ():
            put(self, "weights", ())

    @property
    def by_name(self) -> dict[str, Judgment]:
        """The jurors' judgments, by juror name."""
        return {judgment.critic: judgment for judgment in self.judgments}

    @property
    def by_rule(self) -> bool:
        """True if a screening tier of a cascade decided.

        One objection is enough in a screening tier, so the other votes are not dissent. Such a verdict has no agreement
        and no band, whatever the tier's jurors said.
        """
        last = self.tiers[-1] if self.tiers else None
        return last is not None and (
            is_screening_policy(last.policy) or (isinstance(last.judgment, Verdict) and last.judgment.by_rule)
        )

    @property
    def agreement(self) -> float | None:
        """Agreeing pairs / pairs among the ballots cast (for scores 1 - mean absolute difference).

        None for fewer than two ballots, and if a screening tier decided; see :attr:`by_rule`. The opinions of critics
        on an empty answer, about which no model was asked, are not ballots here.
        """
        return pairwise_agreement(self._compared)

    @property
    def disagreement(self) -> bool:
        """True if two cast ballots differ and no screening tier decided."""
        return len(set(self._compared)) > 1

    @property
    def agreement_band(self) -> Band | None:
        """``"high"`` from 4/5, ``"medium"`` from 2/3, else ``"low"``; None if :attr:`agreement` is None."""
        return ballots_band(self._compared, self.band_on)

    @property
    def failed_by_errors(self) -> bool:
        """Whether the verdict is FAIL only because jurors broke, which says nothing about the answer.

        >>> from jury_adapters import Ensemble
        >>> Ensemble([lambda case: True, lambda case: 1 / 0]).judge(answer="a").failed_by_errors
        True
        """
        return self.status is Status.FAIL and self.tally.errors_decided

    @property
    def review_reasons(self) -> tuple[ReviewReason, ...]:
        """The reasons why the verdict needs human review; empty if it does not.

        ``"abstained"`` and ``"error"``: nothing was decided. ``"low_agreement"``: the band is low. ``"broken_tier"``: a
        tier broke, in this cascade or in a nested one. ``"errors_decided"``: jurors that broke changed the outcome.
        ``"over_budget"``: it was decided without a juror whose call did not fit the budget. A scorecard, also as the
        tier of a cascade that decided by vote, has the reasons of its criteria, except ``"abstained"`` and ``"error"``.
        """
        return _reasons_of(self)

    @property
    def krippendorff_alpha(self) -> float | None:
        """1.0 if unanimous, else 0.0; None for fewer than two ballots.

        On one case alpha carries no information beyond that, because observed and expected disagreement are the same
        pairs, so no policy escalates on it. Use :attr:`agreement` for one case and :func:`krippendorff_alpha` for a
        batch.
        """
        return None if len(self._compared) < 2 else float(not self.disagreement)

    @property
    def single_family(self) -> str | None:
        """The vendor family of all jurors, if there are two or more and all are known to be of one family.

        A pairwise juror counts once, although it is asked in both orders.
        """
        families = [juror.family for juror in _each_once(self)]
        return families[0] if len(families) > 1 and len(set(families)) == 1 else None

    @property
    def bias_warning(self) -> str | None:
        """A sentence if a juror is known to judge an answer of its own family *and* agreement is low; else None."""
        if self.same_family and self.agreement_band == "low":
            return "a juror is of the same vendor family as the model that wrote the answer, and agreement is low"
        return None

    @property
    def panel_warning(self) -> str | None:
        """A sentence if the jurors are less independent than their number suggests; else None.

        Either all jurors are of one vendor family and are likely to share its blind spots, or one judge voted several
        times because it was the fallback of other jurors.
        """
        family = self.single_family
        sentences = [f"all jurors are of one vendor family ({family}) and may share its blind spots"] if family else []
        for name, votes in self.repeated_voters.items():
            sentences.append(f"{name} voted {votes} times, as a fallback: its votes are hardly {votes} opinions")
        return "; ".join(sentences) or None

    @property
    def repeated_voters(self) -> dict[str, int]:
        """Number of votes of each fallback that voted twice or more.

        Such a fallback replaced several jurors, or is also a juror itself. Two judges with the same name and the same
        model count as one.
        """
        votes = [judgment for judgment in self._voters() if judgment.valid]
        if all(vote.fallback_used is None for vote in votes):  # the most frequent case
            return {}
        used_by = Counter((vote.fallback_used or vote.critic, vote.model) for vote in votes)
        names = {used: used_by[used, vote.model] for vote in votes if (used := vote.fallback_used) is not None}
        return {name: times for name, times in names.items() if times > 1 and name != UNNAMED}

    @property
    def failed_tiers(self) -> tuple[str, ...]:
        """Names of the tiers that broke; a nested tier is given by its path, such as ``"outer/screen"``.

        The path consists of the names of the tiers, jurors and criteria around the tier. All tiers that ran count.
        """
        return tuple("/".join(path) for path, _ in self.find_broken_tiers())

    def find_broken_tiers(self) -> Iterator[tuple[tuple[str, ...], TierResult]]:
        """Yield each broken tier with its path, from this verdict and from the nested verdicts."""
        for tier in self.tiers:
            if tier.broken:
                yield (tier.name,), tier
            yield from _broken_inside(tier.name, tier.judgment)
        for judgment in self.judgments if not self.tiers else ():  # the judgments of a cascade are in its tiers
            if isinstance(judgment, Verdict):
                yield from _broken_inside(judgment.critic, judgment)

    @property
    def fallbacks_used(self) -> dict[str, str]:
        """The fallbacks that judged for jurors that broke, by juror name; see :meth:`Judge.with_fallbacks`.

        A juror of a nested jury, or of a tier, has the name ``"panel > juror"``. All tiers that ran count.
        """
        found: dict[str, str] = {}
        inside = [(tier.name, tier.judgment) for tier in self.tiers] or [(j.critic, j) for j in self.judgments]
        for name, judgment in inside:
            if judgment.fallback_used is not None:
                found[name] = judgment.fallback_used
            if isinstance(judgment, Verdict):
                found |= {f"{name} > {juror}": fallback for juror, fallback in judgment.fallbacks_used.items()}
        return found

    def jurors(self) -> tuple[Judgment, ...]:
        """Return the judgments of all jurors, those of nested juries included.

        A nested jury without judgments counts as one juror.
        """
        found: list[Judgment] = []
        for judgment in self.judgments:
            if isinstance(judgment, Verdict) and judgment.judgments:
                found.extend(judgment.jurors())
            else:
                found.append(judgment)
        return tuple(found)

    def require(self, **conditions: Unpack[GateOptions]) -> tuple[GateResult, ...]:
        """Raise an error unless every condition holds; see :func:`jury_adapters.core.gates.check_gates`.

        A verdict without a decision (ABSTAIN, ERROR) fails, unless ``decided=None``.

        Raises:
            GateFailed: some conditions are not met; the error lists them.

        >>> verdict.require(passed=True, min_agreement=0.7, needs_review=False)  # doctest: +SKIP
        """
        from jury_adapters.core import require

        return require(self, **conditions)

    def _voters(self) -> Iterator[Judgment]:
        """Yield the judgments that voted, those of nested juries included; a jury that is a fallback has one vote."""
        for judgment in self.judgments:
            if isinstance(judgment, Verdict) and judgment.judgments and judgment.fallback_used is None:
                yield from judgment._voters()
            else:
                yield judgment

    @property
    def _compared(self) -> tuple[str | float, ...]:
        """The ballots to compare for agreement: not those of rubrics on an empty answer."""
        return _compared_in(self)


def is_pairwise_opinion(judgment: Judgment) -> TypeGuard[Verdict]:
    """Whether a judgment is the opinion of a pairwise juror, whose ``judgments`` are its votes in each order."""
    return isinstance(judgment, Verdict) and "position_consistent" in judgment.metadata


@last_result
def _compared_in(verdict: Verdict) -> tuple[str | float, ...]:
    return () if verdict.by_rule else asked_ballots(verdict.tally, verdict.judgments)


@last_result
def _reasons_of(verdict: Verdict) -> tuple[ReviewReason, ...]:
    criteria = verdict.judgments if verdict.voting == SCORECARD and not verdict.by_rule else ()
    return reasons_for_review(
        verdict.status,
        low_agreement=verdict.agreement_band == "low",
        broken_tier=next(verdict.find_broken_tiers(), None) is not None,
        errors_decided=verdict.tally.errors_decided,
        over_budget=verdict.valid and is_over_budget(verdict),
        of_criteria=[reason for one in criteria if isinstance(one, Verdict) for reason in one.review_reasons],
    )


def _each_once(verdict: Verdict) -> Iterator[Judgment]:
    """Yield the judgments of all jurors; of a pairwise juror, those in the first order that it was asked."""
    for judgment in verdict.judgments[:1] if is_pairwise_opinion(verdict) else verdict.judgments:
        if isinstance(judgment, Verdict) and judgment.judgments:
            yield from _each_once(judgment)
        else:
            yield judgment


def _broken_inside(name: str, judgment: Judgment) -> Iterator[tuple[tuple[str, ...], TierResult]]:
    """Yield the broken tiers in a judgment, with paths that start with its name."""
    if isinstance(judgment, Verdict):
        yield from (((name, *path), tier) for path, tier in judgment.find_broken_tiers())


def _check_kind(result: object, field: str, kind: type) -> None:
    """Check the type of a field, because results may come from a file.

    Raises:
        ConfigurationError: the field has another type.
    """
    value = getattr(result, field)
    if value.__class__ is not kind and (isinstance(value, bool) or not isinstance(value, kind)):
        raise ConfigurationError(f"{field} is {_KINDS[kind]}, not {type(value).__name__}")


_KINDS = {str: "text", bool: "True or False", int: "a whole number"}
