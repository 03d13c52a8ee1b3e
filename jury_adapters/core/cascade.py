"""CascadedJury, a jury of tiers from cheap to expensive; each case stops at the first tier that can decide it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from jury_adapters.core.case import Case
from jury_adapters.core.description import Traits, quoted
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, OpinionStatuses, Status, total_usage
from jury_adapters.core.jury import Jury, judges_own_family
from jury_adapters.core.runner import run_judge
from jury_adapters.core.tally import Tally
from jury_adapters.core.tier_policies import (
    POLICIES,
    Decision,
    EarlyStop,
    Policy,
    PolicyLike,
    TierOutcome,
    TierPolicy,
    policy_of,
)
from jury_adapters.core.verdict import TierResult, Verdict
from jury_adapters.core.verdict_facts import outage_as_error


@dataclass(frozen=True, slots=True, init=False)
class Tier:
    """Tier of a cascade.

    Args:
        name: the name of the tier in verdicts.
        judge: any judge, usually a jury.
        policy: the policy that decides whether the cascade stops here: the name of a :class:`Policy`, or
            ``escalate_below(0.8)``. The class of each policy, in :mod:`jury_adapters.core.tier_policies`, says when it
            stops. An *individual* is a judgment of the tier's jury (for a nested cascade, of the tier at which it
            stopped), or the tier's judgment itself if its judge is not a jury.
        if_broken: the effect of a broken judge in a reject tier: ``"escalate"`` (default) or ``"reject"``.

    Raises:
        ConfigurationError: the name is missing, the policy is unknown, or the policy does not use ``if_broken``.
    """

    name: str
    judge: Judge
    policy: TierPolicy
    if_broken: Literal["escalate", "reject"]

    def __init__(
        self,
        name: str,
        judge: JudgeLike,
        policy: PolicyLike = "final",
        *,
        if_broken: Literal["escalate", "reject"] = "escalate",
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ConfigurationError(
                f"a tier needs a name, such as Tier('cheap', jury, 'escalate_on_split'); not {plain_repr(name)}"
            )
        try:
            seated = judge_of(judge)
        except ConfigurationError as error:
            raise ConfigurationError(f"tier {plain_repr(name)}: {error}") from None
        found = policy_of(policy)
        if if_broken not in ("escalate", "reject"):
            raise ConfigurationError(unknown("if_broken=", if_broken, ("escalate", "reject")))
        if if_broken == "reject" and not found.rule.takes_if_broken:
            takers = " or ".join(kind for kind, rule in POLICIES.items() if rule.takes_if_broken)
            raise ConfigurationError(f"if_broken='reject' belongs to a {takers} tier; {plain_repr(name)} is {found}")
        put = object.__setattr__
        put(self, "name", name)
        put(self, "judge", seated)
        put(self, "policy", found)
        put(self, "if_broken", if_broken)

    def __repr__(self) -> str:
        if_broken = "" if self.if_broken == "escalate" else f", if_broken={self.if_broken!r}"
        return f"Tier({quoted(self.name)}, {self.judge!r}, '{self.policy}'{if_broken})"


class CascadedJury(Jury):
    """Jury that asks its tiers in order, from cheap to expensive, until one can decide the case.

    Args:
        tiers: the tiers in order; the last, and only the last, is ``final``.
        name: the jury's name.

    Raises:
        ConfigurationError: there are no tiers, two have the same name, or ``final`` is not exactly the last.

    >>> from jury_adapters import CascadedJury, Tier
    >>> screen = Tier("screen", lambda case: bool(case.answer), "reject_on_any_fail")
    >>> jury = CascadedJury([screen, Tier("judge", lambda case: "4" in case.answer, "final")])
    >>> jury.judge(question="2 + 2?", answer="").stopped_at
    'screen'
    """

    def __init__(self, tiers: Iterable[Tier], *, name: str = "") -> None:
        if isinstance(tiers, Tier):
            raise ConfigurationError("CascadedJury takes a list of tiers; for one tier write CascadedJury([tier])")
        self.tiers = tuple(tiers)
        self.name = name
        _check(self.tiers)
        self._runners = tuple(_runner(tier) for tier in self.tiers)
        self.cost = self.tiers[0].judge.cost
        self._inline = all(tier.judge.inline and tier.judge.timeout is None for tier in self.tiers)
        self._size = sum(tier.judge.size for tier in self.tiers)

    @property
    def inline(self) -> bool:
        return self._inline

    @property
    def size(self) -> int:
        return self._size

    @property
    def requests_at_once(self) -> int:
        return max(member.requests_at_once for member in self.members)

    @property
    def uncalibrated(self) -> CascadedJury:
        """The cascade without the thresholds of a calibration, and so without its guarantee."""
        return self

    @property
    def members(self) -> tuple[Judge, ...]:
        """The tiers' judges, in order."""
        return tuple(tier.judge for tier in self.tiers)

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return PASS_OR_FAIL.union(*(member.opinion_statuses for member in self.members))

    def asking_everyone(self) -> Self:
        return self._with(_runners=tuple(member.asking_everyone() for member in self.members))

    def _traits(self) -> Traits:
        return {"tiers": [tier.name for tier in self.tiers]}

    async def assess(self, case: Case) -> Verdict:
        run: list[TierResult] = []
        for tier, runner in zip(self.tiers, self._runners, strict=True):
            judgment = await run_judge(runner, case, tier.judge.name or tier.name)
            outcome = TierOutcome(tier.name, judgment, _individuals(judgment), tier.if_broken == "reject")
            decision, why = self._decide(tier, outcome)
            broke = tier.policy.rule.is_broken(outcome)
            run.append(TierResult(tier.name, str(tier.policy), judgment, decision is not None, broke, why))
            if decision is not None:
                return self._verdict(case, run, outcome, decision)
        raise AssertionError("the final tier always stops")  # _check has made sure that there is one

    def _decide(self, tier: Tier, outcome: TierOutcome) -> tuple[Decision | None, str]:
        """Return the decision of a tier (None if the cascade continues) and the reason for it."""
        return tier.policy.rule.decide(outcome)

    def _verdict(self, case: Case, run: Sequence[TierResult], outcome: TierOutcome, decision: Decision) -> Verdict:
        last, individuals = run[-1], tuple(outcome.individuals)
        tier, rule = last.judgment, self.tiers[len(run) - 1].policy.rule
        forced = {"rejected": Status.FAIL, "accepted": rule.accepted_as, "error": Status.ERROR}
        status = forced.get(decision) or tier.status
        # If a policy overrules the vote of the tier, the score of that vote does not apply either. One objection is
        # enough for a rejection, so that it may come before all jurors have voted: the label may differ from that of
        # the full vote, and the confidence, which is the share of the votes for FAIL, says nothing about it.
        own = tier if tier.status is status else None
        skipped = self.tiers[len(run) :]
        inside = tier if isinstance(tier, Verdict) else None
        of_vote = None if decision == "rejected" and inside is not None else own
        return Verdict(
            status,
            score=own.score if own is not None else None,
            label=of_vote.label if of_vote is not None else None,
            probabilities=own.probabilities if own is not None else None,
            confidence=of_vote.confidence if of_vote is not None else None,
            reasoning=_reasoning(decision, status, last, individuals),
            findings=tier.findings,
            claims=tier.claims,
            error=tier.error if status is Status.ERROR else None,
            usage=total_usage([result.judgment for result in run]),
            judgments=individuals,
            weights=inside.weights if inside is not None else (),
            voting=inside.voting if inside is not None else "",
            tally=_tally(tier, rule.errors_decided([outage_as_error(one) for one in individuals])),
            same_family=judges_own_family(individuals, case.generator),
            band_on=inside.band_on if inside is not None else "pairs",
            partial=inside.partial if inside is not None else False,
            calls_saved=sum(tier.judge.size for tier in skipped)
            + sum(result.judgment.calls_saved for result in run if isinstance(result.judgment, Verdict)),
            skipped=tuple(tier.name for tier in skipped),
            tiers=tuple(run),
            stopped_at=last.name,
            decision=decision,
        )


def _check(tiers: Sequence[Tier]) -> None:
    if not tiers:
        raise ConfigurationError(
            "a cascade needs tiers, the last of them final (FINAL_TIER): CascadedJury([Tier(...), ...])"
        )
    for tier in tiers:
        if not isinstance(tier, Tier):
            raise ConfigurationError(f"a cascade is made of Tier(name, judge, policy), not of {type(tier).__name__}")
    names = [tier.name for tier in tiers]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(
            f"two tiers are called {plain_repr(twice[0])}; tier names must differ, verdicts are read by them"
        )
    early = [tier.name for tier in tiers[:-1] if tier.policy.kind is Policy.FINAL]
    if early:
        raise ConfigurationError(
            f"tier {plain_repr(early[0])} is final (FINAL_TIER), the default, but not the last, so no tier after it "
            "could ever run; give it the policy reject_on_any_fail, accept_on_all_pass or escalate_on_split"
        )
    if tiers[-1].policy.kind is not Policy.FINAL:
        raise ConfigurationError(
            f"the last tier, {plain_repr(names[-1])}, must be final (FINAL_TIER), not {tiers[-1].policy}"
        )


def _runner(tier: Tier) -> Judge:
    """Return the judge that a tier runs: a jury that stops as early as the policy allows, or one with a full vote."""
    if tier.policy.kind is Policy.FINAL:
        return tier.judge
    rule, judge = tier.policy.rule, tier.judge
    if isinstance(rule, EarlyStop) and isinstance(judge, Ensemble):
        return judge.stopping_at(rule)
    return judge.asking_everyone()  # wrappers of a jury, such as a fallback or a cascade, read its full vote


def _individuals(judgment: Judgment) -> tuple[Judgment, ...]:
    if isinstance(judgment, Verdict):
        return judgment.judgments
    return () if judgment.status is Status.ERROR else (judgment,)


def _reasoning(decision: Decision, status: Status | None, last: TierResult, individuals: Sequence[Judgment]) -> str:
    """Return the decision with the reasons of the judges that made it; the policy is recorded in the tier result."""
    word: str = decision
    if decision == "final":
        word = "abstained" if status is Status.ABSTAIN else "decided"
    elif decision == "error":
        word = "broken"
    elif decision == "accepted" and status is not Status.PASS:  # the tier's FAIL, or its label, is accepted
        word = "decided"
    where = word if word == last.name else f"{word} at {last.name}"
    return f"{where}: {_reason(decision, status, last, individuals) or last.why}"


def _reason(decision: Decision, status: Status | None, last: TierResult, individuals: Sequence[Judgment]) -> str:
    if decision in ("final", "error"):
        return last.judgment.reasoning
    if decision == "accepted" and status is Status.PASS and len(individuals) > 1:
        return ""  # agreement of all is more informative than the reason of the first
    opinion = last.judgment.opinion if status is None else status
    return next((one.reasoning for one in individuals if one.opinion == opinion and one.reasoning), "")


def _tally(judgment: Judgment, errors_decided: bool | None) -> Tally:
    """Return the tally of the tier that decided; a policy may override ``errors_decided``."""
    tally = judgment.tally if isinstance(judgment, Verdict) else _tally_of_one(judgment)
    return tally if errors_decided is None else replace(tally, errors_decided=errors_decided)


def _tally_of_one(judgment: Judgment) -> Tally:
    """Return the tally of a tier whose judge is not a jury."""
    return Tally(
        eligible=int(judgment.valid),
        passed=int(judgment.status is Status.PASS),
        failed=int(judgment.status is Status.FAIL),
        abstained=int(judgment.status is Status.ABSTAIN),
        errors=int(judgment.status is Status.ERROR),
        ballots=(judgment.opinion,),
    )
